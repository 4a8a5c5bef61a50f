//! Sorts: Onesweep, by buckets or within one workgroup where keys are few, or upsweep, scan and downsweep where no workgroup may wait
//! for another; and the literature's. Segments are sorted by merging, and long ones by passes.

pub(crate) mod by_length;
pub(crate) mod counting_sort;
pub(crate) mod hybrid;
pub(crate) mod merge_sort;
pub(crate) mod merge_tile;
mod msd_first;
pub(crate) mod one_tile;
mod onesweep;
mod parallel;
pub(crate) mod partition;
mod segments;
mod split;
pub(crate) mod upsweep_downsweep;
mod upsweep_downsweep_4bit;

pub use by_length::BY_LENGTH;
pub use counting_sort::COUNTING_SORT;
pub use hybrid::HYBRID;
pub use merge_sort::MERGE_SORT;
pub use merge_tile::MERGE_TILE;
pub use msd_first::MSD_FIRST;
pub use one_tile::ONE_TILE;
pub use onesweep::ONESWEEP;
pub use parallel::PARALLEL;
pub(crate) use partition::has_room_for_ranks;
pub use split::SPLIT;
pub use upsweep_downsweep::UPSWEEP_DOWNSWEEP;
pub use upsweep_downsweep_4bit::UPSWEEP_DOWNSWEEP_4BIT;

use super::{Algorithm, Of, Row, Work};
use crate::planner::{Planner, offset, whole};
use crate::scratch::Scratch;
use crate::{ElementType, Error, Kernel, KernelKey, KeyImage, Language, Param, Region, Result, Slot, SortRequest};

/// Those of the primitive: the planner's choices, then the literature's.
pub(crate) static ALL: &[&Algorithm] = &[
    &PARALLEL,
    &ONESWEEP,
    &ONE_TILE,
    &HYBRID,
    &COUNTING_SORT,
    &UPSWEEP_DOWNSWEEP,
    &MERGE_TILE,
    &MERGE_SORT,
    &BY_LENGTH,
    &SPLIT,
    &UPSWEEP_DOWNSWEEP_4BIT,
    &MSD_FIRST,
];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[
    &partition::DIGIT_COUNTS,
    &partition::ONESWEEP,
    &counting_sort::FILL,
    &segments::ONE_WORKGROUP,
    &merge_tile::KERNEL,
    &merge_sort::BOUNDS,
    &merge_sort::TILE,
    &merge_sort::MERGE,
    &by_length::TILES,
    &by_length::COUNTS,
    &by_length::SCATTER,
    &msd_first::LARGE_BUCKET,
    &upsweep_downsweep::UPSWEEP,
    &upsweep_downsweep::DOWNSWEEP,
    &parallel::KERNEL,
];

/// Bits of a digit place.
pub(crate) const DIGIT_BITS: u32 = 8;
/// Values of a digit.
const DIGITS: u32 = 1 << DIGIT_BITS;
/// No device was tuned to a larger tile.
const LARGEST_TILE: u64 = 16 << 10;

