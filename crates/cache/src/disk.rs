//! Entries as files: a digest, and the bytes that it is of.

use std::fs;
use std::io::{ErrorKind, Write};

use sha2::{Digest, Sha256};

use crate::{Cache, Key};

/// Bytes of a digest.
const DIGEST: usize = 32;

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
