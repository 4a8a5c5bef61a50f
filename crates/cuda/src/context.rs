//! The context that is current on a thread.

use cudarc::driver::{result, sys::CUcontext};

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
    /// To be called where the driver is loaded, as it is once there is a device.
    pub fn kept() -> CurrentContext {
        CurrentContext(result::ctx::get_current().ok().flatten())
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
