//! Scan: one pass by decoupled look-back, or three launches where no workgroup may wait for another.

use super::{Pack, Planner, Scratch, algorithms, check_count, whole};
use crate::{
    Error, KernelKey, Language, Launch, Op, Param, Plan, Region, Request, Result, ScanKind, ScanRequest, Slot, Step,
};

impl Planner<'_> {
    pub(super) fn scan(&self, request: &ScanRequest) -> Result<Plan> {
        let ScanRequest { op, n, kind, initial } = request;
        let n = check_count(*n)?;
        self.caps.check_element(op.element())?;
        self.check_initial(op.element(), initial)?;
        let mut algorithm = self.algorithm(&Request::Scan(request.clone()))?;
        let bytes = u64::from(n) * u64::from(op.element().bytes());
        let spans = vec![(Slot::Input, bytes, op.element().align()), (Slot::Output, bytes, op.element().align())];
        // A helper that computes a stuck tile's aggregate must find the tile's input unchanged.
        if algorithm == "lookback" && self.layout.in_place && !self.caps.forward_progress {
            if self.options.algorithm.is_some() {
                return Err(Error::Unsupported(format!(
                    "lookback in place on {}: a stuck tile's input may be overwritten before a helper reads it; \
                     use reduce_then_scan, or two spans",
                    self.caps.device
                )));
            }
            algorithm = "reduce_then_scan";
        }
        if algorithm == "lookahead" && (self.layout.in_place || !self.layout.wide) {
            return Err(Error::Unsupported(
                "lookahead in place, or of spans that do not start at a multiple of 16 bytes with room to the next at their \
                 end: tiles are copied whole; use lookback"
                    .into(),
            ));
        }
        if self.options.algorithm.is_none() && self.looks_ahead(request) {
            algorithm = "lookahead";
        }
        let mut scratch = Scratch::default();
        let exclusive = *kind == ScanKind::Exclusive;
        let start = Some(initial.clone().unwrap_or_else(|| op.identity().to_vec()));
        let (input, output) = (whole(Slot::Input, bytes), whole(Slot::Output, bytes));
        if n == 0 {
            return self.finish(algorithm, scratch, vec![], spans, false, 0);
        }
        if self.caps.language == Language::Host {
            let launch = Launch {
                kernel: KernelKey {
                    name: "scan/parallel",
                    parts: vec![],
                    constants: vec![("EXCLUSIVE", u32::from(exclusive))],
                    element: Some(op.element().clone()),
                    op: Some(op.clone()),
                    selector: None,
                },
                groups: 1,
                bindings: vec![("input", input), ("output", output)],
                params: vec![("n", Param::Word(n))],
                initial: start,
            };
            return self.finish(algorithm, scratch, vec![Step::Launch(launch)], spans, false, u64::from(n));
        }
        match algorithm {
            "lookback" => return self.lookback(op, n, exclusive, start, spans),
            "lookahead" => return self.lookahead(op, n, exclusive, start, spans),
            _ => {}
        }
        let steps = self.reduce_then_scan(op, n, exclusive, start, input, output, &mut scratch)?;
        let tile = self.scan_tile(op, n, 8);
        let depth = u64::from(n.div_ceil(tile.elements)) + u64::from(tile.elements);
        self.finish(algorithm, scratch, steps, spans, true, depth)
    }

    /// Whether look-ahead is the fastest: for many elements whose tiles' states are one word, in tiles as large as
    /// tuned.
    fn looks_ahead(&self, request: &ScanRequest) -> bool {
        let op = &request.op;
        let can = algorithms(&Request::Scan(request.clone()), self.caps).contains(&"lookahead");
        can && self.waits_bounded()
            && self.state(op).is_word
            && request.n >= u64::from(self.tuning.lookahead_from)
            && self.layout.wide
            && !self.layout.in_place
            && self.ring(op).is_ok_and(|ring| ring.rows == self.tuning.lookahead_rows)
    }

    fn lookback(
        &self,
        op: &Op,
        n: u32,
        exclusive: bool,
        start: Option<Vec<u8>>,
        spans: Vec<(Slot, u64, u32)>,
    ) -> Result<Plan> {
        let tile = self.scan_tile(op, n, 32);
        let mut constants = tile.constants.clone();
        constants.extend(self.subgroup_constants(tile.workgroup)?);
        constants.extend(self.fault_constants());
        constants.extend([
            ("EXCLUSIVE", u32::from(exclusive)),
            ("FALLBACK", u32::from(self.waits_bounded() && !self.layout.in_place)),
            ("SPIN_LIMIT", self.tuning.spin_limit),
        ]);
        let native_sum = self.caps.language == Language::Wgsl && op.is_word_sum();
        let subgroup = if native_sum { "block/subgroup_scan_native" } else { self.subgroup_scan_part(op) };
        let tiles = n.div_ceil(tile.elements);
        let one = OnePass {
            algorithm: "lookback",
            kernel: "scan/lookback",
            parts: vec![
                tile.pack.load,
                tile.pack.store,
                tile.pack.fold,
                subgroup,
                self.state(op).part,
                "block/ticket",
                "block/lookback",
            ],
            constants,
            unit: tile.unit,
            tiles,
            groups: tiles,
            depth: u64::from(tiles + tile.elements / tile.workgroup + 64),
        };
        self.one_pass(one, op, n, start, spans)
    }

    /// One launch of blocks that stay, one a compute unit.
    fn lookahead(
        &self,
        op: &Op,
        n: u32,
        exclusive: bool,
        start: Option<Vec<u8>>,
        spans: Vec<(Slot, u64, u32)>,
    ) -> Result<Plan> {
        let pack = self.pack(op.element());
        let Ring { rows, stage_bytes, stages } = self.ring(op)?;
        let mut constants = vec![
            ("WORKGROUP", 32 * (2 + REDUCE_WARPS + SCAN_WARPS)),
            ("ROWS", rows),
            ("REDUCE_WARPS", REDUCE_WARPS),
            ("SCAN_WARPS", SCAN_WARPS),
            ("STAGES", stages),
            ("DYNAMIC_BYTES", stages * stage_bytes),
            ("EXCLUSIVE", u32::from(exclusive)),
            ("SPIN_LIMIT", self.tuning.spin_limit),
        ];
        constants.extend(self.subgroup_constants(32)?);
        constants.extend(self.fault_constants());
        let tiles = n.div_ceil(stage_bytes / op.element().bytes());
        let subgroup = self.subgroup_scan_part(op);
        let one = OnePass {
            algorithm: "lookahead",
            kernel: "scan/lookahead",
            parts: vec![
                pack.load,
                pack.store,
                pack.fold,
                subgroup,
                self.state(op).part,
                "block/ticket",
                "block/bulk_copy",
            ],
            constants,
            unit: pack.bytes,
            tiles,
            groups: tiles.min(self.caps.compute_units.max(1)),
            depth: u64::from(tiles + rows * pack.elements + 64),
        };
        self.one_pass(one, op, n, start, spans)
    }

    /// The ring of tiles that a look-ahead scan's block has: tiles as large as tuned, or as fit.
    fn ring(&self, op: &Op) -> Result<Ring> {
        const MOST_STAGES: u32 = 5;
        // One stage is loaded, one is scanned, one is stored.
        const FEWEST_STAGES: u32 = 3;
        // What the kernel declares beside its ring.
        const STATIC_BYTES: u32 = 2048;
        let pack = self.pack(op.element());
        let room = self.caps.bulk_shared_bytes.saturating_sub(STATIC_BYTES);
        let stage_bytes = |rows: u32| SCAN_WARPS * 32 * rows * pack.bytes;
        let mut rows = self.tuning.lookahead_rows;
        while rows > 2 && room / stage_bytes(rows) < FEWEST_STAGES {
            rows -= 2;
        }
        let stages = (room / stage_bytes(rows)).min(MOST_STAGES);
        if stages < FEWEST_STAGES {
            return Err(Error::Unsupported(format!(
                "lookahead on {}: {FEWEST_STAGES} tiles of {} bytes do not fit into {room} bytes of shared memory; use \
                 lookback",
                self.caps.device,
                stage_bytes(rows)
            )));
        }
        Ok(Ring { rows, stage_bytes: stage_bytes(rows), stages })
    }

    /// A scan in one launch, whose tiles tell each other of themselves.
    fn one_pass(
        &self,
        one: OnePass,
        op: &Op,
        n: u32,
        start: Option<Vec<u8>>,
        spans: Vec<(Slot, u64, u32)>,
    ) -> Result<Plan> {
        // As many tickets as a ticket's word can tell.
        if one.tiles + one.groups >= TICKETS {
            return Err(Error::Invalid(format!(
                "{n} elements are {} tiles, and {TICKETS} are too many; split the work",
                one.tiles
            )));
        }
        let mut scratch = Scratch::default();
        // The second word is what late tiles pass their time with.
        let ticket = scratch.take(8);
        let states = scratch.take(u64::from(one.tiles) * self.state(op).bytes);
        let launch = Launch {
            kernel: KernelKey {
                name: one.kernel,
                parts: one.parts,
                constants: one.constants,
                element: Some(op.element().clone()),
                op: Some(op.clone()),
                selector: None,
            },
            groups: one.groups,
            bindings: vec![
                ("input", whole(Slot::Input, spans[0].1)),
                ("output", whole(Slot::Output, spans[1].1)),
                ("states", states),
                ("ticket", ticket),
            ],
            params: vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(one.tiles)),
                ("input_offset", Param::Offset { binding: "input", unit: one.unit }),
                ("output_offset", Param::Offset { binding: "output", unit: one.unit }),
            ],
            initial: start,
        };
        let clear = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes() };
        let steps = vec![Step::Fill { region: clear, value: 0, once: true }, Step::Launch(launch)];
        self.finish(one.algorithm, scratch, steps, spans, true, one.depth)
    }

    pub(super) fn state(&self, op: &Op) -> TileState {
        // What has bulk copies (CUDA from sm_90 on) has 128-bit atomics.
        let atomics128 = self.caps.bulk_shared_bytes > 0;
        match op.element().words() {
            1 if self.caps.atomics64 => TileState { part: "block/state_word64", bytes: 8, is_word: true },
            2 if atomics128 => TileState { part: "block/state_word128", bytes: 16, is_word: true },
            words => TileState { part: "block/state_wide", bytes: 2 * 2 * 4 * u64::from(words), is_word: false },
        }
    }

    pub(super) fn subgroup_scan_part(&self, op: &Op) -> &'static str {
        match op.element().is_word() && self.caps.language != Language::OpenClC {
            true => "block/subgroup_scan",
            false => "block/subgroup_scan_words",
        }
    }

    /// Three launches: tile sums, their scan by one workgroup, and the tiles' scans. Reads the input twice.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn reduce_then_scan(
        &self,
        op: &Op,
        n: u32,
        exclusive: bool,
        start: Option<Vec<u8>>,
        input: Region,
        output: Region,
        scratch: &mut Scratch,
    ) -> Result<Vec<Step>> {
        let tile = self.scan_tile(op, n, 8);
        let tiles = n.div_ceil(tile.elements);
        let partials = scratch.take(u64::from(tiles) * u64::from(op.element().bytes()));
        let key = |name, parts: Vec<&'static str>, more: &[(&'static str, u32)]| KernelKey {
            name,
            parts,
            constants: tile.constants.iter().chain(more).copied().collect(),
            element: Some(op.element().clone()),
            op: Some(op.clone()),
            selector: None,
        };
        let sizes = [("n", Param::Word(n)), ("tiles", Param::Word(tiles))];
        let input_offset = ("input_offset", Param::Offset { binding: "input", unit: tile.unit });
        let output_offset = ("output_offset", Param::Offset { binding: "output", unit: tile.unit });
        let sum = Launch {
            kernel: key("scan/tile_reduce", vec![tile.pack.load, tile.pack.fold, "block/reduce"], &[("EXCLUSIVE", 0)]),
            groups: tiles,
            bindings: vec![("input", input), ("partials", partials)],
            params: sizes.into_iter().chain([input_offset]).collect(),
            initial: None,
        };
        let spine = Launch {
            kernel: key("scan/spine", vec!["block/scan"], &[]),
            groups: 1,
            bindings: vec![("partials", partials)],
            params: vec![("tiles", Param::Word(tiles))],
            initial: start,
        };
        let scan = Launch {
            kernel: key(
                "scan/tile_scan",
                vec![tile.pack.load, tile.pack.store, tile.pack.fold, "block/scan"],
                &[("EXCLUSIVE", u32::from(exclusive))],
            ),
            groups: tiles,
            bindings: vec![("input", input), ("output", output), ("partials", partials)],
            params: sizes.into_iter().chain([input_offset, output_offset]).collect(),
            initial: None,
        };
        Ok([sum, spine, scan].into_iter().map(Step::Launch).collect())
    }

    /// A scan's tile of about `words` 32-bit words an invocation, at most as tuned.
    fn scan_tile(&self, op: &Op, n: u32, words: u32) -> ScanTile {
        let pack = self.pack(op.element());
        let all = u64::from(n) * u64::from(op.element().words());
        let words = self.words(words.min(self.tuning.scan_words), all, self.tuning.scan_workgroup);
        let rows = (words / (pack.bytes / 4)).clamp(1, 16);
        // The block scans hold one element an invocation in workgroup memory.
        let mut workgroup = self.tuning.scan_workgroup;
        while workgroup > 32 && workgroup * op.element().bytes() * 2 > self.caps.shared_bytes {
            workgroup /= 2;
        }
        ScanTile {
            unit: pack.bytes,
            workgroup,
            elements: workgroup * rows * pack.elements,
            constants: vec![("WORKGROUP", workgroup), ("ROWS", rows)],
            pack,
        }
    }
}

/// A ticket's word has this above a tile's number.
pub(super) const TICKETS: u32 = 1 << 24;
/// Warps of a look-ahead block that publish aggregates.
const REDUCE_WARPS: u32 = 4;
/// Warps of a look-ahead block that scan.
const SCAN_WARPS: u32 = 16;

/// How a tile's state is held.
pub(super) struct TileState {
    pub(super) part: &'static str,
    pub(super) bytes: u64,
    /// Whether one access moves it.
    is_word: bool,
}

/// What a look-ahead scan's block holds in shared memory.
struct Ring {
    /// Packs of a scanning lane.
    rows: u32,
    /// Of a stage, which holds a tile.
    stage_bytes: u32,
    stages: u32,
}

/// What tells the scans of one launch apart.
struct OnePass {
    algorithm: &'static str,
    kernel: &'static str,
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
    /// Bytes of a pack.
    unit: u32,
    tiles: u32,
    groups: u32,
    depth: u64,
}

struct ScanTile {
    pack: Pack,
    unit: u32,
    workgroup: u32,
    elements: u32,
    constants: Vec<(&'static str, u32)>,
}
