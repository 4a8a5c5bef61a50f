//! What a caller asks for, erased to data.

use std::fmt;

use crate::{
    ByKeyRequest, Element, ElementType, Error, Key, Monoid, Op, Rest, Result, Scalar, SelectRequest, bytemuck,
};

/// Whether an element takes part in its own prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// `output[i] = initial + input[0] + ... + input[i]`.
    Inclusive,
    /// `output[i] = initial + input[0] + ... + input[i - 1]`.
    Exclusive,
}

/// Whether small or large keys come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Small keys first.
    Ascending,
    /// Large keys first; equal keys still keep their order.
    Descending,
}

/// Tiles made to misbehave, for tests of the waiting and the fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fault {
    /// None.
    #[default]
    None,
    /// Every `n`th tile never publishes anything.
    Silent(u32),
    /// Every `n`th tile publishes late.
    Late(u32),
}

impl fmt::Display for Fault {
    /// `none`, `silent:N` or `late:N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::None => f.write_str("none"),
            Fault::Silent(every) => write!(f, "silent:{every}"),
            Fault::Late(every) => write!(f, "late:{every}"),
        }
    }
}

/// How long a tile waits for what an earlier one is to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Waiting {
    /// A bounded time; then it computes by itself what the other has not published.
    #[default]
    Bounded,
    /// Until the other has published. For measuring what the fallback costs: it gains nothing else, and a device that
    /// does not promise forward progress ([`Caps::forward_progress`](crate::Caps::forward_progress)) would never end the wait, so plans
    /// for those, and with tiles that are [`Fault::Silent`], are refused. Look-ahead has no such form, and the planner
    /// chooses look-back. Algorithms whose tiles do not wait for each other are planned as ever.
    Unbounded,
}

impl fmt::Display for Waiting {
    /// `bounded` or `unbounded`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting::Bounded => "bounded",
            Waiting::Unbounded => "unbounded",
        })
    }
}

/// A scan.
#[derive(Debug, Clone)]
pub struct ScanRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

/// A reduction to one element.
#[derive(Debug, Clone)]
pub struct ReduceRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

/// A stable sort of keys, alone or with a value each.
#[derive(Debug, Clone)]
pub struct SortRequest {
    /// The keys' type.
    pub key: Scalar,
    /// The values' type, if there are values.
    pub value: Option<ElementType>,
    /// How many keys.
    pub n: u64,
    /// Small or large keys first.
    pub order: Order,
}

/// What a caller asks of a device.
#[derive(Debug, Clone)]
pub enum Request {
    /// Copy `n` elements: the ceiling that the others are measured against.
    Copy {
        /// The element type.
        element: ElementType,
        /// How many.
        n: u64,
    },
    /// Scan.
    Scan(ScanRequest),
    /// Reduce.
    Reduce(ReduceRequest),
    /// Sort.
    Sort(SortRequest),
    /// Select or partition.
    Select(SelectRequest),
    /// Reduce by key, or encode run lengths.
    ByKey(ByKeyRequest),
}

impl Request {
    /// A scan of `n` elements of `T` by `M`, from `initial` on (the operator's identity if `None`).
    pub fn scan<T: Element, M: Monoid<T>>(kind: ScanKind, initial: Option<T>, n: u64) -> Request {
        let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
        Request::Scan(ScanRequest { op: Op::of::<T, M>(), n, kind, initial })
    }

    /// A reduction of `n` elements of `T` by `M`, from `initial` on (the operator's identity if `None`).
    pub fn reduce<T: Element, M: Monoid<T>>(initial: Option<T>, n: u64) -> Request {
        let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
        Request::Reduce(ReduceRequest { op: Op::of::<T, M>(), n, initial })
    }

    /// A sort of `n` keys.
    pub fn sort_keys<K: Key>(order: Order, n: u64) -> Request {
        Request::Sort(SortRequest { key: K::SCALAR, value: None, n, order })
    }

    /// A sort of `n` keys, each with a value.
    pub fn sort_pairs<K: Key, V: Element>(order: Order, n: u64) -> Request {
        Request::Sort(SortRequest { key: K::SCALAR, value: Some(V::TYPE), n, order })
    }

