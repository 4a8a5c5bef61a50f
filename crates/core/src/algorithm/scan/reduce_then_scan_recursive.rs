//! Reduce, then scan, by single tiles, whose sums are scanned in the same way.

use super::passes::{Runs, Task, TileBody};
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::scratch::Scratch;
use crate::{Result, ScanRequest, Step};

/// Sums first: one write less than to propagate.
pub static REDUCE_THEN_SCAN_RECURSIVE: Algorithm =
    rung("reduce_then_scan_recursive", "scan-reduce-then-scan-recursive.md", plan, |r, _| 3 * r.bytes());

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let (job, mut scratch) = (ScanTask::of(request), Scratch::default());
    let body = planner.fast_tile(job.op, job.n)?;
    let steps = by_levels(planner, &job, &body, &mut scratch);
    Ok(Work::new(scratch, steps).depth(body.depth_of_all(job.n)))
}

/// Until one workgroup can do it at once.
fn by_levels(planner: &Planner<'_>, job: &ScanTask<'_>, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
    let runs = Runs::of(job.n, body.elements, 1);
    let sums = planner.sums(job, runs, scratch);
    if runs.groups == 1 {
        return vec![planner.tiles(job, body, Task::Local, runs, sums)];
    }
    let mut steps = vec![planner.tiles(job, body, Task::Sum, runs, sums)];
    steps.extend(by_levels(planner, &job.of_sums(sums, runs.groups), body, scratch));
    steps.push(planner.tiles(job, body, Task::From, runs, sums));
    steps
}
