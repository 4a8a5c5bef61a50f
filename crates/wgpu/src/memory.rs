//! Memory, and whose it is.
//!
//! wgpu numbers buffers by instance, and takes another instance's buffer for its own of the same number. So what
//! belongs to an opening of a device has a mark of it.

use std::fmt::Display;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trifold_core::{Error, Result, Span};

use crate::Wgpu;
use crate::gl::Kept;

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
#[derive(Clone)]
pub struct Handle(Arc<Memory>);

struct Memory {
    buffer: Kept<wgpu::Buffer>,
    opening: Opening,
}

impl Handle {
    /// What allocated or imported it.
    pub(crate) fn opening(&self) -> Opening {
        self.0.opening
    }

    /// Whether both stand for the same buffer.
    pub(crate) fn same(&self, other: &Handle) -> bool {
        self.0.opening == other.0.opening && *self.0.buffer == *other.0.buffer
    }
}

impl Deref for Handle {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.0.buffer
    }
}

impl Wgpu {
    /// A buffer's first bytes.
    pub(crate) fn span_of(&self, buffer: wgpu::Buffer, bytes: u64) -> Span<Wgpu> {
        let room = buffer.size();
        let memory = Memory { buffer: Kept::new(buffer, self.turns), opening: self.opening };
        // SAFETY: the buffer has at least these bytes, and its handle keeps it.
        unsafe { Span::from_handle(Handle(memory.into()), bytes, room) }
    }

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

    pub(crate) fn check_span(&self, what: &str, span: &Span<Self>) -> Result<()> {
        self.check_own(format_args!("memory for {what}"), span.handle().opening())
    }
}
