//! Sort.

mod calls;

use std::ops::Range;

pub use calls::{ArgsortCall, Sort, SortCall, SortPairsCall};

use super::{Asked, Form, Label, Operand, Primitive, Segments, Varies, Written};
use crate::algorithm::{Algorithm, sort};
use crate::planner::Planner;
use crate::tuning::numbers;
use crate::{ElementType, Error, KeyImage, Param, Result, Scalar, Slot};

numbers! {
    /// Up to which size a sort merges.
    pub struct SortChoice by l {
        /// How many 32-bit keys a sort has at most to be merged by one workgroup, on devices with subgroups; 0 for never.
        merge_most "merge_most": Optional up to 1 << 14 => 0,
        /// How many 64-bit keys.
        merge_most64 "merge_most64": Optional up to 1 << 14 => 2048,
    }
}

/// Whether small or large keys come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Small keys first.
    Ascending,
    /// Large keys first; equal keys still keep their order.
    Descending,
}

impl Order {
    /// In the order of what is in this order already.
    pub(crate) fn then(self, order: Order) -> Order {
        if self == order { Order::Ascending } else { Order::Descending }
    }
}

/// A stable sort of keys, alone or with a value each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortRequest {
    /// The keys' type: a scalar, or a struct with key fields.
    pub key: ElementType,
    /// The values' type, if there are values.
    pub value: Option<ElementType>,
    /// How many keys.
    pub n: u64,
    /// Small or large keys first.
    pub order: Order,
    /// The bits of a scalar's image that are compared, bit 0 the least; without, all are.
    pub bits: Option<Range<u32>>,
    /// Whether the values are the keys' places, 0, 1 and so on, which are not read.
    pub by_place: bool,
    /// Whether the keys are written in order. Without, there are values, which are then the output.
    pub writes_keys: bool,
    /// What says where segments begin: each is sorted alone, and places are within a segment. Without, all keys are sorted.
    pub segments: Option<Segments>,
}

/// Sorts of keys alone.
pub static SORT: Form = Form {
    varies: Varies::Bits,
    ..Form::new("sort_keys", "Sort of {} keys", |asked| Some(asked_for(asked, None).into()))
};

/// Sorts of keys that carry their places.
pub static SORT_WITH_VALUES: Form = Form {
    varies: Varies::BitsAndValues,
    ..Form::new("sort_pairs", "Sort of pairs, {} keys", |asked| Some(asked_for(asked, Some(asked.value.into())).into()))
};

/// Sorts that give the keys' places in order, and not the keys.
pub static ARGSORT: Form = Form {
    varies: Varies::Bits,
    ..Form::new("argsort", "Places of {} keys in order", |asked| {
        let argsort = SortRequest::argsort(asked.scalar.into(), asked.n);
        Some(SortRequest { bits: asked_for(asked, None).bits, ..argsort }.into())
    })
};

/// Sorts of the keys of each segment.
pub static SEGMENTED_SORT: Form = Form {
    varies: Varies::Segments,
    ..Form::new("segmented_sort", "Sort of segments of {} keys", |asked| Some(of_segments(asked, None).into()))
};

/// Sorts of the keys of each segment, that carry their places or other values.
pub static SEGMENTED_SORT_WITH_VALUES: Form = Form {
    varies: Varies::Segments,
    ..Form::new("segmented_sort_pairs", "Sort of segments of pairs, {} keys", |asked| {
        Some(of_segments(asked, Some(Scalar::U32.into())).into())
    })
};

/// The request of a form: keys alone, or what they carry beside them.
fn asked_for(asked: &Asked, value: Option<ElementType>) -> SortRequest {
    let sort = SortRequest::new(asked.scalar.into(), asked.n).with(value);
    SortRequest { bits: asked.bits.map(|(start, end)| start..end), ..sort }
}

/// The same of segments.
fn of_segments(asked: &Asked, value: Option<ElementType>) -> SortRequest {
    asked_for(asked, value).of_segments(asked.by())
}

impl SortRequest {
    /// Of keys alone, small ones first.
    pub fn new(key: ElementType, n: u64) -> SortRequest {
        SortRequest {
            key,
            value: None,
            n,
            order: Order::Ascending,
            bits: None,
            by_place: false,
            writes_keys: true,
            segments: None,
        }
    }

    /// Of each segment alone.
    pub fn of_segments(self, by: Segments) -> SortRequest {
        SortRequest { segments: Some(by), ..self }
    }

    /// Where the keys stood that come first, second and so on, as `u32`. The keys themselves are not written.
    pub fn argsort(key: ElementType, n: u64) -> SortRequest {
        let value = Some(ElementType::Scalar(Scalar::U32));
        SortRequest { value, by_place: true, writes_keys: false, ..SortRequest::new(key, n) }
    }

    /// With a value of this type for each key, or without values.
    pub fn with(self, value: impl Into<Option<ElementType>>) -> SortRequest {
        SortRequest { value: value.into(), ..self }
    }

    /// In this order.
    pub fn in_order(self, order: Order) -> SortRequest {
        SortRequest { order, ..self }
    }

    /// By these bits of the keys' images.
    pub fn by_bits(self, bits: Range<u32>) -> SortRequest {
        SortRequest { bits: Some(bits), ..self }
    }

    /// How its keys are ordered.
    ///
    /// # Errors
    /// As of [`KeyImage::new`] and [`KeyImage::of_bits`].
    pub fn image(&self) -> Result<KeyImage> {
        match &self.bits {
            Some(bits) => KeyImage::of_bits(&self.key, self.order, bits.clone()),
            None => KeyImage::new(&self.key, self.order),
        }
    }

