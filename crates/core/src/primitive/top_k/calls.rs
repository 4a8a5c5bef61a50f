//! The calls: what a program says, and where results go.

use super::{TopKRequest, Wanted};
use crate::primitive::mapped::one_output;
use crate::primitive::segmented::Bounds;
use crate::primitive::{NthCall, Offset, Primitive, Segments};
use crate::results::{Given, Results, given_results, length};
use crate::{
    Backend, Buffer, Device, Element, IntoInput, Key, Order, Placed, Result, Slot, Spans, Transfer, View, block_on,
};

/// The largest or smallest of keys.
///
/// A sample of the keys says which are likely to be among the first `k`. One read of all keys finds these candidates,
/// and a sort brings them in order. A device that finds too few or too many of them counts the keys' digits, one place
/// after the other, until it has exactly those that are wanted. So the result is exact, whatever the keys are. Few of many keys take
/// the time of one read, unless somebody chose the keys to mislead the sample.
///
/// Where there are up to 2^20 keys, or a large part of them is wanted, all are sorted.
///
/// Up to 256 keys of each segment are selected in workgroup memory, and few of up to 2^24 keys too. These are read once, whatever they
/// are. More of a segment are selected by their digits: the keys are read once for each eight bits that are needed, and once more.
///
/// Equal keys come in the order of their indices, so that every device gives the same result. Floats are ordered by IEEE
/// 754's total order: the largest of all is a NaN whose sign is positive, and +0 is larger than -0.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) for `k` of 0, and for more than there are keys, of all or of a
/// row. Segments by offsets may have fewer.
pub trait TopK: Backend {
    /// The `k` largest keys, the largest first; or [`TopKCall::smallest`].
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[2.5f32, -1.0, 7.0, 3.0])?;
    /// assert_eq!(gpu.top_k(&x, 2).read()?, [7.0, 3.0]);
    /// assert_eq!(gpu.top_k(&x, 2).smallest().read()?, [-1.0, 2.5]);
    ///
    /// // Where they stand, alone or beside them.
    /// assert_eq!(gpu.top_k(&x, 2).indices().read()?, [2, 3]);
    /// assert_eq!(gpu.top_k(&x, 2).with_indices().read()?, (vec![7.0, 3.0], vec![2, 3]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn top_k<X: IntoInput<Self, Item: Key>>(&self, keys: X, k: usize) -> TopKCall<X::Item, Self> {
        let (device, keys) = (self.clone(), keys.into_input());
        TopKCall { device, keys, k, order: Order::Descending, sorted: true, segments: None }
    }

    /// The key that stands at place `nth` of all keys in order, from 0 on: of `n / 2` the median. The keys stay as they are.
    ///
    /// It counts the keys' digits, a place after the other: each key is read once for each eight bits of it. Of a struct with fields that
    /// are no keys it is the one that a stable sort has there. Each key is then also read once for each eight bits of an index.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[2.5f32, -1.0, 7.0, 3.0, 0.0])?;
    /// assert_eq!(gpu.nth_element(&x, 2).value()?, 2.5);
    /// assert_eq!(gpu.nth_element(&x, 0).descending().value()?, 7.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn nth_element<X: IntoInput<Self, Item: Key>>(&self, keys: X, nth: usize) -> NthCall<X::Item, Self> {
        NthCall { top: self.top_k(keys, nth.saturating_add(1)).smallest() }
    }
}
impl<B: Backend> TopK for B {}

/// The first keys of an order, which have no place yet.
///
/// ```
/// # use trifold_core::{block_on, TopK, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[20u32, 10, 30])?;
/// assert_eq!(gpu.top_k(&x, 2).read()?, [30, 20]);
/// assert_eq!(block_on(gpu.top_k(&x, 2).read_async())?, [30, 20]);
///
/// // To new memory on the device.
/// assert_eq!(gpu.top_k(&x, 2).collect()?.slice(..1)?.read()?, [30]);
///
/// // More than there are is an error.
/// assert!(gpu.top_k(&x, 4).read().is_err());
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct TopKCall<K, B: Backend = Device> {
    pub(in crate::primitive) device: B,
    pub(in crate::primitive) keys: View<K, B>,
    k: usize,
    order: Order,
    sorted: bool,
    segments: Option<(Segments, Bounds<B>)>,
}

