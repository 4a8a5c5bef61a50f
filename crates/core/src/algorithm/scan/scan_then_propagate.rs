//! Scans of single tiles, the scan of their sums in the same way, and what lies before a tile combined with all of it.

use super::passes::{Runs, Task, TileBody};
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::scratch::Scratch;
use crate::{Result, ScanRequest, Step};

/// With the fastest tile. Reads and writes each element twice.
pub static SCAN_THEN_PROPAGATE: Algorithm =
    rung("scan_then_propagate", "scan-scan-then-propagate.md", plan, |r, _| 4 * r.bytes());

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let body = planner.fast_tile(job.op, job.n)?;
    Ok(by_tiles(planner, &job, &body))
}

/// With these tiles.
pub(super) fn by_tiles(planner: &Planner<'_>, job: &ScanTask<'_>, body: &TileBody) -> Work {
    let mut scratch = Scratch::default();
    let steps = by_levels(planner, job, body, &mut scratch);
    Work::new(scratch, steps).depth(body.depth_of_all(job.n))
}

fn by_levels(planner: &Planner<'_>, job: &ScanTask<'_>, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
    let runs = Runs::of(job.n, body.elements, 1);
    let sums = planner.sums(job, runs, scratch);
    let mut steps = vec![planner.tiles(job, body, Task::Local, runs, sums)];
    if runs.groups > 1 {
        steps.extend(by_levels(planner, &job.of_sums(sums, runs.groups), body, scratch));
        steps.push(planner.add_carry(job, job.output, sums, body.elements));
    }
    steps
}
