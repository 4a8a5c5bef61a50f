//! Three launches: each tile's count, their scan by one workgroup, and the elements to their places.

use super::{PARAMS, SelectTask};
use crate::algorithm::scan::passes::SPINE;
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::Planner;
use crate::primitive::select::SELECT;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, KernelKey, Launch, Param, Result, Scalar, SelectRequest, Slot, Step};

pub(super) static TILE_COUNT: Kernel = kernel!(
    "select/tile_count",
    "select_tile_count",
    &[read("input", "StoredItem"), write("sums", "T")],
    &["n", "tiles", "input_offset"],
);

pub(super) static TILE_PLACE: Kernel = kernel!(
    "select/tile_place",
    "select_tile_place",
    &[
        read("input", "StoredItem"),
        write("output", "StoredKept"),
        read("sums", "T"),
        write("output_rest", "StoredKept").optional(),
        write("output_count", "u32"),
        read("input_values", "StoredValue").optional(),
        write("output_values", "StoredValue").optional(),
    ],
    PARAMS,
);

/// Where no tile may wait, and where the rest follows the elements that are kept. Reads each element twice.
pub static REDUCE_THEN_SCAN: Algorithm = Algorithm {
    candidates: || CANDIDATES,
    reads: 2,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new(
        "reduce_then_scan",
        "select-reduce-then-scan.md",
        Of::Select(Row { plan, traffic: Some(|r, kept| r.bytes_moved(2, kept)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] =
    &[tuned(&SELECT, Scalar::U32, &REDUCE_THEN_SCAN, &[("select_passes_words", &[8, 16])])];

fn plan(planner: &Planner<'_>, request: &SelectRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SelectTask::new(planner, request, planner.tuning.select.passes_words);
    // The last one is for the total.
    let sums = scratch.take((u64::from(job.tiles) + 1) * 4);
    let arguments = job.arguments();
    let count =
        job.launch(job.key(&TILE_COUNT, vec!["workgroup/reduce", job.asks()], vec![]), job.tiles, &arguments[..1]);
    let spine = Launch {
        kernel: KernelKey { selector: None, ..job.key(&SPINE, vec!["workgroup/scan"], vec![]) },
        groups: 1,
        bindings: vec![],
        params: vec![("count", Param::ELEMENTS.in_parts(job.workgroup * job.rows).plus(1))],
        initial: Some(job.sum.identity().to_vec()),
    };
    let place = job.key(&TILE_PLACE, vec!["workgroup/scan", job.asks(), job.writes()], job.written());
    let place = job.launch(place, job.tiles, &arguments);
    let mut launches = [count, spine, place];
    launches.iter_mut().for_each(|launch| launch.bindings.push(("sums", sums)));
    Ok(Work::new(scratch, launches.map(Step::Launch).into()))
}
