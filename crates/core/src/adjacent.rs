//! Neighbours: each element beside the one before it, as a view, and how much they differ.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::items::{self, Items};
use crate::types::{bf16, f16};
use crate::viewed::{Leaf, Node, ViewData};
use crate::{
    Backend, Buffer, Compacted, Element, IntoInput, Map, MapText, Scalar, Value, View, for_computed, for_held,
};

/// The place before, and of the first its own.
#[derive(Clone)]
struct Before;

impl Map<u32> for Before {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return max(a, 1u) - 1u; }".into()
    }
    fn map(&self, place: u32) -> u32 {
        place.max(1) - 1
    }
}

impl<T: Element, B: Backend> View<T, B> {
    /// Each element behind the one before it, as a pair to be mapped. The first is behind itself.
    ///
    /// Memory is read at two places for each element. The second read is mostly of what is in the cache.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use trifold_core::{Map, Reduce, Sum, Transfer};
    /// #[derive(Clone)]
    /// struct Rises;
    ///
    /// impl Map<(f32, f32)> for Rises {
    ///     type Output = u32;
    ///     fn text(&self) -> Cow<'static, str> {
    ///         "fn map(a: A, b: B) -> U { return u32(b > a); }".into()
    ///     }
    ///     fn map(&self, (before, own): (f32, f32)) -> u32 {
    ///         u32::from(own > before)
    ///     }
    /// }
    ///
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3.0f32, 1.0, 4.0, 5.0])?;
    /// assert_eq!(gpu.reduce(x.adjacent().mapped(Rises), Sum).value()?, 2);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn adjacent(&self) -> View<(T, T), B> {
        self.neighbours()
    }
}

macro_rules! adjacent {
    ($($Of:ident)*) => {
        $(impl<T: Element, B: Backend> $Of<T, B> {
            /// As [`View::adjacent`].
            pub fn adjacent(&self) -> View<(T, T), B> {
                self.into_input().adjacent()
            }
        })*
    };
}
adjacent!(Buffer Compacted);

/// An element less the one before it, by its place and both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Difference;

macro_rules! difference {
    ($($T:ident $minus:expr;)*) => {
        $(impl Map<(u32, ($T, $T))> for Difference {
            type Output = $T;
            fn name(&self) -> Cow<'static, str> {
                "difference".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A, b: B, c: C) -> U {\n  if (a == 0u) { return c; }\n  return c - b;\n}".into()
            }
            fn map(&self, (place, (before, own)): (u32, ($T, $T))) -> $T {
                const MINUS: fn($T, $T) -> $T = $minus;
                if place == 0 { own } else { MINUS(own, before) }
            }
        })*
    };
}

difference! {
    u8 u8::wrapping_sub;
    i8 i8::wrapping_sub;
    u16 u16::wrapping_sub;
    i16 i16::wrapping_sub;
    u32 u32::wrapping_sub;
    i32 i32::wrapping_sub;
    u64 u64::wrapping_sub;
    i64 i64::wrapping_sub;
    f16 |a, b| f16::from_f32(a.to_f32() - b.to_f32());
    bf16 |a, b| bf16::from_f32(a.to_f32() - b.to_f32());
    f32 |a, b| a - b;
    f64 |a, b| a - b;
}

/// Each of others' values less the one before it, without pairs in memory.
pub(crate) struct DifferenceItems<V>(pub(crate) Arc<dyn Items<V>>);

impl<V: Value> Items<V> for DifferenceItems<V>
where
    Difference: Map<(u32, (V, V)), Output = V>,
{
    unsafe fn at(&self, leaves: &[*const u8], place: usize) -> V {
        // SAFETY: the caller's promise. Memory begins at place 0, so that there are elements before a place that has one.
        let [before, own] = [place.saturating_sub(1), place].map(|place| unsafe { self.0.at(leaves, place) });
        Difference.map((place as u32, (before, own)))
    }

    unsafe fn fill(&self, leaves: &[*const u8], first: usize, values: &mut [MaybeUninit<V>]) {
        let n = values.len();
        // SAFETY: as above.
        unsafe {
            items::in_blocks(&*self.0, leaves, first, n, |start, block| {
                let Some((first_of_block, rest)) = values[start..].split_first_mut() else { return };
                first_of_block.write(self.at(leaves, first + start));
                for (value, pair) in rest.iter_mut().zip(block.windows(2)) {
                    // Any place but the first gives the same.
                    value.write(Difference.map((1, (pair[0], pair[1]))));
                }
            });
        }
    }
}

/// [`Difference`] of a place and of the two nodes of neighbours.
pub(crate) fn difference_node<V: Value>(neighbours: &[Node]) -> Node
where
    Difference: Map<(u32, (V, V))>,
{
    let arguments = [&[Node::Place], neighbours].concat();
    Node::Mapped(Arc::new(MapText::of::<(u32, (V, V)), _>(&Difference)), arguments)
}

/// The element of a node before each, with the view's length of this number.
pub(crate) fn before(node: &Node, length: u8) -> Node {
    let index = Node::Mapped(Arc::new(MapText::of::<u32, _>(&Before)), vec![Node::Place]);
    Node::Gathered { source: Box::new(node.clone()), index: Box::new(index), length }
}

/// The differences of so many numbers.
pub(crate) fn differences(scalar: Scalar, n: u64) -> Option<ViewData> {
    let held = for_held!(scalar, T => of_memory::<T>(n));
    held.or_else(|| for_computed!(scalar, T => of_memory::<T>(n)))
}

fn of_memory<T: Element>(n: u64) -> ViewData
where
    Difference: Map<(u32, (T, T)), Output = T>,
{
    let own = Node::Leaf(0, T::TYPE);
    ViewData {
        node: difference_node::<T>(&[before(&own, 0), own]),
        leaves: vec![Leaf { element: T::TYPE, straight: true }],
        leaf_lengths: vec![],
        lengths: vec![n],
        host: items::erased(Arc::new(DifferenceItems(Arc::new(items::Memory)))),
    }
}
