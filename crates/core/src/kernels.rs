//! The kernels that a backend has compiled.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Mutex, PoisonError};

use crate::{KernelKey, Result};

/// A backend's compiled kernels, by key. For backends.
#[derive(Debug)]
pub struct Kernels<K>(Mutex<HashMap<KernelKey, K>>);

impl<K> Default for Kernels<K> {
    fn default() -> Self {
        Kernels(Mutex::default())
    }
}

impl<K: Clone> Kernels<K> {
    /// The kernel of this key. If there is none yet, it is what `compile` gives, and is kept; a failure is not. If
    /// several threads compile one key at a time, all get the kernel of the one that was done first.
    ///
    /// # Errors
    /// Those of `compile`.
    pub async fn get_or_compile(&self, key: &KernelKey, compile: impl Future<Output = Result<K>>) -> Result<K> {
        // Not held while compiling: that takes seconds, and a future may wait for another on its thread.
        let kernels = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels().get(key) {
            return Ok(kernel.clone());
        }
        let kernel = compile.await?;
        Ok(kernels().entry(key.clone()).or_insert(kernel).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Kernel, block_on};

    static KERNEL: Kernel = Kernel::host("a kernel");

    fn key(constant: &'static str) -> KernelKey {
        KernelKey::new(&KERNEL, vec![], vec![(constant, 1)])
    }

    #[test]
    fn a_kernel_is_compiled_once_and_a_failure_again() {
        let kernels = Kernels::default();
        let get = |name, compiled: Result<u32>| block_on(kernels.get_or_compile(&key(name), async { compiled }));
        assert!(get("a", Err(Error::Invalid("no".into()))).is_err());
        assert_eq!(get("a", Ok(1)).unwrap(), 1);
        assert_eq!(block_on(kernels.get_or_compile(&key("a"), async { panic!("compiled again") })).unwrap(), 1);
        assert_eq!(get("b", Ok(2)).unwrap(), 2);
    }

    #[test]
    fn who_is_done_first_decides() {
        let kernels = Kernels::default();
        let second = async {
            kernels.get_or_compile(&key("a"), async { Ok(1) }).await?;
            Ok(2)
        };
        assert_eq!(block_on(kernels.get_or_compile(&key("a"), second)).unwrap(), 1);
    }
}
