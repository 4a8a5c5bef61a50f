//! The tables of the README, and of documents and pages in docs, say what the record's rows in docs/results do.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of a file in docs/results.
fn rows(file: &str) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(root().join("docs/results").join(file)).unwrap()).unwrap()
}

/// A line of a table, cell by cell.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The lines of the table whose first line has this.
fn table<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let (_, rest) = text.split_once(heading).unwrap_or_else(|| panic!("no table {heading:?}"));
    rest.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells)
}

/// A backend's times of a primitive, type and size, the fastest of several rows: a call's share of a batch where that was taken.
struct Times(HashMap<(String, String, String, u64), f64>);

impl Times {
    fn read() -> Times {
        let mut times: HashMap<_, f64> = HashMap::new();
        for file in ["2026-11-23-h200.json", "2026-11-23-h200-f32-u64.json"] {
            for row in rows(file) {
                let n = row["n"].as_u64().unwrap();
                let batched = row["batched_ms"].as_f64().filter(|ms| n <= 1 << 20 && *ms > 0.0);
                let Some(ms) = batched.or(row["median_ms"].as_f64()) else { continue };
                let text = |field: &str| row[field].as_str().unwrap().to_string();
                let least = times.entry((text("backend"), text("primitive"), text("type"), n)).or_insert(ms);
                *least = least.min(ms);
            }
        }
        Times(times)
    }

    fn of(&self, backend: &str, primitive: &str, ty: &str, n: u64) -> f64 {
        let key = (backend.into(), primitive.into(), ty.into(), n);
        *self.0.get(&key).unwrap_or_else(|| panic!("the record has no row of {key:?}"))
    }
}

/// What a row's first cell names: a primitive, and its elements' type.
fn subject(cell: &str) -> Option<(&'static str, &'static str)> {
    let words: Vec<&str> = cell.split_whitespace().filter(|word| *word != "sum").collect();
    let primitive = match *words.first()? {
        "reduce" => "reduce",
        "scan" => "scan",
        "sort" if words[1] == "keys" => "sort_keys",
        "sort" => "sort_pairs",
        _ => return None,
    };
    let ty = ["u32", "f32", "u64"].into_iter().find(|ty| words.contains(ty))?;
    Some((primitive, ty))
}

/// A cell's numbers and its word: `1.02, 0.95: **not** at 2^20` or `1.03 of CUB (aim 0.97): reached`.
fn cell(text: &str) -> (Vec<f64>, bool) {
    let (numbers, verdict) = text.split_once(": ").unwrap();
    let numbers = numbers.split([' ', '(']).map(|word| word.trim_end_matches(',')).map_while(|word| word.parse().ok());
    (numbers.collect(), verdict == "reached")
}

#[track_caller]
fn holds(place: &str, text: &str, measured: &[f64], aim: f64) {
    let (said, reached) = cell(text);
    let rounded: Vec<f64> = measured.iter().map(|x| (x * 100.0).round() / 100.0).collect();
    assert_eq!(said, rounded, "{place}: {measured:?}");
    assert_eq!(reached, measured.iter().all(|x| *x >= aim), "{place}: {measured:?} and the aim {aim}");
}

const SIZES: [&[u32]; 3] = [&[14, 16, 18], &[20, 22, 24], &[26, 28]];

fn aims(primitive: &str, ty: &str) -> [f64; 3] {
    match (primitive, ty) {
        ("reduce", _) => [1.4, 1.1, 1.0],
        ("scan", "u64") => [1.1, 1.1, 1.15],
        ("scan", _) => [1.1, 1.15, 1.28],
        ("sort_keys", "u32" | "f32") => [1.3, 1.15, 1.1],
        _ => [1.3, 1.1, 1.05],
    }
}

