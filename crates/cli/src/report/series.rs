//! What is drawn: rows ordered into lines, ratios, ladders and predictions. No drawing.

use std::collections::{BTreeMap, BTreeSet};

use trifold::plan;
use trifold::plan::{Builtin, Form};
use trifold::types::Scalar;

use super::read::Run;
use super::style::Api;
use crate::args::Experiment;
use crate::compare::{Job, Row, request};

/// What one section of the page is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Which experiment the rows are of, after its place among them; what differs in that is not compared either.
    experiment: Option<(usize, String)>,
    /// The primitive's place in the order of sections; unknown ones come last.
    place: usize,
    pub primitive: String,
    pub scalar: String,
    pub operator: Option<String>,
    /// The input, fault and waiting that are not as usual: what differs in them is not compared.
    conditions: Vec<String>,
}

impl Subject {
    pub fn of(row: &Row) -> Subject {
        Subject {
            experiment: row.experiment.as_ref().map(|name| (Experiment::place(name), name.clone())),
            place: Form::all().take_while(|form| form.name != row.primitive).count(),
            primitive: row.primitive.clone(),
            scalar: row.scalar.clone(),
            operator: row.operator.clone(),
            conditions: row.conditions(),
        }
    }

    pub fn title(&self) -> String {
        let conditions: String = self.conditions.iter().map(|condition| format!(", {condition}")).collect();
        let experiment = self.experiment.as_ref().map(|(_, name)| format!("{name}: ")).unwrap_or_default();
        experiment + &self.call() + &conditions
    }

    fn call(&self) -> String {
        let Some(form) = Form::named(&self.primitive) else {
            let what = if self.primitive == "compute" { "Arithmetic" } else { &self.primitive };
            return format!("{what} of {}", self.scalar);
        };
        let operator = self.operator.as_ref().filter(|_| form.has_operator);
        let operator = operator.map(|name| format!(", {name}")).unwrap_or_default();
        form.title.replace("{}", &self.scalar) + &operator
    }

    /// A name for ids and files.
    pub fn id(&self) -> String {
        let experiment = self.experiment.as_ref().map(|(_, name)| name);
        let name = [experiment, Some(&self.primitive), Some(&self.scalar), self.operator.as_ref()];
        let name = name.into_iter().flatten().chain(&self.conditions);
        let name = name.map(String::as_str).collect::<Vec<_>>().join("-");
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }

    fn has(&self, row: &Row) -> bool {
        let experiment = self.experiment.as_ref().map(|(_, name)| name);
        (experiment, &self.primitive, &self.scalar, &self.operator)
            == (row.experiment.as_ref(), &row.primitive, &row.scalar, &row.operator)
            && self.conditions == row.conditions()
    }

    /// Whether its rows differ in what they are planned with, not in n.
    pub fn is_sweep(&self, run: &Run) -> bool {
        self.experiment.is_some() && self.rows(run).any(|row| row.tuning.is_some())
    }

    pub fn rows<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = &'a Row> {
        run.rows.iter().filter(|row| self.has(row))
    }
}

/// The subjects of all runs, in the page's order.
pub fn subjects(runs: &[Run]) -> Vec<Subject> {
    let subjects: BTreeSet<Subject> = runs.iter().flat_map(|run| &run.rows).map(Subject::of).collect();
    subjects.into_iter().collect()
}

/// A row's speed, in 10^9 elements a second: of its share of a batch where that was taken, since a small call alone is mostly the
/// launch. A wrong result has none.
pub fn speed(row: &Row) -> Option<f64> {
    Some(alone(row)? * gain(row)).filter(is_good)
}

/// The speed of a call that has the device to itself.
pub fn alone(row: &Row) -> Option<f64> {
    row.gelem_s.filter(is_good).filter(|_| row.n > 0 && row.verified != Some(false) && row.error.is_none())
}

fn is_good(x: &f64) -> bool {
    x.is_finite() && *x > 0.0
}

/// As [`speed`], of a wrong result too.
pub fn rate(row: &Row) -> Option<f64> {
    Some(row.gelem_s? * gain(row))
}

