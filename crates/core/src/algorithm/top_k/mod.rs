//! Top-k: of all keys by a sample or by digits, of segments or few keys in workgroup memory, the last key alone by digits.

mod bounds;
mod digit_select;
mod flagged;
mod radix;
mod sample_select;
mod workgroup_select;

use self::bounds::Bounds;
use super::within::Within;
use super::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, offset, offsets_told, whole};
use crate::primitive::top_k::{TopKRequest, Wanted};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{
    ElementType, Kernel, KernelKey, KeyImage, Launch, Layout, NO_PLACE, Options, Param, Region, Request, Result,
    Scalar, Segments, Slot, SortRequest, Step,
};

pub use self::digit_select::DIGIT_SELECT;
pub use self::sample_select::{SAMPLE_SELECT, SAMPLED_EACH_ROOT, sampled, sampled_place, sampled_rank};
pub use self::workgroup_select::WORKGROUP_SELECT;
pub(crate) use self::workgroup_select::is_fastest as is_by_workgroups;

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
        /// Up to how many keys all are sorted, where some are wanted in order. Of more, few candidates are listed.
        all "top_k_all": Optional up to u32::MAX => if l.small { 1 << 12 } else { 1 << 20 },
        /// The same, where they are wanted as they stand.
        all_unsorted "top_k_all_unsorted": Optional up to u32::MAX => 1 << 12,
        /// Candidates are listed as they are found, and sorted by their indices, up to one in so many keys. More have flags.
        listed "top_k_listed": Count up to 1 << 20 => if l.small { 4 } else { 16 },
        /// Up to what part of all keys, in percent, those that are wanted in order are selected before they are sorted.
        selected "top_k_selected": Optional up to 100 => if l.small { 100 } else { 40 },
        /// From how many keys on these are.
        selected_from "top_k_selected_from": Optional up to u32::MAX => if l.small { 0 } else { 1 << 23 },
        /// The most invocations of the workgroups that select from parts of the keys; twice as many where there are few segments.
        select_workgroup "top_k_select_workgroup": Halved up to 1024 => 64.min(l.workgroup),
        /// Keys that an invocation of these loads at a time, one for each bit of a word at most.
        select_rows "top_k_select_rows": Count up to 32 => if l.small { 4 } else { 32 },
        /// The most workgroups for each compute unit that select from parts of the same segments.
        select_groups_each "top_k_select_groups_each": Count up to 64 => l.groups_per_unit,
        /// The longest rows of which a workgroup takes several, an invocation for each key.
        row "top_k_row": Optional up to 1 << 10 => 56,
        /// The most keys that these have room for. Where there should be room for more, they select by digits.
        select_room "top_k_select_room": Count up to 1 << 13 => 1 << 10,
        /// Up to how many keys workgroups select from parts of them, where few are wanted.
        select_all "top_k_select_all": Optional up to u32::MAX => 1 << 24,
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
    &[
        read("input", "StoredKey"),
        atomic("bound", "u32"),
        write("candidates", "u32"),
        read("offsets", "u32").optional(),
    ],
    &["n", "parts", "slots", "room", "chunk", "segments", "width", "input_offset", "offsets_offset"],
);

pub(super) static FLAGS: Kernel = kernel!(
    "top_k/flags",
    "top_k_flags",
    &[read("input", "StoredKey"), atomic("bound", "u32"), write("flags", "u32"), read("offsets", "u32").optional()],
    &["n", "parts", "slots", "width", "input_offset"],
);

pub(super) static DIGIT: Kernel = kernel!(
    "top_k/digit",
    "top_k_digit",
    &[read("input", "StoredKey"), atomic("bound", "u32"), read("offsets", "u32").optional()],
    &[
        "n",
        "parts",
        "slots",
        "k",
        "room",
        "place",
        "places",
        "chunk",
        "segments",
        "width",
        "input_offset",
        "offsets_offset",
    ],
);

pub(super) static NTH: Kernel = kernel!(
    "top_k/nth",
    "top_k_nth",
    &[read("input", "StoredKey"), read("bound", "u32"), write("output", "StoredKey")],
    &["n", "input_offset", "output_offset"],
);

