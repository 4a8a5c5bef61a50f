//! Typed device memory.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use crate::once::with_room;
use crate::{
    Backend, CallCache, CopyCall, Device, Difference, Element, Error, IntoInput, KeptMemory, Map, Result, ScatterCall,
    Span, block_on, bytemuck,
};

/// Elements in a device's memory.
///
/// A clone is another handle of the same memory, and so is a slice. The memory is freed when the last of them is gone,
/// and the last call that was prepared on it.
///
/// ```
/// # use trifold_core::{Buffer, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x: Buffer<u32, _> = gpu.upload(&[3, 1, 4])?;
/// let same = x.clone();
/// same.slice(..1)?.write(&[7])?;
/// assert_eq!(x.read()?, [7, 1, 4]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub struct Buffer<T, B: Backend = Device> {
    device: B,
    span: Span<B>,
    of: PhantomData<fn() -> T>,
}

impl<T, B: Backend> Clone for Buffer<T, B> {
    fn clone(&self) -> Self {
        Buffer { device: self.device.clone(), span: self.span.clone(), of: PhantomData }
    }
}

impl<T: Element, B: Backend> fmt::Debug for Buffer<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} {})", self.len(), T::TYPE.name())
    }
}

impl<T: Element, B: Backend> Buffer<T, B> {
    /// The bytes of an element.
    const SIZE: u64 = size_of::<T>() as u64;

    /// Memory as elements of this type.
    ///
    /// ```
    /// # use trifold_core::{Backend, Buffer, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let y: Buffer<u32, _> = Buffer::of_span(&gpu, gpu.allocate(12)?)?;
    /// assert_eq!(y.len(), 3);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for bytes that are no whole number of elements.
    pub fn of_span(device: &B, span: Span<B>) -> Result<Self> {
        if !span.bytes().is_multiple_of(Self::SIZE) {
            return Err(Error::Invalid(format!(
                "{} bytes, which are no whole number of {}s of {} bytes; bring a multiple of that, or take another type",
                span.bytes(),
                T::TYPE.name(),
                Self::SIZE
            )));
        }
        Ok(Buffer { device: device.clone(), span, of: PhantomData })
    }

    /// A span, whatever its length: calls check that it is as long as they say.
    pub(crate) fn at(device: &B, span: Span<B>) -> Self {
        Buffer { device: device.clone(), span, of: PhantomData }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        (self.span.bytes() / Self::SIZE) as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.span.bytes() == 0
    }

    /// The device.
    pub fn device(&self) -> &B {
        &self.device
    }

    /// Its memory, in bytes.
    pub fn span(&self) -> &Span<B> {
        &self.span
    }

    /// Some of its elements, in the same memory.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let cpu = trifold_cpu::Cpu::new()?;
    /// let x = cpu.upload(&[3u32, 1, 4, 1, 5])?;
    /// assert_eq!(x.slice(1..3)?.read()?, [1, 4]);
    /// assert!(x.slice(1..7).is_err());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if they reach past the end.
    pub fn slice(&self, elements: impl RangeBounds<usize>) -> Result<Self> {
        let n = self.len();
        let start = match elements.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match elements.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => n,
        };
        if start > end || end > n {
            return Err(Error::Invalid(format!(
                "elements {start}..{end} of a buffer that has {n}; a slice begins no later than it ends, and ends at {n} at most"
            )));
        }
        let span = self.span.slice(start as u64 * Self::SIZE, (end - start) as u64 * Self::SIZE)?;
        Ok(Buffer { span, ..self.clone() })
    }

    /// The same memory as elements of another type.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1.0f32, -2.0])?;
    /// assert_eq!(x.cast::<u32>()?.read()?, [0x3f80_0000, 0xc000_0000]);
    /// assert_eq!(x.cast::<u64>()?.len(), 1);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for bytes that are no whole number of those.
    pub fn cast<U: Element>(&self) -> Result<Buffer<U, B>> {
        Buffer::of_span(&self.device, self.span.clone())
    }

    /// Writes elements from the host, in the order of the device's queue.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// x.slice(1..)?.write(&[7, 8])?;
    /// assert_eq!(x.read()?, [3, 7, 8]);
    /// assert!(x.write(&[7, 8]).is_err());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are more or fewer than the buffer has, and as [`Backend::write`].
    pub fn write(&self, elements: &[T]) -> Result<()> {
        if elements.len() != self.len() {
            return Err(Error::Invalid(format!(
                "{} elements for a buffer of {}; write to a slice of as many (Buffer::slice)",
                elements.len(),
                self.len()
            )));
        }
        self.device.write(&self.span, bytemuck::cast_slice(elements))
    }

    /// Reads the elements, after all that was submitted so far, and waits for them.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// gpu.inclusive_scan(&x, Sum).in_place().run()?;
    /// assert_eq!(x.read()?, [3, 4, 8]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn read(&self) -> Result<Vec<T>> {
        block_on(self.read_async())
    }

    /// As [`Buffer::read`], for programs that must not block.
    ///
    /// ```
    /// # use trifold_core::{block_on, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// assert_eq!(block_on(x.read_async())?, [3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub async fn read_async(&self) -> Result<Vec<T>> {
        let mut elements = vec![T::zeroed(); self.len()];
        self.device.read(&self.span, bytemuck::cast_slice_mut(&mut elements)).await?;
        Ok(elements)
    }
}

