//! What each experiment calls.

use trifold::algorithm::scan;
use trifold::backend::{Caps, Language};
use trifold::plan::{Form, Plan, forms};
use trifold::tuning::Tuning;
use trifold::types::Scalar;
use trifold::{Algorithm, Error, Result, plan};

use super::sizes::Sizes;
use crate::args::{Experiment, ExperimentArgs};
use crate::compare::{Job, Row, request};
use crate::lacking;

#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub job: Job,
    /// A number to plan with instead of the device's own.
    pub tuning: Option<(&'static str, u32)>,
}

impl Call {
    pub fn tuning(&self, mut tuning: Tuning) -> Result<Tuning> {
        if let Some((name, value)) = self.tuning {
            tuning.set(name, value)?;
        }
        Ok(tuning)
    }

    fn plan(&self, caps: &Caps, tuning: &Tuning) -> Result<Plan> {
        let tuning = self.tuning(tuning.clone())?;
        plan::plan(&request(&self.job)?, Default::default(), self.job.options(), caps, &tuning)
    }
}

/// Scans that go by blocks whose size is a number of the tuning.
const BLOCKED: [&Algorithm; 6] = [
    &scan::BLELLOCH_BLOCKED,
    &scan::SUBGROUP_BLOCKED,
    &scan::HILLIS_STEELE_SHARED,
    &scan::SCAN_THEN_PROPAGATE,
    &scan::REDUCE_THEN_SCAN_RECURSIVE,
    &scan::REDUCE_THEN_SCAN,
];

