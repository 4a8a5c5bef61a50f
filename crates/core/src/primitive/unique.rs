//! The first element of each run of equal ones: a selection that asks two neighbours.

use std::sync::Arc;

use super::select::Asks;
use super::{Form, Writes};
use crate::host::{Loops, split};
use crate::{
    Backend, Block, Element, HostSelector, IntoInput, Request, Rest, Scalar, SelectCall, SelectRequest, Selector,
    for_computed, for_held,
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
        if block.n == 0 {
            return 0;
        }
        let (kept, rest) = (kept.cast::<T>(), rest.cast::<T>());
        // SAFETY: the caller's promise.
        let [first, others @ ..] = (unsafe { block.with_before::<T>().elements::<T>() }) else { return 0 };
        let own = usize::from(!block.follows);
        if own == 1 {
            // SAFETY: there is room for it.
            unsafe { kept.write(*first) };
        }
        let before = std::ptr::from_ref(first);
        // SAFETY: each of the others has an element before it. There is room for them behind what is written.
        unsafe { own + split(others, |i, input| differ(*before.add(i), input[i]), kept.add(own), rest) }
    }
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

impl Selector {
    /// Keeps the first of each run of elements of the same bits.
    pub fn first_of_run<T: Element>() -> Selector {
        Selector::asking(Asks::Neighbours, "first_of_run", T::TYPE, Arc::new(Loops::<T, _>::of(FirstOfRun)))
    }

    /// As [`Selector::first_of_run`]; `None` for scalars of 128 bits.
    pub fn first_of_run_of(scalar: Scalar) -> Option<Selector> {
        let held = for_held!(scalar, T => Selector::first_of_run::<T>());
        held.or_else(|| for_computed!(scalar, T => Selector::first_of_run::<T>()))
    }
}

fn request(scalar: Scalar, n: u64) -> Option<Request> {
    Some(SelectRequest { selector: Selector::first_of_run_of(scalar)?, n, rest: Rest::Dropped }.into())
}

/// The first of each run.
pub static UNIQUE: Form = Form { writes: Writes::Runs, ..Form::new("unique", |scalar, _, n| request(scalar, n)) };

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
/// As of [`Select`](crate::Select). Elements of 128 bits are [`Error::Unsupported`](crate::Error::Unsupported);
/// [`run_length_encode`](crate::ReduceByKey::run_length_encode) has them.
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
}
impl<B: Backend> Unique for B {}
