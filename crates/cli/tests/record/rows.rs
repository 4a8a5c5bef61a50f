//! The record's rows.

use std::collections::HashMap;
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

pub fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"))
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} of {row}"))
}

/// What a call of this many elements takes of the device, in us: its share of a batch where that was taken.
fn us(row: &Value) -> f64 {
    let batched = row["batched_ms"].as_f64().filter(|ms| number(row, "n") <= f64::from(1 << 20) && *ms > 0.0);
    1e3 * batched.unwrap_or_else(|| number(row, "median_ms"))
}

type Key = (String, String, String, u64);

/// The record: usual calls by what they are of, and calls under other conditions.
pub struct Record {
    usual: HashMap<Key, Value>,
    conditions: Vec<Value>,
}

impl Record {
    pub fn read() -> Record {
        let mut usual: HashMap<Key, Value> = HashMap::new();
        for row in rows("2026-11-26-h200.json") {
            let key = |field: &str| text(&row, field).to_string();
            let key = (key("backend"), key("primitive"), key("type"), row["n"].as_u64().unwrap());
            // Of CUB's two versions the faster one, row by row.
            if usual.get(&key).is_none_or(|known| us(&row) < us(known)) {
                usual.insert(key, row);
            }
        }
        Record { usual, conditions: rows("2026-11-26-h200-conditions.json") }
    }

    pub fn row(&self, backend: &str, primitive: &str, ty: &str, log: u32) -> Option<&Value> {
        self.usual.get(&(backend.into(), primitive.into(), ty.into(), 1 << log))
    }

    /// A call's time in us.
    pub fn us(&self, backend: &str, primitive: &str, ty: &str, log: u32) -> Option<f64> {
        self.row(backend, primitive, ty, log).map(us)
    }

    /// One backend's time over another's.
    pub fn times_as_fast(&self, backend: &str, other: &str, primitive: &str, ty: &str, log: u32) -> Option<f64> {
        Some(self.us(other, primitive, ty, log)? / self.us(backend, primitive, ty, log)?)
    }

    /// The time of a call over that of another in the same run of the program. The other is the nearest row of those that are meant.
    /// `field` is what they differ in, with its value and the other's.
    pub fn over(&self, call: &Call<'_>, field: &str, value: &str, other: &str) -> Option<f64> {
        let is_of = |row: &Value, value: &str| {
            let usual = [("fault", "none"), ("waiting", "bounded"), ("input", "uniform")];
            call.is_of(row)
                && text(row, field) == value
                && usual.iter().all(|(name, usual)| *name == field || text(row, name) == *usual)
        };
        let (at, row) = self.conditions.iter().enumerate().find(|(_, row)| is_of(row, value))?;
        let others = self.conditions.iter().enumerate().filter(|(_, row)| is_of(row, other));
        let (_, nearest) = others.min_by_key(|(i, _)| i.abs_diff(at))?;
        Some(number(row, "median_ms") / number(nearest, "median_ms"))
    }

    /// The time of the first such call under usual conditions, in us.
    pub fn under_usual_conditions(&self, call: &Call<'_>) -> Option<f64> {
        let usual = |row: &&Value| call.is_of(row) && row["fault"] == "none" && row["waiting"] == "bounded";
        self.conditions
            .iter()
            .find(|row| usual(row) && row["input"] == "uniform")
            .map(|row| 1e3 * number(row, "median_ms"))
    }
}

/// What a row is to be of; `""` is any algorithm.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub backend: &'a str,
    pub primitive: &'a str,
    pub algorithm: &'a str,
    pub ty: &'a str,
    pub log: u32,
}

impl Call<'_> {
    fn is_of(&self, row: &Value) -> bool {
        text(row, "backend") == self.backend
            && text(row, "primitive") == self.primitive
            && (self.algorithm.is_empty() || text(row, "algorithm") == self.algorithm)
            && text(row, "type") == self.ty
            && row["n"] == 1u64 << self.log
    }
}
