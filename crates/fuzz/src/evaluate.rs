//! What WGSL's operations give, as trifold-lang's documentation promises it. Values are their bits.

use trifold_core::Scalar;

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
        match scalar {
            Scalar::U32 | Scalar::U64 => &[Unary::Not],
            Scalar::I32 | Scalar::I64 => &[Unary::Not, Unary::Negate, Unary::Abs],
            Scalar::F32 | Scalar::F64 => &[Unary::Negate, Unary::Abs, Unary::Floor, Unary::Truncate],
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
        match $scalar {
            Scalar::U32 => { $(let $x = $x as u32;)* $integer }
            Scalar::I32 => { $(let $x = $x as i32;)* $integer }
            Scalar::U64 => { $(let $x = $x as u64;)* $integer }
            Scalar::I64 => { $(let $x = $x as i64;)* $integer }
            Scalar::F32 => { $(let $x = f32::from_bits($x as u32);)* $float }
            Scalar::F64 => { $(let $x = f64::from_bits($x);)* $float }
        }
    };
}

/// A value's bits.
trait Bits {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($T:ty, |$x:ident| $bits:expr;)*) => { $(impl Bits for $T { fn bits(self) -> u64 { let $x = self; $bits } })* };
}
bits! {
    u32, |x| x.into();
    i32, |x| (x as u32).into();
    u64, |x| x;
    i64, |x| x as u64;
    f32, |x| x.to_bits().into();
    f64, |x| x.to_bits();
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
    macro_rules! to {
        ($x:expr) => {
            match to {
                Scalar::U32 => ($x as u32).bits(),
                Scalar::I32 => ($x as i32).bits(),
                Scalar::F32 => ($x as f32).bits(),
                Scalar::U64 => ($x as u64).bits(),
                Scalar::I64 => ($x as i64).bits(),
                Scalar::F64 => ($x as f64).bits(),
            }
        };
    }
    with_values!(from, (x), to!(x), to!(x))
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
    match scalar {
        Scalar::U32 => [0, 1, 7, 33, 1 << 31, 0xdead_beef, 0x7fff_ffff, 0xffff_ffff],
        Scalar::I32 => [0_i32, 1, -1, 7, -33, i32::MIN, i32::MAX, 0x1234_5678].map(Bits::bits),
        Scalar::F32 => [0.0_f32, -0.0, 1.0, -2.5, 1e-40, 3e9, f32::NEG_INFINITY, f32::NAN].map(Bits::bits),
        Scalar::U64 => [0, 1, 7, 65, 1 << 63, 0x0123_4567_89ab_cdef, u64::MAX - 1, u64::MAX],
        Scalar::I64 => [0_i64, 1, -1, 7, -(1 << 33), i64::MIN, i64::MAX, 0x0123_4567_89ab_cdef].map(Bits::bits),
        Scalar::F64 => [0.0_f64, -0.0, 1.0, -2.5, 1e-310, 3e9, 1.9e19, f64::NAN].map(Bits::bits),
    }
}
