//! Result files: `report` makes a page, a table and drawings of one that it takes, whatever the numbers and the names in it.

use std::ffi::OsStr;

use arbitrary::{Result, Unstructured};
use clap::Parser;
use serde_json::{Map, Value, json};

use crate::args::{Cli, Command};
use crate::{folder, report};

/// Reads the bytes as a result file, or rows that they choose.
pub fn results(bytes: &[u8]) {
    if matches!(bytes.first(), Some(b'[' | b' ' | b'{')) {
        return read(bytes);
    }
    let mut choices = Unstructured::new(bytes);
    if let Ok(rows) = rows(&mut choices) {
        read(Value::Array(rows).to_string().as_bytes());
    }
}

fn read(bytes: &[u8]) {
    let [file, page, csv, svg] = ["rows.json", "page.html", "rows.csv", "svg"].map(|name| folder().join(name));
    std::fs::write(&file, bytes).expect("a file to read");
    _ = std::fs::remove_dir_all(&svg);
    let words = ["trifold", "report"].map(OsStr::new);
    let outputs = [("-o", &page), ("--csv", &csv), ("--svg", &svg)];
    let outputs = outputs.into_iter().flat_map(|(option, path)| [option.as_ref(), path.as_os_str()]);
    let words = words.into_iter().chain([file.as_os_str()]).chain(outputs);
    let Some(Command::Report(mut args)) = Cli::parse_from(words).command else { unreachable!("it says report") };
    // There may be nothing to draw, and there is a page all the same.
    _ = report::run(&args);
    args.svg = None;
    if report::run(&args).is_err() {
        return;
    }
    let given = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let says_no_number = |word: &str| given.contains(word);
    let drawings = std::fs::read_dir(&svg).into_iter().flatten().flatten().map(|entry| entry.path());
    for drawn in drawings.chain([csv]) {
        let text = std::fs::read_to_string(&drawn).expect("what was written is text").to_ascii_lowercase();
        for word in ["inf", "nan"] {
            assert!(!text.contains(word) || says_no_number(word), "{} has `{word}`:\n{text}", drawn.display());
        }
    }
    let page = std::fs::read_to_string(&page).expect("what was written is text");
    assert_eq!(page.matches("<script").count(), 1, "a name of the file became a script of the page");
}

/// Rows whose fields are right in kind, most of them.
fn rows(choices: &mut Unstructured) -> Result<Vec<Value>> {
    let count = choices.int_in_range(1..=6)?;
    (0..count).map(|_| row(choices)).collect()
}

fn row(choices: &mut Unstructured) -> Result<Value> {
    let mut row = Map::new();
    for (name, words) in WORDS {
        row.insert(name.into(), json!(word(choices, words)?));
    }
    for name in NUMBERS {
        row.insert(name.into(), if choices.ratio(2, 3)? { number(choices)? } else { Value::Null });
    }
    for name in COUNTS {
        row.insert(name.into(), json!(count(choices)?));
    }
    for name in ["run_length", "outputs", "scratch_bytes", "traffic_bytes", "subgroup_inferred"] {
        row.insert(name.into(), if choices.ratio(1, 2)? { json!(count(choices)?) } else { Value::Null });
    }
    row.insert("verified".into(), json!(choices.arbitrary::<Option<bool>>()?));
    Ok(Value::Object(row))
}

fn word<'a>(choices: &mut Unstructured<'a>, words: &[&'static str]) -> Result<String> {
    Ok(match choices.ratio(9, 10)? {
        true => (*choices.choose(words)?).into(),
        false => choices.arbitrary::<&str>()?.into(),
    })
}

fn number(choices: &mut Unstructured) -> Result<Value> {
    const EDGES: [f64; 12] = [0.0, -0.0, -1.0, 1e-320, 1e-300, 1e-9, 0.5, 1.0, 1e3, 1e300, f64::MAX, f64::EPSILON];
    let number = if choices.ratio(1, 2)? { *choices.choose(&EDGES)? } else { choices.arbitrary()? };
    Ok(json!(number))
}

fn count(choices: &mut Unstructured) -> Result<u64> {
    const EDGES: [u64; 8] = [0, 1, 8, 1000, 1 << 20, 1 << 28, u32::MAX as u64, u64::MAX];
    if choices.ratio(3, 4)? { Ok(*choices.choose(&EDGES)?) } else { choices.int_in_range(0..=1 << 32) }
}

const WORDS: [(&str, &[&str]); 17] = [
    ("backend", &["cpu", "wgpu", "opencl", "cuda", "cub", "other"]),
    ("device", &["llvmpipe", "NVIDIA H200", "", "<script>", "a&b\"'", "\u{202e}"]),
    ("driver", &["", "580.1", "cub-3"]),
    ("api", &["Vulkan", "Gl", "CUDA 13.0 sm_90", "OpenCL 3.0", ""]),
    ("primitive", &["copy", "scan", "reduce", "sort_keys", "sort_pairs", "select_if", "reduce_by_key", "x/../y"]),
    ("algorithm", &["", "lookback", "onesweep", "reduce_then_scan", "x/y"]),
    ("type", &["u32", "f32", "u64", "f64", "", "../x"]),
    ("operator", &["sum", "min", ""]),
    ("input", &["uniform", "constant", "sorted"]),
    ("fault", &["none", "silent:100", "late:9"]),
    ("waiting", &["bounded", "unbounded"]),
    ("clock", &["device", "host"]),
    ("experiment", &["", "sizes", "workgroup", "</script>"]),
    ("tuning", &["", "sort_keys=20"]),
    ("subgroup_reported", &["32", "8..16"]),
    ("date", &["2026-11-20T00:00:00Z", ""]),
    ("version", &["", "0.1.0"]),
];
const NUMBERS: [&str; 9] =
    ["kept", "median_ms", "min_ms", "batched_ms", "host_us", "gelem_s", "gb_s", "copy_fraction", "predicted_ms"];
const COUNTS: [&str; 2] = ["n", "runs"];
