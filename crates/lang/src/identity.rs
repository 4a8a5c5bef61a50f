//! The identity element, bit for bit.

use trifold_core::{Error, Op, Result};

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
        values.push(scalar.text(bytes));
        rest = after;
    }
    values.join(", ")
}
