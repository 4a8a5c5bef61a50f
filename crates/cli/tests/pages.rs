//! The algorithms' pages say what the record of the experiments does.

mod record;

use std::fs;

use serde_json::Value;

use record::{cells, root, rows, table};

/// The record's rows, as they were measured with the numbers that ship.
struct Record(Vec<Value>);

impl Record {
    fn read() -> Record {
        Record(rows("2026-11-23-h200-experiments.json"))
    }

    /// The one row of a call, of any size if none is said.
    #[track_caller]
    fn row(&self, experiment: &str, backend: &str, algorithm: &str, n: Option<u64>) -> &Value {
        let is_meant = |row: &&Value| {
            // Older records have older names.
            row["algorithm"].as_str().is_some_and(|name| trifold::renamed(name) == algorithm)
                && row["experiment"] == experiment
                && row["backend"] == backend
                && n.is_none_or(|n| row["n"] == n)
                && row["median_ms"].is_f64()
        };
        let rows: Vec<&Value> = self.0.iter().filter(is_meant).collect();
        assert_eq!(rows.len(), 1, "rows of {experiment}, {backend}, {algorithm}, {n:?}");
        rows[0]
    }
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

fn time(row: &Value) -> String {
    let ms = number(row, "median_ms");
    if ms > 0.999_95 { format!("{ms:.2} ms") } else { format!("{:.1} us", 1e3 * ms) }
}

fn over_prediction(row: &Value) -> String {
    format!("{:.2}", number(row, "median_ms") / number(row, "predicted_ms"))
}

/// What stands in an API's row of a table with this head.
fn measured(record: &Record, head: &str, backend: &str, algorithm: &str) -> Option<Vec<String>> {
    let traffic = |log: u32| record.row("traffic", backend, algorithm, Some(1 << log));
    match head {
        "| | 2^26 | 2^28 | over its predicted time, 2^28 |" => {
            Some(vec![time(traffic(26)), time(traffic(28)), over_prediction(traffic(28))])
        }
        "| | 2^28 | over its predicted time |" => Some(vec![time(traffic(28)), over_prediction(traffic(28))]),
        "| | time | 10^9 elements a second |" => {
            let row = record.row("reduce-ladder", backend, algorithm, None);
            Some(vec![time(row), format!("{:.0}", number(row, "n") / number(row, "median_ms") / 1e6)])
        }
        _ => None,
    }
}

#[test]
fn pages_say_what_the_rows_do() {
    let record = Record::read();
    let mut held = 0;
    for page in fs::read_dir(root().join("docs/algorithms")).unwrap() {
        let path = page.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().replace('-', "_");
        let Some((_, algorithm)) = name.split_once('_') else { continue };
        let text = fs::read_to_string(&path).unwrap();
        let mut head = "";
        // The page of digits of 8 bits has a table of those of 4 behind its own.
        let mut tables = 0;
        for line in text.lines() {
            if !line.starts_with('|') {
                head = "";
            } else if head.is_empty() {
                head = line;
                tables += u32::from(line.starts_with("| | 2^28 |"));
            }
            let said = cells(line);
            let Some((_, backend)) =
                [("CUDA", "cuda"), ("OpenCL", "opencl"), ("WGSL", "wgpu")].into_iter().find(|(api, _)| *api == said[0])
            else {
                continue;
            };
            let algorithm = if tables == 2 { format!("{algorithm}_4bit") } else { algorithm.to_owned() };
            if let Some(measured) = measured(&record, head, backend, &algorithm) {
                assert_eq!(said[1..], measured, "{}: {}", path.display(), said[0]);
                held += 1;
            }
        }
    }
    // Thirteen scans, four sorts and nine reductions by three APIs, and look-ahead by one.
    assert_eq!(held, 3 * 26 + 1);
}

#[test]
fn the_tutorials_ladder_says_what_the_rows_do() {
    let record = Record::read();
    let text = fs::read_to_string(root().join("docs/sources/gwebgpu-reduce-sum.md")).unwrap();
    let mut held = 0;
    for cells in table(&text, "One H200, WGSL and CUDA, us") {
        let algorithms: Vec<&str> = cells[2].split('`').skip(1).step_by(2).filter(|name| !name.contains('/')).collect();
        let us = |backend, algorithm| 1e3 * number(record.row("reduce-ladder", backend, algorithm, None), "median_ms");
        let times = algorithms.iter().map(|name| format!("{:.1}, {:.1}", us("wgpu", name), us("cuda", name)));
        assert_eq!(cells[3], times.collect::<Vec<_>>().join("; "), "{cells:?}");
        held += algorithms.len();
    }
    assert_eq!(held, 9);
}
