//! A sample's bound, one read for the candidates, and a sort of these. Behind them stands a radix selection, for samples that mislead.

use std::ops::Deref;

use super::bounds::Bounds;
use super::{BOUND, PAD, SAMPLE, TopKTask, sort};
use crate::algorithm::within::Within;
use crate::algorithm::{Algorithm, Of, Row, Work};
use crate::planner::Planner;
use crate::primitive::top_k::{TOP_K, TopKRequest};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{KeyImage, Param, Region, Result, Scalar, Slot, Step};

/// The planner's choice for the first of many keys: reads each key once.
pub static SAMPLE_SELECT: Algorithm = Algorithm {
    // Those of its sorts.
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

/// A selection by a sample.
struct SampleTask<'a> {
    task: TopKTask<'a>,
    /// How many keys are sampled.
    samples: u32,
    /// How many candidates there is room for.
    room: u32,
}

/// How many keys are to be sampled of `n`, and how many candidates there must be room for. None if so many are wanted that all keys should be
/// candidates.
///
/// A key of rank `r` in the sample has rank `r * n / samples` or so among all. There is room for five standard deviations more. See
/// `top_k/bound`.
pub fn sampled(n: u64, k: u64, each_root: u32) -> Option<(u32, u32)> {
    let samples = (n.isqrt() * u64::from(each_root)).next_power_of_two().clamp(1 << 10, MOST_SAMPLED.into());
    let rank = sampled_rank(n, k, samples);
    let room = (rank + 5.0 * rank.sqrt() + 5.0) * n as f64 / samples as f64;
    let room = (room as u64).max(samples).next_multiple_of(1 << 8);
    (2 * room < n).then_some((samples as u32, room as u32))
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
    let image = request.image()?;
    let numbers = &planner.tuning.top_k;
    let few = request.n <= numbers.all.into();
    let Some((samples, room)) = sampled(request.n, request.k, numbers.sample).filter(|_| !few) else {
        return of_all(planner, request, image);
    };
    let task = SampleTask { task: TopKTask { planner, request, image }, samples, room };
    let mut scratch = Scratch::default();
    let bounds = task.bounds(&mut scratch);
    let candidates = scratch.take(u64::from(room) * 4);
    let mut steps = task.bound(&bounds, &mut scratch)?;
    steps.push(task.filter(&bounds, candidates, room, false));
    // The exact bound, if there are too few or too many candidates. A launch that is not needed ends at once.
    steps.extend(task.digits(&bounds, room, task.index_places()));
    steps.push(task.filter(&bounds, candidates, room, true));
    steps.extend(task.ordered(bounds.region, candidates, &mut scratch)?);
    Ok(Work::new(scratch, steps))
}

/// All keys are candidates.
fn of_all(planner: &Planner<'_>, request: &TopKRequest, image: KeyImage) -> Result<Work> {
    let task = TopKTask { planner, request, image };
    let mut scratch = Scratch::default();
    let places = scratch.take(request.n * 4);
    let sort = sort(planner, &task.argsort(request.n))?;
    let mut steps = sort.within(&Within { slots: &[(Slot::Output, places)], n: None }, &mut scratch);
    steps.extend(task.give_first(places, None, &mut scratch)?);
    Ok(Work::new(scratch, steps))
}

impl<'a> Deref for SampleTask<'a> {
    type Target = TopKTask<'a>;

    fn deref(&self) -> &TopKTask<'a> {
        &self.task
    }
}

impl SampleTask<'_> {
    fn room(&self) -> (&'static str, Param) {
        ("room", Param::Word(self.room))
    }

    /// The bound by a sample.
    fn bound(&self, bounds: &Bounds, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let sample = scratch.take(u64::from(self.samples) * u64::from(self.image.bytes));
        let places = scratch.take(u64::from(self.samples) * 4);
        let samples = [("SAMPLES", self.samples)];
        let taken = self.launch(
            (&SAMPLE, &["top_k/sampled_place"]),
            &samples,
            self.groups(self.samples),
            vec![("input", self.keys()), ("sample", sample)],
            vec![("n", Param::ELEMENTS), self.input_offset()],
        );
        let sort = self.sort_scratch(
            &self.argsort(self.samples.into()),
            &[(Slot::Input, sample), (Slot::Output, places)],
            scratch,
        )?;
        let chosen = self.launch(
            (&BOUND, &["top_k/sampled_place", "top_k/bound_words"]),
            &[samples[0], bounds.words()],
            1,
            vec![("sample", sample), ("places", places), ("bound", bounds.region)],
            vec![("n", Param::ELEMENTS), self.k(), self.room()],
        );
        Ok([vec![taken], sort, vec![chosen]].concat())
    }

    /// The candidates in order, and what is wanted of the first. Equal keys are in the order of their indices, as these were sorted before.
    fn ordered(&self, bound: Region, candidates: Region, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let groups = self.groups(self.room);
        let [indices, places] = [(); 2].map(|()| scratch.take(u64::from(self.room) * 4));
        let padded = self.launch(
            (&PAD, &["top_k/bound_words"]),
            &[],
            groups,
            vec![("bound", bound), ("candidates", candidates)],
            vec![self.room()],
        );
        let slots = [(Slot::Input, candidates), (Slot::Output, indices)];
        let by_index = self.sort_indices(self.room.into(), &slots, scratch)?;
        let by_key = self.by_key(indices, self.room, places, scratch)?;
        let given = self.give_first(places, Some(indices), scratch)?;
        Ok([vec![padded], by_index, by_key, given].concat())
    }
}
