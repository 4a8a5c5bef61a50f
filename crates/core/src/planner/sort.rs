//! Sort: Onesweep, by buckets or within one workgroup where keys are few, or upsweep, scan and downsweep where no workgroup may wait
//! for another.

use super::passes::Job as ScanJob;
use super::sort_local::moved_words;
use super::{Planner, Scratch, check_count, offset, without_steps};
use crate::plan::PlannedSpan;
use crate::{
    Builtin, DeviceKind, Error, KernelKey, Language, Launch, Op, Order, Param, Plan, Region, Request, Result, Scalar,
    Slot, SortRequest, Step,
};

/// Bits of a digit place.
const DIGIT_BITS: u32 = 8;
/// Values of a digit.
pub(super) const DIGITS: u32 = 1 << DIGIT_BITS;
/// A count beside its state's three bits in 32 bits is smaller.
const COUNT_LIMIT: u32 = 1 << 29;
/// Bytes of a tile's states: a word a digit.
const STATES: u32 = DIGITS * 4;
/// Rows of a part of a tile that are scattered at once in WGSL: of more, registers.
const BATCH: u32 = 4;
/// So many tiles' states a sort may have whatever its size.
const FEW_TILES: u32 = 44;

pub(super) struct Job {
    pub(super) n: u32,
    digit_bits: u32,
    pub(super) places: u32,
    pub(super) key_bytes: u32,
    pub(super) value_bytes: u32,
    pub(super) constants: Vec<(&'static str, u32)>,
    pub(super) key_part: &'static str,
    value_part: &'static str,
}

impl Job {
    /// The tiles whose states take no more than 3.9% of the data's size, and those of [`FEW_TILES`].
    fn affordable_tiles(&self) -> u64 {
        let data = u64::from(self.n) * u64::from(self.key_bytes + self.value_bytes);
        data / 1000 * 39 / u64::from(STATES) + u64::from(FEW_TILES)
    }

