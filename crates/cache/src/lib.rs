//! Compiled kernels, kept on disk between processes: what a backend's compiler made of a text for a device and driver.
//!
//! `TRIFOLD_CACHE` names the folder; empty or `off` means none. Unset it is `trifold` in the user's cache folder
//! (`~/.cache` on Linux). An entry is a file of its own: a SHA-256 digest and the bytes that it is of. It is written beside its
//! place and moved there whole, so processes may share a folder; one that is damaged is as good as none, and written over. A
//! cache that cannot be read or written is a warning in the log and never an error: compiling again always works. The folder
//! may be deleted at any time, and nothing else deletes from it.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Bytes of a digest.
const DIGEST: usize = 32;

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
#[derive(Debug, Clone, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// As `TRIFOLD_CACHE` says; see the crate's documentation.
    pub fn from_env() -> Cache {
        let folder = match std::env::var_os("TRIFOLD_CACHE") {
            Some(off) if off.is_empty() || off == "off" => None,
            Some(folder) => Some(folder.into()),
            None => dirs::cache_dir().map(|folder| folder.join("trifold")),
        };
        Cache { folder }
    }

    /// A cache in this folder, which need not be there yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: Some(folder.into()) }
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
    /// What was kept under the key, if it is there and whole.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(&key.0);
        let mut file = match fs::read(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the cache cannot be read; set TRIFOLD_CACHE elsewhere, or to off");
                return None;
            }
        };
        let whole = file.split_first_chunk::<DIGEST>().is_some_and(|(digest, bytes)| *digest == *Sha256::digest(bytes));
        if !whole {
            tracing::warn!(path = %path.display(), "a damaged entry of the cache is not used");
            return None;
        }
        tracing::debug!(path = %path.display(), "found in the cache");
        Some(file.split_off(DIGEST))
    }

    /// Keeps bytes under the key.
    pub fn put(&self, key: &Key, bytes: &[u8]) {
        let Some(folder) = &self.folder else { return };
        let write = || {
            fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&Sha256::digest(bytes))?;
            file.write_all(bytes)?;
            file.persist(folder.join(&key.0)).map_err(|error| error.error)
        };
        if let Err(error) = write() {
            tracing::warn!(folder = %folder.display(), %error, "not cached; set TRIFOLD_CACHE elsewhere, or to off");
        }
    }

    /// Forgets what was kept under the key: a driver would not take it.
    pub fn forget(&self, key: &Key) {
        let Some(folder) = &self.folder else { return };
        match fs::remove_file(folder.join(&key.0)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::debug!(folder = %folder.display(), %error, "an entry of the cache was not dropped");
            }
            _ => {}
        }
    }
}