/// A row of sizes below 2^14, of several primitives: `2^10: 1.93, 1.10; 2^12: 1.62, 1.21: reached`.
fn few_elements(file: &str, times: &Times, row: &[&str]) {
    let (what, primitives) = row[0].strip_prefix("below 2^14").unwrap().split_once(": ").unwrap();
    let ty = ["u32", "f32", "u64"].into_iter().find(|ty| what.contains(ty)).unwrap();
    let (sizes, verdict) = row[1].rsplit_once(": ").unwrap();
    let mut reached = true;
    for size in sizes.split("; ") {
        let (log, said) = size.strip_prefix("2^").and_then(|size| size.split_once(": ")).unwrap();
        let n = 1 << log.parse::<u32>().unwrap();
        let measured = primitives.split(", ").map(|primitive| {
            let primitive = match primitive {
                "keys" => "sort_keys",
                "pairs" => "sort_pairs",
                other => other,
            };
            times.of("cub", primitive, ty, n) / times.of("cuda", primitive, ty, n)
        });
        let measured: Vec<f64> = measured.collect();
        let rounded: Vec<String> = measured.iter().map(|ratio| format!("{ratio:.2}")).collect();
        assert_eq!(said.replace("**", ""), rounded.join(", "), "{file}, {}", row[0]);
        reached &= measured.iter().all(|ratio| *ratio >= 1.0);
    }
    assert_eq!(verdict == "reached", reached, "{file}, {}", row[0]);
}

#[test]
fn tables_say_what_the_rows_do() {
    let times = Times::read();
    for file in ["docs/performance.md", "docs/notebook.md"] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let mut rows = 0;
        for row in table(&text, "| CUDA, times as fast as CUB (aim)") {
            let Some((primitive, ty)) = subject(row[0]) else {
                few_elements(file, &times, &row);
                continue;
            };
            for ((sizes, aim), said) in SIZES.iter().zip(aims(primitive, ty)).zip(&row[1..]) {
                let ratio =
                    |log: &u32| times.of("cub", primitive, ty, 1 << log) / times.of("cuda", primitive, ty, 1 << log);
                let measured: Vec<f64> = sizes.iter().map(ratio).collect();
                holds(&format!("{file}, {}", row[0]), said, &measured, aim);
            }
            rows += 1;
        }
        assert_eq!(rows, 10, "{file}");
        rows = 0;
        for row in table(&text, "| Through the other APIs |") {
            let (api, rest) = row[0].split_once(' ').unwrap();
            let (primitive, ty) = subject(rest).unwrap();
            let (backend, scan, sort) = if api == "WGSL" { ("wgpu", 0.82, 0.8) } else { ("opencl", 0.88, 0.9) };
            let place = format!("{file}, {}", row[0]);
            let small =
                |log: &u32| times.of("cuda", primitive, ty, 1 << log) / times.of(backend, primitive, ty, 1 << log);
            holds(&place, row[1], &SIZES[0].iter().map(small).collect::<Vec<_>>(), 0.6);
            // WGSL binds no more u64 than 2^27, which CUB was not timed with.
            let (against, aim, logs): (_, _, &[u32]) = match (primitive, api, ty) {
                ("scan", "WGSL", "u64") => (None, scan, &[26, 27]),
                ("scan", ..) => (None, scan, &[26, 28]),
                (_, "WGSL", "u64") => (Some("cub"), if primitive == "reduce" { 0.97 } else { sort }, &[26]),
                _ => (Some("cub"), if primitive == "reduce" { 0.97 } else { sort }, &[26, 28]),
            };
            let large = |log: &u32| {
                let floor = match against {
                    Some(other) => times.of(other, primitive, ty, 1 << log),
                    None => times.of(backend, "copy", ty, 1 << log),
                };
                floor / times.of(backend, primitive, ty, 1 << log)
            };
            holds(&place, row[2], &logs.iter().map(large).collect::<Vec<_>>(), aim);
            rows += 1;
        }
        assert_eq!(rows, 20, "{file}");
    }
}

