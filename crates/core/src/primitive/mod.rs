//! The primitives: what a caller asks for, erased to data. Each has a file of its own, and all of them are listed here, once.

use std::borrow::Cow;

pub(crate) mod copy;
pub(crate) mod find;
mod form;
pub(crate) mod histogram;
pub(crate) mod mapped;
mod nth;
mod parts;
pub(crate) mod reduce;
pub(crate) mod reduce_by_key;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod segmented;
pub(crate) mod select;
mod selector;
pub(crate) mod sort;
pub(crate) mod top_k;
pub(crate) mod unique;

pub use self::builders::*;
pub use self::find::NonZero;
pub use self::form::{Asked, Form, Varies};
pub use self::histogram::{AsBin, EvenBins, Weight};
pub use self::prelude::*;
pub use self::requests::*;
pub use self::scan::ScanKind;
pub use self::segmented::{Gives, Offset, Segments};
pub use self::select::{Keeps, Rest, UpperHalf};
pub use self::selector::{Asks, Block, HostSelector, Selector};
pub use self::sort::Order;
pub use self::top_k::Wanted;
use crate::algorithm::{self, Algorithm, Row, Work};
use crate::key::key_align;
use crate::planner::{Planner, whole};
use crate::{Caps, ElementType, Kernel, Op, Param, Region, Result, Slot, Step};
use crate::{Then, Viewed, ViewedRequest};

/// What programs use: the traits, and the types of their arguments.
pub mod prelude {
    pub use super::histogram::Histogram;
    pub use super::mapped::{CountedOutput, OneOutput};
    pub use super::reduce::Reduce;
    pub use super::reduce_by_key::ReduceByKey;
    pub use super::scan::Scan;
    pub use super::select::Select;
    pub use super::selector::Predicate;
    pub use super::sort::Sort;
    pub use super::top_k::TopK;
    pub use super::unique::Unique;
}

/// What the traits' calls give: one that was told what to do, and is yet to be told where.
pub mod builders {
    pub use super::copy::CopyCall;
    pub use super::find::FindCall;
    pub use super::histogram::HistogramCall;
    pub use super::mapped::{MappedCall, MappedCountedCall};
    pub use super::nth::{NthCall, NthOfEachCall};
    pub use super::parts::PartitionByCall;
    pub use super::reduce::{ReduceCall, ReduceThenCall};
    pub use super::reduce_by_key::ReduceByKeyCall;
    pub use super::scan::{ScanCall, ScanThenCall};
    pub use super::scatter::ScatterCall;
    pub use super::segmented::{SegmentedReduceCall, SegmentedScanCall};
    pub use super::select::{PartitionCall, SelectCall};
    pub use super::sort::{ArgsortCall, SortCall, SortPairsCall};
    pub use super::top_k::{TopKCall, TopKIndicesCall, TopKPairsCall};
    pub use super::unique::UniqueByKeyCall;
}

