//! Top-k: the largest or smallest of keys, in order.

use super::{Form, Label, Operand, Primitive, Varies};
use crate::results::{Results, length, results};
use crate::{
    Backend, Buffer, Device, Element, ElementType, Error, IntoInput, Key, KeyImage, Order, Placed, Result, Scalar,
    Slot, Spans, Transfer, View, block_on,
};

/// The first `k` keys of an order, as they come in it. Of equal keys those with the smaller indices come first.
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
}

impl Wanted {
    /// The type of what goes beside the keys, or instead of them.
    pub fn value(&self) -> Option<&ElementType> {
        match self {
            Wanted::Keys => None,
            Wanted::Pairs(value) => Some(value),
            Wanted::KeysAndIndices | Wanted::Indices => Some(&ElementType::Scalar(Scalar::U32)),
        }
    }

    /// Whether the keys are written.
    pub fn keys(&self) -> bool {
        *self != Wanted::Indices
    }
}

/// Keys of the form that programs offer.
const FORM_K: u64 = 32;

/// The largest keys.
pub static TOP_K: Form = Form {
    varies: Varies::Taken,
    ..Form::new("top_k", "Largest of {}", |key, _, n| {
        Some(TopKRequest::new(ElementType::Scalar(key), n, FORM_K.min(n.max(1))).into())
    })
};

impl TopKRequest {
    /// The `k` largest keys alone.
    pub fn new(key: ElementType, n: u64, k: u64) -> TopKRequest {
        TopKRequest { key, n, k, order: Order::Descending, wanted: Wanted::Keys }
    }

    /// How its keys are ordered: the first has the least image.
    ///
    /// # Errors
    /// As of [`KeyImage::new`].
    pub fn image(&self) -> Result<KeyImage> {
        KeyImage::new(&self.key, self.order)
    }

    /// What one read of the keys moves, and what is read and written of those that are wanted.
    pub(crate) fn moved(&self) -> u64 {
        let key = u64::from(self.key.bytes());
        let value = self.wanted.value().map_or(0, |value| u64::from(value.bytes()));
        let read = if let Wanted::Pairs(_) = self.wanted { value } else { 0 };
        let each = if self.wanted.keys() { key } else { 0 } + value + read;
        self.n.saturating_mul(key).saturating_add(self.k.min(self.n).saturating_mul(each))
    }
}

impl Primitive for TopKRequest {
    fn form(&self) -> &'static Form {
        &TOP_K
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let order = if self.order == Order::Descending { "largest" } else { "smallest" };
        let (value, what) = match &self.wanted {
            Wanted::Keys => (None, None),
            Wanted::Pairs(value) => (Some(value), None),
            Wanted::KeysAndIndices => (None, Some("with_indices")),
            Wanted::Indices => (None, Some("indices")),
        };
        let mut label = Label::new(&[Some(&self.key), value], order, &[what]);
        label.more.push(format!("k={}", self.k).into());
        label
    }

    fn operands(&self) -> Vec<Operand> {
        let keys = |slot, len| Operand::keys(slot, &self.key, len);
        // So few are written that nothing is taken 16 bytes at a time.
        let taken = |slot, element: &ElementType| Operand { packed: false, ..Operand::moved(slot, element, self.k) };
        let mut operands = vec![keys(Slot::Input, self.n)];
        match &self.wanted {
            Wanted::Indices => operands.push(taken(Slot::Output, &ElementType::Scalar(Scalar::U32))),
            _ => operands.push(Operand { packed: false, ..keys(Slot::Output, self.k) }),
        }
        match &self.wanted {
            Wanted::Pairs(value) => operands.extend([
                Operand { packed: false, ..Operand::moved(Slot::InputValues, value, self.n) },
                taken(Slot::OutputValues, value),
            ]),
            Wanted::KeysAndIndices => operands.push(taken(Slot::OutputValues, &ElementType::Scalar(Scalar::U32))),
            Wanted::Keys | Wanted::Indices => {}
        }
        operands
    }

    fn apart(&self) -> Option<&'static str> {
        Some("top_k onto its keys or values, which are still read by then; give it two spans")
    }

    fn check(&self) -> Result<()> {
        match self.k {
            0 => Err(Error::Invalid("a top_k of k = 0; ask for one key at least".into())),
            _ => self.image().map(drop),
        }
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.moved()
    }
}

