//! The emulated device's memory: the host's, poisoned.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use trifold_core::{Error, Result, Span};

use crate::Emulation;

/// Where an allocation starts, as the driver's do.
pub(crate) const ALIGNMENT: usize = 256;
/// What new memory holds: kernels must not rely on it.
const POISON: u8 = 0xa5;

/// Memory whose bytes are touched by one command at a time: see [`Emulation`].
struct Allocation {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the allocation is owned, not tied to a thread, and its bytes are plain data.
unsafe impl Send for Allocation {}
// SAFETY: its bytes are reached through pointers alone, by commands and copies that hold the device's lock.
unsafe impl Sync for Allocation {}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody holds the allocation any more.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Memory of the emulated device.
pub struct Buffer {
    memory: Arc<Allocation>,
    bytes: u64,
}

impl Buffer {
    pub(crate) fn new(bytes: u64, device: &str) -> Result<Buffer> {
        let out_of_memory = || Error::OutOfMemory { bytes, device: device.to_owned() };
        let size = bytes.max(1).checked_next_multiple_of(16).and_then(|size| usize::try_from(size).ok());
        let layout = size.and_then(|size| Layout::from_size_align(size, ALIGNMENT).ok()).ok_or_else(out_of_memory)?;
        // SAFETY: the size is at least 16.
        let start = NonNull::new(unsafe { alloc(layout) }).ok_or_else(out_of_memory)?;
        // SAFETY: these bytes were just allocated.
        unsafe { start.as_ptr().write_bytes(POISON, layout.size()) }
        Ok(Buffer { memory: Arc::new(Allocation { start, layout }), bytes })
    }

    pub(crate) fn span(&self) -> Span<'_, Emulation> {
        let room = self.memory.layout.size() as u64;
        // SAFETY: the memory has at least the bytes asked for, and its handle keeps it.
        unsafe { Span::from_handle(Handle(self.memory.clone()), self.bytes, room) }
    }
}

/// A reference to the memory of a [`Buffer`], which it keeps alive.
#[derive(Clone)]
pub struct Handle(Arc<Allocation>);

impl Handle {
    pub(crate) fn same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A range of memory, within its allocation, which it keeps alive.
#[derive(Clone)]
pub(crate) struct Region {
    memory: Arc<Allocation>,
    offset: usize,
    bytes: usize,
}

impl Region {
    pub(crate) fn of(span: &Span<'_, Emulation>) -> Result<Region> {
        let memory = span.handle().0.clone();
        let size = memory.layout.size();
        let range = usize::try_from(span.offset()).ok().zip(usize::try_from(span.bytes()).ok());
        match range {
            Some((offset, bytes)) if offset.checked_add(bytes).is_some_and(|end| end <= size) => {
                Ok(Region { memory, offset, bytes })
            }
            _ => Err(Error::Invalid(format!("{span:?}, of memory that has {size} bytes"))),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its first byte, good for `bytes()` bytes.
    pub(crate) fn start(&self) -> *mut u8 {
        // SAFETY: `of` checked that the offset is within the allocation.
        unsafe { self.memory.start.as_ptr().add(self.offset) }
    }

    /// Fails unless `bytes` on the host are as many as the region's.
    pub(crate) fn check_length(&self, bytes: usize) -> Result<()> {
        if self.bytes == bytes {
            return Ok(());
        }
        Err(Error::Invalid(format!("{bytes} bytes on the host, and the span has {}", self.bytes)))
    }
}
