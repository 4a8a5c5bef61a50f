//! `trifold experiment`: measures anew, on any device, what the documents behind the algorithms measured.
//!
//! An experiment is a list of calls, as [`jobs`] has it, or one of its own kernel, as [`workgroup`] has it. Their rows are
//! those of `trifold compare`, with the experiment's name and what it predicts.

mod jobs;
mod sizes;
mod workgroup;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use trifold::backend::Caps;
use trifold::{Backend, Device, Found, plan};

use self::jobs::Call;
use self::sizes::Sizes;
use crate::args::{Experiment, ExperimentArgs};
use crate::compare::{self, Bench, Devices, Job, Outcome, Report, Row, Shared, is_software, request, size};
use crate::files;
use crate::interrupt;

/// What all software devices may take together, in seconds, and each other one.
const SOFTWARE_SECONDS: u64 = 150;
const GPU_SECONDS: u64 = 600;
/// What a row's timed runs may take on a software device.
const SOFTWARE_ROW: Duration = Duration::from_millis(60);

pub fn run(args: &ExperimentArgs) -> Result<ExitCode> {
    files::check_outputs(&[("--json", args.json.as_deref()), ("--html", args.html.as_deref())], [])?;
    let devices = devices(args)?;
    // A panic becomes its row's error, not a backtrace across the table.
    std::panic::set_hook(Box::new(|info| tracing::info!(%info, "a panic")));
    interrupt::listen()?;
    let report = Report::new(args.json.as_deref());
    // What one software device leaves of their time is the next ones' too.
    let is_pooled = |device: &Chosen| args.budget.is_some() || is_software(device.found.kind);
    let mut pooled = devices.iter().filter(|device| is_pooled(device)).count() as u32;
    let mut pool = Duration::from_secs(args.budget.unwrap_or(SOFTWARE_SECONDS));
    let beside_a_gpu = devices.iter().any(|device| !is_software(device.found.kind));
    let unopened = |found: &Found| jobs::blank(experiments(args)[0], found.into());
    let opened = compare::open_all(devices.iter().map(|device| &device.found), &report, unopened);
    for (device, opened) in devices.iter().zip(opened) {
        let budget = if is_pooled(device) { pool / pooled } else { Duration::from_secs(GPU_SECONDS) };
        let start = Instant::now();
        if let Some(opened) = opened {
            opened.measured(|backend| {
                Lab { args, backend, report: &report, is_baseline: device.is_baseline, beside_a_gpu }.measure(budget)
            });
        }
        if is_pooled(device) {
            (pool, pooled) = (pool.saturating_sub(start.elapsed()), pooled - 1);
        }
    }
    report.bar.finish_and_clear();
    let mut rows = report.rows.take();
    if rows.is_empty()
        && let Some(code) = interrupt::code()
    {
        return Ok(code);
    }
    ensure!(!rows.is_empty(), "nothing to measure: no device could be opened, or no experiment has these algorithms");
    // By experiment, as they are listed, and not by device.
    rows.sort_by_key(|row| Experiment::place(row.experiment.as_deref().unwrap_or_default()));
    let devices = Devices::of_rows(&rows);
    let text =
        devices.list() + compare::LEGEND + &compare::render(&rows, &devices, args.wide) + &workgroup::said(&rows);
    compare::conclude(&rows, compare::is_measured(&rows), args.json.as_deref(), args.html.as_deref(), &text)
}

fn experiments(args: &ExperimentArgs) -> &[Experiment] {
    if args.name.is_empty() { &Experiment::ALL } else { &args.name }
}

struct Chosen {
    found: Found,
    /// Whether it is there for the sequential scan alone, beside which the other devices' scans are set.
    is_baseline: bool,
}

fn devices(args: &ExperimentArgs) -> Result<Vec<Chosen>> {
    let mut devices = crate::choose::matching(&args.device)?;
    let is_cpu = |found: &Found| found.backend == "cpu";
    let lacks_baseline = experiments(args).contains(&Experiment::ScanLadder) && !devices.iter().any(is_cpu);
    let baseline = lacks_baseline.then(trifold::devices).into_iter().flatten().find(is_cpu);
    // The CPU first: whoever stops the program early has what the others are set beside.
    let baseline = baseline.map(|found| Chosen { found, is_baseline: true });
    let chosen = devices.drain(..).map(|found| Chosen { found, is_baseline: false });
    Ok(baseline.into_iter().chain(chosen).collect())
}

/// A device while it is experimented with.
struct Lab<'a> {
    args: &'a ExperimentArgs,
    backend: &'a Device,
    report: &'a Report<'a>,
    is_baseline: bool,
    beside_a_gpu: bool,
}

/// How an experiment went, for the next one.
enum End {
    Done,
    /// With the device.
    Lost,
}

