//! Count, scan and scatter for each digit place, the lowest first. Merrill and Grimshaw, "High Performance and Scalable Radix Sorting",
//! 2011.

use super::{DIGIT_BITS, SortTask, sort};
use crate::algorithm::scan::ScanTask;
use crate::algorithm::{Algorithm, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, offset};
use crate::primitive::sort::SORT;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Launch, Layout, Op, Param, Result, Scalar, Slot, SortRequest, Step};

numbers! {
    /// Numbers of a sort by upsweep, scan and downsweep.
    pub struct UpsweepDownsweep by l {
        /// Keys an invocation of a sort by upsweep, scan and downsweep takes at a time.
        keys "upsweep_keys": Count up to 64 => 8,
    }
}

pub(super) static UPSWEEP: Kernel = kernel!(
    "sort/upsweep",
    "sort_upsweep",
    &[read("source", "StoredKey"), write("counts", "u32")],
    &["n", "tiles", "place", "source_offset"],
);

pub(super) static DOWNSWEEP: Kernel = kernel!(
    "sort/downsweep",
    "sort_downsweep",
    &[
        read("source", "StoredKey"),
        write("target_keys", "StoredKey"),
        read("source_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
        read("counts", "u32"),
    ],
    &["n", "tiles", "place", "source_offset", "target_offset", "source_values_offset", "target_values_offset"],
);

/// The planner's choice without subgroups. A pass reads the keys twice.
pub static UPSWEEP_DOWNSWEEP: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    candidates: || CANDIDATES,
    ..sort("upsweep_downsweep", "sort-upsweep-downsweep.md", plan, |r, _| r.moved(r.places(8), r.places(8)))
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(&SORT, Scalar::U32, &UPSWEEP_DOWNSWEEP, &[("upsweep_keys", &[8, 16])])];

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    by_digits(planner, &UPSWEEP_DOWNSWEEP, request, DIGIT_BITS)
}

/// By digits of so many bits.
pub(super) fn by_digits(
    planner: &Planner<'_>,
    algorithm: &Algorithm,
    request: &SortRequest,
    digit_bits: u32,
) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SortTask::of(planner, request, digit_bits)?.with_output(request, &mut scratch);
    let n = job.n;
    let (workgroup, mut items) = (planner.tuning.scan.workgroup, planner.tuning.upsweep_downsweep.keys);
    // A tile's words are exchanged in workgroup memory.
    while items > 1 && workgroup * items * 4 > planner.caps.shared_bytes / 2 {
        items -= 1;
    }
    // Of 8192 keys or a few more: their counts are 3.1% of the data.
    let rounds = 8192_u32.div_ceil(workgroup * items);
    let tiles = n.div_ceil(workgroup * items * rounds);
    let table = tiles.checked_mul(1 << job.digit_bits).ok_or_else(|| job.too_many(algorithm))?;
    let tile = Param::ELEMENTS.in_parts(workgroup * items * rounds);
    let size = tile.times(1 << job.digit_bits);
    let counts = scratch.take(u64::from(table) * 4);
    let temp = job.take(&mut scratch);
    let sum = Op::sum_of_counts();
    let shape = [("WORKGROUP", workgroup), ("ITEMS", items), ("ROUNDS", rounds)];
    // The counts' scan is this project's own, always of aligned scratch.
    let wide = Planner { layout: Layout::default(), ..*planner };
    let start = sum.identity().to_vec();
    let prefixes =
        ScanTask { op: &sum, n: table, size, exclusive: true, start, input: counts, output: counts, total: None };
    let scan = wide.reduce_then_scan(&prefixes, &wide.fast_tile(&sum, table)?, &mut scratch);
    let mut steps = vec![];
    // In place an even number of passes leads back to the output. A place behind the last has zeros alone, which leave the order.
    let passes = job.passes(planner.layout.in_place);
    for place in 0..passes {
        let (source, target) = job.route(place, passes, temp);
        let own = [("n", Param::ELEMENTS), ("tiles", tile), ("place", Param::Word(place))];
        let from = ("source_offset", offset("source", source.keys, job.image.bytes));
        steps.push(Step::Launch(Launch {
            kernel: job.kernel(&UPSWEEP, vec!["sort/place_digit"], &shape),
            groups: tiles,
            bindings: vec![("source", source.keys), ("counts", counts)],
            params: [&own[..], &[from]].concat(),
            initial: None,
        }));
        steps.extend(scan.iter().cloned());
        let (bindings, moved) = job.moving(source, target);
        let parts = ["sort/place_digit"].into_iter().chain(job.with_values("sort/split_values"));
        steps.push(Step::Launch(Launch {
            kernel: job.kernel(&DOWNSWEEP, parts.collect(), &[&shape[..], &[job.source_values(source)]].concat()),
            groups: tiles,
            bindings: [bindings, vec![("counts", counts)]].concat(),
            params: [&own[..], &moved].concat(),
            initial: None,
        }));
    }
    Ok(Work::new(scratch, steps))
}
