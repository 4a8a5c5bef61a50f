//! Scan, Reduce and Sort: typed calls, which erase to a [`Request`] at once.
//!
//! Each primitive has a `prepare_*`, to plan and compile once and run often, and one-shot calls for when that does not
//! matter. One-shot calls compile on first use, allocate scratch, and wait for the work to end, blocking their thread.

use crate::{
    Backend, Element, Error, Key, Layout, Monoid, Options, Order, Prepared, Request, Result, ScanKind, Span, Spans,
};

/// Waits for a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

/// How many elements a span's bytes are.
pub(crate) fn count<T>(bytes: u64) -> Result<u64> {
    let size = size_of::<T>() as u64;
    if size == 0 {
        return Err(Error::Invalid("elements of no bytes; an element has at least four".into()));
    }
    if !bytes.is_multiple_of(size) {
        return Err(Error::Invalid(format!("a span of {bytes} bytes is no whole number of elements of {size} bytes")));
    }
    Ok(bytes / size)
}

pub(crate) fn run_once<B: Backend>(backend: &B, request: &Request, spans: &Spans<'_, B>) -> Result<()> {
    let layout = spans.layout_for(backend, request)?;
    let prepared = block_on(Prepared::new(backend, request, layout, Options::default()))?;
    prepared.bind(backend, spans)?.run(backend)?;
    // The scratch goes when `prepared` does.
    backend.synchronize()
}

/// Prefix scan: every element combined with all before it.
///
/// Moves each element twice (once read, once written) by decoupled look-back (Merrill and Garland 2016), three times
/// by reduce-then-scan. A float's bits may differ from run to run where tiles look back, as what they combine depends on how far
/// others are; by `reduce_then_scan`, `lookahead` and, in chunks, `lookahead_registers`
/// (see [`Options::algorithm`]) they are the same every time: [`Plan::follows_arrival`](crate::Plan::follows_arrival) tells.
///
/// Scratch is a state a tile of some thousand elements, of 8 or 16 bytes for each of an element's words, or a tile's sum: with counters up to
/// 64 KiB and a hundredth of the elements. [`scratch_bytes`](crate::scratch_bytes) has it to the byte. (On the CPU, whose plans have no
/// scratch, calls allocate what they need.)
///
/// # Errors
/// Of all calls: [`Error::Invalid`] for spans of another length than the request's elements have or that overlap, and for more
/// elements than [`MAX_ELEMENTS`](crate::MAX_ELEMENTS) or than the device binds at once; [`Error::Unsupported`] for a type that the
/// device lacks; [`Error::Operator`] and [`Error::Compile`] for a text that does not compile; [`Error::OutOfMemory`],
/// [`Error::DeviceLost`] and [`Error::Backend`] as the driver says.
pub trait Scan: Backend {
    /// Plans and compiles a scan of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_scan<T: Element, M: Monoid<T>>(
        &self,
        kind: ScanKind,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = Request::scan::<T, M>(kind, initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[i] = input[0] + ... + input[i]`, for an associative `+`. Spans are of equal length, apart or the same.
    fn inclusive_scan<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let request = Request::scan::<T, M>(ScanKind::Inclusive, None, count::<T>(input.bytes())?);
        run_once(self, &request, &Spans::new(input, output))
    }

    /// `output[i] = initial + input[0] + ... + input[i - 1]`. Spans are of equal length, apart or the same.
    fn exclusive_scan<T: Element, M: Monoid<T>>(
        &self,
        initial: T,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
    ) -> Result<()> {
        let request = Request::scan::<T, M>(ScanKind::Exclusive, Some(initial), count::<T>(input.bytes())?);
        run_once(self, &request, &Spans::new(input, output))
    }
}

/// Reduction of all elements to one.
///
/// Reads each element once, in one launch. The same input on the same device gives the same bits every time. Scratch is 8 bytes a
/// workgroup and word of an element, some hundreds to 4096 of them, and a counter; [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`].
pub trait Reduce: Backend {
    /// Plans and compiles a reduction of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_reduce<T: Element, M: Monoid<T>>(
        &self,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = Request::reduce::<T, M>(initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[0] = input[0] + ... + input[n - 1]`, the identity if there are none.
    fn reduce<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        run_once(self, &Request::reduce::<T, M>(None, count::<T>(input.bytes())?), &Spans::new(input, output))
    }
}

/// Stable radix sort of keys, alone or with a value each.
///
/// Onesweep (Adinets and Merrill 2022) reads the keys once to count, then reads and writes keys and values once for
/// each 8-bit digit place in which the keys differ. Few keys are sorted by one workgroup, which reads and writes them once, and
/// somewhat more by a pass into buckets and a workgroup a bucket; devices without subgroups make Onesweep's passes in three launches each.
/// Floats are ordered by IEEE 754's total order: -0 before +0, and NaNs at the ends by their signs.
///
/// Scratch is as much as the keys and values, up to 4% more, and up to 64 KiB, which of few keys is much; none for keys that one workgroup
/// sorts. [`scratch_bytes`](crate::scratch_bytes) has it to the byte. (On the CPU calls allocate what they need.)
///
/// # Errors
/// As of [`Scan`].
pub trait Sort: Backend {
    /// Plans and compiles a sort of `n` keys.
    fn prepare_sort_keys<K: Key>(&self, order: Order, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        block_on(Prepared::new(self, &Request::sort_keys::<K>(order, n), layout, Options::default()))
    }

    /// Plans and compiles a sort of `n` keys with values.
    fn prepare_sort_pairs<K: Key, V: Element>(&self, order: Order, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        block_on(Prepared::new(self, &Request::sort_pairs::<K, V>(order, n), layout, Options::default()))
    }

    /// Sorts keys from one span to another, or in place.
    fn sort_keys<K: Key>(&self, order: Order, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let request = Request::sort_keys::<K>(order, count::<K>(input.bytes())?);
        run_once(self, &request, &Spans::new(input, output))
    }

    /// Sorts keys, and moves the values as their keys move.
    fn sort_pairs<K: Key, V: Element>(&self, order: Order, spans: &Spans<'_, Self>) -> Result<()> {
        let request = Request::sort_pairs::<K, V>(order, count::<K>(spans.input.bytes())?);
        run_once(self, &request, spans)
    }
}

/// Moving host data to and from a device.
///
/// # Errors
/// [`Error::Invalid`] for a span that is no whole number of elements, and on wgpu for bytes or an offset that are no multiple of
/// four; otherwise as [`Backend::alloc`], [`Backend::write`] and [`Backend::read`].
pub trait Transfer: Backend {
    /// Allocates a buffer with these elements in it.
    fn upload<T: bytemuck::NoUninit>(&self, data: &[T]) -> Result<Self::Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.alloc(bytes.len() as u64)?;
        self.write(&self.span(&buffer).slice(0, bytes.len() as u64)?, bytes)?;
        Ok(buffer)
    }

    /// Reads a span's elements.
    fn download<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(&self, span: &Span<'_, Self>) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); count::<T>(span.bytes())? as usize];
        block_on(self.read(span, bytemuck::cast_slice_mut(&mut data)))?;
        Ok(data)
    }
}
impl<B: Backend> Transfer for B {}
