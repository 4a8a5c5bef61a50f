//! Workgroups select from parts of the keys, each in memory of its own: of segments, and of few keys.

use super::{Ordered, ROWS, SELECT, Told, TopKTask, radix};
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::planner::{BESIDE, Planner};
use crate::primitive::top_k::{TOP_K, TopKRequest, Wanted};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Param, Region, Result, Scalar, Segments, Slot, Step};

/// The planner's choice for segments and for few keys: reads each key once.
pub static WORKGROUP_SELECT: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    candidates: || TRIED,
    ..Algorithm::new(
        "workgroup_select",
        "top-k-workgroup-select.md",
        Of::TopK(Row { plan, traffic: Some(|r, _| r.moved()) }),
    )
};

/// What tuning tries.
const TRIED: &[Candidates] = &[tuned(
    &TOP_K,
    Scalar::U32,
    &WORKGROUP_SELECT,
    &[
        ("top_k_select_workgroup", &[32, 64, 128]),
        ("top_k_select_rows", &[8, 16, 32]),
        ("top_k_select_groups_each", &[4, 8, 16]),
    ],
)];

/// Up to how many keys are ordered by their ranks.
const MOST_RANKED: u32 = 256;
/// The fewest invocations of a workgroup.
const NARROWEST: u32 = 32;

/// What a workgroup holds and takes.
struct SelectTile {
    workgroup: u32,
    /// Keys that an invocation loads at a time.
    rows: u32,
    /// How many of these it gives, where there is no room for all: one of as many rows as any other.
    leaders: u32,
    /// Keys that a workgroup has room for.
    room: u32,
}

impl SelectTile {
    /// The shape for `k` of each part of about so many keys. None if `k` is too many, or if the workgroup's memory has no room for twice as
    /// many.
    fn of(planner: &Planner<'_>, request: &TopKRequest, about: u64, key_words: u32) -> Option<SelectTile> {
        let numbers = &planner.tuning.top_k;
        let k = u32::try_from(request.selected_each()).ok().filter(|k| *k <= 1 << 16)?.next_power_of_two();
        let about = about.clamp(1, 1 << 20) as u32;
        let most_rows = (numbers.select_rows / key_words).max(1);
        let rows = 1 << about.div_ceil(NARROWEST).next_power_of_two().min(most_rows).ilog2();
        // Where there are few workgroups, each has a compute unit for itself.
        let is_few = request.count() < planner.resident(1).into();
        let widest = if is_few { 2 * numbers.select_workgroup } else { numbers.select_workgroup };
        let widest = widest.clamp(NARROWEST, planner.caps.max_workgroup);
        // Of more leaders than are wanted the last that is wanted is a better bound.
        let shape = |leaders: u32| {
            let workgroup = (about / rows).next_power_of_two().clamp(NARROWEST, widest);
            let kept = leaders.max(workgroup);
            SelectTile { workgroup, rows, leaders: (kept / workgroup).min(rows), room: 2 * kept }
        };
        let key_bytes = 4 * (key_words.next_power_of_two() + 1);
        let fits = |shape: &SelectTile| shape.room * key_bytes + BESIDE <= planner.caps.shared_bytes;
        (4 * k <= numbers.select_room).then_some([2 * k, k])?.map(shape).into_iter().find(fits)
    }

    /// How it brings in order what a workgroup keeps.
    fn order(&self) -> &'static str {
        if self.room <= MOST_RANKED { "top_k/order_by_rank" } else { "top_k/order_bitonic" }
    }

    fn tile(&self) -> u32 {
        self.workgroup * self.rows
    }

    /// The most keys that a workgroup may take on Mesa's processors. For each tile it sorts what there is room for as often as an
    /// invocation has rows.
    fn most(&self) -> u64 {
        let turns = u64::from(2 * self.rows / self.leaders + 2) * u64::from(self.room.max(64) + 2);
        u64::from(self.tile()) * (MOST_TURNS / turns).max(1)
    }

    /// How many keys a chunk has, `most` at most, if segments have so many keys, and there are so many of them. None if a workgroup
    /// should take all of a segment.
    fn chunk(&self, planner: &Planner<'_>, (length, count): (u64, u64), k: u64, most: u64) -> Option<u64> {
        let workgroups = u64::from(planner.resident(planner.tuning.top_k.select_groups_each));
        // What is selected of the chunks is as much as a chunk, then.
        let even = if length > 4 * u64::from(self.tile()) { (length / k).isqrt() } else { 1 };
        let few = (workgroups / count).min(even).max(1);
        let least = length.div_ceil(most);
        let parts = few.max(least);
        // Chunks that divide rows leave no keys beside them.
        let divides = |parts: &u64| count == 1 || length.is_multiple_of(*parts);
        let parts = (least.max(parts / 2 + 1)..=parts).rev().find(divides).unwrap_or(parts);
        (parts > 1).then(|| length.div_ceil(parts))
    }
}

