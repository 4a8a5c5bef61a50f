//! Operators and predicates in WGSL: the caller's own text, made safe to stand in the middle of a kernel.
//!
//! What the text declares gets a name of its own, so that it meets nothing that the kernel declares. And where the text
//! divides, shifts, indexes or converts a float to an integer, the meaning is written out: not every compiler of WGSL
//! sees to it.

mod edit;
mod helpers;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use trifold_core::wgsl::{mentions, renamed};
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

/// The text with a prefix before whatever it declares at module scope, but for the function that kernels call.
fn apart(program: &Program, text: &str) -> String {
    let role = program.role();
    let mut text = text.trim_end_matches('\n').to_owned();
    let mut aliases = String::new();
    let prefixed = |name: &str| format!("{}_{name}", role.function());
    for declaration in scan::declarations(program.text()) {
        if !declaration.name.is_empty() && declaration.name != role.function() {
            text = renamed(&text, declaration.name, &prefixed(declaration.name));
        }
    }
    // The element's own name, and in a predicate the one that kernels have for `T`.
    if let ElementType::Struct { name, .. } = program.element_type()
        && *name != "T"
        && mentions(&text, name)
    {
        text = renamed(&text, name, &prefixed(name));
        aliases = format!("alias {} = {};\n", prefixed(name), role.element());
    }
    if role == Role::Predicate {
        text = renamed(&text, role.element(), &prefixed(role.element()));
        text = renamed(&text, "T", role.element());
    }
    format!("{aliases}{text}\n")
}

/// Reads the text as a compiler will: names or guards that went wrong are refused here, not in a driver's words.
fn check(program: &Program, body: &str) -> Result<()> {
    let declaration =
        element::declaration(program.element_type(), crate::dialect::Dialect::Wgsl, program.role().element());
    let text = format!("{declaration}{body}");
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
