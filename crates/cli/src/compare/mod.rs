//! `trifold compare`: every primitive on every device, checked and timed.

mod data;
mod measure;
mod rows;
mod table;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use trifold::backend::{Caps, DeviceKind, Language};
use trifold::plan::{Fault, Form, Layout, Options, Writes};
use trifold::tuning::Tuning;
use trifold::{Backend, Device, Error, Found, plan};
use trifold_conformance::Distribution;

pub use self::measure::{BATCH, Bench, Outcome, is_software, request};
pub use self::rows::{Conditions, Job, Place, Row};
pub use self::table::{render, size};
use crate::args::CompareArgs;
use crate::choose;
use crate::files::{self, Pending};
use crate::interrupt;

pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    let outputs = [("--json", args.json.as_deref()), ("--html", args.html.as_deref())];
    files::check_outputs(&outputs, &args.with)?;
    let devices = choose::matching(&args.device)?;
    let mut others = vec![];
    for path in &args.with {
        others.extend(rows::read_others(path)?);
    }
    // A panic becomes its row's error, not a backtrace across the table.
    std::panic::set_hook(Box::new(|info| tracing::info!(%info, "a panic")));
    interrupt::listen()?;
    let report = Report::new(args.json.as_deref());
    for opened in open_all(&devices, &report, |found| unopened(args, found)).into_iter().flatten() {
        opened.measured(|backend| measure_all(args, backend, &report));
    }
    report.bar.finish_and_clear();
    let mut rows = report.rows.into_inner();
    if rows.is_empty()
        && let Some(code) = interrupt::code()
    {
        return Ok(code);
    }
    ensure!(
        !rows.is_empty(),
        "nothing to compare: {}",
        if args.algorithm.is_empty() { "no device could be opened" } else { "no chosen device has these algorithms" }
    );

    let measured = is_measured(&rows);
    let all = others.len();
    others.retain(|other| rows.iter().any(|row| row.is_like(other)));
    if others.len() < all {
        eprintln!("note: {} rows of --with measure nothing that was measured here; left out", all - others.len());
    }
    rows.extend(others);
    rows::fill_copy_fractions(&mut rows);
    conclude(&rows, measured, args.json.as_deref(), args.html.as_deref(), &table::render(&rows))
}

/// Whether a device did anything that these rows were to be of.
pub fn is_measured(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.verified.is_some())
}

/// Writes and shows the rows, and says whether they are as they should be.
pub fn conclude(
    rows: &[Row],
    measured: bool,
    json: Option<&Path>,
    html: Option<&Path>,
    text: &str,
) -> Result<ExitCode> {
    if let Some(path) = json {
        write_rows(path, rows)?;
    }
    if let Some(path) = html {
        Pending::text(path, &crate::report::page(rows)?)?.finish()?;
    }
    files::print(text)?;
    let wrong = rows.iter().filter(|row| row.verified == Some(false)).count();
    if wrong > 0 {
        eprintln!("error: {wrong} of {} rows are not verified", rows.len());
    }
    if !measured {
        eprintln!("error: nothing was measured, for the reasons that the rows give");
    }
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    Ok(if wrong == 0 && measured { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn write_rows(path: &Path, rows: &[Row]) -> Result<()> {
    Pending::text(path, &(serde_json::to_string_pretty(rows)? + "\n"))?.finish()
}

/// The progress bar, the notes that interrupt it, and the rows so far.
pub struct Report<'a> {
    pub bar: ProgressBar,
    /// Where the rows so far are written, for what may interrupt the work.
    json: Option<&'a Path>,
    pub rows: RefCell<Vec<Row>>,
}

impl<'a> Report<'a> {
    pub fn new(json: Option<&'a Path>) -> Report<'a> {
        Report { bar: crate::progress::bar(), json, rows: RefCell::default() }
    }

    pub fn add(&self, row: Row) {
        self.rows.borrow_mut().push(row);
        self.write();
    }

    pub fn write(&self) {
        let rows = self.rows.borrow();
        if let Some(Err(error)) = self.json.map(|path| write_rows(path, &rows)) {
            tracing::warn!(%error, "the rows so far are not written");
        }
    }

    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("note: {text}"));
    }
}

pub struct Opened(Device);

impl Opened {
    /// Measures on it, which tells whether it was lost, and closes it.
    pub fn measured(self, measure: impl FnOnce(&Device) -> bool) {
        if measure(&self.0) {
            // What a device that is gone does when it is closed is not to be trusted.
            std::mem::forget(self.0);
        }
    }
}

/// Opens all devices before the first is measured, none for one that cannot be opened: an NVIDIA GPU that is driven through Vulkan
/// alone lowers its clock within seconds if it is not busy, and does not while it is open through CUDA. `unopened` is the row of a
/// device that cannot be opened, but for its error.
pub fn open_all<'a>(
    devices: impl IntoIterator<Item = &'a Found>,
    report: &Report<'_>,
    unopened: impl Fn(&Found) -> Row,
) -> Vec<Option<Opened>> {
    let open = |found: &'a Found| {
        if interrupt::asked() {
            return None;
        }
        report.bar.set_message(format!("opening {found}"));
        match choose::open(found) {
            Ok(backend) => return Some(Opened(backend)),
            Err(Error::Unsupported(why)) => report.note(&format!("{found} is left out: {why}")),
            Err(error) => {
                report.add(Row { error: Some(format!("it cannot be opened: {error}")), ..unopened(found) });
            }
        }
        None
    };
    devices.into_iter().map(open).collect()
}

