//! Three launches: each tile's total, their scan by one workgroup, and the tiles' scans.

use super::SegmentedTask;
use crate::algorithm::scan::passes::SPINE;
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Argument, Planner, arguments};
use crate::primitive::segmented::SEGMENTED_REDUCE;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Launch, Param, Result, Scalar, SegmentedRequest, Slot, Step};

pub(super) static TILE_REDUCE: Kernel = kernel!(
    "segmented/tile_reduce",
    "segmented_tile_reduce",
    &[read("input", "u32"), read("input_values", "StoredRun").optional(), write("sums", "T")],
    &["n", "tiles", "segments", "width", "input_offset", "input_values_offset"],
)
.with_initial();

pub(super) static TILE_SCAN: Kernel = kernel!(
    "segmented/tile_scan",
    "segmented_tile_scan",
    &[read("input", "u32"), read("input_values", "StoredRun").optional(), read("sums", "T"), write("output", "u32"),],
    &["n", "tiles", "segments", "width", "input_offset", "input_values_offset", "output_offset"],
)
.with_initial();

/// Where no tile may wait. Reads each element twice.
pub static REDUCE_THEN_SCAN: Algorithm = Algorithm {
    candidates: || CANDIDATES,
    reads: 2,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "reduce_then_scan",
        "segmented-reduce-then-scan.md",
        Of::Segmented(Row { plan, traffic: Some(|r, _| r.bytes_moved(2)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] =
    &[tuned(&SEGMENTED_REDUCE, Scalar::U32, &REDUCE_THEN_SCAN, &[("segmented_passes_words", &[8, 16])])];

fn plan(planner: &Planner<'_>, request: &SegmentedRequest) -> Result<Work> {
    let job = SegmentedTask::new(planner, request, planner.tuning.segmented.passes_words)?;
    let mut scratch = Scratch::default();
    if !job.has_tiles() {
        return Ok(job.work(scratch, vec![]));
    }
    let sums = scratch.take(u64::from(job.tiles) * u64::from(job.op.element().bytes()));
    let all = arguments(request);
    let inputs: Vec<Argument> = all.iter().copied().filter(|a| a.region.slot != Slot::Output).collect();
    let sum = job.launch(job.tile_key(&TILE_REDUCE, vec!["workgroup/reduce"]), &inputs);
    let spine = Launch {
        kernel: job.key(&SPINE, vec!["workgroup/scan"], vec![]),
        groups: 1,
        bindings: vec![],
        params: vec![("count", Param::ELEMENTS.in_parts(job.workgroup * job.rows))],
        initial: Some(job.op.identity().to_vec()),
    };
    let scan = job.launch(job.tile_key(&TILE_SCAN, [vec!["workgroup/scan"], job.store()].concat()), &all);
    let mut launches = [sum, spine, scan];
    launches.iter_mut().for_each(|launch| launch.bindings.push(("sums", sums)));
    Ok(job.work(scratch, launches.map(Step::Launch).into()))
}
