//! Searches: how many elements of a sorted input are before each of another, as a view.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::view::Check;
use crate::{
    Backend, Buffer, Captures, Compacted, IntoInput, Map, NO_PLACE, Rank, Scalar, View, ViewData, element,
    for_computed, for_held,
};

/// Whether one number is before another in sort's order: less, not greater, or greater.
#[derive(Clone)]
struct Before<const SIGN: char>;

const LESS: Before<'<'> = Before;
const NOT_GREATER: Before<'≤'> = Before;
const GREATER: Before<'>'> = Before;

impl<const SIGN: char> Before<SIGN> {
    /// Its name, WGSL's sign for it, and what it is on the host.
    const KIND: (&str, &str, fn(Ordering) -> bool) = match SIGN {
        '<' => ("lower_bound", "<", Ordering::is_lt),
        '≤' => ("upper_bound", "<=", Ordering::is_le),
        '>' => ("falls", ">", Ordering::is_gt),
        _ => panic!("no such comparison"),
    };
}

impl<T: Rank, const SIGN: char> Map<(T, T)> for Before<SIGN> {
    type Output = u32;
    fn name(&self) -> Cow<'static, str> {
        Self::KIND.0.into()
    }
    fn text(&self) -> Cow<'static, str> {
        let sign = Self::KIND.1;
        format!("{}fn map(a: A, b: B) -> U {{ return u32(rank(a) {sign} rank(b)); }}", T::rank_text()).into()
    }
    fn map(&self, (a, b): (T, T)) -> u32 {
        u32::from(Self::KIND.2(a.known_rank().cmp(&b.known_rank())))
    }
}

element! {
    /// The bin of an upper bound among so many edges: the one before it. `NO_PLACE` before the first edge, and from the last on.
    struct BinOfBound { edges: u32 }
}

impl Map<u32> for BinOfBound {
    type Output = u32;
    fn name(&self) -> Cow<'static, str> {
        "bin".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return select(a - 1u, 0xffffffffu, a >= captures.edges); }".into()
    }
    fn map(&self, bound: u32) -> u32 {
        if bound >= self.edges { NO_PLACE } else { bound.wrapping_sub(1) }
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

impl BinOfBound {
    fn by(edges: u64) -> BinOfBound {
        BinOfBound { edges: edges.try_into().unwrap_or(u32::MAX) }
    }
}

/// The bins of numbers by so many edges, for a form: those of a type whose order is computed.
pub(crate) fn binned(scalar: Scalar, edges: u64) -> Option<ViewData> {
    let bin = BinOfBound::by(edges);
    let computed = for_computed!(scalar, T => ViewData::searched::<T, _, _>(edges, NOT_GREATER, bin));
    computed.or_else(|| for_held!(scalar, T => ViewData::searched::<T, _, _>(edges, NOT_GREATER, bin)))
}

impl<T: Rank, B: Backend> View<T, B> {
    /// Of each element the place in a sorted input where it could be inserted before all that are equal: how many elements
    /// there are less.
    ///
    /// The order is that of a [sort](crate::Sort), with NaNs at the ends and -0 before 0. Each element is looked for by
    /// halves, so about log2 of the sorted input's elements are read for it, mostly from the cache. If the input is not
    /// sorted, a place has no meaning, but is one from 0 to its number of elements; [`View::checked`] finds that out. If it
    /// says on the device how many elements it has, that is not read: all of its room is searched.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let sorted = gpu.upload(&[10u32, 20, 20, 30])?;
    /// let x = gpu.upload(&[20u32, 5, 99])?;
    /// assert_eq!(gpu.copy(x.lower_bounds(&sorted)).read()?, [1, 0, 4]);
    /// assert_eq!(gpu.copy(x.upper_bounds(&sorted)).read()?, [3, 0, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn lower_bounds<S: IntoInput<B, Item = T>>(&self, sorted: S) -> View<u32, B> {
        self.found_in(&sorted.into_input(), LESS)
    }

    /// As [`View::lower_bounds`], behind all that are equal: how many elements are less or equal.
    pub fn upper_bounds<S: IntoInput<B, Item = T>>(&self, sorted: S) -> View<u32, B> {
        self.found_in(&sorted.into_input(), NOT_GREATER)
    }

    /// Of each element the number of its bin, for a [histogram](crate::Histogram): bin `i` is from edge `i` on, up to edge
    /// `i + 1` without it. So there is one bin less than there are edges.
    ///
    /// What is before the first edge, and what is not before the last, is in no bin, as is any NaN unless edges are. Its
    /// number is [`NO_PLACE`], past the bins of any histogram. The edges ascend, with -0 before 0; as of
    /// [`View::lower_bounds`], [`View::checked`] makes sure of that. A bin between equal edges stays empty.
    ///
    /// ```
    /// # use trifold_core::{Histogram, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let ages = gpu.upload(&[3u8, 17, 18, 40, 64, 65, 130])?;
    /// let edges = gpu.upload(&[0u8, 18, 65, 120])?;
    /// assert_eq!(gpu.histogram(ages.binned(&edges), 3).read()?, [2, 3, 1]);
    ///
    /// let wrong = gpu.upload(&[0u8, 65, 18, 120])?;
    /// let why = ages.binned(&wrong).checked(&gpu).err().map(|error| error.to_string());
    /// assert!(why.is_some_and(|why| why.contains("element 2 of a sorted input is less than the one before it")));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn binned<E: IntoInput<B, Item = T>>(&self, edges: E) -> View<u32, B> {
        let edges = edges.into_input();
        let bin = BinOfBound::by(edges.n());
        self.found_in(&edges, NOT_GREATER).mapped(bin)
    }

    fn found_in<const SIGN: char>(&self, sorted: &View<T, B>, before: Before<SIGN>) -> View<u32, B> {
        let why =
            |place, _, _| format!("element {place} of a sorted input is less than the one before it; sort it first");
        // All of its room is searched.
        let falls = sorted.clone().uncounted().adjacent().mapped(GREATER);
        self.bounds(sorted, before).checking(Check { of: Arc::new(falls), below: 1, why })
    }
}

macro_rules! bounds {
    ($($Of:ident)*) => {
        $(impl<T: Rank, B: Backend> $Of<T, B> {
            /// As [`View::lower_bounds`].
            pub fn lower_bounds<S: IntoInput<B, Item = T>>(&self, sorted: S) -> View<u32, B> {
                self.into_input().lower_bounds(sorted)
            }

            /// As [`View::upper_bounds`].
            pub fn upper_bounds<S: IntoInput<B, Item = T>>(&self, sorted: S) -> View<u32, B> {
                self.into_input().upper_bounds(sorted)
            }

            /// As [`View::binned`].
            pub fn binned<E: IntoInput<B, Item = T>>(&self, edges: E) -> View<u32, B> {
                self.into_input().binned(edges)
            }
        })*
    };
}
bounds!(Buffer Compacted);
