//! Segments by their lengths: long ones by a radix sort's passes, in which many workgroups share each, and the others by merging.

use super::segments::{WorkgroupTile, local_shared_bytes};
use super::{Bindings, DIGIT_BITS, DIGITS, Location, ONESWEEP, Params, SortTask, merge_sort, sort};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, offset};
use crate::primitive::Segments;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{Error, Kernel, KernelKey, Launch, Param, Region, Result, Slot, SortRequest, Step};

numbers! {
    /// Numbers of sorts of long segments.
    pub struct LongSegments by l {
        /// Invocations of the workgroups that move keys of long segments.
        workgroup "long_workgroup": Workgroup up to 1024 => l.ranking,
        /// 32-bit words of keys that an invocation of them takes at a time.
        keys "long_keys": Count up to 32 => if l.emulated { 4 } else { 16 },
        /// Workgroups of them that a compute unit should hold at once.
        resident "long_resident": Optional up to 16 => 2,
        /// Rounds of as many keys that a tile has.
        rounds "long_rounds": Count up to 64 => 4,
        /// Workgroups for each compute unit that take tiles of long segments.
        groups_each "long_groups_each": Count up to 64 => l.groups_per_unit,
        /// Rows of counts that they read at a time.
        window "long_window": Count up to 16 => if l.small { 1 } else { 8 },
        /// A segment is long if it takes more levels of merging than its keys have digits, less so many.
        levels_less "long_levels_less": Optional up to 16 => 2,
        /// From how many keys on they are sorted apart.
        from "long_from": Count up to u32::MAX => 1 << 23,
    }
}

pub(super) static TILES: Kernel = kernel!(
    "sort/long_tiles",
    "sort_long_tiles",
    &[read("offsets", "u32").optional(), atomic("long_tiles", "u32")],
    &["n", "tile_keys", "cells", "longest", "segments", "width", "offsets_offset"],
);

pub(super) static COUNTS: Kernel = kernel!(
    "sort/long_counts",
    "sort_long_counts",
    &[read("source", "StoredKey"), read("long_tiles", "u32"), atomic("counts", "u32")],
    &["tile_keys", "cells", "groups", "place", "first_sum", "source_offset"],
);

pub(super) static SCATTER: Kernel = kernel!(
    "sort/long_scatter",
    "sort_long_scatter",
    &[
        read("source", "StoredKey"),
        write("target_keys", "StoredKey"),
        read("source_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
        read("long_tiles", "u32"),
        read("counts", "u32"),
    ],
    &[
        "n",
        "tile_keys",
        "cells",
        "groups",
        "place",
        "first_sum",
        "source_offset",
        "target_offset",
        "source_values_offset",
        "target_values_offset",
    ],
);

/// The planner's choice for segments of which some may be long.
pub static BY_LENGTH: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    needs: Needs::SUBGROUPS,
    ..sort("by_length", "sort-by-length.md", plan, |r, n| {
        merge_sort::traffic(r, n).min(r.moved(r.places(8), r.places(8)))
    })
};

/// Words for each digit that the scatter has in workgroup memory, beside the subgroups' counts.
const EACH_DIGIT: u32 = 3;

/// Rows of counts that have a sum.
const BLOCK: u32 = 64;

/// What the passes over long segments know.
struct LongSegmentsSort<'a> {
    planner: &'a Planner<'a>,
    task: &'a SortTask,
    shape: WorkgroupTile,
    /// Keys from one multiple to the next, and how many multiples there are.
    tile_keys: u32,
    cells: u32,
    /// How many workgroups take tiles by turns.
    groups: u32,
    /// The segments that tiles are of.
    tiles: Region,
    /// A row of counts for each tile, and behind these for each pass the sums of blocks of rows.
    counts: Region,
    sums: Region,
}

/// A round's shape, and the keys of a tile.
fn shape(planner: &Planner<'_>, task: &SortTask) -> (WorkgroupTile, u32) {
    let numbers = &planner.tuning.long_segments;
    let keys = (numbers.keys / task.image.words()).max(1);
    let most = WorkgroupTile { workgroup: numbers.workgroup, keys, resident: numbers.resident };
    let shape = planner.fitting(task, most, EACH_DIGIT);
    (shape, shape.tile() * numbers.rounds)
}

/// The longest segment that is merged: as fast as by passes, and longer than a tile of these.
fn longest(planner: &Planner<'_>, task: &SortTask) -> u32 {
    let passes = task.passes(planner.layout.in_place);
    let levels = passes.saturating_sub(planner.tuning.long_segments.levels_less);
    let merged = u64::from(merge_sort::shape(planner, task).tile()) << levels;
    merged.min(u32::MAX.into()).max(shape(planner, task).1.into()) as u32
}

/// Whether some segments may be long enough for passes to be faster.
pub(crate) fn is_fastest(planner: &Planner<'_>, request: &SortRequest, task: &SortTask) -> bool {
    let longest_of_all = request.segments.as_ref().map_or(0, |segments| segments.longest(request.n));
    longest_of_all > longest(planner, task).into()
        && request.n >= planner.tuning.long_segments.from.into()
        && planner.sorts_within_workgroups()
        && planner.fits(task, shape(planner, task).0, EACH_DIGIT)
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let Some(segments) = &request.segments else {
        return Err(Error::Unsupported(format!("{BY_LENGTH} sorts segments, and there are none; use {ONESWEEP}")));
    };
    let mut scratch = Scratch::default();
    let task =
        SortTask::of(planner, request, DIGIT_BITS)?.evened(planner.layout.in_place).with_output(request, &mut scratch);
    let longest = longest(planner, &task);
    if segments.longest(request.n) <= longest.into() {
        let steps = merge_sort::steps(planner, request, &task, longest, None, &mut scratch);
        return Ok(Work::new(scratch, steps));
    }
    let temp = task.take(&mut scratch);
    // All rows are long, also one that a shorter run ends in.
    let (mut steps, longest) = match segments {
        Segments::Rows(_) => (vec![], 0),
        _ => (merge_sort::steps(planner, request, &task, longest, Some(temp), &mut scratch), longest),
    };
    let sort = LongSegmentsSort::of(planner, &task, &mut scratch)?;
    steps.extend(sort.tiles(segments, longest));
    for place in 0..task.places {
        steps.extend(sort.pass(place, temp, request.writes_keys)?);
    }
    Ok(Work::new(scratch, steps))
}

