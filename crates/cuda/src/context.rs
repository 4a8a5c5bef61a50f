//! The context that is current on a thread.

use std::sync::OnceLock;

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUcontext};

/// The thread's current context. When this is dropped, it is current again. Calls make their device's context current, and other
/// libraries of the program, such as CUDA's runtime, take the current one's device for theirs.
///
/// ```no_run
/// # use trifold_cuda::{CurrentContext, Cuda};
/// let (first, second) = (Cuda::open(0)?, Cuda::open(1)?);
/// {
///     let _context = CurrentContext::kept();
///     // Calls on `second`.
/// }
/// // What was current before is again.
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub struct CurrentContext(Option<CUcontext>);

impl CurrentContext {
    /// Where there is no driver, there is none.
    pub fn kept() -> CurrentContext {
        static HAS_DRIVER: OnceLock<bool> = OnceLock::new();
        // SAFETY: looks for libcuda by NVIDIA's names; loading the driver runs its own initialisers only.
        let has_driver = *HAS_DRIVER.get_or_init(|| unsafe { sys::is_culib_present() });
        CurrentContext(has_driver.then(|| result::ctx::get_current().ok().flatten()).flatten())
    }
}

impl Drop for CurrentContext {
    fn drop(&mut self) {
        let Some(context) = self.0 else { return };
        // SAFETY: the context was current a moment ago, and whoever made it so has not ended it meanwhile.
        if let Err(error) = unsafe { result::ctx::set_current(context) } {
            tracing::warn!(%error, "another context stays current on the thread");
        }
    }
}
