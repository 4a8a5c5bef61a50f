//! Operators of many results, in WGSL and in Rust. A struct's `x` is the operand, its other fields are results.

use std::borrow::Cow;

use trifold_core::{Monoid, element};

pub const U32S: [u32; 12] = [0, 1, 2, 3, 7, 31, 33, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, u32::MAX - 1, u32::MAX];
pub const I32S: [i32; 12] = [0, 1, -1, 2, -3, 33, -33, 100, i32::MAX, i32::MIN, i32::MIN + 1, 0x1234_5678];
pub const U64S: [u64; 11] =
    [0, 1, 2, 3, 65, 1 << 32, u32::MAX as u64, 1 << 63, u64::MAX, u64::MAX - 1, 0x0123_4567_89ab_cdef];
pub const I64S: [i64; 11] =
    [0, 1, -1, 5, -65, 1 << 40, -(1 << 33), i64::MAX, i64::MIN, i64::MIN + 1, 0x0123_4567_89ab_cdef];
pub const F32S: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.5,
    0.1,
    1e-40,
    3e9,
    -3e9,
    5e9,
    2147483520.0,
    1.8446744e19,
    1e30,
    -1e30,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
];
pub const F64S: [f64; 19] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.5,
    0.1,
    1e-310,
    3e9,
    -3e9,
    2147483647.5,
    9.3e18,
    1.9e19,
    1e300,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Every value with every value.
pub fn pairs<V: Copy, T: Copy>(values: &[V], element: impl Fn(V) -> T) -> Vec<(T, T)> {
    values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).map(|(a, b)| (element(a), element(b))).collect()
}

macro_rules! operator {
    ($op:ident for $ty:ty, $identity:expr, $wgsl:expr, |$a:ident, $b:ident| $combine:expr) => {
        impl Monoid<$ty> for $op {
            fn name(&self) -> Cow<'static, str> {
                stringify!($op).into()
            }
            fn text(&self) -> Cow<'static, str> {
                $wgsl.into()
            }
            fn identity(&self) -> $ty {
                $identity
            }
            #[allow(unused_comparisons)]
            fn combine(&self, $a: $ty, $b: $ty) -> $ty {
                $combine
            }
        }
    };
}

/// An operator of a struct: its fields, each with what it is of two operands.
macro_rules! results {
    ($op:ident for $name:ident, $identity:expr, $wgsl:expr, |$a:ident, $b:ident| {$($prepare:tt)*} $($field:ident: $ty:ty = $value:expr,)*) => {
        element! { pub struct $name { $(pub $field: $ty),* } }
        impl $name {
            pub const ZERO: $name = $name { $($field: 0 as $ty),* };
        }
        operator!($op for $name, $identity, $wgsl, |l, r| {
            let ($a, $b) = (l.x, r.x);
            $($prepare)*
            $name { $($field: $value),* }
        });
    };
}

/// Operators of integers.
#[derive(Clone)]
pub struct Arithmetic;

