//! Top-k: a sample's bound, one read for the keys up to it, and a sort of these.

use parking_lot::Mutex;
use rayon::ThreadPool;
use trifold_core::algorithm::top_k::{sampled_place, sampled_rank};
use trifold_core::{Error, KernelKey, KeyImage, Request, Result, Scalar, Wanted, key_align};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Output, ordered};
use crate::sort::{Bits, KeyOrder};
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};
use crate::view::Input;

/// Keys of a block.
const BLOCK: usize = 4 << 10;
/// Blocks that a thread takes at a time.
const BLOCKS: usize = 16;

#[derive(Clone)]
struct TopKStep {
    n: usize,
    k: usize,
    /// How many keys are sampled, if that is worth it.
    samples: u32,
    image: KeyImage,
    /// Of scalars of 4 or 8 bytes.
    order: Option<KeyOrder>,
    input: Input,
    keys: Option<Region>,
    values: Option<Values>,
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
    let wanted = k.min(n);
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
    let samples = constant("SAMPLES")?;
    Ok(Box::new(TopKStep { n, k, samples, order: KeyOrder::of(&image), image, input, keys, values }))
}

impl Work for TopKStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let mut reads = self.input.regions();
        reads.extend(self.values.iter().flat_map(|values| &values.input).flat_map(Input::regions));
        let writes: Vec<&Region> = self.keys.iter().chain(self.values.iter().map(|values| &values.output)).collect();
        let _access = Access::to(&reads, &writes)?;
        if self.n == 0 {
            return Ok(());
        }
        // SAFETY: `_access` covers all of the memory, and lasts past this.
        let first = unsafe {
            match (self.order, self.image.bytes) {
                (Some(order), 4) => self.first(pool, |key| key.cast::<u32>().read().encode(order)),
                (Some(order), _) => self.first(pool, |key| key.cast::<u64>().read().encode(order)),
                (None, bytes) => self.first(pool, |key| {
                    let key = std::slice::from_raw_parts(key, bytes as usize);
                    self.image.compared(self.image.of(key))
                }),
            }
        };
        // SAFETY: as above; the indices are of keys.
        unsafe { self.give(&first) };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(TopKStep { n, ..self.clone() })
    }
}

impl TopKStep {
    /// The indices of the first keys, in order. `load` has the image of a key that it is pointed to.
    ///
    /// # Safety
    /// The caller holds access to the input, and `load` is for keys of its type.
    unsafe fn first<I: Ord + Copy + Send + Sync>(
        &self,
        pool: &ThreadPool,
        load: impl Fn(*const u8) -> I + Sync,
    ) -> Vec<u32> {
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
        candidates.sort_unstable();
        candidates.into_iter().map(|(_, index)| index).collect()
    }

    /// A key of a sample up to which hardly fewer come than are wanted, and its index. None if all keys may be wanted.
    ///
    /// # Safety
    /// As of [`TopKStep::first`].
    unsafe fn bound<I: Ord>(&self, wanted: usize, load: &impl Fn(*const u8) -> I) -> Option<(I, u32)> {
        // A run may have fewer keys than the sample was chosen for.
        if self.samples == 0 || self.n < 2 * self.samples as usize || 2 * wanted > self.n {
            return None;
        }
        let size = self.image.bytes as usize;
        let mut room = self.input.room(size);
        let sampled = (0..self.samples).map(|number| {
            let place = sampled_place(number, self.n as u32, self.samples);
            // SAFETY: the place is one of the input's, and the room for one key.
            (load(unsafe { self.input.block(&mut room, place as usize, 1, size) }), place)
        });
        let mut sampled: Vec<(I, u32)> = sampled.collect();
        let rank = sampled_rank(self.n as u64, wanted as u64, self.samples.into()) as usize;
        (rank < sampled.len()).then(|| {
            sampled.select_nth_unstable(rank);
            sampled.swap_remove(rank)
        })
    }