pub(super) static PAD: Kernel =
    kernel!("top_k/pad", "top_k_pad", &[read("bound", "u32"), write("candidates", "u32")], &["room"]);

pub(super) static CANDIDATES: Kernel = kernel!(
    "top_k/candidates",
    "top_k_candidates",
    &[read("input", "StoredKey"), read("candidates", "u32"), write("keys", "StoredKey")],
    &["n", "room", "input_offset"],
);

pub(super) static FIRST: Kernel =
    kernel!("top_k/first", "top_k_first", &[read("places", "u32"), write("first", "u32")], &["n", "k"]);

pub(super) static GIVE: Kernel = kernel!(
    "top_k/give",
    "top_k_give",
    &[
        read("input", "StoredKey").optional(),
        read("places", "u32").optional(),
        write("target_keys", "StoredKey").optional(),
        read("input_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
        read("offsets", "u32").optional(),
    ],
    &[
        "n",
        "k",
        "most",
        "segments",
        "width",
        "input_offset",
        "input_values_offset",
        "target_offset",
        "target_values_offset",
        "offsets_offset",
    ],
);

pub(super) static SELECT: Kernel = kernel!(
    "top_k/select",
    "top_k_select",
    &[
        read("input", "StoredKey"),
        read("candidates", "u32").optional(),
        read("offsets", "u32").optional(),
        write("chosen", "u32").optional(),
        write("target_keys", "StoredKey").optional(),
        read("input_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
    ],
    &[
        "n",
        "k",
        "slots",
        "chunk",
        "segments",
        "width",
        "input_offset",
        "input_values_offset",
        "target_offset",
        "target_values_offset",
        "offsets_offset",
    ],
);

pub(super) static ROWS: Kernel = kernel!(
    "top_k/rows",
    "top_k_rows",
    &[
        read("input", "StoredKey"),
        write("target_keys", "StoredKey").optional(),
        read("input_values", "StoredValue").optional(),
        write("target_values", "StoredValue").optional(),
    ],
    &["n", "k", "width", "input_offset", "input_values_offset", "target_offset", "target_values_offset"],
);

pub(super) static NONE: Kernel = kernel!(
    "top_k/none",
    "top_k_none",
    &[write("target_keys", "StoredKey").optional(), write("target_values", "StoredValue").optional()],
    &["most", "target_offset", "target_values_offset"],
);

/// The CPU backend's.
pub(super) static PARALLEL_KERNEL: Kernel = Kernel::host("top_k/parallel");

/// On all of the processor's threads, by a sample's bound too.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::TopK(Row { plan: on_threads, traffic: Some(|r, _| r.moved()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &SAMPLE_SELECT, &WORKGROUP_SELECT, &DIGIT_SELECT];

/// What they launch, beside sorts.
pub(crate) static KERNELS: &[&Kernel] = &[
    &SAMPLE,
    &BOUND,
    &FILTER,
    &FLAGS,
    &DIGIT,
    &NTH,
    &PAD,
    &CANDIDATES,
    &FIRST,
    &GIVE,
    &SELECT,
    &ROWS,
    &NONE,
    &PARALLEL_KERNEL,
];

/// What all stages of a top_k know.
struct TopKTask<'a> {
    planner: &'a Planner<'a>,
    request: &'a TopKRequest,
    image: KeyImage,
}

/// A sort or a selection by whatever algorithm is the fastest for it.
fn fastest(planner: &Planner<'_>, request: impl Into<Request>) -> Result<Work> {
    let planner = Planner { options: Options { algorithm: None, ..planner.options }, ..*planner };
    let request = request.into();
    planner.work(&request, planner.algorithm(&request)?)
}

impl TopKTask<'_> {
    fn launch(
        &self,
        kernel: (&'static Kernel, &[&'static str]),
        more: &[(&'static str, u32)],
        groups: u32,
        bindings: Vec<(&'static str, Region)>,
        params: Vec<(&'static str, Param)>,
    ) -> Step {
        self.launch_by(self.planner.tuning.top_k.workgroup, kernel, more, groups, bindings, params)
    }

    fn launch_by(
        &self,
        workgroup: u32,
        (kernel, parts): (&'static Kernel, &[&'static str]),
        more: &[(&'static str, u32)],
        groups: u32,
        bindings: Vec<(&'static str, Region)>,
        params: Vec<(&'static str, Param)>,
    ) -> Step {
        let own =
            [("WORKGROUP", workgroup), ("KEY_WORDS", self.image.words()), ("PLACES", self.image.width().div_ceil(8))];
        let kernel = KernelKey::new(kernel, parts.to_vec(), [&own, more].concat());
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

    fn k(&self) -> (&'static str, Param) {
        ("k", Param::Word(self.request.k.min(u32::MAX.into()) as u32))
    }

    /// A sort of keys that gives their places.
    fn argsort(&self, n: u64) -> SortRequest {
        SortRequest::argsort(self.request.key.clone(), n).in_order(self.request.order)
    }

    /// A sort from scratch to scratch.
    fn sort_scratch(&self, request: SortRequest, slots: &[(Slot, Region)], scratch: &mut Scratch) -> Result<Vec<Step>> {
        let n = Some(request.n as u32);
        self.in_scratch(request, &Within { slots, n }, scratch)
    }

    /// A sort or a selection of what is in scratch, where no view reads it.
    fn in_scratch(&self, request: impl Into<Request>, within: &Within<'_>, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let planner = Planner { layout: Layout::default(), views: &[], then: None, ..*self.planner };
        Ok(fastest(&planner, request)?.within(within, scratch))
    }

    /// The keys of so many candidates.
    fn load_keys(&self, candidates: Region, room: u32, keys: Region) -> Step {
        self.launch(
            (&CANDIDATES, &[]),
            &[],
            self.groups(room),
            vec![("input", self.keys()), ("candidates", candidates), ("keys", keys)],
            vec![("n", Param::ELEMENTS), ("room", Param::Word(room)), self.input_offset()],
        )
    }

    /// What is wanted of the first keys of an order.
    fn give_first(&self, ordered: &Ordered, scratch: &mut Scratch) -> Result<Vec<Step>> {
        let Some(indices) = ordered.indices.filter(|_| !self.request.sorted) else {
            return Ok(vec![self.give(ordered)]);
        };
        let k = self.request.taken_each();
        let [first, by_index] = [(); 2].map(|()| scratch.take(4 * k));
        let taken = self.launch(
            (&FIRST, &[]),
            &[],
            self.groups(k as u32),
            vec![("places", indices), ("first", first)],
            vec![("n", Param::ELEMENTS), ("k", Param::Word(k as u32))],
        );
        let sort = self.sort_indices(k, &[(Slot::Input, first), (Slot::Output, by_index)], scratch)?;
        Ok([vec![taken], sort, vec![self.give(&Ordered::at(by_index))]].concat())
    }

    /// Behind the indices of the keys that were found stand none.
    fn pad(&self, bounds: &Bounds, candidates: Region, room: u32) -> Step {
        self.launch(
            (&PAD, &["top_k/bound_words"]),
            &[],
            self.groups(room),
            vec![("bound", bounds.region), ("candidates", candidates)],
            vec![("room", Param::Word(room))],
        )
    }

    /// A sort of so many indices. Those that stand for no key are the last.
    fn sort_indices(&self, n: u64, slots: &[(Slot, Region)], scratch: &mut Scratch) -> Result<Vec<Step>> {
        let by_index = SortRequest::new(Scalar::U32.into(), n).by_bits(0..self.index_bits());
        self.sort_scratch(by_index, slots, scratch)
    }

    /// Bits of an index.
    fn index_bits(&self) -> u32 {
        u64::BITS - self.request.n.leading_zeros()
    }

    /// Keys that an invocation of a kernel that reads all of them loads at a time.
    fn rows(&self) -> u32 {
        (self.planner.tuning.top_k.rows / self.image.words()).max(1)
    }

    /// Whether the last key that is wanted is given alone.
    fn gives_last(&self) -> u32 {
        (self.request.wanted == Wanted::Last).into()
    }

    /// Digits of an index.
    fn index_places(&self) -> u32 {
        self.index_bits().div_ceil(8)
    }

    /// How many segments there are, up to n on the device.
    fn segments(&self) -> Param {
        match self.request.segments {
            Some(Segments::Rows(width)) => Param::ELEMENTS.in_parts(width as u32),
            _ => Param::Word(self.request.count() as u32),
        }
    }

    /// So many indices of each segment, as they stand in the input.
    fn in_place(&self, chosen: Region, each: u32, scratch: &mut Scratch) -> Result<(Region, Vec<Step>)> {
        let slots = self.request.count() * u64::from(each);
        let by_index = scratch.take(4 * slots);
        let sort = SortRequest::new(Scalar::U32.into(), slots).of_segments(Segments::Rows(each.into()));
        let steps = self.sort_scratch(sort, &[(Slot::Input, chosen), (Slot::Output, by_index)], scratch)?;
        Ok((by_index, steps))
    }

    /// So many candidates in order, by their indices: of all together, or of each segment of them. Equal keys stay as they are.
    fn in_order(
        &self,
        candidates: Region,
        n: u64,
        segments: Option<Segments>,
        scratch: &mut Scratch,
    ) -> Result<(Ordered, Vec<Step>)> {
        let keys = scratch.take(n * u64::from(self.image.bytes));
        let loaded = self.load_keys(candidates, n as u32, keys);
        let (request, ordered, slots) = self.order(n, false, scratch);
        let request = SortRequest { segments, ..request };
        let slots = [slots, vec![(Slot::Input, keys), (Slot::InputValues, candidates)]].concat();
        Ok((ordered, [vec![loaded], self.sort_scratch(request, &slots, scratch)?].concat()))
    }

    /// A sort of so many keys and their indices, as far as they are wanted, and where it writes them. By place keys have no indices beside
    /// them yet.
    fn order(&self, n: u64, by_place: bool, scratch: &mut Scratch) -> (SortRequest, Ordered, Vec<(Slot, Region)>) {
        let TopKRequest { wanted, sorted, segments, .. } = self.request;
        // Behind the last key of a segment stand zeros, which are known by their indices.
        let writes_keys = *sorted && segments.is_none() && wanted.keys();
        let value = (!writes_keys || wanted.value().is_some()).then_some(ElementType::from(Scalar::U32));
        let keys = writes_keys.then(|| scratch.take(n * u64::from(self.image.bytes)));
        let indices = value.as_ref().map(|_| scratch.take(4 * n));
        let request = SortRequest::new(self.request.key.clone(), n).in_order(self.request.order).with(value);
        let request = SortRequest { writes_keys, by_place: by_place && indices.is_some(), ..request };
        let written = if request.gives_values() { [indices, keys] } else { [keys, indices] };
        let slots = [Slot::Output, Slot::OutputValues].into_iter().zip(written);
        (request, Ordered { keys, indices }, slots.filter_map(|(slot, region)| Some((slot, region?))).collect())
    }

    /// Where segments begin: all keys are one, where there are none.
    fn told_segments(&self) -> Told {
        let mut told = Told::default();
        match &self.request.segments {
            Some(Segments::Offsets { of, count }) => {
                let (words, binding, at) = offsets_told(of, *count);
                told.parts.push("segments/offsets");
                told.constants.push(words);
                told.bindings.push(binding);
                told.params.push(at);
            }
            segments => {
                let width = match segments {
                    Some(Segments::Rows(width)) => Param::Word(*width as u32),
                    _ => Param::ELEMENTS,
                };
                told.parts.push("segments/rows");
                told.params.push(("width", width));
            }
        }
        told
    }

    /// The same, and where to write what is wanted.
    fn told_targets(&self, mut told: Told) -> Told {
        let (request, wanted) = (self.request, &self.request.wanted);
        let taken = |slot, bytes: u32| whole(slot, request.taken().saturating_mul(bytes.into()));
        let unit = wanted.value().map_or(4, ElementType::unit);
        let value_words = wanted.value().map_or(0, |value| value.bytes() / unit);
        if wanted.keys() {
            let target = taken(Slot::Output, self.image.bytes);
            told.parts.push("top_k/give_key");
            told.bindings.push(("target_keys", target));
            told.params.push(("target_offset", offset("target_keys", target, self.image.bytes)));
        }
        if let Some(value) = wanted.value() {
            let slot = if wanted.keys() { Slot::OutputValues } else { Slot::Output };
            let target = taken(slot, value.bytes());
            told.parts.push("top_k/give_value");
            told.bindings.push(("target_values", target));
            told.params.push(("target_values_offset", offset("target_values", target, unit)));
        }
        let are_given = matches!(wanted, Wanted::Pairs(_));
        told.constants.extend([
            ("GIVES_KEYS", wanted.keys().into()),
            ("SOURCE_VALUES", are_given.into()),
            ("VALUE_UNIT", unit),
            ("VALUE_WORDS", value_words),
            ("NO_VALUE", if are_given { 0 } else { NO_PLACE }),
            ("PADS", request.segments.is_some().into()),
        ]);
        told
    }

    /// The same, and the values that are beside the keys.
    fn told_wanted(&self, told: Told) -> Told {
        let mut told = self.told_targets(told);
        if let Wanted::Pairs(value) = &self.request.wanted {
            let source = whole(Slot::InputValues, self.request.n.saturating_mul(value.bytes().into()));
            told.bindings.push(("input_values", source));
            told.params.push(("input_values_offset", offset("input_values", source, value.unit())));
        }
        told
    }

    /// Zeros, where there are no keys.
    fn nothing(&self) -> Vec<Step> {
        let taken = self.request.taken() as u32;
        if taken == 0 {
            return vec![];
        }
        let mut told = self.told_targets(Told::default());
        told.params.push(("most", Param::Word(taken)));
        vec![self.launch((&NONE, &[]), &told.constants, self.groups(taken), told.bindings, told.params)]
    }

    /// Writes what is wanted of keys in order.
    fn give(&self, ordered: &Ordered) -> Step {
        // Places within segments go beside the keys.
        let segments = if self.request.wanted.value().is_some() { self.told_segments() } else { Told::default() };
        let mut told = self.told_wanted(segments);
        told.bindings.extend(ordered.indices.map(|indices| ("places", indices)));
        told.constants.push(("HAS_PLACES", ordered.indices.is_some().into()));
        told.constants.push(("KEYS_ORDERED", ordered.keys.is_some().into()));
        if self.request.wanted.keys() {
            let keys = ordered.keys.unwrap_or(self.keys());
            told.bindings.push(("input", keys));
            told.params.push(("input_offset", offset("input", keys, self.image.bytes)));
        }
        let most = match self.request.segments {
            Some(_) => Param::Word(self.request.taken() as u32),
            None => Param::ELEMENTS,
        };
        let k = ("k", Param::Word(self.request.taken_each() as u32));
        told.params.extend([("n", Param::ELEMENTS), k, ("most", most), ("segments", self.segments())]);
        let groups = self.groups(self.request.taken() as u32);
        self.launch((&GIVE, &told.parts), &told.constants, groups, told.bindings, told.params)
    }
}

/// Keys in order: themselves, or where they are in the input. Or both, where values are beside them.
struct Ordered {
    keys: Option<Region>,
    indices: Option<Region>,
}

impl Ordered {
    /// Those at these indices.
    fn at(indices: Region) -> Ordered {
        Ordered { keys: None, indices: Some(indices) }
    }
}

/// What a kernel is told of segments and of what is wanted.
#[derive(Default)]
struct Told {
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
    bindings: Vec<(&'static str, Region)>,
    params: Vec<(&'static str, Param)>,
}

fn on_threads(planner: &Planner<'_>, request: &TopKRequest) -> Result<Work> {
    let task = TopKTask { planner, request, image: request.image()? };
    let mut told = task.told_wanted(task.told_segments());
    let samples = match request.segments {
        // A sample is of all keys.
        Some(_) => None,
        None => sample_select::sampled(request.n, request.k, planner.tuning.top_k.sample),
    };
    told.constants.push(("GIVES_LAST", task.gives_last()));
    told.constants.push(("SORTS", request.sorted.into()));
    told.constants.push(("SAMPLES", samples.map_or(0, |(samples, _)| samples)));
    told.bindings.push(("input", task.keys()));
    let segments = ("segments", task.segments());
    told.params.extend([("n", Param::ELEMENTS), task.k(), segments, task.input_offset()]);
    let launch = task.launch((&PARALLEL_KERNEL, &[]), &told.constants, 1, told.bindings, told.params);
    Ok(Work::new(Scratch::default(), vec![launch]))
}
