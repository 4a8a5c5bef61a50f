//! The first element of each run of equal ones: a selection that asks two neighbours.

use std::sync::Arc;

use super::select::Asks;
use crate::host::{Loops, split};
use crate::{Block, Element, HostSelector, Scalar, Selector, for_computed, for_held};

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
