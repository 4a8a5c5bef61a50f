//! Sort.

use std::ops::Range;

use super::{Form, Label, Operand, Primitive};
use crate::algorithm::{Algorithm, sort};
use crate::planner::Planner;
use crate::results::{Whole, length, unknown_length, whole_results};
use crate::tuning::numbers;
use crate::{
    Backend, Buffer, Compacted, Device, Element, ElementType, IntoInput, Key, KeyImage, Placed, Result, Scalar, Slot,
    Spans, Transfer, View, block_on,
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
    /// Whether the keys are written in order.
    pub writes_keys: bool,
}

/// Sorts of keys alone.
pub static SORT_KEYS: Form =
    Form::new("sort_keys", "Sort of {} keys", |key, _, n| Some(SortRequest::new(ElementType::Scalar(key), n).into()));

/// Sorts of keys that carry their places.
pub static SORT_PAIRS: Form = Form::new("sort_pairs", "Sort of pairs, {} keys", |key, _, n| {
    Some(SortRequest::new(ElementType::Scalar(key), n).with(ElementType::Scalar(Scalar::U32)).into())
});

/// Sorts that give the keys' places in order, and not the keys.
pub static ARGSORT: Form = Form::new("argsort", "Places of {} keys in order", |key, _, n| {
    Some(SortRequest::argsort(ElementType::Scalar(key), n).into())
});

impl SortRequest {
    /// Of keys alone, small ones first.
    pub fn new(key: ElementType, n: u64) -> SortRequest {
        SortRequest { key, value: None, n, order: Order::Ascending, bits: None, by_place: false, writes_keys: true }
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

    pub(crate) fn value_bytes(&self) -> u32 {
        self.value.as_ref().map_or(0, ElementType::bytes)
    }

    /// What is moved where the keys are read to be counted `counts` times, and keys and values in and out `passes` times.
    pub(crate) fn moved(&self, counts: u64, passes: u64) -> u64 {
        let key = u64::from(self.key.bytes());
        let value = u64::from(self.value_bytes());
        // The first pass knows the places, and the last writes no keys.
        let left_out = if self.by_place { value } else { 0 } + if self.writes_keys { 0 } else { key };
        self.n.saturating_mul(counts * key + (passes * 2 * (key + value)).saturating_sub(left_out))
    }

    /// The places of digits of so many bits.
    pub(crate) fn places(&self, bits: u32) -> u64 {
        self.image().map_or(0, |image| image.width().div_ceil(bits).into())
    }
}

impl Primitive for SortRequest {
    fn form(&self) -> &'static Form {
        match &self.value {
            Some(_) if self.by_place => &ARGSORT,
            Some(_) => &SORT_PAIRS,
            None => &SORT_KEYS,
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let order = if self.order == Order::Ascending { "ascending" } else { "descending" };
        let value = self.value.as_ref().filter(|_| !self.by_place);
        let with_keys = (self.by_place && self.writes_keys).then_some("with_keys");
        let mut label = Label::new(&[Some(&self.key), value], order, &[with_keys]);
        label.more.extend(self.bits.as_ref().map(|bits| format!("bits_{}_{}", bits.start, bits.end).into()));
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let keys = |slot| Operand::keys(slot, &self.key, self.n);
        match &self.value {
            None => vec![keys(Slot::Input), keys(Slot::Output)],
            Some(places) if self.by_place => {
                let sorted = self.writes_keys.then(|| keys(Slot::OutputValues));
                [keys(Slot::Input), Operand::moved(Slot::Output, places, self.n)].into_iter().chain(sorted).collect()
            }
            Some(value) => {
                let values = [Slot::InputValues, Slot::OutputValues].map(|slot| Operand::moved(slot, value, self.n));
                [keys(Slot::Input), keys(Slot::Output)].into_iter().chain(values).collect()
            }
        }
    }

    fn apart(&self) -> Option<&'static str> {
        self.by_place.then_some("places to where the keys are, which are still read by then; give it two spans")
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        (self.by_place && algorithm.is_reference).then_some("it is there to be read, and moves values that are given")
    }

    fn reads(&self) -> u64 {
        2
    }

    fn check(&self) -> Result<()> {
        self.image().map(drop)
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.moved(1, self.places(8))
    }

