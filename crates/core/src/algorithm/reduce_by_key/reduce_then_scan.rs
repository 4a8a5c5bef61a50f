//! Three launches: each tile's segment, their scan by one workgroup, and the runs.

use super::{PARAMS, ReduceByKeyTask};
use crate::algorithm::scan::passes::SPINE;
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Argument, Planner, arguments};
use crate::primitive::reduce_by_key::REDUCE_BY_KEY;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Launch, Param, ReduceByKeyRequest, Result, Scalar, Slot, Step};

pub(super) static TILE_REDUCE: Kernel = kernel!(
    "reduce_by_key/tile_reduce",
    "reduce_by_key_tile_reduce",
    &[read("input", "StoredRun"), read("input_values", "u32").optional(), write("sums", "T")],
    &["n", "tiles", "input_offset", "input_values_offset"],
);

pub(super) static TILE_SCAN: Kernel = kernel!(
    "reduce_by_key/tile_scan",
    "reduce_by_key_tile_scan",
    &[
        read("input", "StoredRun"),
        read("input_values", "u32").optional(),
        read("sums", "T"),
        write("output", "StoredRun"),
        write("output_values", "u32"),
        write("output_count", "u32"),
    ],
    PARAMS,
);

/// Where no tile may wait. Reads each element twice.
pub static REDUCE_THEN_SCAN: Algorithm = Algorithm {
    candidates: || CANDIDATES,
    reads: 2,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "reduce_then_scan",
        "reduce-by-key-reduce-then-scan.md",
        Of::ReduceByKey(Row { plan, traffic: Some(|r, runs| r.bytes_moved(2, runs)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(
    &REDUCE_BY_KEY,
    Scalar::U32,
    &REDUCE_THEN_SCAN,
    &[("reduce_by_key_passes_words", &[8, 16]), ("reduce_by_key_staged_from", &[1 << 20, 1 << 22, u32::MAX])],
)];

fn plan(planner: &Planner<'_>, request: &ReduceByKeyRequest) -> Result<Work> {
    let job = ReduceByKeyTask::new(planner, request, planner.tuning.reduce_by_key.passes_words)?;
    let mut scratch = Scratch::default();
    // The last one is for the total.
    let sums = scratch.take((u64::from(job.tiles) + 1) * u64::from(job.op.element().bytes()));
    let all = arguments(request);
    let is_input = |a: &Argument| matches!(a.region.slot, Slot::Input | Slot::InputValues);
    let inputs: Vec<Argument> = all.iter().copied().filter(is_input).collect();
    let sum = job.launch(job.tile_key(&TILE_REDUCE, vec!["workgroup/reduce"]), job.tiles, &inputs);
    let spine = Launch {
        kernel: job.key(&SPINE, vec!["workgroup/scan"], vec![]),
        groups: 1,
        bindings: vec![],
        params: vec![("count", Param::ELEMENTS.in_parts(job.workgroup * job.rows).plus(1))],
        initial: Some(job.op.identity().to_vec()),
    };
    let runs = job.tile_key(&TILE_SCAN, [vec!["workgroup/scan"], job.store()].concat());
    let runs = job.launch(runs, job.tiles, &all);
    let mut launches = [sum, spine, runs];
    launches.iter_mut().for_each(|launch| launch.bindings.push(("sums", sums)));
    Ok(Work::new(scratch, launches.map(Step::Launch).into()).depth(job.depth()))
}
