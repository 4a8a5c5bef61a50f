//! A row of the comparison, and rows that other programs measured.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use trifold::backend::Caps;
use trifold::plan::{Builtin, Fault, Form, Options, Request, Varies, Waiting, forms};
use trifold::types::Scalar;
use trifold::{Algorithm, Found, plan};
use trifold_conformance::Distribution;

use super::table::size;
use crate::elements::{Lengths, Shape, Spread};

/// One primitive on one device at one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// cpu, wgpu, opencl, cuda, or the name of another library.
    pub backend: String,
    pub device: String,
    /// Of another library's rows, where those do not say it, the name of their file.
    pub driver: String,
    pub api: String,
    pub primitive: String,
    pub algorithm: String,
    #[serde(rename = "type")]
    pub scalar: String,
    /// Of scan, reduce and reduce_by_key.
    pub operator: Option<String>,
    pub n: u64,
    #[serde(default = "no_input")]
    pub input: String,
    /// The share of elements that a selection was to keep; none of other primitives.
    pub kept: Option<f64>,
    /// How long the runs of keys were to be on average; none of other primitives.
    pub run_length: Option<u32>,
    /// How long segments were to be on average; none of other primitives.
    #[serde(default)]
    pub segment_length: Option<u32>,
    /// How their lengths differ.
    #[serde(default)]
    pub segments: Option<String>,
    /// How many keys a top_k took; none of other primitives.
    #[serde(default)]
    pub k: Option<u32>,
    /// Whether its keys stayed as they stood in the input; none of other primitives.
    #[serde(default)]
    pub unsorted: Option<bool>,
    /// How many bins a histogram had; none of other primitives.
    #[serde(default)]
    pub bins: Option<u32>,
    /// The bits of the keys that are compared, such as `0..16`, if not all are.
    #[serde(default)]
    pub bits: Option<String>,
    /// The type of what a sort of pairs carries.
    #[serde(default)]
    pub value: Option<String>,
    /// Which tiles were blocked on purpose.
    #[serde(default = "no_fault")]
    pub fault: String,
    /// How long tiles waited for each other.
    #[serde(default = "no_waiting")]
    pub waiting: String,
    /// How many timed runs the median is of.
    pub runs: u32,
    /// `device` for the device's own timestamps, `host` where it has none.
    pub clock: Option<String>,
    pub median_ms: Option<f64>,
    pub min_ms: Option<f64>,
    /// A call's share of 32 calls queued behind a busy device.
    pub batched_ms: Option<f64>,
    /// What a call takes of the host's time to submit.
    pub host_us: Option<f64>,
    /// 10^9 elements a second.
    pub gelem_s: Option<f64>,
    /// How many elements are kept, or how many runs there are; none of other primitives.
    pub outputs: Option<u64>,
    /// 10^9 bytes a second of the least traffic that the primitive needs.
    pub gb_s: Option<f64>,
    /// `gb_s` as a share of what this device's own copy reaches at the same size.
    pub copy_fraction: Option<f64>,
    pub scratch_bytes: Option<u64>,
    /// The experiment that the row is of; none of `trifold compare`.
    pub experiment: Option<String>,
    /// What it was planned with, as `name=number`, if not the device's own numbers.
    pub tuning: Option<String>,
    /// Bytes that the algorithm must move.
    pub traffic_bytes: Option<u64>,
    /// The time that they take at the speed of this device's copy of the same size.
    pub predicted_ms: Option<f64>,
    /// How many threads run in step, as the time of workgroups of several sizes tells.
    pub subgroup_inferred: Option<u32>,
    /// How many the driver says; a range where that depends on the kernel.
    pub subgroup_reported: Option<String>,
    /// Whether the result was the oracle's; null for another program's rows, which we cannot check.
    pub verified: Option<bool>,
    pub error: Option<String>,
    pub date: String,
    /// Of the program; another program's rows have none.
    #[serde(deserialize_with = "known_version")]
    pub version: String,
    /// What the program was built from, where that was a git checkout.
    #[serde(default)]
    pub commit: Option<String>,
}

/// What a row says that has no word of its input: rows of before there were others, and other programs' rows.
fn no_input() -> String {
    Distribution::default().name()
}

pub fn no_fault() -> String {
    Fault::default().to_string()
}

