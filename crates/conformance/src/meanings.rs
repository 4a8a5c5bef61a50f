//! Predicates whose meaning not every compiler of WGSL sees to.

use std::borrow::Cow;

use trifold_core::{Predicate, Selector};

use crate::operators::{Continuing, Converted, OutOfBounds};

/// All of them, erased.
pub(crate) fn guarded_selectors() -> [Selector; 11] {
    [
        Selector::of::<u32, _>(Converted),
        Selector::of::<f64, _>(Converted),
        Selector::of::<u32, _>(Continuing),
        Selector::of::<u32, _>(OutOfBounds),
        Selector::of::<i32, _>(Remainders),
        Selector::of::<i64, _>(Remainders),
        Selector::of::<f32, _>(Differs),
        Selector::of::<f64, _>(Differs),
        Selector::of::<i64, _>(Widened),
        Selector::of::<u64, _>(Bits),
        Selector::of::<i64, _>(Bits),
    ]
}

/// A predicate: its types with a text each, and its Rust.
macro_rules! predicate {
    ($(#[$doc:meta])* $Name:ident, $name:literal, $($T:ty: $text:expr),+; |$v:ident| $keep:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        struct $Name;
        $(impl Predicate<$T> for $Name {
            fn name(&self) -> Cow<'static, str> {
                $name.into()
            }
            fn text(&self) -> Cow<'static, str> {
                $text.into()
            }
            fn keep(&self, $v: $T) -> bool {
                $keep
            }
        })+
    };
}

predicate!(
    /// By remainders of what is below 0.
    Remainders, "remainders",
    i32: "fn keep(v: T) -> bool { let three = vec2(v, -v) % 3i; return v % 7i == -3i || three.x % select(3i, v, v > 9i) == 1i; }",
    i64: "fn keep(v: T) -> bool { let three = v % 3li; return v % 7li == -3li || three % select(3li, v, v > 9li) == 1li; }";
    |v| v % 7 == -3 || v % 3 % (if v > 9 { v } else { 3 }) == 1
);

predicate!(
    /// All but two numbers: NaN differs from itself.
    Differs, "differs",
    f32: "fn keep(v: T) -> bool { return v != v || (v != 1.0 && all(vec2(v) != vec2(0.5, 0.25))); }",
    f64: "fn keep(v: T) -> bool { return v != v || (v != 1.0lf && v != 0.5lf && v != 0.25lf); }";
    |v| v.is_nan() || (v != 1.0 && v != 0.5 && v != 0.25)
);

predicate!(
    /// Where 32 bits widen as unsigned and as signed ones alike.
    Widened, "widened",
    i64: "\
        fn keep(v: T) -> bool {\n  let as_signed = u64(i32(v));\n  let as_unsigned = i64(u32(v));\n  \
          let both = vec2<u64>(vec2(i32(v)));\n  return bitcast<u64>(as_unsigned) == as_signed && both.x == u64(as_unsigned);\n}";
    |v| v as i32 >= 0
);

/// By every function of 64 bits.
#[derive(Clone)]
struct Bits;

macro_rules! bits {
    ($T:ident, |$v:ident| $magnitude:expr) => {
        impl Predicate<$T> for Bits {
            fn name(&self) -> Cow<'static, str> {
                "bits".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "\
                fn keep(v: T) -> bool {\n\
                  let counts = countOneBits(v) + countTrailingZeros(v) * 3 + countLeadingZeros(v << 2u) * 5;\n\
                  let places = firstLeadingBit(v) ^ firstTrailingBit(v >> 3u) ^ firstLeadingBit(~(v >> 40u));\n\
                  let parts = extractBits(v, 9u, 40u) ^ extractBits(v, 60u, 9u) ^ extractBits(v, 70u, 3u);\n\
                  let other = insertBits(v, reverseBits(v), 20u, 30u) ^ insertBits(v, ~v, 64u, 2u);\n\
                  let two = countTrailingZeros(vec2(counts, parts)) + insertBits(vec2(v), vec2(other, places), 5u, 50u);\n\
                  let all = u64(counts ^ places ^ parts ^ other ^ two.x ^ two.y);\n\
                  return sign(countOneBits(u32(all >> 32u) ^ u32(all)) & 1u) == 1u;\n}"
                    .into()
            }
            fn keep(&self, v: $T) -> bool {
                let zero: $T = 0;
                let count = |count: u32| count as $T;
                let leading = |$v: $T| {
                    let v: $T = $magnitude;
                    if v == 0 { !zero } else { count(63 - v.leading_zeros()) }
                };
                let trailing = |v: $T| if v == 0 { !zero } else { count(v.trailing_zeros()) };
                let part = |first: u32, length: u32| v << (64 - first - length) >> (64 - length);
                let with = |bits: $T, first: u32, length: u32| {
                    let mask = (!0u64 >> (64 - length) << first) as $T;
                    (v & !mask) | ((bits << first) & mask)
                };
                let counts = count(v.count_ones()) + count(v.trailing_zeros()) * 3 + count((v << 2).leading_zeros()) * 5;
                let places = leading(v) ^ trailing(v >> 3) ^ leading(!(v >> 40));
                let parts = part(9, 40) ^ part(60, 4);
                let other = with(v.reverse_bits(), 20, 30) ^ v;
                let two = [(counts, other), (parts, places)];
                let two = two.map(|(a, b)| count(a.trailing_zeros()).wrapping_add(with(b, 5, 50)));
                (counts ^ places ^ parts ^ other ^ two[0] ^ two[1]).count_ones() % 2 == 1
            }
        }
    };
}

bits!(u64, |v| v);
bits!(i64, |v| if v < 0 { !v } else { v });
