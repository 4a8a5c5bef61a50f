//! The kernel languages as spellings: what the same operation is called in each.

use trifold_core::{Error, Language, Result, Scalar, ScalarKind};

/// A kernel language; [`Language`] without the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Wgsl,
    OpenCl,
    Cuda,
}

impl TryFrom<Language> for Dialect {
    type Error = Error;

    fn try_from(language: Language) -> Result<Self> {
        match language {
            Language::Wgsl => Ok(Dialect::Wgsl),
            Language::OpenClC => Ok(Dialect::OpenCl),
            Language::CudaC => Ok(Dialect::Cuda),
            Language::Host => {
                Err(Error::Invalid("the host has no kernel text: call the operator's Rust `combine`".into()))
            }
        }
    }
}

impl Dialect {
    /// What stands before a function's return type.
    pub fn qualifier(self) -> &'static str {
        match self {
            Dialect::Cuda => "__device__ __forceinline__ ",
            Dialect::Wgsl | Dialect::OpenCl => "",
        }
    }

    /// The bits of `value`, as the unsigned integer of its width.
    pub fn bits_of(self, scalar: Scalar, value: &str) -> String {
        let unsigned = scalar.unsigned();
        match (self, scalar.kind()) {
            (_, ScalarKind::Unsigned) => value.to_string(),
            (Dialect::Wgsl, _) => format!("bitcast<{}>({value})", unsigned.name()),
            (_, ScalarKind::Signed) => format!("({}){value}", unsigned.name()),
            (Dialect::OpenCl, _) => format!("as_{}({value})", unsigned.vector_name(Language::OpenClC)),
            (Dialect::Cuda, _) if scalar == Scalar::F64 => format!("(u64)__double_as_longlong({value})"),
            (Dialect::Cuda, _) => format!("__float_as_uint({value})"),
        }
    }

    /// The scalar whose bits `bits` is, the unsigned integer of its width.
    pub fn value_of(self, scalar: Scalar, bits: &str) -> String {
        match (self, scalar.kind()) {
            (_, ScalarKind::Unsigned) => bits.to_string(),
            (Dialect::Wgsl, _) => format!("bitcast<{}>({bits})", scalar.name()),
            (_, ScalarKind::Signed) => cast(scalar, bits),
            (Dialect::OpenCl, _) => format!("as_{}({bits})", scalar.vector_name(Language::OpenClC)),
            (Dialect::Cuda, _) if scalar == Scalar::F64 => {
                format!("__longlong_as_double({})", cast(Scalar::I64, bits))
            }
            (Dialect::Cuda, _) => format!("__uint_as_float({bits})"),
        }
    }

    /// C: calls a function of the float library. OpenCL overloads it; CUDA has one name per width.
    pub fn float_call(self, name: &str, scalar: Scalar, arguments: &[&str]) -> String {
        let width = if self == Dialect::Cuda && scalar == Scalar::F32 { "f" } else { "" };
        format!("{name}{width}({})", arguments.join(", "))
    }

    /// C: `a + b` of floats, rounded on its own. NVRTC would otherwise contract it with a product.
    pub fn float_add(self, scalar: Scalar, a: &str, b: &str) -> String {
        self.float_arithmetic("add", '+', scalar, a, b)
    }

    /// C: `a - b` of floats, rounded on its own.
    pub fn float_sub(self, scalar: Scalar, a: &str, b: &str) -> String {
        self.float_arithmetic("sub", '-', scalar, a, b)
    }

    /// C: `a * b` of floats, rounded on its own.
    pub fn float_mul(self, scalar: Scalar, a: &str, b: &str) -> String {
        self.float_arithmetic("mul", '*', scalar, a, b)
    }

    fn float_arithmetic(self, name: &str, operator: char, scalar: Scalar, a: &str, b: &str) -> String {
        match (self, scalar) {
            (Dialect::Cuda, Scalar::F64) => format!("__d{name}_rn({a}, {b})"),
            (Dialect::Cuda, _) => format!("__f{name}_rn({a}, {b})"),
            _ => format!("({a} {operator} {b})"),
        }
    }

    /// C: a float literal.
    pub fn float(self, scalar: Scalar, value: f64) -> String {
        // Debug formatting is the shortest text that reads back as the same float, and always has a point or an
        // exponent. It may end in zeros that are not the value's: whole numbers are written in full.
        let whole = value.fract() == 0.0 && value.abs() < 1e20;
        match scalar {
            _ if whole && scalar == Scalar::F32 => parenthesize(format!("{value:.1}f")),
            _ if whole => parenthesize(format!("{value:.1}")),
            Scalar::F32 => parenthesize(format!("{:?}f", value as f32)),
            _ => parenthesize(format!("{value:?}")),
        }
    }

    /// C: an integer literal.
    pub fn integer(self, scalar: Scalar, value: i128) -> String {
        let long = match (scalar.bytes(), self) {
            (8, Dialect::Cuda) => "ll",
            (8, _) => "l",
            _ => "",
        };
        let is_unsigned = scalar.kind() == ScalarKind::Unsigned;
        let digits = 2 + 2 * scalar.bytes() as usize;
        match value {
            // Large ones are masks and bits of floats, as a rule.
            0x1_0000.. if is_unsigned => format!("{value:#0digits$x}u{long}"),
            _ if is_unsigned => format!("{value}u{long}"),
            // C has no literal for the lowest value: the minus is an operator on one that does not fit.
            _ if value == lowest(scalar) => format!("({}{long} - 1{long})", value + 1),
            _ => parenthesize(format!("{value}{long}")),
        }
    }
}

pub(crate) fn lowest(scalar: Scalar) -> i128 {
    -1 << (8 * scalar.bytes() - 1)
}

/// C: a cast, which binds tighter than any operator.
fn cast(to: Scalar, value: &str) -> String {
    let to = to.name();
    if value.contains(' ') { format!("({to})({value})") } else { format!("({to}){value}") }
}

fn parenthesize(literal: String) -> String {
    if literal.starts_with('-') { format!("({literal})") } else { literal }
}
