//! Scan.

use std::marker::PhantomData;

use super::{Asked, Form, Label, Offset, Operand, Primitive, SegmentedScanCall, fill_one};
use crate::algorithm::{Algorithm, scan};
use crate::planner::Planner;
use crate::results::{Whole, length, unknown_length, whole_results};
use crate::tuning::numbers;
use crate::{
    Backend, Buffer, Compacted, Device, Element, IntoInput, Map, Monoid, Op, Placed, Result, Slot, Spans, SpansOf,
    Step, Then, Transfer, View, block_on, bytemuck,
};

numbers! {
    /// From which size on a scan goes by which algorithm.
    pub struct ScanChoice by l {
        /// Size, in words, from which a scan of elements of one or two words looks ahead, where the device can;
        /// `u32::MAX` for never.
        lookahead_from "lookahead_from": Count up to u32::MAX => 1 << 23,
        /// Size, in words, from which a scan of elements of one or two words goes by pipelined look-back, where no
        /// hardware copies tiles; `u32::MAX` for never.
        lookback_pipelined_from "lookback_pipelined_from": Count up to u32::MAX => u32::MAX,
    }
}

/// Whether an element takes part in its own prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// `output[i] = initial + input[0] + ... + input[i]`.
    Inclusive,
    /// `output[i] = initial + input[0] + ... + input[i - 1]`.
    Exclusive,
}

/// A scan.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
    /// Whether the total of all elements is written too, with what the scan starts from.
    pub total: bool,
}

/// Exclusive scans.
pub static SCAN: Form = Form {
    has_operator: true,
    ..Form::new("scan", "Exclusive scan of {}", |&Asked { scalar, operator: op, n, .. }| {
        Some(
            ScanRequest { op: Op::builtin(op, scalar)?, n, kind: ScanKind::Exclusive, initial: None, total: false }
                .into(),
        )
    })
};

impl ScanRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.op.element().bytes().into())
    }
}

impl Primitive for ScanRequest {
    fn form(&self) -> &'static Form {
        &SCAN
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let kind = if self.kind == ScanKind::Inclusive { "inclusive" } else { "exclusive" };
        let initial = self.initial.is_some().then_some("initial");
        let total = self.total.then_some("total");
        Label::new(&[Some(self.op.element())], &*self.op.name, &[Some(kind), initial, total])
    }

    fn operands(&self) -> Vec<Operand> {
        let elements = [Slot::Input, Slot::Output].map(|slot| Operand::new(slot, self.op.element(), self.n));
        let total = self.total.then(|| Operand::one(Slot::OutputValues, self.op.element()));
        elements.into_iter().chain(total).collect()
    }

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes().saturating_mul(2)
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let writes = [&scan::LOOKBACK, &scan::REDUCE_THEN_SCAN, &scan::PARALLEL, &scan::SEQUENTIAL];
        (self.total && !writes.contains(&algorithm))
            .then_some("it does not write the total; reduce the elements for that")
    }

    fn of_nothing(&self) -> Vec<Step> {
        let start = self.initial.as_deref().unwrap_or(self.op.identity());
        if self.total { fill_one(Slot::OutputValues, start) } else { vec![] }
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let can = |algorithm: &Algorithm| planner.lack(&self.clone().into(), algorithm).is_none();
        if can(&scan::LOOKAHEAD) && scan::lookahead::is_fastest(planner, self) {
            &scan::LOOKAHEAD
        } else if *first == scan::LOOKBACK
            && can(&scan::LOOKBACK_PIPELINED)
            && scan::lookback_pipelined::is_fastest(planner, self)
        {
            &scan::LOOKBACK_PIPELINED
        } else {
            first
        }
    }
}

