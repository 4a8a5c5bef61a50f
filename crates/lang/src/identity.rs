//! The identity element, bit for bit.

use trifold_core::{Error, Op, Result, Scalar};

use crate::dialect::Dialect;

/// `identity()`, from the operator's bytes.
///
/// It goes through words because no language can write every float: WGSL has no NaN and no infinity, and refuses a
/// bitcast to one in a constant expression, which a function's parameter is not.
pub(crate) fn emit(op: &Op, dialect: Dialect) -> Result<String> {
    if op.identity().len() != op.element().bytes() as usize {
        return Err(Error::Operator {
            name: op.name.to_string(),
            message: format!(
                "the identity has {} bytes and an element has {}; give the bytes of one element",
                op.identity().len(),
                op.element().bytes()
            ),
        });
    }
    let words = op.identity().chunks_exact(4).map(|w| {
        // chunks_exact gives four bytes.
        let word = u32::from_le_bytes([w[0], w[1], w[2], w[3]]);
        format!("{word:#010x}u")
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let (value, count, qualifier) = (in_words(op), op.element().words(), dialect.qualifier());
    Ok(match dialect {
        Dialect::Wgsl => format!(
            "fn identity() -> T {{ // {value}\n    return element_from_words(Words(array<u32, {count}>({words})));\n}}\n"
        ),
        _ => format!(
            "{qualifier}T identity(void) {{ // {value}\n    const Words words = {{{{{words}}}}};\n    \
             return element_from_words(words);\n}}\n"
        ),
    })
}

/// The identity's value, for whoever reads the text.
fn in_words(op: &Op) -> String {
    let (mut values, mut rest) = (Vec::new(), op.identity());
    for scalar in op.element().scalars() {
        let (bytes, after) = rest.split_at(scalar.bytes() as usize);
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(bits);
        values.push(match scalar {
            Scalar::U32 | Scalar::U64 => bits.to_string(),
            Scalar::I32 => (bits as u32 as i32).to_string(),
            Scalar::I64 => (bits as i64).to_string(),
            Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
        });
        rest = after;
    }
    values.join(", ")
}