    /// The tiles of a pass that share states, of `tiles` of `tile` keys: as many as can be afforded, and of fewer than 2^29 keys.
    fn portion(&self, tile: u32, tiles: u32) -> u32 {
        let most = self.affordable_tiles().min(u64::from((COUNT_LIMIT - 1) / tile)).max(1);
        // Of about one size.
        tiles.div_ceil(u64::from(tiles).div_ceil(most) as u32)
    }
}

/// Keys in order of some places.
pub(super) struct Partition {
    pub(super) steps: Vec<Step>,
    /// Where each digit of each place begins, place after place.
    pub(super) counts: Region,
    /// The second buffer.
    pub(super) temp: Region,
    pub(super) temp_values: Region,
}

/// What a workgroup of Onesweep takes at a time.
struct Tile {
    workgroup: u32,
    /// Of an invocation.
    keys: u32,
    /// Workgroups that a compute unit should hold at once.
    resident: u32,
    /// Parts that go through workgroup memory one after the other, in WGSL.
    parts: u32,
}

/// How a histogram's launch is shaped.
struct Counting {
    workgroup: u32,
    items: u32,
    /// Copies of a workgroup's counts, a power of two.
    copies: u32,
    groups: u32,
}

impl Planner<'_> {
    pub(super) fn sort(&self, request: &SortRequest) -> Result<Plan> {
        let n = check_count(request.n)?;
        let key_bytes = request.key.bytes();
        let value_bytes = request.value.as_ref().map_or(0, |v| v.bytes());
        let algorithm = match self.options.algorithm {
            // Refused with its own reason where keys are too many.
            Some("one_tile") if self.caps.subgroups.is_some() => "one_tile",
            Some("merge_tile") if self.caps.language != Language::Host => "merge_tile",
            _ => self.algorithm(&Request::Sort(request.clone()))?,
        };
        let algorithm = match algorithm {
            "onesweep" if self.options.algorithm.is_none() && !self.has_room_for_ranks() => "upsweep_downsweep",
            other => other,
        };
        let mut spans = vec![
            PlannedSpan::new(Slot::Input, u64::from(n) * u64::from(key_bytes), key_bytes),
            PlannedSpan::new(Slot::Output, u64::from(n) * u64::from(key_bytes), key_bytes),
        ];
        if value_bytes > 0 {
            let bytes = u64::from(n) * u64::from(value_bytes);
            spans.extend([
                PlannedSpan::new(Slot::InputValues, bytes, 4),
                PlannedSpan::new(Slot::OutputValues, bytes, 4),
            ]);
        }
        if n == 0 {
            return self.finish(algorithm, Scratch::default(), vec![], spans, 0);
        }
        let kind = match request.key {
            Scalar::U32 | Scalar::U64 => 0,
            Scalar::I32 | Scalar::I64 => 1,
            Scalar::F32 | Scalar::F64 => 2,
        };
        let digit_bits = match algorithm {
            "split" => 1,
            "upsweep_downsweep_4bit" => 4,
            _ => DIGIT_BITS,
        };
        let constants = vec![
            ("KEY_KIND", kind),
            ("DESCENDING", u32::from(request.order == Order::Descending)),
            ("PLACES", key_bytes),
            ("KEY_WORDS", key_bytes / 4),
            ("DIGIT_BITS", digit_bits),
            ("VALUE_WORDS", value_bytes / 4),
        ];
        let job = Job {
            n,
            digit_bits,
            places: key_bytes * 8 / digit_bits,
            key_bytes,
            value_bytes,
            constants,
            key_part: if key_bytes == 4 { "block/key1" } else { "block/key2" },
            value_part: match (self.caps.language, value_bytes) {
                (Language::Wgsl, 0) => "block/scatter_none",
                (Language::Wgsl, _) => "block/scatter_values",
                (_, 0) => "block/values_none",
                _ => "block/values",
            },
        };
        if self.caps.language == Language::Host {
            return self.sort_on_host(algorithm, job, spans);
        }
        match algorithm {
            _ if self.options.algorithm.is_none() && self.prefers_merging(&job) => self.merge_tile(&job, spans),
            "merge_tile" => self.merge_tile(&job, spans),
            "onesweep" if self.options.algorithm.is_none() && self.prefers_one_tile(&job) => self.one_tile(&job, spans),
            "onesweep" if self.options.algorithm.is_none() && self.prefers_buckets(request, &job) => {
                self.hybrid(&job, spans)
            }
            "hybrid" => self.hybrid(&job, spans),
            "one_tile" => self.one_tile(&job, spans),
            "onesweep" => self.onesweep(&job, spans),
            "msd_first" => self.msd_first(&job, spans),
            "upsweep_downsweep" | "upsweep_downsweep_4bit" | "split" => self.upsweep_downsweep(algorithm, job, spans),
            other => Err(without_steps(other)),
        }
    }

