//! What is to be measured, of what was asked for.

use trifold::backend::{Caps, DeviceKind};
use trifold::plan::{self, Fault, Form, Layout, Varies};
use trifold::tuning::Tuning;
use trifold_conformance::Distribution;

use super::measure;
use super::rows::{Conditions, Job};
use crate::args::CompareArgs;
use crate::elements::Lengths;

/// What a device runs of each primitive that was asked for, in a line each.
pub fn known(args: &CompareArgs, caps: &Caps) -> Vec<String> {
    let known = |primitive: &'static Form| {
        let operator = primitive.has_operator.then_some(args.operator[0]);
        let request = measure::request(&Job { operator, ..Job::usual(primitive, args.types[0], 1) }).ok()?;
        let names: Vec<_> = plan::algorithms(&request, caps).iter().map(|algorithm| algorithm.name).collect();
        Some(format!("{} by {}", primitive.name, names.join(", ")))
    };
    primitives(args).into_iter().filter_map(known).collect()
}

pub fn primitives(args: &CompareArgs) -> Vec<&'static Form> {
    if args.primitive.is_empty() { Form::all().collect() } else { args.primitive.clone() }
}

/// A primitive's calls that were asked for, of these sizes, whatever device runs them: small ones first, and those of one input together.
pub fn calls(args: &CompareArgs, primitive: &'static Form, sizes: &[u64]) -> Vec<Job> {
    let operators: Vec<_> = match primitive.has_operator {
        true => args.operator.iter().copied().map(Some).collect(),
        false => vec![None],
    };
    let mut calls = vec![];
    for &n in sizes {
        for &scalar in &args.types {
            for conditions in args.input.iter().flat_map(|&input| conditions(args, primitive, input)) {
                let call = |&operator: &_| Job { primitive, scalar, operator, algorithm: None, n, conditions };
                calls.extend(operators.iter().map(call));
            }
        }
    }
    calls
}

/// What a device measures of a call: nothing where the size is not one of its own. `sizes` are ascending.
pub fn jobs(args: &CompareArgs, caps: &Caps, tuning: &Tuning, sizes: &[u64], call: Job) -> Vec<Job> {
    if !sizes.contains(&call.n) {
        return vec![];
    }
    // What the device lacks is said once.
    let by_algorithm = by_algorithm(args, caps, call, sizes.first() == Some(&call.n));
    by_algorithm.into_iter().flat_map(|job| by_waits(args, caps, tuning, job)).collect()
}

/// What a primitive's input is to be, where it matters to it.
fn conditions(args: &CompareArgs, primitive: &'static Form, input: Distribution) -> Vec<Conditions> {
    let usual = Conditions { input, ..Conditions::default() };
    let lengths = |&mean| args.segments.iter().map(move |&spread| Lengths { mean, spread });
    let of_segments = |usual: Conditions| {
        let lengths = args.segment_length.iter().flat_map(lengths);
        lengths.map(move |segments| Conditions { segments, ..usual })
    };
    let taken = args.k.iter().map(|&k| Conditions { k, unsorted: args.unsorted, ..usual });
    let bits = if args.bits.is_empty() { vec![None] } else { args.bits.iter().copied().map(Some).collect() };
    let by_bits = bits.into_iter().map(|bits| Conditions { bits, ..usual });
    match primitive.varies {
        Varies::Nothing => vec![usual],
        Varies::Kept => args.kept.iter().map(|&kept| Conditions { kept, ..usual }).collect(),
        Varies::Runs => args.run_length.iter().map(|&run_length| Conditions { run_length, ..usual }).collect(),
        Varies::Segments => of_segments(usual).collect(),
        Varies::Taken => taken.collect(),
        Varies::TakenOfSegments => taken.flat_map(of_segments).collect(),
        Varies::Bins => args.bins.iter().map(|&bins| Conditions { bins, ..usual }).collect(),
        Varies::Bits => by_bits.collect(),
        Varies::BitsAndValues => {
            by_bits.flat_map(|of| args.value.iter().map(move |&value| Conditions { value, ..of })).collect()
        }
    }
}

/// The job by each algorithm that was asked for and that the device has, or by its own choice. With `all` also by those that
/// only others have: their rows will say why it does not.
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
    let options = job.options().with(|options| options.fault = Fault::None);
    let plan = plan::plan(&measure::request(job).ok()?, Layout::default(), options, caps, tuning);
    plan.ok().map(|plan| plan.waiting_tiles())
}

/// What of `--fault` and `--waiting` a device's jobs do not show.
pub fn doubts(args: &CompareArgs, jobs: &[Job], caps: &Caps, tuning: &Tuning) -> Vec<String> {
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
pub fn sizes(args: &CompareArgs, caps: &Caps) -> Vec<u64> {
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
    use trifold::Backend;
    use trifold::backend::{Language, SubgroupSource, Subgroups};
    use trifold::plan::{Builtin, Options, Waiting};
    use trifold::types::Scalar;

    use super::*;
    use crate::args::{Cli, Command};

    fn args(words: &str) -> CompareArgs {
        let words = ["trifold", "compare"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Some(Command::Compare(args)) => *args,
            other => panic!("{other:?}"),
        }
    }

    /// A device whose tiles wait for each other.
    fn caps() -> Caps {
        let subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
        let cpu = trifold::cpu::Cpu::new().unwrap();
        cpu.caps().clone().with(|caps| {
            caps.language = Language::OpenClC;
            caps.subgroups = subgroups;
        })
    }

    fn all(args: &CompareArgs, caps: &Caps, tuning: &Tuning) -> Vec<Job> {
        let sizes = sizes(args, caps);
        let calls = primitives(args).into_iter().flat_map(|primitive| calls(args, primitive, &sizes));
        calls.flat_map(|call| jobs(args, caps, tuning, &sizes, call)).collect()
    }

    #[test]
    fn what_has_tiles_that_wait_is_measured_with_each_fault_and_waiting() {
        let caps = caps();
        let tuning = Tuning::of(&caps);
        let args = args("-n 2^20 --input constant --fault none,late:1 --waiting bounded,unbounded");
        let jobs = all(&args, &caps, &tuning);
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
            assert_eq!(rows == 4, (last.fault, last.waiting) == (Fault::Late(1), Waiting::Unbounded));
        }
        assert!(doubts(&args, &jobs, &caps, &tuning).is_empty());
    }

    #[test]
    fn faults_and_waits_that_change_nothing_are_said() {
        let caps = caps();
        let tuning = Tuning::of(&caps);
        let said = |words: &str| {
            let args = args(words);
            doubts(&args, &all(&args, &caps, &tuning), &caps, &tuning)
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
