//! `trifold verify`: the conformance suite on the machine's devices, one by one and against each other.

mod earlier;
mod queue;
mod shard;
mod watch;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use serde::Serialize;
use trifold::backend::Caps;
use trifold::plan::{Builtin, Form, Layout, Options};
use trifold::types::Scalar;
use trifold::{Backend, Device, Error, Found, plan};
use trifold_conformance::{Expectations, Level, Outcome, cases, pair_cases, run as run_case};

use self::earlier::Earlier;
use self::queue::Queue;
pub use self::shard::Shard;
use self::watch::Watch;
use crate::args::VerifyArgs;
use crate::choose;
use crate::compare::{Job, is_software, request};
use crate::files::{self, Pending};
use crate::interrupt;
use crate::lacking;

#[derive(Serialize)]
struct CaseResult {
    backend: String,
    device: String,
    api: String,
    case: String,
    /// passed, ignored or failed.
    outcome: &'static str,
    reason: Option<String>,
    seconds: f64,
    /// The commit that the program was built from.
    commit: Option<&'static str>,
}

struct Tested {
    name: String,
    backend: Device,
    lost: bool,
}

impl Tested {
    fn close(self) {
        if self.lost {
            // What a device that is gone does when it is closed is not to be trusted.
            std::mem::forget(self.backend);
        }
    }
}

pub fn run(args: &VerifyArgs) -> Result<ExitCode> {
    files::check_outputs(&[("--json", args.json.as_deref())], [])?;
    let found = choose::matching(&args.device)?;
    interrupt::listen()?;
    // The suite turns a panic into a failure that is listed with the others.
    std::panic::set_hook(Box::new(|info| tracing::info!(%info, "a panic")));
    let mut verify = Verify::new(args, Earlier::read(&args.resume)?);
    let mut devices = vec![];
    for found in &found {
        if interrupt::asked() {
            break;
        }
        match verify.open(found) {
            Ok(device) => devices.push(verify.device(found, device)),
            // Each part would say it of an ignored one.
            Err(Outcome::Ignored(_)) if !verify.is_first_shard() => verify.found = true,
            Err(why) => {
                let place = (found.backend, found.device.as_str(), found.api.as_str());
                verify.results.push(result(place, "open".into(), why, Duration::ZERO));
            }
        }
    }
    verify.together(&mut devices);
    verify.bar.finish_and_clear();
    drop(verify.watch);
    devices.into_iter().for_each(Tested::close);

    let (found, results) = (verify.found || !verify.results.is_empty(), verify.results);
    ensure!(found || interrupt::asked(), "no case of any chosen device matches --filter and --algorithm");
    if let Some(path) = &args.json {
        Pending::text(path, &(serde_json::to_string_pretty(&results)? + "\n"))?.finish()?;
    }
    files::print(&summary(&results))?;
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    let failed = results.iter().any(|result| result.outcome == "failed");
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Verify<'a> {
    args: &'a VerifyArgs,
    known: Expectations,
    earlier: Earlier,
    bar: ProgressBar,
    watch: Watch,
    /// Whether there was a case to run, if another part's.
    found: bool,
    results: Vec<CaseResult>,
}

impl<'a> Verify<'a> {
    fn new(args: &'a VerifyArgs, earlier: Earlier) -> Self {
        let bar = crate::progress::bar();
        let watch = Watch::new(bar.clone());
        Verify { args, known: Expectations::shipped(), earlier, bar, watch, found: false, results: vec![] }
    }

    fn open(&self, found: &Found) -> Result<Tested, Outcome> {
        self.bar.set_message(format!("opening {found}"));
        let backend = choose::open(found).map_err(|error| match error {
            Error::Unsupported(why) => Outcome::Ignored(why),
            error @ Error::DeviceLost(_) => Outcome::Lost(error.to_string()),
            error => Outcome::Failed(error.to_string()),
        })?;
        let caps = backend.caps();
        let name = choose::line(caps.backend, &caps.device, &caps.api);
        Ok(Tested { name, backend, lost: false })
    }