    fn choose(&self, planner: &Planner<'_>, first: &'static Algorithm) -> &'static Algorithm {
        let Ok(task) = sort::SortTask::of(planner, self, sort::DIGIT_BITS) else { return first };
        if sort::merge_tile::is_fastest(planner, &task) {
            &sort::MERGE_TILE
        } else if *first != sort::ONESWEEP {
            first
        } else if !sort::has_room_for_ranks(planner, &task) {
            &sort::UPSWEEP_DOWNSWEEP
        } else if sort::one_tile::is_fastest(planner, &task) {
            &sort::ONE_TILE
        } else if sort::hybrid::is_fastest(planner, &task) {
            &sort::HYBRID
        } else {
            first
        }
    }
}

/// Stable radix sort of keys, alone or with a value each.
///
/// The algorithm depends on how many keys there are:
///
/// - Few keys are sorted by one workgroup, which reads and writes them once.
/// - Somewhat more are moved into buckets by one pass. Then one workgroup sorts each bucket.
/// - Many keys are sorted by Onesweep (Adinets and Merrill 2022). It reads the keys once to count. Then it reads and
///   writes keys and values once for each 8-bit digit place in which the keys differ.
///
/// Devices without subgroups make each of Onesweep's passes in three launches.
///
/// Floats are ordered by IEEE 754's total order: -0 before +0, and NaNs at the ends by their signs.
///
/// Scratch is as much as keys and values, and up to 4% and 64 KiB more. Keys that one workgroup sorts need none. Sorts to
/// places need as much as the keys besides, where the keys are not written.
/// [`scratch_bytes`](crate::scratch_bytes) has it to the byte. On the CPU, calls allocate what they need.
///
/// # Errors
/// As of [`Scan`](crate::Scan).
pub trait Sort: Backend {
    /// The keys in ascending order, or [`SortCall::descending`]; with their values, [`SortCall::with`].
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2.5f32, -1.0, 7.0])?;
    /// assert_eq!(gpu.sort(&keys).read()?, [-1.0, 2.5, 7.0]);
    ///
    /// let places = gpu.upload(&[0u32, 1, 2])?;
    /// gpu.sort(&keys).descending().with(&places).in_place().run()?;
    /// assert_eq!(places.read()?, [2, 0, 1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn sort<X: IntoInput<Self, Item: Key>>(&self, keys: X) -> SortCall<X::Item, Self> {
        SortCall { device: self.clone(), keys: keys.into_input(), order: Order::Ascending, bits: None }
    }

    /// Where the keys stand that come first, second and so on: their places as `u32`. Equal keys stay in their order.
    ///
    /// It moves less than a sort with places as values: these are not read, and the keys are not written.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[30u16, 10, 20, 10])?;
    /// assert_eq!(gpu.argsort(&keys).read()?, [1, 3, 2, 0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn argsort<X: IntoInput<Self, Item: Key>>(&self, keys: X) -> ArgsortCall<X::Item, Self> {
        ArgsortCall { sort: self.sort(keys), sorted: None }
    }
}

/// A sort of keys whose result has no place yet.
///
/// ```
/// # use trifold_core::{block_on, Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let keys = gpu.upload(&[2.5f32, -1.0, 7.0])?;
/// assert_eq!(gpu.sort(&keys).read()?, [-1.0, 2.5, 7.0]);
/// assert_eq!(block_on(gpu.sort(&keys).descending().read_async())?, [7.0, 2.5, -1.0]);
///
/// // To new memory on the device.
/// assert_eq!(gpu.sort(&keys).collect()?.slice(..1)?.read()?, [-1.0]);
///
/// // As many keys as a word on the device says. Their number goes along.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.sort(&keys).len_on_device(&n).compact()?.read()?, [-1.0, 2.5]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), in_place(), collect() or read()"]
pub struct SortCall<K, B: Backend = Device> {
    device: B,
    keys: View<K, B>,
    order: Order,
    bits: Option<Range<u32>>,
}

/// A sort of keys to their places, which have no place yet themselves.
///
/// ```
/// # use trifold_core::{Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let keys = gpu.upload(&[2.5f32, -1.0, 7.0])?;
/// assert_eq!(gpu.argsort(&keys).read()?, [1, 0, 2]);
/// assert_eq!(gpu.argsort(&keys).descending().collect()?.read()?, [2, 0, 1]);
///
/// // With the keys in order, which are not written unless asked for.
/// let (places, sorted) = (gpu.alloc(3)?, gpu.alloc(3)?);
/// gpu.argsort(&keys).with_keys(&sorted).to(&places).run()?;
/// assert_eq!((places.read()?, sorted.read()?), (vec![1, 0, 2], vec![-1.0, 2.5, 7.0]));
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&places), collect() or read()"]
pub struct ArgsortCall<K, B: Backend = Device> {
    sort: SortCall<K, B>,
    sorted: Option<Buffer<K, B>>,
}