impl<'a> LongSegmentsSort<'a> {
    fn of(planner: &'a Planner<'a>, task: &'a SortTask, scratch: &mut Scratch) -> Result<LongSegmentsSort<'a>> {
        let (shape, tile_keys) = shape(planner, task);
        if !planner.fits(task, shape, EACH_DIGIT) {
            return Err(planner.lacks_room());
        }
        let cells = task.n.div_ceil(tile_keys);
        let rows = 2 * u64::from(cells);
        // Behind them stand the sums of BLOCK rows each, of every pass.
        let sums = rows.div_ceil(BLOCK.into()) * u64::from(task.places);
        if (rows + sums) * u64::from(DIGITS) > u32::MAX.into() {
            return Err(task.too_many(&BY_LENGTH));
        }
        let groups = planner.taking_turns(2 * cells, planner.tuning.long_segments.groups_each);
        let row = 4 * u64::from(DIGITS);
        let tiles = scratch.take(4 * (1 + 2 * rows));
        let counts = scratch.take(row * (rows + sums));
        let sums = Region { offset: counts.offset + row * rows, bytes: row * sums, ..counts };
        Ok(LongSegmentsSort { planner, task, shape, tile_keys, cells, groups, tiles, counts, sums })
    }

    /// Finds the tiles of long segments.
    fn tiles(&self, segments: &Segments, longest: u32) -> [Step; 3] {
        let kernel = KernelKey::new(&TILES, vec!["merge_sort/runs"], vec![("WORKGROUP", self.shape.workgroup)]);
        let words = [("tile_keys", self.tile_keys), ("cells", self.cells), ("longest", longest)];
        let mut launch = Launch {
            kernel,
            groups: (2 * self.cells).div_ceil(self.shape.workgroup),
            bindings: vec![("long_tiles", self.tiles)],
            params: words.map(|(name, word)| (name, Param::Word(word))).to_vec(),
            initial: None,
        };
        launch.params.push(("n", Param::ELEMENTS));
        let clear = |region| Step::Fill { region, value: 0, once: false };
        [clear(Region { bytes: 4, ..self.tiles }), clear(self.sums), merge_sort::told(segments, launch)]
    }

    /// Counts and moves the keys of long segments by one digit.
    fn pass(&self, place: u32, temp: Location, writes_keys: bool) -> Result<[Step; 2]> {
        let (source, target) = self.task.route(place, self.task.places, temp);
        let is_stored = place + 1 < self.task.places || writes_keys;
        Ok([self.counts(place, source), self.scatter(place, source, target, is_stored)?])
    }

    fn launch(&self, kernel: KernelKey, place: u32, (bindings, params): (Bindings, Params)) -> Launch {
        let words = [
            ("tile_keys", self.tile_keys),
            ("cells", self.cells),
            ("groups", self.groups),
            ("place", place),
            ("first_sum", 2 * self.cells + place * (2 * self.cells).div_ceil(BLOCK)),
        ];
        let own = words.map(|(name, word)| (name, Param::Word(word))).to_vec();
        let known = vec![("long_tiles", self.tiles), ("counts", self.counts)];
        let (bindings, params) = ([bindings, known].concat(), [own, params].concat());
        Launch { kernel, groups: self.groups, bindings, params, initial: None }
    }

    fn counts(&self, place: u32, source: Location) -> Step {
        let copies = self.planner.copies_of_counts(4 * DIGITS);
        let WorkgroupTile { workgroup, keys, .. } = self.shape;
        let constants = [("WORKGROUP", workgroup), ("ITEMS", keys), ("COPIES", copies), ("BLOCK", BLOCK)];
        let kernel = self.task.kernel(&COUNTS, vec!["sort/long_tile"], &constants);
        let from = ("source_offset", offset("source", source.keys, self.task.image.bytes));
        Step::Launch(self.launch(kernel, place, (vec![("source", source.keys)], vec![from])))
    }

    fn scatter(&self, place: u32, source: Location, target: Location, is_stored: bool) -> Result<Step> {
        let (task, shape) = (self.task, self.shape);
        let bytes = |narrowest| local_shared_bytes(task, shape, narrowest);
        let mut kernel = self.planner.local_key(
            &SCATTER,
            task,
            shape,
            bytes,
            &["sort/long_tile", "sort/long_before"],
            "sort/split_values",
        )?;
        let window = self.planner.tuning.long_segments.window;
        kernel.constants.extend([("BLOCK", BLOCK), ("WINDOW", window), ("KEYS_STORED", is_stored.into())]);
        kernel.constants.push(task.source_values(source));
        let (bindings, moved) = task.moving(source, target);
        let params = [vec![("n", Param::ELEMENTS)], moved].concat();
        Ok(Step::Launch(self.launch(kernel, place, (bindings, params))))
    }
}