/// A primitive's module, which those of its algorithms share, its request, and the forms in which programs offer it.
macro_rules! primitives {
    ($($(#[$doc:meta])* $module:ident: $name:ident($request:ident) as $($form:ident),+;)*) => {
        /// What is asked of each primitive, as data.
        pub mod requests {
            $(pub use super::$module::$request;)*
        }

        /// Each form of each primitive.
        pub mod forms {
            $(pub use super::$module::{$($form),+};)*
        }

        /// What a caller asks of a device.
        ///
        /// Requests are equal if they lead to the same kernels: the numbers that an operator's or a predicate's text reads are not compared.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Request {
            $($(#[$doc])* $name($request),)*
            /// One of the others, of what maps make of memory.
            Viewed(Box<ViewedRequest>),
        }

        /// What plans an algorithm, by the primitive that it is for.
        pub(crate) enum Of {
            $($name(Row<$request>),)*
            /// An experiment's, which no request leads to.
            Nothing,
        }

        $(impl From<$request> for Request {
            fn from(request: $request) -> Request {
                Request::$name(request)
            }
        })*

        /// The algorithms of each primitive.
        pub(crate) const FAMILIES: &[&[&Algorithm]] = &[$(algorithm::$module::ALL,)*];

        /// The forms of each primitive.
        const FORMS: &[&[&Form]] = &[$(&[$(&$module::$form),+],)*];

        /// The kernels of each primitive's algorithms.
        pub(crate) const KERNELS: &[&[&Kernel]] = &[$(algorithm::$module::KERNELS,)*];

        impl Request {
            /// The same for so many elements.
            pub fn with_n(&self, n: u64) -> Request {
                match self {
                    $(Request::$name(request) => Request::$name($request { n, ..request.clone() }),)*
                    Request::Viewed(viewed) => viewed.with_n(n),
                }
            }

            /// What every primitive says of its requests.
            pub(crate) fn asked(&self) -> &dyn Primitive {
                match self {
                    $(Request::$name(request) => request,)*
                    Request::Viewed(viewed) => viewed.request.asked(),
                }
            }

            /// The algorithms of the primitive, those of the literature last.
            pub fn algorithms(&self) -> &'static [&'static Algorithm] {
                match self {
                    $(Request::$name(_) => algorithm::$module::ALL,)*
                    Request::Viewed(viewed) => viewed.request.algorithms(),
                }
            }

            /// What an algorithm does for this request, if it is one of the primitive's.
            pub(crate) fn work(&self, algorithm: &Algorithm, planner: &Planner<'_>) -> Option<Result<Work>> {
                match (self, &algorithm.of) {
                    $((Request::$name(request), Of::$name(row)) => Some((row.plan)(planner, request)),)*
                    (Request::Viewed(viewed), _) => viewed.request.work(algorithm, planner),
                    _ => None,
                }
            }

            /// The bytes that an algorithm moves where it writes so many outputs, if that is known.
            pub(crate) fn moved_by(&self, algorithm: &Algorithm, outputs: u64) -> Option<u64> {
                match (self, &algorithm.of) {
                    $((Request::$name(request), Of::$name(row)) => Some(row.traffic?(request, outputs)),)*
                    (Request::Viewed(viewed), _) => {
                        let moved = viewed.request.moved_by(algorithm, outputs)?;
                        Some(viewed.instead(moved, algorithm.reads).saturating_add(viewed.moved_behind(algorithm, outputs)))
                    }
                    _ => None,
                }
            }
        }
    };
}

primitives! {
    /// Copy elements: the ceiling that the others are measured against.
    copy: Copy(CopyRequest) as COPY, TRANSFORM, ADJACENT_DIFFERENCE;
    /// Scatter values to the places that indices say.
    scatter: Scatter(ScatterRequest) as SCATTER;
    /// Scan.
    scan: Scan(ScanRequest) as SCAN;
    /// Reduce.
    reduce: Reduce(ReduceRequest) as REDUCE, SUM_OF_SQUARES, DOT, ARG_MIN;
    /// Reduce or scan segments.
    segmented: Segmented(SegmentedRequest) as SEGMENTED_REDUCE, SEGMENTED_SCAN, SCAN_BY_KEY;
    /// Sort.
    sort: Sort(SortRequest) as SORT, SORT_WITH_VALUES, ARGSORT, SEGMENTED_SORT, SEGMENTED_SORT_WITH_VALUES;
    /// The largest or smallest keys.
    top_k: TopK(TopKRequest) as TOP_K, NTH_ELEMENT, SEGMENTED_TOP_K;
    /// Select, partition, find, or keep the first of each run.
    select: Select(SelectRequest) as SELECT, PARTITION, FIND_ALL, SELECT_FLAGGED, UNIQUE, UNIQUE_BY_KEY;
    /// Histogram.
    histogram: Histogram(HistogramRequest) as HISTOGRAM, WEIGHTED_HISTOGRAM, HISTOGRAM_BY_EDGES;
    /// Reduce by key, or encode run lengths.
    reduce_by_key: ReduceByKey(ReduceByKeyRequest) as REDUCE_BY_KEY, RUN_LENGTH_ENCODE;
}

/// What the planner and everything around it ask of a request, whatever its primitive.
pub(crate) trait Primitive {
    /// How programs offer it.
    fn form(&self) -> &'static Form;

    /// How many elements.
    fn n(&self) -> u64;

    /// The spans of a call, its inputs first.
    fn operands(&self) -> Vec<Operand>;

    /// What names of cases say of it.
    fn label(&self) -> Label;

    /// How many elements its output has. A launch behind it maps them where no algorithm does.
    fn written(&self) -> Option<Written> {
        None
    }

    /// The operator of the caller's, where there is one.
    fn op(&self) -> Option<&Op> {
        None
    }

    /// The predicate, where there is one.
    fn selector(&self) -> Option<&Selector> {
        None
    }

    /// What says where segments begin, where it is of segments.
    fn segments(&self) -> Option<&Segments> {
        None
    }

    /// The element to start from, as bytes, where the caller gave one.
    fn initial(&self) -> Option<&[u8]> {
        None
    }

    /// The bytes that any algorithm moves at least, of so many outputs.
    fn bytes_moved_by(&self, outputs: u64) -> u64;

    /// How often it reads its inputs at least.
    fn reads(&self) -> u64 {
        1
    }

    /// Fails if no algorithm could do it on any device.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Why no algorithm works in place, and what to do, if none does.
    fn apart(&self) -> Option<&'static str> {
        None
    }

    /// Whether an algorithm of the primitive needs a copy of the inputs where the outputs are in their place.
    fn copies_in_place(&self, algorithm: &Algorithm, caps: &Caps) -> bool {
        let _ = (algorithm, caps);
        false
    }

    /// Why an algorithm of the primitive cannot do this request, whatever the device.
    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let _ = algorithm;
        None
    }

    /// Whether an algorithm plans what is to be done where there are no elements, and not [`Primitive::of_nothing`].
    fn works_on_nothing(&self) -> bool {
        false
    }

    /// What is to be done where there are no elements: where outputs are counted, there are none.
    fn of_nothing(&self) -> Vec<Step> {
        let counts = self.operands().into_iter().filter(|operand| operand.slot == Slot::Count);
        let region = |operand: Operand| whole(operand.slot, operand.bytes());
        counts.map(|operand| Step::Fill { region: region(operand), value: 0, once: false }).collect()
    }

    /// The fastest algorithm of those that the device runs.
    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let _ = planner;
        first
    }
}

