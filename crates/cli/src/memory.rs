//! A device's buffers, as the commands fill them.

use trifold::{AnyBackend, AnyBuffer, AnySpan, Result};

/// A buffer of so many bytes, and of one element at least: a reduction of none writes one.
pub fn allocate(backend: &dyn AnyBackend, bytes: usize) -> Result<AnyBuffer> {
    backend.alloc(bytes.max(16) as u64)
}

/// A buffer that begins with `bytes`.
pub fn upload(backend: &dyn AnyBackend, bytes: &[u8]) -> Result<AnyBuffer> {
    let buffer = allocate(backend, bytes.len())?;
    if !bytes.is_empty() {
        backend.write(first(&buffer, bytes.len()), bytes)?;
    }
    Ok(buffer)
}

pub fn first(buffer: &AnyBuffer, bytes: usize) -> AnySpan<'_> {
    AnySpan { buffer, offset: 0, bytes: bytes as u64 }
}
