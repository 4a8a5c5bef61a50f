//! What must be known of an operator's text apart from naga's IR: how long its statements are, before naga sees it, and
//! what it declares, since the IR keeps neither aliases nor abstract constants.

/// The most operators and brackets in one statement. naga recurses over some of them, and its stack is ours.
const MAX_PUNCTUATION: usize = 512;

/// A word (a name, keyword or number), or one other character.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// The tokens of a text, without white space and comments.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let (mut rest, mut line) = (text, 1);
    std::iter::from_fn(move || {
        loop {
            let c = rest.chars().next()?;
            let (length, skipped) = if rest.starts_with("//") {
                (rest.find(ends_line).unwrap_or(rest.len()), true)
            } else if rest.starts_with("/*") {
                (block_comment(rest), true)
            } else if is_word(c) {
                (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), false)
            } else {
                (c.len_utf8(), c.is_whitespace())
            };
            let token = Token { text: &rest[..length], line };
            rest = &rest[length..];
            line += token.text.matches('\n').count();
            if !skipped {
                return Some(token);
            }
        }
    })
}

/// Whether WGSL ends a line, and so a comment, there.
fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the block comment that `text` begins with; WGSL's nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

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

/// Whether a word stands in the text, comments aside.
pub(crate) fn mentions(text: &str, word: &str) -> bool {
    tokens(text).any(|token| token.text == word)
}

/// The text with another name for each `from` that is a word of its own, comments aside.
pub(crate) fn renamed(text: &str, from: &str, to: &str) -> String {
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    for token in tokens(text).filter(|token| token.text == from) {
        // Tokens are parts of `text`.
        let at = token.text.as_ptr() as usize - text.as_ptr() as usize;
        result.push_str(&text[done..at]);
        result.push_str(to);
        done = at + from.len();
    }
    result.push_str(&text[done..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_words_alone() {
        let text = "fn keep(v: T) -> bool { /* T */ return T(1).x < vec2<T>(Tau).y; }\n// T";
        let want = "fn keep(v: Item) -> bool { /* T */ return Item(1).x < vec2<Item>(Tau).y; }\n// T";
        assert_eq!(renamed(text, "T", "Item"), want);
    }

    #[test]
    fn finds_declarations_at_module_scope_only() {
        let text = "// fn no\n/* alias /* nested */ no */ @must_use fn f(a: T) -> T { const x = 1; return a; }\n\
                    alias A = u32;\nconst K: u32 = 3u; struct S { fn_: u32 }\n@diagnostic(off, r) fn g() {}\nenable f16;";
        let found: Vec<_> = declarations(text).into_iter().map(|d| (d.keyword, d.name, d.line)).collect();
        assert_eq!(
            found,
            [
                ("fn", "f", 2),
                ("alias", "A", 3),
                ("const", "K", 4),
                ("struct", "S", 4),
                ("fn", "g", 5),
                ("enable", "", 6)
            ]
        );
    }

    #[test]
    fn comments_may_be_unfinished() {
        for text in ["/*", "/*/", "//", "/* é", "*/", "/", "/**/ x", "a/*/**/"] {
            assert!(tokens(text).count() <= 2, "{text}");
        }
    }
}
