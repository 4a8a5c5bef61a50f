//! Emits operators, predicates and element structs, written in WGSL, as OpenCL C and CUDA C.
//!
//! Every kernel of Trifold exists three times, by hand, because how the three memory models differ is what the project
//! is about. An operator touches no memory, so it is written once, in WGSL, and this crate says the same in the other
//! languages. It emits nothing else.
//!
//! [`emit_element`] gives the element type `T` and its 32-bit words; [`emit_operator`] gives `identity()` and
//! `combine()`. The two texts, in this order, stand between a kernel's header and its body. [`emit_selector`] gives a predicate's
//! `keep()` and the type `Item` that it is asked of, for kernels whose `T` is the count of what is kept.
//!
//! ```
//! use trifold_core::{Builtin, Language, Op, Scalar};
//! let op = Op::builtin(Builtin::Product, Scalar::I32).unwrap();
//! let text = trifold_lang::emit_operator(&op, Language::OpenClC)?;
//! assert!(text.contains("(i32)((u32)_a_a * (u32)_a_b)")); // WGSL wraps; C's signed overflow is undefined
//! # Ok::<(), trifold_core::Error>(())
//! ```
//!
//! # What is kept
//!
//! The meaning that WGSL gives, where C gives another or none: signed arithmetic wraps, shift amounts are taken modulo
//! the width, `x / 0` is `x` and `x % 0` is `0`, so are the quotient and remainder of the lowest integer by -1, floats
//! are converted to integers by clamping to what both types hold (NaN gives 0), and an index out of bounds stays within
//! its array. (Where the text stays WGSL, what compiles it has to guard divisors and indices: [`operator_guards`] says whether it
//! must.) `+`, `-` and `*` of floats are rounded one by one: contraction would make the languages differ.
//!
//! # What is refused
//!
//! By [`Error::Operator`](trifold_core::Error::Operator), with the line of the operator's own text:
//!
//! - what naga refuses, in naga's words (recursion among it), and texts beyond 16 KiB or with endless statements;
//! - a `combine` that is missing, or is not `fn combine(a: T, b: T) -> T`; a `keep` that is not `fn keep(v: T) -> bool`;
//! - whatever is not a function of the arguments: global variables, overrides, entry points, atomics, barriers,
//!   textures, subgroup operations, derivatives;
//! - directives (`enable`, `requires`, `diagnostic`), which WGSL allows only at the start of a module;
//! - names in [`RESERVED_NAMES`] or beginning as in [`RESERVED_PREFIXES`], and those that a language has taken;
//! - in OpenCL C and CUDA C: matrices, 16-bit types, and the built-in functions about them, about packing, `modf`,
//!   `frexp`, and vector geometry other than `dot`;
//! - an element struct that WGSL would lay out other than Rust does.
//!
//! # Names in emitted C
//!
//! `combine` keeps its name, an element struct and all fields keep theirs. A helper function or struct `f` of the
//! operator becomes `combine_f`, since OpenCL C and CUDA C predeclare hundreds of functions. Within functions, arguments
//! are `_a_name`, variables `_v0_name`, and intermediate values `_e7`.

mod c;
mod dialect;
mod element;
mod identity;
mod names;
mod program;
mod scan;

pub use names::{RESERVED_NAMES, RESERVED_PREFIXES, is_reserved, is_reserved_for_fields};
pub use program::Guards;

use dialect::Dialect;
use program::Program;
use trifold_core::{ElementType, Language, Op, Result, Selector};

/// The element type `T`, `ELEMENT_WORDS`, the type `Words`, and `element_to_words` and `element_from_words`.
///
/// Words are bit for bit and little-endian: fields in their order, and the low word of a 64-bit field first.
///
/// # Errors
/// `Invalid` for [`Language::Host`]; `Operator` for a struct whose layout is not WGSL's or whose names are taken.
pub fn emit_element(element: &ElementType, language: Language) -> Result<String> {
    element::emit(element, language.try_into()?)
}

/// `identity()` and `combine()` of an operator; what they use of [`emit_element`]'s text must stand before.
///
/// In WGSL that is the operator's own text, once it has been checked.
///
/// # Errors
/// `Invalid` for [`Language::Host`]; `Operator` for all that the [crate] refuses.
pub fn emit_operator(op: &Op, language: Language) -> Result<String> {
    let dialect = Dialect::try_from(language)?;
    let program = Program::new(op.into())?;
    let identity = identity::emit(op, dialect)?;
    Ok(match dialect {
        Dialect::Wgsl => format!("{identity}\n{}\n", op.wgsl.trim_end_matches('\n')),
        _ => c::emit(&program, dialect, Some(&identity))?,
    })
}

/// The type `Item` that a predicate is asked of, and `keep()`; the text stands for itself.
///
/// In WGSL that is the predicate's own text, once it has been checked, with `Item` for `T`.
///
/// # Errors
/// As [`emit_operator`].
pub fn emit_selector(selector: &Selector, language: Language) -> Result<String> {
    let dialect = Dialect::try_from(language)?;
    let program = Program::new(selector.into())?;
    let item = program.role().element();
    let keep = match dialect {
        Dialect::Wgsl => format!("{}\n", trifold_core::wgsl::renamed(selector.wgsl.trim_end_matches('\n'), "T", item)),
        _ => c::emit(&program, dialect, None)?,
    };
    Ok(format!("{}\n{keep}", element::declaration(selector.element(), dialect, item)))
}

/// What WGSL defines that an operator's text may make use of.
///
/// # Errors
/// As [`emit_operator`].
pub fn operator_guards(op: &Op) -> Result<Guards> {
    Ok(Program::new(op.into())?.guards())
}

/// What WGSL defines that a predicate's text may make use of.
///
/// # Errors
/// As [`emit_operator`].
pub fn selector_guards(selector: &Selector) -> Result<Guards> {
    Ok(Program::new(selector.into())?.guards())
}
