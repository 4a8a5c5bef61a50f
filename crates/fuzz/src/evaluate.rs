//! What WGSL's operations give, as trifold-lang's documentation promises it. Values are their bits.

use trifold_core::{Number, Scalar, ScalarKind, for_computed};

/// Operations of two operands of a type, by their sign or name. The smaller of NaN and a number is open, as is a remainder of floats'
/// last bits.
pub fn binaries(scalar: Scalar) -> &'static [&'static str] {
    let all = &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "min", "max"];
    if scalar.is_float() { &all[..4] } else { all }
}

/// Whether an operation's right side is a `u32`.
pub fn shifts(op: &str) -> bool {
    matches!(op, "<<" | ">>")
}

pub fn binary_text(op: &str, left: &str, right: &str) -> String {
    match op {
        "min" | "max" => format!("{op}({left}, {right})"),
        _ => format!("({left} {op} {right})"),
    }
}

/// Operations of one operand of a type, by their sign or name.
pub fn unaries(scalar: Scalar) -> &'static [&'static str] {
    match scalar.kind() {
        ScalarKind::Unsigned => &["~"],
        ScalarKind::Signed => &["~", "-", "abs"],
        ScalarKind::Float => &["-", "abs", "floor", "trunc"],
    }
}

pub fn unary_text(op: &str, inner: &str) -> String {
    match op {
        "~" | "-" => format!("({op}({inner}))"),
        _ => format!("{op}({inner})"),
    }
}

/// What is drawn is of such scalars.
const COMPUTED: &str = "kernels compute with it";

/// Runs an expression with the values of the bits, as integers or as floats of the type.
macro_rules! with_values {
    ($scalar:expr, ($($x:ident),*), $integer:expr, $float:expr) => {
        for_computed!(
            $scalar,
            integer T => { $(let $x = T::of_bits($x.into());)* $integer },
            float T => { $(let $x = T::of_bits($x.into());)* $float }
        )
        .expect(COMPUTED)
    };
}

pub fn binary(scalar: Scalar, op: &str, x: u64, y: u64) -> u64 {
    let by = y as u32;
    with_values!(
        scalar,
        (x, y),
        match op {
            "+" => x.wrapping_add(y),
            "-" => x.wrapping_sub(y),
            "*" => x.wrapping_mul(y),
            "/" => x.checked_div(y).unwrap_or(x),
            "%" => x.checked_rem(y).unwrap_or(0),
            "&" => x & y,
            "|" => x | y,
            "^" => x ^ y,
            "<<" => x.wrapping_shl(by),
            ">>" => x.wrapping_shr(by),
            "min" => x.min(y),
            _ => x.max(y),
        }
        .bits() as u64,
        match op {
            "+" => x + y,
            "-" => x - y,
            "*" => x * y,
            "/" => x / y,
            _ => unreachable!("not of floats"),
        }
        .bits() as u64
    )
}

pub fn unary(scalar: Scalar, op: &str, x: u64) -> u64 {
    with_values!(
        scalar,
        (x),
        match op {
            "-" => (!x).wrapping_add(1),
            "~" => !x,
            "abs" => {
                #[allow(unused_comparisons)]
                if x < 0 { (!x).wrapping_add(1) } else { x }
            }
            _ => unreachable!("not of integers"),
        }
        .bits() as u64,
        match op {
            "-" => -x,
            "abs" => x.abs(),
            "floor" => x.floor(),
            "trunc" => x.trunc(),
            _ => unreachable!("not of floats"),
        }
        .bits() as u64
    )
}

pub fn convert(to: Scalar, from: Scalar, x: u64) -> u64 {
    let converted =
        for_computed!(from, F => { let x = F::of_bits(x.into()); for_computed!(to, T => (x as T).bits() as u64) });
    converted.flatten().expect(COMPUTED)
}

pub fn compare(scalar: Scalar, comparison: &str, x: u64, y: u64) -> bool {
    macro_rules! compared {
        ($x:ident, $y:ident) => {
            match comparison {
                "<" => $x < $y,
                "<=" => $x <= $y,
                ">" => $x > $y,
                ">=" => $x >= $y,
                "==" => $x == $y,
                _ => $x != $y,
            }
        };
    }
    with_values!(scalar, (x, y), compared!(x, y), compared!(x, y))
}

/// Whether two results are the same, but for NaN's sign and payload.
pub fn is_same(scalar: Scalar, x: u64, y: u64) -> bool {
    x == y || with_values!(scalar, (x, y), x == y, x.is_nan() && y.is_nan())
}

/// Values where operations change what they do.
pub fn edges(scalar: Scalar) -> [u64; 8] {
    for_computed!(scalar, integer T => {
        let (width, sign) = (u64::from(T::BITS), 1 << (T::BITS - 1));
        [0, 1, width + 1, !width, u64::MAX, sign, sign - 1, 0x0123_4567_89ab_cdef].map(|bits: u64| T::of_bits(bits.into()).bits() as u64)
    }, float T => {
        [-0.0, 1.0, -2.5, T::MIN_POSITIVE / 2.0, 3e9, 1.9e19, T::NEG_INFINITY, T::NAN].map(|x| x.bits() as u64)
    })
    .expect(COMPUTED)
}
