//! One launch, whose tiles tell each other how many runs have begun and the total of the last one: a segmented scan. Merrill and Garland
//! 2016.

use super::ReduceByKeyTask;
use crate::algorithm::chain::{tile_prefix, tile_states};
use crate::algorithm::{Algorithm, Needs, Of, Row, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, arguments, clean_once};
use crate::primitive::reduce_by_key::{REDUCE_BY_KEY, RUN_LENGTH_ENCODE};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Param, ReduceByKeyRequest, Result, Scalar, Slot};

pub(super) static KERNEL: Kernel = kernel!(
    "reduce_by_key/lookback",
    "reduce_by_key_lookback",
    &[
        read("input", "StoredRun"),
        read("input_values", "u32").optional(),
        atomic("states", "StateWord"),
        atomic("ticket", "u32"),
        write("output", "StoredRun"),
        write("output_values", "u32"),
        write("output_count", "u32"),
    ],
    &[
        "n",
        "tiles",
        "slots",
        "input_offset",
        "input_values_offset",
        "output_offset",
        "output_values_offset",
        "output_count_offset",
    ],
)
.with_initial();

/// The planner's choice: reads each element once.
pub static LOOKBACK: Algorithm = Algorithm {
    needs: Needs { subgroups: SubgroupNeed::RatherNative, ..Needs::WORKGROUPS },
    tiles_wait: true,
    follows_arrival: true,
    candidates: || CANDIDATES,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "lookback",
        "reduce-by-key-lookback.md",
        Of::ReduceByKey(Row { plan, traffic: Some(|r, runs| r.bytes_moved(1, runs)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(
        &REDUCE_BY_KEY,
        Scalar::U32,
        &LOOKBACK,
        &[
            ("reduce_by_key_workgroup", &[128, 256, 512]),
            ("reduce_by_key_words", &[8, 14, 16, 18, 24, 32]),
            ("reduce_by_key_staged_from", &[1 << 20, 1 << 22, u32::MAX]),
            ("reduce_by_key_staged_workgroup", &[128, 256, 512]),
            ("reduce_by_key_staged_words", &[16, 24, 32]),
            ("reduce_by_key_resident", &[0, 3, 4, 5, 6]),
        ],
    ),
    tuned(&RUN_LENGTH_ENCODE, Scalar::U32, &LOOKBACK, &[("run_lengths_resident", &[0, 3, 4, 5, 6])]),
];

fn plan(planner: &Planner<'_>, request: &ReduceByKeyRequest) -> Result<Work> {
    let job = ReduceByKeyTask::new(planner, request, planner.tuning.reduce_by_key.words)?;
    let mut scratch = Scratch::default();
    let state = planner.state(&job.op);
    let mut parts = vec![planner.subgroup_scan_part(&job.op)];
    parts.extend(tile_prefix(state.part));
    parts.extend(job.store());
    let mut kernel = job.tile_key(&KERNEL, parts);
    let resident = match &job.request.op {
        _ if !job.staged => 0,
        Some(_) => planner.tuning.reduce_by_key.resident,
        None => planner.tuning.reduce_by_key.lengths_resident,
    };
    kernel.constants.extend(planner.registers_for(job.workgroup, resident));
    kernel.constants.extend(planner.subgroup_constants(job.workgroup)?);
    kernel.constants.extend(planner.fault_constants());
    let bounded = u32::from(planner.waits_bounded());
    kernel.constants.extend([("FALLBACK", bounded), ("SPIN_LIMIT", planner.polls(1))]);
    let mut launch = job.launch(kernel, job.tiles, &arguments(request));
    launch.params.push(("slots", Param::Word(job.tiles)));
    launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, &mut scratch)?);
    launch.initial = Some(job.op.identity().to_vec());
    let steps = clean_once(&scratch, launch);
    Ok(Work::new(scratch, steps).depth(job.depth()))
}
