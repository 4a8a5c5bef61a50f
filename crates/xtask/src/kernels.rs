//! The kernel texts: which there are, and three of them side by side.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::workspace::root;

const EXTENSIONS: [&str; 3] = ["wgsl", "cl", "cu"];
const BETWEEN: &str = " | ";

pub fn list() -> Result<ExitCode> {
    let texts = texts(&root().join("kernels"))?;
    let width = texts.keys().map(String::len).max().unwrap_or(0);
    for (name, languages) in texts {
        let row = EXTENSIONS.map(|extension| if languages.contains(&extension) { extension } else { "" });
        println!("{}", format!("{name:width$}  {:4}  {:2}  {}", row[0], row[1], row[2]).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

pub fn diff(name: &str) -> Result<ExitCode> {
    let folder = root().join("kernels");
    let texts = texts(&folder)?;
    let Some(languages) = texts.get(name) else {
        let names: Vec<_> = texts.keys().map(String::as_str).collect();
        bail!("no kernels/{name}; there are {}", names.join(", "));
    };
    let mut columns = vec![];
    for extension in EXTENSIONS {
        let file = folder.join(format!("{name}.{extension}"));
        columns.push(match languages.contains(&extension) {
            true => fs::read_to_string(&file).with_context(|| file.display().to_string())?,
            false => "(none)\n".into(),
        });
    }
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(200);
    let titles = EXTENSIONS.map(|extension| format!("{name}.{extension}"));
    print!("{}", side_by_side(&titles, &columns, width));
    Ok(ExitCode::SUCCESS)
}

/// Every text below kernels/ by its name, with its languages.
fn texts(folder: &Path) -> Result<BTreeMap<String, Vec<&'static str>>> {
    let mut texts: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for group in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let group = group?;
        if !group.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(group.path())? {
            let file = file?.path();
            let extension = EXTENSIONS.into_iter().find(|extension| file.extension().is_some_and(|e| e == *extension));
            if let (Some(extension), Some(stem)) = (extension, file.file_stem()) {
                let name = format!("{}/{}", group.file_name().to_string_lossy(), stem.to_string_lossy());
                texts.entry(name).or_default().push(extension);
            }
        }
    }
    Ok(texts)
}

/// The texts in columns that together are `width` wide. What comes before step 1 starts in one row in all columns,
/// and so does each step.
fn side_by_side(titles: &[String], texts: &[String], width: usize) -> String {
    let count = titles.len().max(1);
    let column = (width.saturating_sub(BETWEEN.len() * (count - 1)) / count).max(16);
    let mut out = String::new();
    row(&mut out, titles.iter().map(|title| Some(title.clone())), column);
    row(&mut out, titles.iter().map(|_| Some("-".repeat(column))), column);
    let parts: Vec<Vec<Vec<String>>> = texts.iter().map(|text| parts(text, column)).collect();
    let steps = parts.iter().map(Vec::len).max().unwrap_or(0);
    for step in 0..steps {
        let part = |text: &'_ Vec<Vec<String>>| text.get(step).cloned().unwrap_or_default();
        let parts: Vec<Vec<String>> = parts.iter().map(part).collect();
        for line in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
            row(&mut out, parts.iter().map(|part| part.get(line).cloned()), column);
        }
    }
    out
}

fn row(out: &mut String, cells: impl Iterator<Item = Option<String>>, column: usize) {
    let mut line = String::new();
    for (place, cell) in cells.enumerate() {
        let _ = write!(line, "{}{:column$}", if place > 0 { BETWEEN } else { "" }, cell.unwrap_or_default());
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// A text cut before each of its numbered steps, and its lines cut to the column.
fn parts(text: &str, column: usize) -> Vec<Vec<String>> {
    let mut parts = vec![vec![]];
    for line in text.lines() {
        if is_step(line) {
            parts.push(vec![]);
        }
        // There is at least the part before the first step.
        if let Some(part) = parts.last_mut() {
            part.extend(wrapped(line, column));
        }
    }
    parts
}

/// Whether a line is a comment such as `// 1. Load the tile.`
fn is_step(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("// ") else { return false };
    let after = comment.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < comment.len() && after.starts_with(". ")
}

/// A line in pieces no wider than the column: broken at spaces where there are any, what follows indented under it.
fn wrapped(line: &str, column: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start().len();
    let under = " ".repeat((indent + 4).min(column / 2));
    let (mut pieces, mut rest) = (vec![], line.to_owned());
    while rest.chars().count() > column {
        let at = rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
        let start = rest.len() - rest.trim_start().len();
        let space = rest[..at].rfind(' ').filter(|&space| space > start);
        let tail = rest.split_off(space.unwrap_or(at));
        pieces.push(std::mem::replace(&mut rest, format!("{under}{}", tail.trim_start())));
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_start_in_one_row() {
        let texts =
            ["a\n  // 1. One.\nb\nc\n// 2. Two.\n".to_owned(), "a\nz\n// 1. One.\nb\n// 2. Two.\nend".to_owned()];
        let titles = ["x.cl".to_owned(), "x.cu".to_owned()];
        let lines = side_by_side(&titles, &texts, 40);
        assert_eq!(
            lines.lines().skip(2).collect::<Vec<_>>(),
            [
                "a                  | a",
                "                   | z",
                "  // 1. One.       | // 1. One.",
                "b                  | b",
                "c                  |",
                "// 2. Two.         | // 2. Two.",
                "                   | end",
            ]
        );
    }

    #[test]
    fn long_lines_go_on_below() {
        assert_eq!(wrapped("  let x = 1 + 2 + 3;", 12), ["  let x = 1", "      + 2 +", "      3;"]);
        assert_eq!(wrapped("xxxxxxxxxxxxxxxxxxxx", 16), ["xxxxxxxxxxxxxxxx", "    xxxx"]);
        assert_eq!(wrapped("", 16), [""]);
    }

    #[test]
    fn the_kernels_are_found() {
        let texts = texts(&root().join("kernels")).unwrap();
        assert_eq!(texts.get("scan/lookback").map(Vec::len), Some(3));
    }
}