macro_rules! arithmetic {
    ($name:ident, $int:ident, $zero:literal) => {
        results!(Arithmetic for $name, $name {
            x: 1, sum: 2, difference: 3, product: 4, quotient: 5, remainder: 6, left: 7, right: 8, bits: 9, inverse: 10,
            smaller: 11, larger: 12, clamped: 13, size: 14, sign: 15, order: $int::MAX
        }, concat!("
            fn combine(l: T, r: T) -> T {
                let a = l.x;
                let b = r.x;
                var order = select(0", $zero, ", 1", $zero, ", a < b || a == b && b != 3", $zero, ");
                if !(a >= 7", $zero, ") { order |= 2", $zero, "; }
                return T(a, a + b, a - b, a * b, a / b, a % b, a << u32(b), a >> u32(b), (a & b) ^ (a | ~b),
                    0", $zero, " - a, min(a, b), max(a, b), clamp(a, 1", $zero, ", 100", $zero, "), abs(a), sign(a), order);
            }"), |a, b| {}
            x: $int = a,
            sum: $int = a.wrapping_add(b),
            difference: $int = a.wrapping_sub(b),
            product: $int = a.wrapping_mul(b),
            quotient: $int = if b == 0 { a } else { a.wrapping_div(b) },
            remainder: $int = if b == 0 { 0 } else { a.wrapping_rem(b) },
            left: $int = a.wrapping_shl(b as u32),
            right: $int = a.wrapping_shr(b as u32),
            bits: $int = (a & b) ^ (a | !b),
            inverse: $int = a.wrapping_neg(),
            smaller: $int = a.min(b),
            larger: $int = a.max(b),
            clamped: $int = a.clamp(1, 100),
            size: $int = if a < 0 { a.wrapping_neg() } else { a },
            sign: $int = if a < 0 { (0 as $int).wrapping_sub(1) } else { (a > 0) as $int },
            order: $int = (a < b || a == b && b != 3) as $int | if a < 7 { 2 } else { 0 },
        );
    };
}
arithmetic!(UnsignedWords, u32, "u");
arithmetic!(SignedWords, i32, "i");
arithmetic!(UnsignedLongs, u64, "lu");
arithmetic!(SignedLongs, i64, "li");

/// Functions of an integer's bits.
#[derive(Clone)]
pub struct Bits;

macro_rules! bits {
    ($name:ident, $int:ident, $unsigned:ident) => {
        results!(Bits for $name, $name { x: 1, ..$name::ZERO }, "
            fn combine(l: T, r: T) -> T {
                let a = l.x;
                let offset = u32(r.x) & 127u;
                let count = (u32(r.x) >> 3u) & 127u;
                return T(a, countOneBits(a), countLeadingZeros(a), countTrailingZeros(a), reverseBits(a),
                    firstLeadingBit(a), firstTrailingBit(a), extractBits(a, offset, count),
                    insertBits(a, r.x, offset, count), ~a);
            }", |a, b| {
                const WIDTH: u32 = $int::BITS;
                let offset = (b as u32 & 127).min(WIDTH);
                let count = (b as u32 >> 3 & 127).min(WIDTH - offset);
                let magnitude = if $int::MIN != 0 && a < 0 { !a } else { a };
                let mask = ((((1u128 << count) - 1) << offset) & $unsigned::MAX as u128) as $unsigned;
                let put = if count == 0 { 0 } else { (b as $unsigned) << offset } & mask;
            }
            x: $int = a,
            ones: $int = a.count_ones() as $int,
            leading: $int = a.leading_zeros() as $int,
            trailing: $int = a.trailing_zeros() as $int,
            reversed: $int = a.reverse_bits(),
            first: $int = if magnitude == 0 { !0 } else { (WIDTH - 1 - magnitude.leading_zeros()) as $int },
            last: $int = if a == 0 { !0 } else { a.trailing_zeros() as $int },
            extracted: $int = if count == 0 { 0 } else { a << (WIDTH - count - offset) >> (WIDTH - count) },
            inserted: $int = (a as $unsigned & !mask | put) as $int,
            negated: $int = !a,
        );
    };
}
bits!(UnsignedBits, u32, u32);
bits!(SignedBits, i32, u32);
bits!(UnsignedLongBits, u64, u64);
bits!(SignedLongBits, i64, u64);

/// Operators and exact functions of floats.
#[derive(Clone)]
pub struct Floats;

