//! The three texts of a kernel read side by side: the same functions in the same order, and the same numbered steps.

use std::path::Path;

use trifold_core::{Language, Scalar};
use trifold_kernels::{catalogue, text};

const LANGUAGES: [Language; 3] = [Language::Wgsl, Language::OpenClC, Language::CudaC];

/// The kernels' texts, each with its language; those of blocks and preludes are no bodies.
fn bodies() -> impl Iterator<Item = (&'static str, Vec<(Language, &'static str)>)> {
    catalogue().map(|entry| {
        let texts = LANGUAGES.into_iter().filter_map(|language| Some((language, text(language, entry.name)?)));
        (entry.name, texts.collect())
    })
}

/// The comments `// 1. …` in order, without their slashes.
fn steps(text: &str) -> Vec<&str> {
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix("// "));
    let numbered = |comment: &&str| {
        let digits = comment.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < comment.len() && digits.starts_with(". ")
    };
    comments.filter(numbered).collect()
}

#[test]
fn preludes_name_every_scalar() {
    for (language, scalar) in
        LANGUAGES[1..].iter().flat_map(|language| Scalar::computed().map(|scalar| (*language, scalar)))
    {
        let mut lines = text(language, "prelude/prelude").unwrap().lines();
        let name = format!(" {};", scalar.name());
        assert!(lines.any(|line| line.starts_with("typedef ") && line.ends_with(&name)), "{language:?}{name}");
    }
}

/// The functions at a text's top level, in order.
fn functions(language: Language, text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: String = lines.filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    let (mut names, mut word, mut before, mut depth) = (vec![], String::new(), String::new(), 0);
    for c in code.chars() {
        if c.is_alphanumeric() || c == '_' || c == '@' {
            word.push(c);
            continue;
        }
        // WGSL says `fn`; in C, whatever takes arguments at the top level is a function, or an attribute: `__these`.
        let declares = match language {
            Language::Wgsl => before == "fn",
            _ => !word.starts_with("__"),
        };
        if c == '(' && depth == 0 && declares && !word.is_empty() {
            names.push(word.clone());
        }
        depth += i32::from("({[".contains(c)) - i32::from(")}]".contains(c));
        if !word.is_empty() {
            before = std::mem::take(&mut word);
        }
    }
    names
}

#[test]
fn functions_and_steps_are_found() {
    let wgsl =
        "// f(x)\nconst N: u32 = max(1u, M);\n@compute @workgroup_size(64)\nfn f() {\n  // 1. One.\n  g();\n}\nfn h(";
    assert_eq!(functions(Language::Wgsl, wgsl), ["f", "h"]);
    let cl =
        "#define M(x) (x)\n__local u32 a[MAX(1, 2)];\n__kernel __attribute__((size(1))) void f(u32 n) {\n  g();\n}";
    assert_eq!(functions(Language::OpenClC, cl), ["f"]);
    let cuda = "extern \"C\" __global__ void __launch_bounds__(W)\nf(u32 *a) { }\nFUNCTION T h(T x) { return g(x); }";
    assert_eq!(functions(Language::CudaC, cuda), ["f", "h"]);
    assert_eq!(steps("  // 1. One.\n// 22. Two.\n// 3.3) no\n// no\nx(); // 4. no"), ["1. One.", "22. Two."]);
}

#[test]
fn the_texts_have_the_same_numbered_steps() {
    for (name, texts) in bodies() {
        let (first, first_text) = texts[0];
        let expected = steps(first_text);
        assert!(!expected.is_empty() || texts.len() == 1, "{name}.{} has no numbered steps", first.extension());
        for (place, step) in expected.iter().enumerate() {
            assert!(step.starts_with(&format!("{}. ", place + 1)), "{name}: step {} is `{step}`", place + 1);
        }
        for &(language, text) in &texts[1..] {
            assert_eq!(steps(text), expected, "{name}.{} and .{}", language.extension(), first.extension());
        }
    }
}

#[test]
fn the_texts_have_the_same_functions_in_order() {
    for (name, texts) in bodies() {
        for &(a, a_text) in &texts {
            let a_functions = functions(a, a_text);
            assert!(!a_functions.is_empty(), "{name}.{}", a.extension());
            for &(b, b_text) in &texts {
                let b_functions = functions(b, b_text);
                // What one language alone needs is no matter of order.
                let ours: Vec<_> = a_functions.iter().filter(|f| b_functions.contains(f)).collect();
                let theirs: Vec<_> = b_functions.iter().filter(|f| a_functions.contains(f)).collect();
                assert_eq!(ours, theirs, "{name}.{} and .{}", a.extension(), b.extension());
            }
        }
    }
}

/// A function of the name that the catalogue launches, last in each text.
#[test]
fn the_entry_point_is_the_last_function() {
    for entry in catalogue() {
        for language in LANGUAGES {
            let Some(text) = text(language, entry.name) else { continue };
            let functions = functions(language, text);
            assert_eq!(functions.last().map(String::as_str), Some(entry.entry_point), "{}", entry.name);
        }
    }
}

#[test]
fn a_kernel_has_all_three_texts_or_is_of_one_language() {
    for (entry, (name, texts)) in catalogue().zip(bodies()) {
        assert_eq!(texts.len(), if entry.only.is_some() { 1 } else { 3 }, "{name}");
    }
}

/// The kernels whose steps a page lists, each with what follows it: what paragraphs before steps begin with.
fn kernels_of(page: &str) -> Vec<(&str, &str)> {
    let Some((_, steps)) = page.split_once("\n## Steps\n") else { return vec![] };
    let parts = steps.split("\nKernel `").skip(1).filter_map(|part| part.split_once('`'));
    parts.filter(|(_, text)| text.contains("\n1. ")).collect()
}

/// The steps of a page begin with its kernels' sentences, and may say more of each.
#[test]
fn pages_follow_the_kernels_steps() {
    // "3. Scan the rows. Each lane …" begins with "3. Scan the rows."
    let sentences = |text: &str| -> Vec<String> {
        let first =
            |step: &str| step.splitn(3, ". ").take(2).collect::<Vec<_>>().join(". ").trim_end_matches('.').into();
        text.lines().filter(|line| steps(&format!("// {line}")).len() == 1).map(first).collect()
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/algorithms");
    let mut held = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        for (kernel, listed) in kernels_of(&page) {
            let (_, texts) = bodies().find(|(name, _)| *name == kernel).unwrap_or_else(|| panic!("{path:?}: {kernel}"));
            assert_eq!(sentences(listed), sentences(&steps(texts[0].1).join("\n")), "{path:?}: {kernel}");
            held += 1;
        }
    }
    assert!(held > 20, "the steps of {held} kernels were compared with their pages'");
}
