//! `trifold tune`: measures candidate tile shapes on a device, and writes the best as a table for `TRIFOLD_TUNING`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use comfy_table::Table;
use indicatif::ProgressBar;
use trifold::backend::Caps;
use trifold::plan::{Fault, Layout, Plan};
use trifold::tuning::{Candidates, Tuning, TuningRow, TuningTable};
use trifold::{Backend, Device, Found, plan};
use trifold_conformance as conformance;

use crate::args::TuneArgs;
use crate::compare::{Bench, Conditions, Job, Outcome, Shared, is_software};
use crate::files::{self, Pending};

/// A candidate must be faster by as much to be taken: below it is noise.
const WORTHWHILE: f64 = 0.99;
/// A workgroup that is slower by as much than the best, with the number tried that matters most to it, is left at that.
const HOPELESS: f64 = 1.1;

pub fn run(args: &TuneArgs) -> Result<ExitCode> {
    files::check_outputs(&[("-o", Some(&args.output))], [])?;
    let devices = crate::choose::listed(&args.device)?;
    let bar = crate::progress::bar();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["device", "call", "before", "after", "faster by", "numbers"]);
    let mut rows = vec![];
    for found in &devices {
        bar.set_message(format!("opening {found}"));
        match tuned(args, found, &bar, &mut table) {
            Ok(Some(row)) => {
                rows.push(row);
                // What is found of a device is not lost by what becomes of the next.
                write(args, &rows)?;
            }
            Ok(None) => {}
            Err(error) if devices.len() > 1 => bar.suspend(|| eprintln!("note: {found} is left out: {error:#}")),
            Err(error) => return Err(error.context(found.to_string())),
        }
    }
    bar.finish_and_clear();
    ensure!(!rows.is_empty(), "nothing to tune: no chosen device has kernels that work, or --primitive leaves none");
    let found_some = rows.iter().any(|row| !row.numbers.is_empty());
    let said = match found_some {
        true => format!("TRIFOLD_TUNING={} makes every program use it", args.output.display()),
        false => "the numbers that ship are the best of the candidates".into(),
    };
    files::print(&format!("{table}\n{said}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn write(args: &TuneArgs, rows: &[TuningRow]) -> Result<()> {
    Pending::text(&args.output, &TuningTable::new(rows.to_vec()).text()?)?.finish()
}

/// Tunes a device; none if it has no kernels to tune.
fn tuned(args: &TuneArgs, found: &Found, bar: &ProgressBar, table: &mut Table) -> Result<Option<TuningRow>> {
    let backend = crate::choose::open(found)?;
    let caps = backend.caps();
    let n = args.n.unwrap_or(if is_software(caps.kind) { 1 << 18 } else { 1 << 26 });
    let start = if args.from_limits { Tuning::by_limits(caps) } else { backend.tuning() };
    let subjects: Vec<_> =
        Candidates::all().into_iter().filter(|subject| is_wanted(subject, args, caps, n, &start)).collect();
    if subjects.is_empty() {
        return Ok(None);
    }
    bar.inc_length(subjects.len() as u64);

    let shared = Shared::default();
    let bench = Bench::new(&backend, start.clone(), args.runs, &shared);
    let mut best = Search { bench, bar, caps, tuning: start.clone(), n };
    for subject in &subjects {
        bar.inc(1);
        if best.has_no_room(subject) {
            continue;
        }
        bar.set_message(format!("{found}: {}", call(subject, n)));
        let before = best.time(subject)?;
        let after = best.search(subject, before)?;
        let numbers: Vec<_> =
            subject.values(&best.tuning).iter().map(|(name, value)| format!("{name}={value}")).collect();
        table.add_row([
            found.to_string(),
            call(subject, n),
            format!("{before:.3} ms"),
            format!("{after:.3} ms"),
            format!("{:.0}%", 100.0 * (before / after - 1.0)),
            numbers.join(" "),
        ]);
    }
    bar.set_message(format!("{found}: the suite's cases"));
    let numbers = match args.from_limits {
        true => subjects.iter().flat_map(|subject| subject.values(&best.tuning)).collect(),
        false => changes(&start, &best.tuning),
    };
    // Subjects of one algorithm share cases.
    let mut passed = BTreeSet::new();
    for subject in subjects {
        if best.has_no_room(subject) {
            continue;
        }
        let plans = best.plan(subject, &best.tuning).is_some();
        ensure!(plans, "{}: what was found for other calls leaves it no plan: {numbers:?}", call(subject, n));
        check(&backend, subject, &numbers, &mut passed)?;
    }
    let numbers = numbers.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Ok(Some(TuningRow::for_device(caps, numbers)))
}

/// The numbers in which a tuning is not the other.
fn changes(before: &Tuning, after: &Tuning) -> BTreeMap<&'static str, u32> {
    after.changes(before).into_iter().collect()
}