macro_rules! floats {
    ($name:ident, $float:ident, $one:literal) => {
        results!(Floats for $name, $name {
            x: $float::NAN, sum: $float::INFINITY, difference: -0.0, product: 1.0, quotient: 0.1, ..$name::ZERO
        }, concat!("
            fn combine(l: T, r: T) -> T {
                let a = l.x;
                let b = r.x;
                var order = 0.0", $one, ";
                if a < b { order += 1.0", $one, "; }
                if a == b { order += 2.0", $one, "; }
                if a != b { order += 4.0", $one, "; }
                if !(a > b) { order += 8.0", $one, "; }
                return T(a, a + b, a - b, a * b, a / b, a % b, -a, min(a, b), max(a, b), abs(a), floor(a), ceil(a),
                    trunc(a), round(a), fract(a), sign(a), saturate(a), mix(a, b, 0.25", $one, "), step(a, b),
                    smoothstep(0.0", $one, ", 2.0", $one, ", a), fma(a, b, 1.0", $one, "), a * b + a, sqrt(a), order);
            }"), |a, b| {
                let t = ((a - 0.0) / (2.0 - 0.0)).max(0.0).min(1.0);
                let mut order = 0.0;
                if a < b { order += 1.0; }
                if a == b { order += 2.0; }
                if a != b { order += 4.0; }
                if a.partial_cmp(&b) != Some(std::cmp::Ordering::Greater) { order += 8.0; }
            }
            x: $float = a,
            sum: $float = a + b,
            difference: $float = a - b,
            product: $float = a * b,
            quotient: $float = a / b,
            remainder: $float = a % b,
            negated: $float = -a,
            smaller: $float = a.min(b),
            larger: $float = a.max(b),
            size: $float = a.abs(),
            lower: $float = a.floor(),
            upper: $float = a.ceil(),
            whole: $float = a.trunc(),
            near: $float = a.round_ties_even(),
            part: $float = a - a.floor(),
            sign: $float = (a > 0.0) as u8 as $float - (a < 0.0) as u8 as $float,
            saturated: $float = a.max(0.0).min(1.0),
            mixed: $float = a * (1.0 - 0.25) + b * 0.25,
            stepped: $float = if a <= b { 1.0 } else { 0.0 },
            smoothed: $float = t * t * (3.0 - 2.0 * t),
            fused: $float = a.mul_add(b, 1.0),
            unfused: $float = a * b + a,
            root: $float = a.sqrt(),
            order: $float = order,
        );
    };
}
floats!(Singles, f32, "f");
floats!(Doubles, f64, "lf");

/// Conversions, which are Rust's `as`.
#[derive(Clone)]
pub struct Convert;

results!(Convert for FromSingle, FromSingle::ZERO, "
    fn combine(l: T, r: T) -> T {
        let a = l.x;
        return T(i64(a), u64(a), f64(a), a, i32(a), u32(a), bitcast<u32>(a) ^ u32(bool(r.x)));
    }", |a, b| {}
    signed_long: i64 = a as i64,
    unsigned_long: u64 = a as u64,
    widened: f64 = f64::from(a),
    x: f32 = a,
    int_word: i32 = a as i32,
    word: u32 = a as u32,
    bits: u32 = a.to_bits() ^ (b != 0.0) as u32,
);

results!(Convert for FromDouble, FromDouble::ZERO, "
    fn combine(l: T, r: T) -> T {
        let a = l.x;
        return T(a, i64(a), u64(a), bitcast<u64>(a), i32(a), u32(a), f32(a), u32(bool(r.x)));
    }", |a, b| {}
    x: f64 = a,
    signed_long: i64 = a as i64,
    unsigned_long: u64 = a as u64,
    bits: u64 = a.to_bits(),
    int_word: i32 = a as i32,
    word: u32 = a as u32,
    single: f32 = a as f32,
    flag: u32 = (b != 0.0) as u32,
);

results!(Convert for FromInteger, FromInteger::ZERO, "
    fn combine(l: T, r: T) -> T {
        let a = l.x;
        return T(a, u64(a), i64(i32(a)) + i64(u32(r.x)), f64(u64(a)), i32(a), u32(a), f32(a), select(0u, 9u, bool(r.x)));
    }", |a, b| {}
    x: i64 = a,
    word: u64 = a as u64,
    wide: i64 = i64::from(a as i32) + i64::from(b as u32),
    widened: f64 = a as u64 as f64,
    narrow: i32 = a as i32,
    low: u32 = a as u32,
    single: f32 = a as f32,
    flag: u32 = if b != 0 { 9 } else { 0 },
);

/// Functions whose last bits are the library's.
#[derive(Clone)]
pub struct Library;

