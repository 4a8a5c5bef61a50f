//! Emits operators, predicates and element structs, written in WGSL, as OpenCL C and CUDA C.
//!
//! Every kernel of Trifold exists three times, by hand, because how the three memory models differ is what the project
//! is about. An operator touches no memory, so it is written once, in WGSL, and this crate says the same in the other
//! languages. It emits nothing else.
//!
//! [`emit_element`] gives the element type `T` and its 32-bit words. [`emit_operator`] gives `identity()` and
//! `combine()`. The two texts, in this order, stand between a kernel's header and its body.
//!
//! [`emit_selector`] gives a predicate's `keep()` and the type `Item` that it is asked of. It is for kernels whose `T`
//! is the count of what is kept.
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
//! A text means the same in every language and through every API, where WGSL's compilers differ or C has no meaning:
//!
//! | Text | Meaning |
//! |---|---|
//! | signed arithmetic | wraps |
//! | `x / 0`, and the lowest integer by -1 | `x` |
//! | `x % 0`, and the lowest integer by -1 | 0 |
//! | a shift | by its amount modulo the width |
//! | an index out of bounds | some element of the same array |
//! | a float as an integer | as Rust's `as`: rounded to zero, out of range the nearest integer, NaN gives 0 |
//! | an integer as a wider one | as Rust's `as`: a signed one keeps its sign |
//! | `x != y` of a NaN | true |
//! | functions of bits of 64-bit integers | as of 32-bit ones |
//! | a value of a loop's body in its `continuing` | as it was |
//!
//! In emitted C `+`, `-` and `*` of floats are rounded one by one, as contraction would make the languages differ. In
//! WGSL the device chooses whether floats below the smallest normal one are kept.
//!
//! # Captures
//!
//! A text may read the fields of `captures`, if its value has some. `combine` then takes them as a last argument of
//! type `Captures`, which the emitted text declares. A function of the text that reads them, or that calls one that
//! does, takes them too. [`extended`] passes them on in a kernel.
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
//! - a pointer that a loop's body names and its `continuing` uses;
//! - in OpenCL C and CUDA C: matrices, 16-bit types, and the built-in functions about them, about packing, `modf`,
//!   `frexp`, and vector geometry other than `dot`;
//! - in WGSL: transcendental functions of `f64`, which SPIR-V has of 16 and 32 bits alone;
//! - an element struct that WGSL would lay out other than Rust does.
//!
//! # Names
//!
//! A text may use any name that WGSL allows. Whatever it declares at module scope gets a prefix, so that it meets no
//! name of the kernel around it: `f` becomes `combine_f` or `keep_f`.
//!
//! In emitted C a field is `_f_name`, an argument `_a_name`, a variable `_v0_name`, and an intermediate value `_e7`. No
//! macro of OpenCL C or CUDA C begins so. An element struct is `T`.

mod c;
mod captures;
mod dialect;
mod element;
mod halves;
mod identity;
mod key;
mod loops;
mod program;
mod scan;
mod wgsl;

use std::borrow::Cow;

pub use captures::{extended, users};
use dialect::Dialect;
use program::{Program, Source};
use trifold_core::{Asks, ElementType, KeyImage, Language, MapText, Op, Result, Scalar, Selector};

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
/// In WGSL that is the operator's own text, with the guards that its compilers do not all have.
///
/// # Errors
/// `Invalid` for [`Language::Host`]; `Operator` for all that the [crate] refuses.
pub fn emit_operator(op: &Op, language: Language) -> Result<String> {
    let dialect = Dialect::try_from(language)?;
    let program = Program::new(op.into())?;
    let identity = identity::emit(op, dialect)?;
    let text = match dialect {
        Dialect::Wgsl => format!("{identity}\n{}", wgsl::emit(&program)?),
        _ => c::emit(&program, dialect, Some(&identity))?,
    };
    Ok(program.captures_declaration(dialect) + &text)
}

