//! A device while it is compared.

use std::time::{Duration, Instant};

use trifold::backend::Language;
use trifold::tuning::Tuning;
use trifold::{Backend, Device};

use super::measure::{Bench, Outcome, Shared, is_software};
use super::rows::{Job, Row};
use super::{Report, jobs};
use crate::args::CompareArgs;
use crate::{choose, interrupt};

/// How long a device measures larger sizes than its smallest without being asked for them.
const SOFTWARE_PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Station<'a> {
    args: &'a CompareArgs,
    device: &'a Device,
    report: &'a Report<'a>,
    name: String,
    tuning: Tuning,
    /// The numbers that are not the device's own.
    planned_with: Option<String>,
    /// Ascending.
    sizes: Vec<u64>,
    bench: Bench<'a>,
    spent: Duration,
    /// Rows that its time had no room for.
    left_out: usize,
    /// Why it is gone.
    lost: Option<String>,
}

/// Every size of every device, ascending.
pub fn sizes(stations: &[Station<'_>]) -> Vec<u64> {
    let mut sizes: Vec<u64> = stations.iter().flat_map(|station| station.sizes.iter().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

impl<'a> Station<'a> {
    /// A device with nothing measured yet. Says what of the arguments makes no sense for it.
    pub fn new(args: &'a CompareArgs, device: &'a Device, shared: &'a Shared, report: &'a Report<'a>) -> Station<'a> {
        let caps = device.caps();
        let name = choose::line(caps.backend, &caps.device, &caps.api);
        let mut tuning = device.tuning();
        for (name, value) in &args.tuning {
            if let Err(error) = tuning.set(name, *value) {
                report.note(&format!("{name} ({}): {error}", caps.device));
            }
        }
        // A file's too, which TRIFOLD_TUNING names.
        let changes = if caps.language == Language::Host { vec![] } else { tuning.changes(&Tuning::of(caps)) };
        let changes: Vec<String> = changes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let planned_with = (!changes.is_empty()).then(|| changes.join(","));
        let bench = Bench::new(device, tuning.clone(), args.runs, shared);
        let sizes = jobs::sizes(args, caps);
        let (spent, left_out, lost) = (Duration::ZERO, 0, None);
        let station = Station { args, device, report, name, tuning, planned_with, sizes, bench, spent, left_out, lost };
        station.announce();
        station
    }

    fn announce(&self) {
        let (args, caps) = (self.args, self.device.caps());
        let calls = jobs::primitives(args).into_iter().flat_map(|primitive| jobs::calls(args, primitive, &self.sizes));
        let jobs: Vec<Job> = calls.flat_map(|call| self.jobs(call)).collect();
        if jobs.is_empty() {
            for known in jobs::known(args, caps) {
                self.report.note(&format!("{} runs {known}", self.name));
            }
        }
        for doubt in jobs::doubts(args, &jobs, caps, &self.tuning) {
            self.report.note(&format!("{}: {doubt}", self.name));
        }
        self.report.bar.inc_length(jobs.len() as u64);
    }

    fn jobs(&self, call: Job) -> Vec<Job> {
        jobs::jobs(self.args, self.device.caps(), &self.tuning, &self.sizes, call)
    }

    /// Measures a call of the primitive behind `done` others.
    pub fn measure(&mut self, call: Job, done: usize) {
        for job in self.jobs(call) {
            if interrupt::asked() {
                return;
            }
            if self.is_out_of_time(&job, done) {
                self.left_out += 1;
            } else {
                self.report.bar.set_message(format!("{}: {job}", self.name));
                // The host's time for all devices is not this one's.
                self.bench.prepare(&job);
                let start = Instant::now();
                self.row(&job);
                self.spent += start.elapsed();
            }
            self.report.bar.inc(1);
        }
    }

    /// Whether a larger size has to wait for another day. What the user asked for is measured however long it takes.
    fn is_out_of_time(&self, job: &Job, done: usize) -> bool {
        let patience = if is_software(self.device.caps().kind) { SOFTWARE_PATIENCE } else { PATIENCE };
        let primitives = jobs::primitives(self.args).len() as u32;
        self.is_optional(job) && self.spent > patience * (done as u32 + 1) / primitives
    }

    fn is_optional(&self, job: &Job) -> bool {
        self.args.n.is_empty() && self.sizes.first().is_some_and(|first| job.n > *first)
    }

    fn row(&mut self, job: &Job) {
        if let Some(why) = &self.lost {
            let error = Some(format!("not run: {why}"));
            let row = Row { error, tuning: self.planned_with.clone(), ..Row::new(job, self.device.caps().into()) };
            return self.report.add(row);
        }
        let mut outcome = self.bench.row(job);
        outcome.row().tuning.clone_from(&self.planned_with);
        match outcome {
            Outcome::NoMemory(row) if self.is_optional(job) => {
                self.report.note(&format!("{}: {}", self.name, row.error.as_deref().unwrap_or("out of memory")));
            }
            Outcome::Row(row) | Outcome::Unsupported(row) | Outcome::NoMemory(row) => self.report.add(*row),
            Outcome::Lost(row) => {
                self.lost.clone_from(&row.error);
                self.report.add(*row);
            }
        }
    }

    /// Says what was left out, and frees what it holds.
    pub fn close(self) {
        if self.left_out > 0 {
            let (seconds, left) = (self.spent.as_secs_f64(), self.left_out);
            let name = &self.name;
            self.report
                .note(&format!("{name} took {seconds:.0} s. Left out: {left} rows of larger n; -n asks for them"));
        }
        if self.lost.is_some() {
            // What a device that is gone does when buffers are freed, or it is closed, is not to be trusted.
            std::mem::forget(self.device.clone());
            std::mem::forget(self.bench);
        }
    }
}