/// The first keys of an order with their values or indices, which have no place yet.
///
/// ```
/// # use trifold_core::{TopK, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (scores, names) = (gpu.upload(&[0.1f32, 0.7, 0.2])?, gpu.upload(&[10u64, 20, 30])?);
/// assert_eq!(gpu.top_k(&scores, 2).with(&names).read()?, (vec![0.7, 0.2], vec![20, 30]));
///
/// // To new memory on the device.
/// let (_, best) = gpu.top_k(&scores, 1).with(&names).collect()?;
/// assert_eq!(best.read()?, [20]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to((&keys, &values)), collect() or read()"]
pub struct TopKPairsCall<K, V, B: Backend = Device> {
    top: TopKCall<K, B>,
    /// Without, the keys' indices.
    values: Option<View<V, B>>,
}

/// Where the first keys of an order stand, which have no place yet.
///
/// ```
/// # use trifold_core::{TopK, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[20u32, 10, 30])?;
/// assert_eq!(gpu.top_k(&x, 2).indices().read()?, [2, 0]);
/// assert_eq!(gpu.top_k(&x, 1).smallest().indices().collect()?.read()?, [1]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&indices), collect() or read()"]
pub struct TopKIndicesCall<K, B: Backend = Device> {
    top: TopKCall<K, B>,
}

impl<K: Key, B: Backend> TopKCall<K, B> {
    /// The smallest keys, the smallest first.
    pub fn smallest(self) -> Self {
        self.in_order(Order::Ascending)
    }

    /// The first keys of this order.
    pub fn in_order(self, order: Order) -> Self {
        TopKCall { order, ..self }
    }

