//! Top-k: the largest or smallest of keys, in order.

mod calls;

pub use self::calls::{TopK, TopKCall, TopKIndicesCall, TopKPairsCall};
use super::{Asked, Form, Label, Operand, Primitive, Segments, Varies, Written};
use crate::algorithm::{Algorithm, top_k};
use crate::planner::Planner;
use crate::{ElementType, Error, KeyImage, MAX_ELEMENTS, Order, Param, Result, Scalar, Slot};

/// The first `k` keys of an order, as they come in it or as they stand in the input. Of equal keys those with the smaller indices come first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TopKRequest {
    /// The keys' type: a scalar, or a struct with key fields.
    pub key: ElementType,
    /// How many keys.
    pub n: u64,
    /// How many of them are wanted. Of fewer keys all are given.
    pub k: u64,
    /// Whether small or large keys come first.
    pub order: Order,
    /// What is written of them.
    pub wanted: Wanted,
    /// Whether they come in their order, or as they stand in the input. Of the last alone it is true.
    pub sorted: bool,
    /// What says where segments begin: the first keys of each are wanted. Where there are fewer than `k`, zeros stand behind keys
    /// and values, and [`NO_PLACE`](crate::NO_PLACE) behind indices.
    pub segments: Option<Segments>,
}

/// What is written of the keys that come first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// The keys.
    Keys,
    /// The keys, and the values of this type beside them.
    Pairs(ElementType),
    /// The keys, and where they stand, as `u32`.
    KeysAndIndices,
    /// Where they stand, as `u32`.
    Indices,
    /// The last of them alone: where segments have fewer keys, the last of those, and zeros where they have none.
    Last,
}

impl Wanted {
    /// The type of what goes beside the keys, or instead of them.
    pub fn value(&self) -> Option<&ElementType> {
        match self {
            Wanted::Keys | Wanted::Last => None,
            Wanted::Pairs(value) => Some(value),
            Wanted::KeysAndIndices | Wanted::Indices => Some(&ElementType::Scalar(Scalar::U32)),
        }
    }

    /// Whether the keys are written.
    pub fn keys(&self) -> bool {
        *self != Wanted::Indices
    }
}

/// The largest keys.
pub static TOP_K: Form = Form {
    varies: Varies::Taken,
    ..Form::new("top_k", "Largest of {}", |&Asked { scalar: key, n, k, unsorted, .. }| {
        let request = TopKRequest::new(ElementType::Scalar(key), n, k.min(n.max(1)));
        Some(TopKRequest { sorted: !unsorted, ..request }.into())
    })
};

/// The key in the middle of the ascending order.
pub static NTH_ELEMENT: Form = Form::new("nth_element", "Middle of {}", |&Asked { scalar: key, n, .. }| {
    let request = TopKRequest::new(ElementType::Scalar(key), n, (n / 2).max(1));
    Some(TopKRequest { order: Order::Ascending, wanted: Wanted::Last, ..request }.into())
});

/// The largest keys of each segment.
pub static SEGMENTED_TOP_K: Form = Form {
    varies: Varies::TakenOfSegments,
    ..Form::new("segmented_top_k", "Largest of segments of {}", |asked| {
        let request = TopKRequest::new(asked.scalar.into(), asked.n, asked.k);
        Some(TopKRequest { segments: Some(asked.by()), sorted: !asked.unsorted, ..request }.into())
    })
};

impl TopKRequest {
    /// The `k` largest keys alone.
    pub fn new(key: ElementType, n: u64, k: u64) -> TopKRequest {
        TopKRequest { key, n, k, order: Order::Descending, wanted: Wanted::Keys, sorted: true, segments: None }
    }

    /// How its keys are ordered: the first has the least image.
    ///
    /// # Errors
    /// As of [`KeyImage::new`].
    pub fn image(&self) -> Result<KeyImage> {
        KeyImage::new(&self.key, self.order)
    }

    /// How many segments there are.
    pub(crate) fn count(&self) -> u64 {
        self.segments.as_ref().map_or(Some(1), |segments| segments.count(self.n)).unwrap_or(self.n)
    }

    /// How many keys of a segment are selected.
    pub(crate) fn selected_each(&self) -> u64 {
        if self.segments.is_some() { self.k } else { self.k.min(self.n) }
    }

    /// How many keys of a segment are written.
    pub(crate) fn taken_each(&self) -> u64 {
        if self.wanted == Wanted::Last { self.selected_each().min(1) } else { self.selected_each() }
    }

    /// Places for what is wanted of all segments.
    pub(crate) fn taken(&self) -> u64 {
        self.count().saturating_mul(self.taken_each())
    }

    /// Keys of the longest segment, at most.
    pub(crate) fn longest(&self) -> u64 {
        self.segments.as_ref().map_or(self.n, |segments| segments.longest(self.n))
    }

    /// What one read of the keys moves, and what is read and written of those that are wanted.
    pub(crate) fn moved(&self) -> u64 {
        let key = u64::from(self.key.bytes());
        let value = self.wanted.value().map_or(0, |value| u64::from(value.bytes()));
        let read = if let Wanted::Pairs(_) = self.wanted { value } else { 0 };
        let each = if self.wanted.keys() { key } else { 0 } + value + read;
        let offsets = self.segments.as_ref().and_then(|segments| segments.operand(self.n));
        let read = self.n.saturating_mul(key).saturating_add(offsets.map_or(0, |offsets| offsets.bytes()));
        read.saturating_add(self.taken().saturating_mul(each))
    }
}

