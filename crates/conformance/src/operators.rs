//! The suite's own operators: what a caller may bring.

use std::borrow::Cow;

use trifold_core::types::{bf16, f16};

use crate::maps::Placed;
use trifold_core::{Captures, Monoid, Op, Predicate, Selector, element};

element! {
    /// x -> a * x + b.
    pub(crate) struct Affine { pub a: u32, pub b: u32 }
}

/// Composition from left to right; does not commute.
#[derive(Clone)]
pub(crate) struct Compose;
impl Monoid<Affine> for Compose {
    fn name(&self) -> Cow<'static, str> {
        "compose".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(l: T, r: T) -> T { return T(l.a * r.a, l.b * r.a + r.b); }".into()
    }
    fn identity(&self) -> Affine {
        Affine { a: 1, b: 0 }
    }
    fn combine(&self, l: Affine, r: Affine) -> Affine {
        Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
    }
}

element! {
    /// Twelve bytes: no power of two, so no element after the first is aligned to 16. Fields may be called as what C declares.
    #[allow(non_snake_case)]
    pub(crate) struct Triple { pub CHAR_BIT: u32, pub image2d_array_t: u32, pub TILE: u32 }
}

/// A sum, a maximum and an exclusive or at once.
#[derive(Clone)]
pub(crate) struct Tally;
impl Monoid<Triple> for Tally {
    fn name(&self) -> Cow<'static, str> {
        "tally".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { return T(a.CHAR_BIT + b.CHAR_BIT, max(a.image2d_array_t, b.image2d_array_t), a.TILE ^ b.TILE); }".into()
    }
    fn identity(&self) -> Triple {
        Triple { CHAR_BIT: 0, image2d_array_t: 0, TILE: 0 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: Triple, b: Triple) -> Triple {
        Triple {
            CHAR_BIT: a.CHAR_BIT.wrapping_add(b.CHAR_BIT),
            image2d_array_t: a.image2d_array_t.max(b.image2d_array_t),
            TILE: a.TILE ^ b.TILE,
        }
    }
}

element! {
    /// A key of several fields: they are compared in this order, the last one's larger values first.
    pub(crate) struct Fields {
        #[key] pub low: i32,
        pub moved: f32,
        #[key(descending)] pub high: f32
    }
}

element! {
    /// A key of 16 bytes, of a wide field and one that only moves.
    pub(crate) struct Stamped {
        #[key(descending)] pub time: u64,
        #[key] pub level: u32,
        pub id: u32
    }
}

element! {
    /// A key whose fields share words, in memory and in its image.
    pub(crate) struct Tagged {
        #[key] pub class: u8,
        pub flags: i8,
        #[key(descending)] pub weight: bf16,
        #[key] pub time: i32
    }
}