/// The type `Item` that a selection moves, and `keep()`; the text stands for itself. A selection that asks neighbours has
/// `same_item()` instead.
///
/// In WGSL that is the predicate's own text as [`emit_operator`] has it, with `Item` for `T`. An item of less than a word is the word
/// that has its bits, while the predicate is asked of a value of 32 bits.
///
/// # Errors
/// As [`emit_operator`].
pub fn emit_selector(selector: &Selector, language: Language) -> Result<String> {
    let dialect = Dialect::try_from(language)?;
    let item = match selector.element() {
        element if element.bytes() < 4 => Cow::Owned(Scalar::U32.into()),
        element => Cow::Borrowed(element),
    };
    let declaration = element::declaration(&item, dialect, "Item");
    if selector.asks() == Asks::Neighbours {
        element::check(&item)?;
        return Ok(declaration + &element::same(&item, dialect));
    }
    let program = Program::new(selector.into())?;
    let keep = match dialect {
        Dialect::Wgsl => wgsl::emit(&program)?,
        _ => c::emit(&program, dialect, None)?,
    };
    let captures = program.captures_declaration(dialect);
    Ok(format!("{captures}{declaration}\n{keep}"))
}

/// A map's function, which is called `map` and the map's number in the kernel. `name_of` says what the kernel calls a type:
/// its structs stand before this text.
///
/// # Errors
/// As [`emit_operator`].
pub fn emit_map(
    map: &MapText,
    number: usize,
    name_of: &dyn Fn(&ElementType) -> String,
    language: Language,
) -> Result<String> {
    let dialect = Dialect::try_from(language)?;
    let program = Program::new(Source::of_map(map, number, name_of)?)?;
    let text = match dialect {
        Dialect::Wgsl => wgsl::emit(&program)?,
        _ => c::emit(&program, dialect, None)?,
    };
    Ok(program.captures_declaration(dialect) + &text)
}

/// A struct's declaration under a kernel's own name for it.
///
/// # Errors
/// As [`emit_element`].
pub fn emit_struct(element: &ElementType, name: &str, language: Language) -> Result<String> {
    element::check(element)?;
    Ok(element::declaration(element, language.try_into()?, name))
}

/// The 32-bit words of a value of an element's type, each an expression in the value's name, which is one word.
///
/// # Errors
/// `Invalid` for [`Language::Host`].
pub fn words_of(element: &ElementType, value: &str, language: Language) -> Result<Vec<String>> {
    Ok(element::words_of(element, value, language.try_into()?))
}

/// The functions between the bits of `f16` and `bf16` and an `f32`, each where it is wanted: `(widened, rounded)`.
///
/// # Errors
/// `Invalid` for [`Language::Host`].
pub fn emit_halves(f16: (bool, bool), bf16: (bool, bool), language: Language) -> Result<String> {
    Ok(halves::emit(f16, bf16, language.try_into()?))
}

/// Whether a map's text has loops, which may not end.
///
/// # Errors
/// As [`emit_operator`].
pub fn map_loops(map: &MapText) -> Result<bool> {
    let name_of = |element: &ElementType| element.name().to_string();
    Ok(Program::new(Source::of_map(map, 0, &name_of)?)?.has_loops())
}

/// The types `StoredKey` and `Key`, the functions between a key and the unsigned number that orders it, and those that take
/// its digits at so many places.
///
/// # Errors
/// `Invalid` for [`Language::Host`].
pub fn emit_key(image: &KeyImage, places: u32, language: Language) -> Result<String> {
    Ok(key::emit(image, places, language.try_into()?))
}

/// The type of this name, what memory holds of values that are moved by so many bytes.
///
/// # Errors
/// `Invalid` for [`Language::Host`].
pub fn emit_stored(name: &str, bytes: u32, language: Language) -> Result<String> {
    Ok(key::emit_stored(name, bytes, language.try_into()?))
}

/// The types `StoredValue` and `Value` of values that are moved by so many bytes, which may be a vector's, and what texts do with them.
///
/// # Errors
/// `Invalid` for [`Language::Host`].
pub fn emit_value(bytes: u32, language: Language) -> Result<String> {
    Ok(key::emit_value(bytes, language.try_into()?))
}

/// Whether an operator's text has loops, which may not end.
///
/// # Errors
/// As [`emit_operator`].
pub fn operator_loops(op: &Op) -> Result<bool> {
    Ok(Program::new(op.into())?.has_loops())
}

/// Whether a predicate's text has loops, which may not end.
///
/// # Errors
/// As [`emit_operator`].
pub fn selector_loops(selector: &Selector) -> Result<bool> {
    match selector.asks() {
        Asks::Predicate => Ok(Program::new(selector.into())?.has_loops()),
        Asks::Neighbours => Ok(false),
    }
}
