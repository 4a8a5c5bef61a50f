//! Reductions and scans of segments: parts of the elements that lie together, each reduced or scanned alone.

use std::borrow::Cow;

use super::mapped::one_output;
use super::scan::ScanKind;
use super::{Asked, Form, Label, Operand, Primitive, Varies, Written};
use crate::algorithm::{self, Algorithm};
use crate::planner::{Planner, reaches, words_of};
use crate::results::{Given, Results, Whole, given_results, known_length, length, unknown_length, whole_results};
use crate::view::Erased;
use crate::{
    Backend, Buffer, Compacted, Device, Element, ElementType, Error, MAX_ELEMENTS, Op, Param, Placed, ReduceCall,
    ReduceRequest, Request, Result, Scalar, ScanCall, ScanRequest, Slot, Span, Spans, SpansOf, Transfer, View,
    block_on,
};

/// A reduction or a scan of segments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SegmentedRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// What says where segments begin.
    pub by: Segments,
    /// What each segment gives.
    pub gives: Gives,
    /// The element that each segment starts from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

/// What says where segments begin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segments {
    /// Offsets, `u32` or `u64`, one more than there are segments: each has the elements from its offset to the next one. Elements
    /// before the first and from the last offset on are segments of their own, which no total is written of.
    Offsets {
        /// The type of the offsets.
        of: ElementType,
        /// How many segments there are.
        count: u64,
    },
    /// All have so many elements.
    Rows(u64),
    /// Each run of equal keys of this type is a segment. Keys are equal if their bits are.
    Keys(ElementType),
}

/// What a segment gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gives {
    /// Its total.
    Total,
    /// The prefix of each of its elements.
    Prefixes(ScanKind),
}

/// The request of a form that has segments.
fn of_form(asked: &Asked, gives: Gives) -> Option<crate::Request> {
    let op = Op::builtin(asked.operator, asked.scalar)?;
    Some(SegmentedRequest { op, n: asked.n, by: asked.by(), gives, initial: None }.into())
}

/// Reductions of segments.
pub static SEGMENTED_REDUCE: Form = Form {
    has_operator: true,
    varies: Varies::Segments,
    ..Form::new("segmented_reduce", "Reduce of segments of {}", |asked| of_form(asked, Gives::Total))
};

/// Exclusive scans of segments.
pub static SEGMENTED_SCAN: Form = Form {
    has_operator: true,
    varies: Varies::Segments,
    ..Form::new("segmented_scan", "Exclusive scan of segments of {}", |asked| {
        of_form(asked, Gives::Prefixes(ScanKind::Exclusive))
    })
};

/// Exclusive scans of the values of equal keys.
pub static SCAN_BY_KEY: Form = Form {
    has_operator: true,
    varies: Varies::Runs,
    ..Form::new("scan_by_key", "Exclusive scan by key of {}", |&Asked { scalar: key, operator: op, n, .. }| {
        let (by, gives) = (Segments::Keys(key.into()), Gives::Prefixes(ScanKind::Exclusive));
        Some(SegmentedRequest { op: Op::builtin(op, key)?, n, by, gives, initial: None }.into())
    })
};

impl Segments {
    /// What there is of it in memory: offsets or keys.
    pub(crate) fn operand(&self, n: u64) -> Option<Operand> {
        match self {
            Segments::Offsets { of, count } => {
                Some(Operand { packed: false, ..Operand::moved(Slot::Offsets, of, count.saturating_add(1)) })
            }
            Segments::Rows(_) => None,
            Segments::Keys(of) => Some(Operand::moved(Slot::InputValues, of, n)),
        }
    }

    /// Elements of the longest of `n`, at most.
    pub(crate) fn longest(&self, n: u64) -> u64 {
        if let Segments::Rows(width) = self { *width } else { n }
    }

    /// Offsets of this type, from memory.
    pub fn offsets(of: &ElementType, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.chunks_exact(of.bytes() as usize).map(|offset| {
            let mut wide = [0; 8];
            wide[..offset.len()].copy_from_slice(offset);
            u64::from_le_bytes(wide)
        })
    }

