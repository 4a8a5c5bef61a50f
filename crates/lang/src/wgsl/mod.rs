//! Operators and predicates in WGSL: the caller's own text, made safe to stand in the middle of a kernel.
//!
//! What the text declares gets a name of its own, so that it meets nothing that the kernel declares. And where the text
//! divides, shifts, indexes or converts a float to an integer, the meaning is written out: not every compiler of WGSL
//! sees to it.

mod edit;
mod helpers;

use std::collections::HashSet;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use trifold_core::wgsl::{mentions, renamed_by, tokens};
use trifold_core::{ElementType, Result};

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
    let element = match program.element_type() {
        ElementType::Struct { name, .. } if *name != "T" => Some(*name),
        _ => None,
    };
    let declared = scan::declarations(program.text());
    let mut names: HashSet<&str> = declared.iter().map(|declaration| declaration.name).collect();
    names.extend(element);
    names.remove(role.function);
    names.remove("");
    if role == Role::PREDICATE {
        names.insert(role.element);
    }
    // A variable of the text's may have a name that another would get.
    let mut prefix = format!("{}_", role.function);
    while tokens(text).any(|token| token.text.starts_with(&prefix)) {
        prefix.push('_');
    }
    let renamed = renamed_by(text, |word| match word {
        _ if names.contains(word) => Some(format!("{prefix}{word}")),
        "T" => Some(role.element.to_owned()),
        _ => None,
    });
    let alias = element.filter(|name| mentions(text, name));
    let alias = alias.map_or(String::new(), |name| format!("alias {prefix}{name} = {};\n", role.element));
    format!("{alias}{renamed}\n")
}

/// Reads the text as a compiler will: names or guards that went wrong are refused here, not in a driver's words.
fn check(program: &Program, body: &str) -> Result<()> {
    let declaration =
        element::declaration(program.element_type(), crate::dialect::Dialect::Wgsl, program.role().element);
    let text = format!("{declaration}{}{body}", program.captures_declaration(crate::dialect::Dialect::Wgsl));
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