results!(Library for Transcendental, Transcendental::ZERO, "
    fn combine(l: T, r: T) -> T {
        let a = l.x;
        let c = a / 4.0;
        return T(a, sin(a), cos(a), tan(a), asin(c), acos(c), atan(a), sinh(a), cosh(a), tanh(a), asinh(a), acosh(a + 1.0),
            atanh(c), exp(a), exp2(a), log(a), log2(a), pow(a, r.x), atan2(a, r.x), inverseSqrt(a), radians(a), degrees(a),
            ldexp(a, 3));
    }", |a, b| { let c = a / 4.0; }
    x: f32 = a,
    sin: f32 = a.sin(),
    cos: f32 = a.cos(),
    tan: f32 = a.tan(),
    asin: f32 = c.asin(),
    acos: f32 = c.acos(),
    atan: f32 = a.atan(),
    sinh: f32 = a.sinh(),
    cosh: f32 = a.cosh(),
    tanh: f32 = a.tanh(),
    asinh: f32 = a.asinh(),
    acosh: f32 = (a + 1.0).acosh(),
    atanh: f32 = c.atanh(),
    exp: f32 = a.exp(),
    exp2: f32 = a.exp2(),
    log: f32 = a.ln(),
    log2: f32 = a.log2(),
    pow: f32 = a.powf(b),
    atan2: f32 = a.atan2(b),
    inverse_sqrt: f32 = 1.0 / a.sqrt(),
    radians: f32 = a.to_radians(),
    degrees: f32 = a.to_degrees(),
    ldexp: f32 = a * 8.0,
);

/// Every shape of control flow.
#[derive(Clone)]
pub struct Loops;

operator!(Loops for u32, 5, "
    fn gcd(a: u32, b: u32) -> u32 {
        var x = a;
        var y = b;
        while y != 0u { let r = x % y; x = y; y = r; }
        return x;
    }
    fn classify(x: u32) -> u32 {
        switch x % 7u {
            case 0u, 1u: { return 10u; }
            case 2u: {}
            case 3u: { if x > 10u { break; } return 30u; }
            default: { return 40u; }
        }
        return 50u;
    }
    fn nested(n: u32) -> u32 {
        // A continuing block that needs values of its loop's body, within another's.
        var total = 0u;
        var i = 0u;
        loop {
            let square = i * i;
            if square % 3u == 1u { total ^= square; }
            var j = 0u;
            loop {
                let step = j + square + 1u;
                if step % 5u == 4u { j += 2u; continue; }
                total += step;
                continuing {
                    let twice = step * 2u;
                    j += 1u + (twice & 1u);
                    break if j > 6u || twice > 40u;
                }
            }
            continuing {
                var k = 0u;
                loop {
                    if k > square % 4u { break; }
                    k++;
                }
                i += 1u;
                total += k * square;
                break if i >= n;
            }
        }
        return total;
    }
    fn skips(n: u32) -> u32 {
        var sum = 0u;
        for (var i = 0u; i < n; i++) {
            if i == 3u { continue; }
            if i > 9u { break; }
            var fresh: u32;
            fresh += i;
            { let i = fresh * 2u; sum += i; }
        }
        return sum;
    }
    fn combine(a: u32, b: u32) -> u32 {
        let both = a > 3u && b / a < 9u || !(a == b);
        return (gcd(a, b) ^ classify(a)) + nested(b % 9u) * 31u + skips(a) * u32(both);
    }", |a, b| {
    fn gcd(x: u32, y: u32) -> u32 { if y == 0 { x } else { gcd(y, x % y) } }
    let classify = match a % 7 {
        0 | 1 => 10,
        2 => 50,
        3 if a > 10 => 50,
        3 => 30,
        _ => 40,
    };
    let (mut total, mut i, n) = (0u32, 0u32, b % 9);
    loop {
        let square = i * i;
        if square % 3 == 1 { total ^= square; }
        let mut j = 0;
        loop {
            let step = j + square + 1;
            if step % 5 == 4 { j += 2; } else { total = total.wrapping_add(step); }
            j += 1 + ((step * 2) & 1);
            if j > 6 || step * 2 > 40 { break; }
        }
        i += 1;
        total = total.wrapping_add((square % 4 + 1) * square);
        if i >= n { break; }
    }
    let skips: u32 = (0..a.min(10)).filter(|i| *i != 3).map(|i| 2 * i).sum();
    let quotient = b.checked_div(a).unwrap_or(b);
    let both = a > 3 && quotient < 9 || a != b;
    (gcd(a, b) ^ classify).wrapping_add(total.wrapping_mul(31)).wrapping_add(skips * both as u32)
});

