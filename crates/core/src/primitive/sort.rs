//! Sort.

use super::{Form, Label, Operand, Primitive};
use crate::algorithm::{Algorithm, sort};
use crate::calls::{count, run_once};
use crate::planner::Planner;
use crate::tuning::numbers;
use crate::{
    Backend, Element, ElementType, Key, Layout, Options, Prepared, Request, Result, Scalar, Slot, Span, Spans, block_on,
};

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

impl Request {
    /// A sort of `n` keys.
    pub fn sort_keys<K: Key>(order: Order, n: u64) -> Request {
        SortRequest { key: K::SCALAR, value: None, n, order }.into()
    }

    /// A sort of `n` keys, each with a value.
    pub fn sort_pairs<K: Key, V: Element>(order: Order, n: u64) -> Request {
        SortRequest { key: K::SCALAR, value: Some(V::TYPE), n, order }.into()
    }
}

/// Sorts of keys alone.
pub static SORT_KEYS: Form =
    Form::new("sort_keys", |key, _, n| SortRequest { key, value: None, n, order: Order::Ascending }.into());

/// Sorts of keys that carry their places.
pub static SORT_PAIRS: Form = Form::new("sort_pairs", |key, _, n| {
    SortRequest { key, value: Some(ElementType::Scalar(Scalar::U32)), n, order: Order::Ascending }.into()
});

impl SortRequest {
    pub(crate) fn value_bytes(&self) -> u32 {
        self.value.as_ref().map_or(0, ElementType::bytes)
    }

    /// What is moved where the keys are read to be counted `counts` times, and keys and values in and out `passes` times.
    pub(crate) fn moved(&self, counts: u64, passes: u64) -> u64 {
        let key = u64::from(self.key.bytes());
        let moved = 2 * (key + u64::from(self.value_bytes()));
        self.n.saturating_mul(counts * key + passes * moved)
    }

    /// The places of digits of so many bits.
    pub(crate) fn places(&self, bits: u32) -> u64 {
        u64::from(self.key.bytes() * 8 / bits)
    }
}

impl Primitive for SortRequest {
    fn form(&self) -> &'static Form {
        if self.value.is_some() { &SORT_PAIRS } else { &SORT_KEYS }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let order = if self.order == Order::Ascending { "ascending" } else { "descending" };
        Label::new(&[Some(&ElementType::Scalar(self.key)), self.value.as_ref()], order, &[])
    }

    fn operands(&self) -> Vec<Operand> {
        let keys = [Slot::Input, Slot::Output].map(|slot| Operand {
            align: self.key.bytes(),
            ..Operand::new(slot, &ElementType::Scalar(self.key), self.n)
        });
        let values = self
            .value
            .iter()
            .flat_map(|value| [Slot::InputValues, Slot::OutputValues].map(|slot| Operand::moved(slot, value, self.n)));
        keys.into_iter().chain(values).collect()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.moved(1, self.places(8))
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        if sort::merge_tile::is_fastest(planner, self) {
            &sort::MERGE_TILE
        } else if *first != sort::ONESWEEP {
            first
        } else if !sort::has_room_for_ranks(planner) {
            &sort::UPSWEEP_DOWNSWEEP
        } else if sort::one_tile::is_fastest(planner, self) {
            &sort::ONE_TILE
        } else if sort::hybrid::is_fastest(planner, self) {
            &sort::HYBRID
        } else {
            first
        }
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
/// As of [`Scan`](crate::Scan).
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
