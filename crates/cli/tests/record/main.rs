//! The figures of README and book are those of the record's rows in docs/results.
//!
//! A table behind `<!-- rows: NAME -->` is made from the rows: with `TRIFOLD_WRITE_RECORD` set this test writes it anew. Tables on
//! the algorithms' pages are compared.

mod aims;
mod pages;
mod rows;
mod tables;

use std::fs;

use rows::{Record, root};

/// Set, the test writes the tables instead of comparing them.
const WRITE: &str = "TRIFOLD_WRITE_RECORD";
const MARK: &str = "<!-- rows: ";

/// The documents that have tables of rows, and how many.
const DOCUMENTS: [(&str, usize); 4] = [
    ("README.md", 1),
    ("docs/performance.md", 7),
    ("docs/algorithms/sort-one-tile.md", 1),
    ("docs/algorithms/sort-hybrid.md", 2),
];

/// The text with each table made anew: those lines behind its mark that begin with a bar.
fn made(text: &str, record: &Record) -> (String, usize) {
    let (mut made, mut tables) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        made += &format!("{line}\n");
        let Some(name) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else { continue };
        let mut old = vec![];
        while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
            old.push(row);
        }
        made += &tables::made(name, record, &old);
        tables += 1;
    }
    (made, tables)
}

#[test]
fn tables_say_what_the_rows_do() {
    let record = Record::read();
    for (document, tables) in DOCUMENTS {
        let path = root().join(document);
        let text = fs::read_to_string(&path).unwrap();
        let (made, found) = made(&text, &record);
        assert_eq!(found, tables, "{document} has {found} tables of rows");
        if std::env::var_os(WRITE).is_some() {
            fs::write(path, made).unwrap();
        } else {
            assert!(text == made, "{document} is not what the rows say: run this test with {WRITE}=1");
        }
    }
}