/// The bandwidth of the least traffic, in 10^9 bytes a second, at the speed that is shown.
pub fn bandwidth(row: &Row) -> Option<f64> {
    Some(row.gb_s? * gain(row))
}

/// How many times as fast a call is in a batch as alone, where that was taken.
fn gain(row: &Row) -> f64 {
    let gain = row.median_ms.zip(row.batched_ms).map(|(alone, queued)| alone / queued);
    gain.filter(is_good).unwrap_or(1.0)
}

/// The largest n of the rows whose share of a batch is shown.
pub fn queued_up_to<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<u64> {
    rows.filter(|row| row.batched_ms.is_some() && speed(row).is_some()).map(|row| row.n).max()
}

/// One API and algorithm; and one device, where an API has several in the run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub api: Api,
    pub algorithm: String,
    /// The numbers that it is planned with, if not the device's own, by their names: of a sweep one.
    pub tuning: Vec<(String, u64)>,
    /// The device's place among the API's, and its name.
    pub device: Option<(usize, String)>,
}

impl Line {
    fn of(row: &Row, run: &Run) -> Line {
        let api = Api::of(&row.backend, &row.api);
        let device = run.place(&api, &row.device).map(|place| (place, row.device.clone()));
        let number = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        let tuning = row.tuning.iter().flat_map(|text| text.split(',')).filter_map(number).collect();
        Line { api, algorithm: row.algorithm.clone(), tuning, device }
    }

    pub fn label(&self) -> String {
        self.label_with(|name, value| format!("{name} {value}"))
    }

    /// As a rung's: of the number's name the last word, which says what it counts, or nothing where the caption has it.
    fn short_label(&self, is_said: bool) -> String {
        self.label_with(|name, value| if is_said { value.to_string() } else { format!("{} {value}", counted(name)) })
    }

    fn label_with(&self, planned: impl Fn(&str, u64) -> String) -> String {
        let mut label = self.api.label.clone();
        if !self.algorithm.is_empty() && self.algorithm != "copy" {
            label += &format!(" · {}", self.algorithm);
        }
        for (name, value) in &self.tuning {
            label += &format!(" · {}", planned(name, *value));
        }
        if let Some((_, device)) = self.device.as_ref().filter(|(_, device)| !device.is_empty()) {
            label += &format!(" · {device}");
        }
        label
    }
}

/// A line and its rows by n: where several rows are of one n, the fastest.
pub type Lines<'a> = BTreeMap<Line, BTreeMap<u64, &'a Row>>;

pub fn lines<'a>(subject: &'a Subject, run: &'a Run) -> Lines<'a> {
    let mut lines = Lines::new();
    for row in subject.rows(run).filter(|row| speed(row).is_some()) {
        keep_fastest(lines.entry(Line::of(row, run)).or_default(), row);
    }
    lines
}

/// Enters a row that has a speed, unless a faster one of its n is there.
fn keep_fastest<'a>(rows: &mut BTreeMap<u64, &'a Row>, row: &'a Row) {
    let at = rows.entry(row.n).or_insert(row);
    if speed(at) < speed(row) {
        *at = row;
    }
}

/// The speed that a row would have if it moved its least traffic as its device's copy does: beside a share of a batch, a copy's.
fn bound(row: &Row, run: &Run) -> Option<f64> {
    let own = speed(row)?;
    if row.batched_ms.is_none() {
        return Some(own / row.copy_fraction.filter(is_good)?);
    }
    let is_its_copy = |copy: &&Row| copy.batched_ms.is_some() && copy.is_copy_for(row);
    let fastest = run.copies.iter().filter(is_its_copy).filter_map(bandwidth).reduce(f64::max)?;
    Some(own * fastest / bandwidth(row).filter(|x| *x > 0.0)?)
}

/// A row's speed in that of its device's copy of the same size.
pub fn share_of_copy(row: &Row, run: &Run) -> Option<f64> {
    Some(speed(row)? / bound(row, run).filter(is_good)?)
}

/// One row's speed in another's: a share of a batch is set against another one alone.
pub fn times_as_fast(first: &Row, other: &Row) -> Option<f64> {
    Ratio { first, other }.value().filter(is_good)
}

