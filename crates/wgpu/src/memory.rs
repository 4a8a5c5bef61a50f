//! Memory, and whose it is. wgpu numbers buffers by instance, and takes another's for its own of the same number: what belongs to an opening
//! has a mark of it.

use std::fmt::Display;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use trifold_core::{Error, Result, Span};

use crate::Wgpu;
use crate::gl::{Kept, Turns};

/// One `Wgpu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening(u64);

impl Opening {
    pub(crate) fn new() -> Opening {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Opening(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A buffer, of the opening that allocated or imported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    buffer: wgpu::Buffer,
    opening: Opening,
}

impl Handle {
    pub(crate) fn new(buffer: wgpu::Buffer, opening: Opening) -> Handle {
        Handle { buffer, opening }
    }
}

impl Deref for Handle {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

/// A buffer of this backend's.
pub struct Buffer {
    handle: Kept<Handle>,
    bytes: u64,
}

impl Buffer {
    pub(crate) fn new(handle: Handle, bytes: u64, turns: Turns) -> Buffer {
        Buffer { handle: Kept::new(handle, turns), bytes }
    }

    pub(crate) fn span(&self) -> Span<'_, Wgpu> {
        // SAFETY: the buffer has at least the bytes asked for, and its handle keeps it.
        unsafe { Span::from_handle((*self.handle).clone(), self.bytes, self.handle.size()) }
    }
}

impl Wgpu {
    /// A buffer of wgpu's, in a scope that takes its errors.
    pub(crate) fn make_buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// Fails if what is to be used belongs to another `Wgpu`.
    pub(crate) fn check_own(&self, what: impl Display, of: Opening) -> Result<()> {
        if of == self.opening {
            return Ok(());
        }
        let device = &self.caps.device;
        Err(Error::Invalid(format!(
            "{what} of another opening of a device; use what this {device} itself made, or import a buffer of the same device (Wgpu::import)"
        )))
    }

    pub(crate) fn check_span(&self, what: &str, span: &Span<'_, Self>) -> Result<()> {
        self.check_own(format_args!("memory for {what}"), span.handle().opening)
    }
}