element! {
    /// A key of two bytes.
    pub(crate) struct Pair { #[key(descending)] pub first: i8, #[key] pub second: u8 }
}

element! {
    /// A value of no whole words.
    pub(crate) struct Rgb { pub r: u8, pub g: u8, pub b: u8 }
}

element! {
    /// A key of more words than a narrow workgroup has invocations.
    pub(crate) struct Long {
        pub w0: u32, pub w1: u32, pub w2: u32, pub w3: u32, pub w4: u32, pub w5: u32, pub w6: u32, pub w7: u32,
        pub w8: u32, pub w9: u32, pub w10: u32, pub w11: u32, pub w12: u32, pub w13: u32, pub w14: u32, pub w15: u32,
        pub w16: u32, pub w17: u32, pub w18: u32, pub w19: u32, pub w20: u32, pub w21: u32, pub w22: u32, pub w23: u32,
        pub w24: u32, pub w25: u32, pub w26: u32, pub w27: u32, pub w28: u32, pub w29: u32, pub w30: u32, pub w31: u32,
        pub w32: u32
    }
}

element! {
    /// Fields of three types and two sizes.
    pub(crate) struct Mixed { pub count: u64, pub peak: f32, pub mask: u32 }
}

/// A 64-bit sum, a float maximum and an or at once.
#[derive(Clone)]
pub(crate) struct Merge;
impl Monoid<Mixed> for Merge {
    fn name(&self) -> Cow<'static, str> {
        "merge".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { return T(a.count + b.count, max(a.peak, b.peak), a.mask | b.mask); }".into()
    }
    fn identity(&self) -> Mixed {
        Mixed { count: 0, peak: -2.0, mask: 0 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: Mixed, b: Mixed) -> Mixed {
        Mixed { count: a.count.wrapping_add(b.count), peak: a.peak.max(b.peak), mask: a.mask | b.mask }
    }
}

element! {
    /// A closed interval.
    pub(crate) struct Interval { pub low: f32, pub high: f32 }
}

/// The smallest interval around two.
#[derive(Clone)]
pub(crate) struct Hull;
impl Monoid<Interval> for Hull {
    fn name(&self) -> Cow<'static, str> {
        "hull".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { return T(min(a.low, b.low), max(a.high, b.high)); }".into()
    }
    fn identity(&self) -> Interval {
        Interval { low: 2.0, high: -2.0 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: Interval, b: Interval) -> Interval {
        Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
    }
}

element! {
    /// Words of two sizes, aligned to the larger, a 64-bit float among them.
    pub(crate) struct Wide { pub high: f64, pub count: u32, pub low: i32 }
}

/// A float maximum, a sum and a minimum at once. For texts alone: few devices of the suite have f64.
#[derive(Clone)]
pub(crate) struct Widest;
impl Monoid<Wide> for Widest {
    fn name(&self) -> Cow<'static, str> {
        "widest".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { return T(max(a.high, b.high), a.count + b.count, min(a.low, b.low)); }".into()
    }
    fn identity(&self) -> Wide {
        Wide { high: f64::MIN, count: 0, low: i32::MAX }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: Wide, b: Wide) -> Wide {
        Wide { high: a.high.max(b.high), count: a.count.wrapping_add(b.count), low: a.low.min(b.low) }
    }
}

/// A sum that relies on what WGSL defines and devices' instructions do not:
///
/// - `a / 0` is `a`, and `a % 0` is 0.
/// - The lowest integer divided by -1 is itself.
/// - An index out of bounds stays within its array.
#[derive(Clone)]
pub(crate) struct Guarded;
impl Monoid<i32> for Guarded {
    fn name(&self) -> Cow<'static, str> {
        "guarded".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn combine(a: T, b: T) -> T {\n  let zero = a ^ a;\n  let sum = a / zero + b + a % zero;\n\
          let again = sum / (zero - 1) / (zero - 1);\n  var sums = array<i32, 2>(again, again);\n  return sums[a | 2];\n}".into()
    }
    fn identity(&self) -> i32 {
        0
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
}

/// Every element.
#[derive(Clone)]
pub(crate) struct All;
impl Predicate<u32> for All {
    fn name(&self) -> Cow<'static, str> {
        "all".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return true; }".into()
    }
    fn keep(&self, _: u32) -> bool {
        true
    }
}

/// No element.
#[derive(Clone)]
pub(crate) struct Nothing;
impl Predicate<u32> for Nothing {
    fn name(&self) -> Cow<'static, str> {
        "nothing".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return false; }".into()
    }
    fn keep(&self, _: u32) -> bool {
        false
    }
}