/// What a device's copy bounds.
#[derive(Debug, Clone, Default)]
pub struct Ceiling {
    /// Whose copy it is, where a chart has several devices.
    pub device: Option<String>,
    /// By n, in 10^9 elements a second.
    pub at: BTreeMap<u64, f64>,
}

/// The speed at which the copy of the run's device with the fastest one would bound each n.
pub fn ceiling(subject: &Subject, run: &Run) -> Ceiling {
    let mut ceilings = BTreeMap::<&str, BTreeMap<u64, f64>>::new();
    for row in subject.rows(run).filter(|row| row.primitive != "copy") {
        if let Some(bound) = bound(row, run) {
            let at = ceilings.entry(&row.device).or_default().entry(row.n).or_insert(0.0);
            *at = f64::max(*at, bound);
        }
    }
    // Another library's rows do not name their device: it is one of those that do.
    let further = ceilings.remove("").unwrap_or_default();
    let highest = |ceiling: &BTreeMap<u64, f64>| ceiling.values().copied().fold(0.0, f64::max);
    let is_of_several = ceilings.len() > 1;
    let highest = ceilings.into_iter().max_by(|(_, a), (_, b)| highest(a).total_cmp(&highest(b)));
    let (device, mut at) = highest.unwrap_or_default();
    for (n, bound) in further {
        let at = at.entry(n).or_insert(0.0);
        *at = f64::max(*at, bound);
    }
    Ceiling { device: is_of_several.then(|| device.to_owned()), at }
}

/// An API's fastest row of one n in two runs.
pub struct Ratio<'a> {
    pub first: &'a Row,
    pub other: &'a Row,
}

impl Ratio<'_> {
    /// The speeds that are compared: a share of a batch is set against another one alone.
    pub fn speeds(&self) -> [Option<f64>; 2] {
        let both = self.first.batched_ms.is_some() && self.other.batched_ms.is_some();
        [self.first, self.other].map(|row| if both { speed(row) } else { alone(row) })
    }

    pub fn value(&self) -> Option<f64> {
        let [first, other] = self.speeds();
        Some(other? / first?)
    }
}

pub type Ratios<'a> = Vec<(Option<Api>, BTreeMap<u64, Ratio<'a>>)>;

/// How many times as fast `other` is as `first`, by API and n, whatever the algorithms. The last entry compares our own
/// fastest API. Rows of other libraries do not count in it, as one run may have them and the other not.
pub fn ratios<'a>(subject: &'a Subject, first: &'a Run, other: &'a Run) -> Ratios<'a> {
    let best = |run: &'a Run, api: Option<&Api>| {
        let mut best = BTreeMap::<u64, &Row>::new();
        let wanted = |row: &&Row| match api {
            Some(api) => Api::of(&row.backend, &row.api) == *api,
            None => row.verified.is_some(),
        };
        for row in subject.rows(run).filter(wanted).filter(|row| speed(row).is_some()) {
            keep_fastest(&mut best, row);
        }
        best
    };
    let apis: BTreeSet<Api> = subject.rows(first).map(|row| Api::of(&row.backend, &row.api)).collect();
    let apis = apis.into_iter().map(Some).chain([None]);
    let ratios = apis.map(|api| {
        let (first, other) = (best(first, api.as_ref()), best(other, api.as_ref()));
        let both =
            first.into_iter().filter_map(|(n, first)| Some((n, Ratio { first, other: other.get(&n).copied()? })));
        (api, both.collect::<BTreeMap<_, _>>())
    });
    ratios.filter(|(_, points)| !points.is_empty()).collect()
}

/// Several algorithms of one primitive at one size on one device, the fastest first; or one planned with several numbers, in
/// their order.
pub struct Ladder<'a> {
    pub n: u64,
    pub device: &'a str,
    pub rungs: Vec<(Line, &'a Row)>,
    /// The speed at which the device's fastest copy would bound the rungs.
    pub ceiling: Option<f64>,
    /// Whether the rungs differ in what they are planned with.
    pub is_sweep: bool,
}

