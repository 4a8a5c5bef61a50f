//! What a loop's `continuing` takes from the loop's body.
//!
//! naga's writers for GLSL, HLSL and MSL place `continuing` before the body. A value that the body names is computed
//! there anew, after what it was computed from has changed. A variable is read there and not computed.
//!
//! So each `let` of a body that `continuing` reads becomes a `var`, which is as long a word and means the same.

use std::borrow::Cow;
use std::collections::HashSet;

use naga::{Module, TypeInner};
use trifold_core::wgsl::{Token, tokens};

/// A `let` whose pointer a loop's `continuing` uses: no variable can hold that.
#[derive(Debug, PartialEq)]
pub(crate) struct KeptPointer {
    pub name: String,
    pub line: usize,
}

/// The text with variables for the values that a `continuing` reads; `module` is what naga has parsed of it.
pub(crate) fn with_variables<'a>(text: &'a str, module: &Module) -> Result<Cow<'a, str>, KeptPointer> {
    let all: Vec<Token> = tokens(text).collect();
    let mut lets = vec![];
    for start in (0..all.len()).filter(|at| all[*at].text == "loop") {
        lets.extend(lets_for_continuing(&all, start));
    }
    if lets.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    let pointers = names_of_pointers(module);
    let mut changed = text.to_owned();
    for at in lets {
        let (word, name) = (all[at], all[at + 1]);
        if pointers.contains(name.text) {
            return Err(KeptPointer { name: name.text.into(), line: name.line });
        }
        // Tokens are parts of `text`.
        let place = word.text.as_ptr() as usize - text.as_ptr() as usize;
        changed.replace_range(place..place + "let".len(), "var");
    }
    Ok(Cow::Owned(changed))
}

/// The tokens `let` of the body of the loop at `start` whose names stand in its `continuing`.
fn lets_for_continuing(all: &[Token], start: usize) -> Vec<usize> {
    let (mut depth, mut lets, mut continuing) = (0usize, vec![], None);
    let mut used = HashSet::new();
    for at in start + 1..all.len() {
        match all[at].text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
                if depth == 1 {
                    continuing = None;
                }
            }
            "let" if depth == 1 && at + 1 < all.len() => lets.push(at),
            "continuing" if depth == 1 => continuing = Some(at),
            name if continuing.is_some() && all[at - 1].text != "." => {
                used.insert(name);
            }
            _ => {}
        }
    }
    lets.retain(|at| used.contains(all[at + 1].text));
    lets
}

/// The names that `let` gives to pointers.
fn names_of_pointers(module: &Module) -> HashSet<String> {
    let mut names = HashSet::new();
    for (_, function) in module.functions.iter() {
        let mut typifier = naga::front::Typifier::new();
        let context = naga::proc::ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
        for (handle, name) in &function.named_expressions {
            let grown = typifier.grow(*handle, &function.expressions, &context);
            let is_pointer = || {
                let ty = typifier.get(*handle, &module.types);
                matches!(ty, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
            };
            if grown.is_ok() && is_pointer() {
                names.insert(name.clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str) -> Result<String, KeptPointer> {
        let module = naga::front::wgsl::parse_str(text).unwrap();
        with_variables(text, &module).map(Cow::into_owned)
    }

    #[test]
    fn values_that_continuing_reads_become_variables() {
        let text = "fn f(n: u32) -> u32 { let a = n; var i = 0u; loop { let q = i; let r = q; let s = a; { let q = s; }\n\
                    if (i == 3u) { break; } continuing { i += q; let t = s; break if i > t; } } let q = 1u; return i; }";
        let want = text.replace("loop { let q = i;", "loop { var q = i;").replace("let s = a", "var s = a");
        assert_eq!(changed(text).unwrap(), want);
        let nested = "fn f() { var i = 0u; loop { let a = i; loop { let b = a; break; continuing { i += b; } } break; continuing { i += 1u; } } }";
        assert_eq!(changed(nested).unwrap(), nested.replace("let b", "var b"));
        let none = "fn f() { var i = 0u; loop { let a = i; if a > 3u { break; } continuing { i += 1u; } } }";
        assert!(matches!(with_variables(none, &naga::front::wgsl::parse_str(none).unwrap()), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn pointers_are_told() {
        let text = "fn f() { var v = array(1u, 2u); var i = 0u;\nloop {\n let p = &v[i]; if i > 0u { break; } continuing { i += 1u; *p = 2u; } } }";
        assert_eq!(changed(text), Err(KeptPointer { name: "p".into(), line: 3 }));
    }
}
