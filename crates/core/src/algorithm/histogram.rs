//! Histograms: counted in workgroup memory, or in the output.

use super::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{atomic, kernel, read};
use crate::planner::{BESIDE, Planner, whole};
use crate::primitive::histogram::{HISTOGRAM, HistogramRequest};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, numbers, tuned};
use crate::{ElementType, Error, Kernel, KernelKey, Launch, Param, Result, Scalar, Slot, Step};

numbers! {
    /// Numbers of histograms.
    pub struct Histograms by l {
        /// Invocations of a histogram's workgroup.
        workgroup "histogram_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Elements that an invocation of it loads at a time.
        rows "histogram_rows": Count up to 32 => if l.small { 4 } else { 16 },
        /// Copies of the counts in workgroup memory, at most: neighbours count in different ones.
        copies "histogram_copies": Count up to 32 => 8,
        /// Copies of the sums where floats are summed up, at most: of 32 each lane of a subgroup has its own, and waits for no neighbour.
        copies_floats "histogram_copies_floats": Count up to 32 => if l.small { 8 } else { 32 },
        /// Workgroups of a histogram for each compute unit.
        groups_each "histogram_groups_each": Count up to 64 => l.groups_per_unit,
    }
}

pub(super) static SHARED_KERNEL: Kernel = kernel!(
    "histogram/shared",
    "histogram_shared",
    &[read("input", "Pack"), read("input_values", "u32").optional(), atomic("output", "u32")],
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
        ("histogram_rows", &[16, 32]),
        ("histogram_copies", &[2, 8, 16]),
        ("histogram_groups_each", &[2, 4, 8]),
    ],
)];

/// The most weighted elements of an invocation.
const MOST_WEIGHTED: u32 = 16;

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
    let launch = if shared { shared_launch(planner, request)? } else { global_launch(planner, request) };
    Ok(work(request, launch))
}

/// Counts in workgroup memory, and adds what was counted to the output.
pub(super) fn shared_launch(planner: &Planner<'_>, request: &HistogramRequest) -> Result<Launch> {
    if !fits(planner, request) {
        return Err(Error::Unsupported(format!(
            "a histogram of {} bins by `{SHARED}`: workgroup memory has room for {}; use `{GLOBAL}`",
            request.bins,
            words(planner).checked_ilog2().map_or(0, |log| 1u32 << log)
        )));
    }
    let bins = ElementType::Scalar(Scalar::U32);
    let count = counts(request) as u32;
    let numbers = &planner.tuning.histogram;
    let copies = match request.adds_floats() {
        // All of the memory is theirs, where that is not half of it.
        true => numbers.copies_floats.min(1 << (2 * words(planner) / count).ilog2()),
        false => numbers.copies.min(words(planner) / count),
    };
    let shape = match request.weight {
        None => Tiling::of(planner, u32::MAX, planner.pack(&bins).elements),
        // Weights are loaded one by one, and take as many registers again.
        Some(_) => Tiling::of(planner, MOST_WEIGHTED, 1),
    };
    let sums = if request.adds_floats() { "histogram/shared_floats" } else { "histogram/shared_integers" };
    let blocks = [&["element/load"], &amounts(request)[..], &[sums]].concat();
    let constants = [("BINS", count), ("COPIES", copies), ("PACK", shape.pack)];
    let kernel = KernelKey::new(&SHARED_KERNEL, blocks, [&shape.constants()[..], &constants].concat());
    Ok(shape.launch(planner, KernelKey { element: Some(bins), ..kernel }, request))
}

fn global_launch(planner: &Planner<'_>, request: &HistogramRequest) -> Launch {
    let shape = Tiling::of(planner, u32::MAX, 1);
    let kernel = KernelKey::new(&GLOBAL_KERNEL, amounts(request).into(), shape.constants().into());
    shape.launch(planner, kernel, request)
}

/// What a workgroup takes at a time.
struct Tiling {
    workgroup: u32,
    /// Packs of an invocation.
    rows: u32,
    /// Elements of a pack.
    pack: u32,
}

impl Tiling {
    /// As tuned, with so many elements of an invocation at most.
    fn of(planner: &Planner<'_>, most: u32, pack: u32) -> Tiling {
        let Histograms { workgroup, rows, .. } = planner.tuning.histogram;
        Tiling { workgroup, rows: (rows.min(most) / pack).max(1), pack }
    }

    fn constants(&self) -> [(&'static str, u32); 2] {
        [("WORKGROUP", self.workgroup), ("ROWS", self.rows)]
    }

    fn launch(&self, planner: &Planner<'_>, kernel: KernelKey, request: &HistogramRequest) -> Launch {
        let tile = self.workgroup * self.rows * self.pack;
        let groups = planner.staying((request.n as u32).div_ceil(tile), planner.tuning.histogram.groups_each);
        let mut launch = launch(kernel, request, groups, self.pack);
        launch.params.extend([("tiles", Param::ELEMENTS.in_parts(tile)), ("groups", Param::Word(groups))]);
        launch
    }
}

/// The blocks that say what an element counts as, and how the output sums it up.
fn amounts(request: &HistogramRequest) -> [&'static str; 2] {
    let amounts = if request.weight.is_some() { "histogram/weights" } else { "histogram/ones" };
    [amounts, if request.adds_floats() { "histogram/floats" } else { "histogram/integers" }]
}

fn on_threads(_: &Planner<'_>, request: &HistogramRequest) -> Result<Work> {
    let kernel = KernelKey::new(&PARALLEL_KERNEL, vec![], vec![("FLOATS", request.adds_floats().into())]);
    Ok(work(request, launch(kernel, request, 1, 1)))
}

fn launch(kernel: KernelKey, request: &HistogramRequest, groups: u32, pack: u32) -> Launch {
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
            ("input_offset", Param::Offset { binding: "input", unit: 4 * pack }),
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