    /// As they stand in the input, and not in the order of the keys: which keys these are stays the same. Where more than 256 of
    /// a segment are wanted, or a large part of all keys, this is faster, as no sort by keys follows. Elsewhere it is slower.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[20u32, 10, 30, 25])?;
    /// assert_eq!(gpu.top_k(&x, 3).unsorted().read()?, [20, 30, 25]);
    /// assert_eq!(gpu.top_k(&x, 3).unsorted().indices().read()?, [0, 2, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn unsorted(self) -> Self {
        TopKCall { sorted: false, ..self }
    }

    /// The first keys of each row of so many keys, which must divide the keys. Indices are places within a row. Where the number of
    /// keys is on the device, or a run has fewer ([`up_to`](crate::Placed::up_to)), the last row may be short.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let scores = gpu.upload(&[0.1f32, 0.7, 0.2, 0.9, 0.3, 0.5])?;
    /// let (best, at) = gpu.top_k(&scores, 2).rows(3).with_indices().read()?;
    /// assert_eq!((best, at), (vec![0.7, 0.2, 0.9, 0.5], vec![1, 2, 0, 2]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn rows(self, width: usize) -> Self {
        TopKCall { segments: Some(Bounds::rows(width)), ..self }
    }

    /// The first keys of each segment, of which there is one less than offsets. Each has `k` places of the output. Where a
    /// segment has fewer keys, zeros stand behind them and beside these, and [`NO_PLACE`](crate::NO_PLACE) behind indices, which are
    /// places within a segment.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 1, 1, 5])?);
    /// assert_eq!(gpu.top_k(&x, 2).segments(&offsets).read()?, [3, 0, 0, 0, 5, 4]);
    /// assert_eq!(gpu.top_k(&x, 1).segments(&offsets).indices().read()?, [0, u32::MAX, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn segments<O: Offset>(self, offsets: &Buffer<O, B>) -> Self {
        TopKCall { segments: Some(Bounds::offsets(offsets)), ..self }
    }

    /// Reads the offsets, and fails at the first that is less than the one before it or more than the keys, and if the first of all is not
    /// 0. Without it a call touches nothing outside its spans. What it gives of offsets that fall has no meaning.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, offsets) = (gpu.upload(&[3u32, 1, 4, 1, 5])?, gpu.upload(&[0u32, 3, 2, 5])?);
    /// let why = gpu.top_k(&x, 1).segments(&offsets).checked().err().expect("offsets that fall").to_string();
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

    /// The keys with the values beside them. There are as many values as keys, of any type.
    pub fn with<X: IntoInput<B>>(self, values: X) -> TopKPairsCall<K, X::Item, B> {
        let values = values.into_input();
        TopKPairsCall {
            top: TopKCall { keys: self.keys.beside(&values, ["keys", "values"]), ..self },
            values: Some(values),
        }
    }

    /// The keys, and where they stand.
    pub fn with_indices(self) -> TopKPairsCall<K, u32, B> {
        TopKPairsCall { top: self, values: None }
    }

    /// Where the keys stand. They themselves are not written.
    pub fn indices(self) -> TopKIndicesCall<K, B> {
        TopKIndicesCall { top: self }
    }

    /// To a buffer of `k` keys, or of `k` for each row or segment. Where a word on the device says that there are fewer keys, the places
    /// behind those are left as they are.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, largest) = (gpu.upload(&[20u32, 10, 30])?, gpu.alloc(2)?);
    /// gpu.top_k(&x, 2).to(&largest).run()?;
    /// assert_eq!(largest.read()?, [30, 20]);
    ///
    /// // Of the first two keys only.
    /// let n = gpu.upload(&[2u32])?;
    /// gpu.top_k(&x, 2).len_on_device(&n).to(&largest).run()?;
    /// assert_eq!(largest.read()?, [20, 10]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, keys: &Buffer<K, B>) -> Placed<B> {
        let spans = self.keys.spans_to(keys.span());
        self.placed(Wanted::Keys, spans)
    }

    fn request(&self, wanted: Wanted) -> TopKRequest {
        let segments = self.segments.as_ref().map(|(by, _)| by.clone());
        let all = TopKRequest::new(K::TYPE, self.keys.n(), self.k as u64);
        TopKRequest { order: self.order, sorted: self.sorted, wanted, segments, ..all }
    }

    pub(in crate::primitive) fn placed(self, wanted: Wanted, spans: Spans<B>) -> Placed<B> {
        let refusal = self.refusal(&wanted);
        let request = self.request(wanted);
        let bounds = self.segments.map(|(_, bounds)| bounds);
        let placed = match bounds {
            Some(bounds) => bounds.placed(self.device, request, Ok(spans)),
            None => Placed::new(self.device, request, spans),
        };
        placed.reads(Slot::Input, &self.keys).refused(refusal)
    }

    /// Why there are not so many keys, if that is known.
    fn refusal(&self, wanted: &Wanted) -> Option<String> {
        let (most, of) = match &self.segments {
            None => (self.keys.n(), String::new()),
            Some((Segments::Rows(width), _)) if *width > 0 => (*width, "rows of ".into()),
            Some(_) => return None,
        };
        let k = self.k;
        (k as u64 > most).then(|| match wanted {
            Wanted::Last if most == 0 => "nth_element of no keys; bring one at least".into(),
            _ if most == 0 => format!("a top_k of k = {k} of no keys; bring as many at least"),
            Wanted::Last => format!(
                "nth_element at place {} of {of}{most} keys; the first is 0, so ask for {} at most",
                k - 1,
                most.saturating_sub(1)
            ),
            _ => format!("a top_k of k = {k} of {of}{most} keys; ask for {most} at most"),
        })
    }

    /// How many elements are written at most: of a call that is refused none.
    pub(in crate::primitive) fn given_of(&self, wanted: &Wanted) -> Given {
        let each = if *wanted == Wanted::Last { self.k.min(1) } else { self.k };
        let each = if self.refusal(wanted).is_some() { 0 } else { each };
        Given { segments: self.segments.as_ref().map(|(by, _)| by.clone()), each, room: self.keys.len() }
    }

    /// New memory for as many, if there may be so many.
    pub(in crate::primitive) fn alloc<T: Element>(&self, wanted: &Wanted) -> Result<Buffer<T, B>> {
        if self.refusal(wanted).is_none() {
            self.request(wanted.clone()).check()?;
        }
        self.device.alloc(self.given_of(wanted).most())
    }
}