pub fn no_waiting() -> String {
    Waiting::default().to_string()
}

/// A version that is not newer than this program's.
fn known_version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let version = |text: &str| semver::Version::parse(text).map_err(D::Error::custom);
    let own = env!("CARGO_PKG_VERSION");
    if !text.is_empty() && version(&text)? > version(own)? {
        let advice = "read it by that version or a newer one";
        return Err(D::Error::custom(format!("the row is of trifold {text}, and this is {own}; {advice}")));
    }
    Ok(text)
}

pub struct Place<'a> {
    pub backend: &'a str,
    pub device: &'a str,
    pub driver: &'a str,
    pub api: &'a str,
}

impl<'a> From<&'a Caps> for Place<'a> {
    fn from(caps: &'a Caps) -> Self {
        Place { backend: caps.backend, device: &caps.device, driver: &caps.driver, api: &caps.api }
    }
}

impl<'a> From<&'a Found> for Place<'a> {
    fn from(found: &'a Found) -> Self {
        Place { backend: found.backend, device: &found.device, driver: &found.driver, api: &found.api }
    }
}

impl<'a> From<&'a Row> for Place<'a> {
    fn from(row: &'a Row) -> Self {
        Place { backend: &row.backend, device: &row.device, driver: &row.driver, api: &row.api }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    pub primitive: &'static Form,
    pub scalar: Scalar,
    pub operator: Option<Builtin>,
    pub algorithm: Option<&'static Algorithm>,
    pub n: u64,
    pub conditions: Conditions,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.primitive.name, size(self.n), self.scalar.name())
    }
}

impl Job {
    /// A usual call of a primitive, of sums if it has an operator, by the algorithm that the planner chooses.
    pub fn usual(primitive: &'static Form, scalar: Scalar, n: u64) -> Job {
        let operator = primitive.has_operator.then_some(Builtin::Sum);
        Job { primitive, scalar, operator, algorithm: None, n, conditions: Conditions::default() }
    }

    /// What its input is made to hold.
    pub fn shape(&self) -> Shape {
        match self.conditions {
            Conditions { kept, .. } if self.primitive.varies == Varies::Kept && kept != KEPT => Shape::Kept(kept),
            Conditions { run_length, .. } if self.primitive.varies == Varies::Runs => Shape::Runs(run_length),
            _ => Shape::Plain,
        }
    }

    pub fn options(&self) -> Options {
        Options::default().with(|options| {
            options.algorithm = self.algorithm;
            options.fault = self.conditions.fault;
            options.waiting = self.conditions.waiting;
        })
    }
}

/// What is measured otherwise than usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    pub input: Distribution,
    /// The share that selections keep.
    pub kept: f64,
    /// How long runs of keys are on average.
    pub run_length: u32,
    /// How long segments are.
    pub segments: Lengths,
    /// How many keys are taken.
    pub k: u32,
    /// Whether they stay as they stand in the input.
    pub unsorted: bool,
    /// How many bins there are.
    pub bins: u32,
    /// The bits of their keys that sorts compare; all without.
    pub bits: Option<(u32, u32)>,
    /// What sorts of pairs carry.
    pub value: Scalar,
    pub fault: Fault,
    pub waiting: Waiting,
}

const KEPT: f64 = 0.5;
const RUN_LENGTH: u32 = 8;
const SEGMENTS: Lengths = Lengths { mean: 256, spread: Spread::Even };
const K: u32 = 32;
const BINS: u32 = 256;
const VALUE: Scalar = Scalar::U32;

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            input: Distribution::default(),
            kept: KEPT,
            run_length: RUN_LENGTH,
            segments: SEGMENTS,
            k: K,
            unsorted: false,
            bins: BINS,
            bits: None,
            value: VALUE,
            fault: Fault::default(),
            waiting: Waiting::default(),
        }
    }
}