/// A sort of kernels.
const fn sort(
    name: &'static str,
    page: &'static str,
    plan: fn(&Planner<'_>, &SortRequest) -> Result<Work>,
    traffic: fn(&SortRequest, u64) -> u64,
) -> Algorithm {
    Algorithm { reads: 2, ..Algorithm::new(name, page, Of::Sort(Row { plan, traffic: Some(traffic) })) }
}

/// What the kernels of one sort have in common.
pub(crate) struct SortTask {
    n: u32,
    digit_bits: u32,
    places: u32,
    image: KeyImage,
    value_bytes: u32,
    /// Bytes of what a value is moved by.
    value_unit: u32,
    constants: Vec<(&'static str, u32)>,
    /// Where keys and values come from, and where they go.
    input: Location,
    output: Location,
}

/// The memory and the numbers of a launch, by their names.
type Bindings = Vec<(&'static str, Region)>;
type Params = Vec<(&'static str, Param)>;

/// Where keys and values lie.
#[derive(Clone, Copy)]
struct Location {
    keys: Region,
    values: Option<Region>,
}

impl SortTask {
    /// A sort by digits of so many bits.
    pub(crate) fn of(planner: &Planner<'_>, request: &SortRequest, digit_bits: u32) -> Result<SortTask> {
        let (n, image, value_bytes) = (request.n as u32, request.image()?, request.value_bytes());
        let key_bytes = image.bytes;
        let value_unit = request.value.as_ref().map_or(4, |value| planner.value_unit(value));
        let of = |slot, bytes: u32| whole(slot, u64::from(n) * u64::from(bytes));
        let at = |keys, values| Location {
            keys: of(keys, key_bytes),
            values: (value_bytes > 0).then(|| of(values, value_bytes)),
        };
        let given = at(Slot::Input, Slot::InputValues);
        let input = Location { values: given.values.filter(|_| !request.by_place), ..given };
        let output = match request.gives_values() {
            false => at(Slot::Output, Slot::OutputValues),
            true => at(Slot::OutputValues, Slot::Output),
        };
        Ok(SortTask {
            n,
            digit_bits,
            places: image.width().div_ceil(digit_bits),
            value_bytes,
            value_unit,
            constants: vec![
                ("PLACES", image.width().div_ceil(DIGIT_BITS)),
                ("BUCKET_PLACE", image.width().div_ceil(DIGIT_BITS) - 1),
                ("KEY_WORDS", image.words()),
                ("DIGIT_BITS", digit_bits),
                ("VALUE_WORDS", value_bytes / value_unit),
                ("VALUE_UNIT", value_unit),
                ("VALUES_ALONE", u32::from(!request.writes_keys)),
            ],
            image,
            input,
            output,
        })
    }

    /// With an even number of places where it works in place: as many passes lead back to where the keys were. The digits of one
    /// more place are all zeros, and leave the order as it is.
    fn evened(mut self, in_place: bool) -> SortTask {
        let places = self.passes(in_place);
        self.places = places;
        self.constants.iter_mut().filter(|(name, _)| *name == "PLACES").for_each(|(_, number)| *number = places);
        self
    }

    /// Bytes of the words that the processor sorts in place of keys that are scalars of up to 8 bytes. A word has a key and 32 bits, for a
    /// value of whole words or its place. Of keys alone it has the key, if some of its bits are compared.
    fn word_bytes(&self) -> Option<u64> {
        let (bytes, is_whole) = (self.image.bytes, self.image.width() == 8 * self.image.bytes);
        match (self.value_bytes, self.value_unit) {
            _ if !matches!(bytes, 1 | 2 | 4 | 8) || self.image.fields.len() > 1 => None,
            (0, _) => (!is_whole).then_some(bytes.into()),
            (_, 4..) => Some(u64::from(2 * bytes).max(8)),
            _ => None,
        }
    }

    /// The highest place.
    fn bucket_place(&self) -> u32 {
        self.image.width().div_ceil(DIGIT_BITS) - 1
    }

    /// A kernel of these keys, assembled with these blocks and constants beside its own.
    fn kernel(&self, kernel: &'static Kernel, parts: Vec<&'static str>, more: &[(&'static str, u32)]) -> KernelKey {
        let constants = [&self.constants, more].concat();
        KernelKey { image: Some(self.image.clone()), ..KernelKey::new(kernel, parts, constants) }
    }

    /// With a buffer for keys that are not written to the caller's.
    fn with_output(mut self, request: &SortRequest, scratch: &mut Scratch) -> SortTask {
        if !request.writes_keys {
            self.output.keys = scratch.take(u64::from(self.n) * u64::from(self.image.bytes));
        }
        self
    }

    /// Passes by all places. In place they are even in number: as many lead back to where the keys were.
    fn passes(&self, in_place: bool) -> u32 {
        if in_place { self.places.next_multiple_of(2) } else { self.places }
    }

    /// What is said of more keys than a table has counts for.
    fn too_many(&self, algorithm: &Algorithm) -> Error {
        let n = self.n;
        Error::Invalid(format!("{n} keys are too many for {algorithm}'s table of counts; split the work"))
    }

    /// Where a pass of so many moves keys from, and where to: the second buffer and the output by turns, the output last.
    fn route(&self, place: u32, passes: u32, temp: Location) -> (Location, Location) {
        let goal = |place: u32| if (passes - place) % 2 == 1 { self.output } else { temp };
        (if place == 0 { self.input } else { goal(place - 1) }, goal(place))
    }

    /// What a kernel that moves keys and values is told: where they lie, and where they go.
    fn moving(&self, from: Location, to: Location) -> (Bindings, Params) {
        let mut bindings = vec![("source", from.keys), ("target_keys", to.keys)];
        let mut params = vec![
            ("source_offset", offset("source", from.keys, self.image.bytes)),
            ("target_offset", offset("target_keys", to.keys, self.image.bytes)),
        ];
        if let Some(from) = from.values {
            bindings.push(("source_values", from));
            params.push(("source_values_offset", offset("source_values", from, self.value_unit)));
        }
        if let Some(to) = to.values {
            bindings.push(("target_values", to));
            params.push(("target_values_offset", offset("target_values", to, self.value_unit)));
        }
        (bindings, params)
    }

    /// Whether a kernel that moves values from here is given them; they are the keys' places else.
    fn source_values(&self, from: Location) -> (&'static str, u32) {
        ("SOURCE_VALUES", u32::from(from.values.is_some()))
    }

    /// A second buffer of keys and values.
    fn take(&self, scratch: &mut Scratch) -> Location {
        let mut of = |bytes: u32| scratch.take(u64::from(self.n) * u64::from(bytes));
        let (keys, values) = (of(self.image.bytes), of(self.value_bytes));
        Location { keys, values: (self.value_bytes > 0).then_some(values) }
    }

    /// A block that moves values, which keys alone do without.
    fn with_values(&self, block: &'static str) -> Option<&'static str> {
        (self.value_bytes > 0).then_some(block)
    }

    /// Words of what is moved at once of a value.
    fn value_size(&self) -> u32 {
        if self.value_bytes == 0 { 0 } else { self.value_unit.div_ceil(4) }
    }

    /// Words that move with a key: its own, and of a pair the index of its value.
    fn moved_words(&self) -> u32 {
        self.image.words() + u32::from(self.value_bytes > 0)
    }
}

/// Whether uniform keys part into buckets of a size, each of which a workgroup holds. A device's own tile may be smaller.
fn buckets_fit(n: u64) -> bool {
    n <= LARGEST_TILE * u64::from(DIGITS)
}

impl Planner<'_> {
    /// Bytes of what a value is moved by: as many of it as a vector has, where the spans allow that.
    pub(crate) fn value_unit(&self, value: &ElementType) -> u32 {
        let is_wide = self.layout.wide && self.caps.language != Language::Host;
        let vector = 1 << value.bytes().trailing_zeros().min(4);
        if is_wide { vector } else { value.unit() }
    }

    /// The blocks that rank a subgroup's keys in WGSL, by ballots as wide as a subgroup may be and by its barrier if it has one. The
    /// other languages' preludes have them.
    fn ranking_parts(&self) -> &'static [&'static str] {
        if self.caps.language != Language::Wgsl {
            return &[];
        }
        match (self.caps.subgroups.is_some_and(|s| s.max > 32), self.caps.subgroup_barrier) {
            (false, true) => &["workgroup/peers32", "workgroup/claim_barrier"],
            (false, false) => &["workgroup/peers32", "workgroup/claim_atomic"],
            (true, true) => &["workgroup/peers128", "workgroup/claim_barrier"],
            (true, false) => &["workgroup/peers128", "workgroup/claim_atomic"],
        }
    }

    fn lacks_room(&self) -> Error {
        let (least, most) = self.caps.subgroups.map_or((32, 32), |s| (s.min, s.max));
        Error::Unsupported(format!(
            "{} ({}) has {} bytes of workgroup memory, too few to rank keys by subgroups of {least} to {most}; open it with its \
             adapter's limits, or use upsweep_downsweep",
            self.caps.device, self.caps.backend, self.caps.shared_bytes
        ))
    }
}

/// How many digits an invocation has, of those that have any: a power of two, for workgroups of any size.
fn digits_each(workgroup: u32) -> u32 {
    DIGITS.div_ceil(workgroup).next_power_of_two()
}