/// The numbers must pass the conformance suite's cases of them, together: a subject's tile may be another with what a later one found.
fn check(
    backend: &Device,
    subject: &Candidates,
    numbers: &BTreeMap<&'static str, u32>,
    passed: &mut BTreeSet<String>,
) -> Result<()> {
    let numbers = numbers.iter().map(|(name, value)| (*name, *value)).collect();
    let cases = conformance::tuned_cases(backend.caps(), &backend.tuning(), subject, numbers);
    for case in cases.iter().filter(|case| !passed.contains(case.name())).collect::<Vec<_>>() {
        match conformance::run(backend, case) {
            conformance::Outcome::Passed => _ = passed.insert(case.name().into()),
            conformance::Outcome::Ignored(_) => {}
            conformance::Outcome::Failed(why) | conformance::Outcome::Lost(why) => {
                bail!("{}: {why}; these numbers are not to be used", case.name())
            }
        }
    }
    let runs_some = cases.is_empty() || cases.iter().any(|case| passed.contains(case.name()));
    ensure!(runs_some, "{}: the device runs none of the suite's cases", cases[0].name());
    Ok(())
}

fn job(subject: &Candidates, n: u64) -> Result<Job> {
    let conditions = Conditions { fault: subject.fault, ..Conditions::default() };
    let algorithm = subject.options().algorithm;
    Ok(Job { algorithm, conditions, ..Job::usual(subject.form, subject.scalar, n) })
}

fn is_wanted(subject: &Candidates, args: &TuneArgs, caps: &Caps, n: u64, tuning: &Tuning) -> bool {
    let asked = args.primitive.is_empty() || args.primitive.contains(&subject.form);
    let Ok(request) = subject.request(subject.size(n)) else { return false };
    // Its tile may not fit this device.
    let fits = || plan::plan(&request, Layout::default(), subject.options(), caps, tuning).is_ok();
    // From where on an algorithm is the faster, only calls of that size tell.
    let is_whole = !subject.is_choice || subject.few == Some(subject.size(n));
    asked && subject.is_for(caps) && is_whole && (subject.few.is_none() || fits())
}

fn call(subject: &Candidates, n: u64) -> String {
    let (primitive, scalar) = (subject.form.name, subject.scalar.name());
    let mut call = format!("{primitive} of {} {scalar}", subject.size(n));
    if !subject.is_choice {
        call += &format!(" by {}", subject.algorithm);
    }
    if subject.fault != Fault::None {
        call += &format!(", {}", subject.fault);
    }
    call
}

/// A device, and the best numbers so far.
struct Search<'a> {
    bench: Bench<'a>,
    bar: &'a ProgressBar,
    caps: &'a Caps,
    tuning: Tuning,
    n: u64,
}