impl Row {
    /// A row with nothing measured yet.
    pub fn new(job: &Job, on: Place<'_>) -> Row {
        let has_segments = job.primitive.varies.has_segments();
        Row {
            backend: on.backend.into(),
            device: on.device.into(),
            driver: on.driver.into(),
            api: on.api.into(),
            primitive: job.primitive.name.into(),
            algorithm: job.algorithm.map_or("", |algorithm| algorithm.name).into(),
            scalar: job.scalar.name().into(),
            operator: job.operator.map(|o| o.name().into()),
            n: job.n,
            input: job.conditions.input.name(),
            kept: (job.primitive.varies == Varies::Kept).then_some(job.conditions.kept),
            run_length: (job.primitive.varies == Varies::Runs).then_some(job.conditions.run_length),
            segment_length: has_segments.then_some(job.conditions.segments.mean),
            segments: has_segments.then(|| job.conditions.segments.spread.name()),
            k: job.primitive.varies.is_taken().then_some(job.conditions.k),
            unsorted: job.primitive.varies.is_taken().then_some(job.conditions.unsorted),
            bins: (job.primitive.varies == Varies::Bins).then_some(job.conditions.bins),
            bits: job.conditions.bits.map(|(start, end)| format!("{start}..{end}")),
            value: (job.primitive.varies == Varies::BitsAndValues).then(|| job.conditions.value.name().into()),
            fault: job.conditions.fault.to_string(),
            waiting: job.conditions.waiting.to_string(),
            verified: Some(false),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: option_env!("TRIFOLD_COMMIT").map(String::from),
            ..Row::default()
        }
    }

    pub fn is_of_another_program(&self) -> bool {
        self.version.is_empty()
    }

    /// What a call takes of the device: its share of many that are queued, where that was taken, else the median.
    pub fn call_ms(&self) -> Option<f64> {
        self.batched_ms.or(self.median_ms)
    }

    /// Whether the two rows measure the same thing, on whatever device.
    pub fn is_like(&self, other: &Row) -> bool {
        (&self.primitive, &self.scalar, &self.operator, self.n)
            == (&other.primitive, &other.scalar, &other.operator, other.n)
            && self.conditions() == other.conditions()
    }

    /// Whether this row, a copy's, is the ceiling of the other. A copy has no tiles to block: it is that of those too.
    pub fn is_copy_for(&self, other: &Row) -> bool {
        (&self.backend, &self.device, &self.api, &self.scalar, &self.input, self.n)
            == (&other.backend, &other.device, &other.api, &other.scalar, &other.input, other.n)
    }

    /// Enters what the algorithm must move, and how long that takes at the copy's speed.
    pub fn predict(&mut self, request: &Request) {
        let algorithm = request.algorithm(&self.algorithm).ok();
        self.traffic_bytes = algorithm.and_then(|algorithm| plan::traffic(request, algorithm, self.outputs));
        let copy_gb_s = self.gb_s.zip(self.copy_fraction).map(|(own, fraction)| own / fraction);
        let ms = self.traffic_bytes.zip(copy_gb_s).map(|(bytes, gb_s)| bytes as f64 / gb_s * 1e-6);
        self.predicted_ms = ms.filter(|ms| ms.is_finite() && *ms > 0.0);
    }

    /// In words, how the input is not as usual.
    pub fn unusual_input(&self) -> Vec<String> {
        let said = [
            (self.input != no_input()).then(|| format!("{} input", self.input)),
            self.kept.filter(|kept| *kept != KEPT).map(|kept| format!("{kept} kept")),
            self.run_length.filter(|length| *length != RUN_LENGTH).map(|length| format!("runs of {length}")),
            self.segment_length.filter(|length| *length != SEGMENTS.mean).map(|length| format!("segments of {length}")),
            self.segments
                .as_ref()
                .filter(|spread| **spread != SEGMENTS.spread.name())
                .map(|spread| if *spread == Spread::Rows.name() { "rows".into() } else { format!("{spread} lengths") }),
            self.k.filter(|k| *k != K).map(|k| format!("k = {k}")),
            self.unsorted.filter(|unsorted| *unsorted).map(|_| "unsorted".into()),
            self.bins.filter(|bins| *bins != BINS).map(|bins| format!("{bins} bins")),
            self.bits.as_ref().map(|bits| format!("bits {bits}")),
            self.value.as_ref().filter(|value| *value != VALUE.name()).map(|value| format!("{value} values")),
        ];
        said.into_iter().flatten().collect()
    }

    /// In words, whatever is not as usual; rows that differ in it are not of one measurement.
    pub fn conditions(&self) -> Vec<String> {
        let mut said = self.unusual_input();
        said.extend((self.fault != no_fault()).then(|| format!("fault {}", self.fault)));
        said.extend((self.waiting != no_waiting()).then(|| format!("{} waiting", self.waiting)));
        said
    }
}

