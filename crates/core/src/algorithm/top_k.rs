//! Top-k: a sample's bound, one read for the candidates, and a sort of these. Behind them stands a radix selection, for samples that
//! mislead.

use super::within::Within;
use super::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, offset, whole};
use crate::primitive::top_k::{TOP_K, TopKRequest, Wanted};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, numbers, tuned};
use crate::{
    ElementType, Kernel, KernelKey, KeyImage, Launch, Layout, Options, Param, Region, Request, Result, Scalar, Slot,
    SortRequest, Step,
};

numbers! {
    /// Numbers of top_k.
    pub struct TopKs by l {
        /// Invocations of the workgroups of a top_k.
        workgroup "top_k_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Keys that an invocation of a top_k loads at a time, one for each bit of a word at most.
        rows "top_k_rows": Count up to 32 => if l.small { 4 } else { 16 },
        /// Workgroups for each compute unit that read the keys.
        groups_each "top_k_groups_each": Count up to 64 => l.groups_per_unit,
        /// Keys that are sampled for each of the square root of all, rounded to a power of two.
        sample "top_k_sample": Count up to 64 => SAMPLED_EACH_ROOT,
        /// Up to how many keys all are sorted.
        all "top_k_all": Optional up to 1 << 20 => 1 << 12,
    }
}

pub(super) static SAMPLE: Kernel = kernel!(
    "top_k/sample",
    "top_k_sample",
    &[read("input", "StoredKey"), write("sample", "StoredKey")],
    &["n", "input_offset"],
);

pub(super) static BOUND: Kernel = kernel!(
    "top_k/bound",
    "top_k_bound",
    &[read("sample", "StoredKey"), read("places", "u32"), write("bound", "u32")],
    &["n", "k", "room"],
);

pub(super) static FILTER: Kernel = kernel!(
    "top_k/filter",
    "top_k_filter",
    &[read("input", "StoredKey"), atomic("bound", "u32"), write("candidates", "u32")],
    &["n", "tiles", "groups", "room", "input_offset"],
);

pub(super) static DIGIT: Kernel = kernel!(
    "top_k/digit",
    "top_k_digit",
    &[read("input", "StoredKey"), atomic("bound", "u32")],
    &["n", "tiles", "groups", "k", "room", "place", "input_offset"],
);

pub(super) static PAD: Kernel =
    kernel!("top_k/pad", "top_k_pad", &[read("bound", "u32"), write("candidates", "u32")], &["room"]);

pub(super) static CANDIDATES: Kernel = kernel!(
    "top_k/candidates",
    "top_k_candidates",
    &[read("input", "StoredKey"), read("candidates", "u32"), read("bound", "u32"), write("keys", "StoredKey")],
    &["room", "input_offset"],
);

pub(super) static GIVE: Kernel = kernel!(
    "top_k/give",
    "top_k_give",
    &[
        read("input", "StoredKey").optional(),
        read("places", "u32"),
        read("candidates", "u32").optional(),
        write("target_keys", "StoredKey").optional(),
        read("input_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
    ],
    &["n", "k", "input_offset", "input_values_offset", "target_offset", "target_values_offset"],
);

/// The CPU backend's.
pub(super) static PARALLEL_KERNEL: Kernel = Kernel::host("top_k/parallel");

/// The planner's choice: reads each key once.
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

/// On all of the processor's threads, by a sample's bound too.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::TopK(Row { plan: on_threads, traffic: Some(|r, _| r.moved()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &SAMPLE_SELECT];

/// What they launch, beside sorts.
pub(crate) static KERNELS: &[&Kernel] = &[&SAMPLE, &BOUND, &FILTER, &DIGIT, &PAD, &CANDIDATES, &GIVE, &PARALLEL_KERNEL];

/// Words of the memory of a bound: the image of a key, an index, and what counting digits needs.
const BOUND_WORDS: u64 = 9 + 256;
/// Keys that are sampled for each of the square root of all, where nothing is tuned.
pub const SAMPLED_EACH_ROOT: u32 = 4;
/// The most keys that are sampled: `top_k/sample` computes their places in 32 bits.
const MOST_SAMPLED: u32 = 1 << 16;

/// What all stages of a top_k know.
struct TopKTask<'a> {
    planner: &'a Planner<'a>,
    request: &'a TopKRequest,
    image: KeyImage,
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
    let task = TopKTask { planner, request, image, samples, room };
    let mut scratch = Scratch::default();
    let bound = scratch.take(BOUND_WORDS * 4);
    let candidates = scratch.take(u64::from(room) * 4);
    let mut steps = task.bound(bound, &mut scratch)?;
    steps.push(task.filter(bound, candidates, false));
    steps.extend(task.digits(bound));
    steps.push(task.filter(bound, candidates, true));
    steps.extend(task.ordered(bound, candidates, &mut scratch)?);
    Ok(Work::new(scratch, steps))
}

