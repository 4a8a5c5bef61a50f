//! Compiled kernels, kept on disk between processes.
//!
//! An entry is what a backend's compiler made of a text for a device and its driver.
//!
//! # The folder
//!
//! `TRIFOLD_CACHE` names the folder. If it is empty or `off`, nothing is kept. If it is not set, the folder is
//! `trifold` in the user's cache folder (`~/.cache` on Linux). The folder may be deleted at any time.
//!
//! An entry is a file: a SHA-256 digest, and the bytes that it is of. The file is written under a temporary name and
//! then renamed, so processes may share a folder. A damaged entry is not used, and is written over. A cache that cannot
//! be read or written is a warning in the log, never an error: the kernel is compiled again.
//!
//! Entries are machine code and run as they are. The digest finds damage, not a forger. Share a folder only with users
//! whom you trust.
//!
//! # The limit
//!
//! Entries take at most [`LIMIT`] bytes, or what [`Cache::with_limit`] says. Past that, the entries used longest ago
//! are deleted until three quarters of the limit are left. A kernel whose entry is gone is compiled again. No other
//! program's files are deleted.
//!
//! A process checks the limit when it keeps its first entry, and again whenever it has kept a sixteenth of the limit.
//! So each process may exceed the limit by that much.

#[cfg(not(target_family = "wasm"))]
mod disk;

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use sha2::{Digest, Sha256};

/// The most bytes that entries take unless a cache says otherwise: a thousand kernels and more.
pub const LIMIT: u64 = 256 << 20;

/// What an entry is found by: a kind of compiled kernel, and a digest of all that it depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// A key of everything that the compiled kernel depends on: the text, the device, the driver, the options.
    pub fn new(kind: &str, parts: &[&str]) -> Key {
        let mut digest = Sha256::new();
        // The length keeps one part's end from being another's beginning.
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let mut name = format!("{kind}-");
        for byte in digest.finalize() {
            let _ = write!(name, "{byte:02x}");
        }
        Key(name)
    }
}

/// A folder of compiled kernels, or none.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Option<PathBuf>,
    limit: u64,
    /// Bytes kept since old entries were last deleted. The first ones count as too many.
    #[cfg_attr(target_family = "wasm", allow(dead_code))]
    untrimmed: Arc<AtomicU64>,
}

impl Default for Cache {
    fn default() -> Self {
        Cache { folder: None, limit: LIMIT, untrimmed: Arc::new(AtomicU64::new(u64::MAX / 2)) }
    }
}

impl Cache {
    /// As `TRIFOLD_CACHE` says; see the crate's documentation.
    pub fn from_env() -> Cache {
        let folder = match std::env::var_os("TRIFOLD_CACHE") {
            Some(off) if off.is_empty() || off == "off" => None,
            Some(folder) => Some(folder.into()),
            #[cfg(not(target_family = "wasm"))]
            None => dirs::cache_dir().map(|folder| folder.join("trifold")),
            #[cfg(target_family = "wasm")]
            None => None,
        };
        Cache { folder, ..Cache::default() }
    }

    /// A cache in this folder, which need not be there yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: Some(folder.into()), ..Cache::default() }
    }

    /// The same, whose entries take at most so many bytes.
    pub fn with_limit(self, bytes: u64) -> Cache {
        Cache { limit: bytes, ..self }
    }

    /// The most bytes that entries take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// No cache: nothing is found, nothing is kept.
    pub fn off() -> Cache {
        Cache::default()
    }

    /// Where it is, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

impl Cache {
    /// What a driver makes of the entry, if it is there. One that it does not take is forgotten, with a warning that names the kernel.
    pub fn load<T, E: Display>(
        &self,
        key: &Key,
        kernel: &str,
        load: impl FnOnce(Vec<u8>) -> Result<T, E>,
    ) -> Option<T> {
        let refused = |error: &E| {
            tracing::warn!(kernel, %error, "the driver does not take a cached kernel; compiling it");
            self.forget(key);
        };
        load(self.get(key)?).inspect_err(refused).ok()
    }
}

/// In a browser there is nothing to find, and nowhere to keep anything.
#[cfg(target_family = "wasm")]
impl Cache {
    /// Nothing.
    pub fn get(&self, _: &Key) -> Option<Vec<u8>> {
        None
    }

    /// Does nothing.
    pub fn put(&self, _: &Key, _: &[u8]) {}

    /// Does nothing.
    pub fn forget(&self, _: &Key) {}
}
