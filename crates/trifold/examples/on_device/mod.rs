//! What the examples of applications share: memory of a device that was found at run time, and calls on it.

use trifold::{AnyBackend, AnyBuffer, AnySpan, AnySpans, Options, Request, Result, bytemuck};

/// A buffer with these elements in it.
pub fn upload<T: bytemuck::NoUninit>(device: &dyn AnyBackend, data: &[T]) -> Result<AnyBuffer> {
    let buffer = device.alloc(size_of_val(data) as u64)?;
    device.write(AnySpan::whole(&buffer), bytemuck::cast_slice(data))?;
    Ok(buffer)
}

/// The first elements of a buffer.
pub fn download<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
    device: &dyn AnyBackend,
    from: &AnyBuffer,
    count: usize,
) -> Result<Vec<T>> {
    let mut bytes = vec![0; count * size_of::<T>()];
    device.read(AnySpan { buffer: from, offset: 0, bytes: bytes.len() as u64 }, &mut bytes)?;
    Ok(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}

/// Plans, compiles and runs a call once.
pub fn run(device: &dyn AnyBackend, request: &Request, spans: AnySpans<'_>) -> Result<()> {
    let call = device.call(request, spans, Options::default(), &device.tuning(), None)?;
    device.run(&call)?;
    // The call's scratch goes with it.
    device.synchronize()
}