/// The upper half: every second element of alternating ones.
#[derive(Clone)]
pub(crate) struct Upper;
macro_rules! upper {
    ($($T:ident, $middle:expr, $wgsl:literal;)*) => {
        $(impl Predicate<$T> for Upper {
            fn name(&self) -> Cow<'static, str> {
                "upper".into()
            }
            fn text(&self) -> Cow<'static, str> {
                concat!("fn keep(v: T) -> bool { return v >= ", $wgsl, "; }").into()
            }
            fn keep(&self, v: $T) -> bool {
                v >= $middle
            }
        })*
    };
}
upper! {
    u32, 1 << 31, "0x80000000u";
    f32, 0.0, "0.0";
    u8, 1 << 7, "128u";
    i8, -3, "-3i";
    u16, 1 << 15, "32768u";
    i16, 0, "0i";
    f16, f16::ZERO, "0.0";
    bf16, bf16::ZERO, "0.0";
}

/// One element of 16, by chance.
#[derive(Clone)]
pub(crate) struct Few;
impl Predicate<u64> for Few {
    fn name(&self) -> Cow<'static, str> {
        "few".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return (v >> 32u) % 16lu == 3lu; }".into()
    }
    fn keep(&self, v: u64) -> bool {
        (v >> 32) % 16 == 3
    }
}

/// A struct's fields, a constant, a helper and a loop, with names of the kernels' own; one element of two, by chance.
#[derive(Clone)]
pub(crate) struct OddBits;
impl Predicate<Triple> for OddBits {
    fn name(&self) -> Cow<'static, str> {
        "odd_bits".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        const ROWS: u32 = 2u;\n\
        fn lookback(v: Triple) -> u32 {\n  var bits = v.CHAR_BIT ^ v.image2d_array_t;\n\
          for (var i = 0u; i < ROWS; i++) { bits ^= bits >> (16u >> i); }\n  return bits ^ v.TILE;\n}\n\
        fn keep(v: T) -> bool {\n  return (lookback(v) & 1u) != 0u;\n}"
            .into()
    }
    fn keep(&self, v: Triple) -> bool {
        let bits = v.CHAR_BIT ^ v.image2d_array_t;
        let bits = bits ^ (bits >> 16);
        let bits = bits ^ (bits >> 8);
        (bits ^ v.TILE) & 1 == 1
    }
}

/// Any float as integers: out of range the nearest, of NaN 0.
#[derive(Clone)]
pub(crate) struct Converted;
impl Predicate<u32> for Converted {
    fn name(&self) -> Cow<'static, str> {
        "converted".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn keep(v: T) -> bool {\n  let f = bitcast<f32>(v);\n  let both = vec2<i32>(vec2(-f, f));\n\
          let bits = u32(f) ^ bitcast<u32>(both.x) ^ (u32(i32(f)) << 1u) ^ u32(both.y == 0);\n\
          return (countOneBits(bits * 0x9e3779b9u) & 1u) == 1u;\n}"
            .into()
    }
    fn keep(&self, v: u32) -> bool {
        let f = f32::from_bits(v);
        let bits = f as u32 ^ (-f) as i32 as u32 ^ (f as i32 as u32) << 1 ^ u32::from(f as i32 == 0);
        bits.wrapping_mul(0x9e37_79b9).count_ones() % 2 == 1
    }
}
impl Predicate<f64> for Converted {
    fn name(&self) -> Cow<'static, str> {
        "converted".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn keep(v: T) -> bool {\n  let f = v * 2e19lf;\n\
          let bits = u64(f) ^ bitcast<u64>(i64(f)) ^ u64(u32(f)) ^ bitcast<u64>(i64(i32(-f)));\n\
          return (countOneBits(u32(bits >> 32u) ^ u32(bits)) & 1u) == 1u;\n}"
            .into()
    }
    fn keep(&self, v: f64) -> bool {
        let f = v * 2e19;
        let bits = f as u64 ^ f as i64 as u64 ^ u64::from(f as u32) ^ i64::from((-f) as i32) as u64;
        bits.count_ones() % 2 == 1
    }
}

