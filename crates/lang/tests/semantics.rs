//! Emitted C means what the operator's Rust does.
//!
//! The system's C and C++ compilers compile it, and it is run. The few functions of OpenCL C and CUDA C that it uses
//! are defined beside it.

use std::borrow::Cow;

mod c;
#[path = "c/halves.rs"]
mod halves;
mod operators;

use c::{check, check_with};
use operators::*;
use trifold_core::{Max, Min, Monoid, Product, Sum};

#[test]
fn integers_32() {
    check::<UnsignedWords, _>(Arithmetic, &pairs(&U32S, |v| UnsignedWords { x: v, ..UnsignedWords::ZERO }));
    check::<SignedWords, _>(Arithmetic, &pairs(&I32S, |v| SignedWords { x: v, ..SignedWords::ZERO }));
}

#[test]
fn integers_64() {
    check::<UnsignedLongs, _>(Arithmetic, &pairs(&U64S, |v| UnsignedLongs { x: v, ..UnsignedLongs::ZERO }));
    check::<SignedLongs, _>(Arithmetic, &pairs(&I64S, |v| SignedLongs { x: v, ..SignedLongs::ZERO }));
}

#[test]
fn bits() {
    check::<UnsignedBits, _>(Bits, &pairs(&U32S, |v| UnsignedBits { x: v, ..UnsignedBits::ZERO }));
    check::<SignedBits, _>(Bits, &pairs(&I32S, |v| SignedBits { x: v, ..SignedBits::ZERO }));
    check::<UnsignedLongBits, _>(Bits, &pairs(&U64S, |v| UnsignedLongBits { x: v, ..UnsignedLongBits::ZERO }));
    check::<SignedLongBits, _>(Bits, &pairs(&I64S, |v| SignedLongBits { x: v, ..SignedLongBits::ZERO }));
}

#[test]
fn floats() {
    check::<Singles, _>(Floats, &pairs(&F32S, |v| Singles { x: v, ..Singles::ZERO }));
    check::<Doubles, _>(Floats, &pairs(&F64S, |v| Doubles { x: v, ..Doubles::ZERO }));
}

#[test]
fn conversions() {
    check::<FromSingle, _>(Convert, &pairs(&F32S, |v| FromSingle { x: v, ..FromSingle::ZERO }));
    check::<FromDouble, _>(Convert, &pairs(&F64S, |v| FromDouble { x: v, ..FromDouble::ZERO }));
    check::<FromInteger, _>(Convert, &pairs(&I64S, |v| FromInteger { x: v, ..FromInteger::ZERO }));
}

/// Variables that begin with a constant that is no scalar.
#[derive(Clone)]
struct Initials;
impl Monoid<u32> for Initials {
    fn name(&self) -> Cow<'static, str> {
        "initials".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "\
        struct Both { low: u32, high: u32 }\n\
        fn combine(a: T, b: T) -> T {\n\
          var w = vec2<u32>(1u, 2u);\n  var k: array<u32, 4> = array(1u, 2u, 3u, 4u);\n\
          var v = vec3(5u) * 2u;\n  var p = Both(7u, 8u);\n\
          if (a > b) {\n    var inner = vec2(3u, 4u);\n    w += inner;\n    inner.x = a;\n    w.y ^= inner.x;\n  }\n\
          w.x += a;\n  k[b & 3u] += b;\n  v.z -= a;\n  p.high *= b;\n\
          return w.x + w.y * k[b & 3u] + v.x + v.z + p.low + p.high;\n}"
            .into()
    }
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        let (mut w, mut k) = ([1_u32, 2], [1_u32, 2, 3, 4]);
        if a > b {
            w = [w[0] + 3, (w[1] + 4) ^ a];
        }
        w[0] = w[0].wrapping_add(a);
        let at = (b & 3) as usize;
        k[at] = k[at].wrapping_add(b);
        let last = 10_u32.wrapping_sub(a);
        let sum = w[0].wrapping_add(w[1].wrapping_mul(k[at]));
        sum.wrapping_add(10).wrapping_add(last).wrapping_add(7).wrapping_add(8_u32.wrapping_mul(b))
    }
}

#[test]
fn variables_that_begin_with_constants() {
    check::<u32, _>(Initials, &pairs(&U32S, |v| v));
}

#[test]
fn library() {
    // The C library's last bits are its own.
    let values = [0.1f32, 0.5, 0.9, 1.0, 1.5, 2.25, 3.0];
    check_with::<Transcendental, _>(Library, &pairs(&values, |x| Transcendental { x, ..Transcendental::ZERO }), 1e-5);
}

#[test]
fn builtins() {
    check::<f32, _>(Min, &pairs(&F32S, |v| v));
    check::<f32, _>(Max, &pairs(&F32S, |v| v));
    check::<f64, _>(Min, &pairs(&F64S, |v| v));
    check::<f64, _>(Max, &pairs(&F64S, |v| v));
    check::<f32, _>(Sum, &pairs(&F32S, |v| v));
    check::<f64, _>(Product, &pairs(&F64S, |v| v));
    check::<i64, _>(Sum, &pairs(&I64S, |v| v));
    check::<i32, _>(Product, &pairs(&I32S, |v| v));
}

#[test]
fn control_flow() {
    let small: Vec<u32> = (0..40).chain(U32S).collect();
    check::<u32, _>(Loops, &pairs(&small, |v| v));
    check::<u32, _>(Memory, &pairs(&small, |v| v));
}