/// Prefix scan: every element combined with all before it.
///
/// Decoupled look-back (Merrill and Garland 2016) moves each element twice: it is read once and written once.
/// Reduce-then-scan moves it three times.
///
/// Where tiles look back, a float's bits may differ from run to run, as what tiles combine depends on how far others
/// are. The bits are the same every time by `reduce_then_scan`, by `lookahead` and, in chunks, by `lookback_pipelined`
/// (see [`Placed::by`]). [`Plan::follows_arrival`](crate::Plan::follows_arrival) tells which it is.
///
/// Scratch is a state for each tile of some thousand elements: 8 or 16 bytes for each word of an element, or the tile's
/// sum. With counters it is at most 64 KiB and a hundredth of the elements; some of the literature's algorithms need
/// more. [`scratch_bytes`](crate::scratch_bytes) has it to the byte. On the CPU, whose plans have no scratch, calls
/// allocate what they need.
///
/// # Errors
/// All calls fail with:
///
/// - [`Error::Invalid`](crate::Error::Invalid) for spans that overlap, or that have another length than the request's
///   elements
/// - [`Error::Invalid`](crate::Error::Invalid) for more elements than [`MAX_ELEMENTS`](crate::MAX_ELEMENTS), or than
///   the device binds at once
/// - [`Error::Unsupported`](crate::Error::Unsupported) for a type that the device lacks
/// - [`Error::Operator`](crate::Error::Operator) and [`Error::Compile`](crate::Error::Compile) for a text that does not
///   compile
/// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::DeviceLost`](crate::Error::DeviceLost) and
///   [`Error::Backend`](crate::Error::Backend) as the driver says
pub trait Scan: Backend {
    /// `output[i] = input[0] + ... + input[i]`, for an associative `+`.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
    /// assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [3, 4, 8, 9, 14]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn inclusive_scan<X: IntoInput<Self>, M: Monoid<X::Item>>(&self, x: X, op: M) -> ScanCall<X::Item, Self> {
        ScanCall::new(self, x.into_input(), Op::of(op), ScanKind::Inclusive)
    }

    /// `output[i] = input[0] + ... + input[i - 1]`. `output[0]` is the operator's identity, or what
    /// [`ScanCall::starting_from`] says.
    ///
    /// ```
    /// # use trifold_core::{Max, Scan, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3.0f32, 1.0, 4.0, 1.0])?;
    /// let largest = gpu.alloc(4)?;
    /// gpu.exclusive_scan(&x, Max).starting_from(0.0).to(&largest).run()?;
    /// assert_eq!(largest.read()?, [0.0, 3.0, 3.0, 4.0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn exclusive_scan<X: IntoInput<Self>, M: Monoid<X::Item>>(&self, x: X, op: M) -> ScanCall<X::Item, Self> {
        ScanCall::new(self, x.into_input(), Op::of(op), ScanKind::Exclusive)
    }

    /// Each run of equal keys scanned alone: each value combined with those of the same run before it.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[7u8, 7, 2, 7])?, gpu.upload(&[1.0f32, 2.0, 3.0, 4.0])?);
    /// assert_eq!(gpu.inclusive_scan_by_key(&keys, &values, Sum).read()?, [1.0, 3.0, 3.0, 4.0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn inclusive_scan_by_key<X: IntoInput<Self>, V: IntoInput<Self>, M: Monoid<V::Item>>(
        &self,
        keys: X,
        values: V,
        op: M,
    ) -> SegmentedScanCall<V::Item, Self> {
        SegmentedScanCall::by_keys(self.inclusive_scan(values, op), &keys.into_input())
    }

    /// As [`Scan::inclusive_scan_by_key`], without the value itself: a run's first gives the operator's identity, or what
    /// [`SegmentedScanCall::starting_from`] says.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[7u8, 7, 2, 7])?, gpu.upload(&[1u32, 2, 3, 4])?);
    /// assert_eq!(gpu.exclusive_scan_by_key(&keys, &values, Sum).starting_from(10).read()?, [10, 11, 10, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn exclusive_scan_by_key<X: IntoInput<Self>, V: IntoInput<Self>, M: Monoid<V::Item>>(
        &self,
        keys: X,
        values: V,
        op: M,
    ) -> SegmentedScanCall<V::Item, Self> {
        SegmentedScanCall::by_keys(self.exclusive_scan(values, op), &keys.into_input())
    }
}

/// A scan whose result has no place yet.
///
/// ```
/// # use trifold_core::{block_on, Scan, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
/// assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [3, 4, 8, 9, 14]);
/// assert_eq!(block_on(gpu.inclusive_scan(&x, Sum).read_async())?, [3, 4, 8, 9, 14]);
///
/// // To new memory on the device.
/// let sums = gpu.inclusive_scan(&x, Sum).collect()?;
/// assert_eq!(sums.slice(4..)?.read()?, [14]);
///
/// // Of as many elements as a word on the device says. Their number goes along.
/// let n = gpu.upload(&[3u32])?;
/// let sums = gpu.inclusive_scan(&x, Sum).len_on_device(&n).compact()?;
/// assert_eq!(sums.read()?, [3, 4, 8]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), in_place(), collect() or read()"]
pub struct ScanCall<T, B: Backend = Device> {
    pub(super) device: B,
    pub(super) input: View<T, B>,
    pub(super) request: ScanRequest,
    total: Option<Buffer<T, B>>,
}

impl<T: Element, B: Backend> ScanCall<T, B> {
    fn new(device: &B, input: View<T, B>, op: Op, kind: ScanKind) -> Self {
        let request = ScanRequest { op, n: input.n(), kind, initial: None, total: false };
        ScanCall { device: device.clone(), input, request, total: None }
    }

