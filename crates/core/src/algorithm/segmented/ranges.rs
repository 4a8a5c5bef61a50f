//! One launch, in which each subgroup reduces a range of elements, and the last workgroup combines what goes on from range to range.

use super::SegmentedTask;
use crate::algorithm::{Algorithm, Needs, Of, Row, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, arguments, clean_once};
use crate::primitive::Segments;
use crate::primitive::segmented::SEGMENTED_REDUCE;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, numbers, tuned};
use crate::{Kernel, Param, Result, Scalar, SegmentedRequest, Slot};

numbers! {
    /// Numbers of reductions of segments by ranges.
    pub struct SegmentRanges by l {
        /// Invocations of a workgroup of a reduction of segments by ranges.
        workgroup "ranges_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// 32-bit words of elements that an invocation of one takes of a row.
        words "ranges_words": Count up to 32 => 8,
        /// 32-bit words of elements from which reductions of segments go by ranges.
        from "ranges_from": Count up to u32::MAX => 1 << 20,
        /// Elements that segments must have on average for that.
        length "ranges_length": Count up to u32::MAX => 128,
        /// Workgroups of one for each compute unit.
        groups "ranges_groups": Count up to 64 => 4,
        /// Workgroups of one that a compute unit should hold at once; 0 for no bound.
        resident "ranges_resident": Optional up to 16 => 0,
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "segmented/ranges",
    "segmented_ranges",
    &[
        read("input", "u32"),
        read("input_values", "StoredRun").optional(),
        write("output", "u32"),
        atomic("partials", "PartialWord"),
        atomic("counter", "u32"),
    ],
    &["n", "groups", "segments", "width", "input_offset", "input_values_offset", "output_offset"],
)
.with_initial();

/// The planner's choice for totals of long segments: reads each element once, and no workgroup waits for another.
pub static RANGES: Algorithm = Algorithm {
    needs: Needs { subgroups: SubgroupNeed::Native, ..Needs::WORKGROUPS },
    candidates: || CANDIDATES,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "ranges",
        "segmented-ranges.md",
        Of::Segmented(Row { plan, traffic: Some(|r, _| r.bytes_moved(1)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(
    &SEGMENTED_REDUCE,
    Scalar::U32,
    &RANGES,
    &[("ranges_workgroup", &[128, 256, 512]), ("ranges_words", &[4, 8]), ("ranges_groups", &[4, 8, 16])],
)];

/// Tiles of a workgroup at most where a processor ends loops that turn too often: a row may have turns for each of its boundaries.
const MOST_TILES: u32 = 64;

fn plan(planner: &Planner<'_>, request: &SegmentedRequest) -> Result<Work> {
    let numbers = &planner.tuning.ranges;
    let job = SegmentedTask::shaped(planner, request, numbers.workgroup, numbers.words)?;
    let mut scratch = Scratch::default();
    if !job.has_tiles() {
        return Ok(job.work(scratch, vec![]));
    }
    let (bounds, offsets) = match request.by {
        Segments::Offsets { count, .. } => (&["segmented/offset", "segmented/bounds_offsets"][..], count),
        _ => (&["segmented/bounds_rows"][..], 0),
    };
    // Workgroups share elements and boundaries. A boundary counts as eight elements.
    let all = request.n.saturating_add(8 * offsets);
    let tiles = all.div_ceil(u64::from(job.workgroup * job.rows)).min(u32::MAX.into()) as u32;
    let least = if planner.ends_loops() { tiles.div_ceil(MOST_TILES).min(65535) } else { 1 };
    let groups = planner.staying(tiles, numbers.groups).max(least);
    let counter = scratch.keep(4);
    // Two of each workgroup, whose words take twice what they are.
    let partials = scratch.keep(u64::from(groups) * 2 * 2 * 4 * u64::from(job.op.element().words()));
    let of_partials = if planner.caps.atomics64 { "reduce/partials64" } else { "reduce/partials" };
    let parts = [
        &[planner.subgroup_scan_part(&job.op), "workgroup/subgroup_fold", "workgroup/subgroup_or"][..],
        &["workgroup/tile_totals", of_partials],
        bounds,
    ];
    let own = job.rows * request.op.element().words();
    let constants = [
        ("ROWS", job.rows),
        ("OWN_WORDS", own),
        ("STARTED", u32::from(request.initial.is_some())),
        ("COMMUTATIVE", u32::from(request.op.commutative)),
    ];
    let mut kernel = job.key(&KERNEL, parts.concat(), [&constants[..], &job.units()].concat());
    kernel.constants.extend(planner.subgroup_constants(job.workgroup)?);
    kernel.constants.extend(planner.registers_for(job.workgroup, numbers.resident));
    let mut launch = job.launch(kernel, &arguments(request));
    launch.groups = groups;
    launch.params.retain(|(name, _)| *name != "tiles");
    launch.params.push(("groups", Param::Word(groups)));
    launch.bindings.extend([("partials", partials), ("counter", counter)]);
    let steps = clean_once(&scratch, launch);
    Ok(Work::new(scratch, steps).depth(all.div_ceil(groups.into()) + u64::from(groups)))
}