impl Lab<'_> {
    /// All experiments, and whether the device was lost meanwhile.
    fn measure(&self, budget: Duration) -> bool {
        let shared = Shared::default();
        let mut bench = Bench::new(self.backend, self.backend.tuning(), self.args.runs, &shared);
        if is_software(self.caps().kind) {
            bench.set_budget(SOFTWARE_ROW);
        }
        let start = Instant::now();
        let sizes = Sizes::of(self.args, self.caps(), self.beside_a_gpu, &mut bench);
        let deadline = start + budget;
        let mut late = vec![];
        let experiments: Vec<Experiment> = experiments(self.args).to_vec();
        for (done, &experiment) in experiments.iter().enumerate() {
            if self.is_baseline && experiment != Experiment::ScanLadder {
                continue;
            }
            // What earlier ones left is the later ones' too.
            let share = deadline.saturating_duration_since(Instant::now()) / (experiments.len() - done) as u32;
            let end = match experiment {
                Experiment::WorkgroupSweep => self.workgroup_sweep(&mut bench, Instant::now() + share),
                _ => {
                    let calls = self.list(experiment, &sizes);
                    self.calls(experiment, calls, 1, &mut bench, Instant::now() + share, &mut late)
                }
            };
            if matches!(end, End::Lost) {
                return self.lost(bench);
            }
        }
        // And what the later ones left, the earlier ones'.
        for (experiment, calls) in std::mem::take(&mut late) {
            if matches!(self.calls(experiment, calls, 0, &mut bench, deadline, &mut late), End::Lost) {
                return self.lost(bench);
            }
        }
        for (experiment, calls) in late {
            self.report.bar.inc(calls.len() as u64);
            self.left_out(experiment, calls.len());
        }
        false
    }

    fn lost(&self, bench: Bench<'_>) -> bool {
        self.report.note(&format!("{} is lost; what was to follow on it is left out", self.name()));
        // Nor are its buffers freed: what a device that is gone does then is not to be trusted.
        std::mem::forget(bench);
        true
    }

    fn caps(&self) -> &Caps {
        self.backend.caps()
    }

    fn name(&self) -> String {
        let caps = self.caps();
        crate::choose::line(caps.backend, &caps.device, &caps.api)
    }

    fn list(&self, experiment: Experiment, sizes: &Sizes) -> Vec<Call> {
        let mut calls = jobs::of(experiment, self.args, self.caps(), &self.backend.tuning(), sizes);
        if self.is_baseline {
            calls.retain(|call| call.job.algorithm == Some(&trifold::algorithm::scan::SEQUENTIAL));
        }
        self.report.bar.inc_length(calls.len() as u64);
        calls
    }

    /// Measures calls, `least` of them whatever the time; `late` gets those that the deadline leaves.
    fn calls(
        &self,
        experiment: Experiment,
        calls: Vec<Call>,
        least: usize,
        bench: &mut Bench<'_>,
        deadline: Instant,
        late: &mut Vec<(Experiment, Vec<Call>)>,
    ) -> End {
        for (i, call) in calls.iter().enumerate() {
            if interrupt::asked() {
                break;
            }
            if i >= least && Instant::now() > deadline {
                late.push((experiment, calls[i..].to_vec()));
                break;
            }
            let Job { primitive, n, .. } = call.job;
            let message = format!("{}: {}: {} of {}", self.name(), experiment.name(), primitive.name, size(n));
            self.report.bar.set_message(message);
            let outcome = self.call(experiment, call, bench);
            self.report.bar.inc(1);
            if let End::Lost = self.add(outcome) {
                return End::Lost;
            }
        }
        End::Done
    }

    fn left_out(&self, experiment: Experiment, rows: usize) {
        self.report.note(&format!(
            "{}: {} took its share of the time; {rows} of its rows are left out, --budget SECONDS or --device gives it more",
            self.name(),
            experiment.name()
        ));
    }

    fn add(&self, outcome: Outcome) -> End {
        let (row, end) = match outcome {
            Outcome::Row(row) | Outcome::NoMemory(row) | Outcome::Unsupported(row) => (row, End::Done),
            Outcome::Lost(row) => (row, End::Lost),
        };
        self.report.add(*row);
        end
    }

    /// A call's row: why it is refused, or what it took.
    fn call(&self, experiment: Experiment, call: &Call, bench: &mut Bench<'_>) -> Outcome {
        let label = |row: &mut Row| {
            row.experiment = Some(experiment.name().into());
            row.tuning = call.tuning.map(|(name, value)| format!("{name}={value}"));
        };
        let (request, tuning) = match self.planned(call) {
            Ok(planned) => planned,
            Err(error) => {
                let mut row = Row::new(&call.job, self.caps().into());
                label(&mut row);
                // It did not run, so it is neither right nor wrong.
                (row.verified, row.error) = (None, Some(error.to_string()));
                return Outcome::Row(Box::new(row));
            }
        };
        bench.set_tuning(tuning);
        let mut outcome = bench.row(&call.job);
        label(outcome.row());
        match &mut outcome {
            Outcome::Row(row) => row.predict(&request),
            Outcome::NoMemory(row) => row.verified = None,
            Outcome::Unsupported(_) | Outcome::Lost(_) => {}
        }
        outcome
    }

    /// What a call is planned from, or why the device cannot run it.
    fn planned(&self, call: &Call) -> trifold::Result<(trifold::plan::Request, trifold::tuning::Tuning)> {
        let tuning = call.tuning(self.backend.tuning())?;
        let request = request(&call.job)?;
        plan::plan(&request, Default::default(), call.job.options(), self.caps(), &tuning)?;
        Ok((request, tuning))
    }
}
