//! Onesweep's passes: the digits of all places are counted at once, and then each pass moves keys by one digit.
//!
//! A pass's tiles look back at the counts of the tiles before them. Adinets and Merrill, "Onesweep", 2022.

use super::{DIGITS, Location, SortTask, digits_each};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, offset};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{DeviceKind, Kernel, Language, Launch, Param, Region, Result, Step};

numbers! {
    /// Numbers of the launch that counts digits.
    pub struct DigitCounts by l {
        /// Invocations of a histogram's workgroup.
        workgroup "count_workgroup": Workgroup up to 1024 => 256.min(l.workgroup),
        /// Keys an invocation of it takes at a time.
        keys "count_keys": Count up to 64 => 16,
        /// Workgroups of it for each compute unit.
        groups "count_groups": Count up to 64 => l.groups_per_unit,
        /// Number of keys from which the lanes of a GPU's histogram count in copies of their own. Copies cost time to
        /// clear and to add up.
        copies_from "count_copies_from": Count up to u32::MAX => 1 << 22,
        /// Invocations of a workgroup of the histogram where workgroup memory holds a copy for each lane. Each compute
        /// unit has one such workgroup.
        copies_workgroup "count_copies_workgroup": Workgroup up to 1024 => 1024,
        /// Keys that an invocation of such a workgroup takes at a time.
        copies_keys "count_copies_keys": Count up to 64 => 8,
    }
}

numbers! {
    /// Numbers of Onesweep's passes.
    pub struct Onesweep by l {
        /// Invocations of a workgroup that sorts 32-bit keys without values.
        workgroup "sort_workgroup": Workgroup up to 1024 => l.ranking,
        /// Keys an invocation of it takes.
        keys "sort_keys": Count up to 64 => if l.emulated { 8 } else { 16 },
        /// Workgroups of it that a compute unit should hold at once; 0 for no bound. This bounds registers in CUDA, and
        /// in NVIDIA's OpenCL for workgroups of at most 256 invocations.
        resident "sort_resident": Optional up to 16 => 2,
        /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
        parts "sort_parts": Count up to 16 => 2,
        /// Invocations of a workgroup that sorts 32-bit keys with values.
        pairs_workgroup "pairs_workgroup": Workgroup up to 1024 => l.ranking,
        /// Keys an invocation of it takes.
        pairs "sort_pairs": Count up to 64 => if l.emulated { 8 } else { 12 },
        /// 32-bit words that an invocation holds at most of pairs that are longer than two words. Those of keys count twice.
        pairs_words "pairs_words": Count up to 256 => 75,
        /// Workgroups of it that a compute unit should hold at once.
        pairs_resident "pairs_resident": Optional up to 16 => 2,
        /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
        pairs_parts "pairs_parts": Count up to 16 => 2,
        /// Invocations of a workgroup that sorts 64-bit keys.
        workgroup64 "sort64_workgroup": Workgroup up to 1024 => l.ranking,
        /// Keys an invocation of it takes.
        keys64 "sort_keys64": Count up to 64 => 8,
        /// Workgroups of it that a compute unit should hold at once.
        resident64 "sort64_resident": Optional up to 16 => 2,
        /// Parts of its tile that go through workgroup memory one after the other, in WGSL.
        parts64 "sort64_parts": Count up to 16 => 2,
        /// Keys an invocation of any sort takes at most, if they are no more than `sort_few_tiles` tiles a compute unit.
        keys_few "sort_keys_few": Count up to 64 => 20,
        /// Tiles a compute unit that are few.
        few_tiles "sort_few_tiles": Count up to 1 << 10 => 8,
        /// Keys an invocation of any sort takes at most, if they are more than that, and no more than `sort_middling_tiles` tiles a compute unit.
        keys_middling "sort_keys_middling": Count up to 64 => 64,
        /// Tiles a compute unit that are neither few nor many.
        middling_tiles "sort_middling_tiles": Count up to 1 << 10 => 16,
        /// Tiles that the keys of any sort go to at least, if they are few.
        tiles_few "sort_tiles_few": Count up to 1 << 16 => 96,
        /// States that an invocation of a sort reads at once when it looks back.
        window "sort_window": Count up to 16 => if l.small { 1 } else { 4 },
    }
}

