//! A chained scan: each tile waits for the prefix of the one before it. Yan, Long and Zhang, "StreamScan", 2013.

use super::lookback_serial::by_one_invocation;
use super::waiting;
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{DeviceKind, Result, ScanRequest};

/// One launch: each tile waits for the one before it.
pub static CHAINED_SCAN: Algorithm =
    Algorithm { is_reference: true, ..waiting("chained_scan", "scan-chained-scan.md", plan) };

/// A tile waits for its predecessor's prefix, whose turn may be far away: else it would look back.
const CHAIN_PATIENCE: u32 = 4096;

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    // Software devices have other things to do than to wait, and Mesa's end a loop after 65535 turns.
    let patience = if planner.caps.kind == DeviceKind::Cpu { planner.polls(1) } else { CHAIN_PATIENCE };
    by_one_invocation(planner, request, true, patience)
}
