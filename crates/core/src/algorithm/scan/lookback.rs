//! Decoupled look-back: each tile publishes its sum, and looks back over those of the tiles before it, by a subgroup at a time.
//! Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.

use super::one_pass::LookBack;
use super::{ScanTask, waiting};
use crate::algorithm::chain::{self, TileState};
use crate::algorithm::{Algorithm, Needs, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, reaches, words_of};
use crate::primitive::scan::SCAN;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{DeviceKind, Fault, Kernel, Language, Op, Result, Scalar, ScanRequest};

numbers! {
    /// Numbers of a scan by look-back.
    pub struct Lookback by l {
        /// States that a lane reads at once when CUDA's look-back scan of elements of one word looks back, where that finds all tiles.
        window "scan_window": Count up to 16 => 1,
        /// Workgroups of a look-back scan that a compute unit should hold at once, which bounds its registers in NVIDIA's OpenCL; 0 for no bound.
        resident "scan_resident": Optional up to 16 => 0,
        /// From so many 32-bit words on, `u32::MAX` for never.
        resident_from "scan_resident_from": Count up to u32::MAX => 1,
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "scan/lookback",
    "scan_lookback",
    &[
        read("input", "Pack"),
        write("output", "Pack"),
        atomic("states", "StateWord"),
        atomic("ticket", "u32"),
        write("output_total", "T").optional(),
    ],
    &["n", "tiles", "slots", "input_offset", "output_offset", "total_offset"],
)
.with_initial();

/// The planner's choice for most scans.
pub static LOOKBACK: Algorithm = {
    let waiting = waiting("lookback", "scan-lookback.md", plan);
    Algorithm {
        needs: Needs { subgroups: SubgroupNeed::RatherNative, ..waiting.needs },
        candidates: || CANDIDATES,
        maps_output: true,
        ..waiting
    }
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(
        &SCAN,
        Scalar::U32,
        &LOOKBACK,
        &[("scan_workgroup_many", &[128, 256, 512]), ("scan_words", &[8, 16, 24, 32])],
    ),
    tuned(&SCAN, Scalar::U32, &LOOKBACK, &[("scan_window", &[1, 4, 8])]).of(1 << 20).only(Language::CudaC),
    tuned(&SCAN, Scalar::U32, &LOOKBACK, &[("scan_many_each", &[3, 12])]).of(1 << 18),
    tuned(&SCAN, Scalar::U32, &LOOKBACK, &[("scan_resident", &[0, 3, 4, 6])]).only(Language::OpenClC),
    tuned(&SCAN, Scalar::U32, &LOOKBACK, &[("spin_limit", &[4, 16, 64, 256])]).with(Fault::Silent(10)),
];

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let job = ScanTask::of(request);
    let tile = planner.scan_tile(job.op, job.n, 32, workgroup(planner, &job));
    let state = planner.state(job.op);
    let windows = windows(planner, job.op, &state, job.n.div_ceil(tile.elements));
    let (parts, constants) = if windows > 1 {
        let parts = vec![state.part, "chain/ticket", "chain/lookback_fold", "chain/lookback_windows"];
        (parts, vec![("WINDOWS", windows)])
    } else {
        // Its kernel publishes and looks back in its own text: see docs/notebook.md.
        let parts = [&[state.part, "chain/ticket"], &chain::LOOKBACK[..]].concat();
        // CUDA's kernel has no such bound.
        let is_many = reaches(words_of(job.n, job.op.element()), planner.tuning.lookback.resident_from);
        let is_bound = planner.caps.language == Language::OpenClC && is_many;
        let bound = planner.registers_for(tile.workgroup, planner.tuning.lookback.resident).filter(|_| is_bound);
        (parts, bound.into_iter().collect())
    };
    let (kernel, patience) = (&KERNEL, planner.polls(1));
    LookBack { kernel, state, parts, constants, patience, values: false, groups: None }.work(planner, job, tile)
}

/// Large, too, where tiles as small as they get are too many for a subgroup to look back at at once.
fn workgroup(planner: &Planner<'_>, job: &ScanTask<'_>) -> u32 {
    let t = planner.tuning;
    let usual = planner.one_pass_workgroup(job);
    let element = job.op.element();
    let words = words_of(job.n, element);
    let smallest = u64::from(t.words.least) * u64::from(t.scan.workgroup);
    let units = u64::from(planner.caps.compute_units);
    let crowded = words > u64::from(planner.widest_subgroup()) * smallest && words <= units * smallest;
    // NVIDIA's OpenCL runs no kernel of so many registers in large workgroups.
    let can = element.is_word() || planner.caps.language == Language::CudaC;
    let looks = planner.caps.kind != DeviceKind::Cpu;
    if looks && can && crowded { usual.max(t.scan.workgroup_many) } else { usual }
}

/// States that a lane reads at once when it looks back: several if one turn is then enough.
fn windows(planner: &Planner<'_>, op: &Op, state: &TileState, tiles: u32) -> u32 {
    let windows = planner.tuning.lookback.window;
    let lanes = planner.widest_subgroup();
    let one_turn = lanes < tiles && u64::from(tiles) <= u64::from(windows) * u64::from(lanes);
    let can = planner.caps.language == Language::CudaC && op.element().is_word() && state.is_word;
    if can && one_turn { windows } else { 1 }
}
