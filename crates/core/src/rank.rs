//! Where the least or the greatest of some numbers stands: a reduction of ranks and places.

use std::borrow::Cow;

use crate::{
    Captures, Element, Map, Monoid, Number, Op, Reduce, ReduceRequest, ReduceThenCall, Request, Result, Scalar, Then,
    View, ViewData, element, for_computed, for_held,
};

element! {
    /// How a number is ordered among others of up to 32 bits, and where it stands.
    pub struct Ranked { rank: u32, place: u32 }
}

element! {
    /// How a number of 64 bits is ordered among others, and where it stands.
    pub struct Ranked64 { rank: u64, place: u32, unused: u32 }
}

/// A number whose place among others can be found.
pub trait Rank: Number {
    /// Its rank and its place.
    #[doc(hidden)]
    type Ranked: Element;

    /// Its rank as a text has it, which knows halves as `f32`: a signalling NaN of theirs is a quiet one there.
    #[doc(hidden)]
    fn known_rank(self) -> u128;
    /// The rank and the place, such that the first has the least rank, or `last` has.
    #[doc(hidden)]
    fn ranked(self, place: u32, last: bool) -> Self::Ranked;
    /// The text of [`Rank::ranked`], with the number as `b` and its place as `a`.
    #[doc(hidden)]
    fn text(last: bool) -> String;
    /// The text of its rank alone, a function `rank` of a number `b`.
    #[doc(hidden)]
    fn rank_text() -> &'static str;
    /// A request for where the least of so many stands.
    #[doc(hidden)]
    fn least(n: u64) -> Request;
    /// Where the first of the least rank stands, or the last has the least.
    #[doc(hidden)]
    fn placed<B: Reduce>(device: &B, x: View<Self, B>, last: bool) -> ReduceThenCall<Self::Ranked, u32, B>;
}

macro_rules! ranks {
    ($($T:ident known as $Known:ident, $Ranked:ident $word:ident ($value:literal) $flips:literal $(, $unused:literal)?;)*) => {
        $(impl Rank for crate::types::$T {
            type Ranked = $Ranked;

            fn known_rank(self) -> u128 {
                $Known::from(self).rank()
            }

            fn ranked(self, place: u32, last: bool) -> $Ranked {
                let rank = self.known_rank() as $word;
                $Ranked { rank: if last { !rank } else { rank }, place $(, unused: $unused)? }
            }

            fn text(last: bool) -> String {
                let turned = if last { "~" } else { "" };
                let unused = concat!("" $(, ", ", $unused, "u")?);
                format!(
                    "fn map(a: A, b: B) -> U {{ let bits = {}; return U({turned}(bits ^ {}), a{unused}); }}",
                    $value, $flips
                )
            }

            fn rank_text() -> &'static str {
                concat!("fn rank(b: A) -> ", stringify!($word), " { let bits = ", $value, "; return bits ^ ", $flips, "; }\n")
            }

            fn least(n: u64) -> Request {
                let op = Op::of::<$Ranked, _>(First);
                let view = ViewData::mapped_indexed::<Self, _>(ToRank { last: false });
                view.into_request(ReduceRequest { op, n, initial: None }).then(Then::of::<$Ranked, _>(Place))
            }

            fn placed<B: Reduce>(device: &B, x: View<Self, B>, last: bool) -> ReduceThenCall<$Ranked, u32, B> {
                device.reduce(x.mapped_indexed(ToRank { last }), First).then(Place)
            }
        })*
    };
}