    /// The keys up to a bound, or all, as images with their indices; in any order.
    ///
    /// # Safety
    /// As of [`TopKStep::first`].
    unsafe fn candidates<I: Ord + Copy + Send + Sync>(
        &self,
        pool: &ThreadPool,
        bound: Option<(I, u32)>,
        load: &(impl Fn(*const u8) -> I + Sync),
    ) -> Vec<(I, u32)> {
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
                    // SAFETY: there are as many keys.
                    let image = |i: u32| load(unsafe { block.add(i as usize * size) });
                    // Of keys that are equal to the bound's only those up to its index count.
                    let len = match bound {
                        None => keep(kept, count, |_| true),
                        Some((last, index)) if start as u32 <= index => keep(kept, count, |i| image(i) <= last),
                        Some((last, _)) => keep(kept, count, |i| image(i) < last),
                    };
                    found.extend(kept[..len].iter().map(|&i| (image(i), start as u32 + i)));
                }
                all.lock().append(&mut found);
            },
        );
        all.into_inner()
    }

    /// Writes what is wanted of the keys at these indices.
    ///
    /// # Safety
    /// The caller holds access to the regions, and the indices are of keys.
    unsafe fn give(&self, first: &[u32]) {
        let put = |from: &Input, to: &Region, size: usize| {
            let (mut room, to) = (from.room(size), Shared(to.start()));
            for (at, &index) in first.iter().enumerate() {
                // SAFETY: `bind` found room for as many elements at the target, which is apart from the input, where there is one at the index.
                unsafe {
                    to.at(at * size).copy_from_nonoverlapping(from.block(&mut room, index as usize, 1, size), size)
                };
            }
        };
        if let Some(keys) = &self.keys {
            put(&self.input, keys, self.image.bytes as usize);
        }
        match &self.values {
            None => {}
            Some(Values { input: Some(input), output, bytes }) => put(input, output, *bytes),
            Some(Values { input: None, output, .. }) => {
                // SAFETY: `bind` found room for as many words, aligned for them.
                let indices = unsafe { std::slice::from_raw_parts_mut(output.start().cast::<u32>(), first.len()) };
                indices.copy_from_slice(first);
            }
        }
    }
}

/// Keys that are asked at once whether any of them is wanted: most have none.
const FEW: u32 = 32;

/// The numbers below `count` that are wanted, in order. How many they are.
fn keep(kept: &mut [u32], count: usize, wanted: impl Fn(u32) -> bool) -> usize {
    let (count, mut len) = (count as u32, 0);
    for start in (0..count).step_by(FEW as usize) {
        let end = (start + FEW).min(count);
        // Without a branch for each, so that vectors are compared.
        let any = match end - start {
            FEW => (0..FEW).fold(false, |any, i| any | wanted(start + i)),
            _ => true,
        };
        if any {
            for i in start..end {
                kept[len] = i;
                len += usize::from(wanted(i));
            }
        }
    }
    len
}

/// What a top_k must give.
pub(crate) fn expect(request: &Request, input: &[u8], values: Option<&[u8]>) -> Option<Expected> {
    let Request::TopK(r) = request else { return None };
    let image = r.image().expect("keys that were planned");
    let mut first = ordered(&image, input);
    first.truncate(r.k as usize);
    let taken = |from: &[u8], size: u32| {
        let size = size as usize;
        first.iter().flat_map(|&i| from[i as usize * size..][..size].to_vec()).collect::<Vec<u8>>()
    };
    let keys = || Output::exact(&r.key, taken(input, r.key.bytes()));
    let indices = || Output::exact(&Scalar::U32.into(), first.iter().flat_map(|i| i.to_le_bytes()).collect());
    Some(match &r.wanted {
        Wanted::Keys => Expected::of(keys()),
        Wanted::Indices => Expected::of(indices()),
        Wanted::KeysAndIndices => Expected { values: Some(indices()), ..Expected::of(keys()) },
        Wanted::Pairs(value) => {
            let values = values.expect("values of pairs");
            let values = Output::exact(value, taken(values, value.bytes()));
            Expected { values: Some(values), ..Expected::of(keys()) }
        }
    })
}