/// How many elements a call's output has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Written {
    /// So many, of a run's.
    Elements(Param),
    /// As many as the call itself counts.
    Counted,
}

/// Fills a slot of one element, word by word.
fn fill_one(slot: Slot, element: &[u8]) -> Vec<Step> {
    let words = element.chunks_exact(4).enumerate().map(|(i, word)| Step::Fill {
        region: Region { slot, offset: 4 * i as u64, bytes: 4 },
        value: u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
        once: false,
    });
    words.collect()
}

/// What tells a primitive's requests apart, in words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Label {
    /// The types of its elements: `u32`, or of keys and values `u32+f32`.
    pub of: String,
    /// Its operator, its predicate or its order, `-` where there is none.
    pub by: String,
    /// What else it says.
    pub more: Vec<Cow<'static, str>>,
}

impl Label {
    pub(crate) fn new(
        elements: &[Option<&ElementType>],
        by: impl Into<String>,
        more: &[Option<&'static str>],
    ) -> Label {
        let names: Vec<_> = elements.iter().flatten().map(|element| element.name()).collect();
        Label { of: names.join("+"), by: by.into(), more: more.iter().flatten().map(|more| (*more).into()).collect() }
    }
}

/// A span that a call takes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Operand {
    /// What it is for, which says whether it is read or written and what it may share its memory with.
    pub slot: Slot,
    /// The type of its elements.
    pub element: ElementType,
    /// How many.
    pub len: u64,
    /// What its start is a multiple of, in bytes.
    pub align: u32,
    /// Whether kernels take 16 bytes of it at a time where all such spans allow it.
    pub packed: bool,
}

impl Operand {
    /// Elements that kernels compute with.
    pub(crate) fn new(slot: Slot, element: &ElementType, len: u64) -> Operand {
        Operand { slot, element: element.clone(), len, align: element.align(), packed: true }
    }

    /// Elements that are moved by words or by smaller parts.
    pub(crate) fn moved(slot: Slot, element: &ElementType, len: u64) -> Operand {
        Operand { align: element.unit(), ..Operand::new(slot, element, len) }
    }

    /// Keys that are ordered.
    pub(crate) fn keys(slot: Slot, element: &ElementType, len: u64) -> Operand {
        Operand { align: key_align(element.bytes()), ..Operand::new(slot, element, len) }
    }

