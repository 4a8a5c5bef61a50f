//! Functions of integers that not every compiler of WGSL has for 64 bits, or for unsigned ones.

use naga::{MathFunction, ScalarKind};

use super::helpers::{Components, Helpers};
use crate::program::scalar_name;

/// The functions' names, and what each is of a `u64` called `w`, whose halves are `low` and `high`.
const WIDE: [(MathFunction, &str, &str); 6] = [
    (MathFunction::CountOneBits, "count_one_bits", "u64(countOneBits(low) + countOneBits(high))"),
    (MathFunction::CountTrailingZeros, "count_trailing_zeros", "u64(trailing)"),
    (MathFunction::CountLeadingZeros, "count_leading_zeros", "u64(leading)"),
    (MathFunction::FirstTrailingBit, "first_trailing_bit", "select(u64(trailing), 0xfffffffffffffffflu, w == 0lu)"),
    (MathFunction::FirstLeadingBit, "first_leading_bit", "select(u64(63u - leading), 0xfffffffffffffffflu, w == 0lu)"),
    (MathFunction::ReverseBits, "reverse_bits", "(u64(reverseBits(low)) << 32u) | u64(reverseBits(high))"),
];

/// Whether a function of such arguments needs a helper.
pub(super) fn is_guarded(fun: MathFunction, of: Components) -> bool {
    match (of.scalar.kind, of.scalar.width) {
        (ScalarKind::Uint, _) if fun == MathFunction::Sign => true,
        (ScalarKind::Uint | ScalarKind::Sint, 8) => {
            let moves = matches!(fun, MathFunction::ExtractBits | MathFunction::InsertBits);
            moves || WIDE.iter().any(|(wide, ..)| *wide == fun)
        }
        _ => false,
    }
}

/// Whether WGSL's compilers have no such function of floats of 64 bits: SPIR-V's are of 16 and 32.
pub(super) fn is_lacking(fun: MathFunction, of: Components) -> bool {
    use MathFunction as F;
    let transcendental = matches!(
        fun,
        F::Sin
            | F::Cos
            | F::Tan
            | F::Asin
            | F::Acos
            | F::Atan
            | F::Atan2
            | F::Sinh
            | F::Cosh
            | F::Tanh
            | F::Asinh
            | F::Acosh
            | F::Atanh
            | F::Exp
            | F::Exp2
            | F::Log
            | F::Log2
            | F::Pow
            | F::Radians
            | F::Degrees
    );
    transcendental && of.scalar.kind == ScalarKind::Float && of.scalar.width == 8
}

/// The name of the helper for a function of such arguments.
pub(super) fn helper(helpers: &mut Helpers, fun: MathFunction, of: Components) -> String {
    if fun == MathFunction::Sign {
        let ty = of.name();
        return helpers.define(format!("sign_{}", of.word()), |name| {
            format!("fn {name}(v: {ty}) -> {ty} {{\n    return min(v, {ty}({}(1u)));\n}}\n", scalar_name(of.scalar))
        });
    }
    // What comes behind the value.
    let (more, names) = match fun {
        MathFunction::ExtractBits => (", offset: u32, count: u32", ", offset, count"),
        MathFunction::InsertBits => (", bits: TYPE, offset: u32, count: u32", ", bits.LANE, offset, count"),
        _ => ("", ""),
    };
    let scalar = Components { size: None, ..of };
    let one = wide(helpers, fun, scalar, &more.replace("TYPE", &scalar.name()));
    let Some(size) = of.size else { return one };
    let ty = of.name();
    helpers.define(format!("{}_{}", word(fun), of.word()), |name| {
        let lane = |lane: &&str| format!("{one}(v.{lane}{})", names.replace("LANE", lane));
        let lanes: Vec<_> = ["x", "y", "z", "w"][..size as usize].iter().map(lane).collect();
        let more = more.replace("TYPE", &ty);
        format!("fn {name}(v: {ty}{more}) -> {ty} {{\n    return {ty}({});\n}}\n", lanes.join(", "))
    })
}

fn word(fun: MathFunction) -> &'static str {
    match fun {
        MathFunction::ExtractBits => "extract_bits",
        MathFunction::InsertBits => "insert_bits",
        _ => WIDE.iter().find(|(wide, ..)| *wide == fun).map_or("bits", |(_, word, _)| word),
    }
}

/// The helper of one integer of 64 bits.
fn wide(helpers: &mut Helpers, fun: MathFunction, of: Components, more: &str) -> String {
    let (ty, signed) = (of.name(), of.scalar.kind == ScalarKind::Sint);
    let all = "0xfffffffffffffffflu";
    // As WGSL says of an offset and a count that reach past the width.
    let part = "let first = min(offset, 64u);\n    let length = min(count, 64u - first);\n    ";
    let body = match fun {
        MathFunction::ExtractBits if signed => format!(
            "{part}let top = v << ((64u - first - length) & 63u);\n    \
             return select(top >> ((64u - length) & 63u), 0li, length == 0u);"
        ),
        MathFunction::ExtractBits => format!(
            "{part}let below = {all} >> ((64u - length) & 63u);\n    \
             return select((v >> (first & 63u)) & below, 0lu, length == 0u);"
        ),
        MathFunction::InsertBits => format!(
            "{part}let mask = ({all} >> ((64u - length) & 63u)) << (first & 63u);\n    \
             let both = (u64(v) & ~mask) | ((u64(bits) << (first & 63u)) & mask);\n    \
             return select({ty}(both), v, length == 0u);"
        ),
        _ => {
            let value = WIDE.iter().find(|(wide, ..)| *wide == fun).map_or("w", |(.., value)| value);
            // The first bit that is not as the sign.
            let turned = signed && fun == MathFunction::FirstLeadingBit;
            let w = if turned { "u64(select(v, ~v, v < 0li))" } else { "u64(v)" };
            format!(
                "let w = {w};\n    let low = u32(w & 0xfffffffflu);\n    let high = u32(w >> 32u);\n    \
                 let trailing = select(countTrailingZeros(low), 32u + countTrailingZeros(high), low == 0u);\n    \
                 let leading = select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u);\n    \
                 return {ty}({value});"
            )
        }
    };
    helpers.define(format!("{}_{}", word(fun), of.word()), |name| {
        format!("fn {name}(v: {ty}{more}) -> {ty} {{\n    {body}\n}}\n")
    })
}