/// Sets each row's share of its device's copy, where that is not known from the run itself.
pub fn fill_copy_fractions(rows: &mut [Row]) {
    let copies: Vec<Row> = rows.iter().filter(|r| r.primitive == "copy").cloned().collect();
    for row in rows.iter_mut().filter(|r| r.copy_fraction.is_none()) {
        let copy = copies.iter().find(|copy| copy.is_copy_for(row));
        row.copy_fraction = match (row.gb_s, copy.and_then(|c| c.gb_s)) {
            (Some(own), Some(copy)) if copy > 0.0 => Some(own / copy),
            _ => None,
        };
    }
}

/// Reads rows that another program measured: our own JSON array, or JSON lines. Rows of primitives that we do not have
/// are left out.
pub fn read_others(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parse = || -> Result<Vec<Value>> {
        if text.trim_start().starts_with('[') {
            return Ok(serde_json::from_str(&text)?);
        }
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(i, line)| serde_json::from_str(line).with_context(|| format!("line {}", i + 1))).collect()
    };
    let context = || format!("{} is neither JSON lines nor a JSON array of rows", path.display());
    let values = parse().with_context(context)?;
    let rows: Result<Vec<Option<Row>>> =
        values.iter().enumerate().map(|(i, v)| other(v).with_context(|| format!("row {}", i + 1))).collect();
    let mut rows: Vec<Row> = rows.with_context(context)?.into_iter().flatten().collect();
    // Versions of one library are told apart by their files.
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    for row in rows.iter_mut().filter(|row| row.is_of_another_program() && row.driver.is_empty()) {
        row.driver.clone_from(&stem);
    }
    Ok(rows)
}

/// What some programs call a field.
const OTHER_NAMES: [(&str, &str); 3] = [("backend", "lib"), ("median_ms", "ms"), ("scratch_bytes", "temp_bytes")];

/// What some programs call a primitive. What we measure of scans is the exclusive one too.
const THEIRS: [(&str, &str); 5] = [
    ("sort_pairs_u32", "sort_pairs"),
    ("top_k_keys", "top_k"),
    ("scan_exclusive_sum", "scan"),
    ("reduce_sum", "reduce"),
    ("reduce_by_key_sum", "reduce_by_key"),
];

/// Enters what another program's words say of a row's input. Says whether they are known, and of what the form's speed depends on.
fn shaped(row: &mut Row, form: &Form, words: &str) -> bool {
    let all: Vec<&str> = words.split_whitespace().collect();
    let varies = form.varies;
    match all[..] {
        // Others have the usual input, or say it in fields.
        [] => !varies.has_segments() && varies != Varies::Bins || row.segments.is_some() || row.bins.is_some(),
        ["k", "=", k] if varies.is_taken() => k.parse().map(|k| row.k = Some(k)).is_ok(),
        ["bits", from, "to", to] if matches!(varies, Varies::Bits | Varies::BitsAndValues) => {
            row.bits = Some(format!("{from}..{to}"));
            true
        }
        ["runs", "of", length] if varies == Varies::Runs => {
            length.parse().map(|length| row.run_length = Some(length)).is_ok()
        }
        ["segments", how @ ("of" | "around"), length] if varies.has_segments() => {
            let spread = if how == "of" { Spread::Even } else { Spread::Around };
            row.segments = Some(spread.name());
            length.parse().map(|length| row.segment_length = Some(length)).is_ok()
        }
        [bins, "bins"] | [bins, "bins", "even"] if varies == Varies::Bins => {
            bins.parse().map(|bins| row.bins = Some(bins)).is_ok()
        }
        _ => false,
    }
}

