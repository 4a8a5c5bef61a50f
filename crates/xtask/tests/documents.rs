//! The documents as a reader finds them: links that lead somewhere, tables that are tables, and the README's programs as they are.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown file of the project, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut files: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                files.push(path);
            }
        }
    }
    files.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
}

fn parse(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// What a heading is called in a link: small letters, hyphens for spaces, no other signs.
fn anchor(heading: &str) -> String {
    let signs = heading.to_lowercase().replace(' ', "-");
    signs.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let (mut all, mut heading) = (vec![], None::<String>);
    for event in parse(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(HeadingLevel::H1 | HeadingLevel::H2 | HeadingLevel::H3 | HeadingLevel::H4)) => {
                all.extend(heading.take().map(|heading| anchor(&heading)));
            }
            Event::Text(part) | Event::Code(part) => heading.iter_mut().for_each(|heading| heading.push_str(&part)),
            _ => {}
        }
    }
    all
}

#[test]
fn links_lead_to_files_and_headings_that_are_there() {
    let mut dead = vec![];
    let mut found = 0;
    for (file, text) in documents() {
        for event in parse(&text) {
            let Event::Start(Tag::Link { dest_url: to, .. } | Tag::Image { dest_url: to, .. }) = event else {
                continue;
            };
            if to.contains("://") || to.starts_with("mailto:") {
                continue;
            }
            found += 1;
            let (path, heading) = to.split_once('#').unwrap_or((&to, ""));
            let target = if path.is_empty() { file.clone() } else { file.with_file_name("").join(path) };
            let there = target.exists()
                && (heading.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).iter().any(|known| known == heading));
            if !there {
                dead.push(format!("{}: {to}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(found > 100, "{found} links");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

/// Rows that a blank line cuts off from their table's heading are shown as text.
#[test]
fn rows_stand_in_tables() {
    for (file, text) in documents() {
        let mut in_paragraph = false;
        for event in parse(&text) {
            match event {
                Event::Start(Tag::Paragraph) => in_paragraph = true,
                Event::End(TagEnd::Paragraph) => in_paragraph = false,
                Event::Text(line) if in_paragraph => assert!(!line.starts_with('|'), "{}: {line}", file.display()),
                _ => {}
            }
        }
    }
}

/// Every page of the book is in its summary, once.
#[test]
fn the_summary_has_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> = parse(&summary)
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(docs.join(&*dest_url)),
            _ => None,
        })
        .collect();
    listed.sort();
    let mut pages: Vec<PathBuf> = documents().into_iter().map(|(file, _)| file).collect();
    pages.retain(|page| page.starts_with(&docs) && !page.ends_with("SUMMARY.md"));
    pages.sort();
    assert_eq!(listed, pages);
}

/// A page with Rust in it is a test of the facade's, by `book!`.
#[test]
fn programs_of_the_book_are_tests() {
    let tests = fs::read_to_string(root().join("crates/trifold/src/lib.rs")).unwrap();
    for (file, text) in documents() {
        let has_program = parse(&text).any(
            |event| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if &*info == "rust"),
        );
        let page = file.strip_prefix(root()).unwrap().display().to_string();
        if has_program && page != "README.md" {
            assert!(tests.contains(&format!("../../../{page}\"")), "{page} has a program that is not tested");
        }
    }
}

/// A page that people read to its end.
#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!(lines <= 150 && words <= 1200, "README.md has {lines} lines and {words} words");
}

/// Applications that people read before they write their own.
#[test]
fn applications_are_short() {
    for name in ["beam_search", "equalise", "experts", "group_by", "sparse"] {
        let example = fs::read_to_string(root().join(format!("crates/trifold/examples/{name}.rs"))).unwrap();
        let lines = example.lines().count();
        assert!(lines <= 60, "{name}.rs has {lines} lines");
    }
}

/// They are shown there as they are, but for the line that says how to run them.
#[test]
fn the_readme_shows_the_examples() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for name in ["open", "wgpu", "opencl", "cuda"] {
        let example = fs::read_to_string(root().join(format!("crates/trifold/examples/{name}.rs"))).unwrap();
        let (_, code) = example.split_once("\n\n").unwrap();
        assert!(readme.contains(&format!("```rust\n{code}```")), "{name}.rs");
    }
}
