//! The tables on the algorithms' pages and on the documents' say what the experiments' rows do.

use std::fs;

use serde_json::Value;

use crate::rows::{cells, number, root, rows, table};

const EXPERIMENTS: &str = "2026-11-23-h200-experiments.json";
/// What the reduce article reduces.
const REDUCED: u64 = 10 << 20;

/// The one measured row of an experiment's call.
#[track_caller]
fn measured_row<'a>(rows: &'a [Value], experiment: &str, backend: &str, algorithm: &str, n: u64) -> &'a Value {
    let is_meant = |row: &&Value| {
        // Older records have older names.
        let name = row["algorithm"].as_str().unwrap();
        row["experiment"] == experiment
            && row["backend"] == backend
            && row["n"] == n
            && (name == algorithm || trifold::tuning::renamed(name) == algorithm)
            && row["median_ms"].is_f64()
            && row["type"] == "u32"
    };
    let rows: Vec<_> = rows.iter().filter(is_meant).collect();
    let [row] = rows[..] else { panic!("{} rows of {n}, {experiment}, {backend}, {algorithm}", rows.len()) };
    row
}

fn time(row: &Value) -> String {
    let ms = number(row, "median_ms");
    if ms > 0.999_95 { format!("{ms:.2} ms") } else { format!("{:.1} us", 1e3 * ms) }
}

fn over_prediction(row: &Value) -> String {
    format!("{:.2}", number(row, "median_ms") / number(row, "predicted_ms"))
}

/// What stands in an API's row of a table with this head.
fn measured(record: &[Value], head: &str, backend: &str, algorithm: &str) -> Option<Vec<String>> {
    let traffic = |log: u32| measured_row(record, "traffic", backend, algorithm, 1 << log);
    match head {
        "| | 2^26 | 2^28 | over its predicted time, 2^28 |" => {
            Some(vec![time(traffic(26)), time(traffic(28)), over_prediction(traffic(28))])
        }
        "| | 2^28 | over its predicted time |" => Some(vec![time(traffic(28)), over_prediction(traffic(28))]),
        "| | time | 10^9 elements a second |" => {
            let row = measured_row(record, "reduce-ladder", backend, algorithm, REDUCED);
            Some(vec![time(row), format!("{:.0}", number(row, "n") / number(row, "median_ms") / 1e6)])
        }
        _ => None,
    }
}

#[test]
fn pages_say_what_the_rows_do() {
    let record = rows(EXPERIMENTS);
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
    let record = rows(EXPERIMENTS);
    let text = fs::read_to_string(root().join("docs/sources/gwebgpu-reduce-sum.md")).unwrap();
    let mut held = 0;
    for cells in table(&text, "One H200, WGSL and CUDA, us") {
        let algorithms: Vec<&str> = cells[2].split('`').skip(1).step_by(2).filter(|name| !name.contains('/')).collect();
        let us = |backend, algorithm| {
            1e3 * number(measured_row(&record, "reduce-ladder", backend, algorithm, REDUCED), "median_ms")
        };
        let times = algorithms.iter().map(|name| format!("{:.1}, {:.1}", us("wgpu", name), us("cuda", name)));
        assert_eq!(cells[3], times.collect::<Vec<_>>().join("; "), "{cells:?}");
        held += algorithms.len();
    }
    assert_eq!(held, 9);
}