    /// Runs a device's cases, on as many openings of it as `--jobs` says, and gives the first of them.
    fn device(&mut self, found: &Found, first: Tested) -> Tested {
        let caps = first.backend.caps().clone();
        let quick = self.args.quick || (is_software(caps.kind) && !self.args.full);
        let mut cases = cases(&caps, &first.backend.tuning(), if quick { Level::Quick } else { Level::Full });
        cases.retain(|case| self.is_wanted(case.name()));
        self.found |= !cases.is_empty();
        let wanted = cases.len();
        cases.retain(|case| !self.earlier.has(&caps, case.name()));
        let earlier = wanted - cases.len();
        if let Some(shard) = self.args.shard {
            cases = shard.cases(cases);
        }
        if self.is_first_shard() {
            self.lacking(&first);
            if earlier > 0 {
                let why = Outcome::Ignored(format!("{earlier} cases passed in a run before (--resume)"));
                self.results.push(result(place(&caps), "earlier".into(), why, Duration::ZERO));
            }
        }
        self.bar.inc_length(cases.len() as u64);

        let queue = Queue::new(&cases);
        let mut devices = vec![first];
        while devices.len() < queue.groups().min(usize::from(self.args.jobs.get())) {
            match self.open(found) {
                Ok(device) => devices.push(device),
                Err(Outcome::Failed(why) | Outcome::Lost(why) | Outcome::Ignored(why)) => {
                    let opened = devices.len();
                    self.bar.suspend(|| eprintln!("note: {found} opens {opened} times at once: {why}"));
                    break;
                }
                Err(Outcome::Passed) => break,
            }
        }
        let (suite, queue) = (&*self, &queue);
        let mut results = thread::scope(|scope| {
            let begin = |(worker, device)| scope.spawn(move || suite.work(worker, device, queue));
            let workers: Vec<_> = devices.iter_mut().enumerate().map(begin).collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect::<Vec<_>>()
        });
        results.sort_by_key(|(i, _)| *i);
        let left = cases.len() - results.len();
        self.results.extend(results.into_iter().map(|(_, result)| result));
        self.leaves(&caps, left);
        // All are of one device.
        let lost = devices.iter().any(|device| device.lost);
        devices.iter_mut().for_each(|device| device.lost = lost);
        let first = devices.swap_remove(0);
        devices.into_iter().for_each(Tested::close);
        first
    }

    /// Runs what the queue gives, and tells each case's place.
    fn work(&self, worker: usize, device: &mut Tested, queue: &Queue<'_>) -> Vec<(usize, CaseResult)> {
        let mut results = vec![];
        while let Some((i, case)) = queue.next(worker) {
            self.begins(worker, format!("{}: {}", device.name, case.name()));
            let start = Instant::now();
            let outcome = self.known.settle(&device.name, case.name(), run_case(&device.backend, case));
            self.ends(worker);
            device.lost = is_loss(&outcome);
            if device.lost || interrupt::asked() {
                queue.stop();
            }
            results.push((i, result(place(device.backend.caps()), case.name().into(), outcome, start.elapsed())));
        }
        results
    }

    /// Says of each algorithm that other devices have why this one does not.
    fn lacking(&mut self, device: &Tested) {
        let caps = device.backend.caps();
        for primitive in Form::all() {
            let job = Job::usual(primitive, Scalar::U32, 1000);
            let Ok(request) = request(&job) else { continue };
            let operator = job.operator.map_or("-", Builtin::name);
            for algorithm in lacking::algorithms(&request, caps) {
                let name = format!("{}/u32/{operator}/{algorithm}", primitive.name);
                let options = Options::by(algorithm);
                let plan = plan::plan(&request, Layout::default(), options, caps, &device.backend.tuning());
                if let Some(Error::Unsupported(why)) = plan.err().filter(|_| self.is_wanted(&name)) {
                    self.results.push(result(place(caps), name, Outcome::Ignored(why), Duration::ZERO));
                }
            }
        }
    }

    fn is_wanted(&self, case: &str) -> bool {
        let (algorithm, filters) = (self.args.algorithm(), &self.args.filter);
        let is_named = filters.is_empty() || filters.iter().any(|filter| case.contains(filter.as_str()));
        is_named && algorithm.is_none_or(|algorithm| case.split('/').any(|part| part == algorithm))
    }

    /// Whether what belongs to no case of one device is this process's.
    fn is_first_shard(&self) -> bool {
        self.args.shard.is_none_or(Shard::is_first)
    }