/// What a loop's body has named, when its `continuing` has changed what it was named after.
#[derive(Clone)]
pub(crate) struct Continuing;
impl Predicate<u32> for Continuing {
    fn name(&self) -> Cow<'static, str> {
        "continuing".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn keep(v: T) -> bool {\n  var o = 0u;\n  var i = 0u;\n  loop {\n    let q = i;\n    if (i == (v & 7u)) { break; }\n\
            continuing { i += 1u; o += q; }\n  }\n  return (o & 1u) == 1u;\n}".into()
    }
    fn keep(&self, v: u32) -> bool {
        (0..v & 7).sum::<u32>() % 2 == 1
    }
}

/// Indices, divisors and shifts out of their bounds.
#[derive(Clone)]
pub(crate) struct OutOfBounds;
impl Predicate<u32> for OutOfBounds {
    fn name(&self) -> Cow<'static, str> {
        "out_of_bounds".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        fn keep(v: T) -> bool {\n  var places = array<u32, 5>(0u, 1u, 0u, 1u, 3u);\n  let lanes = vec3(1u, 0u, v >> 9u);\n\
          let near = v >> 29u;\n  places[near] += lanes[v >> 30u] + lanes[v];\n  places[bitcast<i32>(v)] ^= places[near];\n\
          var divided = vec2(v, near) / (vec2(near) >> vec2(2u));\n  divided.y %= near & 3u;\n  divided.x <<= near << 3u;\n\
          return ((places[1] + places[4] + divided.x + divided.y) & 1u) == 1u;\n}".into()
    }
    fn keep(&self, v: u32) -> bool {
        let (mut places, lanes, near) = ([0, 1, 0, 1, 3], [1, 0, v >> 9], v >> 29);
        let last = |index: u32, count: usize| (index as usize).min(count - 1);
        let added = u32::wrapping_add(lanes[last(v >> 30, 3)], lanes[last(v, 3)]);
        places[last(near, 5)] = u32::wrapping_add(places[last(near, 5)], added);
        places[last(v, 5)] ^= places[last(near, 5)];
        let by = near >> 2;
        let divided = [v.checked_div(by).unwrap_or(v), near.checked_div(by).unwrap_or(near)];
        let sum = divided[0].wrapping_shl(near << 3).wrapping_add(divided[1].checked_rem(near & 3).unwrap_or(0));
        u32::wrapping_add(places[1], places[4]).wrapping_add(sum) % 2 == 1
    }
}

/// Floats with the sign bit, NaNs and zeros among them, of which no comparison tells.
#[derive(Clone)]
pub(crate) struct Signed;
macro_rules! signed {
    ($($T:ident)*) => {
        $(impl Predicate<$T> for Signed {
            fn name(&self) -> Cow<'static, str> {
                "signed".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn keep(v: T) -> bool { return bitcast<u32>(v) >> 31u == 1u; }".into()
            }
            fn keep(&self, v: $T) -> bool {
                v.is_sign_negative()
            }
        })*
    };
}
signed!(f32 f16 bf16);

/// The predicates, erased: of one word, of two, and of a struct.
/// Selections by neighbours: of parts of words, words, two words and several fields.
pub(crate) fn first_of_runs() -> [Selector; 7] {
    [
        Selector::first_of_run::<u32>(),
        Selector::first_of_run::<u8>(),
        Selector::first_of_run::<f32>(),
        Selector::first_of_run::<Triple>(),
        Selector::first_of_run::<u64>(),
        Selector::first_of_run::<f16>(),
        Selector::first_of_run::<u128>(),
    ]
}

pub(crate) fn selectors() -> [Selector; 12] {
    [
        Selector::of::<u8, _>(Upper),
        Selector::of::<i8, _>(Upper),
        Selector::of::<u16, _>(Upper),
        Selector::of::<i16, _>(Upper),
        Selector::of::<f16, _>(Upper),
        Selector::of::<bf16, _>(Upper),
        Selector::of::<u32, _>(Upper),
        Selector::of::<u32, _>(All),
        Selector::of::<u32, _>(Nothing),
        Selector::of::<f32, _>(Upper),
        Selector::of::<u64, _>(Few),
        Selector::of::<Triple, _>(OddBits),
    ]
}

