//! The first element of each run of equal ones: a selection that asks two neighbours.

use std::sync::Arc;

use super::select::Keeps;
use super::selector::Asks;
use super::{Asked, Form, Varies};
use crate::host::{Loops, split};
use crate::results::{Results, length, new_count, results};
use crate::{
    Backend, Block, Buffer, Compacted, Device, Element, ElementType, HostSelector, IntoInput, Placed, Request, Rest,
    Result, Scalar, SelectCall, SelectRequest, Selector, Slot, SpansOf, Transfer, View, block_on, element, for_scalar,
};

/// Loops that keep the first of each run.
struct FirstOfRun;

impl<T: Element> HostSelector for Loops<T, FirstOfRun> {
    unsafe fn count(&self, block: Block) -> usize {
        // SAFETY: the caller's promise.
        let input = unsafe { block.with_before::<T>().elements::<T>() };
        let own = usize::from(!block.follows && block.n > 0);
        own + input.windows(2).filter(|pair| differ(pair[0], pair[1])).count()
    }

    unsafe fn split(&self, block: Block, kept: *mut u8, rest: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { first_of_runs::<T, T>(block, |_, v| v, kept.cast(), rest.cast()) }
    }

    unsafe fn places(&self, block: Block, kept: *mut u32, rest: *mut u32) -> usize {
        // SAFETY: the caller's promise.
        unsafe { first_of_runs::<T, u32>(block, |i, _| i as u32, kept, rest) }
    }
}

/// Writes what is to be of the first elements of runs to `kept`, and of the others to `rest`. Says how many are the first.
///
/// # Safety
/// As of [`HostSelector::split`].
unsafe fn first_of_runs<T: Element, V>(
    block: Block,
    write: impl Fn(usize, T) -> V,
    kept: *mut V,
    rest: *mut V,
) -> usize {
    // SAFETY: the caller's promise.
    let [first, others @ ..] = (unsafe { block.with_before::<T>().elements::<T>() }) else { return 0 };
    // The first is the block's own, or the one before it.
    let own = usize::from(!block.follows);
    if own == 1 {
        // SAFETY: there is room for it.
        unsafe { kept.write(write(0, *first)) };
    }
    let before = std::ptr::from_ref(first);
    // SAFETY: each of the others has an element before it. There is room for them behind what is written.
    unsafe { own + split(others, |i, v| differ(*before.add(i), v), |i, v| write(i + own, v), kept.add(own), rest) }
}

/// Whether two elements' bits are not the same.
fn differ<T: Element>(a: T, b: T) -> bool {
    use bytemuck::{bytes_of, cast};
    match size_of::<T>() {
        4 => cast::<T, u32>(a) != cast::<T, u32>(b),
        8 => cast::<T, u64>(a) != cast::<T, u64>(b),
        _ => bytes_of(&a) != bytes_of(&b),
    }
}

element! {
    /// An element of 128 bits, as kernels move it.
    struct Bits128 { a: u32, b: u32, c: u32, d: u32 }
}

impl Selector {
    /// Keeps the first of each run of elements of the same bits.
    pub fn first_of_run<T: Element>() -> Selector {
        match T::TYPE {
            // No kernel computes with these.
            ElementType::Scalar(Scalar::U128 | Scalar::I128) => Selector::differs_from_before::<Bits128>(),
            _ => Selector::differs_from_before::<T>(),
        }
    }

    fn differs_from_before<T: Element>() -> Selector {
        Selector::asking(Asks::Neighbours, "first_of_run", T::TYPE, Arc::new(Loops::<T, _>::of(FirstOfRun)))
    }

    /// As [`Selector::first_of_run`], of a type that is data.
    pub fn first_of_run_of(scalar: Scalar) -> Selector {
        for_scalar!(scalar, T => Selector::first_of_run::<T>())
    }
}

fn request(scalar: Scalar, n: u64, keeps: Keeps) -> Option<Request> {
    Some(SelectRequest { selector: Selector::first_of_run_of(scalar), n, rest: Rest::Dropped, keeps }.into())
}

/// The first of each run.
pub static UNIQUE: Form = Form {
    varies: Varies::Runs,
    ..Form::new("unique", "Unique of {}", |&Asked { scalar, n, .. }| request(scalar, n, Keeps::Items))
};

/// The first of each run of keys, with its value.
pub static UNIQUE_BY_KEY: Form = Form {
    varies: Varies::Runs,
    ..Form::new("unique_by_key", "Unique of {} keys with values", |&Asked { scalar, n, .. }| {
        request(scalar, n, Keeps::Pairs(u32::TYPE))
    })
};