/// The README's six rows: 10^9 elements a second.
#[test]
fn the_readme_says_what_the_rows_do() {
    let times = Times::read();
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let mut rows = 0;
    for row in table(&text, "| | CUDA | OpenCL | WGSL | CUB |") {
        let (what, log) = row[0].split_once(", 2^").unwrap();
        let primitive = if what == "copy" { "copy" } else { subject(&format!("{what} u32")).unwrap().0 };
        let n = 1u64 << log.parse::<u32>().unwrap();
        let speed = |backend| format!("{:.1}", n as f64 / times.of(backend, primitive, "u32", n) / 1e6);
        assert_eq!(row[1..], ["cuda", "opencl", "wgpu", "cub"].map(speed), "{}", row[0]);
        rows += 1;
    }
    assert_eq!(rows, 6);
}

/// A record's rows. One is meant by a text such as `cuda scan lookback fault=silent:100`: what that does not say is as usual.
struct Record(Vec<Value>);

/// Whether two rows are of one call: of one commit, and beside the same copy, which a call times once for each type, size and input that a
/// backend has. Of two types or inputs the commit alone tells.
fn are_of_one_call(a: &Value, b: &Value) -> bool {
    let copy = |row: &Value| row["gb_s"].as_f64().unwrap() / row["copy_fraction"].as_f64().unwrap();
    let have_one_copy = ["backend", "type", "n", "input"].into_iter().all(|field| a[field] == b[field]);
    a["commit"] == b["commit"] && (!have_one_copy || (copy(a) / copy(b) - 1.0).abs() < 1e-9)
}

impl Record {
    fn read(file: &str) -> Record {
        Record(rows(file))
    }

    fn rows(&self, n: u64, meant: &str) -> Vec<&Value> {
        let usual = ["input=uniform", "fault=none", "waiting=bounded", "type=u32"];
        let mut fields: HashMap<&str, &str> = usual.into_iter().filter_map(|field| field.split_once('=')).collect();
        let mut names = ["backend", "primitive", "algorithm"].into_iter();
        fields
            .extend(meant.split(' ').map(|word| word.split_once('=').unwrap_or_else(|| (names.next().unwrap(), word))));
        let has = |row: &Value, name: &str, value: &str| {
            // Older records have older names.
            row[name]
                .as_str()
                .is_some_and(|said| said == value || name == "algorithm" && trifold::tuning::renamed(said) == value)
        };
        let is_meant = |row: &&Value| row["n"] == n && fields.iter().all(|(name, value)| has(row, name, value));
        self.0.iter().filter(is_meant).collect()
    }

    /// The times in us of two rows of one call, of which the record has one pair.
    #[track_caller]
    fn both(&self, n: u64, one: &str, other: &str) -> [f64; 2] {
        let others = self.rows(n, other);
        let pairs = self.rows(n, one).into_iter().flat_map(|a| others.iter().map(move |b| [a, *b]));
        let pairs: Vec<[&Value; 2]> = pairs.filter(|[a, b]| are_of_one_call(a, b)).collect();
        let [pair] = pairs[..] else { panic!("{} calls have {n}, {one} and {other}", pairs.len()) };
        let field = if n <= 1 << 20 { "batched_ms" } else { "median_ms" };
        pair.map(|row| 1e3 * row[field].as_f64().unwrap())
    }

    /// How many times as long as the other row's one takes.
    #[track_caller]
    fn ratio(&self, n: u64, one: &str, other: &str) -> f64 {
        let [one, other] = self.both(n, one, other);
        one / other
    }

    /// How many times as long a call takes under a condition.
    #[track_caller]
    fn under(&self, condition: &str, n: u64, call: &str) -> f64 {
        self.ratio(n, &format!("{call} {condition}"), call)
    }

    /// The one measured row of an experiment's call.
    #[track_caller]
    fn measured(&self, experiment: &str, backend: &str, algorithm: &str, n: u64) -> &Value {
        let meant = format!("experiment={experiment} backend={backend} algorithm={algorithm}");
        let rows: Vec<_> = self.rows(n, &meant).into_iter().filter(|row| row["median_ms"].is_f64()).collect();
        let [row] = rows[..] else { panic!("{} rows of {n}, {meant}", rows.len()) };
        row
    }
}