    /// Holds the first device's results against each other one's, and works with both at a time.
    fn together(&mut self, devices: &mut [Tested]) {
        let cases: Vec<_> = pair_cases().into_iter().filter(|case| self.is_wanted(case.name())).collect();
        if interrupt::asked() || self.args.algorithm().is_some() || cases.is_empty() {
            return;
        }
        self.found = true;
        if !self.is_first_shard() {
            return;
        }
        let Some((first, others)) = devices.split_first_mut().filter(|(first, _)| !first.lost) else { return };
        for other in others.iter_mut().filter(|other| !other.lost) {
            let caps = other.backend.caps().clone();
            self.bar.inc_length(cases.len() as u64);
            let mut left = cases.len();
            for case in &cases {
                // Which of the two was lost the outcome does not say.
                if first.lost || interrupt::asked() {
                    break;
                }
                self.begins(0, format!("{} against {}: {}", other.name, first.name, case.name()));
                let start = Instant::now();
                let outcome = case.run(&first.backend, &other.backend);
                self.ends(0);
                let outcome = self.known.settle(&other.name, case.name(), outcome);
                first.lost = is_loss(&outcome);
                other.lost = first.lost;
                self.results.push(result(place(&caps), case.name().into(), outcome, start.elapsed()));
                left -= 1;
            }
            self.leaves(&caps, left);
        }
    }

    /// Says how many of a device's cases were not run, if any.
    fn leaves(&mut self, caps: &Caps, left: usize) {
        if left == 0 {
            return;
        }
        self.bar.inc(left as u64);
        let why = match interrupt::asked() {
            true => Outcome::Ignored(format!("{left} more cases were not run: interrupted")),
            false => Outcome::Failed(format!("{left} more cases were not run: the device was lost")),
        };
        self.results.push(result(place(caps), "the rest".into(), why, Duration::ZERO));
    }

    /// Says which case a worker runs from now on. With `-v` that is the last line of a driver that takes the process with it.
    fn begins(&self, worker: usize, case: String) {
        tracing::info!(case, "runs");
        self.bar.set_message(case.clone());
        self.watch.starts(worker, case);
    }

    fn ends(&self, worker: usize) {
        self.watch.ends(worker);
        self.bar.inc(1);
    }
}

fn is_loss(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Lost(_))
}

fn place(caps: &Caps) -> (&str, &str, &str) {
    (caps.backend, &caps.device, &caps.api)
}

fn result(place: (&str, &str, &str), case: String, outcome: Outcome, took: Duration) -> CaseResult {
    let (outcome, reason) = match outcome {
        Outcome::Passed => ("passed", None),
        Outcome::Ignored(reason) => ("ignored", Some(reason)),
        Outcome::Failed(reason) | Outcome::Lost(reason) => ("failed", Some(reason)),
    };
    let (backend, device, api) = (place.0.into(), place.1.into(), place.2.into());
    let (seconds, commit) = (took.as_secs_f64(), option_env!("TRIFOLD_COMMIT"));
    CaseResult { backend, device, api, case, outcome, reason, seconds, commit }
}

/// A device a paragraph: how many cases came to what, why cases were ignored, and which failed.
fn summary(results: &[CaseResult]) -> String {
    let mut text = String::new();
    let mut devices: Vec<(&str, &str, &str)> = vec![];
    for result in results {
        let place = (result.backend.as_str(), result.device.as_str(), result.api.as_str());
        if !devices.contains(&place) {
            devices.push(place);
        }
    }
    for place in devices {
        let own = || results.iter().filter(|r| (r.backend.as_str(), r.device.as_str(), r.api.as_str()) == place);
        let count = |outcome| own().filter(|r| r.outcome == outcome).count();
        let seconds: f64 = own().map(|r| r.seconds).sum();
        let [passed, failed, ignored] = ["passed", "failed", "ignored"].map(count);
        let line = choose::line(place.0, place.1, place.2);
        text += &format!("{line}: {passed} passed, {failed} failed, {ignored} ignored in {seconds:.1} s\n");
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for result in own().filter(|r| r.outcome == "ignored") {
            *reasons.entry(result.reason.as_deref().unwrap_or("")).or_default() += 1;
        }
        for (reason, count) in reasons {
            text += &format!("  ignored {count}: {reason}\n");
        }
        for result in own().filter(|r| r.outcome == "failed") {
            text += &format!("  FAILED {}: {}\n", result.case, result.reason.as_deref().unwrap_or(""));
        }
    }
    text
}
