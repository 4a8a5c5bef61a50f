//! Reduce, then scan: sums of a fixed number of runs of tiles, their scan by one workgroup, and the scans of the runs.

use super::{ScanTask, scan};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::primitive::scan::SCAN;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Result, Scalar, ScanRequest};

/// The planner's choice where tiles may not wait. Reads each element twice.
pub static REDUCE_THEN_SCAN: Algorithm = Algorithm {
    candidates: || CANDIDATES,
    reads: 2,
    maps_output: true,
    ..scan("reduce_then_scan", "scan-reduce-then-scan.md", plan, |r, _| 3 * r.bytes())
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    // What devices go by that have no subgroups, and whoever asks for no waiting.
    tuned(
        &SCAN,
        Scalar::U32,
        &REDUCE_THEN_SCAN,
        &[("scan_passes_words", &[8, 16, 32]), ("scan_runs", &[8, 16, 32, 64])],
    ),
];

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let (job, mut scratch) = (ScanTask::of(request), Scratch::default());
    let body = planner.fast_tile(job.op, job.n)?;
    let steps = planner.reduce_then_scan(&job, &body, &mut scratch);
    let tiles = u64::from(job.n.div_ceil(body.elements));
    Ok(Work::new(scratch, steps).depth(tiles + 1 + body.depth()))
}
