//! Calls of sorts.

use std::ops::Range;

use super::{Order, SortRequest};
use crate::primitive::mapped::one_output;
use crate::primitive::segmented::Bounds;
use crate::primitive::{Offset, Segments};
use crate::results::{Whole, known_length, length, unknown_length, whole_results};
use crate::{
    Backend, Buffer, Compacted, Device, Element, IntoInput, Key, Placed, Result, Slot, Spans, Transfer, View, block_on,
};

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
/// [`scratch_bytes`](crate::scratch_bytes) has it to the byte. On the CPU that is what pairs and some bits take. Calls allocate
/// what else they need.
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
        SortCall::of(self.clone(), keys.into_input())
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
    segments: Option<(Segments, Bounds<B>)>,
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
#[must_use = "say where: to((&keys, &values)), values_to(&out), in_place(), collect() or read()"]
pub struct SortPairsCall<K, V, B: Backend = Device> {
    sort: SortCall<K, B>,
    values: View<V, B>,
}

impl<K: Key, B: Backend> SortCall<K, B> {
    pub(crate) fn of(device: B, keys: View<K, B>) -> Self {
        SortCall { device, keys, order: Order::Ascending, bits: None, segments: None }
    }

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

    /// Each row of so many keys is sorted alone, which must divide the keys. Where their number is on the device, or a run has fewer
    /// ([`up_to`](crate::Placed::up_to)), the last row may be short.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[3u32, 1, 2, 6, 5, 4])?;
    /// assert_eq!(gpu.sort(&keys).rows(3).read()?, [1, 2, 3, 4, 5, 6]);
    /// assert_eq!(gpu.argsort(&keys).rows(3).read()?, [1, 2, 0, 2, 1, 0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> Self {
        SortCall { segments: Some(Bounds::rows(width)), ..self }
    }

    /// Each segment is sorted alone. There is one less than offsets: each has the keys from its offset to the next one. Keys before the
    /// first offset, and from the last on, are segments too.
    ///
    /// Tiles of keys are sorted by merging. Segments that lie in several tiles are merged from these, in one more read and write of their
    /// keys each time that a segment's length doubles. Segments without keys cost next to nothing.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, offsets) = (gpu.upload(&[9u32, 8, 3, 5, 4])?, gpu.upload(&[0u32, 2, 2, 5])?);
    /// assert_eq!(gpu.sort(&keys).segments(&offsets).read()?, [8, 9, 3, 4, 5]);
    /// assert_eq!(gpu.sort(&keys).descending().segments(&offsets).read()?, [9, 8, 5, 4, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> Self {
        SortCall { segments: Some(Bounds::offsets(offsets)), ..self }
    }

    /// Reads the offsets, and fails at the first that is less than the one before it or more than the keys, and if the first of all is not
    /// 0. Without it a call touches nothing outside its spans. What it gives of offsets that fall has no meaning.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 3, 2, 5])?);
    /// let why = gpu.sort(&keys).segments(&offsets).checked().err().expect("offsets that fall").to_string();
    /// assert!(why.contains("offset 2 is 2, and the one before is 3"));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) that names the offset, and as of [`Scan`](crate::Scan).
    pub fn checked(self) -> Result<Self> {
        if let Some((by, bounds)) = &self.segments {
            bounds.check(&self.device, by, self.keys.n())?;
        }
        Ok(self)
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
        SortPairsCall { sort: SortCall { keys: self.keys.beside(&values, ["keys", "values"]), ..self }, values }
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
        let (keys, spans) = (self.keys.erased(), self.keys.spans_to(output.span()));
        self.placed(SortRequest::new(K::TYPE, 0), Ok(spans)).reads_erased(Slot::Input, keys)
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
        let spans = self.keys.spans_in_place();
        self.placed(SortRequest::new(K::TYPE, 0), spans)
    }

    /// A call of this sort on these spans, where the request says what is beside the keys.
    fn placed(self, beside: SortRequest, spans: std::result::Result<Spans<B>, String>) -> Placed<B> {
        let SortCall { device, keys, order, bits, segments } = self;
        let (by, bounds) = segments.unzip();
        let request = SortRequest { n: keys.n(), order, bits, segments: by, ..beside };
        match bounds {
            Some(bounds) => bounds.placed(device, request, spans),
            None => Placed::of(device, request, spans),
        }
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

    /// As [`SortCall::rows`].
    pub fn rows(self, width: usize) -> Self {
        SortPairsCall { sort: self.sort.rows(width), ..self }
    }

    /// As [`SortCall::segments`].
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> Self {
        SortPairsCall { sort: self.sort.segments(offsets), ..self }
    }

    /// As [`SortCall::checked`].
    ///
    /// # Errors
    /// As of that.
    pub fn checked(self) -> Result<Self> {
        Ok(SortPairsCall { sort: self.sort.checked()?, ..self })
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
        let spans = Spans { output_values: Some(values.span().clone()), ..self.sort.keys.spans_to(keys.span()) };
        self.placed(Self::beside(), spans)
    }

    /// What says that there are values.
    fn beside() -> SortRequest {
        SortRequest::new(K::TYPE, 0).with(V::TYPE)
    }

    /// A call of this sort with these outputs, where the request says what is beside the keys.
    fn placed(self, beside: SortRequest, outputs: Spans<B>) -> Placed<B> {
        let SortPairsCall { sort, values } = self;
        let spans = Spans { input_values: values.memory().cloned(), ..outputs };
        let read = sort.keys.erased();
        let placed = sort.placed(beside, Ok(spans));
        placed.reads_erased(Slot::Input, read).reads(Slot::InputValues, &values)
    }

    /// The values alone to a buffer of as many, in the order of their keys. The keys are not written.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[2u32, 1])?, gpu.upload(&[0.5f32, 1.5])?);
    /// let sorted = gpu.alloc(2)?;
    /// gpu.sort(&keys).with(&values).values_to(&sorted).run()?;
    /// assert_eq!(sorted.read()?, [1.5, 0.5]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn values_to(self, values: &Buffer<V, B>) -> Placed<B> {
        let spans = self.sort.keys.spans_to(values.span());
        self.placed(Self::beside().without_keys(), spans)
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
        let refusal = self.sort.keys.refusal();
        self.sort.placed(Self::beside(), spans).refused(refusal)
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

    /// As [`SortCall::rows`].
    pub fn rows(self, width: usize) -> Self {
        ArgsortCall { sort: self.sort.rows(width), ..self }
    }

    /// As [`SortCall::segments`]; places are within a segment.
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> Self {
        ArgsortCall { sort: self.sort.segments(offsets), ..self }
    }

    /// As [`SortCall::checked`].
    ///
    /// # Errors
    /// As of that.
    pub fn checked(self) -> Result<Self> {
        Ok(ArgsortCall { sort: self.sort.checked()?, ..self })
    }

    /// Writes the keys in order too, to a buffer of as many.
    pub fn with_keys(self, sorted: &Buffer<K, B>) -> Self {
        ArgsortCall { sorted: Some(sorted.clone()), ..self }
    }

    /// To a buffer of as many places as there are keys.
    pub fn to(self, places: &Buffer<u32, B>) -> Placed<B> {
        let ArgsortCall { sort, sorted } = self;
        let request = SortRequest { writes_keys: sorted.is_some(), ..SortRequest::argsort(K::TYPE, 0) };
        let output_values = sorted.map(|sorted| sorted.span().clone());
        let (keys, spans) = (sort.keys.erased(), Spans { output_values, ..sort.keys.spans_to(places.span()) });
        sort.placed(request, Ok(spans)).reads_erased(Slot::Input, keys)
    }
}

whole_results! {
    ArgsortCall<K: Key>, sort.keys -> Buffer<u32, B>, Compacted<u32, B>, Vec<u32>; |call| {
        let places = call.sort.device.alloc(call.sort.keys.len())?;
        call.to(&places).run_async().await?;
        places
    }
}

one_output!(SortCall<K: Key>, K, device; |call| known_length(&call.keys));
one_output!(ArgsortCall<K: Key>, u32, sort.device; |call| known_length(&call.sort.keys));

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
