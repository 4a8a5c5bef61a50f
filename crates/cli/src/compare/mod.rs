//! `trifold compare`: every primitive on every device, checked and timed.

mod check;
mod measure;
mod rows;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use trifold::{AnyBackend, Caps, DeviceKind, Error, Found, planner};

pub use self::measure::{Bench, Outcome, is_software, request};
#[cfg(test)]
pub use self::rows::Device;
pub use self::rows::{Job, Row};
use crate::args::{CompareArgs, Primitive};
use crate::files::{self, Pending};

pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    let devices = crate::choose::matching(&args.device)?;
    let mut others = vec![];
    for path in &args.with {
        others.extend(rows::read_others(path)?);
    }
    for path in [&args.json, &args.html].into_iter().flatten() {
        // A path that cannot be written is better known before the work than after it.
        drop(Pending::text(path, "")?);
    }
    // A panic becomes its row's error, not a backtrace across the table.
    std::panic::set_hook(Box::new(|info| tracing::warn!(%info, "a panic")));
    let report = Report::new();
    let mut rows = vec![];
    for found in &devices {
        rows.extend(device(args, found, &report));
    }
    report.bar.finish_and_clear();
    ensure!(
        !rows.is_empty(),
        "nothing to compare: {}",
        if args.algorithm.is_empty() { "no device could be opened" } else { "no chosen device has these algorithms" }
    );

    let all = others.len();
    others.retain(|other| rows.iter().any(|row| row.is_like(other)));
    if others.len() < all {
        eprintln!("note: {} rows of --with measure nothing that was measured here; left out", all - others.len());
    }
    rows.extend(others);
    rows::fill_copy_fractions(&mut rows);
    if let Some(path) = &args.json {
        Pending::text(path, &(serde_json::to_string_pretty(&rows)? + "\n"))?.finish()?;
    }
    if let Some(path) = &args.html {
        Pending::text(path, &crate::report::page(&rows)?)?.finish()?;
    }
    files::print(&table::render(&rows))?;
    let wrong = rows.iter().filter(|row| row.verified == Some(false)).count();
    if wrong > 0 {
        eprintln!("error: {wrong} of {} rows are not verified", rows.len());
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The progress bar, and the notes that interrupt it.
struct Report {
    bar: ProgressBar,
}

impl Report {
    fn new() -> Report {
        Report { bar: crate::progress::bar() }
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("note: {text}"));
    }
}

fn device(args: &CompareArgs, found: &Found, report: &Report) -> Vec<Row> {
    report.bar.set_message(format!("opening {found}"));
    match catch_unwind(AssertUnwindSafe(|| found.open())) {
        Ok(Ok(backend)) => {
            let (rows, lost) = measured(args, &*backend, report);
            if lost {
                // What a device that is gone does when it is closed is not to be trusted.
                std::mem::forget(backend);
            }
            rows
        }
        Ok(Err(Error::Unsupported(why))) => {
            report.note(&format!("{found} is left out: {why}"));
            vec![]
        }
        Ok(Err(error)) => vec![unopened(args, found, error.to_string())],
        Err(_) => vec![unopened(args, found, "its binding panicked while opening it; -v says how".into())],
    }
}

/// One row for all that could have been measured.
fn unopened(args: &CompareArgs, found: &Found, error: String) -> Row {
    let job = Job {
        primitive: primitives(args)[0],
        scalar: args.types[0],
        operator: None,
        algorithm: None,
        n: args.n.first().copied().unwrap_or(0),
    };
    let mut row = Row::new(&job, found.into());
    row.error = Some(format!("it cannot be opened: {error}"));
    row
}

/// Measures all that was asked of a device; tells too whether it was lost meanwhile.
fn measured(args: &CompareArgs, backend: &dyn AnyBackend, report: &Report) -> (Vec<Row>, bool) {
    let caps = backend.caps();
    let name = format!("{} on {} ({})", caps.backend, caps.device, caps.api);
    let jobs = jobs(args, caps);
    report.bar.inc_length(jobs.len() as u64);
    let first = jobs.first().map_or(0, |job| job.n);
    let patience = Duration::from_secs(if is_software(caps.kind) { 10 } else { 60 });
    let start = Instant::now();
    let mut tuning = backend.tuning();
    for (name, value) in &args.tuning {
        if let Err(error) = tuning.set(name, *value) {
            report.note(&format!("{name} ({}): {error}", caps.device));
        }
    }
    let mut bench = Bench::new(backend, tuning, args.runs);
    let mut rows: Vec<Row> = vec![];
    let mut lost = None;
    for (i, job) in jobs.iter().enumerate() {
        // What the user asked for is measured however long it takes.
        if args.n.is_empty() && job.n > first && start.elapsed() > patience {
            report.note(&format!(
                "{name} took {:.0} s; {} larger rows are left out, ask for them by -n",
                start.elapsed().as_secs_f64(),
                jobs.len() - i
            ));
            report.bar.inc((jobs.len() - i) as u64);
            break;
        }
        report.bar.set_message(format!(
            "{name}: {} of {} {}",
            job.primitive.name(),
            table::size(job.n),
            job.scalar.name()
        ));
        if let Some(why) = &lost {
            let mut row = Row::new(job, caps.into());
            row.error = Some(format!("not run: {why}"));
            rows.push(row);
        } else {
            match bench.row(job) {
                Outcome::Row(row) => rows.push(*row),
                Outcome::NoMemory(row) if args.n.is_empty() && job.n > first => {
                    report.note(&format!("{name}: {}", row.error.as_deref().unwrap_or("out of memory")));
                }
                Outcome::NoMemory(row) => rows.push(*row),
                Outcome::Lost(row) => {
                    lost = row.error.clone();
                    rows.push(*row);
                }
            }
        }
        report.bar.inc(1);
    }
    if lost.is_some() {
        // Nor are its buffers freed: see `device`.
        std::mem::forget(bench);
    }
    (rows, lost.is_some())
}

fn primitives(args: &CompareArgs) -> &[Primitive] {
    if args.primitive.is_empty() { &Primitive::ALL } else { &args.primitive }
}

/// What is to be measured on a device, small sizes first.
fn jobs(args: &CompareArgs, caps: &Caps) -> Vec<Job> {
    let mut jobs = vec![];
    for n in sizes(args, caps) {
        for &scalar in &args.types {
            for &primitive in primitives(args) {
                let operators: Vec<_> = match primitive.has_operator() {
                    true => args.operator.iter().copied().map(Some).collect(),
                    false => vec![None],
                };
                for operator in operators {
                    let job = Job { primitive, scalar, operator, algorithm: None, n };
                    if args.algorithm.is_empty() {
                        jobs.push(job);
                        continue;
                    }
                    // A request that makes no sense has a row that says why.
                    let Ok(request) = measure::request(&job) else {
                        jobs.push(job);
                        continue;
                    };
                    let has = planner::algorithms(&request, caps);
                    let wanted = args.algorithm.iter().copied().filter(|algorithm| has.contains(algorithm));
                    jobs.extend(wanted.map(|algorithm| Job { algorithm: Some(algorithm), ..job }));
                }
            }
        }
    }
    jobs
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
