//! Tiles sorted by merging, and then runs of tiles merged in pairs: of segments, however long they are, and of all keys.

use super::segments::WorkgroupTile;
use super::{DIGIT_BITS, Location, SortTask, merge_tile, sort};
use crate::algorithm::{Algorithm, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, offset, offsets_told};
use crate::primitive::Segments;
use crate::primitive::sort::SEGMENTED_SORT;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, KernelKey, Language, Launch, Param, Region, Result, Scalar, Slot, SortRequest, Step};

numbers! {
    /// Numbers of sorts by merging.
    pub struct MergeSorts by l {
        /// Invocations of the workgroups of a sort by merging.
        workgroup "merge_sort_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Keys an invocation of them takes at most: odd, so that lanes keep off each other's banks.
        keys "merge_sort_keys": Count up to 31 => if l.small { 5 } else { 9 },
        /// Workgroups of them that a compute unit should hold at once; 0 for no bound.
        resident "merge_sort_resident": Optional up to 16 => 0,
        /// Workgroups for each compute unit that merge runs of several tiles.
        groups_each "merge_sort_groups_each": Count up to 64 => l.groups_per_unit,
    }
}

pub(super) static BOUNDS: Kernel = kernel!(
    "merge_sort/bounds",
    "merge_sort_bounds",
    &[read("offsets", "u32").optional(), atomic("sides", "u32")],
    &["n", "tile_keys", "tile_more", "longest", "tiles", "segments", "width", "offsets_offset"],
);

pub(super) static TILE: Kernel = kernel!(
    "merge_sort/tile",
    "merge_sort_tile",
    &[
        read("source", "StoredKey"),
        write("output", "StoredKey"),
        write("temp", "StoredKey").optional(),
        read("source_values", "StoredValue").optional(),
        write("output_values", "StoredValue").optional(),
        write("temp_values", "StoredValue").optional(),
        read("offsets", "u32").optional(),
        read("sides", "u32").optional(),
    ],
    &[
        "n",
        "tile_keys",
        "tile_more",
        "longest",
        "segments",
        "width",
        "source_offset",
        "source_values_offset",
        "output_offset",
        "output_values_offset",
        "offsets_offset",
    ],
);

pub(super) static MERGE: Kernel = kernel!(
    "merge_sort/merge",
    "merge_sort_merge",
    &[
        write("output", "StoredKey"),
        write("temp", "StoredKey"),
        write("output_values", "StoredValue").optional(),
        write("temp_values", "StoredValue").optional(),
        read("sides", "u32"),
    ],
    &["n", "tile_keys", "tile_more", "longest", "level", "tiles", "groups", "output_offset", "output_values_offset"],
);

/// The planner's choice for segments.
pub static MERGE_SORT: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    reads: 1,
    candidates: || CANDIDATES,
    ..sort("merge_sort", "sort-merge-sort.md", plan, traffic)
};

pub(super) fn traffic(request: &SortRequest, _: u64) -> u64 {
    request.moved(0, 1 + likely_levels(request))
}

/// Levels of merging, of tiles as large as on most GPUs. Of segments with offsets it is not known how many there are.
fn likely_levels(request: &SortRequest) -> u64 {
    let longest = match request.segments {
        None => request.n,
        Some(Segments::Rows(width)) => width,
        Some(_) => 1,
    };
    longest.div_ceil(4096).max(1).next_power_of_two().ilog2().into()
}

/// What tuning tries.
const CANDIDATES: &[Candidates] = &[tuned(
    &SEGMENTED_SORT,
    Scalar::U32,
    &MERGE_SORT,
    &[
        ("merge_sort_workgroup", &[128, 256, 512]),
        ("merge_sort_keys", &[5, 9, 13, 17]),
        ("merge_sort_resident", &[0, 2, 4]),
    ],
)];

/// Words that are known of each tile's segments.
const WORDS_OF_TILE: u64 = 8;

/// What the stages of a sort know.
struct MergeSort<'a> {
    planner: &'a Planner<'a>,
    task: &'a SortTask,
    segments: &'a Segments,
    shape: WorkgroupTile,
    tile: u32,
    tiles: u32,
    writes_keys: bool,
    /// The longest segment that is sorted.
    longest: u32,
    /// Where runs of several tiles are merged.
    merging: Option<Merging>,
}