#[test]
fn the_table_at_2_28_says_what_the_rows_do() {
    let rows = Record::read("2026-11-23-h200-conditions.json");
    let texts = ["docs/performance.md", "docs/notebook.md"].map(|file| fs::read_to_string(root().join(file)).unwrap());
    let says = |row: usize, what: &[String]| {
        for text in &texts {
            let said = table(text, "| At 2^28, CUDA |").nth(row).unwrap().join(" | ");
            for what in what {
                assert!(said.contains(what.as_str()), "{what:?} is not in {said:?}");
            }
        }
    };
    let n = 1 << 28;
    let more = |ratio: f64, digits: usize| format!("{:.digits$}%", 100.0 * (ratio - 1.0));
    let kept = |ratio: f64| format!("{:.0}%", 100.0 / ratio);

    // A float sum with the same bits every run: of a call of its own, behind that of u32, which has two passes too.
    let sums = |backend: &str, by: &str, usual: &str| {
        let float = format!("{backend} scan {by} type=f32");
        let [u32, _] = rows.both(n, &format!("{backend} scan {usual}"), &format!("{backend} scan reduce_then_scan"));
        (rows.both(n, &float, &float)[0], u32)
    };
    let (cuda, cuda_u32) = sums("cuda", "lookahead", "lookahead");
    let (opencl, opencl_u32) = sums("opencl", "lookahead_registers", "lookahead_registers");
    let (wgsl, wgsl_u32) = sums("wgpu", "reduce_then_scan", "lookahead_registers");
    let same = format!("({cuda:.1} and {cuda_u32:.1} us, {opencl:.1} and {opencl_u32:.1}): reached");
    says(0, &[same, format!("{} more: **not**", more(wgsl / wgsl_u32, 0))]);

    // Bounded waiting.
    let waiting = |n, call: &str, digits| more(1.0 / rows.under("waiting=unbounded", n, call), digits);
    let [cuda, wgsl] = ["cuda scan lookback", "wgpu scan lookback"].map(|call| waiting(n, call, 1));
    let missed = format!("CUDA {cuda}, WGSL {wgsl}: **not**");
    let [cuda, wgsl, opencl] = [("cuda", n), ("wgpu", 1 << 26), ("opencl", 1 << 26)]
        .map(|(backend, n)| waiting(n, &format!("{backend} sort_keys onesweep"), 1));
    let reached = format!("sort in CUDA {cuda} (at 2^26 WGSL {wgsl}, OpenCL {opencl}): reached");
    let (opencl, usual) = (waiting(n, "opencl scan lookback", 0), waiting(n, "opencl scan lookahead_registers", 1));
    let opencl = format!("OpenCL {opencl}: **not** (of the scan that it takes there {usual})");
    // Two calls each way, on another card, with the kernels of the commit that ships it as built before that, and as it was.
    let later = Record::read("2026-11-25-h100-select-by-key.json");
    let since = |tuning: Value| {
        let ms = |way: &str| {
            let rows = later.rows(n, &format!("opencl scan lookback waiting={way}"));
            rows.iter().filter(|row| row["tuning"] == tuning).map(|row| number(row, "median_ms")).sum::<f64>()
        };
        more(ms("bounded") / ms("unbounded"), 1)
    };
    let (now, before) = (since(Value::Null), since("scan_resident=0".into()));
    let registers = format!("its registers bounded, {now}: reached");
    says(1, &[missed, reached, opencl, registers, format!("where it was {before} before")]);

    // One tile in a hundred blocked.
    let silent = |call: &str| kept(rows.under("fault=silent:100", n, call));
    let [back, sort] = ["cuda scan lookback", "cuda sort_keys onesweep"].map(silent);
    let ahead = silent("cuda scan lookahead");
    let [wgsl, opencl] = ["wgpu scan lookahead_registers", "opencl scan lookahead_registers"].map(silent);
    // Without a fault it is the record's.
    let wide = "opencl scan lookahead_registers type=u64 fault=silent:100";
    let wide = kept(rows.both(n, wide, wide)[0] / (1e3 * Times::read().of("opencl", "scan", "u64", n)));
    says(
        2,
        &[
            format!("look-back {back}, Onesweep {sort}, both in CUDA: reached"),
            format!("look-ahead {ahead}, by registers {wgsl} in WGSL and {opencl} in OpenCL: **not**"),
            format!("u64 in OpenCL, tile by tile, {wide}"),
        ],
    );

    // Two passes.
    let [cuda, wgsl, opencl] = ["cuda", "wgpu", "opencl"]
        .map(|backend| rows.ratio(n, &format!("{backend} scan lookback"), &format!("{backend} scan reduce_then_scan")));
    says(3, &[format!("CUDA {cuda:.2}, WGSL {wgsl:.2}, OpenCL {opencl:.2}: reached")]);

    // Skewed keys.
    let [sorted, few, hot, constant] = ["sorted", "few-distinct", "hot-digit", "constant"]
        .map(|input| rows.under(&format!("input={input}"), n, "cuda sort_keys onesweep"));
    let times = 1.0 / constant;
    let hybrid = |input: &str, call: &str| rows.under(&format!("input={input}"), 1 << 20, call);
    let both = |call: &str| format!("{:.2}, {:.2}", hybrid("few-distinct", call), hybrid("hot-digit", call));
    let [keys, pairs, wide, wgsl] =
        ["cuda sort_keys hybrid", "cuda sort_pairs hybrid", "cuda sort_keys hybrid type=u64", "wgpu sort_keys hybrid"]
            .map(both);
    // To two digits the hot digit might be the aim itself.
    let [opencl, hot_opencl] = ["few-distinct", "hot-digit"].map(|input| hybrid(input, "opencl sort_keys hybrid"));
    says(
        4,
        &[
            format!("sorted {sorted:.2}, few distinct {few:.2}, hot digit {hot:.2}, constant {times:.1} times"),
            format!("CUDA {keys}, pairs {pairs}, u64 {wide}"),
            format!("OpenCL {opencl:.2}, {hot_opencl:.3}; WGSL {wgsl}: **not** in CUDA"),
        ],
    );
}

