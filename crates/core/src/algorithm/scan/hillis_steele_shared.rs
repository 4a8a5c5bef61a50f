//! Hillis and Steele's scan within a tile, in workgroup memory. Harris, Sengupta and Owens, GPU Gems 3, chapter 39.

use super::passes::TILE_BLOCK;
use super::scan_then_propagate::by_tiles;
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{Result, ScanRequest};

/// Doubling distances within a tile.
pub static HILLIS_STEELE_SHARED: Algorithm =
    rung("hillis_steele_shared", "scan-hillis-steele-shared.md", plan, |r, _| 4 * r.bytes());

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    Ok(by_tiles(planner, &job, &planner.blocked_tile(job.op, &TILE_BLOCK, &["workgroup/scan"], &[])))
}
