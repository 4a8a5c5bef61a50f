//! One launch, whose tiles tell each other whether a segment has begun in them, and its total so far. Merrill and Garland 2016.

use super::SegmentedTask;
use crate::algorithm::chain::{tile_prefix, tile_states};
use crate::algorithm::{Algorithm, InPlace, Needs, Of, Row, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, arguments, clean_once};
use crate::primitive::segmented::SEGMENTED_SCAN;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Param, Result, Scalar, SegmentedRequest, Slot};

pub(super) static KERNEL: Kernel = kernel!(
    "segmented/lookback",
    "segmented_lookback",
    &[
        read("input", "u32"),
        read("input_values", "StoredRun").optional(),
        atomic("states", "StateWord"),
        atomic("ticket", "u32"),
        write("output", "u32"),
    ],
    &["n", "tiles", "slots", "segments", "width", "input_offset", "input_values_offset", "output_offset"],
)
.with_initial();

/// The planner's choice: reads each element once.
pub static LOOKBACK: Algorithm = Algorithm {
    needs: Needs { subgroups: SubgroupNeed::RatherNative, in_place: InPlace::WithProgress, ..Needs::WORKGROUPS },
    tiles_wait: true,
    follows_arrival: true,
    candidates: || CANDIDATES,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "lookback",
        "segmented-lookback.md",
        Of::Segmented(Row { plan, traffic: Some(|r, _| r.bytes_moved(1)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(
    &SEGMENTED_SCAN,
    Scalar::U32,
    &LOOKBACK,
    &[
        ("segmented_workgroup", &[128, 256, 512]),
        ("segmented_words", &[8, 12, 16, 24, 28]),
        ("segmented_resident", &[0, 4, 6, 8]),
    ],
)];

fn plan(planner: &Planner<'_>, request: &SegmentedRequest) -> Result<Work> {
    let job = SegmentedTask::new(planner, request, planner.tuning.segmented.words)?;
    let mut scratch = Scratch::default();
    if !job.has_tiles() {
        return Ok(job.work(scratch, vec![]));
    }
    let state = planner.state(&job.op);
    let mut parts = vec![planner.subgroup_scan_part(&job.op)];
    parts.extend(tile_prefix(state.part));
    parts.extend(job.store());
    let mut kernel = job.tile_key(&KERNEL, parts);
    kernel.constants.extend(planner.subgroup_constants(job.workgroup)?);
    kernel.constants.extend(planner.fault_constants());
    let bounded = u32::from(planner.waits_bounded() && !planner.layout.in_place);
    kernel.constants.extend([("FALLBACK", bounded), ("SPIN_LIMIT", planner.polls(1))]);
    kernel.constants.extend([("CLOSES", 1), ("PREFIX_APART", u32::from(!state.is_word))]);
    kernel.constants.extend(planner.registers_for(job.workgroup, planner.tuning.segmented.resident));
    let mut launch = job.launch(kernel, &arguments(request));
    launch.params.push(("slots", Param::Word(job.tiles)));
    launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, &mut scratch)?);
    let steps = clean_once(&scratch, launch);
    Ok(job.work(scratch, steps))
}