    fn sort_on_host(&self, algorithm: &'static str, job: Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let launch = Launch {
            kernel: KernelKey {
                name: "sort/parallel",
                parts: vec![],
                constants: job.constants,
                element: None,
                op: None,
                selector: None,
            },
            groups: 1,
            bindings: ["input", "output", "input_values", "output_values"]
                .into_iter()
                .zip(spans.iter().map(PlannedSpan::whole))
                .collect(),
            params: vec![("n", Param::Word(job.n))],
            initial: None,
        };
        self.finish(algorithm, Scratch::default(), vec![Step::Launch(launch)], spans, 0)
    }

    /// Whether the smallest tile that is ranked by subgroups, of any kind of keys, fits workgroup memory.
    fn has_room_for_ranks(&self) -> bool {
        let workgroup = self.narrowest_ranking();
        self.room_for_ranks(workgroup, 4 * workgroup)
    }

    /// Whether workgroup memory holds the subgroups' counts of each digit, and so many words of a tile.
    fn room_for_ranks(&self, workgroup: u32, words: u32) -> bool {
        // Four arrays of a word a digit or less, and an emulated subgroup's word an invocation.
        let more = 4 * DIGITS * 4 + workgroup * 4;
        sort_shared_bytes(workgroup, words, self.narrowest_subgroup()) + more <= self.ranking_room()
    }

    /// Words of a tile that are in workgroup memory at a time: one of each key, in WGSL all that move of a part of the keys.
    fn exchanged_words(&self, job: &Job, tile: &Tile) -> u32 {
        match self.caps.language {
            Language::Wgsl => moved_words(job) * tile.workgroup * tile.keys.div_ceil(tile.parts),
            _ => tile.workgroup * tile.keys,
        }
    }

    fn sort_tile(&self, job: &Job) -> Result<Tile> {
        let t = self.tuning;
        let (workgroup, mut keys, resident, parts) = match (job.key_bytes, job.value_bytes) {
            (4, 0) => (t.sort_workgroup, t.sort_keys, t.sort_resident, t.sort_parts),
            (4, _) => (t.pairs_workgroup, t.sort_pairs, t.pairs_resident, t.pairs_parts),
            (_, 0) => (t.sort64_workgroup, t.sort_keys64, t.sort64_resident, t.sort64_parts),
            // Values are more to hold.
            _ => (t.sort64_workgroup, (t.sort_keys64 * 3 / 4).max(1), t.sort64_resident, t.sort64_parts),
        };
        // Where tiles are not many, a wave of large ones that is not full shows. One portion must do for them.
        let a_wave = u64::from(self.caps.compute_units) * u64::from(workgroup * keys);
        for (most, tuned) in [(t.sort_few_tiles, t.sort_keys_few), (t.sort_middling_tiles, t.sort_keys_middling)] {
            let fewer = keys.min(tuned);
            let tiles = job.n.div_ceil(workgroup * fewer);
            if u64::from(job.n) <= a_wave.saturating_mul(most.into()) && job.portion(workgroup * fewer, tiles) == tiles
            {
                keys = fewer;
                break;
            }
        }
        // Few keys go to many compute units, by tiles of at most one portion.
        if self.caps.kind != DeviceKind::Cpu {
            let tiles = t.sort_tiles_few.min(job.affordable_tiles() as u32);
            keys = keys.min(job.n.div_ceil(tiles * workgroup).max(3).next_multiple_of(2));
        }
        let mut tile = Tile { workgroup, keys, resident, parts };
        let fits = |tile: &Tile| self.room_for_ranks(tile.workgroup, self.exchanged_words(job, tile));
        let least = self.narrowest_ranking();
        while !fits(&tile) {
            if self.caps.language == Language::Wgsl && tile.parts < tile.keys {
                tile.parts += 1;
            } else if tile.keys > 4 {
                tile.keys -= 1;
            } else if tile.workgroup > least {
                tile.workgroup = self.halved(tile.workgroup);
            } else {
                return Err(self.lacks_room());
            }
        }
        Ok(tile)
    }

    pub(super) fn lacks_room(&self) -> Error {
        let (least, most) = self.caps.subgroups.map_or((32, 32), |s| (s.min, s.max));
        Error::Unsupported(format!(
            "{} ({}) has {} bytes of workgroup memory, too few to rank keys by subgroups of {least} to {most}; open it with its \
             adapter's limits, or use upsweep_downsweep",
            self.caps.device, self.caps.backend, self.caps.shared_bytes
        ))
    }

    /// How the digits are counted: in as many copies of the counts as workgroup memory has room for.
    fn counting(&self, job: &Job) -> Counting {
        let t = self.tuning;
        let counts = job.places * DIGITS * 4;
        let plain = Counting {
            workgroup: self.workgroup_of(t.count_workgroup),
            items: t.count_keys,
            copies: 1,
            groups: self.resident(t.count_groups),
        };
        if self.caps.kind == DeviceKind::Cpu || job.n < t.count_copies_from {
            return plain;
        }
        // A copy for each lane, or for every other one of keys of eight bytes; one large workgroup a compute unit.
        const LANES_COUNTS: u32 = 32 * 4 * DIGITS * 4;
        if self.caps.bulk_shared_bytes >= LANES_COUNTS + (16 << 10) {
            let copies = LANES_COUNTS / counts;
            let workgroup = self.workgroup_of(t.count_copies_workgroup);
            return Counting { workgroup, items: t.count_copies_keys, copies, groups: self.resident(1) };
        }
        let room = (self.caps.shared_bytes / 2).max(counts);
        Counting { copies: 1 << (room / counts).min(8).ilog2(), ..plain }
    }

    fn onesweep(&self, job: &Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let mut scratch = Scratch::default();
        let passes = self.partition(job, 0, 0, &spans, &mut scratch)?;
        self.finish("onesweep", scratch, passes.steps, spans, 0)
    }

    /// A histogram and Onesweep's passes by the places from `first_place` on. If no digit of the last place has more than
    /// `bucket_tile` keys only that place's pass is made, and leaves its buckets in the second buffer.
    pub(super) fn partition(
        &self,
        job: &Job,
        first_place: u32,
        bucket_tile: u32,
        spans: &[PlannedSpan],
        scratch: &mut Scratch,
    ) -> Result<Partition> {
        let n = job.n;
        let Tile { workgroup, keys: items, resident, parts } = self.sort_tile(job)?;
        let tiles = n.div_ceil(workgroup * items);
        let portion = job.portion(workgroup * items, tiles);
        // Each place's offsets, four words a place that say where its pass reads and writes, and the offsets that one portion
        // leaves to the next, by turns in two places.
        let next_at = job.places * (DIGITS + 4);
        let counts = scratch.take(u64::from(next_at + 2 * DIGITS) * 4);
        // Each place's counts, and the arrivals of those that count.
        let bins = scratch.take(u64::from(job.places * DIGITS + 1) * 4);
        // The first words are the ticket.
        let states = scratch.take(64 * 4 + u64::from(portion) * u64::from(STATES));
        let temp = scratch.take(u64::from(n) * u64::from(job.key_bytes));
        let temp_values = scratch.take(u64::from(n) * u64::from(job.value_bytes));
        let Counting { workgroup: count_workgroup, items: count_items, copies, groups } = self.counting(job);
        let count_tiles = n.div_ceil(count_workgroup * count_items);
        let count_groups = count_tiles.min(groups);
        let key = |name, parts: Vec<&'static str>, more: &[(&'static str, u32)]| KernelKey {
            name,
            parts,
            constants: job.constants.iter().chain(more).copied().collect(),
            element: None,
            op: None,
            selector: None,
        };
        let offset = |name, binding, unit| (name, Param::Offset { binding, unit });
        let mut count_constants = vec![
            ("WORKGROUP", count_workgroup),
            ("ITEMS", count_items),
            ("COPIES", copies),
            ("DIGITS_EACH", digits_each(count_workgroup)),
            ("IN_PLACE", u32::from(self.layout.in_place)),
            ("FIRST_PLACE", first_place),
            ("BUCKET_TILE", bucket_tile),
        ];
        if self.caps.language == Language::CudaC {
            count_constants.push(("DYNAMIC_BYTES", job.places * DIGITS * copies * 4));
        }
        count_constants.extend(self.subgroup_constants(count_workgroup)?);
        let histogram = Launch {
            kernel: key(
                "sort/histogram",
                vec![job.key_part, "block/digit_scan", "block/digit_offsets"],
                &count_constants,
            ),
            groups: count_groups,
            bindings: vec![("input", spans[0].whole()), ("bins", bins), ("counts", counts)],
            params: vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(count_tiles)),
                ("groups", Param::Word(count_groups)),
                offset("input_offset", "input", job.key_bytes),
            ],
            initial: None,
        };
        // What the kernels leave clean, or number anew.
        let clear = |region| Step::Fill { region, value: 0, once: true };
        let mut steps = vec![clear(bins), clear(states), Step::Launch(histogram)];
        let mut more = vec![
            ("WORKGROUP", workgroup),
            ("ITEMS", items),
            ("DIGITS_EACH", digits_each(workgroup)),
            ("FALLBACK", u32::from(self.waits_bounded())),
            ("SPIN_LIMIT", self.polls(1)),
            ("LOOKBACK_WINDOW", self.tuning.sort_window),
        ];
        more.extend(self.registers_for(workgroup, resident));
        match self.caps.language {
            Language::CudaC => more.push(("DYNAMIC_BYTES", sort_shared_bytes(workgroup, workgroup * items, 32))),
            Language::Wgsl => more.extend([("PARTS", parts), ("BATCH", BATCH)]),
            _ => {}
        }
        more.extend(self.subgroup_constants(workgroup)?);
        more.extend(self.fault_constants());
        let mut texts = vec![job.key_part, "block/digit_scan", "block/count_state", job.value_part];
        texts.extend(self.ranking_parts());
        if self.caps.language == Language::Wgsl {
            texts.push("block/scatter");
        }
        let portions = (0..tiles).step_by(portion as usize).enumerate();
        for (place, (turn, first_tile)) in (first_place..job.places).flat_map(|p| portions.clone().map(move |q| (p, q)))
        {
            let in_portion = portion.min(tiles - first_tile);
            let carried = |turn: usize| next_at + (turn as u32 % 2) * DIGITS;
            let offsets_at = if turn == 0 { place * DIGITS } else { carried(turn) };
            let mut bindings = vec![("input", spans[0].whole()), ("temp", temp), ("output", spans[1].whole())];
            let mut params = vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(in_portion)),
                ("place", Param::Word(place)),
                ("first_tile", Param::Word(first_tile)),
                ("portion", Param::Word(portion)),
                ("offsets_at", Param::Word(offsets_at)),
                ("next_at", Param::Word(carried(turn + 1))),
                offset("input_offset", "input", job.key_bytes),
                offset("output_offset", "output", job.key_bytes),
            ];
            if job.value_bytes > 0 {
                bindings.extend([
                    ("input_values", spans[2].whole()),
                    ("temp_values", temp_values),
                    ("output_values", spans[3].whole()),
                ]);
                params.extend([
                    offset("input_values_offset", "input_values", 4),
                    offset("output_values_offset", "output_values", 4),
                ]);
            }
            bindings.extend([("counts", counts), ("states", states)]);
            steps.push(Step::Launch(Launch {
                kernel: key("sort/onesweep", texts.clone(), &more),
                groups: in_portion,
                bindings,
                params,
                initial: None,
            }));
        }
        Ok(Partition { steps, counts, temp, temp_values })
    }

    /// The blocks that rank a subgroup's keys in WGSL, by ballots as wide as a subgroup may be and by its barrier if it has one. The
    /// other languages' preludes have them.
    pub(super) fn ranking_parts(&self) -> &'static [&'static str] {
        if self.caps.language != Language::Wgsl {
            return &[];
        }
        match (self.caps.subgroups.is_some_and(|s| s.max > 32), self.caps.subgroup_barrier) {
            (false, true) => &["block/peers32", "block/claim_barrier"],
            (false, false) => &["block/peers32", "block/claim_atomic"],
            (true, true) => &["block/peers128", "block/claim_barrier"],
            (true, false) => &["block/peers128", "block/claim_atomic"],
        }
    }

    /// Count, scan and scatter for each digit place, the lowest first.
    fn upsweep_downsweep(&self, algorithm: &'static str, job: Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let n = job.n;
        let (workgroup, mut items) = (self.tuning.scan_workgroup, self.tuning.upsweep_keys);
        // A tile's words are exchanged in workgroup memory.
        while items > 1 && workgroup * items * 4 > self.caps.shared_bytes / 2 {
            items -= 1;
        }
        // Of 8192 keys or a few more: their counts are 3.1% of the data.
        let rounds = 8192_u32.div_ceil(workgroup * items);
        let tiles = n.div_ceil(workgroup * items * rounds);
        let table = tiles.checked_mul(1 << job.digit_bits).ok_or_else(|| {
            Error::Invalid(format!("{n} keys are too many for {algorithm}'s table of counts; split the work"))
        })?;
        let mut scratch = Scratch::default();
        let counts = scratch.take(u64::from(table) * 4);
        let temp = scratch.take(u64::from(n) * u64::from(job.key_bytes));
        let temp_values = scratch.take(u64::from(n) * u64::from(job.value_bytes));
        let sum = Op::builtin(Builtin::Sum, Scalar::U32).expect("u32 has a sum");
        let key = |name, parts: Vec<&'static str>| KernelKey {
            name,
            parts,
            constants: job
                .constants
                .iter()
                .copied()
                .chain([("WORKGROUP", workgroup), ("ITEMS", items), ("ROUNDS", rounds)])
                .collect(),
            element: None,
            op: None,
            selector: None,
        };
        // The counts' scan is this project's own, always of aligned scratch.
        let wide = Planner { layout: crate::Layout::default(), ..*self };
        let start = sum.identity().to_vec();
        let prefixes = ScanJob { op: &sum, n: table, exclusive: true, start, input: counts, output: counts };
        let scan = wide.reduce_then_scan(&prefixes, &wide.fast_tile(&sum, table)?, &mut scratch);
        let keys = [spans[0].whole(), temp, spans[1].whole()];
        let values = (job.value_bytes > 0).then(|| [spans[2].whole(), temp_values, spans[3].whole()]);
        let mut steps = vec![];
        for place in 0..job.places {
            // Always an even number of places: input, temp, output, temp, ..., output.
            let source = if place == 0 { 0 } else { 2 - place as usize % 2 };
            let target = 1 + place as usize % 2;
            let mut params = vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(tiles)),
                ("place", Param::Word(place)),
                ("source_offset", offset("source", keys[source], job.key_bytes)),
            ];
            steps.push(Step::Launch(Launch {
                kernel: key("sort/upsweep", vec![job.key_part, "block/place_digit"]),
                groups: tiles,
                bindings: vec![("source", keys[source]), ("counts", counts)],
                params: params.clone(),
                initial: None,
            }));
            steps.extend(scan.iter().cloned());
            let mut bindings = vec![("source", keys[source]), ("target_keys", keys[target])];
            params.push(("target_offset", offset("target_keys", keys[target], job.key_bytes)));
            if let Some(values) = values {
                bindings.extend([("source_values", values[source]), ("target_values", values[target])]);
                params.extend([
                    ("source_values_offset", offset("source_values", values[source], 4)),
                    ("target_values_offset", offset("target_values", values[target], 4)),
                ]);
            }
            bindings.push(("counts", counts));
            let value_part = if values.is_some() { "block/split_values" } else { "block/split_none" };
            steps.push(Step::Launch(Launch {
                kernel: key("sort/downsweep", vec![job.key_part, "block/place_digit", value_part]),
                groups: tiles,
                bindings,
                params,
                initial: None,
            }));
        }
        self.finish(algorithm, scratch, steps, spans, 0)
    }
}

/// How many digits an invocation has, of those that have any: a power of two, for workgroups of any size.
pub(super) fn digits_each(workgroup: u32) -> u32 {
    DIGITS.div_ceil(workgroup).next_power_of_two()
}

/// Workgroup memory for the subgroups' counts of each digit, and for words of a tile.
fn sort_shared_bytes(workgroup: u32, words: u32, narrowest: u32) -> u32 {
    (workgroup / narrowest * DIGITS + words) * 4
}