impl Search<'_> {
    /// A call's time with the best numbers so far, which must work.
    fn time(&mut self, subject: &Candidates) -> Result<f64> {
        match self.measured(subject, subject.size(self.n))? {
            Ok(ms) => Ok(ms),
            Err(why) => bail!("{}: {why}", call(subject, self.n)),
        }
    }

    /// Takes the best of a subject's numbers; the time with them. What is best of the others depends on the first, its workgroup, and so
    /// each workgroup is tried with those that suit it.
    fn search(&mut self, subject: &Candidates, ms: f64) -> Result<f64> {
        let [(workgroup, sizes), others @ ..] = subject.numbers else { return Ok(ms) };
        if others.is_empty() {
            return self.descend(subject, subject.numbers, ms);
        }
        let mut best_ms = self.descend(subject, others, ms)?;
        for size in *sizes {
            let kept = self.tuning.clone();
            self.tuning.set(workgroup, *size)?;
            if self.plan(subject, &self.tuning) == self.plan(subject, &kept) {
                self.tuning = kept;
                continue;
            }
            // Where it is not possible, it may be with less of another number.
            let mut ms = self.measured(subject, subject.size(self.n))?.unwrap_or(f64::INFINITY);
            for number in others {
                ms = self.descend(subject, std::slice::from_ref(number), ms)?;
                if ms > best_ms * HOPELESS {
                    break;
                }
            }
            match ms < best_ms * WORTHWHILE {
                true => best_ms = ms,
                false => self.tuning = kept,
            }
        }
        Ok(best_ms)
    }

    /// Takes one number after the other, each with what was taken before; the time with them.
    fn descend(&mut self, subject: &Candidates, numbers: &[(&str, &[u32])], mut ms: f64) -> Result<f64> {
        for (number, candidates) in numbers {
            for candidate in *candidates {
                ms = self.try_candidate(subject, number, *candidate, ms)?;
            }
        }
        Ok(ms)
    }

    /// Takes a number if its call is right and worthwhile; the time of the best.
    fn try_candidate(&mut self, subject: &Candidates, name: &str, value: u32, best_ms: f64) -> Result<f64> {
        self.bar.set_message(format!("{}: {}, {name} = {value}", self.caps.device, call(subject, self.n)));
        let kept = self.tuning.clone();
        // An algorithm that a larger size has found slower is not tried at a smaller one.
        let most = subject.numbers.iter().filter(|(own, _)| *own == name).flat_map(|(_, values)| *values).max();
        if kept.get(name) == Some(value) || (subject.is_choice && kept.get(name).as_ref() > most) {
            return Ok(best_ms);
        }
        self.tuning.set(name, value)?;
        if self.plan(subject, &self.tuning) == self.plan(subject, &kept) {
            self.tuning = kept;
            return Ok(best_ms);
        }
        match self.measured(subject, subject.size(self.n))? {
            Ok(ms) if ms < best_ms * WORTHWHILE && self.is_as_fast_without_fault(subject, &kept)? => return Ok(ms),
            Ok(ms) => tracing::info!(name, value, ms, best_ms, "no faster"),
            // Such a tile may not fit this device.
            Err(why) => tracing::info!(name, value, why, "not possible"),
        }
        self.tuning = kept;
        Ok(best_ms)
    }

    /// Whether a call whose tiles do nothing wrong, if they did, takes no longer than it did by these numbers.
    fn is_as_fast_without_fault(&mut self, subject: &Candidates, before: &Tuning) -> Result<bool> {
        if subject.fault == Fault::None {
            return Ok(true);
        }
        let calm = subject.without_fault();
        let after = self.time(&calm)?;
        let tuning = std::mem::replace(&mut self.tuning, before.clone());
        let before = self.time(&calm);
        self.tuning = tuning;
        Ok(after * WORTHWHILE <= before?)
    }

    /// Whether what was found so far leaves a tile no room for as many as a subject is for.
    fn has_no_room(&self, subject: &Candidates) -> bool {
        subject.few.is_some() && self.plan(subject, &self.tuning).is_none()
    }

    /// What a call does with these numbers; numbers that change nothing of it need no time.
    fn plan(&self, subject: &Candidates, tuning: &Tuning) -> Option<Plan> {
        let request = subject.request(subject.size(self.n)).ok()?;
        plan::plan(&request, Layout::default(), subject.options(), self.caps, tuning).ok()
    }

    /// What a call whose result is right takes of the device, or what is wrong with it.
    fn measured(&mut self, subject: &Candidates, n: u64) -> Result<std::result::Result<f64, String>> {
        self.bench.set_tuning(self.tuning.clone());
        let row = match self.bench.row(&job(subject, n)?) {
            Outcome::Lost(row) => bail!("{}", row.error.unwrap_or_else(|| "the device was lost".into())),
            Outcome::Row(row) | Outcome::NoMemory(row) | Outcome::Unsupported(row) => row,
        };
        Ok(match (row.verified, row.call_ms()) {
            (Some(true), Some(ms)) => Ok(ms),
            _ => Err(row.error.unwrap_or_else(|| "it was not measured".into())),
        })
    }
}