/// A sort of keys with values whose results have no place yet.
///
/// ```
/// # use trifold_core::{Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (keys, names) = (gpu.upload(&[2u32, 1, 2])?, gpu.upload(&[10u32, 20, 30])?);
/// assert_eq!(gpu.sort(&keys).with(&names).read()?, (vec![1, 2, 2], vec![20, 10, 30]));
///
/// // To new memory on the device.
/// let (_, sorted) = gpu.sort(&keys).with(&names).collect()?;
/// assert_eq!(sorted.read()?, [20, 10, 30]);
///
/// // As many pairs as a word on the device says. Their number goes along with both.
/// let n = gpu.upload(&[2u32])?;
/// let (keys, names) = gpu.sort(&keys).with(&names).len_on_device(&n).compact()?;
/// assert_eq!((keys.read()?, names.read()?), (vec![1, 2], vec![20, 10]));
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to((&keys, &values)), in_place(), collect() or read()"]
pub struct SortPairsCall<K, V, B: Backend = Device> {
    sort: SortCall<K, B>,
    values: View<V, B>,
}

impl<K: Key, B: Backend> SortCall<K, B> {
    /// Large keys first. Equal keys still keep their order.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2i32, -1, 7])?;
    /// assert_eq!(gpu.sort(&keys).descending().read()?, [7, 2, -1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn descending(self) -> Self {
        self.in_order(Order::Descending)
    }

    /// In this order.
    ///
    /// ```
    /// # use trifold_core::{Order, Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2i32, -1, 7])?;
    /// for (order, first) in [(Order::Ascending, -1), (Order::Descending, 7)] {
    ///     assert_eq!(gpu.sort(&keys).in_order(order).read()?[0], first);
    /// }
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_order(self, order: Order) -> Self {
        SortCall { order, ..self }
    }

    /// By these bits of a scalar's image, bit 0 the least, as if the others were equal. A pass is made for eight of them.
    ///
    /// The image is an unsigned integer that is ordered as the keys are. It is [`Number::rank`](crate::Number::rank): an
    /// unsigned key itself, an integer with its sign flipped, or the bits of a float so changed that they count up. Keys
    /// move whole.
    ///
    /// Running the call fails without any bits, for bits that the key does not have, and for keys that are structs.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[0x0201u32, 0x0102, 0x0301])?;
    /// assert_eq!(gpu.sort(&keys).bits(0..8).read()?, [0x0201, 0x0301, 0x0102]);
    /// assert!(gpu.sort(&keys).bits(24..40).read().is_err());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn bits(self, bits: Range<u32>) -> Self {
        SortCall { bits: Some(bits), ..self }
    }

    /// With a value for each key, which moves as its key does.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (depths, ids) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.upload(&[0u32, 1, 2])?);
    /// gpu.sort(&depths).with(&ids).in_place().run()?;
    /// assert_eq!(ids.read()?, [1, 2, 0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn with<V: IntoInput<B>>(self, values: V) -> SortPairsCall<K, V::Item, B> {
        let values = values.into_input();
        SortPairsCall { sort: SortCall { keys: self.keys.beside(&values), ..self }, values }
    }

    /// To a buffer of as many keys.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, sorted) = (gpu.upload(&[2u32, 3, 1])?, gpu.alloc(3)?);
    /// gpu.sort(&keys).to(&sorted).run()?;
    /// assert_eq!(sorted.read()?, [1, 2, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<K, B>) -> Placed<B> {
        let (request, spans) = (self.request(None), self.keys.spans_to(output.span()));
        Placed::new(self.device, request, spans).reads(Slot::Input, &self.keys)
    }

    /// To where the keys are.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2u32, 3, 1])?;
    /// gpu.sort(&keys).in_place().run()?;
    /// assert_eq!(keys.read()?, [1, 2, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        Placed::of(self.device.clone(), self.request(None), self.keys.spans_in_place())
    }

    fn request(&self, value: Option<ElementType>) -> SortRequest {
        let request = SortRequest::new(K::TYPE, self.keys.n()).with(value).in_order(self.order);
        SortRequest { bits: self.bits.clone(), ..request }
    }
}

