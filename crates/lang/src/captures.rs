//! Functions that read the captures of an operator get them as one more argument, and whoever calls them passes it on.
//! C has no other way to a kernel's parameters.

use std::collections::HashSet;
use std::ops::Range;

use trifold_core::wgsl::tokens;

/// A function's definition in a text, or its declaration: places of bytes.
struct Definition<'a> {
    name: &'a str,
    /// Between the brackets.
    parameters: Range<usize>,
    /// Nothing of a declaration.
    body: Range<usize>,
}

/// A word or another character, and where it stands.
struct Place<'a> {
    text: &'a str,
    at: usize,
}

fn places(text: &str) -> Vec<Place<'_>> {
    // Tokens are slices of the text.
    let at = |token: &str| token.as_ptr() as usize - text.as_ptr() as usize;
    tokens(text).map(|token| Place { text: token.text, at: at(token.text) }).collect()
}

/// The place of the bracket that closes the one at this index.
fn closing(places: &[Place<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, place) in places.iter().enumerate().skip(open) {
        match place.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// The functions that a text defines or declares: in WGSL, OpenCL C or CUDA C a name, brackets, and then braces or a semicolon.
fn definitions<'a>(places: &[Place<'a>]) -> Vec<Definition<'a>> {
    let (mut found, mut last, mut i) = (vec![], None, 0);
    while i < places.len() {
        match places[i].text {
            "(" => {
                let Some(end) = closing(places, i) else { break };
                if i > 0 {
                    last = Some((places[i - 1].text, places[i].at + 1..places[end].at));
                }
                i = end;
            }
            "{" | "[" => {
                let Some(end) = closing(places, i) else { break };
                if let Some((name, parameters)) = last.take().filter(|_| places[i].text == "{") {
                    found.push(Definition { name, parameters, body: places[i].at + 1..places[end].at });
                }
                i = end;
            }
            ";" => found.extend(last.take().map(|(name, parameters)| Definition { name, parameters, body: 0..0 })),
            "=" => last = None,
            _ => {}
        }
        i += 1;
    }
    found
}

/// The functions of a text that use one of these words, or call such a one.
pub fn users<'a>(text: &'a str, words: &[&'a str]) -> HashSet<&'a str> {
    let places = places(text);
    let definitions = definitions(&places);
    let mut users = HashSet::new();
    loop {
        let uses = |body: &Range<usize>| {
            let within = places.iter().filter(|place| body.contains(&place.at));
            within.into_iter().any(|place| words.contains(&place.text) || users.contains(place.text))
        };
        let more: Vec<&str> = definitions.iter().filter(|d| uses(&d.body)).map(|d| d.name).collect();
        let before = users.len();
        users.extend(more);
        if users.len() == before {
            return users;
        }
    }
}

/// The text, with another argument wherever one of these functions is called, and with another parameter where one is defined.
pub fn extended(text: &str, functions: &HashSet<&str>, parameter: &str, argument: &str) -> String {
    let places = places(text);
    let mut insertions = vec![];
    let separated = |first: usize, end: usize, what: &str| match places[first..end].last() {
        None => what.to_owned(),
        Some(place) if place.text == "," => format!(" {what}"),
        Some(_) => format!(", {what}"),
    };
    let defined: HashSet<usize> = definitions(&places).iter().map(|d| d.parameters.start).collect();
    for (i, pair) in places.windows(2).enumerate() {
        if pair[1].text != "(" || !functions.contains(pair[0].text) {
            continue;
        }
        let Some(end) = closing(&places, i + 1) else { continue };
        let what = if defined.contains(&(pair[1].at + 1)) { parameter } else { argument };
        insertions.push((places[end].at, separated(i + 2, end, what)));
    }
    insertions.sort();
    let (mut whole, mut from) = (String::with_capacity(text.len()), 0);
    for (at, what) in insertions {
        whole.push_str(&text[from..at]);
        whole.push_str(&what);
        from = at;
    }
    whole + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_captures_gets_them() {
        let text = "fn twice(v: T) -> T { return v * captures.by; } // captures\n\
                    fn other(v: T) -> T { return v; }\n\
                    @must_use fn keep(v: T,) -> bool { return twice(other(twice(v))) > other(v); }";
        let users = users(text, &["captures"]);
        assert_eq!(users, HashSet::from(["twice", "keep"]));
        let extended = extended(text, &users, "captures: Captures", "captures");
        let expected = "fn twice(v: T, captures: Captures) -> T { return v * captures.by; } // captures\n\
                        fn other(v: T) -> T { return v; }\n\
                        @must_use fn keep(v: T, captures: Captures) -> bool { return twice(other(twice(v, captures)), captures) > other(v); }";
        assert_eq!(extended, expected);
    }

    #[test]
    fn a_kernels_functions_pass_them_on() {
        let text = "__shared__ T sums[4];\nconst int table[2] = {f(1), 2};\n\
                    FUNCTION T fold();\nFUNCTION T fold() { T s = combine(sums[0], sums[1]); return s; }\n\
                    __global__ void __launch_bounds__(WORKGROUP) kernel(ARGUMENTS) { output[0] = fold(); }";
        let users = users(text, &["combine"]);
        assert_eq!(users, HashSet::from(["fold", "kernel"]));
        let passing = HashSet::from(["fold", "combine"]);
        let extended = extended(text, &passing, "Captures captures", "captures");
        assert!(extended.contains("FUNCTION T fold(Captures captures);\nFUNCTION T fold(Captures captures) { T s = combine(sums[0], sums[1], captures);"));
        assert!(extended.contains("kernel(ARGUMENTS) { output[0] = fold(captures); }"));
    }
}
