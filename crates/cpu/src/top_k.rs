//! Top-k: a sample's bound, one read for the keys up to it, and a sort of these. Of segments one thread takes each.

use std::ops::Range;

use parking_lot::Mutex;
use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::algorithm::top_k::{sampled_place, sampled_rank};
use trifold_core::{Error, KernelKey, KeyImage, NO_PLACE, Request, Result, Scalar, Wanted, key_align};

use crate::heads::{WORD, packed};
use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, Output, ordered};
use crate::segmented::{Offsets, begins};
use crate::sort::{Bits, KeyOrder};
use crate::step::{ALONE_BYTES, Arguments, Room, Shared, Work, in_parts};
use crate::view::Input;

/// Keys of a block.
const BLOCK: usize = 4 << 10;
/// Blocks that a thread takes at a time.
const BLOCKS: usize = 16;
/// Keys that a thread takes of segments at a time, about.
const PART: usize = 64 << 10;
/// Keys of a segment's first block.
const FIRST_BLOCK: usize = 256;

/// What orders keys.
trait Image: Ord + Copy + Send + Sync {
    /// An image and an index: ordered by both, and one number where there is one so wide.
    type Placed: Ord + Copy + Send;
    fn at(self, index: u32) -> Self::Placed;
    fn parts(placed: Self::Placed) -> (Self, u32);
}

impl<K: Bits> Image for K {
    type Placed = K::Pair;
    fn at(self, index: u32) -> K::Pair {
        self.with(index)
    }
    fn parts(placed: K::Pair) -> (K, u32) {
        K::of_pair(placed)
    }
}

impl Image for u128 {
    type Placed = (u128, u32);
    fn at(self, index: u32) -> (u128, u32) {
        (self, index)
    }
    fn parts(placed: (u128, u32)) -> (u128, u32) {
        placed
    }
}

#[derive(Clone)]
struct TopKStep {
    n: usize,
    k: usize,
    /// How many keys are sampled, if that is worth it.
    samples: u32,
    image: KeyImage,
    /// Of scalars of up to 8 bytes.
    order: Option<KeyOrder>,
    input: Input,
    parts: Parts,
    keys: Option<Region>,
    values: Option<Values>,
    /// Whether the last of the first keys is wanted alone.
    gives_last: bool,
    /// Whether they come in their order, or as they stand.
    sorts: bool,
}

/// Whose first keys are wanted.
#[derive(Clone)]
enum Parts {
    /// Of all.
    All,
    /// Of each row of a width.
    Rows(usize),
    /// Of each segment.
    Offsets(Offsets),
}

impl Parts {
    fn count(&self, n: usize) -> usize {
        match self {
            Parts::All => 1,
            Parts::Rows(width) => n.div_ceil(*width),
            Parts::Offsets(offsets) => offsets.segments,
        }
    }

    /// Where one begins and ends, of `n` keys.
    ///
    /// # Safety
    /// There is access to the offsets, and it is one of the parts.
    unsafe fn range(&self, part: usize, n: usize) -> Range<usize> {
        match self {
            Parts::All => 0..n,
            Parts::Rows(width) => (part * width).min(n)..((part + 1) * width).min(n),
            // SAFETY: there is one offset more than segments.
            Parts::Offsets(offsets) => unsafe { offsets.at(part, n)..offsets.at(part + 1, n) },
        }
    }
}