/// The first of each run of equal elements that lie together. Of a sorted input it gives each element once.
///
/// It is a [selection](crate::Select) of the elements that differ from the one before them. One look-back pass reads each
/// element and writes one for each run. Elements are equal if their bits are. So -0 and +0 differ, and a NaN is equal to
/// one of the same bits.
///
/// The number of runs stays on the device. Where their lengths are wanted too, there is
/// [`run_length_encode`](crate::ReduceByKey::run_length_encode).
///
/// # Errors
/// As of [`Select`](crate::Select).
pub trait Unique: Backend {
    /// The first of each run of equal elements, in their order.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer, Unique};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[7u32, 7, 2, 7])?;
    /// assert_eq!(gpu.unique(&x).read()?, [7, 2, 7]);
    ///
    /// // Each element once, and how many there are, all on the device.
    /// let distinct = gpu.unique(&gpu.sort(&x).collect()?).compact()?;
    /// assert_eq!((distinct.count().read()?, distinct.read()?), (vec![2], vec![2, 7]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn unique<X: IntoInput<Self>>(&self, x: X) -> SelectCall<X::Item, Self> {
        SelectCall::of(self.clone(), x.into_input(), Selector::first_of_run::<X::Item>())
    }

    /// The first key of each run of equal keys, and the value beside it.
    ///
    /// ```
    /// # use trifold_core::{Transfer, Unique};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (keys, values) = (gpu.upload(&[7u32, 7, 2, 7])?, gpu.upload(&[1.0f32, 2.0, 3.0, 4.0])?);
    /// assert_eq!(gpu.unique_by_key(&keys, &values).read()?, (vec![7, 2, 7], vec![1.0, 3.0, 4.0]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn unique_by_key<X: IntoInput<Self>, V: IntoInput<Self>>(
        &self,
        keys: X,
        values: V,
    ) -> UniqueByKeyCall<X::Item, V::Item, Self> {
        let values = values.into_input();
        let keys = keys.into_input().beside(&values, ["keys", "values"]);
        UniqueByKeyCall { device: self.clone(), keys, values, count: None }
    }
}
impl<B: Backend> Unique for B {}

/// A `unique_by_key` whose results have no place yet.
///
/// ```
/// # use trifold_core::{block_on, Transfer, Unique};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (keys, values) = (gpu.upload(&[7u32, 7, 2, 2])?, gpu.upload(&[1u32, 3, 2, 4])?);
/// assert_eq!(gpu.unique_by_key(&keys, &values).read()?, (vec![7, 2], vec![1, 2]));
/// assert_eq!(block_on(gpu.unique_by_key(&keys, &values).read_async())?, (vec![7, 2], vec![1, 2]));
///
/// // To new memory on the device, with their number.
/// let (runs, firsts) = gpu.unique_by_key(&keys, &values).compact()?;
/// assert_eq!((runs.len()?, firsts.len()?), (2, 2));
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.unique_by_key(&keys, &values).len_on_device(&n).read()?, (vec![7], vec![1]));
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to((&keys, &values)), compact() or read()"]
pub struct UniqueByKeyCall<K, V, B: Backend = Device> {
    device: B,
    keys: View<K, B>,
    values: View<V, B>,
    count: Option<Buffer<u32, B>>,
}

impl<K: Element, V: Element, B: Backend> UniqueByKeyCall<K, V, B> {
    /// Writes how many runs there are to this one `u32`.
    ///
    /// ```
    /// # use trifold_core::{Transfer, Unique};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[7u32, 7, 2])?;
    /// let (keys, values, n) = (gpu.alloc(3)?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.unique_by_key(&x, &x).count_to(&n).to((&keys, &values)).run()?;
    /// assert_eq!(n.read()?, [2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count_to(self, count: &Buffer<u32, B>) -> Self {
        UniqueByKeyCall { count: Some(count.clone()), ..self }
    }

    /// To buffers of as many elements as the keys have, as each may be a run. What lies past the last run stays as it is.
    ///
    /// ```
    /// # use trifold_core::{Transfer, Unique};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, keys, values) = (gpu.upload(&[7u32, 7, 2])?, gpu.alloc(3)?, gpu.alloc(3)?);
    /// gpu.unique_by_key(&x, &x).to((&keys, &values)).run()?;
    /// assert_eq!((keys.slice(..2)?.read()?, values.slice(..2)?.read()?), (vec![7, 2], vec![7, 2]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, (keys, values): (&Buffer<K, B>, &Buffer<V, B>)) -> Placed<B> {
        let selector = Selector::first_of_run::<K>();
        let request = SelectRequest { selector, n: self.keys.n(), rest: Rest::Dropped, keeps: Keeps::Pairs(V::TYPE) };
        let spans = SpansOf {
            input_values: self.values.memory().cloned(),
            output_values: Some(values.span().clone()),
            count: self.count.map(|count| count.span().clone()),
            ..self.keys.spans_to(keys.span())
        };
        let placed = Placed::new(self.device, request, spans).reads(Slot::Input, &self.keys);
        placed.reads(Slot::InputValues, &self.values)
    }
}

length!(UniqueByKeyCall<K: Element, V: Element>, keys);

results! {
    UniqueByKeyCall<K: Element, V: Element>::compact, compact_async -> (Compacted<K, B>, Compacted<V, B>), (Vec<K>, Vec<V>); |call| {
        let count = call.count.clone().map_or_else(|| new_count(&call.device), Ok)?;
        let (keys, values) = (call.device.alloc(call.keys.len())?, call.device.alloc(call.keys.len())?);
        call.count_to(&count).to((&keys, &values)).run_async().await?;
        Ok((Compacted::new(keys, count.clone()), Compacted::new(values, count)))
    }
}
