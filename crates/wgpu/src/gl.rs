//! One thread at a time through GL.
//!
//! wgpu-hal makes a context current for what it does there. It panics where another thread has held the context for six
//! seconds. A long submission holds it as long as it runs, where a processor is the device.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use parking_lot::{ReentrantMutex, const_reentrant_mutex};
use trifold_core::{Error, Result};

use crate::error::text;

/// One lock for all devices, since nothing says which have a context in common. A thread that has it may take it again,
/// as wgpu calls callbacks.
static CONTEXT: ReentrantMutex<()> = const_reentrant_mutex(());

/// How wgpu-hal's panic begins.
const BUSY: &str = "Could not lock adapter context";

/// Whether calls to a device take turns.
#[derive(Clone, Copy)]
pub(crate) struct Turns(bool);

impl Turns {
    pub(crate) fn of(info: &wgpu::AdapterInfo) -> Turns {
        Turns(info.backend == wgpu::Backend::Gl)
    }

    /// Makes calls that may want a context, or fails if a caller's own calls keep it.
    pub(crate) fn take<R>(self, calls: impl FnOnce() -> R) -> Result<R> {
        if !self.0 {
            return Ok(calls());
        }
        let _turn = CONTEXT.lock();
        // wgpu has not begun what it wanted the context for.
        catch_unwind(AssertUnwindSafe(calls)).map_err(|panic| {
            if !text(&*panic).is_some_and(|text| text.starts_with(BUSY)) {
                resume_unwind(panic)
            }
            let held = "the GL context was held for over 6 s by calls that are not Trifold's; let them end, or use the device through Vulkan";
            Error::backend_message("wgpu", held)
        })
    }
}

/// Something of a device's that wgpu destroys in a turn.
pub(crate) struct Kept<T> {
    value: ManuallyDrop<T>,
    turns: Turns,
}

impl<T> Kept<T> {
    pub(crate) fn new(value: T, turns: Turns) -> Self {
        Kept { value: ManuallyDrop::new(value), turns }
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // SAFETY: it is dropped here alone, and nothing has it afterwards.
        let dropped = self.turns.take(|| unsafe { ManuallyDrop::drop(&mut self.value) });
        if let Err(error) = dropped {
            tracing::error!(%error, "a resource of the device is left over");
        }
    }
}