/// The most turns of loops that Mesa's processors are given.
const MOST_TURNS: u64 = 1 << 15;

/// How workgroups take segments.
struct Parts {
    /// The shape of a workgroup that takes a segment.
    segment: SelectTile,
    /// How many keys each chunk has, and the shape of a workgroup that takes one, where a long segment is taken in chunks.
    chunk: Option<(u32, SelectTile)>,
}

impl Parts {
    /// None if more keys are wanted than a workgroup has room for, or if its loops turn too often for the device.
    fn of(planner: &Planner<'_>, request: &TopKRequest, key_words: u32) -> Option<Parts> {
        let (longest, k) = (request.longest(), request.selected_each().max(1));
        let (count, about) = (request.count().max(1), request.n / request.count().max(1));
        let segment = SelectTile::of(planner, request, about, key_words)?;
        let long = SelectTile::of(planner, request, longest, key_words)?;
        // Of segments by offsets one may have all keys, or all as many.
        let chunks = [(longest, (request.n / longest.max(1)).max(1)), (about, count)];
        // Beside its chunks a segment has keys of less than two: a workgroup takes one with it, or, if there is no whole chunk, both.
        let most = if planner.ends_loops() { (long.most() / 3).min(segment.most() / 2) } else { u64::MAX };
        let chunk = |shares| long.chunk(planner, shares, k, most);
        let Some(chunk) = chunks.into_iter().filter_map(chunk).min() else {
            return Some(Parts { segment, chunk: None });
        };
        let is_ended = planner.ends_loops() && longest.div_ceil(chunk) * k > long.most();
        (!is_ended).then_some(Parts { segment, chunk: Some((chunk as u32, long)) })
    }
}

/// Whether it is faster for all keys than a sample.
pub(crate) fn is_fastest(planner: &Planner<'_>, request: &TopKRequest) -> bool {
    request.segments.is_some()
        || request.n <= planner.tuning.top_k.select_all.into()
            && request.image().is_ok_and(|image| {
                Parts::of(planner, request, image.words()).is_some_and(|parts| parts.segment.room <= MOST_RANKED)
            })
}

/// Whether a workgroup takes several rows of a width, an invocation for each key.
fn is_short(task: &TopKTask<'_>, width: u64) -> bool {
    let (numbers, request) = (&task.planner.tuning.top_k, task.request);
    // A key and a word for each.
    let shared_bytes = numbers.workgroup * 4 * (task.image.words().next_power_of_two() + 1) + BESIDE;
    width <= numbers.row.min(numbers.workgroup).into()
        && (request.k <= width || request.wanted == Wanted::Last)
        && shared_bytes <= task.planner.caps.shared_bytes
}