/// The largest or smallest of keys.
///
/// A sample of the keys says which are likely to be among the first `k`. One read of all keys finds these candidates,
/// and a sort brings them in order. A device that finds too few or too many of them counts the keys' digits, one place
/// after the other, until it has exactly those that are wanted. So the result is exact, whatever the keys are, and the
/// time is that of one read unless somebody chose the keys to mislead the sample.
///
/// Where a large part of the keys is wanted, or there are few keys, all are candidates.
///
/// Equal keys come in the order of their indices, so that every device gives the same result. Floats are ordered by IEEE
/// 754's total order: the largest of all is a NaN whose sign is positive, and +0 is larger than -0.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`] for `k` of 0 or of more than there are keys.
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
        TopKCall { device: self.clone(), keys: keys.into_input(), k, order: Order::Descending }
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
    device: B,
    keys: View<K, B>,
    k: usize,
    order: Order,
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

    /// The keys with the values beside them. There are as many values as keys, of any type.
    pub fn with<X: IntoInput<B>>(self, values: X) -> TopKPairsCall<K, X::Item, B> {
        let values = values.into_input();
        TopKPairsCall { top: TopKCall { keys: self.keys.beside(&values), ..self }, values: Some(values) }
    }

    /// The keys, and where they stand.
    pub fn with_indices(self) -> TopKPairsCall<K, u32, B> {
        TopKPairsCall { top: self, values: None }
    }

    /// Where the keys stand. They themselves are not written.
    pub fn indices(self) -> TopKIndicesCall<K, B> {
        TopKIndicesCall { top: self }
    }

    /// To a buffer of `k` keys. Where a word on the device says that there are fewer keys than `k`, the places behind those are left as
    /// they are.
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
        TopKRequest { order: self.order, wanted, ..TopKRequest::new(K::TYPE, self.keys.n(), self.k as u64) }
    }

    fn placed(self, wanted: Wanted, spans: Spans<B>) -> Placed<B> {
        let request = self.request(wanted);
        let placed = Placed::new(self.device, request, spans).reads(Slot::Input, &self.keys);
        let (n, k) = (self.keys.n(), self.k);
        let too_many = (k as u64 > n).then(|| format!("a top_k of k = {k} of {n} keys; ask for {n} at most"));
        placed.refused(too_many)
    }

    /// New memory for so many elements, which a number of keys on the device may leave unwritten.
    fn alloc<T: Element>(&self) -> Result<Buffer<T, B>> {
        match self.keys.length() {
            Some(_) => Err(Error::Invalid(format!(
                "a top_k to new memory of keys whose number is on the device: there may be fewer than k = {}; use to(&out), \
                 which leaves the places behind them as they are",
                self.k
            ))),
            // A call that is refused needs no room.
            None => self.device.alloc(self.k.min(self.keys.len())),
        }
    }
}

length!(TopKCall<K: Key>, keys);
length!(TopKPairsCall<K: Key, V: Element>, top.keys);
length!(TopKIndicesCall<K: Key>, top.keys);

results! {
    TopKCall<K: Key>::collect, collect_async -> Buffer<K, B>, Vec<K>; |call| {
        let keys = call.alloc()?;
        call.to(&keys).run_async().await?;
        Ok(keys)
    }
}

impl<K: Key, V: Element, B: Backend> TopKPairsCall<K, V, B> {
    /// As [`TopKCall::smallest`].
    pub fn smallest(self) -> Self {
        self.in_order(Order::Ascending)
    }

    /// As [`TopKCall::in_order`].
    pub fn in_order(self, order: Order) -> Self {
        TopKPairsCall { top: self.top.in_order(order), ..self }
    }

    /// To buffers of `k` keys and of `k` values or indices.
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

results! {
    TopKPairsCall<K: Key, V: Element>::collect, collect_async -> (Buffer<K, B>, Buffer<V, B>), (Vec<K>, Vec<V>); |call| {
        let (keys, values) = (call.top.alloc()?, call.top.alloc()?);
        call.to((&keys, &values)).run_async().await?;
        Ok((keys, values))
    }
}

impl<K: Key, B: Backend> TopKIndicesCall<K, B> {
    /// As [`TopKCall::smallest`].
    pub fn smallest(self) -> Self {
        TopKIndicesCall { top: self.top.smallest() }
    }

    /// To a buffer of `k` indices.
    pub fn to(self, indices: &Buffer<u32, B>) -> Placed<B> {
        let spans = self.top.keys.spans_to(indices.span());
        self.top.placed(Wanted::Indices, spans)
    }
}

results! {
    TopKIndicesCall<K: Key>::collect, collect_async -> Buffer<u32, B>, Vec<u32>; |call| {
        let indices = call.top.alloc()?;
        call.to(&indices).run_async().await?;
        Ok(indices)
    }
}
