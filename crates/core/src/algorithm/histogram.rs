//! Histograms: counted in workgroup memory, or in the output.

use super::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{atomic, kernel, read};
use crate::planner::{BESIDE, Planner, whole};
use crate::primitive::histogram::{HISTOGRAM, HistogramRequest};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, numbers, tuned};
use crate::{Error, Kernel, KernelKey, Launch, Param, Result, Scalar, Slot, Step};

numbers! {
    /// Numbers of histograms.
    pub struct Histograms by l {
        /// Invocations of a histogram's workgroup.
        workgroup "histogram_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Elements that an invocation of it loads at a time.
        rows "histogram_rows": Count up to 32 => if l.small { 4 } else { 16 },
        /// Copies of the counts in workgroup memory, at most: neighbours count in different ones.
        copies "histogram_copies": Count up to 32 => 8,
        /// Workgroups of a histogram for each compute unit.
        groups_each "histogram_groups_each": Count up to 64 => l.groups_per_unit,
    }
}

pub(super) static SHARED_KERNEL: Kernel = kernel!(
    "histogram/shared",
    "histogram_shared",
    &[read("input", "u32"), read("input_values", "u32").optional(), atomic("output", "u32")],
    &["n", "tiles", "groups", "bins", "input_offset", "input_values_offset", "output_offset"],
);

pub(super) static GLOBAL_KERNEL: Kernel = kernel!(
    "histogram/global",
    "histogram_global",
    &[read("input", "u32"), read("input_values", "u32").optional(), atomic("output", "u32")],
    &["n", "tiles", "groups", "bins", "input_offset", "input_values_offset", "output_offset"],
);

/// The CPU backend's.
pub(super) static PARALLEL_KERNEL: Kernel = Kernel::host("histogram/parallel");

/// Each workgroup counts in its own memory. The planner's choice where all bins fit there.
pub static SHARED: Algorithm = Algorithm {
    candidates: || CANDIDATES,
    ..histogram("shared", "histogram-shared.md", |planner, request| plan(planner, request, true))
};

/// All count in the output.
pub static GLOBAL: Algorithm =
    histogram("global", "histogram-global.md", |planner, request| plan(planner, request, false));

/// On all of the processor's threads, each with counts of its own.
pub static PARALLEL: Algorithm = Algorithm { needs: Needs::THREADS, ..histogram("parallel", "", on_threads) };

/// One that reads elements and weights once, and sums up floats as they come.
const fn histogram(
    name: &'static str,
    page: &'static str,
    plan: fn(&Planner<'_>, &HistogramRequest) -> Result<Work>,
) -> Algorithm {
    Algorithm {
        views: &[Slot::Input, Slot::InputValues],
        follows_arrival: true,
        ..Algorithm::new(name, page, Of::Histogram(Row { plan, traffic: Some(|r, _| r.bytes()) }))
    }
}

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &SHARED, &GLOBAL];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[&SHARED_KERNEL, &GLOBAL_KERNEL, &PARALLEL_KERNEL];

/// What tuning tries.
const CANDIDATES: &[Candidates] = &[tuned(
    &HISTOGRAM,
    Scalar::U32,
    &SHARED,
    &[
        ("histogram_workgroup", &[256, 512, 1024]),
        ("histogram_rows", &[8, 16, 32]),
        ("histogram_copies", &[2, 8, 16]),
        ("histogram_groups_each", &[2, 4, 8]),
    ],
)];

/// Words of workgroup memory for counts.
fn words(planner: &Planner<'_>) -> u32 {
    (planner.caps.shared_bytes.saturating_sub(BESIDE)) / 2 / 4
}

/// Counts that workgroup memory is for: a power of two, so that other numbers of bins find their kernel compiled.
fn counts(request: &HistogramRequest) -> u64 {
    request.bins.next_power_of_two()
}

/// Whether a workgroup's memory has room for all counts.
pub(crate) fn fits(planner: &Planner<'_>, request: &HistogramRequest) -> bool {
    counts(request) <= u64::from(words(planner))
}

fn plan(planner: &Planner<'_>, request: &HistogramRequest, shared: bool) -> Result<Work> {
    let numbers = &planner.tuning.histogram;
    let tile = numbers.workgroup * numbers.rows;
    let groups = planner.staying((request.n as u32).div_ceil(tile), numbers.groups_each);
    let mut constants = vec![("WORKGROUP", numbers.workgroup), ("ROWS", numbers.rows)];
    if shared {
        if !fits(planner, request) {
            return Err(Error::Unsupported(format!(
                "a histogram of {} bins by `{SHARED}`: workgroup memory has room for {}; use `{GLOBAL}`",
                request.bins,
                1u32 << words(planner).ilog2()
            )));
        }
        let bins = counts(request) as u32;
        constants.extend([("BINS", bins), ("COPIES", numbers.copies.min(words(planner) / bins))]);
    }
    let amounts = if request.weight.is_some() { "histogram/weights" } else { "histogram/ones" };
    let (sums, shared_sums) = match request.adds_floats() {
        true => ("histogram/floats", "histogram/shared_floats"),
        false => ("histogram/integers", "histogram/shared_integers"),
    };
    let (kernel, blocks) = match shared {
        true => (&SHARED_KERNEL, vec![amounts, sums, shared_sums]),
        false => (&GLOBAL_KERNEL, vec![amounts, sums]),
    };
    let kernel = KernelKey::new(kernel, blocks, constants);
    let mut launch = launch(kernel, request, groups);
    launch.params.extend([("tiles", Param::ELEMENTS.in_parts(tile)), ("groups", Param::Word(groups))]);
    Ok(work(request, launch))
}

fn on_threads(_: &Planner<'_>, request: &HistogramRequest) -> Result<Work> {
    let kernel = KernelKey::new(&PARALLEL_KERNEL, vec![], vec![("FLOATS", request.adds_floats().into())]);
    Ok(work(request, launch(kernel, request, 1)))
}

fn launch(kernel: KernelKey, request: &HistogramRequest, groups: u32) -> Launch {
    let elements = |slot| whole(slot, request.n.saturating_mul(4));
    let weights = request.weight.map(|_| ("input_values", elements(Slot::InputValues)));
    let weights_offset = match request.weight {
        Some(_) => Param::Offset { binding: "input_values", unit: 4 },
        None => Param::Word(0),
    };
    let counts = ("output", whole(Slot::Output, request.bins.saturating_mul(4)));
    Launch {
        kernel,
        groups,
        bindings: [Some(("input", elements(Slot::Input))), weights, Some(counts)].into_iter().flatten().collect(),
        params: vec![
            ("n", Param::ELEMENTS),
            ("bins", Param::Word(request.bins as u32)),
            ("input_offset", Param::Offset { binding: "input", unit: 4 }),
            ("input_values_offset", weights_offset),
            ("output_offset", Param::Offset { binding: "output", unit: 4 }),
        ],
        initial: None,
    }
}

/// Counts from none on.
fn work(request: &HistogramRequest, launch: Launch) -> Work {
    let clear = Step::Fill { region: whole(Slot::Output, request.bins.saturating_mul(4)), value: 0, once: false };
    Work {
        in_fixed_order: !request.adds_floats(),
        ..Work::new(Scratch::default(), vec![clear, Step::Launch(launch)]).depth(request.n)
    }
}