pub(super) static DIGIT_COUNTS: Kernel = kernel!(
    "sort/digit_counts",
    "sort_digit_counts",
    &[read("input", "StoredKey"), atomic("bins", "u32"), write("counts", "u32")],
    &["n", "tiles", "groups", "input_offset"],
);

pub(super) static ONESWEEP: Kernel = kernel!(
    "sort/onesweep",
    "sort_onesweep",
    &[
        read("input", "StoredKey"),
        write("temp", "StoredKey"),
        write("output", "StoredKey"),
        read("input_values", "StoredValue").optional(),
        write("temp_values", "StoredValue").optional(),
        write("output_values", "StoredValue").optional(),
        write("counts", "u32"),
        atomic("states", "CountWord"),
    ],
    &[
        "n",
        "tiles",
        "slots",
        "place",
        "first_tile",
        "portion",
        "offsets_at",
        "next_at",
        "input_offset",
        "output_offset",
        "input_values_offset",
        "output_values_offset",
    ],
);

/// A count beside its state's three bits in 32 bits is smaller.
const COUNT_LIMIT: u32 = 1 << 29;
/// Bytes of a tile's states: a word a digit.
const STATES: u32 = DIGITS * 4;
/// Rows of a part of a tile that are scattered at once in WGSL: of more, registers.
const BATCH: u32 = 4;
/// So many tiles' states a sort may have whatever its size.
const FEW_TILES: u32 = 44;