/// What merging runs of several tiles takes.
struct Merging {
    /// What is known of the segments at tiles' sides.
    sides: Region,
    /// A second buffer.
    temp: Location,
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let task = SortTask::of(planner, request, DIGIT_BITS)?.with_output(request, &mut scratch);
    let steps = steps(planner, request, &task, u32::MAX, None, &mut scratch);
    Ok(Work::new(scratch, steps))
}

/// The most that a workgroup takes at a time.
pub(super) fn shape(planner: &Planner<'_>, task: &SortTask) -> WorkgroupTile {
    let MergeSorts { workgroup, keys, resident, .. } = planner.tuning.merge_sort;
    merge_tile::fitting(planner, task, WorkgroupTile { workgroup, keys: merge_tile::odd(keys), resident })
}

/// Sorts segments that are no longer than so many keys, by way of a second buffer. In the others' places it leaves the output as it is.
pub(super) fn steps(
    planner: &Planner<'_>,
    request: &SortRequest,
    task: &SortTask,
    longest: u32,
    temp: Option<Location>,
    scratch: &mut Scratch,
) -> Vec<Step> {
    let all = Segments::Rows(request.n.max(1));
    let segments = request.segments.as_ref().unwrap_or(&all);
    let shape = shape(planner, task);
    let tile = tile_of(segments, shape.tile());
    let tiles = task.n.div_ceil(tile);
    let levels = levels(segments, tile, tiles, longest);
    let merging = (levels > 0).then(|| Merging {
        sides: scratch.take(4 * (1 + WORDS_OF_TILE * u64::from(tiles))),
        temp: temp.unwrap_or_else(|| task.take(scratch)),
    });
    let writes_keys = request.writes_keys;
    let sort = MergeSort { planner, task, segments, shape, tile, tiles, writes_keys, longest, merging };
    let mut steps = sort.bounds();
    steps.push(sort.tile());
    steps.extend((1..=levels).map(|level| sort.merge(level)));
    steps
}

/// Keys of a tile, of so many at most: whole rows or equal parts of one where that is possible, else a power of two.
fn tile_of(segments: &Segments, most: u32) -> u32 {
    let power = 1 << most.ilog2();
    match segments {
        Segments::Rows(width) => {
            let parts = width.div_ceil(most.into());
            match *width {
                width if parts == 1 => most / width as u32 * width as u32,
                width if width % parts == 0 => (width / parts) as u32,
                _ => power,
            }
        }
        _ => power,
    }
}

/// On how many levels runs of tiles are merged at most, of segments up to a length.
fn levels(segments: &Segments, tile: u32, tiles: u32, longest: u32) -> u32 {
    let pieces = match segments {
        Segments::Rows(width) if *width < tile.into() => 1,
        Segments::Rows(width) if width.is_multiple_of(tile.into()) => width / u64::from(tile),
        Segments::Rows(width) => width / u64::from(tile) + 2,
        _ => u64::from(longest / tile) + 2,
    };
    pieces.min(tiles.into()).max(1).next_power_of_two().ilog2()
}