/// One row for all that could have been measured.
fn unopened(args: &CompareArgs, found: &Found) -> Row {
    let job = Job {
        primitive: primitives(args)[0],
        scalar: args.types[0],
        operator: None,
        algorithm: None,
        n: args.n.first().copied().unwrap_or(0),
        conditions: Conditions {
            input: args.input[0],
            kept: args.kept[0],
            run_length: args.run_length[0],
            fault: args.fault[0],
            waiting: args.waiting[0],
        },
    };
    Row::new(&job, found.into())
}

/// Measures all that was asked of a device, and tells whether it was lost meanwhile.
fn measure_all(args: &CompareArgs, backend: &Device, report: &Report<'_>) -> bool {
    let caps = backend.caps();
    let name = choose::line(caps.backend, &caps.device, &caps.api);
    let mut tuning = backend.tuning();
    for (name, value) in &args.tuning {
        if let Err(error) = tuning.set(name, *value) {
            report.note(&format!("{name} ({}): {error}", caps.device));
        }
    }
    // A file's too, which TRIFOLD_TUNING names.
    let changes = if caps.language == Language::Host { vec![] } else { tuning.changes(&Tuning::of(caps)) };
    let changes: Vec<String> = changes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let planned_with = (!changes.is_empty()).then(|| changes.join(","));
    let jobs = jobs(args, caps, &tuning);
    if jobs.is_empty() {
        for known in known(args, caps) {
            report.note(&format!("{name} runs {known}"));
        }
    }
    for doubt in doubts(args, &jobs, caps, &tuning) {
        report.note(&format!("{name}: {doubt}"));
    }
    report.bar.inc_length(jobs.len() as u64);
    let first = jobs.first().map_or(0, |job| job.n);
    let patience = Duration::from_secs(if is_software(caps.kind) { 10 } else { 60 });
    let start = Instant::now();
    let mut bench = Bench::new(backend, tuning, args.runs);
    let mut lost = None;
    for (i, job) in jobs.iter().enumerate() {
        if interrupt::asked() {
            break;
        }
        // What the user asked for is measured however long it takes.
        if args.n.is_empty() && job.n > first && start.elapsed() > patience {
            let (seconds, left) = (start.elapsed().as_secs_f64(), jobs.len() - i);
            report.note(&format!("{name} took {seconds:.0} s; {left} larger rows are left out, ask for them by -n"));
            report.bar.inc(left as u64);
            break;
        }
        report.bar.set_message(format!("{name}: {job}"));
        if let Some(why) = &lost {
            let mut row = Row::new(job, caps.into());
            row.error = Some(format!("not run: {why}"));
            row.tuning.clone_from(&planned_with);
            report.add(row);
        } else {
            let mut outcome = bench.row(job);
            outcome.row().tuning.clone_from(&planned_with);
            match outcome {
                Outcome::Row(row) | Outcome::Unsupported(row) => report.add(*row),
                Outcome::NoMemory(row) if args.n.is_empty() && job.n > first => {
                    report.note(&format!("{name}: {}", row.error.as_deref().unwrap_or("out of memory")));
                }
                Outcome::NoMemory(row) => report.add(*row),
                Outcome::Lost(row) => {
                    lost = row.error.clone();
                    report.add(*row);
                }
            }
        }
        report.bar.inc(1);
    }
    if lost.is_some() {
        // Nor are its buffers freed: see `device`.
        std::mem::forget(bench);
    }
    lost.is_some()
}

