//! Look-ahead: blocks that stay, one a compute unit, whose tiles the hardware loads ahead into a ring in shared memory.

use super::one_pass::OnePass;
use super::{ScanTask, waiting};
use crate::algorithm::{Algorithm, InPlace, Needs, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{PACKS, Planner, reaches, words_of};
use crate::primitive::scan::SCAN;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Error, Kernel, Language, Op, Result, Scalar, ScanRequest};

numbers! {
    /// Numbers of a scan by look-ahead.
    pub struct Lookahead by l {
        /// Packs of 16 bytes that a lane of a look-ahead scan takes: odd, so that lanes keep off each other's banks.
        rows "lookahead_rows": Count up to 15 => 7,
        /// How many times `spin_limit` a look-ahead block polls a tile's state before it helps: one warp folds a whole tile then.
        patience "lookahead_patience": Count up to 1 << 10 => 8,
        /// How many times `spin_limit` its reduce warps poll the tile that they look after: fewer, since who helps late has nobody left to help.
        ward_patience "lookahead_ward_patience": Count up to 1 << 10 => 4,
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "scan/lookahead",
    "scan_lookahead",
    &[read("input", "Pack"), write("output", "Pack"), atomic("states", "StateWord"), atomic("ticket", "u32")],
    &["n", "tiles", "slots", "input_offset", "output_offset"],
)
.with_initial()
.only(Language::CudaC)
.cuda_from(90);

/// The planner's choice for many elements in CUDA from sm_90 on.
pub static LOOKAHEAD: Algorithm = {
    let waiting = waiting("lookahead", "scan-lookahead.md", plan);
    let needs = Needs { bulk_copies: true, scalars: true, in_place: InPlace::Never, ..waiting.needs };
    Algorithm { needs, views: &[], follows_arrival: false, candidates: || CANDIDATES, ..waiting }
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_rows", &[3, 5, 7])]),
    // From where on they are faster: each size with it, and without.
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_from", &[1 << 26, u32::MAX])]).of(1 << 26).choice(),
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_from", &[1 << 25, 1 << 26])]).of(1 << 25).choice(),
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_from", &[1 << 24, 1 << 25])]).of(1 << 24).choice(),
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_from", &[1 << 23, 1 << 24])]).of(1 << 23).choice(),
    tuned(&SCAN, Scalar::U32, &LOOKAHEAD, &[("lookahead_from", &[1 << 22, 1 << 23])]).of(1 << 22).choice(),
];

/// Warps of a block that publish aggregates.
const REDUCE_WARPS: u32 = 4;
/// Warps of a block that scan.
const SCAN_WARPS: u32 = 16;

/// What a block holds in shared memory.
struct Ring {
    /// Packs of a scanning lane.
    rows: u32,
    /// Of a stage, which holds a tile.
    stage_bytes: u32,
    stages: u32,
}

/// Whether it is the fastest: for many elements whose tiles' states are one word, in tiles as large as tuned.
pub(crate) fn is_fastest(planner: &Planner<'_>, request: &ScanRequest) -> bool {
    let op = &request.op;
    planner.waits_bounded()
        && planner.state(op).is_word
        && reaches(words_of(request.n, op.element()), planner.tuning.scan_choice.lookahead_from)
        && ring(planner, op).is_ok_and(|ring| ring.rows == planner.tuning.lookahead.rows)
}

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let pack = planner.pack(job.op.element());
    let Ring { rows, stage_bytes, stages } = ring(planner, job.op)?;
    let mut constants = vec![
        ("WORKGROUP", 32 * (2 + REDUCE_WARPS + SCAN_WARPS)),
        ("ROWS", rows),
        pack.constant(),
        ("REDUCE_WARPS", REDUCE_WARPS),
        ("SCAN_WARPS", SCAN_WARPS),
        ("STAGES", stages),
        ("DYNAMIC_BYTES", stages * stage_bytes),
        ("EXCLUSIVE", u32::from(job.exclusive)),
        ("SPIN_LIMIT", planner.polls(planner.tuning.lookahead.patience)),
        ("WARD_POLLS", planner.polls(planner.tuning.lookahead.ward_patience)),
    ];
    constants.extend(planner.subgroup_constants(32)?);
    constants.extend(planner.fault_constants());
    let tile = stage_bytes / job.op.element().bytes();
    let tiles = job.n.div_ceil(tile);
    let state = planner.state(job.op);
    let subgroup_scan = planner.subgroup_scan_part(job.op);
    let blocks = [subgroup_scan, state.part, "chain/ticket", "scan/bulk_copy"];
    let one = OnePass {
        kernel: &KERNEL,
        parts: [&PACKS[..], &blocks].concat(),
        state_bytes: state.bytes,
        values: false,
        constants,
        unit: pack.bytes,
        tile,
        groups: tiles.min(planner.resident(1)),
        stays: false,
        depth: u64::from(tiles + rows * pack.elements + 64),
    };
    one.work(job)
}

/// The ring of tiles that a block has: tiles as large as tuned, or as fit.
fn ring(planner: &Planner<'_>, op: &Op) -> Result<Ring> {
    const MOST_STAGES: u32 = 5;
    // One stage is loaded, one is scanned, one is stored.
    const FEWEST_STAGES: u32 = 3;
    // What the kernel declares beside its ring.
    const STATIC_BYTES: u32 = 2048;
    let pack = planner.pack(op.element());
    let room = planner.caps.bulk_shared_bytes.saturating_sub(STATIC_BYTES);
    let stage_bytes = |rows: u32| SCAN_WARPS * 32 * rows * pack.bytes;
    let mut rows = planner.tuning.lookahead.rows;
    while rows > 2 && room / stage_bytes(rows) < FEWEST_STAGES {
        rows -= 2;
    }
    let stages = (room / stage_bytes(rows)).min(MOST_STAGES);
    if stages < FEWEST_STAGES {
        return Err(Error::Unsupported(format!(
            "lookahead on {}: {FEWEST_STAGES} tiles of {} bytes do not fit into {room} bytes of shared memory; use \
             lookback",
            planner.caps.device,
            stage_bytes(rows)
        )));
    }
    Ok(Ring { rows, stage_bytes: stage_bytes(rows), stages })
}