/// A number of the tuning, the values to plan with, and the algorithm that is planned by it wherever it exists.
type Sweep = (&'static str, &'static [u32], &'static Algorithm);

const ELEMENTS: [Sweep; 3] = [
    ("blocked_items", &[1, 2, 4], &scan::BLELLOCH_BLOCKED),
    ("blocked_padding", &[0, 1], &scan::BLELLOCH_BLOCKED),
    ("scan_words", &[1, 2, 4, 8, 16, 32], &scan::REDUCE_THEN_SCAN),
];
const WORKGROUPS: [Sweep; 2] = [
    ("blocked_workgroup", &[32, 64, 128, 256, 512, 1024], &scan::BLELLOCH_BLOCKED),
    ("scan_workgroup", &[32, 64, 128, 256, 512, 1024], &scan::REDUCE_THEN_SCAN),
];

/// The calls of an experiment on a device, small ones first.
pub fn of(experiment: Experiment, args: &ExperimentArgs, caps: &Caps, tuning: &Tuning, sizes: &Sizes) -> Vec<Call> {
    let list = |primitives: &[&'static Form], sizes: Vec<u64>| -> Vec<Call> {
        let first = sizes.first().copied();
        let jobs = sizes.into_iter().flat_map(|n| primitives.iter().map(move |&p| Job::usual(p, args.scalar, n)));
        // What the device lacks is said once.
        jobs.flat_map(|job| by_algorithm(args, caps, job, Some(job.n) == first)).collect()
    };
    match experiment {
        Experiment::ScanLadder => list(&[&forms::SCAN], sizes.ladder()),
        Experiment::Traffic => {
            [list(&[&forms::SCAN, &forms::REDUCE], sizes.most()), list(&[&forms::SORT], sizes.sorted())].concat()
        }
        Experiment::ReduceLadder => list(&[&forms::REDUCE], sizes.reduced()),
        Experiment::ElementsPerThread => sweeps(&ELEMENTS, args, caps, tuning, sizes.most()),
        Experiment::WorkgroupSize => sweeps(&WORKGROUPS, args, caps, tuning, sizes.most()),
        Experiment::WorkgroupSweep => vec![],
    }
}

/// A row of an experiment with nothing measured, for what went wrong before that.
pub fn blank(experiment: Experiment, on: crate::compare::Place<'_>) -> Row {
    let mut row = Row::new(&Job::usual(&forms::SCAN, Scalar::U32, 0), on);
    row.experiment = Some(experiment.name().into());
    row
}

/// The job by all algorithms that this device has, or by those of them that were asked for. With `all` also by those that only others
/// have: their rows will say why it does not.
fn by_algorithm(args: &ExperimentArgs, caps: &Caps, job: Job, all: bool) -> Vec<Call> {
    // A request that makes no sense has a row that says why.
    let Ok(request) = request(&job) else { return vec![Call { job, tuning: None }] };
    let mut algorithms = plan::algorithms(&request, caps);
    // The CPU has few by its nature: what it lacks is said of what was asked for alone.
    if all && (caps.language != Language::Host || !args.algorithm.is_empty()) {
        algorithms.extend(lacking::algorithms(&request, caps));
    }
    let is_wanted =
        |algorithm: &&'static Algorithm| args.algorithm.is_empty() || args.algorithm.contains(&algorithm.name);
    let calls = algorithms.into_iter().filter(is_wanted);
    calls.map(|algorithm| Call { job: Job { algorithm: Some(algorithm), ..job }, tuning: None }).collect()
}

/// Blocked scans, each planned with each value of the numbers that it depends on.
fn sweeps(sweeps: &[Sweep], args: &ExperimentArgs, caps: &Caps, tuning: &Tuning, sizes: Vec<u64>) -> Vec<Call> {
    let mut calls = vec![];
    let first = sizes.first().copied();
    for n in sizes {
        let job = Job::usual(&forms::SCAN, args.scalar, n);
        let by_choice = by_algorithm(args, caps, job, Some(n) == first);
        let scans = by_choice.into_iter().filter_map(|call| call.job.algorithm.map(|name| (name, call.job)));
        // Whatever was asked for; else the blocked ones.
        for (name, job) in scans.filter(|(name, _)| !args.algorithm.is_empty() || BLOCKED.contains(name)) {
            if request(&job).is_ok_and(|request| !plan::algorithms(&request, caps).contains(&name)) {
                // One row says what the device lacks.
                calls.push(Call { job, tuning: None });
                continue;
            }
            for sweep in sweeps {
                calls.extend(swept(sweep, name, job, caps, tuning));
            }
        }
    }
    calls
}

/// A scan planned with each value of a number: each plan once, and values of which there is none, whose rows say why. Nothing
/// if it does not depend on the number.
fn swept(sweep: &Sweep, algorithm: &Algorithm, job: Job, caps: &Caps, tuning: &Tuning) -> Vec<Call> {
    let &(name, values, owner) = sweep;
    let call = |value| Call { job, tuning: Some((name, value)) };
    if tuning.get(name).is_none() {
        // One row says that there is no such number.
        return values.iter().take(usize::from(algorithm == owner)).map(|&value| call(value)).collect();
    }
    let (mut plans, mut calls) = (vec![], vec![]);
    for call in values.iter().map(|&value| call(value)) {
        match call.plan(caps, tuning) {
            Ok(plan) if plans.contains(&plan) => {}
            Ok(plan) => {
                plans.push(plan);
                calls.push(call);
            }
            Err(Error::Invalid(_) | Error::Unsupported(_)) => calls.push(call),
            Err(error) => tracing::warn!(%error, name, "not planned"),
        }
    }
    if plans.len() > 1 { calls } else { vec![] }
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use clap::Parser;
    use trifold::Backend;
    use trifold::algorithm::sort;
    use trifold::backend::DeviceKind;

    use super::*;
    use crate::args::{Cli, Command};

    fn args(words: &str) -> ExperimentArgs {
        let words = ["trifold", "experiment"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Some(Command::Experiment(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    fn host() -> Caps {
        trifold::cpu::Cpu::new().unwrap().caps().clone()
    }

    /// A GPU without subgroups.
    fn gpu() -> Caps {
        host().with(|caps| {
            caps.kind = DeviceKind::DiscreteGpu;
            caps.language = Language::Wgsl;
            caps.compute_units = 64;
        })
    }

    fn calls(experiment: Experiment, words: &str, caps: &Caps) -> Vec<Call> {
        let (args, tuning) = (args(words), Tuning::of(caps));
        let cpu = trifold::Device::of(trifold::cpu::Cpu::new().unwrap());
        let shared = crate::compare::Shared::default();
        let mut bench = crate::compare::Bench::new(&cpu, tuning.clone(), 1, &shared);
        let sizes = Sizes::of(&args, caps, false, &mut bench);
        of(experiment, &args, caps, &tuning, &sizes)
    }

    fn names(calls: &[Call]) -> Vec<&'static str> {
        calls.iter().filter_map(|call| call.job.algorithm).map(|algorithm| algorithm.name).collect()
    }

    #[test]
    fn a_ladder_has_what_the_device_lacks_too() {
        let scans = names(&calls(Experiment::ScanLadder, "-n 1000", &gpu()));
        assert!(scans.contains(&scan::REDUCE_THEN_SCAN.name) && scans.contains(&scan::LOOKBACK.name), "{scans:?}");
        assert_eq!(scans.iter().collect::<std::collections::HashSet<_>>().len(), scans.len());
        assert_eq!(names(&calls(Experiment::ScanLadder, "-n 1000", &host())), ["parallel", "sequential"]);
        assert_eq!(
            names(&calls(Experiment::ScanLadder, "-n 1000 --algorithm lookback,onesweep", &gpu())),
            [scan::LOOKBACK.name]
        );
        let traffic = names(&calls(Experiment::Traffic, "-n 1000", &gpu()));
        assert!(
            traffic.contains(&sort::ONESWEEP.name) && traffic.contains(&sort::UPSWEEP_DOWNSWEEP.name),
            "{traffic:?}"
        );
    }

    #[test]
    fn a_sweep_plans_each_value_once_and_leaves_out_what_does_not_matter() {
        let calls = calls(Experiment::WorkgroupSize, "-n 2^22 --algorithm reduce_then_scan", &gpu());
        let tunings: Vec<_> = calls.iter().filter_map(|call| call.tuning).collect();
        assert_eq!(tunings, [32, 64, 128, 256, 512, 1024].map(|value| ("scan_workgroup", value)));
    }

    #[test]
    fn a_number_that_does_not_exist_is_a_row_that_says_so() {
        let (caps, of) = (gpu(), Job::usual(&forms::SCAN, Scalar::U32, 1000));
        let tuning = Tuning::of(&caps);
        let sweep = ("blocked_nothing", &[1, 2][..], &scan::BLELLOCH_BLOCKED);
        let [call] = &swept(&sweep, &scan::BLELLOCH_BLOCKED, of, &caps, &tuning)[..] else { panic!() };
        assert!(call.tuning(tuning.clone()).unwrap_err().to_string().contains("no tuning `blocked_nothing`"));
        assert!(swept(&sweep, &scan::REDUCE_THEN_SCAN, of, &caps, &tuning).is_empty());
    }
}
