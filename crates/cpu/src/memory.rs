//! Host memory that commands share, and who may touch it when.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use trifold_core::{Backend, Buffer, Element, Error, Result, Span};

use crate::{Cpu, system};

/// Where every allocation starts: at a multiple of this many bytes.
pub const ALIGNMENT: usize = 256;
/// The same of a caller's memory: what any element needs.
const IMPORTED: usize = 16;
/// From here on an allocation is compared with what the system has to give: Linux hands out more than it has, and ends
/// the process that uses it.
const LARGE: u64 = 256 << 20;

/// Memory whose bytes are touched only by the holder of its lock.
///
/// There are references to the bytes only while a command is executed. It then holds an [`Access`] to every allocation
/// that it touches: shared for what it reads, exclusive for what it writes.
pub(crate) struct Allocation {
    base: NonNull<u8>,
    layout: Layout,
    lock: RwLock<()>,
    /// What keeps the memory, if it is a caller's.
    keeper: Option<Box<dyn Any + Send + Sync>>,
}

// SAFETY: the allocation is owned, not tied to a thread, and its bytes are plain data.
unsafe impl Send for Allocation {}
// SAFETY: the bytes are reached under `lock` alone, see `Access`.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(bytes: u64, content: u8, device: &str) -> Result<Allocation> {
        let out_of_memory = || Error::OutOfMemory { bytes, device: device.to_owned() };
        if bytes >= LARGE && system::available().is_some_and(|available| bytes > available) {
            return Err(out_of_memory());
        }
        let size = bytes.max(1).checked_next_multiple_of(16).and_then(|b| usize::try_from(b).ok());
        let layout = size.and_then(|size| Layout::from_size_align(size, ALIGNMENT).ok()).ok_or_else(out_of_memory)?;
        // SAFETY: the size is at least 16.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        if content != 0 {
            // SAFETY: these bytes were just allocated.
            unsafe { base.as_ptr().write_bytes(content, layout.size()) }
        }
        Ok(Allocation { base, layout, lock: RwLock::new(()), keeper: None })
    }

    fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.keeper.is_none() {
            // SAFETY: allocated in `new` with this layout, and nobody holds the allocation any more.
            unsafe { dealloc(self.base.as_ptr(), self.layout) }
        }
    }
}

/// A reference to host memory, which it keeps. It starts at a multiple of 256 bytes, or of 16 if it is a caller's.
#[derive(Clone)]
pub struct Handle(Arc<Allocation>);

/// Memory that is full of a byte, of a backend on the host whose device has this name.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[doc(hidden)]
pub fn allocate<B: Backend<Handle: From<Handle>>>(bytes: u64, content: u8, device: &str) -> Result<Span<B>> {
    let memory = Arc::new(Allocation::new(bytes, content, device)?);
    let room = memory.bytes() as u64;
    // SAFETY: the memory has at least the bytes asked for, and its handle keeps it.
    Ok(unsafe { Span::from_handle(Handle(memory).into(), bytes, room) })
}

impl Cpu {
    /// Memory of a caller's: `n` elements from an address on, which is a multiple of 16. The keeper is dropped when no buffer or call has
    /// the memory any more.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum};
    /// let cpu = trifold_cpu::Cpu::new()?;
    /// let numbers = vec![1u128, 2, 3];
    /// let address = numbers.as_ptr().cast_mut().cast::<u64>();
    /// // SAFETY: the keeper keeps the numbers, and nobody writes to them meanwhile.
    /// let x = unsafe { cpu.import_raw::<u64>(address, 6, numbers) }?;
    /// assert_eq!(cpu.reduce(&x, Sum).value()?, 6);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for an address that is no multiple of 16, or more bytes than there are.
    ///
    /// # Safety
    /// `n` elements must be there until the keeper is dropped. While calls run that read them nobody may write them, and while calls run that
    /// write them nobody else may use them. No call may have two such buffers that share bytes.
    pub unsafe fn import_raw<T: Element>(
        &self,
        address: *mut T,
        n: usize,
        keeper: impl Any + Send + Sync,
    ) -> Result<Buffer<T, Cpu>> {
        let layout = size_of::<T>().checked_mul(n).and_then(|size| Layout::from_size_align(size, IMPORTED).ok());
        let base = NonNull::new(address.cast::<u8>()).filter(|base| base.as_ptr().addr().is_multiple_of(IMPORTED));
        let (Some(layout), Some(base)) = (layout, base) else {
            return Err(Error::Invalid(format!(
                "{n} elements at address {address:?}; imported memory starts at a multiple of {IMPORTED} bytes"
            )));
        };
        let bytes = layout.size() as u64;
        let memory = Allocation { base, layout, lock: RwLock::new(()), keeper: Some(Box::new(keeper)) };
        // SAFETY: the caller says that the bytes are there, and the handle keeps what keeps them.
        Buffer::of_span(self, unsafe { Span::from_handle(Handle(Arc::new(memory)), bytes, bytes) })
    }
}

impl Handle {
    /// At a multiple of how many bytes it starts.
    pub(crate) fn alignment(&self) -> u64 {
        self.0.layout.align() as u64
    }