fn other(value: &Value) -> Result<Option<Row>> {
    let said = |name: &str| {
        let theirs = OTHER_NAMES.iter().find(|(own, _)| *own == name).map(|(_, theirs)| *theirs);
        value.get(name).or_else(|| value.get(theirs?)).filter(|said| !said.is_null())
    };
    let is_of_something = said("backend").and(said("primitive")).is_some();
    ensure!(is_of_something, "it has no `lib` or `backend`, or no `primitive`");
    ensure!(said("n").is_some(), "it has no `n`");
    let mut fields =
        serde_json::to_value(Row { input: no_input(), fault: no_fault(), waiting: no_waiting(), ..Row::default() })?;
    for (name, field) in fields.as_object_mut().into_iter().flatten() {
        if let Some(said) = said(name) {
            field.clone_from(said);
        }
    }
    let mut row: Row = serde_json::from_value(fields)?;
    // CUB's bench says what moves with the keys beside their type, and the bits in words.
    if let Some((key, value)) = row.scalar.clone().split_once('+') {
        row.value = Some(value.replace("16 bytes", Scalar::U128.name()));
        row.scalar = key.into();
    }
    let shape = value.get("shape").and_then(Value::as_str).unwrap_or_default();
    // It says of a histogram in words that its bins have edges.
    let shape = match shape.strip_suffix(" by range") {
        Some(bins) if row.primitive == forms::HISTOGRAM.name => {
            row.primitive = forms::HISTOGRAM_BY_EDGES.name.into();
            bins
        }
        _ => shape,
    };
    let alias = THEIRS.iter().find(|(theirs, _)| *theirs == row.primitive);
    let named = Form::named(alias.map_or(&row.primitive, |(_, own)| own));
    let Some(form) = named.filter(|form| shaped(&mut row, form, shape)) else { return Ok(None) };
    row.primitive = form.name.into();
    row.operator = form.has_operator.then(|| row.operator.unwrap_or(Builtin::Sum.name().into()));
    // A time that was not taken is 0 in some programs' output.
    let times = [&mut row.median_ms, &mut row.min_ms, &mut row.batched_ms, &mut row.host_us, &mut row.predicted_ms];
    let speeds = [&mut row.gelem_s, &mut row.gb_s, &mut row.copy_fraction];
    times.into_iter().chain(speeds).for_each(|taken| *taken = taken.filter(|x| *x > 0.0));
    Ok(Some(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cub_lines_become_rows() {
        let line = r#"{"lib":"cub","primitive":"scan_exclusive_sum","type":"u32","n":65536,"ms":0.007,"min_ms":0.006,"batched_ms":0.003,"gelem_s":9.4,"gb_s":75.0,"temp_bytes":100}"#;
        let row = other(&serde_json::from_str(line).unwrap()).unwrap().unwrap();
        assert_eq!(
            (row.backend.as_str(), row.primitive.as_str(), row.operator.as_deref()),
            ("cub", "scan", Some("sum"))
        );
        assert_eq!((row.median_ms, row.batched_ms, row.scratch_bytes), (Some(0.007), Some(0.003), Some(100)));
        assert_eq!(row.verified, None);
        let said = |primitive: &str, shape: &str| {
            let line = serde_json::json!({"lib": "cub", "primitive": primitive, "type": "f32", "shape": shape, "n": 9, "ms": 1.0});
            other(&line).unwrap()
        };
        assert_eq!(said("histogram", "65536 bins even").unwrap().bins, Some(65536));
        let by_edges = said("histogram", "1000 bins by range").unwrap();
        assert_eq!((by_edges.primitive.as_str(), by_edges.bins), ("histogram_by_edges", Some(1000)));
        assert_eq!(said("sort_keys", "1000 bins by range"), None);
        assert_eq!(
            [said("histogram", ""), said("segmented_sort", ""), said("sort_keys", "runs of 8")],
            [None, None, None]
        );
        assert_eq!(said("merge_keys", "two halves"), None);
        assert_eq!(said("sort_keys", "bits 0 to 16").unwrap().bits.as_deref(), Some("0..16"));
        let pairs = r#"{"lib":"cub","primitive":"sort_pairs","type":"u64+u32","n":9,"ms":1.0}"#;
        let pairs = other(&serde_json::from_str(pairs).unwrap()).unwrap().unwrap();
        assert_eq!((pairs.scalar.as_str(), pairs.value.as_deref()), ("u64", Some("u32")));
        let segments = said("segmented_reduce", "segments around 16").unwrap();
        assert_eq!((segments.segment_length, segments.segments.as_deref()), (Some(16), Some("around")));
        assert_eq!(segments.operator.as_deref(), Some("sum"));
        assert!(other(&serde_json::from_str("{}").unwrap()).is_err());
    }

    /// A row of what CUB calls 1024 u32, with more fields.
    fn cub(primitive: &str, more: &str) -> Row {
        let line = format!(r#"{{"lib":"cub","primitive":"{primitive}","type":"u32","n":1024,"gb_s":8.0{more}}}"#);
        other(&serde_json::from_str(&line).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn rows_of_other_inputs_faults_and_waits_are_other_rows() {
        let plain = cub("sort_keys", "");
        assert_eq!(
            (plain.input.as_str(), plain.fault.as_str(), plain.waiting.as_str()),
            ("uniform", "none", "bounded")
        );
        assert!(plain.conditions().is_empty() && plain.is_like(&cub("sort_keys", r#","input":"uniform""#)));
        assert!(cub("select_if", "").is_like(&cub("select_if", r#","kept":0.5"#)));
        assert!(cub("run_length_encode", "").is_like(&cub("run_length_encode", r#","run_length":8"#)));
        for (field, words) in [
            (r#","input":"constant""#, "constant input"),
            (r#","fault":"silent:100""#, "fault silent:100"),
            (r#","waiting":"unbounded""#, "unbounded waiting"),
            (r#","kept":0.25"#, "0.25 kept"),
            (r#","run_length":100"#, "runs of 100"),
        ] {
            let row = cub("sort_keys", field);
            assert_eq!(row.conditions(), [words]);
            assert!(!row.is_like(&plain) && !plain.is_like(&row) && row.is_like(&row));
        }
    }

    #[test]
    fn a_copy_is_the_ceiling_of_its_own_input() {
        let constant = r#","input":"constant""#;
        let mut rows = vec![cub("sort_keys", constant), cub("copy", ""), cub("sort_keys", "")];
        fill_copy_fractions(&mut rows);
        assert_eq!(rows.iter().map(|row| row.copy_fraction).collect::<Vec<_>>(), [None, Some(1.0), Some(1.0)]);
        // A copy has no tiles to block: it is the ceiling of those too.
        let mut rows = vec![cub("copy", constant), cub("sort_keys", r#","input":"constant","fault":"late:9""#)];
        fill_copy_fractions(&mut rows);
        assert_eq!(rows[1].copy_fraction, Some(1.0));
    }

    #[test]
    fn our_own_rows_read_back() {
        let line = r#"{"backend":"cpu","device":"d","primitive":"reduce","type":"f32","operator":"max","n":5,"median_ms":1.0,"verified":true}"#;
        let row = other(&serde_json::from_str(line).unwrap()).unwrap().unwrap();
        let again = other(&serde_json::to_value(&row).unwrap()).unwrap().unwrap();
        assert_eq!(row, again);
        let job = Job {
            primitive: &forms::SCAN,
            scalar: Scalar::U32,
            operator: Some(Builtin::Sum),
            algorithm: None,
            n: 7,
            conditions: Conditions {
                input: Distribution::Few,
                fault: Fault::Late(3),
                waiting: Waiting::Unbounded,
                ..Conditions::default()
            },
        };
        let on = Place { backend: "cuda", device: "d", driver: "1", api: "a" };
        let row = Row::new(&job, on);
        assert_eq!(row.conditions(), ["few-distinct input", "fault late:3", "unbounded waiting"]);
        let value = serde_json::to_value(&row).unwrap();
        assert_eq!(serde_json::from_value::<Row>(value.clone()).unwrap(), row);
        assert_eq!(other(&value).unwrap().unwrap().conditions(), row.conditions());
        let conditions = Conditions { kept: 0.0, ..job.conditions };
        let job = Job { primitive: &forms::SELECT, operator: None, conditions, ..job };
        let row =
            Row { outputs: Some(0), ..Row::new(&job, Place { backend: "cuda", device: "d", driver: "1", api: "a" }) };
        assert_eq!((row.kept, row.run_length), (Some(0.0), None));
        assert_eq!(other(&serde_json::to_value(&row).unwrap()).unwrap().unwrap(), row);
        // A file of before there were others.
        let mut value = value;
        for field in ["input", "fault", "waiting", "kept", "run_length", "outputs"] {
            value.as_object_mut().unwrap().remove(field).unwrap();
        }
        assert!(serde_json::from_value::<Row>(value).unwrap().conditions().is_empty());
    }
}