#[derive(Clone)]
struct Values {
    /// Of a value.
    bytes: usize,
    /// The keys' indices, where none are given.
    input: Option<Input>,
    output: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let constant =
        |name| key.constant(name).ok_or_else(|| Error::Invalid(format!("{} without its constant {name}", key.name())));
    let image = key.image.clone().ok_or_else(|| Error::Invalid(format!("{} without its keys' image", key.name())))?;
    let (n, k, key_bytes) = (arguments.count()?, arguments.word("k")? as usize, image.bytes as usize);
    let alignment = key_align(image.bytes) as usize;
    let input = Input::bind(key, arguments, "input", [n, key_bytes, alignment])?;
    let parts = match (key.constant("OFFSET_WORDS"), arguments.word("width")) {
        (Some(words), _) => Parts::Offsets(Offsets::bind(arguments, "offsets", 4 * words as usize)?),
        (_, Ok(width)) if constant("PADS")? > 0 => Parts::Rows((width as usize).max(1)),
        _ => Parts::All,
    };
    let gives_last = constant("GIVES_LAST")? > 0;
    let wanted = match parts {
        Parts::All if gives_last => n.min(1),
        Parts::All => k.min(n),
        _ if gives_last => parts.count(n),
        _ => k * parts.count(n),
    };
    let keys = match constant("GIVES_KEYS")? {
        0 => None,
        _ => Some(arguments.array("target_keys", wanted, key_bytes, alignment)?),
    };
    let values = match constant("VALUE_WORDS")? {
        0 => None,
        words => {
            let unit = constant("VALUE_UNIT")? as usize;
            let bytes = unit * words as usize;
            let given = constant("SOURCE_VALUES")? > 0;
            Some(Values {
                bytes,
                input: given.then(|| Input::bind(key, arguments, "input_values", [n, bytes, unit])).transpose()?,
                output: arguments.array("target_values", wanted, bytes, unit)?,
            })
        }
    };
    let outputs: Vec<&Region> = keys.iter().chain(values.iter().map(|values| &values.output)).collect();
    let inputs = [&input].into_iter().chain(values.iter().flat_map(|values| &values.input));
    for input in inputs {
        outputs.iter().try_for_each(|output| input.check_apart(output))?;
    }
    if let [keys, values] = outputs[..] {
        keys.check_apart(values)?;
    }
    if let Parts::Offsets(offsets) = &parts {
        outputs.iter().try_for_each(|output| output.check_apart(offsets.region()))?;
    }
    let samples = constant("SAMPLES")?;
    let (sorts, order) = (constant("SORTS")? > 0, KeyOrder::of(&image));
    Ok(Box::new(TopKStep { n, k, samples, order, image, input, parts, keys, values, gives_last, sorts }))
}

impl Work for TopKStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let mut reads = self.input.regions();
        reads.extend(self.values.iter().flat_map(|values| &values.input).flat_map(Input::regions));
        if let Parts::Offsets(offsets) = &self.parts {
            reads.push(offsets.region());
        }
        let writes: Vec<&Region> = self.keys.iter().chain(self.values.iter().map(|values| &values.output)).collect();
        let _access = Access::to(&reads, &writes)?;
        // SAFETY: `_access` covers all of the memory, and lasts past this.
        unsafe {
            match (self.order, self.image.bytes) {
                (Some(order), 1) => self.select(pool, move |keys, i| keys.add(i).read().encode(order)),
                (Some(order), 2) => self.select(pool, move |keys, i| keys.cast::<u16>().add(i).read().encode(order)),
                (Some(order), 4) => self.select(pool, move |keys, i| keys.cast::<u32>().add(i).read().encode(order)),
                (Some(order), 8) => self.select(pool, move |keys, i| keys.cast::<u64>().add(i).read().encode(order)),
                (_, bytes) => self.select(pool, |keys, i| {
                    let key = std::slice::from_raw_parts(keys.add(i * bytes as usize), bytes as usize);
                    self.image.compared(self.image.of(key))
                }),
            }
        };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(TopKStep { n, ..self.clone() })
    }
}