const EXPERIMENTS: &str = "2026-11-23-h200-experiments.json";
/// What the reduce article reduces.
const REDUCED: u64 = 10 << 20;

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
    let traffic = |log: u32| record.measured("traffic", backend, algorithm, 1 << log);
    match head {
        "| | 2^26 | 2^28 | over its predicted time, 2^28 |" => {
            Some(vec![time(traffic(26)), time(traffic(28)), over_prediction(traffic(28))])
        }
        "| | 2^28 | over its predicted time |" => Some(vec![time(traffic(28)), over_prediction(traffic(28))]),
        "| | time | 10^9 elements a second |" => {
            let row = record.measured("reduce-ladder", backend, algorithm, REDUCED);
            Some(vec![time(row), format!("{:.0}", number(row, "n") / number(row, "median_ms") / 1e6)])
        }
        _ => None,
    }
}

#[test]
fn pages_say_what_the_rows_do() {
    let record = Record::read(EXPERIMENTS);
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
    let record = Record::read(EXPERIMENTS);
    let text = fs::read_to_string(root().join("docs/sources/gwebgpu-reduce-sum.md")).unwrap();
    let mut held = 0;
    for cells in table(&text, "One H200, WGSL and CUDA, us") {
        let algorithms: Vec<&str> = cells[2].split('`').skip(1).step_by(2).filter(|name| !name.contains('/')).collect();
        let us = |backend, algorithm| {
            1e3 * number(record.measured("reduce-ladder", backend, algorithm, REDUCED), "median_ms")
        };
        let times = algorithms.iter().map(|name| format!("{:.1}, {:.1}", us("wgpu", name), us("cuda", name)));
        assert_eq!(cells[3], times.collect::<Vec<_>>().join("; "), "{cells:?}");
        held += algorithms.len();
    }
    assert_eq!(held, 9);
}