    /// What names of cases say of it.
    pub(crate) fn label(&self) -> Option<Cow<'static, str>> {
        match self {
            Segments::Offsets { of, count } => {
                let wide = if of.bytes() == 8 { ":u64" } else { "" };
                Some(format!("segments={count}{wide}").into())
            }
            Segments::Rows(width) => Some(format!("rows={width}").into()),
            Segments::Keys(_) => None,
        }
    }

    /// Fails if no `n` elements can have them.
    pub(crate) fn check(&self, n: u64) -> Result<()> {
        let invalid = |why: String| Err(Error::Invalid(why));
        match self {
            Segments::Rows(0) => invalid("rows of 0 elements; give them one at least".into()),
            Segments::Rows(width) if *width > MAX_ELEMENTS || !n.is_multiple_of(*width) => {
                invalid(format!("rows of {width} elements do not divide {n}; leave out what is no whole row"))
            }
            Segments::Offsets { of, .. } if ![Scalar::U32.into(), Scalar::U64.into()].contains(of) => {
                invalid(format!("offsets of {}; they are u32 or u64", of.name()))
            }
            Segments::Offsets { count, .. } if *count >= MAX_ELEMENTS => {
                invalid(format!("{count} segments in one call; there may be {} at most", MAX_ELEMENTS - 1))
            }
            _ => Ok(()),
        }
    }

    /// How many there are of `n` elements, if that is known.
    pub(crate) fn count(&self, n: u64) -> Option<u64> {
        match *self {
            Segments::Offsets { count, .. } => Some(count),
            Segments::Rows(width) => Some(n.div_ceil(width.max(1))),
            Segments::Keys(_) => None,
        }
    }
}

impl SegmentedRequest {
    /// The element that each segment starts from.
    pub fn start(&self) -> &[u8] {
        self.initial.as_deref().unwrap_or(self.op.identity())
    }

    /// How many elements are written.
    pub(crate) fn outputs(&self) -> u64 {
        match self.gives {
            Gives::Total => self.by.count(self.n).unwrap_or(self.n),
            Gives::Prefixes(_) => self.n,
        }
    }

    /// What is moved where the inputs are read in so many passes.
    pub(crate) fn bytes_moved(&self, passes: u64) -> u64 {
        let element = u64::from(self.op.element().bytes());
        let beside = self.by.operand(self.n).map_or(0, |operand| operand.bytes());
        let read = self.n.saturating_mul(element).saturating_add(beside);
        read.saturating_mul(passes).saturating_add(self.outputs().saturating_mul(element))
    }
}

impl Primitive for SegmentedRequest {
    fn form(&self) -> &'static Form {
        match (&self.by, self.gives) {
            (_, Gives::Total) => &SEGMENTED_REDUCE,
            (Segments::Keys(_), _) => &SCAN_BY_KEY,
            _ => &SEGMENTED_SCAN,
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn written(&self) -> Option<Written> {
        Some(Written::Elements(match (&self.gives, &self.by) {
            (Gives::Total, Segments::Offsets { count, .. }) => Param::Word(*count as u32),
            (Gives::Total, Segments::Rows(width)) => Param::ELEMENTS.in_parts(*width as u32),
            _ => Param::ELEMENTS,
        }))
    }

    fn label(&self) -> Label {
        let key = if let Segments::Keys(key) = &self.by { Some(key) } else { None };
        let kind = match self.gives {
            Gives::Total => None,
            Gives::Prefixes(ScanKind::Inclusive) => Some("inclusive"),
            Gives::Prefixes(ScanKind::Exclusive) => Some("exclusive"),
        };
        let initial = self.initial.is_some().then_some("initial");
        let mut label = Label::new(&[key, Some(self.op.element())], &*self.op.name, &[kind, initial]);
        label.more.extend(self.by.label());
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let element = self.op.element();
        let packed = matches!(self.gives, Gives::Prefixes(_));
        let output = Operand { packed, ..Operand::new(Slot::Output, element, self.outputs()) };
        let input = Operand::new(Slot::Input, element, self.n);
        [Some(input), self.by.operand(self.n), Some(output)].into_iter().flatten().collect()
    }

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn segments(&self) -> Option<&Segments> {
        Some(&self.by)
    }

    fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes_moved(1)
    }

    fn check(&self) -> Result<()> {
        if matches!(self.by, Segments::Keys(_)) && self.gives == Gives::Total {
            let why = "totals of runs of equal keys; reduce_by_key gives them, with their keys and number";
            return Err(Error::Invalid(why.into()));
        }
        self.by.check(self.n)
    }