impl TopKStep {
    /// Writes what is wanted of each part. `load(keys, i)` gives the image of key `i`.
    ///
    /// # Safety
    /// The caller holds access to the regions, and `load` is for keys of the input's type.
    unsafe fn select<I: Image>(&self, pool: &ThreadPool, load: impl Fn(*const u8, usize) -> I + Sync) {
        if let Parts::All = self.parts {
            // SAFETY: the caller's promise; the indices are of keys.
            return unsafe { self.give(0, 0, &self.first(pool, load)) };
        }
        let (count, size) = (self.parts.count(self.n), self.image.bytes as usize);
        // So many that each thread has enough to do.
        let each = (count * PART).div_ceil(self.n.max(1)).clamp(1, count.max(1));
        let room = || (vec![0u32; BLOCK], self.input.room(BLOCK.min(self.n) * size));
        in_parts(pool, self.n * size <= ALONE_BYTES, count.div_ceil(each), room, |(kept, room), i| {
            for part in i * each..((i + 1) * each).min(count) {
                // SAFETY: the caller's promise.
                let range = unsafe { self.parts.range(part, self.n) };
                let begin = range.start;
                // SAFETY: as above; the range is of keys.
                let first = unsafe { self.first_of(range, kept, room, &load) };
                // SAFETY: the indices are of keys. Each part has places of its own.
                unsafe { self.give(part, begin, &first) };
            }
        });
    }

    /// The indices of the first keys of a range, as they are to be given. Blocks of keys are compared with the last of those that were the first so far.
    ///
    /// # Safety
    /// As of [`TopKStep::select`], and the range is of keys.
    unsafe fn first_of<I: Image>(
        &self,
        range: Range<usize>,
        kept: &mut [u32],
        room: &mut Room,
        load: &impl Fn(*const u8, usize) -> I,
    ) -> Vec<u32> {
        let size = self.image.bytes as usize;
        let (mut found, mut last): (Vec<I::Placed>, Option<I>) = (vec![], None);
        let cut = |found: &mut Vec<I::Placed>| {
            if found.len() >= self.k {
                let (_, last, _) = found.select_nth_unstable(self.k - 1);
                let last = I::parts(*last).0;
                found.truncate(self.k);
                Some(last)
            } else {
                None
            }
        };
        let mut start = range.start;
        while start < range.end {
            // The first blocks are short: until the last is known, all their keys are kept.
            let count = BLOCK.min(found.len().max(FIRST_BLOCK)).min(range.end - start);
            // SAFETY: the block is within the input, and the room for as many.
            let block = unsafe { self.input.block(room, start, count, size) };
            let image = |i: usize| load(block, i);
            let len = match last {
                None => keep(kept, count, |_| true),
                // Of equal keys those that were found before come first.
                Some(last) => keep(kept, count, move |i| image(i) < last),
            };
            found.extend(kept[..len].iter().map(|&i| image(i as usize).at(start as u32 + i)));
            if last.is_none() || found.len() >= 2 * self.k.max(FIRST_BLOCK) {
                last = cut(&mut found);
            }
            start += count;
        }
        cut(&mut found);
        self.arranged::<I>(found)
    }

    /// The indices of the keys that are wanted, as they are to be given.
    fn arranged<I: Image>(&self, mut found: Vec<I::Placed>) -> Vec<u32> {
        if self.gives_last {
            return found.into_iter().max().map(|placed| I::parts(placed).1).into_iter().collect();
        }
        if self.sorts {
            found.sort_unstable();
        } else {
            found.sort_unstable_by_key(|placed| I::parts(*placed).1);
        }
        found.into_iter().map(|placed| I::parts(placed).1).collect()
    }

    /// The indices of the first keys of all, as they are to be given.
    ///
    /// # Safety
    /// As of [`TopKStep::select`].
    unsafe fn first<I: Image>(&self, pool: &ThreadPool, load: impl Fn(*const u8, usize) -> I + Sync) -> Vec<u32> {
        let wanted = self.k.min(self.n);
        // SAFETY: the caller's promise.
        let bound = unsafe { self.bound(wanted, &load) };
        // SAFETY: as above.
        let mut candidates = unsafe { self.candidates(pool, bound, &load) };
        if candidates.len() < wanted {
            // The sample misled.
            // SAFETY: as above.
            candidates = unsafe { self.candidates(pool, None, &load) };
        }
        if wanted < candidates.len() {
            candidates.select_nth_unstable(wanted);
            candidates.truncate(wanted);
        }
        self.arranged::<I>(candidates)
    }