impl Ladder<'_> {
    /// What all rungs are planned with so and so many of, such as `workgroup`.
    pub fn number(&self) -> Option<&str> {
        let mut names = self.rungs.iter().map(|(line, _)| match &line.tuning[..] {
            [(name, _)] if self.is_sweep => Some(counted(name)),
            _ => None,
        });
        let first = names.next()??;
        names.all(|name| name == Some(first)).then_some(first)
    }

    /// A rung's label: in a sweep without what the caption has.
    pub fn label(&self, line: &Line) -> String {
        if self.is_sweep { line.short_label(self.number().is_some()) } else { line.label() }
    }
}

/// What a number of tuning counts: of `scan_workgroup` and `blocked_workgroup`, the threads of a workgroup.
fn counted(name: &str) -> &str {
    name.rsplit('_').next().unwrap_or(name)
}

/// A run's ladders, each at the largest size that more than one algorithm and the most APIs of a device ran at. Another library's rows
/// do not name their device; they are joined to what was measured on the same machine.
pub fn ladders<'a>(subject: &'a Subject, run: &'a Run) -> Vec<Ladder<'a>> {
    let lines = lines(subject, run);
    let devices: BTreeSet<&str> = subject.rows(run).map(|row| row.device.as_str()).filter(|d| !d.is_empty()).collect();
    let mut ladders = vec![];
    for &device in &devices {
        let on_device = |row: &Row| row.device == device || (row.device.is_empty() && devices.len() == 1);
        let sizes: BTreeSet<u64> = lines.values().flat_map(|points| points.keys().copied()).collect();
        let at = |n: u64| -> Vec<(Line, &'a Row)> {
            let rungs = lines.iter().filter_map(|(line, points)| Some((line.clone(), *points.get(&n)?)));
            rungs.filter(|(_, row)| on_device(row)).collect()
        };
        let is_ladder = |rungs: &[(Line, &Row)]| {
            let names = rungs.iter().map(|(line, _)| (line.algorithm.as_str(), &line.tuning));
            names.filter(|(algorithm, _)| !algorithm.is_empty()).collect::<BTreeSet<_>>().len() > 1
        };
        // A size that one API reaches alone says less.
        let apis = |rungs: &[(Line, &Row)]| rungs.iter().map(|(line, _)| &line.api).collect::<BTreeSet<_>>().len();
        let all = sizes.into_iter().map(|n| (n, at(n))).filter(|(_, rungs)| is_ladder(rungs));
        let found = all.max_by_key(|(n, rungs)| (apis(rungs), *n));
        if let Some((n, mut rungs)) = found {
            let is_sweep = subject.is_sweep(run);
            if !is_sweep {
                rungs.sort_by(|(_, a), (_, b)| speed(b).partial_cmp(&speed(a)).unwrap_or(std::cmp::Ordering::Equal));
            }
            let ceiling = rungs.iter().filter_map(|(_, row)| bound(row, run)).reduce(f64::max);
            ladders.push(Ladder { n, device, rungs, ceiling, is_sweep });
        }
    }
    ladders
}

/// The bytes that a row's algorithm must move through memory, where `plan::traffic` has them.
pub fn traffic(row: &Row) -> Option<f64> {
    let primitive = Form::named(&row.primitive)?;
    let operator = row.operator.as_deref().map(|name| Builtin::from_name(name).ok_or(())).transpose().ok()?;
    let scalar = Scalar::from_name(&row.scalar)?;
    let request = request(&Job { operator, ..Job::usual(primitive, scalar, row.n) }).ok()?;
    Some(plan::traffic(&request, request.algorithm(&row.algorithm).ok()?, row.outputs)? as f64)
}

/// A row's time beside the time that its traffic takes at the bandwidth of its device's copy.
pub struct Prediction<'a> {
    pub subject: Subject,
    pub line: Line,
    pub row: &'a Row,
    pub bytes: f64,
    pub predicted_ms: f64,
    pub measured_ms: f64,
}