    fn apart(&self) -> Option<&'static str> {
        (self.gives == Gives::Total).then_some(
            "a reduction of segments in place: totals would overwrite elements that are still to be read; give it two spans",
        )
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let totals_alone = *algorithm == algorithm::segmented::RANGES && self.gives != Gives::Total;
        totals_alone.then_some("it gives totals alone")
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let numbers = &planner.tuning.ranges;
        let each = self.n / self.by.count(self.n).unwrap_or(self.n).max(1);
        let is_many = reaches(words_of(self.n as u32, self.op.element()), numbers.from);
        let is_long = each >= u64::from(numbers.length);
        let other = &algorithm::segmented::LOOKBACK;
        let can = || planner.lack(&self.clone().into(), other).is_none();
        match *first == algorithm::segmented::RANGES && !(is_many && is_long) && can() {
            true => other,
            false => first,
        }
    }

    fn works_on_nothing(&self) -> bool {
        self.gives == Gives::Total && self.outputs() > 0
    }
}

/// The type of offsets: `u32` or `u64`.
pub trait Offset: Element {}
impl Offset for u32 {}
impl Offset for u64 {}

/// The memory that says where segments begin, if some does.
pub(crate) struct Bounds<B: Backend> {
    span: Option<Span<B>>,
    /// The keys, if they are a view.
    keys: Option<Erased<B>>,
    /// Why there are none.
    refusal: Option<String>,
}

impl<B: Backend> Bounds<B> {
    pub(crate) fn offsets<O: Offset>(offsets: &Buffer<O, B>) -> (Segments, Bounds<B>) {
        let refusal = offsets.is_empty().then(|| "no offsets; there is one more than there are segments".into());
        let count = offsets.len().saturating_sub(1) as u64;
        let bounds = Bounds { span: Some(offsets.span().clone()), keys: None, refusal };
        (Segments::Offsets { of: O::TYPE, count }, bounds)
    }

    pub(crate) fn rows(width: usize) -> (Segments, Bounds<B>) {
        (Segments::Rows(width as u64), Bounds { span: None, keys: None, refusal: None })
    }

    fn keys<K: Element>(keys: &View<K, B>) -> (Segments, Bounds<B>) {
        let bounds = Bounds { span: keys.memory().cloned(), keys: Some(keys.erased()), refusal: None };
        (Segments::Keys(K::TYPE), bounds)
    }

    /// A call on these spans and those of the bounds.
    pub(crate) fn placed(
        self,
        device: B,
        request: impl Into<Request>,
        spans: std::result::Result<Spans<B>, String>,
    ) -> Placed<B> {
        let spans = spans.map(|spans| match (self.span, &self.keys) {
            (None, _) => spans,
            (Some(keys), Some(_)) => SpansOf { input_values: Some(keys), ..spans },
            (Some(offsets), None) => SpansOf { offsets: Some(offsets), ..spans },
        });
        let placed = Placed::of(device, request, spans).refused(self.refusal);
        match self.keys {
            Some(keys) => placed.reads_erased(Slot::InputValues, keys),
            None => placed,
        }
    }

    /// Fails if there are offsets that fall, do not begin at 0, or pass the end.
    pub(crate) fn check(&self, device: &B, by: &Segments, n: u64) -> Result<()> {
        let (Segments::Offsets { of, .. }, Some(span)) = (by, &self.span) else { return Ok(()) };
        let mut bytes = vec![0; span.bytes() as usize];
        block_on(device.read(span, &mut bytes))?;
        check_offsets(Segments::offsets(of, &bytes), n)
    }
}

/// Fails if offsets fall, do not begin at 0, or pass the end.
fn check_offsets(offsets: impl Iterator<Item = u64>, n: u64) -> Result<()> {
    let mut before = 0;
    for (place, offset) in offsets.enumerate() {
        let why = match place {
            0 if offset != 0 => "the first of all is 0".into(),
            _ if offset < before => format!("the one before is {before}; offsets do not fall"),
            _ if offset > n => format!("there are {n} elements; the last offset is no more"),
            _ => {
                before = offset;
                continue;
            }
        };
        return Err(Error::Invalid(format!("offset {place} is {offset}, and {why}")));
    }
    Ok(())
}

