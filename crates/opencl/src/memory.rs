//! Device memory: buffers of the backend's own, and the caller's.

use std::sync::Arc;

use ocl::ffi;
use trifold_core::{Error, Result, Span};

use crate::OpenCl;
use crate::objects::{Context, Mem};
use crate::status::{Checked, Status};

/// A reference to device memory, which keeps it from being freed.
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Memory>);

/// A buffer of OpenCL's and what binding it depends on.
pub(crate) struct Memory {
    pub(crate) mem: Mem,
    pub(crate) bytes: u64,
    pub(crate) flags: u64,
    /// Of the address that kernels see, as far as it matters: 256 at most.
    pub(crate) alignment: u64,
    /// The address of its context: to compare, not to use.
    pub(crate) context: usize,
    /// Likewise of the queue whose commands use it.
    pub(crate) queue: usize,
}

/// A range of memory, known to lie within it.
pub(crate) struct Place {
    pub(crate) memory: Memory,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Memory {
    /// Of a context, for the commands of a queue.
    pub(crate) fn new(context: &Context, queue: usize, bytes: u64) -> Checked<Memory> {
        let call = "clCreateBuffer";
        let size = usize::try_from(bytes).map_err(|_| Status { call, code: ffi::CL_INVALID_BUFFER_SIZE })?;
        // SAFETY: the context is live, and no host memory is passed; the call gives one reference away, if any.
        let mem = unsafe {
            Mem::create(call, |code| {
                ffi::clCreateBuffer(context.raw(), ffi::CL_MEM_READ_WRITE, size, std::ptr::null_mut(), code)
            })
        }?;
        let context = context.raw() as usize;
        Ok(Memory { mem, bytes, flags: ffi::CL_MEM_READ_WRITE, alignment: 256, context, queue })
    }

    /// A range as a buffer of its own, which keeps the whole alive.
    pub(crate) fn sub_buffer(&self, origin: usize, size: usize) -> Checked<Mem> {
        let region = ffi::cl_buffer_region { origin, size };
        // SAFETY: the buffer is live and no sub-buffer itself, `region` is what this kind of sub-buffer is described by,
        // and a range outside the buffer or at an odd place is refused with a code. The call gives one reference away, if any.
        unsafe {
            Mem::create("clCreateSubBuffer", |code| {
                let kind = ffi::CL_BUFFER_CREATE_TYPE_REGION;
                ffi::clCreateSubBuffer(self.mem.raw(), 0, kind, (&raw const region).cast(), code)
            })
        }
    }

    /// Takes a reference to a caller's buffer, for the commands of a queue. Of a sub-buffer it is the parent that is bound, from the sub-buffer's
    /// start on: so overlaps with its siblings are seen, and its alignment is known.
    ///
    /// # Safety
    /// `raw` is null or a live buffer.
    pub(crate) unsafe fn import(raw: ffi::cl_mem, queue: usize) -> Checked<Place> {
        // SAFETY: as the caller says.
        let own = unsafe { Mem::retained(raw) }?;
        let bytes = own.info::<usize>(ffi::CL_MEM_SIZE)? as u64;
        let parent = own.info::<usize>(ffi::CL_MEM_ASSOCIATED_MEMOBJECT)? as ffi::cl_mem;
        let (mem, offset) = if parent.is_null() {
            (own, 0)
        } else {
            let offset = own.info::<usize>(ffi::CL_MEM_OFFSET)? as u64;
            // SAFETY: a live sub-buffer keeps its parent alive.
            (unsafe { Mem::retained(parent) }?, offset)
        };
        let flags: u64 = mem.info(ffi::CL_MEM_FLAGS)?;
        let alignment = if flags & ffi::CL_MEM_USE_HOST_PTR != 0 {
            // Kernels may see the caller's memory itself.
            1 << mem.info::<usize>(ffi::CL_MEM_HOST_PTR)?.trailing_zeros().min(8)
        } else {
            256
        };
        let (size, context) = (mem.info::<usize>(ffi::CL_MEM_SIZE)? as u64, mem.info(ffi::CL_MEM_CONTEXT)?);
        Ok(Place { memory: Memory { mem, bytes: size, flags, alignment, context, queue }, offset, bytes })
    }
}

/// A span's offset and length, as OpenCL takes them.
pub(crate) fn range(span: &Span<OpenCl>) -> Result<(usize, usize)> {
    match (usize::try_from(span.offset()), usize::try_from(span.bytes())) {
        (Ok(offset), Ok(bytes)) => Ok((offset, bytes)),
        _ => Err(Error::Invalid(format!("{span:?} is past what this program can address"))),
    }
}