impl SortTask {
    /// The tiles whose states take no more than 3.9% of the data's size, and those of [`FEW_TILES`].
    fn affordable_tiles(&self) -> u64 {
        let data = u64::from(self.n) * u64::from(self.image.bytes + self.value_bytes);
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
    pub(super) temp: Location,
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

/// Whether the smallest tile that is ranked by subgroups fits workgroup memory, and the counts of all places do.
pub(crate) fn has_room_for_ranks(planner: &Planner<'_>, job: &SortTask) -> bool {
    let workgroup = planner.narrowest_ranking();
    let counts = job.places * DIGITS * 4 + (4 << 10);
    planner.room_for_ranks(workgroup, 4 * workgroup) && counts <= planner.caps.shared_bytes
}

impl Planner<'_> {
    /// Whether workgroup memory holds the subgroups' counts of each digit, and so many words of a tile.
    fn room_for_ranks(&self, workgroup: u32, words: u32) -> bool {
        // Four arrays of a word a digit or less, and an emulated subgroup's word an invocation.
        let more = 4 * DIGITS * 4 + workgroup * 4;
        sort_shared_bytes(workgroup, words, self.narrowest_subgroup()) + more <= self.ranking_room()
    }

    /// Words of a tile that are in workgroup memory at a time: a word of each key, or what is moved at once of its value. In
    /// WGSL it is all that moves of a part of the keys.
    fn exchanged_words(&self, job: &SortTask, tile: &Tile) -> u32 {
        match self.caps.language {
            Language::Wgsl => (job.image.words() + job.value_size()) * tile.workgroup * tile.keys.div_ceil(tile.parts),
            _ => tile.workgroup * tile.keys * job.value_size().max(1),
        }
    }

    fn sort_tile(&self, job: &SortTask) -> Result<Tile> {
        let t = self.tuning;
        let (workgroup, mut keys, resident, parts) = match (job.image.words(), job.value_bytes) {
            (1, 0) => (t.onesweep.workgroup, t.onesweep.keys, t.onesweep.resident, t.onesweep.parts),
            (1, _) => (t.onesweep.pairs_workgroup, t.onesweep.pairs, t.onesweep.pairs_resident, t.onesweep.pairs_parts),
            (words, _) => {
                let keys = t.onesweep.keys64 * 2 / words;
                (t.onesweep.workgroup64, keys, t.onesweep.resident64, t.onesweep.parts64)
            }
        };
        // Wider keys and values are more to hold.
        let (key, value) = (job.image.words(), job.value_size());
        if value > 0 && key + value > 2 {
            keys = keys.min(t.onesweep.pairs_words / (2 * key + value)).max(1);
        }
        // Where tiles are not many, a wave of large ones that is not full shows. One portion must do for them.
        let a_wave = u64::from(self.caps.compute_units) * u64::from(workgroup * keys);
        for (most, tuned) in
            [(t.onesweep.few_tiles, t.onesweep.keys_few), (t.onesweep.middling_tiles, t.onesweep.keys_middling)]
        {
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
            let tiles = t.onesweep.tiles_few.min(job.affordable_tiles() as u32);
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

    /// How the digits are counted: in as many copies of the counts as workgroup memory has room for.
    fn counting(&self, job: &SortTask) -> Counting {
        let t = self.tuning;
        let counts = job.places * DIGITS * 4;
        let plain = Counting {
            workgroup: self.workgroup_of(t.digit_counts.workgroup),
            items: t.digit_counts.keys,
            copies: 1,
            groups: self.resident(t.digit_counts.groups),
        };
        if self.caps.kind == DeviceKind::Cpu || job.n < t.digit_counts.copies_from {
            return plain;
        }
        // A copy for each lane, or for every other one of keys of eight bytes; one large workgroup a compute unit.
        const LANES_COUNTS: u32 = 32 * 4 * DIGITS * 4;
        if self.caps.bulk_shared_bytes >= LANES_COUNTS + (16 << 10) {
            let copies = 1 << (LANES_COUNTS / counts).min(32).ilog2();
            let workgroup = self.workgroup_of(t.digit_counts.copies_workgroup);
            return Counting { workgroup, items: t.digit_counts.copies_keys, copies, groups: self.resident(1) };
        }
        Counting { copies: self.copies_of_counts(counts), ..plain }
    }

    /// In how many copies of counts of so many bytes lanes count: a power of two, up to 8, in half of workgroup memory.
    pub(super) fn copies_of_counts(&self, counts: u32) -> u32 {
        let room = (self.caps.shared_bytes / 2).max(counts);
        1 << (room / counts).min(8).ilog2()
    }

    /// A histogram and Onesweep's passes by the places from `first_place` on. If no digit of the last place has more than
    /// `bucket_tile` keys only that place's pass is made, and leaves its buckets in the second buffer.
    pub(super) fn partition(
        &self,
        job: &SortTask,
        first_place: u32,
        bucket_tile: u32,
        scratch: &mut Scratch,
    ) -> Result<Partition> {
        let n = job.n;
        let tile = self.sort_tile(job)?;
        let exchanged = self.exchanged_words(job, &tile);
        let Tile { workgroup, keys: items, resident, parts } = tile;
        let tiles = n.div_ceil(workgroup * items);
        let portion = job.portion(workgroup * items, tiles);
        // Each place's offsets, four words a place that say where its pass reads and writes, and the offsets that one portion
        // leaves to the next, by turns in two places.
        let next_at = job.places * (DIGITS + 4);
        let counts = scratch.take(u64::from(next_at + 2 * DIGITS) * 4);
        // Each place's counts, and the arrivals of those that count.
        let bins = scratch.keep(u64::from(job.places * DIGITS + 1) * 4);
        // The first words are the ticket.
        let states = scratch.keep(64 * 4 + u64::from(portion) * u64::from(STATES));
        let temp = job.take(scratch);
        let Counting { workgroup: count_workgroup, items: count_items, copies, groups } = self.counting(job);
        let count_tiles = n.div_ceil(count_workgroup * count_items);
        let count_groups = count_tiles.min(groups);
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
            kernel: job.kernel(&DIGIT_COUNTS, vec!["workgroup/digit_scan", "sort/digit_offsets"], &count_constants),
            groups: count_groups,
            bindings: vec![("input", job.input.keys), ("bins", bins), ("counts", counts)],
            params: vec![
                ("n", Param::ELEMENTS),
                ("tiles", Param::ELEMENTS.in_parts(count_workgroup * count_items)),
                ("groups", Param::Word(count_groups)),
                ("input_offset", offset("input", job.input.keys, job.image.bytes)),
            ],
            initial: None,
        };
        // What the kernels leave clean, or stamp with an epoch.
        let clear = |region| Step::Fill { region, value: 0, once: true };
        let mut steps = vec![clear(bins), clear(states), Step::Launch(histogram)];
        let mut more = vec![
            ("WORKGROUP", workgroup),
            ("ITEMS", items),
            ("DIGITS_EACH", digits_each(workgroup)),
            ("FALLBACK", u32::from(self.waits_bounded())),
            ("SPIN_LIMIT", self.polls(1)),
            ("LOOKBACK_WINDOW", self.tuning.onesweep.window),
        ];
        more.push(job.source_values(job.input));
        more.extend(self.registers_for(workgroup, resident));
        match self.caps.language {
            Language::CudaC => more.push(("DYNAMIC_BYTES", sort_shared_bytes(workgroup, exchanged, 32))),
            Language::Wgsl => more.extend([("PARTS", parts), ("BATCH", BATCH)]),
            _ => {}
        }
        more.extend(self.subgroup_constants(workgroup)?);
        more.extend(self.fault_constants());
        let mut texts = vec!["workgroup/digit_scan", "sort/count_state"];
        if self.caps.language == Language::Wgsl {
            texts.push("sort/tile_part");
        }
        texts.extend(job.with_values(match self.caps.language {
            Language::Wgsl => "sort/scatter_values",
            _ => "sort/values",
        }));
        texts.extend(self.ranking_parts());
        if self.caps.language == Language::Wgsl {
            // Less than a word is packed.
            let share = 4 / job.image.bytes.min(4);
            more.push(("KEY_SHARE", share));
            let store = if share > 1 { "sort/store_keys_packed" } else { "sort/store_keys" };
            texts.extend([store, "sort/scatter"]);
        }
        let portions = (0..tiles).step_by(portion as usize).enumerate();
        for (place, (turn, first_tile)) in (first_place..job.places).flat_map(|p| portions.clone().map(move |q| (p, q)))
        {
            let in_portion = portion.min(tiles - first_tile);
            let carried = |turn: usize| next_at + (turn as u32 % 2) * DIGITS;
            let offsets_at = if turn == 0 { place * DIGITS } else { carried(turn) };
            let mut bindings = vec![("input", job.input.keys), ("temp", temp.keys), ("output", job.output.keys)];
            let mut params = vec![
                ("n", Param::ELEMENTS),
                ("tiles", Param::ELEMENTS.in_parts(workgroup * items).window(first_tile, in_portion)),
                ("slots", Param::Word(in_portion)),
                ("place", Param::Word(place)),
                ("first_tile", Param::Word(first_tile)),
                ("portion", Param::Word(portion)),
                ("offsets_at", Param::Word(offsets_at)),
                ("next_at", Param::Word(carried(turn + 1))),
                ("input_offset", offset("input", job.input.keys, job.image.bytes)),
                ("output_offset", offset("output", job.output.keys, job.image.bytes)),
            ];
            if let Some(input) = job.input.values {
                bindings.push(("input_values", input));
                params.push(("input_values_offset", offset("input_values", input, job.value_unit)));
            }
            if let (Some(temp), Some(output)) = (temp.values, job.output.values) {
                bindings.extend([("temp_values", temp), ("output_values", output)]);
                params.push(("output_values_offset", offset("output_values", output, job.value_unit)));
            }
            bindings.extend([("counts", counts), ("states", states)]);
            steps.push(Step::Launch(Launch {
                kernel: job.kernel(&ONESWEEP, texts.clone(), &more),
                groups: in_portion,
                bindings,
                params,
                initial: None,
            }));
        }
        Ok(Partition { steps, counts, temp })
    }
}

/// Workgroup memory for the subgroups' counts of each digit, and for words of a tile.
fn sort_shared_bytes(workgroup: u32, words: u32, narrowest: u32) -> u32 {
    (workgroup / narrowest * DIGITS + words) * 4
}
