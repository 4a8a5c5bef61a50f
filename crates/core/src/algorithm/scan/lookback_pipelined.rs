//! Look-back whose workgroups stay: each publishes the sum of its next tile, which it holds in registers, before it looks back for this one.

use super::one_pass::LookBack;
use super::{LOOKBACK, ScanTask, ScanTile, waiting};
use crate::algorithm::chain::{ANNOUNCE, tile_prefix};
use crate::algorithm::{Algorithm, Needs, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, reaches, words_of};
use crate::primitive::scan::SCAN;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Op, Result, Scalar, ScanRequest};

numbers! {
    /// Numbers of a scan by pipelined look-back.
    pub struct LookbackPipelined by l {
        /// Invocations of its workgroup.
        workgroup "lookback_pipelined_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Workgroups for each compute unit, which stay until the scan ends. Those that do not fit at once end as they
        /// begin.
        groups "lookback_pipelined_groups": Count up to 64 => 8,
        /// Chunks of states that it reads at once when it looks back; 0 to look back from tile to tile, where that is
        /// faster. A chunk is as many tiles as a subgroup has lanes.
        ///
        /// Chunks are for elements of one word, where all subgroups are of one width. A float's bits are then the same
        /// every run.
        // What WGSL's compiler made of chunks took a third longer; where times do not matter they are verified all the same.
        chunks "lookback_pipelined_chunks": Optional up to 16 => match l.language {
_ if l.small => 1,
crate::Language::Wgsl => 0,
_ => 4,
},
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "scan/lookback_pipelined",
    "scan_lookback_pipelined",
    &[read("input", "Pack"), write("output", "Pack"), atomic("states", "StateWord"), atomic("ticket", "u32")],
    &["n", "tiles", "slots", "groups", "input_offset", "output_offset"],
)
.with_initial();

/// The planner's choice for many elements where no hardware copies tiles.
pub static LOOKBACK_PIPELINED: Algorithm = {
    let waiting = waiting("lookback_pipelined", "scan-lookback-pipelined.md", plan);
    // PoCL's emulated subgroups are barriers: within this kernel's conditions its optimised code writes over foreign memory.
    Algorithm {
        needs: Needs { subgroups: SubgroupNeed::Native, ..waiting.needs },
        candidates: || CANDIDATES,
        maps_output: true,
        variant_of: Some(&LOOKBACK),
        ..waiting
    }
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(&SCAN, Scalar::U64, &LOOKBACK_PIPELINED, &[("lookback_pipelined_workgroup", &[128, 256, 512])]),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_chunks", &[0, 2, 4])]),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_from", &[1 << 26, u32::MAX])])
        .of(1 << 26)
        .choice(),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_from", &[1 << 25, 1 << 26])])
        .of(1 << 25)
        .choice(),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_from", &[1 << 24, 1 << 25])])
        .of(1 << 24)
        .choice(),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_from", &[1 << 23, 1 << 24])])
        .of(1 << 23)
        .choice(),
    tuned(&SCAN, Scalar::U32, &LOOKBACK_PIPELINED, &[("lookback_pipelined_from", &[1 << 22, 1 << 23])])
        .of(1 << 22)
        .choice(),
];

/// Whether it is the fastest: for many elements of one or two words, whose states are read at once.
pub(crate) fn is_fastest(planner: &Planner<'_>, request: &ScanRequest) -> bool {
    let (op, words) = (&request.op, words_of(request.n, request.op.element()));
    planner.waits_bounded()
        && planner.caps.atomics64
        && op.element().words() <= 2
        && reaches(words, planner.tuning.scan_choice.lookback_pipelined_from)
        && check_turns(planner, op, request.n as u32, &tile(planner, &ScanTask::of(request))).is_ok()
}

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let tile = tile(planner, &job);
    check_turns(planner, job.op, job.n, &tile)?;
    let state = planner.state(job.op);
    let groups = Some(planner.resident(planner.tuning.lookback_pipelined.groups));
    let kernel = &KERNEL;
    let chunks = chunks(planner, job.op);
    let look_back = if chunks == 0 {
        let parts = [&tile_prefix(state.part)[..], &["scan/tile_aggregate"]].concat();
        LookBack { kernel, state, parts, constants: vec![], patience: planner.polls(1), values: false, groups }
    } else {
        let parts = [&[state.part], &ANNOUNCE[..], &["chain/tile_chunks", "scan/tile_aggregate"]].concat();
        // Whoever is behind a stuck tile's chunk waits too, so that helping sooner pays.
        let patience = (planner.polls(1) / 4).max(1);
        LookBack { kernel, state, parts, constants: vec![("CHUNKS", chunks)], patience, values: false, groups }
    };
    // What lies before a chunk does not depend on which tiles come first.
    Ok(Work { in_fixed_order: chunks > 0, ..look_back.work(planner, job, tile)? })
}

fn tile(planner: &Planner<'_>, job: &ScanTask<'_>) -> ScanTile {
    planner.scan_tile(job.op, job.n, 32, planner.tuning.lookback_pipelined.workgroup)
}

/// The chunks of states that are read at once, or 0 where it goes from tile to tile. A chunk is a subgroup's
/// width, of which all workgroups must agree; and the states of wider elements are too many loads at a time.
fn chunks(planner: &Planner<'_>, op: &Op) -> u32 {
    let agree = planner.caps.subgroups.is_some_and(|s| s.min == s.max);
    if agree && op.element().words() == 1 { planner.tuning.lookback_pipelined.chunks } else { 0 }
}

/// Whether a workgroup that takes all tiles, as it may where few run at a time, ends its loops itself.
fn check_turns(planner: &Planner<'_>, op: &Op, n: u32, tile: &ScanTile) -> Result<()> {
    let Some(subgroups) = planner.caps.subgroups else { return Ok(()) };
    let [words, steps] = [op.element().words(), 32 - subgroups.max.leading_zeros()].map(u64::from);
    let chunks = u64::from(chunks(planner, op).max(1));
    let rows = u64::from(tile.elements / tile.workgroup / tile.pack.elements);
    // What a row's scan, a tile's totals and a few windows of states turn.
    let turns = rows * (4 + steps * (1 + words))
        + u64::from(tile.workgroup / subgroups.min.max(1))
        + 4 * chunks * (3 + steps * (1 + words))
        + 16;
    let tiles = u64::from(n.div_ceil(tile.elements));
    planner.check_turns(&LOOKBACK_PIPELINED, tiles * turns, "one workgroup may take all tiles", &LOOKBACK)
}
