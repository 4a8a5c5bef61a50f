//! A tile whose subgroups scan by themselves.

use super::passes::TILE_SUBGROUP;
use super::scan_then_propagate::by_tiles;
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::planner::Planner;
use crate::{Result, ScanRequest};

/// Subgroups within a tile.
pub static SUBGROUP_BLOCKED: Algorithm = Algorithm {
    needs: Needs::SUBGROUPS,
    ..rung("subgroup_blocked", "scan-subgroup-blocked.md", plan, |r, _| 4 * r.bytes())
};

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let subgroups = planner.subgroup_constants(planner.blocked_workgroup(job.op))?;
    let blocks = [planner.subgroup_scan_of(job.op), "scan/tile_rows"];
    Ok(by_tiles(planner, &job, &planner.blocked_tile(job.op, &TILE_SUBGROUP, &blocks, &subgroups)))
}
