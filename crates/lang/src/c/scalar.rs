//! Operators and conversions of scalars in C, with WGSL's meaning. Operands are names or parenthesized literals.

use naga::{BinaryOperator, UnaryOperator};
use trifold_core::ScalarKind;

use super::Emitter;
use super::types::CScalar;

impl Emitter<'_> {
    /// `None` for an operator that the kind does not have.
    pub fn unary(&mut self, op: UnaryOperator, kind: CScalar, a: &str) -> Option<String> {
        Some(match (op, kind) {
            (UnaryOperator::LogicalNot, CScalar::Bool) => format!("!{a}"),
            (UnaryOperator::BitwiseNot, CScalar::Number(scalar)) if !scalar.is_float() => format!("~{a}"),
            (UnaryOperator::Negate, CScalar::Number(scalar)) if scalar.is_float() => format!("-{a}"),
            (UnaryOperator::Negate, CScalar::Number(scalar)) => {
                let (signed, unsigned) = (scalar.name(), scalar.unsigned().name());
                format!("({signed})(0 - ({unsigned}){a})")
            }
            _ => return None,
        })
    }

    /// As [`Emitter::unary`], of two operands.
    pub fn binary(&mut self, op: BinaryOperator, kind: CScalar, a: &str, b: &str) -> Option<String> {
        use BinaryOperator::*;
        let symbol = naga::back::binary_operation_str(op);
        let plain = format!("{a} {symbol} {b}");
        let scalar = match (kind, op) {
            (_, Equal | NotEqual | LogicalAnd | LogicalOr) => return Some(plain),
            // C's bitwise operators on bool give int, which C++ does not narrow back within braces.
            (CScalar::Bool, And) => return Some(format!("{a} && {b}")),
            (CScalar::Bool, InclusiveOr) => return Some(format!("{a} || {b}")),
            (CScalar::Bool, ExclusiveOr) => return Some(format!("{a} != {b}")),
            (CScalar::Bool, _) => return None,
            (CScalar::Number(_), Less | LessEqual | Greater | GreaterEqual) => return Some(plain),
            (CScalar::Number(scalar), _) => scalar,
        };
        if scalar.is_float() {
            return match op {
                Add => Some(bare(self.dialect.float_add(scalar, a, b))),
                Subtract => Some(bare(self.dialect.float_sub(scalar, a, b))),
                Multiply => Some(bare(self.dialect.float_mul(scalar, a, b))),
                Divide => Some(plain),
                Modulo => Some(self.dialect.float_call("fmod", scalar, &[a, b])),
                _ => None,
            };
        }
        let (name, width) = (scalar.name(), scalar.bytes() * 8);
        let signed = scalar.kind() == ScalarKind::Signed;
        let unsigned = scalar.unsigned().name();
        Some(match op {
            // Unsigned arithmetic wraps; signed overflow has no meaning in C.
            Add | Subtract | Multiply if signed => format!("({name})(({unsigned}){a} {symbol} ({unsigned}){b})"),
            Divide => format!("{}({a}, {b})", self.divide_helper(scalar)),
            Modulo => format!("{}({a}, {b})", self.remainder_helper(scalar)),
            ShiftLeft if signed => format!("({name})(({unsigned}){a} << ({b} & {}u))", width - 1),
            ShiftLeft | ShiftRight => format!("{a} {symbol} ({b} & {}u)", width - 1),
            _ => plain,
        })
    }

    /// A conversion of value, or of `bits`; `None` where WGSL has none.
    pub fn convert(&mut self, from: CScalar, to: CScalar, bits: bool, a: &str) -> Option<String> {
        let (from, to) = match (from, to) {
            (from, to) if from == to => return Some(a.to_string()),
            (CScalar::Number(_), CScalar::Bool) => return Some(format!("{a} != 0")),
            (CScalar::Bool, to) => return Some(format!("({}){a}", to.name())),
            (CScalar::Number(from), CScalar::Number(to)) => (from, to),
        };
        if bits {
            return Some(self.dialect.value_of(to, &self.dialect.bits_of(from, a)));
        }
        if from.is_float() && !to.is_float() {
            return Some(format!("{}({a})", self.integer_helper(from, to)));
        }
        Some(format!("({}){a}", to.name()))
    }
}

/// An operation without the parentheses around it.
fn bare(operation: String) -> String {
    match operation.strip_prefix('(').and_then(|o| o.strip_suffix(')')) {
        Some(inner) => inner.to_string(),
        None => operation,
    }
}