/// The predictions at each device's and call's largest n of a run's rows whose traffic is known, in the sections' order.
///
/// Rows of other inputs and of faults are left out: keys that agree in a place need no pass for it, and tiles that are blocked
/// are read again. So are rows of experiments that have another question, as they have another n.
pub fn predictions(run: &Run) -> Vec<Prediction<'_>> {
    let is_asked = |row: &&Row| row.experiment.as_deref().is_none_or(|name| name == Experiment::Traffic.name());
    let all = run.rows.iter().filter(is_asked).filter(|row| row.conditions().is_empty()).filter_map(|row| {
        speed(row)?;
        let bytes = traffic(row)?;
        let copy_gb_s = row.gb_s? / row.copy_fraction?;
        let (predicted_ms, measured_ms) = (bytes / copy_gb_s * 1e-6, row.median_ms?);
        let (subject, line) = (Subject::of(row), Line::of(row, run));
        let prediction = Prediction { subject, line, row, bytes, predicted_ms, measured_ms };
        (is_good(&predicted_ms) && is_good(&measured_ms)).then_some(prediction)
    });
    let mut all: Vec<Prediction<'_>> = all.collect();
    let mut largest = BTreeMap::<(&str, Subject), u64>::new();
    for p in &all {
        let at = largest.entry((&p.row.device, p.subject.clone())).or_default();
        *at = p.row.n.max(*at);
    }
    all.retain(|p| largest.get(&(p.row.device.as_str(), p.subject.clone())) == Some(&p.row.n));
    all.sort_by(|a, b| (&a.subject, &a.line).cmp(&(&b.subject, &b.line)));
    all
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::compare::Place;
    use trifold::Algorithm;
    use trifold::algorithm::{reduce, scan, select, sort};
    use trifold::plan::forms;

    /// A verified scan or sort of u32 that reaches half its copy.
    pub fn row(
        backend: &str,
        api: &str,
        primitive: &'static Form,
        algorithm: &'static str,
        n: u64,
        gelem_s: f64,
    ) -> Row {
        let job = Job::usual(primitive, Scalar::U32, n);
        let on = Place { backend, device: if backend == "cub" { "" } else { "GPU" }, driver: "1.2", api };
        let mut row = Row::new(&job, on);
        row.algorithm = algorithm.into();
        row.verified = Some(true);
        row.gelem_s = Some(gelem_s);
        row.gb_s = Some(gelem_s * 8.0);
        row.median_ms = Some(n as f64 / gelem_s * 1e-6);
        row.copy_fraction = Some(0.5);
        row
    }

    fn run(rows: Vec<Row>) -> Run {
        Run::new("a.json", rows)
    }

    #[test]
    fn a_line_is_an_api_and_an_algorithm_and_takes_the_fastest_row() {
        let scan = |backend, algorithm, n, speed| row(backend, "Vulkan", &forms::SCAN, algorithm, n, speed);
        let mut wrong = scan("cuda", scan::LOOKBACK.name, 1024, 9.0);
        wrong.verified = Some(false);
        let run = run(vec![
            scan("cuda", scan::LOOKBACK.name, 1024, 1.0),
            scan("cuda", scan::LOOKBACK.name, 1024, 2.0),
            scan("cuda", scan::LOOKAHEAD.name, 2048, 3.0),
            scan("wgpu", scan::LOOKBACK.name, 1024, 1.5),
            wrong,
            row("cuda", "", &forms::REDUCE, reduce::SINGLE_PASS.name, 1024, 1.0),
        ]);
        let subjects = subjects(std::slice::from_ref(&run));
        assert_eq!(subjects.iter().map(Subject::id).collect::<Vec<_>>(), ["scan-u32-sum", "reduce-u32-sum"]);
        let lines = lines(&subjects[0], &run);
        let labels: Vec<String> = lines.keys().map(Line::label).collect();
        assert_eq!(labels, ["CUDA · lookahead", "CUDA · lookback", "WGSL, Vulkan · lookback"]);
        assert_eq!(lines.values().nth(1).unwrap()[&1024].gelem_s, Some(2.0));
        assert_eq!(ceiling(&subjects[0], &run).at[&1024], 4.0);
    }

    #[test]
    fn devices_of_one_api_are_told_apart() {
        let mut other = row("wgpu", "Vulkan", &forms::SCAN, scan::LOOKBACK.name, 1024, 1.0);
        other.device = "iGPU".into();
        let run = run(vec![
            row("wgpu", "Vulkan", &forms::SCAN, scan::LOOKBACK.name, 1024, 2.0),
            other,
            row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1024, 3.0),
        ]);
        let subject = &subjects(std::slice::from_ref(&run))[0];
        assert_eq!(
            ceiling(subject, &run).device.as_deref(),
            Some(&*row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1024, 3.0).device)
        );
        let labels: Vec<String> = lines(subject, &run).keys().map(Line::label).collect();
        assert_eq!(labels, ["CUDA · lookback", "WGSL, Vulkan · lookback · GPU", "WGSL, Vulkan · lookback · iGPU"]);
    }

    #[test]
    fn a_ladder_has_several_algorithms_at_one_size() {
        let sort = |algorithm, n, speed| row("cuda", "", &forms::SORT, algorithm, n, speed);
        let cub = row("cub", "", &forms::SORT, "", 1024, 3.0);
        let run = run(vec![
            sort(sort::ONESWEEP.name, 4096, 5.0),
            sort(sort::ONESWEEP.name, 1024, 1.0),
            sort(sort::UPSWEEP_DOWNSWEEP.name, 1024, 2.0),
            cub,
        ]);
        let subject = &subjects(std::slice::from_ref(&run))[0];
        let ladders = ladders(subject, &run);
        assert_eq!((ladders.len(), ladders[0].n, ladders[0].device), (1, 1024, "GPU"));
        assert_eq!(ladders[0].ceiling, Some(6.0));
        let labels: Vec<String> = ladders[0].rungs.iter().map(|(line, _)| line.label()).collect();
        assert_eq!(labels, ["CUB", "CUDA · upsweep_downsweep", "CUDA · onesweep"]);
    }

    #[test]
    fn a_sweep_is_a_ladder_in_the_order_of_its_numbers() {
        let swept = |value: u32, speed| {
            let mut row = row("cuda", "", &forms::SCAN, scan::REDUCE_THEN_SCAN.name, 1024, speed);
            row.experiment = Some("workgroup-size".into());
            row.tuning = Some(format!("scan_workgroup={value}"));
            row
        };
        let plain = row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1024, 9.0);
        let run = run(vec![swept(128, 3.0), swept(32, 1.0), swept(1024, 2.0), plain]);
        let subjects = subjects(std::slice::from_ref(&run));
        assert_eq!(
            subjects.iter().map(Subject::id).collect::<Vec<_>>(),
            ["scan-u32-sum", "workgroup-size-scan-u32-sum"]
        );
        assert_eq!(subjects[1].title(), "workgroup-size: Exclusive scan of u32, sum");
        assert_eq!(subjects.iter().map(|subject| subject.is_sweep(&run)).collect::<Vec<_>>(), [false, true]);
        let ladders = ladders(&subjects[1], &run);
        let labels: Vec<String> = ladders[0].rungs.iter().map(|(line, _)| line.label()).collect();
        let label = |value| format!("CUDA · reduce_then_scan · scan_workgroup {value}");
        assert_eq!(labels, [32, 128, 1024].map(label));
    }

    #[test]
    fn predictions_are_of_the_traffic_and_of_each_devices_largest_n() {
        let of = |device: &str, experiment: Option<&str>, n| {
            let mut row = row("wgpu", "Vulkan", &forms::SCAN, scan::LOOKBACK.name, n, 1.0);
            (row.device, row.experiment) = (device.into(), experiment.map(String::from));
            row
        };
        let traffic = Some("traffic");
        let rows =
            vec![of("a", traffic, 8), of("a", traffic, 16), of("b", traffic, 4), of("b", Some("scan-ladder"), 32)];
        let run = run(rows);
        let found: Vec<_> = predictions(&run).iter().map(|p| (p.row.device.as_str(), p.row.n)).collect();
        assert_eq!(found, [("a", 16), ("b", 4)]);
    }

    #[test]
    fn ratios_match_apis_whatever_the_algorithm() {
        let scan = |backend, algorithm, speed| row(backend, "Vulkan", &forms::SCAN, algorithm, 1024, speed);
        let mut library = scan("cub", "", 99.0);
        library.verified = None;
        let (first, other) = (
            run(vec![scan("cuda", scan::LOOKBACK.name, 2.0), library]),
            run(vec![scan("cuda", scan::LOOKAHEAD.name, 3.0), scan("wgpu", scan::LOOKBACK.name, 9.0)]),
        );
        let subject = &subjects(std::slice::from_ref(&first))[0];
        let ratios = ratios(subject, &first, &other);
        let values: Vec<_> =
            ratios.iter().map(|(api, p)| (api.as_ref().map(|a| a.label.as_str()), p[&1024].value())).collect();
        assert_eq!(values, [(Some("CUDA"), Some(1.5)), (None, Some(4.5))]);
    }

    #[test]
    fn what_differs_in_input_fault_or_waiting_is_not_compared() {
        let scan = |input: &str, fault: &str, speed| {
            let mut row = row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1024, speed);
            (row.input, row.fault) = (input.into(), fault.into());
            row
        };
        let first =
            run(vec![scan("constant", "none", 8.0), scan("uniform", "silent:100", 1.0), scan("uniform", "none", 2.0)]);
        let subjects = subjects(std::slice::from_ref(&first));
        let ids: Vec<String> = subjects.iter().map(Subject::id).collect();
        assert_eq!(ids, ["scan-u32-sum", "scan-u32-sum-constant-input", "scan-u32-sum-fault-silent-100"]);
        assert_eq!(subjects[1].title(), "Exclusive scan of u32, sum, constant input");
        let speeds = subjects.iter().map(|subject| lines(subject, &first).values().next().unwrap()[&1024].gelem_s);
        assert_eq!(speeds.collect::<Vec<_>>(), [Some(2.0), Some(8.0), Some(1.0)]);
        assert_eq!(predictions(&first).len(), 1);
        // Nor are they set against another run's.
        let other = run(vec![scan("uniform", "none", 3.0), scan("constant", "late:9", 9.0)]);
        let values =
            |subject| ratios(subject, &first, &other).iter().map(|(_, p)| p[&1024].value()).collect::<Vec<_>>();
        assert_eq!(subjects.iter().map(values).collect::<Vec<_>>(), [vec![Some(1.5); 2], vec![], vec![]]);
    }

    #[test]
    fn traffic_is_what_each_algorithm_must_move() {
        let bytes = |primitive, algorithm: &Algorithm| {
            traffic(&row("cuda", "", primitive, algorithm.name, 10, 1.0)).map(|b| b / 10.0)
        };
        assert_eq!(bytes(&forms::SCAN, &scan::LOOKBACK), Some(8.0));
        assert_eq!(bytes(&forms::SCAN, &scan::REDUCE_THEN_SCAN), Some(12.0));
        assert_eq!(bytes(&forms::REDUCE, &reduce::SINGLE_PASS), Some(4.0));
        assert_eq!(bytes(&forms::REDUCE, &reduce::GRID_STRIDE), Some(4.0));
        assert_eq!(bytes(&forms::REDUCE, &scan::LOOKBACK), None);
        assert_eq!(bytes(&forms::SORT, &sort::ONESWEEP), Some(36.0));
        assert_eq!(bytes(&forms::SORT_WITH_VALUES, &sort::ONESWEEP), Some(68.0));
        assert_eq!(bytes(&forms::SORT, &sort::UPSWEEP_DOWNSWEEP), Some(48.0));
        assert_eq!(bytes(&forms::SCAN, &scan::SEQUENTIAL), Some(8.0));
        assert_eq!(bytes(&forms::SCAN, &sort::ONESWEEP), None);
        assert_eq!(bytes(&forms::SELECT, &select::LOOKBACK), None);
        let kept = Row { outputs: Some(4), ..row("cuda", "", &forms::SELECT, select::REDUCE_THEN_SCAN.name, 10, 1.0) };
        assert_eq!(traffic(&kept), Some(80.0 + 16.0));
        let run = run(vec![row("cuda", "", &forms::SCAN, scan::LOOKBACK.name, 1 << 20, 1.0)]);
        let [p] = &predictions(&run)[..] else { panic!() };
        // Half the copy's speed is twice the time.
        assert!((p.measured_ms / p.predicted_ms - 2.0).abs() < 1e-9);
    }
}