one_output!(TopKCall<K: Key>, K, device; |call| call.outputs());
one_output!(TopKIndicesCall<K: Key>, u32, top.device; |call| call.outputs());

given_results! {
    TopKCall<K: Key>, keys -> Buffer<K, B>, Vec<K>; |call| call.given_of(&Wanted::Keys), {
        let keys = call.alloc(&Wanted::Keys)?;
        call.to(&keys).run_async().await?;
        Ok(keys)
    }
}

/// What is said of the keys may also be said behind what goes beside them.
macro_rules! as_of_keys {
    ($Call:ident<K: Key $(, $V:ident: $Bound:ident)?>) => {
        impl<K: Key, $($V: $Bound,)? B: Backend> $Call<K, $($V,)? B> {
            /// As [`TopKCall::smallest`].
            pub fn smallest(self) -> Self {
                self.in_order(Order::Ascending)
            }

            /// As [`TopKCall::in_order`].
            pub fn in_order(mut self, order: Order) -> Self {
                self.top = self.top.in_order(order);
                self
            }

            /// As [`TopKCall::unsorted`].
            pub fn unsorted(mut self) -> Self {
                self.top = self.top.unsorted();
                self
            }

            /// As [`TopKCall::rows`].
            pub fn rows(mut self, width: usize) -> Self {
                self.top = self.top.rows(width);
                self
            }

            /// As [`TopKCall::segments`].
            pub fn segments<O: Offset>(mut self, offsets: &Buffer<O, B>) -> Self {
                self.top = self.top.segments(offsets);
                self
            }

            /// As [`TopKCall::checked`].
            ///
            /// # Errors
            /// As of it.
            pub fn checked(mut self) -> Result<Self> {
                self.top = self.top.checked()?;
                Ok(self)
            }
        }
    };
}

as_of_keys!(TopKPairsCall<K: Key, V: Element>);
as_of_keys!(TopKIndicesCall<K: Key>);

impl<K: Key, V: Element, B: Backend> TopKPairsCall<K, V, B> {
    /// To buffers of `k` keys and of `k` values or indices, or of `k` for each row or segment.
    ///
    /// ```
    /// # use trifold_core::{TopK, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[20u32, 10, 30])?;
    /// let (keys, indices) = (gpu.alloc(2)?, gpu.alloc(2)?);
    /// gpu.top_k(&x, 2).with_indices().to((&keys, &indices)).run()?;
    /// assert_eq!((keys.read()?, indices.read()?), (vec![30, 20], vec![2, 0]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, (keys, values): (&Buffer<K, B>, &Buffer<V, B>)) -> Placed<B> {
        let spans = self.top.keys.spans_to(keys.span());
        let output_values = Some(values.span().clone());
        match self.values {
            None => self.top.placed(Wanted::KeysAndIndices, Spans { output_values, ..spans }),
            Some(values) => {
                let spans = Spans { output_values, input_values: values.memory().cloned(), ..spans };
                self.top.placed(Wanted::Pairs(V::TYPE), spans).reads(Slot::InputValues, &values)
            }
        }
    }
}

given_results! {
    TopKPairsCall<K: Key, V: Element>, top.keys -> (Buffer<K, B>, Buffer<V, B>), (Vec<K>, Vec<V>); |call| call.top.given(), {
        let (keys, values) = (call.top.alloc(&Wanted::Keys)?, call.top.alloc(&Wanted::Keys)?);
        call.to((&keys, &values)).run_async().await?;
        Ok((keys, values))
    }
}

impl<K: Key, B: Backend> TopKIndicesCall<K, B> {
    /// To a buffer of `k` indices, or of `k` for each row or segment.
    pub fn to(self, indices: &Buffer<u32, B>) -> Placed<B> {
        let spans = self.top.keys.spans_to(indices.span());
        self.top.placed(Wanted::Indices, spans)
    }
}

given_results! {
    TopKIndicesCall<K: Key>, top.keys -> Buffer<u32, B>, Vec<u32>; |call| call.top.given(), {
        let indices = call.top.alloc(&Wanted::Indices)?;
        call.to(&indices).run_async().await?;
        Ok(indices)
    }
}
