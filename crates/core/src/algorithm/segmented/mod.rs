//! Reductions and scans of segments: by look-back in one pass, or in three launches.

mod lookback;
mod parallel;
mod ranges;
mod reduce_then_scan;

pub use lookback::LOOKBACK;
pub use parallel::PARALLEL;
pub use ranges::{RANGES, SegmentRanges};
pub use reduce_then_scan::REDUCE_THEN_SCAN;

use super::{Algorithm, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Argument, BESIDE, Planner, arguments, tile_launch, words_of};
use crate::primitive::reduce_by_key::segmented;
use crate::primitive::{Gives, Segments};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{DeviceKind, Kernel, KernelKey, Language, Launch, Op, Param, Result, ScanKind, SegmentedRequest, Step};

numbers! {
    /// Numbers of reductions and scans of segments.
    pub struct SegmentedTiles by l {
        /// Invocations of a workgroup of a reduction or scan of segments.
        workgroup "segmented_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// 32-bit words of elements that an invocation of one in one pass holds.
        words "segmented_words": Count up to 32 => if l.emulated { 8 } else { 16 },
        /// 32-bit words of elements that an invocation of one in three launches holds.
        passes_words "segmented_passes_words": Count up to 32 => 8,
        /// Workgroups of one in one pass that a compute unit should hold at once; 0 for no bound. This bounds registers in CUDA, and in
        /// NVIDIA's OpenCL for workgroups of at most 256 invocations.
        resident "segmented_resident": Optional up to 16 => 0,
    }
}

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &RANGES, &LOOKBACK, &REDUCE_THEN_SCAN];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[
    &ranges::KERNEL,
    &lookback::KERNEL,
    &reduce_then_scan::TILE_REDUCE,
    &reduce_then_scan::TILE_SCAN,
    &EMPTY,
    &parallel::KERNEL,
];

static EMPTY: Kernel = kernel!(
    "segmented/empty",
    "segmented_empty",
    &[read("input_values", "StoredRun"), write("output", "u32")],
    &["n", "segments", "input_values_offset", "output_offset"],
)
.with_initial();

/// What the kernels of one request have in common.
struct SegmentedTask<'a> {
    request: &'a SegmentedRequest,
    /// The operator that begins anew where a segment does.
    op: Op,
    /// What OpenCL's kernels are told: whether invocations search together.
    together: Option<(&'static str, u32)>,
    n: u32,
    workgroup: u32,
    rows: u32,
    tiles: u32,
}

impl<'a> SegmentedTask<'a> {
    /// Tiles of about `words` 32-bit words of elements an invocation, or fewer where there are few, which are staged in workgroup memory.
    fn new(planner: &Planner<'_>, request: &'a SegmentedRequest, words: u32) -> Result<Self> {
        let task = Self::shaped(planner, request, planner.tuning.segmented.workgroup, words)?;
        let (value, op, workgroup) = (request.op.element(), &task.op, task.workgroup);
        let words = planner.words(words, words_of(task.n, value), workgroup);
        let mut rows = (words / value.words()).clamp(1, 32);
        let fits = |rows: u32| {
            let tile = workgroup * rows * value.words();
            let heads = workgroup * rows / 32 + 2;
            4 * (tile + tile / 32 + heads) + workgroup * 2 * op.element().bytes() + BESIDE <= planner.caps.shared_bytes
        };
        while rows > 1 && !fits(rows) {
            rows -= 1;
        }
        let tiles = task.n.div_ceil(workgroup * rows);
        Ok(SegmentedTask { rows, tiles, ..task })
    }

    /// Tiles of `words` 32-bit words of elements an invocation.
    fn shaped(planner: &Planner<'_>, request: &'a SegmentedRequest, workgroup: u32, words: u32) -> Result<Self> {
        let n = request.n as u32;
        let op = segmented(&request.op)?;
        // The block scans hold two elements an invocation in workgroup memory.
        let workgroup = planner.workgroup_within_half(workgroup, op.element());
        let rows = (words / request.op.element().words()).clamp(1, 32);
        let is_told = planner.caps.language == Language::OpenClC;
        let together = is_told.then_some(("TOGETHER", u32::from(planner.caps.kind != DeviceKind::Cpu)));
        Ok(SegmentedTask { request, op, together, n, workgroup, rows, tiles: n.div_ceil(workgroup * rows) })
    }

