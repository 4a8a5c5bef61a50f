//! Scan: one pass by decoupled look-back, or several launches where no workgroup may wait for another.

use super::passes::Job;
use super::{
    Pack, Planner, Scratch, algorithms, check_count, clean_once, follows_arrival, reaches, whole, without_steps,
    words_of,
};
use crate::plan::PlannedSpan;
use crate::{
    DeviceKind, Error, KernelKey, Language, Launch, Op, Param, Plan, Region, Request, Result, ScanKind, ScanRequest,
    Slot, Step,
};

impl Planner<'_> {
    pub(super) fn scan(&self, request: &ScanRequest) -> Result<Plan> {
        let ScanRequest { op, n, kind, initial } = request;
        let n = check_count(*n)?;
        self.caps.check_element(op.element())?;
        self.check_initial(op.element(), initial)?;
        let mut algorithm = self.algorithm(&Request::Scan(request.clone()))?;
        let bytes = u64::from(n) * u64::from(op.element().bytes());
        let spans = [Slot::Input, Slot::Output].map(|slot| PlannedSpan::new(slot, bytes, op.element().align())).into();
        // A helper that computes a stuck tile's aggregate must find the tile's input unchanged.
        if follows_arrival(algorithm) && self.layout.in_place && !self.caps.forward_progress {
            if self.options.algorithm.is_some() {
                return Err(Error::Unsupported(format!(
                    "{algorithm} in place on {}: a stuck tile's input may be overwritten before a helper reads it; \
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
        } else if self.options.algorithm.is_none() && algorithm == "lookback" && self.looks_ahead_by_registers(request)
        {
            algorithm = "lookahead_registers";
        }
        let mut scratch = Scratch::default();
        let exclusive = *kind == ScanKind::Exclusive;
        let start = initial.clone().unwrap_or_else(|| op.identity().to_vec());
        let (input, output) = (whole(Slot::Input, bytes), whole(Slot::Output, bytes));
        if n == 0 {
            return self.finish(algorithm, scratch, vec![], spans, 0);
        }
        if self.caps.language == Language::Host {
            let launch = Launch {
                kernel: KernelKey {
                    name: "scan/parallel",
                    parts: vec![],
                    constants: vec![
                        ("EXCLUSIVE", u32::from(exclusive)),
                        ("SEQUENTIAL", u32::from(algorithm == "sequential")),
                    ],
                    element: Some(op.element().clone()),
                    op: Some(op.clone()),
                    selector: None,
                },
                groups: 1,
                bindings: vec![("input", input), ("output", output)],
                params: vec![("n", Param::Word(n))],
                initial: Some(start),
            };
            return self.finish(algorithm, scratch, vec![Step::Launch(launch)], spans, u64::from(n));
        }
        match algorithm {
            _ if follows_arrival(algorithm) => return self.lookback(algorithm, op, n, exclusive, start, spans),
            "lookahead" => return self.lookahead(op, n, exclusive, start, spans),
            _ => {}
        }
        let job = Job { op, n, exclusive, start, input, output };
        let (steps, depth) = self.passes(algorithm, &job, &mut scratch)?;
        self.finish(algorithm, scratch, steps, spans, depth)
    }

    /// Whether look-ahead is the fastest: for many elements whose tiles' states are one word, in tiles as large as
    /// tuned.
    fn looks_ahead(&self, request: &ScanRequest) -> bool {
        let op = &request.op;
        let can = algorithms(&Request::Scan(request.clone()), self.caps).contains(&"lookahead");
        can && self.waits_bounded()
            && self.state(op).is_word
            && reaches(words_of(request.n, op.element()), self.tuning.lookahead_from)
            && self.layout.wide
            && !self.layout.in_place
            && self.ring(op).is_ok_and(|ring| ring.rows == self.tuning.lookahead_rows)
    }

    /// Whether look-ahead by registers is the fastest: for many elements of one or two words, whose states are read at once.
    fn looks_ahead_by_registers(&self, request: &ScanRequest) -> bool {
        let can = algorithms(&Request::Scan(request.clone()), self.caps).contains(&"lookahead_registers");
        can && self.waits_bounded()
            && self.caps.atomics64
            && request.op.element().words() <= 2
            && reaches(words_of(request.n, request.op.element()), self.tuning.lookahead_registers_from)
            && request.n.try_into().is_ok_and(|n| {
                let workgroup = self.tuning.lookahead_registers_workgroup;
                self.check_registers_turns(&request.op, n, &self.scan_tile(&request.op, n, 32, workgroup)).is_ok()
            })
    }

    /// One launch of a workgroup a tile, or of workgroups that stay, which look back as the algorithm does.
    fn lookback(
        &self,
        algorithm: &'static str,
        op: &Op,
        n: u32,
        exclusive: bool,
        start: Vec<u8>,
        spans: Vec<PlannedSpan>,
    ) -> Result<Plan> {
        let tile = self.scan_tile(op, n, 32, self.lookback_workgroup(algorithm, op, n));
        let tiles = n.div_ceil(tile.elements);
        let way = self.way(algorithm, op, tiles)?;
        let stays = matches!(way, Way::Registers | Way::Chunks(_));
        if stays {
            self.check_registers_turns(op, n, &tile)?;
        }
        let state = match way {
            Way::Fenced | Way::FencedInStep => self.fenced_state(op, way == Way::FencedInStep),
            _ => self.state(op),
        };
        let mut constants = tile.constants.clone();
        constants.extend(self.subgroup_constants(tile.workgroup)?);
        constants.extend(self.fault_constants());
        constants.extend([
            ("EXCLUSIVE", u32::from(exclusive)),
            ("FALLBACK", u32::from(self.waits_bounded() && !self.layout.in_place)),
            ("SPIN_LIMIT", self.patience(way)),
        ]);
        constants.extend(way.constant());
        // CUDA's kernel has no such bound.
        let is_many = reaches(words_of(n, op.element()), self.tuning.scan_resident_from);
        if way == Way::Subgroup && self.caps.language == Language::OpenClC && is_many {
            constants.extend(self.registers_for(tile.workgroup, self.tuning.scan_resident));
        }
        let mut parts = vec![tile.pack.load, tile.pack.store, tile.pack.fold, self.subgroup_scan_of(op)];
        parts.extend(way.parts(state.part));
        let one = OnePass {
            algorithm,
            kernel: way.kernel(),
            parts,
            state_bytes: state.bytes,
            values: way == Way::FencedInStep,
            constants,
            unit: tile.unit,
            tiles,
            groups: if stays { tiles.min(self.resident(self.tuning.lookahead_registers_groups)) } else { tiles },
            stays,
            depth: u64::from(tiles + tile.elements / tile.workgroup + 64),
        };
        self.one_pass(one, op, n, start, spans)
    }

    /// How the tiles of an algorithm look back.
    fn way(&self, algorithm: &str, op: &Op, tiles: u32) -> Result<Way> {
        Ok(match algorithm {
            "chained_scan" => Way::Serial { chained: true },
            "lookback_serial" => Way::Serial { chained: false },
            // WGSL's only fence is a barrier, which the published descriptor's kernel has a body of its own for.
            "lookback_fenced" if self.caps.language == Language::Wgsl => Way::FencedInStep,
            "lookback_fenced" => Way::Fenced,
            "lookahead_registers" => match self.chunks(op) {
                0 => Way::Registers,
                chunks => Way::Chunks(chunks),
            },
            "lookback" => match self.lookback_windows(op, tiles) {
                1 => Way::Subgroup,
                windows => Way::Windows(windows),
            },
            other => return Err(without_steps(other)),
        })
    }

    /// As often as a tile polls another's state before it helps.
    fn patience(&self, way: Way) -> u32 {
        match way {
            // Software devices have other things to do than to wait, and Mesa's end a loop after 65535 turns.
            Way::Serial { chained: true } if self.caps.kind != DeviceKind::Cpu => CHAIN_PATIENCE,
            // Whoever is behind a stuck tile's chunk waits too, so that helping sooner pays.
            Way::Chunks(_) => (self.polls(1) / 4).max(1),
            _ => self.polls(1),
        }
    }

    /// The chunks of states that look-ahead by registers reads at once, or 0 where it goes from tile to tile. A chunk is a subgroup's
    /// width, of which all workgroups must agree; and the states of wider elements are too many loads at a time.
    fn chunks(&self, op: &Op) -> u32 {
        let agree = self.caps.subgroups.is_some_and(|s| s.min == s.max);
        if agree && op.element().words() == 1 { self.tuning.lookahead_registers_chunks } else { 0 }
    }

    /// Whether a workgroup that takes all tiles, as it may where few run at a time, ends its loops itself.
    fn check_registers_turns(&self, op: &Op, n: u32, tile: &ScanTile) -> Result<()> {
        let Some(subgroups) = self.caps.subgroups else { return Ok(()) };
        let [words, steps] = [op.element().words(), 32 - subgroups.max.leading_zeros()].map(u64::from);
        let chunks = u64::from(self.chunks(op).max(1));
        let rows = u64::from(tile.elements / tile.workgroup / tile.pack.elements);
        // What a row's scan, a tile's totals and a few windows of states turn.
        let turns = rows * (4 + steps * (1 + words))
            + u64::from(tile.workgroup / subgroups.min.max(1))
            + 4 * chunks * (3 + steps * (1 + words))
            + 16;
        let tiles = u64::from(n.div_ceil(tile.elements));
        self.check_turns("lookahead_registers", tiles * turns, "one workgroup may take all tiles", "lookback")
    }

    /// One launch of blocks that stay, one a compute unit.
    fn lookahead(&self, op: &Op, n: u32, exclusive: bool, start: Vec<u8>, spans: Vec<PlannedSpan>) -> Result<Plan> {
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
            ("SPIN_LIMIT", self.polls(self.tuning.lookahead_patience)),
            ("WARD_POLLS", self.polls(self.tuning.lookahead_ward_patience)),
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
            state_bytes: self.state(op).bytes,
            values: false,
            constants,
            unit: pack.bytes,
            tiles,
            groups: tiles.min(self.resident(1)),
            stays: false,
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
    fn one_pass(&self, one: OnePass, op: &Op, n: u32, start: Vec<u8>, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let mut scratch = Scratch::default();
        let mut bindings = vec![("input", spans[0].whole()), ("output", spans[1].whole())];
        bindings.extend(tile_states(n, one.tiles, one.groups, one.state_bytes, &mut scratch)?);
        if one.values {
            bindings.push(("values", scratch.take(2 * u64::from(one.tiles) * u64::from(op.element().bytes()))));
        }
        let mut params = vec![("n", Param::Word(n)), ("tiles", Param::Word(one.tiles))];
        if one.stays {
            params.push(("groups", Param::Word(one.groups)));
        }
        params.extend([
            ("input_offset", Param::Offset { binding: "input", unit: one.unit }),
            ("output_offset", Param::Offset { binding: "output", unit: one.unit }),
        ]);
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
            bindings,
            params,
            initial: Some(start),
        };
        let steps = clean_once(&scratch, launch);
        self.finish(one.algorithm, scratch, steps, spans, one.depth)
    }

    /// The published descriptor: a status beside an aggregate and a prefix.
    fn fenced_state(&self, op: &Op, values_apart: bool) -> TileState {
        let values = if values_apart { 0 } else { 2 * 4 * u64::from(op.element().words()) };
        TileState { part: "block/state_fenced", bytes: 4 + values, is_word: false }
    }

    pub(super) fn state(&self, op: &Op) -> TileState {
        match op.element().words() {
            1 if self.caps.atomics64 => TileState { part: "block/state_word64", bytes: 8, is_word: true },
            2 if self.caps.atomics128 => TileState { part: "block/state_word128", bytes: 16, is_word: true },
            words if self.caps.atomics64 => {
                TileState { part: "block/state_words64", bytes: 2 * 8 * u64::from(words), is_word: false }
            }
            words => TileState { part: "block/state_wide", bytes: 2 * 2 * 4 * u64::from(words), is_word: false },
        }
    }

    pub(super) fn subgroup_scan_part(&self, op: &Op) -> &'static str {
        match op.element().is_word() && self.caps.language != Language::OpenClC {
            true => "block/subgroup_scan",
            // As much workgroup memory as the elements are: little beside the 16 KiB that any device has.
            false if self.caps.emulates_subgroups() && op.element().words() <= 8 => "block/subgroup_scan_staged",
            false => "block/subgroup_scan_words",
        }
    }

    /// A large workgroup where its tiles are many, and of elements of one word: more registers would be too many. And where tiles as
    /// small as they get are too many for a subgroup to look back at at once.
    fn lookback_workgroup(&self, algorithm: &str, op: &Op, n: u32) -> u32 {
        if algorithm == "lookahead_registers" {
            return self.tuning.lookahead_registers_workgroup;
        }
        let (small, large) = (self.tuning.scan_workgroup, self.tuning.scan_workgroup_many);
        let units = u64::from(self.caps.compute_units);
        let is_word = op.element().is_word();
        if is_word && u64::from(n) >= (units * u64::from(large)).saturating_mul(self.tuning.scan_many_each.into()) {
            return large;
        }
        let words = words_of(n, op.element());
        let smallest = u64::from(self.tuning.words_least) * u64::from(small);
        let crowded = words > u64::from(self.widest_subgroup()) * smallest && words <= units * smallest;
        // NVIDIA's OpenCL runs no kernel of so many registers in large workgroups.
        let can = is_word || self.caps.language == Language::CudaC;
        let looks = algorithm == "lookback" && self.caps.kind != DeviceKind::Cpu;
        if looks && can && crowded { small.max(large) } else { small }
    }

    /// States that a lane reads at once when it looks back: several if one turn is then enough.
    fn lookback_windows(&self, op: &Op, tiles: u32) -> u32 {
        let windows = self.tuning.scan_window;
        let lanes = self.widest_subgroup();
        let one_turn = lanes < tiles && u64::from(tiles) <= u64::from(windows) * u64::from(lanes);
        let can = self.caps.language == Language::CudaC && op.element().is_word() && self.state(op).is_word;
        if can && one_turn { windows } else { 1 }
    }

    /// A scan's tile of about `words` 32-bit words an invocation, at most as tuned.
    pub(super) fn scan_tile(&self, op: &Op, n: u32, words: u32, workgroup: u32) -> ScanTile {
        let pack = self.pack(op.element());
        let all = words_of(n, op.element());
        let mut words = self.words(words.min(self.tuning.scan_words), all, workgroup);
        // Elements of several words have fewer to a tile, and more tiles then keep more loads in flight: four a compute unit.
        if op.element().words() > 1 {
            words = words.min(self.words(words, all / 4, workgroup).max(16));
        }
        let rows = (words / (pack.bytes / 4)).clamp(1, 16);
        // The block scans hold two elements an invocation in workgroup memory.
        let workgroup = self.workgroup_within_half(workgroup, op.element());
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
const TICKETS: u32 = 1 << 24;
/// A chained scan waits for its predecessor's prefix, whose turn may be far away: else it would look back.
const CHAIN_PATIENCE: u32 = 4096;
/// Warps of a look-ahead block that publish aggregates.
const REDUCE_WARPS: u32 = 4;
/// Warps of a look-ahead block that scan.
const SCAN_WARPS: u32 = 16;

/// The blocks by which a workgroup takes a tile and publishes its aggregate.
const ANNOUNCE: [&str; 3] = ["block/ticket", "block/tile_totals", "block/tile_announce"];

/// The block that finds what lies before a tile so that it does not depend on which tiles come first.
pub(crate) const TILE_CHUNKS: &str = "block/tile_chunks";

/// The blocks by which a subgroup looks back.
const LOOKBACK: [&str; 2] = ["block/lookback_fold", "block/lookback"];

/// The blocks that find what lies before a tile, by the states of this block.
pub(super) fn tile_prefix(state: &'static str) -> Vec<&'static str> {
    [&[state], &ANNOUNCE[..], &LOOKBACK[..], &["block/tile_prefix"]].concat()
}

/// What the tiles of one launch tell each other through: a ticket, and a state for each.
///
/// # Errors
/// [`Error::Invalid`] if there are more tickets than a ticket's word can tell.
pub(super) fn tile_states(
    n: u32,
    tiles: u32,
    groups: u32,
    state_bytes: u64,
    scratch: &mut Scratch,
) -> Result<[(&'static str, Region); 2]> {
    if tiles + groups >= TICKETS {
        return Err(Error::Invalid(format!(
            "{n} elements are {tiles} tiles, and {TICKETS} tickets are too few; split the work"
        )));
    }
    // The second word is what late tiles pass their time with.
    let ticket = scratch.take(8);
    let states = scratch.take(u64::from(tiles) * state_bytes);
    Ok([("states", states), ("ticket", ticket)])
}

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

/// How the tiles of a scan in one launch look back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One invocation reads state after state, or waits for the tile before its own alone.
    Serial { chained: bool },
    /// A subgroup reads as many states as it has lanes.
    Subgroup,
    /// And so many times as many at once.
    Windows(u32),
    /// By the published descriptor, a status beside its values.
    Fenced,
    /// In step, with barriers for fences.
    FencedInStep,
    /// Workgroups that stay publish the next tile first, and look back from tile to tile.
    Registers,
    /// And by so many chunks of states at once.
    Chunks(u32),
}

impl Way {
    fn kernel(self) -> &'static str {
        match self {
            Way::Registers | Way::Chunks(_) => "scan/lookahead_registers",
            Way::FencedInStep => "scan/lookback_fenced",
            Way::Serial { .. } | Way::Subgroup | Way::Fenced | Way::Windows(_) => "scan/lookback",
        }
    }

    fn constant(self) -> Option<(&'static str, u32)> {
        match self {
            Way::Serial { chained } => Some(("CHAINED", u32::from(chained))),
            Way::Windows(windows) => Some(("WINDOWS", windows)),
            Way::Chunks(chunks) => Some(("CHUNKS", chunks)),
            Way::Subgroup | Way::Fenced | Way::FencedInStep | Way::Registers => None,
        }
    }

    /// The blocks for it, by the states of this one.
    fn parts(self, state: &'static str) -> Vec<&'static str> {
        match self {
            Way::Serial { .. } => vec![state, "block/ticket", "block/lookback_serial"],
            // Its kernel has the blocks' steps in its own text: see docs/PERFORMANCE.md.
            Way::Subgroup | Way::Fenced => [&[state, "block/ticket"], &LOOKBACK[..]].concat(),
            Way::Windows(_) => vec![state, "block/ticket", "block/lookback_fold", "block/lookback_windows"],
            Way::FencedInStep => vec!["block/ticket", "block/tile_totals", "block/lookback_fold", "block/tile_rows"],
            Way::Registers => [&tile_prefix(state)[..], &["block/tile_rows"]].concat(),
            Way::Chunks(_) => [&[state], &ANNOUNCE[..], &[TILE_CHUNKS, "block/tile_rows"]].concat(),
        }
    }
}

/// What tells the scans of one launch apart.
struct OnePass {
    algorithm: &'static str,
    kernel: &'static str,
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
    /// Bytes of a tile's state.
    state_bytes: u64,
    /// Whether the states' values have a buffer of their own.
    values: bool,
    /// Bytes of a pack.
    unit: u32,
    tiles: u32,
    groups: u32,
    /// Whether the kernel is told how many workgroups there are, which stay and take tile after tile.
    stays: bool,
    depth: u64,
}

/// How large a tile is.
pub(super) struct ScanTile {
    pub(super) pack: Pack,
    /// Bytes of a pack.
    pub(super) unit: u32,
    pub(super) workgroup: u32,
    pub(super) elements: u32,
    pub(super) constants: Vec<(&'static str, u32)>,
}