    /// The primitive's name in reports: copy, scan, reduce, sort_keys, sort_pairs, select_if, partition_if,
    /// reduce_by_key or run_length_encode.
    pub fn primitive(&self) -> &'static str {
        match self {
            Request::Copy { .. } => "copy",
            Request::Scan(_) => "scan",
            Request::Reduce(_) => "reduce",
            Request::Sort(SortRequest { value: None, .. }) => "sort_keys",
            Request::Sort(SortRequest { value: Some(_), .. }) => "sort_pairs",
            Request::Select(SelectRequest { rest: Rest::Dropped, .. }) => "select_if",
            Request::Select(_) => "partition_if",
            Request::ByKey(ByKeyRequest { op: Some(_), .. }) => "reduce_by_key",
            Request::ByKey(_) => "run_length_encode",
        }
    }

    /// How many elements.
    pub fn n(&self) -> u64 {
        match self {
            Request::Copy { n, .. } => *n,
            Request::Scan(r) => r.n,
            Request::Reduce(r) => r.n,
            Request::Sort(r) => r.n,
            Request::Select(r) => r.n,
            Request::ByKey(r) => r.n,
        }
    }

    /// The types of its elements, keys and values.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &ElementType> {
        let (first, second) = match self {
            Request::Copy { element, .. } => (Some(element), None),
            Request::Scan(r) => (Some(r.op.element()), None),
            Request::Reduce(r) => (Some(r.op.element()), None),
            Request::Sort(r) => (r.value.as_ref(), None),
            Request::Select(r) => (Some(r.selector.element()), None),
            Request::ByKey(r) => (Some(&r.key), r.op.as_ref().map(Op::element)),
        };
        first.into_iter().chain(second)
    }

    /// The bytes that the algorithm-independent minimum moves: each input read and each output written once, and for
    /// a sort once more a digit place of eight bits plus one read to count. As if a selection kept all elements, and each element
    /// were a run: how many are, where that is known, [`Request::bytes_moved_by`] takes.
    pub fn bytes_moved(&self) -> u64 {
        self.bytes_moved_by(self.n())
    }

    /// As [`Request::bytes_moved`], of a selection that keeps `outputs` elements and of a reduction by key that finds `outputs`
    /// runs: those are written. The others write what they write, and a partition all elements. The count itself, four bytes, is
    /// left out. More than a `u64` counts are its most.
    pub fn bytes_moved_by(&self, outputs: u64) -> u64 {
        match self {
            Request::Copy { element, n } => n.saturating_mul(2 * u64::from(element.bytes())),
            Request::Scan(r) => r.n.saturating_mul(2 * u64::from(r.op.element().bytes())),
            Request::Reduce(r) => r.n.saturating_mul(u64::from(r.op.element().bytes())),
            Request::Sort(r) => {
                let key = u64::from(r.key.bytes());
                let value = r.value.as_ref().map_or(0, |v| u64::from(v.bytes()));
                r.n.saturating_mul(key + 2 * key * (key + value))
            }
            Request::Select(r) => r.bytes_read().saturating_add(r.bytes_written(outputs)),
            Request::ByKey(r) => r.bytes_read().saturating_add(r.bytes_written(outputs)),
        }
    }
}

/// What the planner has to know of the spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Every span, but for a reduction's result, starts at a multiple of 16 bytes and its buffer reaches to a multiple of 16 past its end. Buffers
    /// from a backend's own `alloc` do; round those of your own up to 16 bytes. Without it kernels move one element at a time, not 16
    /// bytes, and no scan looks ahead in CUDA.
    pub wide: bool,
    /// The output is the input.
    pub in_place: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { wide: true, in_place: false }
    }
}

/// How to go about it, where the caller has an opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Options {
    /// The algorithm, one of [`planner::ALGORITHMS`](crate::planner::ALGORITHMS) ([`planner::algorithm`](crate::planner::algorithm) finds
    /// a name of the user's there); the planner's choice if `None`.
    pub algorithm: Option<&'static str>,
    /// Tiles made to misbehave.
    pub fault: Fault,
    /// How long tiles wait for each other.
    pub waiting: Waiting,
}

/// The most elements in one call: indices are 32-bit on every device.
pub const MAX_ELEMENTS: u64 = (1 << 32) - (1 << 16);

pub(crate) fn check_count(n: u64) -> Result<u32> {
    if n > MAX_ELEMENTS {
        return Err(Error::Invalid(format!("{n} elements in one call; the most is {MAX_ELEMENTS}: split the work")));
    }
    Ok(n as u32)
}