/// All keys are candidates.
fn of_all(planner: &Planner<'_>, request: &TopKRequest, image: KeyImage) -> Result<Work> {
    let task = TopKTask { planner, request, image, samples: 0, room: request.n as u32 };
    let mut scratch = Scratch::default();
    let places = scratch.take(request.n * 4);
    let sort = sort(planner, &task.argsort(request.n))?;
    let mut steps = sort.within(&Within { slots: &[(Slot::Output, places)], n: None }, &mut scratch);
    steps.push(task.give(places, None));
    Ok(Work::new(scratch, steps))
}

/// A sort by whatever algorithm is the fastest for it.
fn sort(planner: &Planner<'_>, sort: &SortRequest) -> Result<Work> {
    let planner = Planner { options: Options { algorithm: None, ..planner.options }, ..*planner };
    let request = Request::from(sort.clone());
    planner.work(&request, planner.algorithm(&request)?)
}

impl TopKTask<'_> {
    fn constants(&self) -> Vec<(&'static str, u32)> {
        vec![
            ("WORKGROUP", self.planner.tuning.top_k.workgroup),
            ("KEY_WORDS", self.image.words()),
            ("PLACES", self.places()),
        ]
    }

    fn launch(
        &self,
        (kernel, parts): (&'static Kernel, &[&'static str]),
        more: &[(&'static str, u32)],
        groups: u32,
        bindings: Vec<(&'static str, Region)>,
        params: Vec<(&'static str, Param)>,
    ) -> Step {
        let kernel = KernelKey::new(kernel, parts.to_vec(), [&self.constants(), more].concat());
        let kernel = KernelKey { image: Some(self.image.clone()), ..kernel };
        Step::Launch(Launch { kernel, groups, bindings, params, initial: None })
    }

    fn groups(&self, n: u32) -> u32 {
        n.div_ceil(self.planner.tuning.top_k.workgroup)
    }

    fn keys(&self) -> Region {
        whole(Slot::Input, self.request.n.saturating_mul(self.image.bytes.into()))
    }

    fn input_offset(&self) -> (&'static str, Param) {
        ("input_offset", Param::Offset { binding: "input", unit: self.image.bytes })
    }

    fn room(&self) -> (&'static str, Param) {
        ("room", Param::Word(self.room))
    }

    fn k(&self) -> (&'static str, Param) {
        ("k", Param::Word(self.request.k.min(u32::MAX.into()) as u32))
    }

    /// A sort of keys that gives their places.
    fn argsort(&self, n: u64) -> SortRequest {
        SortRequest::argsort(self.request.key.clone(), n).in_order(self.request.order)
    }

    /// A sort from scratch to scratch.
    fn sort_scratch(
        &self,
        request: &SortRequest,
        from: Region,
        to: Region,
        scratch: &mut Scratch,
    ) -> Result<Vec<Step>> {
        let planner = Planner { layout: Layout::default(), views: &[], then: None, ..*self.planner };
        let slots = [(Slot::Input, from), (Slot::Output, to)];
        Ok(sort(&planner, request)?.within(&Within { slots: &slots, n: Some(request.n as u32) }, scratch))
    }

    /// The bound by a sample.
    fn bound(&self, bound: Region, scratch: &mut Scratch) -> Result<Vec<Step>> {
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
        let sort = self.sort_scratch(&self.argsort(self.samples.into()), sample, places, scratch)?;
        let chosen = self.launch(
            (&BOUND, &["top_k/sampled_place", "top_k/bound_words"]),
            &samples,
            1,
            vec![("sample", sample), ("places", places), ("bound", bound)],
            vec![("n", Param::ELEMENTS), self.k(), self.room()],
        );
        Ok([vec![taken], sort, vec![chosen]].concat())
    }

    /// A kernel that reads all keys, in tiles that its workgroups take by turns.
    fn reading(
        &self,
        kernel: &'static Kernel,
        more: &[(&'static str, u32)],
        bindings: &[(&'static str, Region)],
        params: &[(&'static str, Param)],
    ) -> Step {
        let numbers = &self.planner.tuning.top_k;
        let rows = (numbers.rows / self.image.words()).max(1);
        let tile = numbers.workgroup * rows;
        let groups = self.planner.staying((self.request.n as u32).div_ceil(tile), numbers.groups_each);
        let own = [
            ("n", Param::ELEMENTS),
            ("tiles", Param::ELEMENTS.in_parts(tile)),
            ("groups", Param::Word(groups)),
            self.room(),
            self.input_offset(),
        ];
        self.launch(
            (kernel, &["top_k/bound_words"]),
            &[&[("ROWS", rows)], more].concat(),
            groups,
            [&[("input", self.keys())], bindings].concat(),
            [&own, params].concat(),
        )
    }

    /// The indices of the keys up to the bound.
    fn filter(&self, bound: Region, candidates: Region, on_demand: bool) -> Step {
        let constants = [("ON_DEMAND", on_demand.into())];
        self.reading(&FILTER, &constants, &[("bound", bound), ("candidates", candidates)], &[])
    }

    /// The exact bound, if there are too few or too many candidates: digit by digit of the keys and then of their indices, the
    /// highest first. A launch that is not needed ends at once.
    fn digits(&self, bound: Region) -> Vec<Step> {
        let indices = self.index_bits().div_ceil(8);
        let constants = [("INDEX_PLACES", indices), ("KEY_FIRST", self.image.bits.start)];
        let places = (0..self.places() + indices).rev();
        let launch = |place| {
            let params = [self.k(), ("place", Param::Word(place))];
            self.reading(&DIGIT, &constants, &[("bound", bound)], &params)
        };
        places.map(launch).collect()
    }

    /// Places of a key's digits.
    fn places(&self) -> u32 {
        self.image.width().div_ceil(8)
    }

    /// Bits of an index.
    fn index_bits(&self) -> u32 {
        u64::BITS - self.request.n.leading_zeros()
    }

    /// The candidates in order, and what is wanted of the first. Equal keys are in the order of their indices, as these were sorted before.
    fn ordered(&self, bound: Region, candidates: Region, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let groups = self.groups(self.room);
        let [indices, places] = [(); 2].map(|()| scratch.take(u64::from(self.room) * 4));
        let keys = scratch.take(u64::from(self.room) * u64::from(self.image.bytes));
        let padded = self.launch(
            (&PAD, &["top_k/bound_words"]),
            &[],
            groups,
            vec![("bound", bound), ("candidates", candidates)],
            vec![self.room()],
        );
        let by_index = SortRequest::new(Scalar::U32.into(), self.room.into()).by_bits(0..self.index_bits());
        let by_index = self.sort_scratch(&by_index, candidates, indices, scratch)?;
        let loaded = self.launch(
            (&CANDIDATES, &["top_k/bound_words"]),
            &[],
            groups,
            vec![("input", self.keys()), ("candidates", indices), ("bound", bound), ("keys", keys)],
            vec![self.room(), self.input_offset()],
        );
        let by_key = self.sort_scratch(&self.argsort(self.room.into()), keys, places, scratch)?;
        Ok([vec![padded], by_index, vec![loaded], by_key, vec![self.give(places, Some(indices))]].concat())
    }

    /// Writes what is wanted of the keys at the first places: of candidates, or of all keys.
    fn give(&self, places: Region, candidates: Option<Region>) -> Step {
        let mut given = Given::of(self.request, self.image.bytes);
        given.bindings.push(("places", places));
        given.bindings.extend(candidates.map(|candidates| ("candidates", candidates)));
        given.constants.push(("HAS_CANDIDATES", candidates.is_some().into()));
        if self.request.wanted.keys() {
            given.bindings.push(("input", self.keys()));
            given.params.push(self.input_offset());
        }
        given.params.extend([("n", Param::ELEMENTS), self.k()]);
        let parts: &[&str] = if self.request.wanted.value().is_some() { &["top_k/values"] } else { &[] };
        let groups = self.groups(self.request.k.min(self.request.n) as u32);
        self.launch((&GIVE, parts), &given.constants, groups, given.bindings, given.params)
    }
}

/// What a kernel that writes what is wanted is told of it.
struct Given {
    constants: Vec<(&'static str, u32)>,
    bindings: Vec<(&'static str, Region)>,
    params: Vec<(&'static str, Param)>,
}

impl Given {
    /// Of keys of so many bytes.
    fn of(request: &TopKRequest, key_bytes: u32) -> Given {
        let wanted = &request.wanted;
        let taken = |slot, bytes: u32| whole(slot, request.k.min(request.n).saturating_mul(bytes.into()));
        let unit = wanted.value().map_or(4, ElementType::unit);
        let value_words = wanted.value().map_or(0, |value| value.bytes() / unit);
        let (mut bindings, mut params) = (vec![], vec![]);
        if wanted.keys() {
            let target = taken(Slot::Output, key_bytes);
            bindings.push(("target_keys", target));
            params.push(("target_offset", offset("target_keys", target, key_bytes)));
        }
        if let Some(value) = wanted.value() {
            let slot = if wanted.keys() { Slot::OutputValues } else { Slot::Output };
            let target = taken(slot, value.bytes());
            bindings.push(("target_values", target));
            params.push(("target_values_offset", offset("target_values", target, unit)));
        }
        if let Wanted::Pairs(value) = wanted {
            let source = whole(Slot::InputValues, request.n.saturating_mul(value.bytes().into()));
            bindings.push(("input_values", source));
            params.push(("input_values_offset", offset("input_values", source, unit)));
        }
        let constants = vec![
            ("GIVES_KEYS", wanted.keys().into()),
            ("SOURCE_VALUES", matches!(wanted, Wanted::Pairs(_)).into()),
            ("VALUE_UNIT", unit),
            ("VALUE_WORDS", value_words),
        ];
        Given { constants, bindings, params }
    }
}

fn on_threads(planner: &Planner<'_>, request: &TopKRequest) -> Result<Work> {
    let task = TopKTask { planner, request, image: request.image()?, samples: 0, room: 0 };
    let mut given = Given::of(request, task.image.bytes);
    let samples = sampled(request.n, request.k, planner.tuning.top_k.sample).map_or(0, |(samples, _)| samples);
    given.constants.push(("SAMPLES", samples));
    given.bindings.push(("input", task.keys()));
    given.params.extend([("n", Param::ELEMENTS), task.k(), task.input_offset()]);
    let launch = task.launch((&PARALLEL_KERNEL, &[]), &given.constants, 1, given.bindings, given.params);
    Ok(Work::new(Scratch::default(), vec![launch]))
}