/// Elements, and how many there are, both in the device's memory. The host need not know the number. Every primitive
/// takes a `Compacted` as an input.
///
/// ```
/// # use trifold_core::{Compacted, Reduce, Select, Sort, Sum, Transfer, UpperHalf};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[0.7f32, 0.1, 0.9, 0.5])?;
/// let kept = gpu.select(&x, UpperHalf).compact()?;
/// gpu.sort(&kept).in_place().run()?;
/// assert_eq!(kept.read()?, [0.5, 0.7, 0.9]);
///
/// // Of memory of one's own.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.reduce(Compacted::new(x, n), Sum).value()?, 0.7 + 0.1);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub struct Compacted<T, B: Backend = Device> {
    room: Buffer<T, B>,
    count: Buffer<u32, B>,
}

impl<T, B: Backend> Clone for Compacted<T, B> {
    fn clone(&self) -> Self {
        Compacted { room: self.room.clone(), count: self.count.clone() }
    }
}

impl<T: Element, B: Backend> fmt::Debug for Compacted<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compacted(at most {} {})", self.room.len(), T::TYPE.name())
    }
}

impl<T: Element, B: Backend> Compacted<T, B> {
    /// Of memory for as many elements as there may be, and of the one `u32` that says how many there are. If it says
    /// more than there is room for, there are as many as there is room for.
    pub fn new(room: Buffer<T, B>, count: Buffer<u32, B>) -> Self {
        Compacted { room, count }
    }

    /// The memory of as many elements as there may be. Those past the count are undefined.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.7f32, 0.1, 0.9])?;
    /// let kept = gpu.select(&x, UpperHalf).compact()?;
    /// assert_eq!(kept.room().len(), 3);
    /// assert_eq!(kept.room().slice(..2)?.read()?, [0.7, 0.9]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn room(&self) -> &Buffer<T, B> {
        &self.room
    }

    /// How many elements there are, on the device.
    ///
    /// Other calls can go by it:
    ///
    /// ```
    /// # use trifold_core::{Reduce, Select, Sum, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, weights) = (gpu.upload(&[0.7f32, 0.1, 0.9])?, gpu.upload(&[1u32, 2, 3])?);
    /// let kept = gpu.select(&x, UpperHalf).compact()?;
    /// assert_eq!(gpu.reduce(&weights, Sum).len_on_device(kept.count()).value()?, 1 + 2);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count(&self) -> &Buffer<u32, B> {
        &self.count
    }

    /// Reads how many elements there are, and waits for it.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.7f32, 0.1, 0.9])?;
    /// let kept = gpu.select(&x, UpperHalf).compact()?;
    /// assert_eq!(kept.len()?, 2);
    /// assert!(!kept.is_empty()?);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn len(&self) -> Result<usize> {
        block_on(self.len_async())
    }

    /// Reads whether there are none, and waits for it.
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// As [`Compacted::len`], for programs that must not block.
    ///
    /// ```
    /// # use trifold_core::{block_on, Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.7f32, 0.1, 0.9])?;
    /// let kept = gpu.select(&x, UpperHalf).compact()?;
    /// assert_eq!(block_on(kept.len_async())?, 2);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub async fn len_async(&self) -> Result<usize> {
        let count = self.count.read_async().await?;
        Ok(count.first().map_or(0, |&count| (count as usize).min(self.room.len())))
    }

    /// Reads the elements, and waits for them.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.7f32, 0.1, 0.9])?;
    /// assert_eq!(gpu.select(&x, UpperHalf).compact()?.read()?, [0.7, 0.9]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn read(&self) -> Result<Vec<T>> {
        block_on(self.read_async())
    }

    /// As [`Compacted::read`], for programs that must not block.
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub async fn read_async(&self) -> Result<Vec<T>> {
        self.room.slice(..self.len_async().await?)?.read_async().await
    }
}

