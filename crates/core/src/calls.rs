//! What the primitives' typed calls, which erase to a [`Request`] at once, have in common.
//!
//! Each primitive has a `prepare_*`, to plan and compile once and run often, and one-shot calls for when that does not
//! matter. One-shot calls compile on first use, allocate scratch, and wait for the work to end, blocking their thread.

use crate::{Backend, Error, Options, Prepared, Request, Result, Span, Spans};

/// Waits for a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

/// How many elements a span's bytes are.
pub(crate) fn count<T>(bytes: u64) -> Result<u64> {
    let size = size_of::<T>() as u64;
    if size == 0 {
        return Err(Error::Invalid("elements of no bytes; an element has at least four".into()));
    }
    if !bytes.is_multiple_of(size) {
        return Err(Error::Invalid(format!("a span of {bytes} bytes is no whole number of elements of {size} bytes")));
    }
    Ok(bytes / size)
}

pub(crate) fn run_once<B: Backend>(backend: &B, request: &Request, spans: &Spans<'_, B>) -> Result<()> {
    let layout = spans.layout_for(backend, request)?;
    let prepared = block_on(Prepared::new(backend, request, layout, Options::default()))?;
    prepared.bind(backend, spans)?.run(backend)?;
    // The scratch goes when `prepared` does.
    backend.synchronize()
}

/// Moving host data to and from a device.
///
/// # Errors
/// [`Error::Invalid`] for a span that is no whole number of elements, and on wgpu for bytes or an offset that are no multiple of
/// four; otherwise as [`Backend::alloc`], [`Backend::write`] and [`Backend::read`].
pub trait Transfer: Backend {
    /// Allocates a buffer with these elements in it.
    fn upload<T: bytemuck::NoUninit>(&self, data: &[T]) -> Result<Self::Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.alloc(bytes.len() as u64)?;
        self.write(&self.span(&buffer).slice(0, bytes.len() as u64)?, bytes)?;
        Ok(buffer)
    }

    /// Reads a span's elements.
    fn download<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(&self, span: &Span<'_, Self>) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); count::<T>(span.bytes())? as usize];
        block_on(self.read(span, bytemuck::cast_slice_mut(&mut data)))?;
        Ok(data)
    }
}
impl<B: Backend> Transfer for B {}
