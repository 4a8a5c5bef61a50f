//! Operators and predicates in WGSL: the caller's own text, made safe to stand in the middle of a kernel.
//!
//! What the text declares gets a name of its own, so that it meets nothing that the kernel declares. And where the text
//! divides, shifts, indexes, converts, compares floats or asks for bits of 64, the meaning is written out: not every compiler
//! of WGSL sees to it.

mod bits;
mod edit;
mod helpers;

use std::collections::{BTreeMap, HashSet};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use trifold_core::wgsl::{mentions, renamed_by, tokens};
use trifold_core::{ElementType, Result};

use crate::dialect::Dialect;
use crate::program::{Program, Role};
use crate::{element, scan};
use edit::{Edited, guarded, unguarded};

/// The text of a program in a kernel, behind the element's.
pub(crate) fn emit(program: &Program) -> Result<String> {
    let Edited { text, helpers } = guarded(program)?;
    let body = format!("{}{helpers}", apart(program, &text));
    check(program, &body)?;
    Ok(body)
}

/// The text with a prefix before whatever it declares at module scope, but for the function that kernels call. The
/// element's own name gets the prefix too. In a predicate so does the name that kernels have for `T`.
fn apart(program: &Program, text: &str) -> String {
    let (role, text) = (program.role(), text.trim_end_matches('\n'));
    let structs = program.named().iter().filter_map(|named| match &*named.element {
        ElementType::Struct { name, .. } if *name != named.alias => Some((*name, &*named.emitted)),
        _ => None,
    });
    let structs: BTreeMap<&str, &str> = structs.collect();
    let declared = scan::declarations(program.text());
    let mut names: HashSet<&str> = declared.iter().map(|declaration| declaration.name).collect();
    names.extend(structs.keys());
    names.remove(role.function);
    names.remove("");
    if role == Role::PREDICATE {
        names.insert("Item");
    }
    // A variable of the text's may have a name that another would get.
    let mut prefix = format!("{}_", program.function());
    while tokens(text).any(|token| token.text.starts_with(&prefix)) {
        prefix.push('_');
    }
    let renamed = renamed_by(text, |word| match word {
        _ if names.contains(word) => Some(format!("{prefix}{word}")),
        _ if word == role.function => Some(program.function().to_owned()),
        _ => {
            let short = program.named().iter().find(|named| named.alias == word)?;
            // A variable of the text's may be called so.
            Some(if role == Role::MAP { format!("{prefix}{word}") } else { short.emitted.clone() })
        }
    });
    let structs = structs.into_iter().filter(|(name, _)| mentions(text, name));
    let mut aliases: String = structs.map(|(name, emitted)| format!("alias {prefix}{name} = {emitted};\n")).collect();
    if role == Role::MAP {
        for named in program.named().iter().filter(|named| mentions(text, named.alias)) {
            aliases += &format!("alias {prefix}{} = {};\n", named.alias, named.emitted);
        }
    }
    format!("{aliases}{renamed}\n")
}

/// Reads the text as a compiler will: names or guards that went wrong are refused here, not in a driver's words.
fn check(program: &Program, body: &str) -> Result<()> {
    let mut declared = BTreeMap::new();
    for named in program.named() {
        // Scalars have their own names in maps.
        if !matches!(&*named.element, ElementType::Scalar(scalar) if scalar.name() == named.emitted) {
            declared.insert(&*named.emitted, element::declaration(&named.element, Dialect::Wgsl, &named.emitted));
        }
    }
    let declared: String = declared.into_values().collect();
    let text = format!("{declared}{}{body}", program.captures_declaration(Dialect::Wgsl));
    let refuse = |what: String| Err(program.refuse(naga::Span::UNDEFINED, what));
    let module = match naga::front::wgsl::parse_str(&text) {
        Ok(module) => module,
        Err(error) => return refuse(format!("its WGSL with other names and guards: {}", error.emit_to_string(&text))),
    };
    let info = match Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module) {
        Ok(info) => info,
        Err(error) => return refuse(format!("its WGSL with other names and guards: {}", error.emit_to_string(&text))),
    };
    match unguarded(&module, &info, &text) {
        None => Ok(()),
        Some(what) => refuse(format!("`{what}` could not be guarded; make it a statement of its own")),
    }
}