/// A reduction of segments whose totals have no place yet.
///
/// One pass reads each element once, and writes a total for each segment. It goes by tiles or ranges of elements, so one long segment
/// takes no longer than as many elements in others. Devices without subgroups of their own take three launches, and read twice.
///
/// ```
/// # use trifold_core::{block_on, Reduce, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 2, 2, 5])?);
/// assert_eq!(gpu.reduce(&x, Sum).segments(&offsets).read()?, [4, 0, 10]);
/// assert_eq!(block_on(gpu.reduce(&x, Sum).segments(&offsets).read_async())?, [4, 0, 10]);
///
/// // To new memory on the device.
/// assert_eq!(gpu.reduce(&x, Sum).rows(5).collect()?.read()?, [14]);
///
/// // Of as many elements as a word on the device says: segments end there.
/// let n = gpu.upload(&[3u32])?;
/// assert_eq!(gpu.reduce(&x, Sum).segments(&offsets).len_on_device(&n).read()?, [4, 0, 4]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct SegmentedReduceCall<T, B: Backend = Device> {
    device: B,
    input: View<T, B>,
    request: SegmentedRequest,
    bounds: Bounds<B>,
}

impl<T: Element, B: Backend> SegmentedReduceCall<T, B> {
    fn of(call: ReduceCall<T, B>, (by, bounds): (Segments, Bounds<B>)) -> Self {
        let ReduceCall { device, input, request: ReduceRequest { op, n, initial } } = call;
        let request = SegmentedRequest { op, n, by, gives: Gives::Total, initial };
        SegmentedReduceCall { device, input, request, bounds }
    }

    pub(crate) fn by_offsets<O: Offset>(call: ReduceCall<T, B>, offsets: &Buffer<O, B>) -> Self {
        SegmentedReduceCall::of(call, Bounds::offsets(offsets))
    }

    pub(crate) fn by_rows(call: ReduceCall<T, B>, width: usize) -> Self {
        SegmentedReduceCall::of(call, Bounds::rows(width))
    }

    /// Each segment from this element on, instead of the operator's identity.
    ///
    /// ```
    /// # use trifold_core::{Max, Reduce, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1])?;
    /// assert_eq!(gpu.reduce(&x, Max).rows(2).starting_from(4).read()?, [4, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn starting_from(mut self, initial: T) -> Self {
        self.request.initial = Some(crate::bytemuck::bytes_of(&initial).to_vec());
        self
    }

    /// To a buffer of one element a segment.
    ///
    /// ```
    /// # use trifold_core::{Max, Reduce, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, largest) = (gpu.upload(&[3u32, 1, 4, 1, 5, 9])?, gpu.alloc(2)?);
    /// gpu.reduce(&x, Max).rows(3).to(&largest).run()?;
    /// assert_eq!(largest.read()?, [4, 9]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = self.input.spans_to(output.span());
        self.bounds.placed(self.device, self.request, Ok(spans)).reads(Slot::Input, &self.input)
    }

    /// Reads the offsets, and fails at the first that is less than the one before it or more than the elements, and if the first of all
    /// is not 0. Without it a call touches nothing outside its spans. What it gives of offsets that fall has no meaning.
    ///
    /// ```
    /// # use trifold_core::{Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 3, 2, 5])?);
    /// let why = gpu.reduce(&x, Sum).segments(&offsets).checked().err().expect("offsets that fall").to_string();
    /// assert!(why.contains("offset 2 is 2, and the one before is 3"));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the offset, and as of [`Scan`](crate::Scan).
    pub fn checked(self) -> Result<Self> {
        self.bounds.check(&self.device, &self.request.by, self.request.n)?;
        Ok(self)
    }
}

one_output!(SegmentedReduceCall<T: Element>, T, device; |call| call.outputs());

given_results! {
    SegmentedReduceCall<T: Element>, input -> Buffer<T, B>, Vec<T>;
    |call| Given { segments: Some(call.request.by.clone()), each: 1, room: call.input.len() }, {
        let output = call.device.alloc(call.request.outputs() as usize)?;
        call.to(&output).run_async().await?;
        Ok(output)
    }
}

