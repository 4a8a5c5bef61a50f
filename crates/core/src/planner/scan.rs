//! Scan: one pass by decoupled look-back, or three launches where no workgroup may wait for another.

use super::{Pack, Planner, Scratch, algorithms, check_count, whole};
use crate::{KernelKey, Language, Launch, Op, Param, Plan, Region, Request, Result, ScanKind, ScanRequest, Slot, Step};

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
                return Err(crate::Error::Unsupported(format!(
                    "lookback in place on {}: a stuck tile's input may be overwritten before a helper reads it; \
                     use reduce_then_scan, or two spans",
                    self.caps.device
                )));
            }
            algorithm = "reduce_then_scan";
        }
        if algorithm == "lookahead" && (self.layout.in_place || !self.layout.wide) {
            return Err(crate::Error::Unsupported(
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

    /// Whether look-ahead is the fastest. Of wider elements than a word its states are too: look-back is faster.
    fn looks_ahead(&self, request: &ScanRequest) -> bool {
        let can = algorithms(&Request::Scan(request.clone()), self.caps).contains(&"lookahead");
        let large = request.op.element().is_word() && request.n >= u64::from(self.tuning.lookahead_from);
        can && large && self.layout.wide && !self.layout.in_place
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
        let tiles = n.div_ceil(tile.elements);
        let (state, ticket, states, scratch) = self.scan_states(op, tiles);
        let mut constants = tile.constants.clone();
        constants.extend(self.subgroup_constants(tile.workgroup)?);
        constants.extend(self.fault_constants());
        constants.extend([
            ("EXCLUSIVE", u32::from(exclusive)),
            ("FALLBACK", u32::from(!self.layout.in_place)),
            ("SPIN_LIMIT", self.tuning.spin_limit),
        ]);
        let native_sum = self.caps.language == Language::Wgsl && op.is_word_sum();
        let subgroup = if native_sum { "block/subgroup_scan_native" } else { self.subgroup_scan_part(op) };
        let (input, output) = (spans[0].1, spans[1].1);
        let launch = Launch {
            kernel: KernelKey {
                name: "scan/lookback",
                parts: vec![tile.pack.load, tile.pack.store, tile.pack.fold, subgroup, state, "block/lookback"],
                constants,
                element: Some(op.element().clone()),
                op: Some(op.clone()),
            },
            groups: tiles,
            bindings: vec![
                ("input", whole(Slot::Input, input)),
                ("output", whole(Slot::Output, output)),
                ("states", states),
                ("ticket", ticket),
            ],
            params: vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(tiles)),
                ("input_offset", Param::Offset { binding: "input", unit: tile.unit }),
                ("output_offset", Param::Offset { binding: "output", unit: tile.unit }),
            ],
            initial: start,
        };
        let clear = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes() };
        let steps = vec![Step::Fill { region: clear, value: 0, once: false }, Step::Launch(launch)];
        let depth = u64::from(tiles + tile.elements / tile.workgroup + 64);
        self.finish("lookback", scratch, steps, spans, true, depth)
    }

    /// The block of a tile's state, and where tickets and states lie. The ticket's second word is what late tiles pass their
    /// time with.
    fn scan_states(&self, op: &Op, tiles: u32) -> (&'static str, Region, Region, Scratch) {
        let word64 = op.element().is_word() && self.caps.atomics64;
        let (state, bytes) = match word64 {
            true => ("block/state_word64", 8),
            false => ("block/state_wide", 2 * 2 * 4 * u64::from(op.element().words())),
        };
        let mut scratch = Scratch::default();
        let ticket = scratch.take(8);
        let states = scratch.take(u64::from(tiles) * bytes);
        (state, ticket, states, scratch)
    }

    fn subgroup_scan_part(&self, op: &Op) -> &'static str {
        match op.element().is_word() && self.caps.language != Language::OpenClC {
            true => "block/subgroup_scan",
            false => "block/subgroup_scan_words",
        }
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
        const REDUCE_WARPS: u32 = 4;
        const SCAN_WARPS: u32 = 16;
        const MOST_STAGES: u32 = 5;
        // What the kernel declares beside its ring.
        const STATIC_BYTES: u32 = 2048;
        let pack = self.pack(op.element());
        let mut rows = self.tuning.lookahead_rows;
        let ring = self.caps.bulk_shared_bytes.saturating_sub(STATIC_BYTES);
        // One stage is loaded, one is scanned, one is stored.
        while rows > 2 && ring / (SCAN_WARPS * 32 * rows * pack.bytes) < 3 {
            rows -= 2;
        }
        let stage = SCAN_WARPS * 32 * rows * pack.bytes;
        let stages = (ring / stage).min(MOST_STAGES);
        if stages < 3 {
            return Err(crate::Error::Unsupported(format!(
                "lookahead on {}: three tiles of {stage} bytes do not fit into {ring} bytes of shared memory; use lookback",
                self.caps.device
            )));
        }
        let tile = SCAN_WARPS * 32 * rows * pack.elements;
        let tiles = n.div_ceil(tile);
        let (state, ticket, states, scratch) = self.scan_states(op, tiles);
        let mut constants = vec![
            ("WORKGROUP", 32 * (2 + REDUCE_WARPS + SCAN_WARPS)),
            ("ROWS", rows),
            ("REDUCE_WARPS", REDUCE_WARPS),
            ("SCAN_WARPS", SCAN_WARPS),
            ("STAGES", stages),
            ("RING_BYTES", stages * stage),
            ("EXCLUSIVE", u32::from(exclusive)),
            ("SPIN_LIMIT", self.tuning.spin_limit),
        ];
        constants.extend(self.subgroup_constants(32)?);
        constants.extend(self.fault_constants());
        let launch = Launch {
            kernel: KernelKey {
                name: "scan/lookahead",
                parts: vec![pack.load, pack.store, pack.fold, self.subgroup_scan_part(op), state, "block/bulk_copy"],
                constants,
                element: Some(op.element().clone()),
                op: Some(op.clone()),
            },
            groups: tiles.min(self.caps.compute_units.max(1)),
            bindings: vec![
                ("input", whole(Slot::Input, spans[0].1)),
                ("output", whole(Slot::Output, spans[1].1)),
                ("states", states),
                ("ticket", ticket),
            ],
            params: vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(tiles)),
                ("input_offset", Param::Offset { binding: "input", unit: pack.bytes }),
                ("output_offset", Param::Offset { binding: "output", unit: pack.bytes }),
            ],
            initial: start,
        };
        let clear = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes() };
        let steps = vec![Step::Fill { region: clear, value: 0, once: false }, Step::Launch(launch)];
        let depth = u64::from(tiles + rows * pack.elements + 64);
        self.finish("lookahead", scratch, steps, spans, true, depth)
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

struct ScanTile {
    pack: Pack,
    unit: u32,
    workgroup: u32,
    elements: u32,
    constants: Vec<(&'static str, u32)>,
}
