//! WGSL texts as words: what is to be known of them or changed before anything parses them.

/// A word (a name, keyword or number), or one other character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Token<'a> {
    /// Itself.
    pub text: &'a str,
    /// Its line, counted from 1.
    pub line: usize,
}

/// The tokens of a text, without white space and comments.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
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

/// Whether a word can have this character.
pub fn is_word(c: char) -> bool {
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

/// Whether a word stands in the text, comments aside.
pub fn mentions(text: &str, word: &str) -> bool {
    tokens(text).any(|token| token.text == word)
}

/// The text with another name for each `from` that is a word of its own: not in comments, and no field of a struct.
pub fn renamed(text: &str, from: &str, to: &str) -> String {
    renamed_by(text, |word| (word == from).then(|| to.to_owned()))
}

/// As [`renamed`], with the name that each word is to have; those without one stay.
pub fn renamed_by(text: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    let (mut before, mut in_struct) = ("", false);
    let mut left = tokens(text).peekable();
    while let Some(Token { text: word, .. }) = left.next() {
        in_struct = word == "struct" || in_struct && word != "}";
        let next = left.peek().map_or("", |token| token.text);
        let is_field = before == "." || in_struct && next == ":";
        if let Some(to) = name(word).filter(|_| !is_field) {
            // Tokens are parts of `text`.
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            result.push_str(&text[done..at]);
            result.push_str(&to);
            done = at + word.len();
        }
        before = word;
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
        let text = "fn combine(a: T, b: T) -> T { return T(a.T_, b.combined) + vec2<T>(Tau).x + a . T; }";
        let want = "fn combine(a: V, b: V) -> V { return V(a.T_, b.combined) + vec2<V>(Tau).x + a . T; }";
        assert_eq!(renamed(text, "T", "V"), want);
    }

    #[test]
    fn fields_keep_their_names() {
        let text = "struct H { @size(8) combine: u32, other: array<combine, 2> }\nfn combine(combine: H) -> u32 { return combine.combine; }";
        let want =
            "struct H { @size(8) combine: u32, other: array<mix, 2> }\nfn mix(mix: H) -> u32 { return mix.combine; }";
        assert_eq!(renamed(text, "combine", "mix"), want);
    }

    #[test]
    fn comments_may_be_unfinished() {
        for text in ["/*", "/*/", "//", "/* é", "*/", "/", "/**/ x", "a/*/**/"] {
            assert!(tokens(text).count() <= 2, "{text}");
        }
    }

    #[test]
    fn comments_mention_nothing() {
        let text = "// Segment length\nfn f() { let Segments = 1; /* Segment */ }";
        assert!(!mentions(text, "Segment") && mentions(text, "Segments"));
    }
}
