//! The record in docs/results, and the tables of documents that say what it does.
#![allow(dead_code, reason = "each file of tests uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of a file in docs/results.
pub fn rows(file: &str) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(root().join("docs/results").join(file)).unwrap()).unwrap()
}

/// A line of a table, cell by cell.
pub fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The lines of the table whose first line has this.
pub fn table<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let (_, rest) = text.split_once(heading).unwrap_or_else(|| panic!("no table {heading:?}"));
    rest.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells)
}
