//! Blelloch's tree within a tile, padded against bank conflicts. Harris, Sengupta and Owens, GPU Gems 3, chapter 39.

use super::passes::TILE_BLOCK;
use super::scan_then_propagate::by_tiles;
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{Result, ScanRequest};

/// The tree within a tile.
pub static BLELLOCH_BLOCKED: Algorithm =
    rung("blelloch_blocked", "scan-blelloch-blocked.md", plan, |r, _| 4 * r.bytes());

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let padding = ("PADDING", planner.tuning.blocked.padding);
    let tile = planner.blocked_tile(job.op, &TILE_BLOCK, &["literature/scan/scan_blelloch"], &[padding]);
    Ok(by_tiles(planner, &job, &tile))
}