/// What a device runs of each primitive that was asked for, in a line each.
fn known(args: &CompareArgs, caps: &Caps) -> Vec<String> {
    let known = |primitive: &'static Form| {
        let operator = primitive.has_operator.then_some(args.operator[0]);
        let request = measure::request(&Job { operator, ..Job::usual(primitive, args.types[0], 1) }).ok()?;
        let names: Vec<_> = plan::algorithms(&request, caps).iter().map(|algorithm| algorithm.name).collect();
        Some(format!("{} by {}", primitive.name, names.join(", ")))
    };
    primitives(args).into_iter().filter_map(known).collect()
}

fn primitives(args: &CompareArgs) -> Vec<&'static Form> {
    if args.primitive.is_empty() { Form::all().collect() } else { args.primitive.clone() }
}

/// What is to be measured on a device, small sizes first, and rows of one input together.
fn jobs(args: &CompareArgs, caps: &Caps, tuning: &Tuning) -> Vec<Job> {
    let mut jobs = vec![];
    let sizes = sizes(args, caps);
    // What the device lacks is said once.
    let first = sizes.first().copied();
    for n in sizes {
        for &scalar in &args.types {
            for &input in &args.input {
                for primitive in primitives(args) {
                    let operators: Vec<_> = match primitive.has_operator {
                        true => args.operator.iter().copied().map(Some).collect(),
                        false => vec![None],
                    };
                    for operator in operators {
                        for conditions in conditions(args, primitive, input) {
                            let job = Job { primitive, scalar, operator, algorithm: None, n, conditions };
                            for job in by_algorithm(args, caps, job, Some(n) == first) {
                                jobs.extend(by_waits(args, caps, tuning, job));
                            }
                        }
                    }
                }
            }
        }
    }
    jobs
}

/// What a primitive's input is to be, where it matters to it.
fn conditions(args: &CompareArgs, primitive: &'static Form, input: Distribution) -> Vec<Conditions> {
    let usual = Conditions { input, ..Conditions::default() };
    if primitive.writes == Writes::Kept {
        return args.kept.iter().map(|&kept| Conditions { kept, ..usual }).collect();
    }
    if primitive.writes == Writes::Runs {
        return args.run_length.iter().map(|&run_length| Conditions { run_length, ..usual }).collect();
    }
    vec![usual]
}

/// The job by each algorithm that was asked for and that the device has, and with `all` by those that others have, whose rows will
/// say why it does not; or by its own choice.
fn by_algorithm(args: &CompareArgs, caps: &Caps, job: Job, all: bool) -> Vec<Job> {
    if args.algorithm.is_empty() {
        return vec![job];
    }
    // A request that makes no sense has a row that says why.
    let Ok(request) = measure::request(&job) else { return vec![job] };
    let has = plan::algorithms(&request, caps);
    let lacks = if all { crate::lacking::algorithms(&request, caps) } else { vec![] };
    let known = |name: &&str| has.iter().chain(&lacks).find(|algorithm| algorithm.name == *name).copied();
    let wanted = args.algorithm.iter().filter_map(known);
    wanted.map(|algorithm| Job { algorithm: Some(algorithm), ..job }).collect()
}

/// The job with each fault and waiting that was asked for; without them where no tile waits for another, and the row would
/// say what it did not measure.
fn by_waits(args: &CompareArgs, caps: &Caps, tuning: &Tuning, job: Job) -> Vec<Job> {
    if waiting_tiles(&job, caps, tuning) == Some(0) {
        return vec![job];
    }
    let both = args.fault.iter().flat_map(|&fault| args.waiting.iter().map(move |&waiting| (fault, waiting)));
    both.map(|(fault, waiting)| Job { conditions: Conditions { fault, waiting, ..job.conditions }, ..job }).collect()
}

/// The tiles of a job that wait for each other; none if there is no plan of it.
fn waiting_tiles(job: &Job, caps: &Caps, tuning: &Tuning) -> Option<u32> {
    let options = Options { fault: Fault::None, ..job.options() };
    let plan = plan::plan(&measure::request(job).ok()?, Layout::default(), options, caps, tuning);
    plan.ok().map(|plan| plan.waiting_tiles())
}

