//! Emitted C means what the operator's Rust does: compiled by the system's C and C++ compilers, with the few functions of
//! OpenCL C and CUDA C that it uses defined beside it, and run.

mod c;
mod operators;

use c::{check, check_with};
use operators::*;
use trifold_core::{Max, Min, Product, Sum};

#[test]
fn integers_32() {
    check::<UnsignedWords, Arithmetic>(&pairs(&U32S, |v| UnsignedWords { x: v, ..UnsignedWords::ZERO }));
    check::<SignedWords, Arithmetic>(&pairs(&I32S, |v| SignedWords { x: v, ..SignedWords::ZERO }));
}

#[test]
fn integers_64() {
    check::<UnsignedLongs, Arithmetic>(&pairs(&U64S, |v| UnsignedLongs { x: v, ..UnsignedLongs::ZERO }));
    check::<SignedLongs, Arithmetic>(&pairs(&I64S, |v| SignedLongs { x: v, ..SignedLongs::ZERO }));
}

#[test]
fn bits() {
    check::<UnsignedBits, Bits>(&pairs(&U32S, |v| UnsignedBits { x: v, ..UnsignedBits::ZERO }));
    check::<SignedBits, Bits>(&pairs(&I32S, |v| SignedBits { x: v, ..SignedBits::ZERO }));
    check::<UnsignedLongBits, Bits>(&pairs(&U64S, |v| UnsignedLongBits { x: v, ..UnsignedLongBits::ZERO }));
    check::<SignedLongBits, Bits>(&pairs(&I64S, |v| SignedLongBits { x: v, ..SignedLongBits::ZERO }));
}

#[test]
fn floats() {
    check::<Singles, Floats>(&pairs(&F32S, |v| Singles { x: v, ..Singles::ZERO }));
    check::<Doubles, Floats>(&pairs(&F64S, |v| Doubles { x: v, ..Doubles::ZERO }));
}

#[test]
fn conversions() {
    check::<FromSingle, Convert>(&pairs(&F32S, |v| FromSingle { x: v, ..FromSingle::ZERO }));
    check::<FromDouble, Convert>(&pairs(&F64S, |v| FromDouble { x: v, ..FromDouble::ZERO }));
    check::<FromInteger, Convert>(&pairs(&I64S, |v| FromInteger { x: v, ..FromInteger::ZERO }));
}

#[test]
fn library() {
    // The C library's last bits are its own.
    let values = [0.1f32, 0.5, 0.9, 1.0, 1.5, 2.25, 3.0];
    check_with::<Transcendental, Library>(&pairs(&values, |x| Transcendental { x, ..Transcendental::ZERO }), 1e-5);
}

#[test]
fn builtins() {
    check::<f32, Min>(&pairs(&F32S, |v| v));
    check::<f32, Max>(&pairs(&F32S, |v| v));
    check::<f64, Min>(&pairs(&F64S, |v| v));
    check::<f64, Max>(&pairs(&F64S, |v| v));
    check::<f32, Sum>(&pairs(&F32S, |v| v));
    check::<f64, Product>(&pairs(&F64S, |v| v));
    check::<i64, Sum>(&pairs(&I64S, |v| v));
    check::<i32, Product>(&pairs(&I32S, |v| v));
}

#[test]
fn control_flow() {
    let small: Vec<u32> = (0..40).chain(U32S).collect();
    check::<u32, Loops>(&pairs(&small, |v| v));
    check::<u32, Memory>(&pairs(&small, |v| v));
}
