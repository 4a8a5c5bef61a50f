//! What the examples of applications share: devices that are found at run time, their memory, and calls on them.

use trifold::{AnyBackend, AnyBuffer, AnySpan, AnySpans, Found, Options, Request, Result, bytemuck};

/// Every device that opens. One that does not says why, and is no reason to do without the others.
pub fn open_all() -> impl Iterator<Item = (Found, Box<dyn AnyBackend>)> {
    trifold::devices().into_iter().filter_map(|found| match found.open() {
        Ok(device) => Some((found, device)),
        Err(error) => {
            println!("{found}: {error}");
            None
        }
    })
}

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
