//! The kernel texts, compiled into the crate.

use trifold_core::Language;

/// A text has a row for each language it is written in; docs/internals/kernels.md says why some have not all three.
const TEXTS: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// A kernel text by its name without extension, such as `scan/lookback`.
pub fn text(language: Language, name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(n, e, _)| *n == name && *e == language.extension()).map(|(_, _, text)| *text)
}

/// All texts of a language, by name.
pub fn texts(language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.iter().filter(move |(_, e, _)| *e == language.extension()).map(|&(name, _, text)| (name, text))
}
