//! Entries as files: a digest, and the bytes that it is of.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::{Cache, Key};

/// Bytes of a digest.
const DIGEST: usize = 32;
/// What an entry's name begins with while it is written.
const UNFINISHED: &str = ".trifold-";
/// After this long nobody writes it any more.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

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
        // It is not among those not used for longest. Where that cannot be said it is as old as it was.
        let _ = fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        tracing::debug!(path = %path.display(), "found in the cache");
        Some(file.split_off(DIGEST))
    }

    /// Keeps bytes under the key.
    pub fn put(&self, key: &Key, bytes: &[u8]) {
        let Some(folder) = &self.folder else { return };
        let write = || {
            fs::create_dir_all(folder)?;
            let mut builder = tempfile::Builder::new();
            // For others who share the folder; a temporary file's own would be 0600.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
            let mut file = builder.prefix(UNFINISHED).tempfile_in(folder)?;
            file.write_all(&Sha256::digest(bytes))?;
            file.write_all(bytes)?;
            file.persist(folder.join(&key.0)).map_err(|error| error.error)
        };
        if let Err(error) = write() {
            tracing::warn!(folder = %folder.display(), %error, "not cached; set TRIFOLD_CACHE elsewhere, or to off");
            return;
        }
        let untrimmed = self.untrimmed.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if untrimmed > self.limit / 16 {
            self.untrimmed.store(0, Ordering::Relaxed);
            trim(folder, self.limit);
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

/// If entries take more than `limit` bytes, deletes those used longest ago until three quarters of the limit are left.
/// Other processes may do the same meanwhile, read what is deleted, or keep it anew: each sees an entry whole or not at
/// all.
fn trim(folder: &Path, limit: u64) {
    let Ok(found) = fs::read_dir(folder) else { return };
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = vec![];
    for file in found.flatten() {
        let (Ok(name), Ok(data)) = (file.file_name().into_string(), file.metadata()) else { continue };
        let Ok(used) = data.modified() else { continue };
        let is_abandoned = || used.elapsed().is_ok_and(|age| age > ABANDONED);
        if is_entry(&name) && data.is_file() {
            entries.push((used, data.len(), file.path()));
        } else if name.starts_with(UNFINISHED) && is_abandoned() {
            let _ = fs::remove_file(file.path());
        }
    }
    let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    if bytes <= limit {
        return;
    }
    entries.sort();
    for (_, own, path) in entries {
        if bytes <= limit / 4 * 3 {
            break;
        }
        match fs::remove_file(&path) {
            // Another process was faster.
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::debug!(path = %path.display(), %error, "an old entry of the cache was not dropped");
            }
            _ => bytes -= own,
        }
    }
}

/// Whose entries there are.
const KINDS: [&str; 3] = ["cuda", "opencl", "wgpu"];

/// Whether a file's name is a key's: a kind, and a digest in hexadecimal digits. A folder may hold other files.
fn is_entry(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(kind, digest)| {
        KINDS.contains(&kind) && digest.len() == 2 * DIGEST && digest.bytes().all(|b| b.is_ascii_hexdigit())
    })
}
