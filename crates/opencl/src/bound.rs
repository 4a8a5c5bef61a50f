//! What a launch takes for an argument: a buffer, or a part of one.

use std::sync::Arc;

use ocl::ffi;
use trifold_core::{Access, Argument, Error, Result, Span};
use trifold_kernels::residue;

use crate::OpenCl;
use crate::memory::{Memory, range};
use crate::part::Part;

/// A buffer, or a part of one.
pub(crate) enum Bound {
    Whole(Arc<Memory>),
    Part(Part),
}

impl Bound {
    /// A span for an argument of a kernel. `start` is where the kernel counts the span's offset from, if it takes one.
    pub(crate) fn new(kernel: &str, argument: &Argument, span: &Span<OpenCl>, start: Option<u64>) -> Result<Bound> {
        let memory = &span.handle().0;
        let refused = match argument.access {
            Access::ReadWrite | Access::Atomic | Access::Coherent => ffi::CL_MEM_READ_ONLY,
            Access::Read => ffi::CL_MEM_WRITE_ONLY,
        };
        if memory.flags & refused != 0 {
            return Err(Error::Invalid(format!(
                "the buffer for `{}` of {kernel} was created for kernels to {} only; create it with CL_MEM_READ_WRITE",
                argument.name,
                if argument.access == Access::Read { "write" } else { "read" }
            )));
        }
        // A plan's own scratch is a buffer for each region, rounded up to 16 bytes. In a caller's it lies where the plan put
        // it: a sub-buffer stands for that, at the start too, since what a kernel does to a buffer and to a part of it at
        // a time is undefined.
        let is_whole = match start {
            Some(start) => start == 0,
            None => span.offset() == 0 && span.bytes().next_multiple_of(16) >= memory.bytes,
        };
        if is_whole {
            return Ok(Bound::Whole(memory.clone()));
        }
        let (offset, bytes) = range(span)?;
        let before = start.map_or(0, |start| offset - start as usize);
        // Packs reach past the end, as far as the buffer does.
        let bytes = (before + bytes).next_multiple_of(16).min(memory.bytes as usize - (offset - before));
        let part = Part::of(memory, offset - before, bytes);
        Ok(Bound::Part(part.map_err(|s| s.error(format_args!("binding `{}` of {kernel}", argument.name)))?))
    }

    pub(crate) fn raw(&self) -> ffi::cl_mem {
        match self {
            Bound::Whole(memory) => memory.mem.raw(),
            Bound::Part(part) => part.raw(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Bound::Whole(memory) => memory.bytes,
            Bound::Part(part) => part.bytes(),
        }
    }
}

/// Where a span's buffer is bound from, for a kernel that takes an offset in units. That is the buffer's start, if the
/// span's offset is a whole number of units that 32 bits can hold. Otherwise it is the nearest place for a sub-buffer
/// from which the offset is a whole number of units.
pub(crate) fn start(offset: u64, unit: u64, alignment: u64) -> u64 {
    if offset.is_multiple_of(unit) && offset / unit <= u64::from(u32::MAX) {
        return 0;
    }
    // If there is none, packing the offset says so.
    residue(offset, alignment, unit).map_or(0, |before| offset - before)
}

/// A launch takes a buffer whole, or parts of it of which no two overlap: OpenCL leaves anything else undefined.
pub(crate) fn check_parts(kernel: &str, taken: &[(&'static str, Bound)], alignment: u64) -> Result<()> {
    for (argument, bound) in taken {
        let Bound::Part(part) = bound else { continue };
        for (other, bound) in taken {
            match bound {
                Bound::Part(another) if part.overlaps(another) => {
                    return Err(Error::Invalid(format!(
                        "`{argument}` and `{other}` of {kernel} lie in one buffer, in parts that overlap, as a part starts at a multiple \
                         of {alignment} bytes and whole elements before its span; OpenCL leaves that undefined: give one of them a \
                         buffer of its own"
                    )));
                }
                Bound::Whole(whole) if part.buffer() == whole.mem.raw() as usize => {
                    return Err(Error::Invalid(format!(
                        "`{argument}` of {kernel} is a part of the buffer that it takes whole for `{other}`, which OpenCL leaves \
                         undefined; give one of them a buffer of its own"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
