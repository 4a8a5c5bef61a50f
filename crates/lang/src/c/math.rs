//! WGSL's built-in functions of scalars in C. Operands are names or parenthesized literals.

use naga::MathFunction;
use trifold_core::{Scalar, ScalarKind};

use super::Emitter;
use super::types::CScalar;

/// Functions of floats that OpenCL C, CUDA C and WGSL call the same.
const SAME_NAME: &str = "cos cosh sin sinh tan tanh acos acosh asin asinh atan atanh atan2 \
                         ceil floor trunc exp exp2 log log2 pow sqrt fma ldexp";

impl Emitter<'_> {
    /// `None` for a function that C is not taught.
    pub fn math(&mut self, fun: MathFunction, kind: CScalar, args: &[&str]) -> Option<String> {
        let CScalar::Number(scalar) = kind else { return None };
        if scalar.is_float() { self.float_math(fun, scalar, args) } else { self.integer_math(fun, scalar, args) }
    }

    fn float_math(&mut self, fun: MathFunction, scalar: Scalar, args: &[&str]) -> Option<String> {
        use MathFunction as F;
        let dialect = self.dialect;
        let call = |name: &str| Some(dialect.float_call(name, scalar, args));
        let number = |value: f64| dialect.float(scalar, value);
        let (zero, one) = (number(0.0), number(1.0));
        let name = format!("{fun:?}").to_lowercase();
        if SAME_NAME.split(' ').any(|same| same == name) {
            return call(&name);
        }
        let a = args[0];
        let text = match fun {
            F::Abs => return call("fabs"),
            F::Min => return call("fmin"),
            F::Max => return call("fmax"),
            F::Round => return call("rint"),
            F::InverseSqrt => return call("rsqrt"),
            F::Clamp => clamp(dialect, scalar, a, args[1], args[2]),
            F::Saturate => clamp(dialect, scalar, a, &zero, &one),
            F::Radians => dialect.float_mul(scalar, a, &number(std::f64::consts::PI / 180.0)),
            F::Degrees => dialect.float_mul(scalar, a, &number(180.0 / std::f64::consts::PI)),
            F::Fract => dialect.float_sub(scalar, a, &dialect.float_call("floor", scalar, &[a])),
            F::Sign => format!("({})(({a} > {zero}) - ({a} < {zero}))", scalar.name()),
            // step(edge, x)
            F::Step => format!("{a} <= {} ? {one} : {zero}", args[1]),
            F::Mix => {
                let first = dialect.float_mul(scalar, a, &dialect.float_sub(scalar, &one, args[2]));
                dialect.float_add(scalar, &first, &dialect.float_mul(scalar, args[1], args[2]))
            }
            F::SmoothStep => format!("{}({})", self.smoothstep_helper(scalar), args.join(", ")),
            _ => return None,
        };
        Some(text)
    }

    fn integer_math(&mut self, fun: MathFunction, scalar: Scalar, args: &[&str]) -> Option<String> {
        use MathFunction as F;
        let signed = scalar.kind() == ScalarKind::Signed;
        let a = args[0];
        let helper = match fun {
            F::Min => return Some(format!("{a} < {b} ? {a} : {b}", b = args[1])),
            F::Max => return Some(format!("{a} > {b} ? {a} : {b}", b = args[1])),
            F::Abs if !signed => return Some(a.to_string()),
            F::Sign if signed => return Some(format!("({})(({a} > 0) - ({a} < 0))", scalar.name())),
            F::Sign => return Some(format!("({})({a} != 0)", scalar.name())),
            F::Abs => self.absolute_helper(scalar),
            F::Clamp => self.clamp_helper(scalar),
            F::CountOneBits => self.count_one_bits_helper(scalar),
            F::CountLeadingZeros => self.count_leading_zeros_helper(scalar),
            F::CountTrailingZeros => self.count_trailing_zeros_helper(scalar),
            F::ReverseBits => self.reverse_bits_helper(scalar),
            F::FirstLeadingBit => self.first_leading_bit_helper(scalar),
            F::FirstTrailingBit => self.first_trailing_bit_helper(scalar),
            F::ExtractBits => self.extract_bits_helper(scalar),
            F::InsertBits => self.insert_bits_helper(scalar),
            _ => return None,
        };
        Some(format!("{helper}({})", args.join(", ")))
    }
}

pub(super) fn clamp(dialect: crate::dialect::Dialect, scalar: Scalar, a: &str, low: &str, high: &str) -> String {
    let raised = dialect.float_call("fmax", scalar, &[a, low]);
    dialect.float_call("fmin", scalar, &[&raised, high])
}
