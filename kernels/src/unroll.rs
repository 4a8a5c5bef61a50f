//! Unrolling for WGSL, which has no `#pragma unroll`: an array that a loop indexes may end up in memory, where one that
//! constants index stays in registers.

use trifold_core::{Error, Result};

const MARK: &str = "// unroll";

/// Replaces each `for (var k = 0u; k < COUNT; k++) { … }` below a line that says `// unroll` by COUNT copies of its body,
/// each with its own constant `k`. `count` gives the constants' values.
///
/// # Errors
/// [`Error::Invalid`] if a marked loop has another form.
pub(crate) fn unroll(text: &str, count: &impl Fn(&str) -> Option<u32>) -> Result<String> {
    let mut result = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, marked) = rest.split_at(at);
        result.push_str(before);
        let (variable, limit, body, after) = parse(&marked[MARK.len()..]).ok_or_else(|| {
            let line = marked.lines().nth(1).unwrap_or_default().trim();
            Error::Invalid(format!("`{line}` is marked to unroll and is not `for (var k = 0u; k < COUNT; k++) {{`"))
        })?;
        let times = count(limit).ok_or_else(|| {
            Error::Invalid(format!("a loop to unroll runs to `{limit}`, which the plan does not give"))
        })?;
        let body = unroll(body, count)?;
        for value in 0..times {
            result.push_str(&format!("{{ const {variable} = {value}u;{body}}}\n"));
        }
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

/// A loop's variable, its limit, its body, and what follows it.
fn parse(text: &str) -> Option<(&str, &str, &str, &str)> {
    let text = text.trim_start().strip_prefix("for (var ")?;
    let (variable, text) = text.split_once(" = 0u; ")?;
    let text = text.strip_prefix(variable)?.strip_prefix(" < ")?;
    let (limit, text) = text.split_once("; ")?;
    let text = text.strip_prefix(variable)?.strip_prefix("++) {")?;
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some((variable, limit, &text[..at], &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unroll;

    #[test]
    fn loops_become_copies() {
        let text = "a;\n// unroll\nfor (var k = 0u; k < N; k++) { if (x) { f(k); } }\nb;\n";
        let unrolled = unroll(text, &|name| (name == "N").then_some(2));
        let want = "a;\n{ const k = 0u; if (x) { f(k); } }\n{ const k = 1u; if (x) { f(k); } }\n\nb;\n";
        assert_eq!(unrolled.ok().as_deref(), Some(want));
    }

    #[test]
    fn nested_loops_unroll_too() {
        let text = "// unroll\nfor (var i = 0u; i < N; i++) {\n// unroll\nfor (var k = 0u; k < N; k++) { f(i, k); }\n}";
        let unrolled = unroll(text, &|_| Some(2)).unwrap_or_default();
        assert_eq!(unrolled.matches("f(i, k)").count(), 4);
    }

    #[test]
    fn other_loops_are_refused() {
        assert!(unroll("// unroll\nloop { }", &|_| Some(2)).is_err());
        assert!(unroll("// unroll\nfor (var k = 0u; k < N; k++) { }", &|_| None).is_err());
    }
}