element! {
    /// a + b + by a b, from 0 on: 1 + by (a + b + by a b) = (1 + by a) (1 + by b). A helper reads the number.
    pub(crate) struct Bent { pub by: u32 }
}
impl Monoid<u32> for Bent {
    fn text(&self) -> Cow<'static, str> {
        "fn bend(v: u32) -> u32 { return captures.by * v; }\nfn combine(a: T, b: T) -> T { return a + b + bend(a) * b; }".into()
    }
    fn identity(&self) -> u32 {
        0
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b).wrapping_add(self.by.wrapping_mul(a).wrapping_mul(b))
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

element! {
    /// Floats above a limit.
    pub(crate) struct Above { pub limit: f32 }
}
impl Predicate<f32> for Above {
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return v > captures.limit; }".into()
    }
    fn keep(&self, v: f32) -> bool {
        v > self.limit
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

element! {
    /// Numbers whose low bits lie between two. Fields of several sizes, not all of them read.
    pub(crate) struct Between { pub mask: u64, pub low: u32, pub high: u32, pub unused: f32, pub last: i32 }
}
impl Predicate<u64> for Between {
    fn text(&self) -> Cow<'static, str> {
        "fn inside(v: u32) -> bool { return captures.low <= v && v < captures.high; }\n\
         fn keep(v: T) -> bool { return inside(u32(v & captures.mask)) || captures.last == i32(v & 1lu); }"
            .into()
    }
    fn keep(&self, v: u64) -> bool {
        (self.low..self.high).contains(&((v & self.mask) as u32)) || self.last == (v & 1) as i32
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

/// Predicates that bring numbers, erased: two of one kernel, and one of several fields.
pub(crate) fn capturing_selectors() -> [Selector; 3] {
    let between = Between { mask: 0xff, low: 40, high: 90, unused: 0.5, last: 7 };
    [
        Selector::of::<f32, _>(Above { limit: 0.25 }),
        Selector::of::<f32, _>(Above { limit: 0.75 }),
        Selector::of::<u64, _>(between),
    ]
}

/// All that run on devices, erased.
pub(crate) fn own() -> [Op; 5] {
    [compose(), tally(), Op::of::<Mixed, _>(Merge), Op::of::<Interval, _>(Hull), bent(3)]
}

/// The guarded sum, erased.
pub(crate) fn guarded() -> Op {
    Op::of::<i32, _>(Guarded)
}

/// Composition, erased.
pub(crate) fn compose() -> Op {
    Op::of::<Affine, _>(Compose)
}

/// A sum that brings a number, erased.
pub(crate) fn bent(by: u32) -> Op {
    Op::of::<u32, _>(Bent { by })
}

/// The tally, erased.
pub(crate) fn tally() -> Op {
    Op::of::<Triple, _>(Tally)
}

/// Of two values the one that stands later.
#[derive(Clone)]
pub(crate) struct Latest;
impl Monoid<Placed> for Latest {
    fn name(&self) -> Cow<'static, str> {
        "latest".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { if (b.place >= a.place) { return b; } return a; }".into()
    }
    fn identity(&self) -> Placed {
        Placed { value: 0.0, place: 0 }
    }
    fn combine(&self, a: Placed, b: Placed) -> Placed {
        if b.place >= a.place { b } else { a }
    }
}

pub(crate) fn latest() -> Op {
    Op::of::<Placed, _>(Latest)
}

/// What stands at an odd place.
#[derive(Clone)]
pub(crate) struct OddPlace;
impl Predicate<Placed> for OddPlace {
    fn name(&self) -> Cow<'static, str> {
        "odd_place".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: Placed) -> bool { return v.place % 2u == 1u; }".into()
    }
    fn keep(&self, v: Placed) -> bool {
        v.place % 2 == 1
    }
}