/// What of `--fault` and `--waiting` a device's jobs do not show.
fn doubts(args: &CompareArgs, jobs: &[Job], caps: &Caps, tuning: &Tuning) -> Vec<String> {
    let usual = Conditions::default();
    let asked = args.fault.iter().any(|f| *f != usual.fault) || args.waiting.iter().any(|w| *w != usual.waiting);
    let differs = |job: &Job| (job.conditions.fault, job.conditions.waiting) != (usual.fault, usual.waiting);
    if asked && !jobs.iter().any(differs) {
        return vec!["no tile of what is measured waits for another: --fault and --waiting change nothing".into()];
    }
    let too_few = |job: &Job| {
        let (Fault::Silent(every) | Fault::Late(every)) = job.conditions.fault else { return None };
        let tiles = waiting_tiles(job, caps, tuning)?;
        let fault = job.conditions.fault;
        let why =
            || format!("{job} has {tiles} tiles, of which {fault} blocks none; ask for more elements or a smaller N");
        (tiles < every).then(why)
    };
    let mut doubts: Vec<String> = vec![];
    for doubt in jobs.iter().filter_map(too_few) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    doubts
}

/// The sizes to measure, ascending: the user's, or what a device of this kind does in reasonable time and has room for.
fn sizes(args: &CompareArgs, caps: &Caps) -> Vec<u64> {
    let mut sizes = args.n.clone();
    if sizes.is_empty() {
        let powers: &[u32] = match caps.kind {
            DeviceKind::DiscreteGpu => &[16, 20, 24, 28],
            DeviceKind::IntegratedGpu | DeviceKind::Other => &[16, 20, 24],
            DeviceKind::Cpu => &[16, 20],
        };
        let widest = args.types.iter().map(|t| u64::from(t.bytes())).max().unwrap_or(4);
        sizes.extend(powers.iter().map(|power| 1u64 << power));
        sizes.retain(|n| {
            let bytes = n * widest;
            // A sort of pairs has keys and values, each in, out and in scratch.
            let fits = caps.memory == 0 || 7 * bytes < caps.memory;
            *n == 1 << 16 || (fits && bytes <= caps.max_binding.min(caps.max_buffer))
        });
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use clap::Parser;
    use trifold::backend::{Language, SubgroupSource, Subgroups};
    use trifold::plan::{Builtin, Options, Waiting};
    use trifold::types::Scalar;

    use super::*;
    use crate::args::{Cli, Command};

    fn args(words: &str) -> CompareArgs {
        let words = ["trifold", "compare"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Compare(args) => args,
            other => panic!("{other:?}"),
        }
    }

    /// A device whose tiles wait for each other.
    fn caps() -> Caps {
        let subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
        let cpu = trifold::cpu::Cpu::new().unwrap();
        Caps { language: Language::OpenClC, subgroups, ..cpu.caps().clone() }
    }

    #[test]
    fn what_has_tiles_that_wait_is_measured_with_each_fault_and_waiting() {
        let caps = caps();
        let tuning = Tuning::of(&caps);
        let args = args("-n 2^20 --input constant --fault none,late:7 --waiting bounded,unbounded");
        let jobs = jobs(&args, &caps, &tuning);
        assert!(jobs.iter().all(|job| job.conditions.input.name() == "constant"));
        for primitive in Form::all() {
            let request = primitive.request(Scalar::U32, Builtin::Sum, 1 << 20).unwrap();
            let plan = plan::plan(&request, Default::default(), Options::default(), &caps, &tuning).unwrap();
            let rows = if plan.algorithm().tiles_wait { 4 } else { 1 };
            let own: Vec<&Job> = jobs.iter().filter(|job| job.primitive == primitive).collect();
            assert_eq!(own.len(), rows, "{primitive:?}");
            let first = own[0].conditions;
            assert_eq!((first.fault, first.waiting), (Fault::None, Waiting::Bounded));
            let last = own[rows - 1].options();
            assert_eq!(rows == 4, (last.fault, last.waiting) == (Fault::Late(7), Waiting::Unbounded));
        }
        assert!(doubts(&args, &jobs, &caps, &tuning).is_empty());
    }

    #[test]
    fn faults_and_waits_that_change_nothing_are_said() {
        let caps = caps();
        let tuning = Tuning::of(&caps);
        let said = |words: &str| {
            let args = args(words);
            doubts(&args, &jobs(&args, &caps, &tuning), &caps, &tuning)
        };
        let few = said("-n 2^14 --type u32,f32 --primitive scan --fault none,silent:100 --waiting bounded");
        assert!(
            few.len() == 2 && few[0].starts_with("scan of 2^14 u32 has ") && few[0].contains("silent:100"),
            "{few:?}"
        );
        assert_eq!(said("-n 2^20 --primitive scan --fault silent:2"), [""; 0]);
        let none = said("-n 2^20 --primitive copy,reduce --waiting unbounded");
        assert!(none.len() == 1 && none[0].contains("change nothing"), "{none:?}");
        assert_eq!(said("-n 2^20 --primitive copy,reduce"), [""; 0]);
    }
}
