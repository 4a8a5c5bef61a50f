//! Scalars of less than a word, which kernels hold as the word that has their bits and compute with as 32-bit numbers.

use trifold_core::{ElementType, Language, Scalar};

/// A value as a map's text knows it.
pub(crate) fn widened(element: &ElementType, value: &str, language: Language) -> String {
    let ElementType::Scalar(scalar) = element else { return value.into() };
    let unsigned = 32 - 8 * scalar.bytes().min(4);
    match scalar {
        Scalar::I8 | Scalar::I16 => match language {
            Language::Wgsl => format!("(bitcast<i32>({value} << {unsigned}u) >> {unsigned}u)"),
            // The compiler must not narrow what made the word: ptxas of CUDA 13.0 compares the negative of 16 bits by more.
            _ => format!("((i32)(opaque_word({value}) << {unsigned}u) >> {unsigned})"),
        },
        Scalar::F16 => format!("f16_widened({value})"),
        Scalar::BF16 => format!("bf16_widened({value})"),
        _ => value.into(),
    }
}

/// What a map gives as the bits of what it is.
pub(crate) fn narrowed(element: &ElementType, value: &str, language: Language) -> String {
    let ElementType::Scalar(scalar) = element else { return value.into() };
    let mask = (1u64 << (8 * scalar.bytes().min(4))) - 1;
    match scalar {
        Scalar::I8 | Scalar::I16 => match language {
            Language::Wgsl => format!("(bitcast<u32>({value}) & {mask:#x}u)"),
            _ => format!("((u32)({value}) & {mask:#x}u)"),
        },
        Scalar::U8 | Scalar::U16 => format!("({value} & {mask:#x}u)"),
        Scalar::F16 => format!("f16_rounded({value})"),
        Scalar::BF16 => format!("bf16_rounded({value})"),
        _ => value.into(),
    }
}