    /// The element that each segment starts from, as the kernels have it.
    fn start(&self) -> Vec<u8> {
        let mut start = self.request.start().to_vec();
        start.resize(self.op.element().bytes() as usize, 0);
        start
    }

    fn key(&self, kernel: &'static Kernel, parts: Vec<&'static str>, more: Vec<(&'static str, u32)>) -> KernelKey {
        let mut constants = vec![("WORKGROUP", self.workgroup)];
        constants.extend(more);
        KernelKey::new(kernel, parts, constants).by(&self.op)
    }

    /// What is said of values, and of offsets or keys.
    fn units(&self) -> Vec<(&'static str, u32)> {
        let (unit, words) = match &self.request.by {
            Segments::Rows(_) => (4, 1),
            Segments::Offsets { of, .. } | Segments::Keys(of) => (of.unit(), of.bytes() / of.unit()),
        };
        vec![("RUN_UNIT", unit), ("KEY_WORDS", words), ("RUN_WORDS", self.request.op.element().words())]
    }

    /// A kernel that takes tiles, which come before these blocks.
    fn tile_key(&self, kernel: &'static Kernel, parts: Vec<&'static str>) -> KernelKey {
        let heads = match &self.request.by {
            Segments::Offsets { .. } => vec!["segmented/offset", "segmented/offsets"],
            Segments::Rows(_) => vec!["segmented/rows"],
            Segments::Keys(_) => vec!["segmented/keys"],
        };
        let exclusive = u32::from(self.request.gives == Gives::Prefixes(ScanKind::Exclusive));
        let own = self.rows * self.request.op.element().words();
        let started = u32::from(self.request.initial.is_some());
        let shape = vec![("ROWS", self.rows), ("OWN_WORDS", own), ("EXCLUSIVE", exclusive), ("STARTED", started)];
        let constants = [shape, self.units(), Vec::from_iter(self.together)].concat();
        self.key(kernel, [vec!["segmented/tile"], heads, parts].concat(), constants)
    }

    /// The blocks that write a tile's results.
    fn store(&self) -> Vec<&'static str> {
        match (self.request.gives, &self.request.by) {
            (Gives::Prefixes(_), _) => vec!["segmented/store_scan"],
            (Gives::Total, Segments::Rows(_)) => vec!["segmented/store_totals", "segmented/ends_rows"],
            (Gives::Total, _) => vec!["segmented/store_totals", "segmented/ends_offsets"],
        }
    }

    /// A launch over the tiles.
    fn launch(&self, kernel: KernelKey, arguments: &[Argument]) -> Launch {
        let mut launch = tile_launch(kernel, self.tiles, self.workgroup * self.rows, arguments);
        launch.params.extend(bounds(self.request));
        launch.initial = Some(self.start());
        launch
    }

    /// Whether tiles have anything to read and to write.
    fn has_tiles(&self) -> bool {
        self.n > 0 && self.request.outputs() > 0
    }

    /// The longest chain of combines.
    fn depth(&self) -> u64 {
        u64::from(self.tiles) + u64::from(self.rows * self.workgroup)
    }

    /// The launch that writes what segments without elements give, if there may be some.
    fn empty(&self) -> Option<Step> {
        let Segments::Offsets { count, .. } = self.request.by else { return None };
        if self.request.gives != Gives::Total || count == 0 {
            return None;
        }
        let kernel = self.key(&EMPTY, vec!["segmented/offset"], self.units());
        let arguments: Vec<_> = arguments(self.request).into_iter().filter(|a| a.name != "input").collect();
        let mut launch = tile_launch(kernel, (count as u32).div_ceil(self.workgroup), 1, &arguments);
        launch.params.retain(|(name, _)| *name != "tiles");
        launch.params.push(("segments", Param::Word(count as u32)));
        launch.initial = Some(self.start());
        Some(Step::Launch(launch))
    }

    /// What is to be done, by these launches over the tiles.
    fn work(&self, scratch: Scratch, launches: Vec<Step>) -> Work {
        let steps = self.empty().into_iter().chain(launches).collect();
        Work::new(scratch, steps).depth(self.depth())
    }
}

/// How many segments there are, or how wide rows are.
fn bounds(request: &SegmentedRequest) -> Option<(&'static str, Param)> {
    match request.by {
        Segments::Offsets { count, .. } => Some(("segments", Param::Word(count as u32))),
        Segments::Rows(width) => Some(("width", Param::Word(width as u32))),
        Segments::Keys(_) => None,
    }
}
