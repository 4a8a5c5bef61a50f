//! A sample's bound, one read for the candidates, and a sort of these. Behind them stands a radix selection, for samples that mislead.

use super::bounds::Bounds;
use super::{BOUND, SAMPLE, TopKTask, fastest, flagged};
use crate::algorithm::within::Within;
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::planner::Planner;
use crate::primitive::top_k::{TOP_K, TopKRequest};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Param, Result, Scalar, Slot, Step};

/// The planner's choice for the first of all keys. Reads each of many keys once, if few are wanted.
pub static SAMPLE_SELECT: Algorithm = Algorithm {
    // Those of its sorts and its selection.
    tiles_wait: true,
    views: &[Slot::Input, Slot::InputValues],
    candidates: || TRIED,
    ..Algorithm::new("sample_select", "top-k-sample-select.md", Of::TopK(Row { plan, traffic: Some(|r, _| r.moved()) }))
};

/// What tuning tries.
const TRIED: &[Candidates] = &[tuned(
    &TOP_K,
    Scalar::U32,
    &SAMPLE_SELECT,
    &[
        ("top_k_workgroup", &[256, 512, 1024]),
        ("top_k_rows", &[8, 16, 32]),
        ("top_k_groups_each", &[4, 8, 16]),
        ("top_k_sample", &[2, 4, 8]),
    ],
)];

/// Keys that are sampled for each of the square root of all, where nothing is tuned.
pub const SAMPLED_EACH_ROOT: u32 = 4;
/// The most keys that are sampled: `top_k/sample` computes their places in 32 bits.
const MOST_SAMPLED: u32 = 1 << 16;

/// How many keys are to be sampled of `n`, and how many candidates there must be room for, if fewer than half of all keys are.
pub fn sampled(n: u64, k: u64, each_root: u32) -> Option<(u32, u32)> {
    let (samples, room) = samples_and_room(n, k, each_root);
    (2 * room < n).then_some((samples, room as u32))
}

/// How many keys are to be sampled of `n`, and how many candidates there must be room for.
///
/// A key of rank `r` in the sample has rank `r * n / samples` or so among all. There is room for five standard deviations more. See
/// `top_k/bound`.
fn samples_and_room(n: u64, k: u64, each_root: u32) -> (u32, u64) {
    let samples = (n.isqrt() * u64::from(each_root)).next_power_of_two().clamp(1 << 10, MOST_SAMPLED.into());
    let rank = sampled_rank(n, k, samples);
    let room = (rank + 5.0 * rank.sqrt() + 5.0) * n as f64 / samples as f64;
    (samples as u32, (room as u64).max(samples).next_multiple_of(1 << 8))
}

/// The rank in a sample of the key up to which hardly fewer than `k` of `n` keys come. Of these `k * samples / n` are expected in the
/// sample, as a Poisson variable.
pub fn sampled_rank(n: u64, k: u64, samples: u64) -> f64 {
    let expected = k as f64 * samples as f64 / n as f64;
    expected + 5.0 * expected.sqrt() + 3.0
}

/// Where the sampled key of a number is among `n`: each is in a part of its own, anywhere there.
pub fn sampled_place(number: u32, n: u32, samples: u32) -> u32 {
    let first = |number: u64| number * u64::from(n) / u64::from(samples);
    let (from, to) = (first(number.into()) as u32, first(u64::from(number) + 1) as u32);
    let mut mixed = number.wrapping_mul(0x9e37_79b9);
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^= mixed >> 16;
    (from + mixed % (to - from).max(1)).min(n - 1)
}

fn plan(planner: &Planner<'_>, request: &TopKRequest) -> Result<Work> {
    let task = TopKTask { planner, request, image: request.image()? };
    let (numbers, n) = (&planner.tuning.top_k, request.n);
    let (samples, room) = samples_and_room(n, request.taken_each(), numbers.sample);
    let is_many = n > numbers.all.into();
    let is_few = is_many && room * u64::from(numbers.listed) <= n;
    let is_some = is_many && n >= numbers.selected_from.into() && 100 * room <= u64::from(numbers.selected) * n;
    if is_few || request.sorted && is_some {
        by_sample(&task, samples, room as u32, is_few)
    } else if request.sorted || n <= numbers.all_unsorted.into() {
        all(&task)
    } else {
        flagged::plan(&task)
    }
}

/// Sorts all keys.
fn all(task: &TopKTask<'_>) -> Result<Work> {
    let mut scratch = Scratch::default();
    let (request, ordered, slots) = task.order(task.request.n, true, &mut scratch);
    let sort = fastest(task.planner, request)?;
    let mut steps = sort.within(&Within { slots: &slots, n: None }, &mut scratch);
    steps.extend(task.give_first(&ordered, &mut scratch)?);
    Ok(Work::new(scratch, steps))
}

/// Sorts the keys up to a sample's bound: few that are listed as they are found, or more that have flags.
fn by_sample(task: &TopKTask<'_>, samples: u32, room: u32, is_few: bool) -> Result<Work> {
    let mut scratch = Scratch::default();
    let bounds = task.bounds(&mut scratch);
    let mut steps = task.sampled_bound(&bounds, samples, room, &mut scratch)?;
    let found = if is_few { scratch.take(4 * u64::from(room)) } else { task.room_for_flags(&mut scratch) };
    let find = |on_demand| match is_few {
        true => task.filter(&bounds, found, room, on_demand),
        false => task.flags(&bounds, found, on_demand),
    };
    steps.push(find(false));
    // The exact bound, if there are too few or too many candidates. A launch that is not needed ends at once.
    steps.extend(task.digits(&bounds, room, task.index_places()));
    steps.push(find(true));
    // Behind the candidates stand none.
    let indices = if is_few {
        steps.push(task.pad(&bounds, found, room));
        let indices = scratch.take(4 * u64::from(room));
        let slots = [(Slot::Input, found), (Slot::Output, indices)];
        steps.extend(task.sort_indices(room.into(), &slots, &mut scratch)?);
        indices
    } else {
        let (indices, selected) = task.flagged(found, room, &mut scratch)?;
        steps.extend(selected);
        steps.push(task.pad(&bounds, indices, room));
        indices
    };
    // Equal keys stay in the order of their indices.
    let (ordered, by_key) = task.in_order(indices, room.into(), None, &mut scratch)?;
    steps.extend([by_key, task.give_first(&ordered, &mut scratch)?].concat());
    Ok(Work::new(scratch, steps))
}

impl TopKTask<'_> {
    /// The bound by a sample, for which there is room for so many candidates.
    fn sampled_bound(&self, bounds: &Bounds, samples: u32, room: u32, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let sample = scratch.take(u64::from(samples) * u64::from(self.image.bytes));
        let places = scratch.take(u64::from(samples) * 4);
        let constant = ("SAMPLES", samples);
        let taken = self.launch(
            (&SAMPLE, &["top_k/sampled_place"]),
            &[constant],
            self.groups(samples),
            vec![("input", self.keys()), ("sample", sample)],
            vec![("n", Param::ELEMENTS), self.input_offset()],
        );
        let slots = [(Slot::Input, sample), (Slot::Output, places)];
        let sort = self.sort_scratch(self.argsort(samples.into()), &slots, scratch)?;
        let chosen = self.launch(
            (&BOUND, &["top_k/sampled_place", "top_k/bound_words"]),
            &[constant, bounds.words()],
            1,
            vec![("sample", sample), ("places", places), ("bound", bounds.region)],
            vec![("n", Param::ELEMENTS), self.k(), ("room", Param::Word(room))],
        );
        Ok([vec![taken], sort, vec![chosen]].concat())
    }
}
