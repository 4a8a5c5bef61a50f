//! A device's memory, as the commands fill it.

use trifold::backend::Span;
use trifold::{Backend, Device, Result};

/// Memory of so many bytes, and of one element at least: a reduction of none writes one.
pub fn allocate(device: &Device, bytes: usize) -> Result<Span<Device>> {
    device.allocate(bytes.max(16) as u64)
}

/// Memory that begins with `bytes`.
pub fn upload(device: &Device, bytes: &[u8]) -> Result<Span<Device>> {
    let memory = allocate(device, bytes.len())?;
    if !bytes.is_empty() {
        device.write(&first(&memory, bytes.len())?, bytes)?;
    }
    Ok(memory)
}

pub fn first(memory: &Span<Device>, bytes: usize) -> Result<Span<Device>> {
    memory.slice(0, bytes as u64)
}