    /// A key of a sample up to which hardly fewer come than are wanted, and its index. None if all keys may be wanted.
    ///
    /// # Safety
    /// As of [`TopKStep::first`].
    unsafe fn bound<I: Image>(&self, wanted: usize, load: &impl Fn(*const u8, usize) -> I) -> Option<(I, u32)> {
        // A run may have fewer keys than the sample was chosen for.
        if self.samples == 0 || self.n < 2 * self.samples as usize || 2 * wanted > self.n {
            return None;
        }
        let size = self.image.bytes as usize;
        let mut room = self.input.room(size);
        let sampled = (0..self.samples).map(|number| {
            let place = sampled_place(number, self.n as u32, self.samples);
            // SAFETY: the place is one of the input's, and the room for one key.
            load(unsafe { self.input.block(&mut room, place as usize, 1, size) }, 0).at(place)
        });
        let mut sampled: Vec<I::Placed> = sampled.collect();
        let rank = sampled_rank(self.n as u64, wanted as u64, self.samples.into()) as usize;
        (rank < sampled.len()).then(|| {
            sampled.select_nth_unstable(rank);
            I::parts(sampled[rank])
        })
    }

    /// The keys up to a bound, or all, as images with their indices; in any order.
    ///
    /// # Safety
    /// As of [`TopKStep::first`].
    unsafe fn candidates<I: Image>(
        &self,
        pool: &ThreadPool,
        bound: Option<(I, u32)>,
        load: &(impl Fn(*const u8, usize) -> I + Sync),
    ) -> Vec<I::Placed> {
        let size = self.image.bytes as usize;
        let all = Mutex::new(vec![]);
        let part = BLOCK * BLOCKS;
        in_parts(
            pool,
            self.n * size <= ALONE_BYTES,
            self.n.div_ceil(part),
            || (vec![0u32; BLOCK], self.input.room(BLOCK.min(self.n) * size)),
            |(kept, room), i| {
                let mut found = vec![];
                for start in (i * part..((i + 1) * part).min(self.n)).step_by(BLOCK) {
                    let count = BLOCK.min(self.n - start);
                    // SAFETY: the block is within the input, and the room for as many.
                    let block = unsafe { self.input.block(room, start, count, size) };
                    let image = |i: usize| load(block, i);
                    // Of keys that are equal to the bound's only those up to its index count.
                    let len = match bound {
                        None => keep(kept, count, |_| true),
                        Some((last, index)) if start as u32 <= index => keep(kept, count, move |i| image(i) <= last),
                        Some((last, _)) => keep(kept, count, move |i| image(i) < last),
                    };
                    found.extend(kept[..len].iter().map(|&i| image(i as usize).at(start as u32 + i)));
                }
                all.lock().append(&mut found);
            },
        );
        all.into_inner()
    }

    /// Writes what is wanted of the keys at these indices, which are the first of a part that begins somewhere.
    ///
    /// # Safety
    /// The caller holds access to the regions, the indices are of keys, and nobody else writes what is wanted of the part.
    unsafe fn give(&self, part: usize, begin: usize, first: &[u32]) {
        let each = if self.gives_last { 1 } else { self.k };
        let place = part * each;
        let none = if let Parts::All = self.parts { 0 } else { each - first.len() };
        let put = |from: &Input, to: &Region, size: usize| {
            let (mut room, to) = (from.room(size), Shared(to.start()));
            // SAFETY: the part has places for `k`, which nobody else writes.
            unsafe { to.at((place + first.len()) * size).write_bytes(0, none * size) };
            for (at, &index) in first.iter().enumerate() {
                // SAFETY: `bind` found room for as many elements at the target, which is apart from the input, where there is one at the index.
                unsafe {
                    to.at((place + at) * size)
                        .copy_from_nonoverlapping(from.block(&mut room, index as usize, 1, size), size)
                };
            }
        };
        if let Some(keys) = &self.keys {
            put(&self.input, keys, self.image.bytes as usize);
        }
        let Some(Values { input, output, bytes }) = &self.values else { return };
        match input {
            Some(input) => put(input, output, *bytes),
            None => {
                // SAFETY: `bind` found room for as many words, aligned for them.
                let indices = unsafe {
                    std::slice::from_raw_parts_mut(output.start().cast::<u32>().add(place), first.len() + none)
                };
                indices.iter_mut().zip(first).for_each(|(to, index)| *to = index - begin as u32);
                indices[first.len()..].fill(NO_PLACE);
            }
        }
    }
}