    /// With keys that are not written.
    pub fn without_keys(self) -> SortRequest {
        SortRequest { writes_keys: false, ..self }
    }

    /// Whether the values are the output, and the keys, if they are written, the values of the output.
    pub(crate) fn gives_values(&self) -> bool {
        self.by_place || !self.writes_keys
    }

    pub(crate) fn value_bytes(&self) -> u32 {
        self.value.as_ref().map_or(0, ElementType::bytes)
    }

    /// What is moved where the keys are read to be counted `counts` times, and keys and values in and out `passes` times.
    pub(crate) fn moved(&self, counts: u64, passes: u64) -> u64 {
        let key = u64::from(self.key.bytes());
        let value = u64::from(self.value_bytes());
        // The first pass knows the places, and the last writes no keys.
        let left_out = if self.by_place { value } else { 0 } + if self.writes_keys { 0 } else { key };
        let offsets = self.segments.as_ref().and_then(|segments| segments.operand(self.n));
        let each = counts * key + (passes * 2 * (key + value)).saturating_sub(left_out);
        self.n.saturating_mul(each).saturating_add(offsets.map_or(0, |offsets| offsets.bytes()))
    }

    /// The places of digits of so many bits.
    pub(crate) fn places(&self, bits: u32) -> u64 {
        self.image().map_or(0, |image| image.width().div_ceil(bits).into())
    }
}

impl Primitive for SortRequest {
    fn form(&self) -> &'static Form {
        match &self.value {
            Some(_) if self.segments.is_some() => &SEGMENTED_SORT_WITH_VALUES,
            None if self.segments.is_some() => &SEGMENTED_SORT,
            Some(_) if self.by_place => &ARGSORT,
            Some(_) => &SORT_WITH_VALUES,
            None => &SORT,
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn written(&self) -> Option<Written> {
        Some(Written::Elements(Param::ELEMENTS))
    }

    fn label(&self) -> Label {
        let order = if self.order == Order::Ascending { "ascending" } else { "descending" };
        let value = self.value.as_ref().filter(|_| !self.by_place);
        let places = self.by_place && self.segments.is_some();
        let more = [
            places.then_some("places"),
            (self.by_place && self.writes_keys).then_some("with_keys"),
            (!self.by_place && !self.writes_keys).then_some("values_alone"),
        ];
        let mut label = Label::new(&[Some(&self.key), value], order, &more);
        label.more.extend(self.segments.as_ref().and_then(Segments::label));
        label.more.extend(self.bits.as_ref().map(|bits| format!("bits_{}_{}", bits.start, bits.end).into()));
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let keys = |slot| Operand::keys(slot, &self.key, self.n);
        let mut operands = vec![keys(Slot::Input)];
        let values = |slot| self.value.as_ref().map(|value| Operand::moved(slot, value, self.n));
        operands.extend(values(Slot::InputValues).filter(|_| !self.by_place));
        if self.gives_values() {
            operands.extend(values(Slot::Output));
            operands.extend(self.writes_keys.then(|| keys(Slot::OutputValues)));
        } else {
            operands.push(keys(Slot::Output));
            operands.extend(values(Slot::OutputValues));
        }
        operands.extend(self.segments.as_ref().and_then(|segments| segments.operand(self.n)));
        operands
    }

    fn segments(&self) -> Option<&Segments> {
        self.segments.as_ref()
    }

    fn apart(&self) -> Option<&'static str> {
        let why = "values to where the keys are, or other values, which are still read by then; give it two spans";
        self.gives_values().then_some(why)
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        if self.gives_values() && algorithm.is_reference {
            return Some("it is there to be read, and moves keys with values that are given");
        }
        if *algorithm == sort::COUNTING_SORT {
            return sort::counting_sort::refusal(self);
        }
        if *algorithm == sort::BY_LENGTH && self.segments.is_none() {
            return Some("it sorts segments; use onesweep");
        }
        let is_of_all = ![&sort::PARALLEL, &sort::MERGE_SORT, &sort::BY_LENGTH].contains(&algorithm);
        (self.segments.is_some() && is_of_all).then_some("it sorts all keys, and not each segment; use merge_sort")
    }

    fn reads(&self) -> u64 {
        if self.segments.is_some() { 1 } else { 2 }
    }

    fn check(&self) -> Result<()> {
        if self.value.is_none() && !self.writes_keys {
            return Err(Error::Invalid("a sort that writes neither keys nor values; ask for one of them".into()));
        }
        match &self.segments {
            Some(Segments::Keys(_)) => {
                let why = "a sort of the values of equal keys; sort by both, and give offsets";
                return Err(Error::Invalid(why.into()));
            }
            Some(segments) => segments.check(self.n)?,
            None => {}
        }
        self.image().map(drop)
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        if self.segments.is_some() { self.moved(0, 1) } else { self.moved(1, self.places(8)) }
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let Ok(task) = sort::SortTask::of(planner, self, sort::DIGIT_BITS) else { return first };
        if self.segments.is_some() {
            if sort::by_length::is_fastest(planner, self, &task) { &sort::BY_LENGTH } else { first }
        } else if sort::merge_tile::is_fastest(planner, &task) {
            &sort::MERGE_TILE
        } else if *first != sort::ONESWEEP {
            first
        } else if !sort::has_room_for_ranks(planner, &task) {
            &sort::UPSWEEP_DOWNSWEEP
        } else if sort::one_tile::is_fastest(planner, &task) {
            &sort::ONE_TILE
        } else if sort::counting_sort::takes(planner, self) {
            &sort::COUNTING_SORT
        } else if sort::hybrid::is_fastest(planner, &task) {
            &sort::HYBRID
        } else {
            first
        }
    }
}
