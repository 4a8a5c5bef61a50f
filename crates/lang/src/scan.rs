//! What must be known of an operator's text that naga's IR does not tell.
//!
//! It is how long statements are, which must be known before naga reads the text. It is also what the text declares,
//! since the IR keeps neither aliases nor abstract constants.

use trifold_core::wgsl::{Token, is_word, tokens};

/// The most operators and brackets in one statement. naga recurses over some of them, and its stack is ours.
const MAX_PUNCTUATION: usize = 512;

/// The line of the first statement that is too long for naga's stack.
pub(crate) fn endless_statement(text: &str) -> Option<usize> {
    let mut punctuation = 0;
    for token in tokens(text) {
        match token.text {
            ";" | "{" | "}" => punctuation = 0,
            other if other.starts_with(is_word) => {}
            _ => punctuation += 1,
        }
        if punctuation > MAX_PUNCTUATION {
            return Some(token.line);
        }
    }
    None
}

/// A declaration or a directive at module scope.
#[derive(Debug, PartialEq)]
pub(crate) struct Declaration<'a> {
    pub keyword: &'a str,
    /// What is declared; empty for a directive.
    pub name: &'a str,
    pub line: usize,
}

/// The declarations and directives of a text that naga has parsed.
pub(crate) fn declarations(text: &str) -> Vec<Declaration<'_>> {
    let mut found = Vec::new();
    let (mut depth, mut before) = (0usize, "");
    for Token { text, line } in tokens(text) {
        match before {
            "fn" | "const" | "struct" | "alias" if depth == 0 => {
                found.push(Declaration { keyword: before, name: text, line });
            }
            _ => {}
        }
        match text {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            // `@diagnostic` is an attribute, and may stand anywhere.
            "enable" | "requires" | "diagnostic" if depth == 0 && before != "@" => {
                found.push(Declaration { keyword: text, name: "", line });
            }
            _ => {}
        }
        before = text;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_declarations_at_module_scope_only() {
        let text = "// fn no\n/* alias /* nested */ no */ @must_use fn f(a: T) -> T { const x = 1; return a; }\n\
                    alias A = u32;\nconst K: u32 = 3u; struct S { fn_: u32 }\n@diagnostic(off, r) fn g() {}\nenable f16;";
        let found = declarations(text).into_iter().map(|d| format!("{} {} {}", d.keyword, d.name, d.line));
        let found: Vec<_> = found.collect();
        assert_eq!(found, ["fn f 2", "alias A 3", "const K 4", "struct S 4", "fn g 5", "enable  6"]);
    }
}
