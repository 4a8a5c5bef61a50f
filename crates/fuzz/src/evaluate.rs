//! What WGSL's operations give, as trifold-lang's documentation promises it. Values are their bits.

use trifold_core::{Number, Scalar, ScalarKind, for_scalar};

#[derive(Clone, Copy, PartialEq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
    Left,
    Right,
    Min,
    Max,
}

#[derive(Clone, Copy)]
pub enum Unary {
    Negate,
    Not,
    Abs,
    Floor,
    Truncate,
}

impl Binary {
    /// Those of a type. The smaller of NaN and a number is open, as is a remainder of floats' last bits.
    pub fn of(scalar: Scalar) -> &'static [Binary] {
        use Binary::*;
        if scalar.is_float() {
            return &[Add, Subtract, Multiply, Divide];
        }
        &[Add, Subtract, Multiply, Divide, Remainder, And, Or, Xor, Left, Right, Min, Max]
    }

    /// Whether its right side is a `u32`.
    pub fn shifts(self) -> bool {
        matches!(self, Binary::Left | Binary::Right)
    }

    pub fn text(self, left: &str, right: &str) -> String {
        let sign = match self {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
            Binary::And => "&",
            Binary::Or => "|",
            Binary::Xor => "^",
            Binary::Left => "<<",
            Binary::Right => ">>",
            Binary::Min => return format!("min({left}, {right})"),
            Binary::Max => return format!("max({left}, {right})"),
        };
        format!("({left} {sign} {right})")
    }
}

impl Unary {
    pub fn of(scalar: Scalar) -> &'static [Unary] {
        match scalar.kind() {
            ScalarKind::Unsigned => &[Unary::Not],
            ScalarKind::Signed => &[Unary::Not, Unary::Negate, Unary::Abs],
            ScalarKind::Float => &[Unary::Negate, Unary::Abs, Unary::Floor, Unary::Truncate],
        }
    }

    pub fn text(self, inner: &str) -> String {
        match self {
            Unary::Negate => format!("(-({inner}))"),
            Unary::Not => format!("(~({inner}))"),
            Unary::Abs => format!("abs({inner})"),
            Unary::Floor => format!("floor({inner})"),
            Unary::Truncate => format!("trunc({inner})"),
        }
    }
}

/// Runs an expression with the values of the bits, as integers or as floats of the type.
macro_rules! with_values {
    ($scalar:expr, ($($x:ident),*), $integer:expr, $float:expr) => {
        for_scalar!(
            $scalar,
            integer T => { $(let $x = T::of_bits($x);)* $integer },
            float T => { $(let $x = T::of_bits($x);)* $float }
        )
    };
}

pub fn binary(scalar: Scalar, op: Binary, x: u64, y: u64) -> u64 {
    let by = y as u32;
    with_values!(
        scalar,
        (x, y),
        match op {
            Binary::Add => x.wrapping_add(y),
            Binary::Subtract => x.wrapping_sub(y),
            Binary::Multiply => x.wrapping_mul(y),
            Binary::Divide => x.checked_div(y).unwrap_or(x),
            Binary::Remainder => x.checked_rem(y).unwrap_or(0),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Left => x.wrapping_shl(by),
            Binary::Right => x.wrapping_shr(by),
            Binary::Min => x.min(y),
            Binary::Max => x.max(y),
        }
        .bits(),
        match op {
            Binary::Add => x + y,
            Binary::Subtract => x - y,
            Binary::Multiply => x * y,
            Binary::Divide => x / y,
            _ => unreachable!("not of floats"),
        }
        .bits()
    )
}

pub fn unary(scalar: Scalar, op: Unary, x: u64) -> u64 {
    with_values!(
        scalar,
        (x),
        match op {
            Unary::Negate => (!x).wrapping_add(1),
            Unary::Not => !x,
            Unary::Abs => {
                #[allow(unused_comparisons)]
                if x < 0 { (!x).wrapping_add(1) } else { x }
            }
            _ => unreachable!("not of integers"),
        }
        .bits(),
        match op {
            Unary::Negate => -x,
            Unary::Abs => x.abs(),
            Unary::Floor => x.floor(),
            Unary::Truncate => x.trunc(),
            Unary::Not => unreachable!("not of floats"),
        }
        .bits()
    )
}

pub fn convert(to: Scalar, from: Scalar, x: u64) -> u64 {
    for_scalar!(from, F => { let x = F::of_bits(x); for_scalar!(to, T => (x as T).bits()) })
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
    for_scalar!(scalar, integer T => {
        let (width, sign) = (u64::from(T::BITS), 1 << (T::BITS - 1));
        [0, 1, width + 1, !width, u64::MAX, sign, sign - 1, 0x0123_4567_89ab_cdef].map(|bits| T::of_bits(bits).bits())
    }, float T => {
        [-0.0, 1.0, -2.5, T::MIN_POSITIVE / 2.0, 3e9, 1.9e19, T::NEG_INFINITY, T::NAN].map(T::bits)
    })
}