impl Primitive for TopKRequest {
    fn form(&self) -> &'static Form {
        match (&self.wanted, &self.segments) {
            (Wanted::Last, _) => &NTH_ELEMENT,
            (_, Some(_)) => &SEGMENTED_TOP_K,
            (_, None) => &TOP_K,
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn written(&self) -> Option<Written> {
        let k = self.taken_each().min(MAX_ELEMENTS) as u32;
        Some(Written::Elements(match &self.segments {
            // Of fewer keys all.
            None => Param::ELEMENTS.window(0, k),
            Some(Segments::Rows(width)) => Param::ELEMENTS.in_parts(*width as u32).times(k),
            Some(Segments::Offsets { .. }) => Param::Word(self.taken().min(MAX_ELEMENTS) as u32),
            Some(Segments::Keys(_)) => return None,
        }))
    }

    fn label(&self) -> Label {
        let order = if self.order == Order::Descending { "largest" } else { "smallest" };
        let (value, what) = match &self.wanted {
            Wanted::Keys | Wanted::Last => (None, None),
            Wanted::Pairs(value) => (Some(value), None),
            Wanted::KeysAndIndices => (None, Some("with_indices")),
            Wanted::Indices => (None, Some("indices")),
        };
        let unsorted = (!self.sorted).then_some("unsorted");
        let mut label = Label::new(&[Some(&self.key), value], order, &[what, unsorted]);
        label.more.push(format!("k={}", self.k).into());
        label.more.extend(self.segments.iter().flat_map(Segments::label));
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let keys = |slot, len| Operand::keys(slot, &self.key, len);
        let len = match (&self.wanted, &self.segments) {
            (_, Some(_)) => self.taken(),
            (Wanted::Last, None) => 1,
            (_, None) => self.k,
        };
        // So few are written that nothing is taken 16 bytes at a time.
        let taken = |slot, element: &ElementType| Operand { packed: false, ..Operand::moved(slot, element, len) };
        let mut operands = vec![keys(Slot::Input, self.n)];
        match &self.wanted {
            Wanted::Indices => operands.push(taken(Slot::Output, &ElementType::Scalar(Scalar::U32))),
            _ => operands.push(Operand { packed: false, ..keys(Slot::Output, len) }),
        }
        match &self.wanted {
            Wanted::Pairs(value) => operands.extend([
                Operand { packed: false, ..Operand::moved(Slot::InputValues, value, self.n) },
                taken(Slot::OutputValues, value),
            ]),
            Wanted::KeysAndIndices => operands.push(taken(Slot::OutputValues, &ElementType::Scalar(Scalar::U32))),
            Wanted::Keys | Wanted::Indices | Wanted::Last => {}
        }
        operands.extend(self.segments.as_ref().and_then(|segments| segments.operand(self.n)));
        operands
    }

    fn apart(&self) -> Option<&'static str> {
        Some("top_k onto its keys or values, which are still read by then; give it two spans")
    }

    fn check(&self) -> Result<()> {
        let invalid = |why: String| Err(Error::Invalid(why));
        match &self.segments {
            _ if self.k == 0 => return invalid("a top_k of k = 0; ask for one key at least".into()),
            Some(Segments::Keys(_)) => {
                return invalid("a top_k of the values of equal keys; sort by both, and give offsets".into());
            }
            _ if self.wanted == Wanted::Last && !self.sorted => {
                return invalid(
                    "one key that is not sorted; an nth element is a place of the order, so leave `sorted` true".into(),
                );
            }
            Some(segments) => segments.check(self.n)?,
            None => {}
        }
        if self.segments.is_some() && self.taken() > MAX_ELEMENTS {
            let (k, count) = (self.k, self.count());
            return invalid(format!("a top_k of k = {k} of each of {count} segments; {MAX_ELEMENTS} in all at most"));
        }
        self.image().map(drop)
    }

    fn segments(&self) -> Option<&Segments> {
        self.segments.as_ref()
    }

    fn works_on_nothing(&self) -> bool {
        matches!(self.segments, Some(Segments::Offsets { .. })) && self.taken() > 0
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let selects_one = *algorithm == top_k::DIGIT_SELECT;
        let selects_all = *algorithm == top_k::SAMPLE_SELECT || *algorithm == top_k::WORKGROUP_SELECT;
        match (&self.wanted, &self.segments) {
            (Wanted::Last, None) if selects_all => Some("it gives all keys up to the last"),
            (Wanted::Last, None) => None,
            (Wanted::Last, Some(_)) if selects_one => Some("it counts the digits of all keys, and not of each segment"),
            _ if selects_one => Some("it gives the last key alone"),
            (_, Some(_)) if *algorithm == top_k::SAMPLE_SELECT => {
                Some("its sample is of all keys, and not of each segment")
            }
            _ => None,
        }
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        if *first == top_k::SAMPLE_SELECT && top_k::is_by_workgroups(planner, self) {
            &top_k::WORKGROUP_SELECT
        } else {
            first
        }
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.moved()
    }
}
