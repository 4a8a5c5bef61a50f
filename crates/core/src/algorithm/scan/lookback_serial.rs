//! Look-back by one invocation, state after state.

use super::one_pass::LookBack;
use super::{ScanTask, lookback, waiting};
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{Result, ScanRequest};

/// Sums are published at once, and one invocation looks back over them.
pub static LOOKBACK_SERIAL: Algorithm =
    Algorithm { is_reference: true, ..waiting("lookback_serial", "scan-lookback-serial.md", plan) };

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    by_one_invocation(planner, request, false, planner.polls(1))
}

/// Reads state after state, or, if `chained`, waits for the tile before its own alone.
pub(super) fn by_one_invocation(
    planner: &Planner<'_>,
    request: &ScanRequest,
    chained: bool,
    patience: u32,
) -> Result<Work> {
    let job = ScanTask::of(request);
    let state = planner.state(job.op);
    let parts = vec![state.part, "chain/ticket", "literature/scan/lookback_serial"];
    let constants = vec![("CHAINED", u32::from(chained))];
    let tile = planner.one_pass_tile(&job);
    LookBack { kernel: &lookback::KERNEL, state, parts, constants, patience, values: false, groups: None }
        .work(planner, job, tile)
}