/// Vectors, arrays, structs and pointers.
#[derive(Clone)]
pub struct Memory;

operator!(Memory for u32, 0xffff_ffff, "
    const PRIMES = array<u32, 4>(2u, 3u, 5u, 7u);
    const NONE: vec2<u32> = vec2<u32>();
    const FLAGS = vec4(vec2(true), vec2(false, true));
    struct Inner { v: vec3<u32>, at: array<array<u32, 2>, 2> }
    struct Outer { inner: Inner, flag: bool }
    alias Element = T;
    fn bump(p: ptr<function, u32>, by: u32) -> u32 { *p += by; return *p; }
    fn twice(p: ptr<function, Inner>) { p.v *= 2u; (*p).at[1][0] = bump_third(p); }
    fn bump_third(p: ptr<function, Inner>) -> u32 { let q = &(*p).v; (*q).z += 1u; return (*q).z; }
    fn combine(a: Element, b: T) -> u32 {
        var o: Outer;
        o.inner.v = vec3(a, vec2(b));
        o.inner.v.y ^= PRIMES[b];
        o.inner.at[b & 1u] = array<u32, 2>(a, b);
        twice(&o.inner);
        o.flag = any(o.inner.v.xy == vec2(a) + NONE) || FLAGS[a];
        var list = PRIMES;
        list[i32(a)] = bump(&list[1], b);
        let copy = o.inner;
        o.inner = Inner();
        let i = vec2<i32>(bitcast<i32>(a), -7) / vec2(bitcast<i32>(b), i32(a & 0u));
        var t = select(copy.v, vec3(9u), vec3(o.flag, false, a > b));
        t[b] += u32(all(FLAGS.xyw)) + dot(copy.v, copy.v.zyx) + o.inner.v.x;
        return t.x + 3u * t.y + 5u * t.z + 7u * list[a % 4u] + list[1] + copy.at[1][0] * 11u + copy.at[a][b]
            + bitcast<u32>(i.x + i.y * dot(i, vec2(-1, 2)));
    }", |a, b| {
    let primes = [2u32, 3, 5, 7];
    let third = |i: u32| (i as usize).min(2);
    let mut v = [a, b ^ primes[(b as usize).min(3)], b];
    let mut at = [[0u32; 2]; 2];
    at[(b & 1) as usize] = [a, b];
    v = v.map(|x| x.wrapping_mul(2));
    v[2] = v[2].wrapping_add(1);
    at[1][0] = v[2];
    let flag = v[0] == a || v[1] == a || [true, true, false, true][(a as usize).min(3)];
    let mut list = primes;
    list[1] = list[1].wrapping_add(b);
    list[(a as usize).min(3)] = list[1];
    let divide = |x: i32, y: i32| if y == 0 { x } else { x.wrapping_div(y) };
    let (i, j) = (divide(a as i32, b as i32), -7i32);
    let dot = (0..3).fold(0u32, |sum, k| sum.wrapping_add(v[k].wrapping_mul(v[2 - k])));
    let mut t = [if flag { 9 } else { v[0] }, v[1], if a > b { 9 } else { v[2] }];
    t[third(b)] = t[third(b)].wrapping_add(1).wrapping_add(dot);
    let last = i.wrapping_add(j.wrapping_mul(i.wrapping_neg().wrapping_add(j * 2)));
    [
        t[0], t[1].wrapping_mul(3), t[2].wrapping_mul(5), list[(a % 4) as usize].wrapping_mul(7), list[1],
        at[1][0].wrapping_mul(11), at[(a as usize).min(1)][(b as usize).min(1)], last as u32,
    ].into_iter().fold(0, u32::wrapping_add)
});