/// A device's memory: allocated, filled and copied.
pub trait Transfer: Backend {
    /// Allocates a buffer with these elements in it.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// assert_eq!(x.len(), 3);
    /// assert_eq!(x.read()?, [3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::allocate`] and [`Backend::write`].
    fn upload<T: Element>(&self, elements: &[T]) -> Result<Buffer<T, Self>> {
        let buffer = self.alloc(elements.len())?;
        buffer.write(elements)?;
        Ok(buffer)
    }

    /// Allocates a buffer of `n` elements, with undefined contents.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.alloc::<u32>(3)?;
    /// x.write(&[3, 1, 4])?;
    /// // The type may follow from use.
    /// let y = gpu.alloc(3)?;
    /// gpu.copy(&x).to(&y).run()?;
    /// assert_eq!(y.read()?, [3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::allocate`].
    fn alloc<T: Element>(&self, n: usize) -> Result<Buffer<T, Self>> {
        let bytes = (n as u64).saturating_mul(Buffer::<T, Self>::SIZE);
        Buffer::of_span(self, with_room(self, || self.allocate(bytes))?)
    }

    /// What the device keeps for calls that run once: plans, states and scratch.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// gpu.sort(&gpu.upload(&[3u32, 1, 2])?).in_place().run()?;
    /// println!("{} bytes for {} calls", gpu.memory().bytes, gpu.memory().calls);
    /// gpu.trim();
    /// assert_eq!(gpu.memory().bytes, 0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn memory(&self) -> KeptMemory {
        self.calls().map(CallCache::memory).unwrap_or_default()
    }

    /// Frees what the device keeps for calls that run once, and gives back the freed memory that it holds. The next
    /// calls make it anew.
    fn trim(&self) {
        if let Some(calls) = self.calls() {
            calls.trim();
        }
        self.release();
    }

    /// [`Backend::read`], and waits for it.
    ///
    /// [`Buffer::read`] gives elements.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1u32, 2])?;
    /// let mut bytes = [0; 8];
    /// gpu.read_blocking(x.span(), &mut bytes)?;
    /// assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Backend::read`].
    fn read_blocking(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        block_on(self.read(from, bytes))
    }

    /// `output[i] = input[i]`. An output that is the input is refused.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[0u32; 4])?);
    /// gpu.copy(&x).to(&y.slice(1..)?).run()?;
    /// assert_eq!(y.read()?, [0, 3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn copy<X: IntoInput<Self>>(&self, x: X) -> CopyCall<X::Item, Self> {
        CopyCall::new(self, x.into_input())
    }

    /// `output[i] = input[i] - input[i - 1]`, and `output[0] = input[0]`: of a scan's sums the elements. Integers wrap around.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 4, 8, 9])?;
    /// assert_eq!(gpu.adjacent_difference(&x).read()?, [3, 1, 4, 1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn adjacent_difference<X: IntoInput<Self>>(&self, x: X) -> CopyCall<X::Item, Self>
    where
        Difference: Map<(u32, (X::Item, X::Item)), Output = X::Item>,
    {
        CopyCall::new(self, x.into_input().differences())
    }

    /// `output[indices[i]] = values[i]`. An index past the output's end is left out. Elements that no index names stay as
    /// they are.
    ///
    /// Of several values for one place one is there, whichever was last. Of elements of several words that may be words of
    /// several values.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (values, places) = (gpu.upload(&[10u32, 20, 30])?, gpu.upload(&[2u32, 0, 1])?);
    /// let out = gpu.alloc(3)?;
    /// gpu.scatter(&values, &places).to(&out).run()?;
    /// assert_eq!(out.read()?, [20, 30, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn scatter<X: IntoInput<Self>, I: IntoInput<Self, Item = u32>>(
        &self,
        values: X,
        indices: I,
    ) -> ScatterCall<X::Item, Self> {
        ScatterCall::new(self, values.into_input(), indices.into_input())
    }
}
impl<B: Backend> Transfer for B {}