// Of fewer bits a text knows the number as one of 32, which is ordered the same.
ranks! {
    u32 known as u32, Ranked u32 ("b") "0u";
    u16 known as u16, Ranked u32 ("b") "0u";
    u8 known as u8, Ranked u32 ("b") "0u";
    i32 known as i32, Ranked u32 ("bitcast<u32>(b)") "0x80000000u";
    i16 known as i16, Ranked u32 ("bitcast<u32>(b)") "0x80000000u";
    i8 known as i8, Ranked u32 ("bitcast<u32>(b)") "0x80000000u";
    f32 known as f32, Ranked u32 ("bitcast<u32>(b)") "select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u)";
    f16 known as f32, Ranked u32 ("bitcast<u32>(b)") "select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u)";
    bf16 known as f32, Ranked u32 ("bitcast<u32>(b)") "select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u)";
    u64 known as u64, Ranked64 u64 ("b") "0lu", 0;
    i64 known as i64, Ranked64 u64 ("bitcast<u64>(b)") "0x8000000000000000lu", 0;
    f64 known as f64, Ranked64 u64 ("bitcast<u64>(b)") "select(0x8000000000000000lu, 0xfffffffffffffffflu, (bits >> 63u) == 1lu)", 0;
}

/// A number as its rank and its place.
#[derive(Clone)]
struct ToRank {
    last: bool,
}

impl<T: Rank> Map<(u32, T)> for ToRank {
    type Output = T::Ranked;
    fn name(&self) -> Cow<'static, str> {
        if self.last { "rank_from_the_last" } else { "rank" }.into()
    }
    fn text(&self) -> Cow<'static, str> {
        T::text(self.last).into()
    }
    fn map(&self, (place, number): (u32, T)) -> T::Ranked {
        number.ranked(place, self.last)
    }
}

/// The lesser rank, and of equal ones the first.
#[derive(Clone)]
struct First;

/// The place of a rank.
#[derive(Clone)]
struct Place;

macro_rules! first {
    ($($Ranked:ident $(($unused:ident))?;)*) => {
        $(impl Monoid<$Ranked> for First {
            fn name(&self) -> Cow<'static, str> {
                "first".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn combine(a: T, b: T) -> T {\n  \
                   if (b.rank < a.rank || (b.rank == a.rank && b.place < a.place)) { return b; }\n  return a;\n}"
                    .into()
            }
            fn identity(&self) -> $Ranked {
                $Ranked { rank: !0, place: !0 $(, $unused: 0)? }
            }
            fn commutes(&self) -> bool {
                true
            }
            fn combine(&self, a: $Ranked, b: $Ranked) -> $Ranked {
                if (b.rank, b.place) < (a.rank, a.place) { b } else { a }
            }
        }

        impl Map<$Ranked> for Place {
            type Output = u32;
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return a.place; }".into()
            }
            fn map(&self, ranked: $Ranked) -> u32 {
                ranked.place
            }
        })*
    };
}
first! {
    Ranked;
    Ranked64 (unused);
}

element! {
    /// A number that is too large, and where it stands, as a rank.
    struct From { least: u32 }
}

impl Map<(u32, u32)> for From {
    type Output = Ranked;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A, b: B) -> U { return U(select(0xffffffffu, a, b >= captures.least), b); }".into()
    }
    fn map(&self, (place, number): (u32, u32)) -> Ranked {
        Ranked { rank: if number >= self.least { place } else { u32::MAX }, place: number }
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

/// Where the first number stands that is no less, and the number.
pub(crate) fn first_from<B: Reduce>(device: &B, x: &View<u32, B>, least: u32) -> Result<Option<(u32, u32)>> {
    let Ranked { rank, place } = device.reduce(x.mapped_indexed(From { least }), First).value()?;
    Ok((rank != u32::MAX).then_some((rank, place)))
}

/// Where the least number stands.
pub(crate) fn arg_min(scalar: Scalar, n: u64) -> Option<Request> {
    fn of<T: Rank>(n: u64) -> Request {
        T::least(n)
    }
    for_held!(scalar, T => of::<T>(n)).or_else(|| for_computed!(scalar, T => of::<T>(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_number_are_its_order() {
        let ranks = |x: f32| (x.ranked(0, false).rank, x.ranked(0, true).rank);
        assert!(ranks(-1.0).0 < ranks(2.0).0 && ranks(-1.0).1 > ranks(2.0).1);
        assert!(ranks(-0.0).0 < ranks(0.0).0);
    }
}