/// The numbers below `count` that are wanted, in order. How many they are.
fn keep(kept: &mut [u32], count: usize, wanted: impl Fn(usize) -> bool) -> usize {
    let mut len = 0;
    for start in (0..count).step_by(WORD) {
        let mut flags = [0; WORD];
        // Without a branch for each, so that vectors are compared.
        flags.iter_mut().zip(start..count).for_each(|(flag, i)| *flag = u8::from(wanted(i)));
        let mut bits = packed(&flags);
        while bits != 0 {
            kept[len] = start as u32 + bits.trailing_zeros();
            len += 1;
            bits &= bits - 1;
        }
    }
    len
}

/// What a top_k must give. Where a segment has fewer keys than are wanted, zeros stand behind them, and `NO_PLACE` behind indices.
pub(crate) fn expect(request: &Request, Inputs { input, values, offsets }: Inputs<'_>) -> Option<Expected> {
    let Request::TopK(r) = request else { return None };
    let image = r.image().expect("keys that were planned");
    let (n, k, size) = (input.len() / r.key.bytes() as usize, r.k as usize, r.key.bytes() as usize);
    let bounds = r.segments.as_ref().map_or(vec![0, n as u32], |by| begins(by, n, offsets.unwrap_or_default()));
    // Of each place the key's index, and where its segment begins.
    let first = bounds.par_windows(2).flat_map_iter(|bounds| {
        let (begin, end) = (bounds[0], bounds[1].max(bounds[0]));
        let mut first = ordered(&image, &input[begin as usize * size..end as usize * size], k);
        if !r.sorted {
            first.sort_unstable();
        }
        let each = if r.wanted == Wanted::Last {
            first.drain(..first.len().saturating_sub(1));
            1
        } else {
            k
        };
        let none = if r.segments.is_some() { each - first.len() } else { 0 };
        first.into_iter().map(move |i| Some((begin + i, begin))).chain(std::iter::repeat_n(None, none))
    });
    let first: Vec<Option<(u32, u32)>> = first.collect();
    let taken = |from: &[u8], size: u32| {
        let size = size as usize;
        let of = |index: usize| from[index * size..][..size].to_vec();
        first.iter().flat_map(|at| at.map_or(vec![0; size], |(index, _)| of(index as usize))).collect::<Vec<u8>>()
    };
    let keys = || Output::exact(&r.key, taken(input, r.key.bytes()));
    let places = || first.iter().flat_map(|at| at.map_or(NO_PLACE, |(index, begin)| index - begin).to_le_bytes());
    let indices = || Output::exact(&Scalar::U32.into(), places().collect());
    Some(match &r.wanted {
        Wanted::Keys | Wanted::Last => Expected::of(keys()),
        Wanted::Indices => Expected::of(indices()),
        Wanted::KeysAndIndices => Expected { values: Some(indices()), ..Expected::of(keys()) },
        Wanted::Pairs(value) => {
            let values = values.expect("values of pairs");
            let values = Output::exact(value, taken(values, value.bytes()));
            Expected { values: Some(values), ..Expected::of(keys()) }
        }
    })
}
