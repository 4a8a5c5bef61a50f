//! Look-back by the published descriptor, a status beside an aggregate and a prefix, with fences between them.

use super::one_pass::LookBack;
use super::{ScanTask, lookback, waiting};
use crate::algorithm::chain::{self, TileState};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::kernel::{atomic, coherent, kernel, read, write};
use crate::planner::Planner;
use crate::{Kernel, Language, Result, ScanRequest};

pub(super) static KERNEL: Kernel = kernel!(
    "literature/scan/lookback_fenced",
    "scan_lookback_fenced",
    &[
        read("input", "Pack"),
        write("output", "Pack"),
        atomic("states", "StateWord"),
        atomic("ticket", "u32"),
        coherent("values", "T"),
    ],
    &["n", "tiles", "slots", "input_offset", "output_offset"],
)
.with_initial()
.only(Language::Wgsl);

/// A subgroup looks back, by the published descriptor.
pub static LOOKBACK_FENCED: Algorithm = {
    let waiting = waiting("lookback_fenced", "scan-lookback-fenced.md", plan);
    Algorithm { is_reference: true, needs: Needs { coherent: true, ..waiting.needs }, ..waiting }
};

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    // WGSL's only fence is a barrier: its tiles look back in step, by a kernel of its own, with the values in a buffer of theirs.
    let in_step = planner.caps.language == Language::Wgsl;
    let values = if in_step { 0 } else { 2 * 4 * u64::from(job.op.element().words()) };
    let state = TileState { part: "literature/scan/state_fenced", bytes: 4 + values, is_word: false };
    let (kernel, parts) = if in_step {
        let parts = vec!["chain/ticket", "workgroup/tile_totals", "chain/lookback_fold", "scan/tile_aggregate"];
        (&KERNEL, parts)
    } else {
        (&lookback::KERNEL, [&[state.part, "chain/ticket"], &chain::LOOKBACK[..]].concat())
    };
    let tile = planner.one_pass_tile(&job);
    LookBack { kernel, state, parts, constants: vec![], patience: planner.polls(1), values: in_step, groups: None }
        .work(planner, job, tile)
}
