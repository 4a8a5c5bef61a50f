//! Reductions by key: by look-back in one pass, or in three launches.

mod lookback;
mod parallel;
mod reduce_then_scan;

pub use lookback::LOOKBACK;
pub use parallel::PARALLEL;
pub use reduce_then_scan::REDUCE_THEN_SCAN;

use super::Algorithm;
use crate::planner::{Argument, BESIDE, Planner, reaches, tile_launch, words_of};
use crate::primitive::reduce_by_key::segmented;
use crate::tuning::numbers;
use crate::{Kernel, KernelKey, Language, Launch, Op, ReduceByKeyRequest, Result};

numbers! {
    /// Numbers of reductions by key.
    pub struct ReductionsByKey by l {
        /// Invocations of a workgroup of a reduction by key.
        workgroup "reduce_by_key_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// 32-bit words of segments that an invocation of a reduction by key in one pass holds.
        words "reduce_by_key_words": Count up to 64 => 16,
        /// 32-bit words of segments that an invocation of a reduction by key in three launches holds.
        passes_words "reduce_by_key_passes_words": Count up to 64 => 8,
        /// Size of the keys, in 32-bit words, from which elements and runs go through workgroup memory; `u32::MAX` for
        /// never. Neighbours then move neighbouring words, and few registers are held.
        staged_from "reduce_by_key_staged_from": Count up to u32::MAX => u32::MAX,
        /// Invocations of a workgroup of such a staged reduction.
        staged_workgroup "reduce_by_key_staged_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// 32-bit words of segments that an invocation of a staged reduction holds.
        staged_words "reduce_by_key_staged_words": Count up to 64 => if l.emulated { 8 } else { 32 },
        /// Workgroups of a staged reduction in one pass that a compute unit should hold at once; 0 for no bound. This
        /// bounds registers in CUDA, and in NVIDIA's OpenCL for workgroups of at most 256 invocations.
        resident "reduce_by_key_resident": Optional up to 16 => 0,
        /// The same of a staged run-length encoding, which has no values to hold.
        lengths_resident "run_lengths_resident": Optional up to 16 => 0,
    }
}

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &LOOKBACK, &REDUCE_THEN_SCAN];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] =
    &[&lookback::KERNEL, &reduce_then_scan::TILE_REDUCE, &reduce_then_scan::TILE_SCAN, &parallel::KERNEL];

/// The parameters of the kernels that write runs.
const PARAMS: &[&str] = &[
    "n",
    "tiles",
    "input_offset",
    "input_values_offset",
    "output_offset",
    "output_values_offset",
    "output_count_offset",
];

/// Workgroup memory that holds a tile's keys, the one before it, and its values: a word is left out after every 32.
fn staged_bytes(tile: u32, key_words: u32, value_words: u32) -> u32 {
    let padded = |words: u32| words + words / 32;
    4 * (padded(tile * key_words) + key_words + padded(tile * value_words))
}

/// What the kernels of one reduction by key have in common.
struct ReduceByKeyTask<'a> {
    request: &'a ReduceByKeyRequest,
    /// The segmented one.
    op: Op,
    value_words: u32,
    /// Whether elements and runs move by way of workgroup memory.
    staged: bool,
    /// What OpenCL's kernels are told where they do.
    whole_tiles: Option<(&'static str, u32)>,
    n: u32,
    workgroup: u32,
    rows: u32,
    tiles: u32,
}

impl<'a> ReduceByKeyTask<'a> {
    /// Tiles of about `words` 32-bit words of segments an invocation. Staged tiles have the tuning's number instead. An
    /// invocation holds keys beside the segments; both together are at most twice as many words.
    fn new(planner: &Planner<'_>, request: &'a ReduceByKeyRequest, words: u32) -> Result<Self> {
        let (n, t) = (request.n as u32, planner.tuning);
        let total = request.total();
        let op = segmented(&total)?;
        let segment = op.element();
        let (key_words, value_words) = (request.key_parts(), total.element().words());
        let fits = |workgroup: u32, rows: u32| {
            let beside = workgroup * 2 * segment.bytes() + BESIDE;
            staged_bytes(workgroup * rows, key_words, value_words) + beside <= planner.caps.shared_bytes
        };
        // The block scans hold two elements an invocation in workgroup memory.
        let shape = |workgroup, words| (planner.workgroup_within_half(workgroup, segment), words);
        let wanted = shape(t.reduce_by_key.staged_workgroup, t.reduce_by_key.staged_words);
        let staged = reaches(words_of(n, &request.key), t.reduce_by_key.staged_from) && fits(wanted.0, 1);
        // Tiles are staged as they lie in memory.
        let staged = staged && planner.views.is_empty();
        let (workgroup, words) = if staged { wanted } else { shape(t.reduce_by_key.workgroup, words) };
        let words = planner.words(words.min(t.scan.words), words_of(n, segment), workgroup);
        let mut rows = (words / segment.words()).min(2 * words / (segment.words() + key_words)).max(1);
        while staged && !fits(workgroup, rows) {
            rows -= 1;
        }
        // With a branch for whole tiles PoCL's optimised code reads, where subgroups are emulated, a tile before it is staged.
        let is_told = staged && planner.caps.language == Language::OpenClC;
        let whole_tiles = is_told.then_some(("WHOLE_TILES", u32::from(!planner.caps.emulates_subgroups())));
        Ok(ReduceByKeyTask {
            request,
            op,
            value_words,
            staged,
            whole_tiles,
            n,
            workgroup,
            rows,
            tiles: n.div_ceil(workgroup * rows),
        })
    }

    fn key(&self, kernel: &'static Kernel, parts: Vec<&'static str>, more: Vec<(&'static str, u32)>) -> KernelKey {
        let mut constants = vec![("WORKGROUP", self.workgroup), ("ROWS", self.rows)];
        constants.extend(more);
        KernelKey::new(kernel, parts, constants).by(&self.op)
    }

    /// A kernel that takes tiles of keys, and of values where there are some, whose argument is bound then.
    fn tile_key(&self, kernel: &'static Kernel, parts: Vec<&'static str>) -> KernelKey {
        let key = &self.request.key;
        let key_words = self.request.key_parts();
        let mut constants = vec![("RUN_UNIT", key.unit()), ("KEY_WORDS", key_words), ("RUN_WORDS", self.value_words)];
        let has_values = self.request.op.is_some();
        if self.staged {
            let own = |name, words| (name, self.rows * words);
            constants.extend([own("OWN_KEYS", key_words), own("OWN_WORDS", self.value_words)]);
            constants.push(("TILE_VALUES", u32::from(has_values)));
            constants.extend(self.whole_tiles);
        }
        let values = if has_values { "reduce_by_key/run_values" } else { "reduce_by_key/run_lengths" };
        let load = if self.staged { "reduce_by_key/run_load_staged" } else { "reduce_by_key/run_load" };
        self.key(kernel, [&[values, load][..], &parts].concat(), constants)
    }

    /// The blocks by which a tile's runs are written.
    fn store(&self) -> Vec<&'static str> {
        vec![
            "reduce_by_key/run_total",
            if self.staged { "reduce_by_key/run_store_staged" } else { "reduce_by_key/run_store" },
        ]
    }

    /// The longest chain of combines.
    fn depth(&self) -> u64 {
        u64::from(self.tiles) + u64::from(self.rows * self.workgroup)
    }

    fn launch(&self, kernel: KernelKey, groups: u32, arguments: &[Argument]) -> Launch {
        tile_launch(kernel, groups, self.workgroup * self.rows, arguments)
    }
}