impl MergeSort<'_> {
    fn key(&self, kernel: &'static Kernel, blocks: &[&'static str], more: &[(&'static str, u32)]) -> KernelKey {
        let shape = self.shape;
        let mut constants = vec![("WORKGROUP", shape.workgroup), ("ITEMS", shape.keys), ("NEIGHBOURS", shape.keys / 2)];
        constants.push(("MERGES", self.merging.is_some().into()));
        constants.extend(self.planner.registers_for(shape.workgroup, shape.resident));
        if self.planner.caps.language == Language::CudaC {
            constants.push(("DYNAMIC_BYTES", merge_tile::shared_bytes(self.task, shape)));
        }
        constants.extend(more);
        let parts =
            ["sort/exchange", "merge_sort/runs", "merge_sort/merge_places"].into_iter().chain(blocks.iter().copied());
        self.task.kernel(kernel, parts.collect(), &constants)
    }

    /// A launch of a kernel, told of the keys to merge.
    fn launch(&self, kernel: KernelKey, groups: u32) -> Launch {
        let more = self.shape.tile() - self.tile;
        let words = [("tile_keys", self.tile), ("tile_more", more), ("longest", self.longest)];
        let words = words.map(|(name, word)| (name, Param::Word(word)));
        let params = [("n", Param::ELEMENTS)].into_iter().chain(words).collect();
        let bindings = self.merging.iter().map(|merging| ("sides", merging.sides)).collect();
        Launch { kernel, groups, bindings, params, initial: None }
    }

    /// Finds the segments at tiles' sides, where runs of several tiles are merged.
    fn bounds(&self) -> Vec<Step> {
        let Some(merging) = &self.merging else { return vec![] };
        let levels = Region { bytes: 4, ..merging.sides };
        let workgroup = self.shape.workgroup;
        let kernel =
            KernelKey::new(&BOUNDS, vec!["merge_sort/runs", "merge_sort/levels"], vec![("WORKGROUP", workgroup)]);
        let mut launch = self.launch(kernel, self.tiles.div_ceil(workgroup));
        launch.params.push(("tiles", Param::Word(self.tiles)));
        vec![Step::Fill { region: levels, value: 0, once: false }, told(self.segments, launch)]
    }

    /// Sorts what each tile has of its segments.
    fn tile(&self) -> Step {
        let SortTask { input, output, .. } = *self.task;
        let is_stored = self.merging.is_some() || self.writes_keys;
        let mut more = vec![("KEYS_STORED", is_stored.into()), self.task.source_values(input)];
        more.extend(self.planner.aliasing(true));
        let mut blocks = vec!["sort/own", "merge_sort/store_keys"];
        blocks.extend(self.task.with_values("merge_sort/store_values"));
        blocks.extend(self.merging.iter().flat_map(|_| ["merge_sort/levels", "merge_sort/sides"]));
        let mut launch = self.launch(self.key(&TILE, &blocks, &more), self.tiles);
        launch.bindings.push(("source", input.keys));
        launch.params.push(("source_offset", offset("source", input.keys, self.task.image.bytes)));
        if let Some(values) = input.values {
            launch.bindings.push(("source_values", values));
            launch.params.push(("source_values_offset", offset("source_values", values, self.task.value_unit)));
        }
        self.targets(&mut launch, output);
        told(self.segments, launch)
    }

    /// Merges runs of several tiles, on one level.
    fn merge(&self, level: u32) -> Step {
        let slots = 2 * self.tiles;
        let groups = self.planner.taking_turns(slots, self.planner.tuning.merge_sort.groups_each);
        let mut blocks = vec!["merge_sort/levels", "merge_sort/sides"];
        blocks.extend(self.task.with_values("sort/swap_values"));
        let mut launch = self.launch(self.key(&MERGE, &blocks, &[]), groups);
        let words = [("level", level), ("tiles", self.tiles), ("groups", groups)];
        launch.params.extend(words.map(|(name, word)| (name, Param::Word(word))));
        self.targets(&mut launch, self.task.output);
        Step::Launch(launch)
    }

    /// Where keys and values go: the caller's buffers, and the second ones.
    fn targets(&self, launch: &mut Launch, output: Location) {
        launch.bindings.push(("output", output.keys));
        launch.bindings.extend(self.merging.iter().map(|merging| ("temp", merging.temp.keys)));
        launch.params.push(("output_offset", offset("output", output.keys, self.task.image.bytes)));
        if let Some(values) = output.values {
            launch.bindings.push(("output_values", values));
            launch.params.push(("output_values_offset", offset("output_values", values, self.task.value_unit)));
            let temp = self.merging.iter().filter_map(|merging| merging.temp.values);
            launch.bindings.extend(temp.map(|values| ("temp_values", values)));
        }
    }
}

/// A launch told where segments begin, with blocks that search for the segment of a place.
pub(super) fn told(segments: &Segments, mut launch: Launch) -> Step {
    launch.kernel.parts.extend(match segments {
        Segments::Offsets { .. } => ["segments/offsets", "merge_sort/offsets"].as_slice(),
        _ => &["merge_sort/rows"],
    });
    tell_segments(segments, &mut launch);
    Step::Launch(launch)
}

/// Tells a launch where segments begin.
pub(super) fn tell_segments(segments: &Segments, launch: &mut Launch) {
    match segments {
        Segments::Offsets { of, count } => {
            let (words, binding, at) = offsets_told(of, *count);
            launch.kernel.constants.push(words);
            launch.bindings.push(binding);
            launch.params.push(at);
            launch.params.push(("segments", Param::Word(*count as u32)));
        }
        Segments::Rows(width) => launch.params.push(("width", Param::Word(*width as u32))),
        // No sort is by keys beside them: `SortRequest::check` refuses it.
        Segments::Keys(_) => {}
    }
}