impl<K: Key, V: Element, B: Backend> SortPairsCall<K, V, B> {
    /// As [`SortCall::descending`].
    pub fn descending(self) -> Self {
        self.in_order(Order::Descending)
    }

    /// In this order.
    pub fn in_order(self, order: Order) -> Self {
        SortPairsCall { sort: self.sort.in_order(order), ..self }
    }

    /// As [`SortCall::bits`].
    pub fn bits(self, bits: Range<u32>) -> Self {
        SortPairsCall { sort: self.sort.bits(bits), ..self }
    }

    /// To buffers of as many keys and values.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[2u32, 1])?, gpu.upload(&[0.5f32, 1.5])?);
    /// let (k, v) = (gpu.alloc(2)?, gpu.alloc(2)?);
    /// gpu.sort(&keys).with(&values).to((&k, &v)).run()?;
    /// assert_eq!((k.read()?, v.read()?), (vec![1, 2], vec![1.5, 0.5]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, (keys, values): (&Buffer<K, B>, &Buffer<V, B>)) -> Placed<B> {
        let spans = Spans {
            input_values: self.values.memory().cloned(),
            output_values: Some(values.span().clone()),
            ..self.sort.keys.spans_to(keys.span())
        };
        let placed = Placed::new(self.sort.device.clone(), self.sort.request(Some(V::TYPE)), spans);
        placed.reads(Slot::Input, &self.sort.keys).reads(Slot::InputValues, &self.values)
    }

    /// To where the keys and the values are.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[2u32, 1])?, gpu.upload(&[0.5f32, 1.5])?);
    /// gpu.sort(&keys).descending().with(&values).in_place().run()?;
    /// assert_eq!((keys.read()?, values.read()?), (vec![2, 1], vec![0.5, 1.5]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        let values = self.values.spans_in_place();
        let spans = self.sort.keys.spans_in_place().and_then(|keys| {
            let values = values?.output;
            Ok(keys.with_values(&values, &values))
        });
        let placed = Placed::of(self.sort.device.clone(), self.sort.request(Some(V::TYPE)), spans);
        placed.refused(self.sort.keys.refusal())
    }
}

impl<K: Key, B: Backend> ArgsortCall<K, B> {
    /// As [`SortCall::descending`].
    pub fn descending(self) -> Self {
        self.in_order(Order::Descending)
    }

    /// In this order.
    pub fn in_order(self, order: Order) -> Self {
        ArgsortCall { sort: self.sort.in_order(order), ..self }
    }

    /// As [`SortCall::bits`].
    pub fn bits(self, bits: Range<u32>) -> Self {
        ArgsortCall { sort: self.sort.bits(bits), ..self }
    }

    /// Writes the keys in order too, to a buffer of as many.
    pub fn with_keys(self, sorted: &Buffer<K, B>) -> Self {
        ArgsortCall { sorted: Some(sorted.clone()), ..self }
    }

    /// To a buffer of as many places as there are keys.
    pub fn to(self, places: &Buffer<u32, B>) -> Placed<B> {
        let keys = &self.sort.keys;
        let request = SortRequest {
            order: self.sort.order,
            bits: self.sort.bits.clone(),
            writes_keys: self.sorted.is_some(),
            ..SortRequest::argsort(K::TYPE, keys.n())
        };
        let spans =
            Spans { output_values: self.sorted.map(|sorted| sorted.span().clone()), ..keys.spans_to(places.span()) };
        Placed::new(self.sort.device.clone(), request, spans).reads(Slot::Input, &self.sort.keys)
    }
}

whole_results! {
    ArgsortCall<K: Key>, sort.keys -> Buffer<u32, B>, Compacted<u32, B>, Vec<u32>; |call| {
        let places = call.sort.device.alloc(call.sort.keys.len())?;
        call.to(&places).run_async().await?;
        places
    }
}

whole_results! {
    SortCall<K: Key>, keys -> Buffer<K, B>, Compacted<K, B>, Vec<K>; |call| {
        let output = call.device.alloc(call.keys.len())?;
        call.to(&output).run_async().await?;
        output
    }
}

whole_results! {
    SortPairsCall<K: Key, V: Element>, sort.keys -> (Buffer<K, B>, Buffer<V, B>), (Compacted<K, B>, Compacted<V, B>), (Vec<K>, Vec<V>); |call| {
        let (keys, values) = (call.sort.device.alloc(call.sort.keys.len())?, call.sort.device.alloc(call.values.len())?);
        call.to((&keys, &values)).run_async().await?;
        (keys, values)
    }
}