fn plan(planner: &Planner<'_>, request: &TopKRequest) -> Result<Work> {
    let task = TopKTask { planner, request, image: request.image()? };
    if request.n == 0 || request.taken() == 0 {
        return Ok(Work::new(Scratch::default(), task.nothing()));
    }
    if let Some(Segments::Rows(width)) = request.segments
        && is_short(&task, width)
    {
        return Ok(Work::new(Scratch::default(), vec![task.short_rows(width as u32)]));
    }
    let Some(parts) = Parts::of(planner, request, task.image.words()) else { return radix::plan(&task) };
    let (count, k) = (request.count() as u32, request.selected_each() as u32);
    let mut scratch = Scratch::default();
    let slots = u64::from(count) * u64::from(k);
    // Of one key there is one order.
    let unsorted = (!request.sorted && k > 1).then(|| scratch.take(4 * slots));
    let target = || {
        let mut told = match unsorted {
            Some(chosen) => task.told_chosen(chosen),
            None => task.told_wanted(task.told_segments()),
        };
        told.constants.push(("GIVES_LAST", task.gives_last()));
        told
    };
    let of_segments = (count, task.segments());
    let mut steps = vec![];
    if let Some((chunk, shape)) = &parts.chunk {
        let chunks = (request.n as u32).div_ceil(*chunk);
        let chosen = scratch.take(4 * u64::from(chunks) * u64::from(k));
        let of_chunks = (chunks, Param::Word(chunks));
        steps.push(task.select(shape, task.told_chosen(chosen).taking("top_k/take_chunk", *chunk, &task), of_chunks));
        let have_chunks = match request.segments {
            Some(Segments::Rows(width)) => width.is_multiple_of((*chunk).into()),
            Some(_) => false,
            None => true,
        };
        if !have_chunks {
            let short = target().taking("top_k/take_short", *chunk, &task);
            steps.push(task.select(&parts.segment, short, of_segments));
        }
        let mut joined = target().taking("top_k/take_joined", *chunk, &task);
        joined.bindings.push(("candidates", chosen));
        steps.push(task.select(shape, joined, of_chunks));
    } else {
        let mut whole = target();
        whole.parts.extend(["top_k/part", "top_k/take_segment"]);
        steps.push(task.select(&parts.segment, whole, of_segments));
    }
    if let Some(chosen) = unsorted {
        let (by_index, sorts) = task.in_place(chosen, k, &mut scratch)?;
        steps.extend(sorts);
        steps.push(task.give(&Ordered::at(by_index)));
    }
    Ok(Work::new(scratch, steps))
}

impl Told {
    /// The same, for workgroups that know which chunks of so many keys a segment has all of.
    fn taking(mut self, text: &'static str, chunk: u32, task: &TopKTask<'_>) -> Told {
        self.parts.extend(["top_k/part", "top_k/chunks", text]);
        self.params.extend([("chunk", Param::Word(chunk)), ("segments", task.segments())]);
        self
    }
}

impl TopKTask<'_> {
    /// Where segments begin, and where to write the indices of what is selected of each.
    fn told_chosen(&self, chosen: Region) -> Told {
        let mut told = self.told_segments();
        told.bindings.push(("chosen", chosen));
        let none = [("GIVES_KEYS", 0), ("SOURCE_VALUES", 0), ("VALUE_UNIT", 4), ("VALUE_WORDS", 0), ("PADS", 1)];
        told.constants.extend(none);
        told.constants.push(("CHOOSES", 1));
        told
    }

    /// What is wanted of rows of which a workgroup takes several.
    fn short_rows(&self, width: u32) -> Step {
        let workgroup = self.planner.tuning.top_k.workgroup;
        let Told { parts, mut constants, bindings, mut params } = self.told_wanted(Told::default());
        constants.extend([("GIVES_LAST", self.gives_last()), ("STAYS", (!self.request.sorted).into())]);
        params.extend([self.k(), ("width", Param::Word(width)), ("n", Param::ELEMENTS), self.input_offset()]);
        let groups = (self.request.n as u32).div_ceil(workgroup / width * width);
        let bindings = [bindings, vec![("input", self.keys())]].concat();
        self.launch((&ROWS, &parts), &constants, groups, bindings, params)
    }

    /// A selection by so many workgroups, of which as many have something to take.
    fn select(&self, shape: &SelectTile, told: Told, (groups, slots): (u32, Param)) -> Step {
        let Told { parts: mut texts, mut constants, mut bindings, mut params } = told;
        bindings.push(("input", self.keys()));
        params.extend([("k", Param::Word(self.request.selected_each() as u32)), ("slots", slots)]);
        params.extend([("n", Param::ELEMENTS), self.input_offset()]);
        texts.extend(["top_k/kept", shape.order()]);
        let SelectTile { workgroup, rows, leaders, room } = *shape;
        constants.extend([("ROWS", rows), ("ROWS_EACH", rows / leaders), ("ROOM", room), ("SEATS", room / workgroup)]);
        self.launch_by(workgroup, (&SELECT, &texts), &constants, groups, bindings, params)
    }
}