    /// One element, which may lie anywhere.
    pub(crate) fn one(slot: Slot, element: &ElementType) -> Operand {
        Operand { packed: false, ..Operand::new(slot, element, 1) }
    }

    /// How many elements were written.
    pub(crate) fn count() -> Operand {
        Operand::one(Slot::Count, &ElementType::Scalar(crate::Scalar::U32))
    }

    /// How many elements there are.
    pub(crate) fn length() -> Operand {
        Operand { slot: Slot::Length, ..Operand::count() }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.len.saturating_mul(self.element.bytes().into())
    }
}

impl Request {
    /// How programs offer it: where views are read, as if they were memory.
    pub fn form(&self) -> &'static Form {
        self.asked().form()
    }

    /// The primitive's name in reports, which is its form's: `scan`, `sort_keys`, `segmented_top_k` and so on.
    pub fn primitive(&self) -> &'static str {
        self.form().name
    }

    /// How many elements.
    pub fn n(&self) -> u64 {
        self.asked().n()
    }

    /// What says where segments begin, where it is of segments.
    pub fn segments(&self) -> Option<&Segments> {
        self.asked().segments()
    }

    /// The spans that a call takes, its inputs first.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Request::Viewed(viewed) => viewed.operands(),
            _ => self.asked().operands(),
        }
    }

    /// The same, where a view stands for the memory of a slot.
    pub fn viewing(self, viewed: Viewed) -> Request {
        let mut of = self.into_viewed();
        of.views.push(viewed);
        Request::Viewed(of)
    }

    /// The same, whose output is mapped as it is written.
    pub(crate) fn then(self, then: Then) -> Request {
        let mut of = self.into_viewed();
        of.then = Some(then);
        Request::Viewed(of)
    }

    fn into_viewed(self) -> Box<ViewedRequest> {
        match self {
            Request::Viewed(of) => of,
            request => Box::new(ViewedRequest { request, views: vec![], then: None }),
        }
    }

    /// What its output is mapped by.
    pub fn mapped(&self) -> Option<&Then> {
        match self {
            Request::Viewed(viewed) => viewed.then.as_ref(),
            _ => None,
        }
    }

    /// What stands for the memory of slots.
    pub fn views(&self) -> &[Viewed] {
        match self {
            Request::Viewed(viewed) => &viewed.views,
            _ => &[],
        }
    }

    /// The same of memory alone.
    pub fn unviewed(&self) -> &Request {
        match self {
            Request::Viewed(viewed) => &viewed.request,
            request => request,
        }
    }

    /// What tells it apart from the primitive's other requests, in words.
    pub fn label(&self) -> Label {
        let mut label = self.asked().label();
        label.more.extend(self.mapped().map(|then| format!("then={}", then.map.name).into()));
        label.more.extend(self.views().iter().map(|of| format!("{}={}", of.slot.noun(), of.view.node).into()));
        label
    }

    /// The operator, if the caller gives one.
    pub fn op(&self) -> Option<&Op> {
        self.asked().op()
    }

    /// The predicate, if the caller gives one.
    pub fn selector(&self) -> Option<&Selector> {
        self.asked().selector()
    }

    /// The bytes that a call moves at least, whatever its algorithm: each input is read once and each output written
    /// once.
    ///
    /// A sort does that for each digit place of eight bits, and reads the keys once more to count. A selection counts
    /// as if it kept all elements, and a reduction by key as if each element were a run. Where the number of outputs is
    /// known, use [`Request::bytes_moved_by`].
    pub fn bytes_moved(&self) -> u64 {
        self.bytes_moved_by(self.n())
    }

    /// As [`Request::bytes_moved`], of a selection that keeps `outputs` elements or a reduction by key that finds
    /// `outputs` runs.
    ///
    /// Other primitives do not depend on `outputs`, and a partition writes all elements. The count itself, four bytes,
    /// is left out. The result is at most `u64::MAX`.
    pub fn bytes_moved_by(&self, outputs: u64) -> u64 {
        let moved = self.asked().bytes_moved_by(outputs);
        match self {
            Request::Viewed(viewed) => viewed.instead(moved, viewed.request.asked().reads()),
            _ => moved,
        }
    }

    /// Whether how much is written follows from the data, and is counted on the device.
    pub fn counts(&self) -> bool {
        self.operands().iter().any(|operand| operand.slot == Slot::Count)
    }
}