    /// Whether both are of one allocation.
    #[doc(hidden)]
    pub fn same(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl AsRef<Handle> for Handle {
    fn as_ref(&self) -> &Handle {
        self
    }
}

/// A range of an allocation, checked to lie within it.
#[derive(Clone)]
pub struct Region {
    memory: Arc<Allocation>,
    offset: usize,
    bytes: usize,
}

impl Region {
    /// The range that a span stands for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the span reaches past its memory.
    pub fn of<B: Backend<Handle: AsRef<Handle>>>(span: &Span<B>) -> Result<Region> {
        let memory = span.handle().as_ref().0.clone();
        let end = span.offset().checked_add(span.bytes());
        if end.is_none_or(|end| end > memory.bytes() as u64) {
            return Err(Error::Invalid(format!(
                "{} bytes at {} of memory that has {}",
                span.bytes(),
                span.offset(),
                memory.bytes()
            )));
        }
        Ok(Region { memory, offset: span.offset() as usize, bytes: span.bytes() as usize })
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// So many of its bytes, from one on.
    pub(crate) fn part(&self, offset: usize, bytes: usize) -> Result<Region> {
        if offset.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            return Err(Error::Invalid(format!("{bytes} bytes at {offset} of a span of {}", self.bytes)));
        }
        Ok(Region { memory: self.memory.clone(), offset: self.offset + offset, bytes })
    }

    /// Writes as many bytes as it has.
    ///
    /// # Errors
    /// [`Error::Invalid`] while another `Cpu` uses the memory.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.bytes);
        let _access = Access::to(&[], &[self])?;
        // SAFETY: the region has as many bytes as the slice, and `_access` is exclusive.
        unsafe { self.start().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
        Ok(())
    }

    /// Reads its bytes.
    ///
    /// # Errors
    /// As [`Region::write`].
    ///
    /// # Panics
    /// As [`Region::write`].
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.bytes);
        let _access = Access::to(&[self], &[])?;
        // SAFETY: the region has as many bytes as the slice, all initialised, and `_access` keeps writers out.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(self.start(), bytes.len()) }
        Ok(())
    }

    /// Its first byte. Aligned as its memory, less what the offset takes away, and good for `bytes()` bytes; to be
    /// read or written under an [`Access`] alone.
    pub fn start(&self) -> *mut u8 {
        // SAFETY: `of` checked that the offset is within the allocation.
        unsafe { self.memory.base.as_ptr().add(self.offset) }
    }

    /// Fails unless the region starts where an element of this alignment may.
    pub(crate) fn check_alignment(&self, what: &str, alignment: usize) -> Result<()> {
        if self.offset.is_multiple_of(alignment) {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "the {what} starts at byte {}; its elements must start at a multiple of {alignment} bytes",
            self.offset
        )))
    }

    pub(crate) fn is(&self, other: &Region) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory) && self.offset == other.offset && self.bytes == other.bytes
    }

    /// Fails if two regions of one command share bytes.
    pub(crate) fn check_apart(&self, other: &Region) -> Result<()> {
        let apart = !Arc::ptr_eq(&self.memory, &other.memory)
            || self.bytes == 0
            || other.bytes == 0
            || self.offset >= other.offset + other.bytes
            || other.offset >= self.offset + self.bytes;
        if apart {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "bytes {}..{} and {}..{} of one buffer overlap; give the same span twice to work in place, or spans apart",
            self.offset,
            self.offset + self.bytes,
            other.offset,
            other.offset + other.bytes
        )))
    }
}

/// The right to touch the memory of some regions, until dropped.
///
/// Never waits: a command that finds its memory in use fails. A device's calls come one after the other. So the memory
/// is in use by another `Cpu`, which has no order with this one, or by a call whose operator makes this call.
pub(crate) struct Access<'a> {
    _reads: Vec<RwLockReadGuard<'a, ()>>,
    _writes: Vec<RwLockWriteGuard<'a, ()>>,
}

impl<'a> Access<'a> {
    pub(crate) fn to(reads: &[&'a Region], writes: &[&'a Region]) -> Result<Access<'a>> {
        let busy = || {
            Error::Invalid("a buffer is in use by another Cpu, or by the call that this one runs within; share one Cpu (a clone is the same one)".into())
        };
        let known = |seen: &[&Region], region: &Region| seen.iter().any(|r| Arc::ptr_eq(&r.memory, &region.memory));
        let mut write_guards = vec![];
        for (i, region) in writes.iter().enumerate() {
            if known(&writes[..i], region) {
                continue;
            }
            // A poisoned lock guards bytes alone, and every bit pattern of them is valid.
            write_guards.push(match region.memory.lock.try_write() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(busy()),
            });
        }
        let mut read_guards = vec![];
        for (i, region) in reads.iter().enumerate() {
            if known(writes, region) || known(&reads[..i], region) {
                continue;
            }
            read_guards.push(match region.memory.lock.try_read() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(busy()),
            });
        }
        Ok(Access { _reads: read_guards, _writes: write_guards })
    }
}
