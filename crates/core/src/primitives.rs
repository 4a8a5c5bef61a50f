//! Scan, Reduce and Sort: typed calls, which erase to a [`Request`] at once.
//!
//! Each primitive has a `prepare_*`, to plan and compile once and run often, and one-shot calls for when that does not
//! matter. One-shot calls compile on first use, allocate scratch, and wait for the work to end.

use crate::{
    Backend, Element, Error, Key, Layout, Monoid, Op, Options, Order, Prepared, ReduceRequest, Request, Result,
    ScanKind, ScanRequest, SortRequest, Span, Spans,
};

/// Waits for a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

pub(crate) fn count<T, B: Backend>(span: &Span<'_, B>) -> Result<u64> {
    let size = size_of::<T>() as u64;
    if !span.bytes().is_multiple_of(size) {
        return Err(Error::Invalid(format!(
            "a span of {} bytes is no whole number of elements of {size} bytes",
            span.bytes()
        )));
    }
    Ok(span.bytes() / size)
}

pub(crate) fn run_once<B: Backend>(backend: &B, request: &Request, spans: &Spans<'_, B>) -> Result<()> {
    let layout = spans.layout(backend)?;
    let prepared = block_on(Prepared::new(backend, request, layout, Options::default()))?;
    prepared.bind(backend, spans)?.run(backend)?;
    // The scratch goes when `prepared` does.
    backend.synchronize()
}

/// Prefix scan: every element combined with all before it.
///
/// Moves each element twice (once read, once written) by decoupled look-back (Merrill and Garland 2016), three times
/// by reduce-then-scan. A float's bits may differ from run to run where tiles look back, as what they combine depends on how far
/// others are; by `reduce_then_scan` and `lookahead` (see [`Options::algorithm`]) they are the same every time.
pub trait Scan: Backend {
    /// Plans and compiles a scan of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_scan<T: Element, M: Monoid<T>>(
        &self,
        kind: ScanKind,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = scan_request::<T, M>(kind, initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[i] = input[0] + ... + input[i]`, for an associative `+`. Spans are of equal length, apart or the same.
    fn inclusive_scan<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let request = scan_request::<T, M>(ScanKind::Inclusive, None, count::<T, _>(input)?);
        run_once(self, &request, &Spans::new(input, output))
    }

    /// `output[i] = initial + input[0] + ... + input[i - 1]`. Spans are of equal length, apart or the same.
    fn exclusive_scan<T: Element, M: Monoid<T>>(
        &self,
        initial: T,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
    ) -> Result<()> {
        let request = scan_request::<T, M>(ScanKind::Exclusive, Some(initial), count::<T, _>(input)?);
        run_once(self, &request, &Spans::new(input, output))
    }
}

fn scan_request<T: Element, M: Monoid<T>>(kind: ScanKind, initial: Option<T>, n: u64) -> Request {
    let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
    Request::Scan(ScanRequest { op: Op::of::<T, M>(), n, kind, initial })
}

/// Reduction of all elements to one.
///
/// Reads each element once, in one launch. The same input on the same device gives the same bits every time.
pub trait Reduce: Backend {
    /// Plans and compiles a reduction of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_reduce<T: Element, M: Monoid<T>>(
        &self,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = reduce_request::<T, M>(initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[0] = input[0] + ... + input[n - 1]`, the identity if there are none.
    fn reduce<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        run_once(self, &reduce_request::<T, M>(None, count::<T, _>(input)?), &Spans::new(input, output))
    }
}

fn reduce_request<T: Element, M: Monoid<T>>(initial: Option<T>, n: u64) -> Request {
    let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
    Request::Reduce(ReduceRequest { op: Op::of::<T, M>(), n, initial })
}

/// Stable radix sort of keys, alone or with a value each.
///
/// Onesweep (Adinets and Merrill 2022) reads the keys once to count, then reads and writes keys and values once for
/// each 8-bit digit place in which the keys differ.
pub trait Sort: Backend {
    /// Plans and compiles a sort of `n` keys.
    fn prepare_sort_keys<K: Key>(&self, order: Order, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        let request = Request::Sort(SortRequest { key: K::SCALAR, value: None, n, order });
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// Plans and compiles a sort of `n` keys with values.
    fn prepare_sort_pairs<K: Key, V: Element>(&self, order: Order, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        let request = Request::Sort(SortRequest { key: K::SCALAR, value: Some(V::TYPE), n, order });
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// Sorts keys from one span to another, or in place.
    fn sort_keys<K: Key>(&self, order: Order, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let n = count::<K, _>(input)?;
        let request = Request::Sort(SortRequest { key: K::SCALAR, value: None, n, order });
        run_once(self, &request, &Spans::new(input, output))
    }

    /// Sorts keys, and moves the values as their keys move.
    fn sort_pairs<K: Key, V: Element>(&self, order: Order, spans: &Spans<'_, Self>) -> Result<()> {
        let n = count::<K, _>(&spans.input)?;
        let request = Request::Sort(SortRequest { key: K::SCALAR, value: Some(V::TYPE), n, order });
        run_once(self, &request, spans)
    }
}

/// Moving host data to and from a device.
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
        let mut data = vec![T::zeroed(); count::<T, _>(span)? as usize];
        block_on(self.read(span, bytemuck::cast_slice_mut(&mut data)))?;
        Ok(data)
    }
}
impl<B: Backend> Transfer for B {}