    /// Writes the total of all elements to this one too, with what the scan starts from. Of an inclusive scan it is the last
    /// element.
    ///
    /// It goes by `lookback`, or without subgroups by `reduce_then_scan`, and costs no pass.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, places, total) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.exclusive_scan(&x, Sum).total_to(&total).to(&places).run()?;
    /// assert_eq!((places.read()?, total.read()?), (vec![0, 3, 4], vec![8]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn total_to(mut self, total: &Buffer<T, B>) -> Self {
        self.request.total = true;
        self.total = Some(total.clone());
        self
    }

    /// The call's spans, with the total's.
    fn with_total(total: Option<&Buffer<T, B>>, spans: Spans<B>) -> Spans<B> {
        SpansOf { output_values: total.map(|total| total.span().clone()), ..spans }
    }

    /// From this element on, instead of the operator's identity.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// assert_eq!(gpu.exclusive_scan(&x, Sum).starting_from(10).read()?, [10, 13, 14]);
    /// assert_eq!(gpu.inclusive_scan(&x, Sum).starting_from(10).read()?, [13, 14, 18]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn starting_from(mut self, initial: T) -> Self {
        self.request.initial = Some(bytemuck::bytes_of(&initial).to_vec());
        self
    }

    /// Of each segment alone: the segment `s` has the elements `offsets[s]..offsets[s + 1]`. So there is one more offset than
    /// segments. Offsets are `u32` or `u64`, and one past the end is the end. Elements before the first offset or from the last one
    /// on are segments of their own.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 2, 2, 5])?);
    /// assert_eq!(gpu.inclusive_scan(&x, Sum).segments(&offsets).read()?, [3, 4, 4, 5, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> SegmentedScanCall<T, B> {
        SegmentedScanCall::by_offsets(self, offsets)
    }

    /// Of each row of so many elements alone, which must divide the elements. Where their number is on the device, or a run has fewer
    /// ([`up_to`](crate::Placed::up_to)), the last row may be short.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1, 5, 9])?;
    /// assert_eq!(gpu.exclusive_scan(&x, Sum).rows(3).read()?, [0, 3, 4, 0, 1, 6]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> SegmentedScanCall<T, B> {
        SegmentedScanCall::by_rows(self, width)
    }

    /// To a buffer of as many elements.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(3)?);
    /// gpu.exclusive_scan(&x, Sum).to(&y).run()?;
    /// assert_eq!(y.read()?, [0, 3, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = Self::with_total(self.total.as_ref(), self.input.spans_to(output.span()));
        Placed::new(self.device, self.request, spans).reads(Slot::Input, &self.input)
    }

    /// To where the input is.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// gpu.inclusive_scan(&x, Sum).in_place().run()?;
    /// assert_eq!(x.read()?, [3, 4, 8]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        let spans = self.input.spans_in_place().map(|spans| Self::with_total(self.total.as_ref(), spans));
        Placed::of(self.device, self.request, spans)
    }
}

impl<T: Element, B: Backend> ScanCall<T, B> {
    /// With each element mapped as it is written.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use trifold_core::{Captures, Map, Scan, Sum, Transfer};
    /// trifold_core::element! { struct Divided { by: f32 } }
    ///
    /// impl Map<u32> for Divided {
    ///     type Output = f32;
    ///     fn text(&self) -> Cow<'static, str> {
    ///         "fn map(a: A) -> U { return f32(a) / captures.by; }".into()
    ///     }
    ///     fn map(&self, a: u32) -> f32 {
    ///         a as f32 / self.by
    ///     }
    ///     fn captures(&self) -> Captures {
    ///         Captures::of(self)
    ///     }
    /// }
    ///
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[2u32, 2, 4])?;
    /// assert_eq!(gpu.inclusive_scan(&x, Sum).then(Divided { by: 8.0 }).read()?, [0.25, 0.5, 1.0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn then<M: Map<T>>(self, map: M) -> ScanThenCall<T, M::Output, B> {
        ScanThenCall { call: self, then: Then::of(map), of: PhantomData }
    }
}

/// A scan whose results are mapped, and have no place yet.
#[must_use = "say where: to(&out), collect() or read()"]
pub struct ScanThenCall<T, U, B: Backend = Device> {
    call: ScanCall<T, B>,
    then: Then,
    of: PhantomData<fn() -> U>,
}

impl<T: Element, U: Element, B: Backend> ScanThenCall<T, U, B> {
    /// To a buffer of as many elements, which is not the input.
    pub fn to(self, output: &Buffer<U, B>) -> Placed<B> {
        let ScanCall { device, input, request, total } = self.call;
        let spans = ScanCall::with_total(total.as_ref(), input.spans_to(output.span()));
        Placed::new(device, request, spans).reads(Slot::Input, &input).then(self.then)
    }
}

whole_results! {
    ScanThenCall<T: Element, U: Element>, call.input -> Buffer<U, B>, Compacted<U, B>, Vec<U>; |call| {
        let output = call.call.device.alloc(call.call.input.len())?;
        call.to(&output).run_async().await?;
        output
    }
}

whole_results! {
    ScanCall<T: Element>, input -> Buffer<T, B>, Compacted<T, B>, Vec<T>; |call| {
        let output = call.device.alloc(call.input.len())?;
        call.to(&output).run_async().await?;
        output
    }
}