/// A scan of segments whose result has no place yet.
///
/// One look-back pass moves each element twice, as a [scan](crate::Scan) does, however long segments are. Devices without subgroups take three
/// launches, and read twice.
///
/// ```
/// # use trifold_core::{block_on, Scan, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 2, 2, 5])?);
/// assert_eq!(gpu.inclusive_scan(&x, Sum).segments(&offsets).read()?, [3, 4, 4, 5, 10]);
/// assert_eq!(block_on(gpu.exclusive_scan(&x, Sum).segments(&offsets).read_async())?, [0, 3, 0, 4, 5]);
///
/// // To new memory on the device.
/// assert_eq!(gpu.inclusive_scan(&x, Sum).rows(5).collect()?.len(), 5);
///
/// // Of as many elements as a word on the device says. Their number goes along.
/// let n = gpu.upload(&[3u32])?;
/// let sums = gpu.inclusive_scan(&x, Sum).segments(&offsets).len_on_device(&n).compact()?;
/// assert_eq!(sums.read()?, [3, 4, 4]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), in_place(), collect() or read()"]
pub struct SegmentedScanCall<T, B: Backend = Device> {
    device: B,
    input: View<T, B>,
    request: SegmentedRequest,
    bounds: Bounds<B>,
}

impl<T: Element, B: Backend> SegmentedScanCall<T, B> {
    fn of(call: ScanCall<T, B>, (by, mut bounds): (Segments, Bounds<B>)) -> Self {
        let ScanCall { device, input, request: ScanRequest { op, n, kind, initial, total }, .. } = call;
        if total {
            bounds.refusal =
                Some("a scan of segments with the total of all; reduce its segments for their totals".into());
        }
        let request = SegmentedRequest { op, n, by, gives: Gives::Prefixes(kind), initial };
        SegmentedScanCall { device, input, request, bounds }
    }

    pub(crate) fn by_offsets<O: Offset>(call: ScanCall<T, B>, offsets: &Buffer<O, B>) -> Self {
        SegmentedScanCall::of(call, Bounds::offsets(offsets))
    }

    pub(crate) fn by_rows(call: ScanCall<T, B>, width: usize) -> Self {
        SegmentedScanCall::of(call, Bounds::rows(width))
    }

    pub(crate) fn by_keys<K: Element>(mut call: ScanCall<T, B>, keys: &View<K, B>) -> Self {
        call.input = call.input.beside(keys, ["values", "keys"]);
        SegmentedScanCall::of(call, Bounds::keys(keys))
    }

    /// With each segment from this element on, instead of the operator's identity.
    pub fn starting_from(mut self, initial: T) -> Self {
        self.request.initial = Some(crate::bytemuck::bytes_of(&initial).to_vec());
        self
    }

    /// To a buffer of as many elements.
    ///
    /// ```
    /// # use trifold_core::{Max, Scan, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4, 1, 5, 9])?, gpu.alloc(6)?);
    /// gpu.inclusive_scan(&x, Max).rows(3).to(&y).run()?;
    /// assert_eq!(y.read()?, [3, 3, 4, 1, 5, 9]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = self.input.spans_to(output.span());
        self.bounds.placed(self.device, self.request, Ok(spans)).reads(Slot::Input, &self.input)
    }

    /// To where the input is.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4, 1])?;
    /// gpu.inclusive_scan(&x, Sum).rows(2).in_place().run()?;
    /// assert_eq!(x.read()?, [3, 4, 4, 5]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        let spans = self.input.spans_in_place();
        self.bounds.placed(self.device, self.request, spans).reads(Slot::Input, &self.input)
    }

    /// Reads the offsets, and fails at the first that is less than the one before it or more than the elements, and if the first of all
    /// is not 0. Without it a call touches nothing outside its spans. What it gives of offsets that fall has no meaning.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 3, 2, 5])?);
    /// let why = gpu.inclusive_scan(&x, Sum).segments(&offsets).checked().err().expect("offsets that fall").to_string();
    /// assert!(why.contains("offset 2 is 2, and the one before is 3"));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the offset, and as of [`Scan`](crate::Scan).
    pub fn checked(self) -> Result<Self> {
        self.bounds.check(&self.device, &self.request.by, self.request.n)?;
        Ok(self)
    }
}

one_output!(SegmentedScanCall<T: Element>, T, device; |call| known_length(&call.input));

whole_results! {
    SegmentedScanCall<T: Element>, input -> Buffer<T, B>, Compacted<T, B>, Vec<T>; |call| {
        let output = call.device.alloc(call.input.len())?;
        call.to(&output).run_async().await?;
        output
    }
}
