//! Sort.
//!
//! Keys become unsigned integers of the same order first (see [`Bits`]), and keys again afterwards.
//!
//! Keys alone are sorted by the crate `rdst`, a multi-threaded radix sort of unsigned bytes. It is not stable, and need not be:
//! equal keys have equal bits. Keys of less than a word are counted. Those that a part of their bits orders are turned until those
//! bits are the highest, and a stable sort of our own takes them.
//!
//! Pairs become words, which that sort takes too: the key, and below it a value of 32 bits. Other values of whole words are
//! gathered by index afterwards, once, however large they are. The index is then what the word has below the key.
//!
//! All other keys and values become words of what is compared and an index: keys and values are gathered by it.

mod bits;
mod segments;

use parking_lot::Mutex;
use rayon::ThreadPool;
use rayon::prelude::*;
use rdst::RadixSort;
use trifold_core::{ElementType, Error, KernelKey, KeyImage, Request, Result, Scalar, key_align};

pub(crate) use self::bits::{Bits, KeyOrder};
use self::segments::Segments;
use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, Output, ordered};
use crate::radix::{self, Word};
use crate::segmented::begins;
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts, inside};

/// Elements that one task of a parallel loop takes.
const CHUNK: usize = 1 << 14;

/// A sort bound to its memory.
#[derive(Clone)]
struct SortStep {
    n: usize,
    image: KeyImage,
    /// Of scalars of up to 8 bytes.
    order: Option<KeyOrder>,
    input: Region,
    output: Region,
    values: Option<Values>,
    /// Scratch for words, and for as many more: pairs of a key and what it carries, or keys of which some bits compare.
    words: Option<[Region; 2]>,
    /// Without, all keys are sorted.
    segments: Option<Segments>,
}

#[derive(Clone)]
struct Values {
    /// Of a value.
    bytes: usize,
    /// The places of the keys, where none are given.
    input: Option<Region>,
    output: Region,
}

/// So many keys of 16 bits are counted: fewer have less to do than their 2^16 images.
const COUNTED: usize = 1 << 18;

/// Bits that a pair has below the key.
const CARRIED: u32 = u32::BITS;

/// Bytes of a word: of a key, or of a key and the 32 bits that it carries.
fn word_bytes(key_bytes: usize, carries: bool) -> usize {
    if carries { (2 * key_bytes).max(8) } else { key_bytes }
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let constant =
        |name| key.constant(name).ok_or_else(|| Error::Invalid(format!("{} without its constant {name}", key.name())));
    let image = key.image.clone().ok_or_else(|| Error::Invalid(format!("{} without its keys' image", key.name())))?;
    let (n, key_bytes) = (arguments.count()?, image.bytes as usize);
    let alignment = key_align(image.bytes) as usize;
    let input = arguments.array("input", n, key_bytes, alignment)?;
    // Keys that are not asked for go to scratch.
    let output = match constant("VALUES_ALONE")? {
        1 => arguments.room("output", n, key_bytes)?,
        _ => arguments.array("output", n, key_bytes, alignment)?,
    };
    let given = arguments.region("input_values").is_ok();
    let unit = constant("VALUE_UNIT")? as usize;
    let value_bytes = unit * constant("VALUE_WORDS")? as usize;
    let room = |name| arguments.room(name, n, word_bytes(key_bytes, value_bytes > 0));
    let words = match arguments.region("words") {
        Ok(_) => Some([room("words")?, room("spare")?]),
        Err(_) => None,
    };
    let values = match value_bytes {
        0 => None,
        bytes => Some(Values {
            bytes,
            input: given.then(|| arguments.array("input_values", n, bytes, unit)).transpose()?,
            output: arguments.array("output_values", n, bytes, unit)?,
        }),
    };
    if !input.is(&output) {
        input.check_apart(&output)?;
    }
    if let Some(v) = &values {
        for input in v.input.iter().filter(|input| !input.is(&v.output)) {
            input.check_apart(&v.output)?;
        }
        for region in [&input, &output] {
            v.output.check_apart(region)?;
        }
        v.input.iter().try_for_each(|input| input.check_apart(&output))?;
    }
    if let Some([words, spare]) = &words {
        words.check_apart(spare)?;
        let of_values = values.iter().flat_map(|v| [&v.output].into_iter().chain(&v.input));
        let mut all = [&input, &output].into_iter().chain(of_values);
        all.try_for_each(|region| words.check_apart(region).and(spare.check_apart(region)))?;
    }
    let segments = Segments::bind(key, arguments)?;
    if let Some(offsets) = segments.as_ref().and_then(Segments::region) {
        let outputs = [&output].into_iter().chain(values.iter().map(|values| &values.output));
        outputs.into_iter().try_for_each(|output| output.check_apart(offsets))?;
    }
    Ok(Box::new(SortStep { n, order: KeyOrder::of(&image), image, input, output, values, words, segments }))
}

impl Work for SortStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let mut reads = vec![&self.input];
        let mut writes = vec![&self.output];
        reads.extend(self.segments.as_ref().and_then(Segments::region));
        if let Some(v) = &self.values {
            reads.extend(&v.input);
            writes.push(&v.output);
        }
        writes.extend(self.words.iter().flatten());
        let _access = Access::to(&reads, &writes)?;
        // SAFETY: `_access` covers all of the memory, and lasts past this.
        unsafe {
            match &self.segments {
                Some(by) => self.sort_segments(pool, by),
                None => self.sort_all(pool),
            }
        }
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SortStep { n, ..self.clone() })
    }
}

impl SortStep {
    /// Sorts all keys.
    ///
    /// # Safety
    /// The caller holds access to the regions.
    unsafe fn sort_all(&self, pool: &ThreadPool) -> Result<()> {
        // SAFETY: the caller's promise; each function is for keys of the type that it reads.
        unsafe {
            match (&self.values, self.whole(), self.image.bytes) {
                (None, Some(order), 2) if self.n < COUNTED => self.sort_keys::<u16>(order, false),
                (None, Some(order), 4) => inside(pool, 4 * self.n, |parallel| self.sort_keys::<u32>(order, parallel)),
                (None, Some(order), 8) => inside(pool, 8 * self.n, |parallel| self.sort_keys::<u64>(order, parallel)),
                (None, _, 1 | 2) if self.image.width() == 8 * self.image.bytes => self.count_keys(pool),
                _ => match (self.order, &self.words, self.image.bytes) {
                    (Some(order), Some(words), 1) => self.sort_words::<u8>(pool, order, words),
                    (Some(order), Some(words), 2) => self.sort_words::<u16>(pool, order, words),
                    (Some(order), Some(words), 4) => self.sort_words::<u32>(pool, order, words),
                    (Some(order), Some(words), 8) => self.sort_words::<u64>(pool, order, words),
                    _ => self.sort_by_index(pool),
                },
            }
        }
    }

    /// The order of scalars all of whose bits compare.
    fn whole(&self) -> Option<KeyOrder> {
        self.order.filter(|_| self.image.width() == 8 * self.image.bytes)
    }

    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn sort_words<K: Bits>(&self, pool: &ThreadPool, order: KeyOrder, words: &[Region; 2]) -> Result<()> {
        // SAFETY: the caller's promise; words are of these types.
        unsafe {
            match &self.values {
                None => self.sort_bits::<K>(pool, order, self.room(words)),
                Some(values) => self.sort_pairs::<K>(pool, order, values, self.room(words))?,
            }
        }
        Ok(())
    }

    /// The scratch for words, and as many more.
    ///
    /// # Safety
    /// As [`SortStep::sort_keys`], `W` is a word's type, and nothing else refers to the scratch.
    unsafe fn room<'a, W: Word>(&self, words: &[Region; 2]) -> [&'a mut [W]; 2] {
        let [words, spare] = words;
        // SAFETY: `bind` checked lengths and alignments, and that scratch is apart from everything else. Any bits are a word.
        [words, spare].map(|region| unsafe { std::slice::from_raw_parts_mut(region.start().cast::<W>(), self.n) })
    }

    /// Sorts keys alone by some of their bits.
    ///
    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn sort_bits<K: Bits>(&self, pool: &ThreadPool, order: KeyOrder, [words, spare]: [&mut [K]; 2]) {
        let bits = &self.image.bits;
        // SAFETY: `bind` checked the length and the alignment. The output, which may be the input, is written behind this.
        let keys = unsafe { std::slice::from_raw_parts(self.input.start().cast::<K>().cast_const(), self.n) };
        in_chunks(pool, words, 1, |start, part| {
            part.iter_mut().zip(&keys[start..]).for_each(|(word, key)| *word = key.encode(order).turned(bits.end));
        });
        radix::sort(pool, words, spare, K::WIDTH - self.image.width(), K::WIDTH, &|start, words| {
            // SAFETY: as above. Each place is given once.
            let keys = unsafe { part_of::<K>(Shared(self.output.start()), start, words.len()) };
            keys.iter_mut().zip(words).for_each(|(key, word)| *key = word.turned_back(bits.end).decode(order));
        });
    }

    /// # Safety
    /// The caller holds access to the regions, and `K` is as wide as the keys.
    unsafe fn sort_keys<K: Bits>(&self, order: KeyOrder, parallel: bool) -> Result<()> {
        let n = self.n;
        // SAFETY: `bind` checked the length, the alignment, and that the output is apart from the input or the
        // same. Only the branch for regions apart makes a reference to the input beside that to the output.
        let output = unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<K>(), n) };
        if !self.input.is(&self.output) {
            // SAFETY: as above.
            let input = unsafe { std::slice::from_raw_parts(self.input.start().cast::<K>(), n) };
            each(output, parallel, |start, part| part.copy_from_slice(&input[start..start + part.len()]));
        }
        if !order.is_plain() {
            each(output, parallel, |_, part| part.iter_mut().for_each(|k| *k = k.encode(order)));
        }
        if parallel {
            output.radix_sort_unstable();
        } else {
            output.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
        }
        if !order.is_plain() {
            each(output, parallel, |_, part| part.iter_mut().for_each(|k| *k = k.decode(order)));
        }
        Ok(())
    }

    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn sort_pairs<K: Bits>(
        &self,
        pool: &ThreadPool,
        order: KeyOrder,
        values: &Values,
        [pairs, spare]: [&mut [K::Pair]; 2],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let differing = unsafe { self.pair_up::<K>(pool, order, values, pairs) };
        // SAFETY: as above.
        let kept = unsafe { values.kept(self.n)? };
        let (low, turn) = (CARRIED + K::WIDTH - self.image.width(), self.image.bits.end);
        radix::sort(pool, pairs, spare, low, differing.width(), &|start, pairs| {
            // SAFETY: `bind` checked lengths and alignments. Nothing refers to the inputs any more, which the outputs may be. Each
            // place is given once. The pairs carry the input's values, or `n` indices of them.
            unsafe {
                let keys = part_of::<K>(Shared(self.output.start()), start, pairs.len());
                keys.iter_mut()
                    .zip(pairs)
                    .for_each(|(key, &pair)| *key = K::of_pair(pair).0.turned_back(turn).decode(order));
                values.place::<K>(kept.as_deref(), start, pairs);
            }
        });
        Ok(())
    }

    /// Makes pairs of encoded keys and what they carry. The bits in which any two keys differ.
    ///
    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn pair_up<K: Bits>(
        &self,
        pool: &ThreadPool,
        order: KeyOrder,
        values: &Values,
        pairs: &mut [K::Pair],
    ) -> K::Pair {
        let (n, words) = (self.n, values.bytes / 4);
        // SAFETY: `bind` checked lengths and alignments. Nobody writes to the inputs meanwhile.
        let (keys, carried) = unsafe {
            let carried = match &values.input {
                Some(input) => std::slice::from_raw_parts(input.start().cast::<u32>(), n * words),
                None => &[],
            };
            (std::slice::from_raw_parts(self.input.start().cast::<K>(), n), carried)
        };
        let Some(&first) = keys.first() else { return K::Pair::ZERO };
        let image = |key: K| key.encode(order).turned(self.image.bits.end);
        let first = image(first).with(0);
        let all = Mutex::new(K::Pair::ZERO);
        in_chunks(pool, pairs, 1, |start, part| {
            let mut differing = K::Pair::ZERO;
            let keys = keys[start..].iter().map(|&key| image(key));
            let mut put = |pair: &mut K::Pair, key: K, carried: u32| {
                differing = key.with(0).differing(first, differing);
                *pair = key.with(carried);
            };
            match words {
                1 if values.input.is_some() => {
                    part.iter_mut().zip(keys.zip(&carried[start..])).for_each(|(pair, (key, &v))| put(pair, key, v))
                }
                _ => part.iter_mut().zip(keys.zip(start as u32..)).for_each(|(pair, (key, i))| put(pair, key, i)),
            }
            let mut all = all.lock();
            *all = differing.differing(K::Pair::ZERO, *all);
        });
        all.into_inner()
    }
}

impl SortStep {
    /// Counts keys of one or two bytes, and writes as many of each.
    ///
    /// # Safety
    /// The caller holds access to the regions.
    unsafe fn count_keys(&self, pool: &ThreadPool) -> Result<()> {
        let size = self.image.bytes as usize;
        let values = 1 << (8 * size);
        // SAFETY: `bind` checked the length. The reference ends before the output is written, which may be the input.
        let keys = unsafe { std::slice::from_raw_parts(self.input.start().cast_const(), self.n * size) };
        let whole = |key: &[u8]| key.iter().rev().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let counts = Mutex::new(vec![0usize; values]);
        let parts = if self.n < 4 * values { 1 } else { pool.current_num_threads() };
        let part = self.n.div_ceil(parts).max(1) * size;
        in_parts(
            pool,
            parts == 1,
            parts,
            || (),
            |(), i| {
                let mut own = vec![0usize; values];
                keys.chunks(part).nth(i).unwrap_or_default().chunks_exact(size).for_each(|key| own[whole(key)] += 1);
                counts.lock().iter_mut().zip(own).for_each(|(all, own)| *all += own);
            },
        );
        let counts = counts.into_inner();
        // SAFETY: as above.
        let output = unsafe { std::slice::from_raw_parts_mut(self.output.start(), self.n * size) };
        let mut from = 0;
        for image in 0..values {
            let key = self.image.key(image as u128);
            let count = counts[whole(&key[..size])];
            match size {
                1 => output[from..from + count].fill(key[0]),
                _ => output[from..from + 2 * count].chunks_exact_mut(2).for_each(|to| to.copy_from_slice(&key[..2])),
            }
            from += count * size;
        }
        Ok(())
    }

    /// Any keys and values, by words of what is compared and an index.
    ///
    /// # Safety
    /// The caller holds access to the regions.
    unsafe fn sort_by_index(&self, pool: &ThreadPool) -> Result<()> {
        let (n, size) = (self.n, self.image.bytes as usize);
        // SAFETY: `bind` checked the length. The bytes are copied before any are written.
        let keys = unsafe { std::slice::from_raw_parts(self.input.start().cast_const(), n * size) };
        let compared = |i: usize| self.image.compared(self.image.of(&keys[i * size..][..size]));
        let places = match self.image.width() {
            0..=32 => in_order(pool, n, |i| (compared(i) as u64) << CARRIED | i as u64, |word| word as u32)?,
            33..=64 => in_order(pool, n, |i| compared(i) << CARRIED | i as u128, |word| word as u32)?,
            // Two stable sorts by 64 bits each take 1.7 times as long.
            _ => {
                let mut pairs: Vec<(u128, u32)> = reserve(n)?;
                pairs.resize(n, (0, 0));
                in_chunks(pool, &mut pairs, 1, |start, part| {
                    part.iter_mut().zip(start..).for_each(|(to, i)| *to = (compared(i), i as u32));
                });
                inside(pool, size_of_val(&pairs[..]), |parallel| match parallel {
                    true => pairs.par_sort_unstable(),
                    false => pairs.sort_unstable(),
                });
                indices(pool, &pairs, |(_, index)| index)?
            }
        };
        // SAFETY: `bind` checked lengths, and what is read is no output of another's.
        unsafe {
            gather(pool, &places, size, &self.input, &self.output)?;
            match &self.values {
                Some(Values { input: Some(input), output, bytes, .. }) => gather(pool, &places, *bytes, input, output),
                Some(Values { output, .. }) => {
                    // An output of places has a word for each.
                    std::slice::from_raw_parts_mut(output.start().cast::<u32>(), n).copy_from_slice(&places);
                    Ok(())
                }
                None => Ok(()),
            }
        }
    }
}

/// Where the elements stood that come first, second and so on, by words that hold an index below what is compared.
fn in_order<W: Word>(
    pool: &ThreadPool,
    n: usize,
    word: impl Fn(usize) -> W + Sync,
    index: impl Fn(W) -> u32 + Sync,
) -> Result<Vec<u32>> {
    let (mut words, mut spare): (Vec<W>, Vec<W>) = (reserve(n)?, reserve(n)?);
    words.resize(n, W::ZERO);
    spare.resize(n, W::ZERO);
    let (first, all) = (if n > 0 { word(0) } else { W::ZERO }, Mutex::new(W::ZERO));
    in_chunks(pool, &mut words, 1, |start, part| {
        let mut differing = W::ZERO;
        for (to, i) in part.iter_mut().zip(start..) {
            *to = word(i);
            differing = to.differing(first, differing);
        }
        let mut all = all.lock();
        *all = differing.differing(W::ZERO, *all);
    });
    let mut places: Vec<u32> = reserve(n)?;
    places.resize(n, 0);
    let to = Shared(places.as_mut_ptr().cast());
    radix::sort(pool, &mut words, &mut spare, CARRIED, all.into_inner().width(), &|start, words| {
        // SAFETY: there is a place for each word, which is given once.
        let places = unsafe { part_of::<u32>(to, start, words.len()) };
        places.iter_mut().zip(words).for_each(|(to, word)| *to = index(*word));
    });
    Ok(places)
}

/// The index in each of some words.
fn indices<W: Copy + Sync>(pool: &ThreadPool, words: &[W], index: impl Fn(W) -> u32 + Sync) -> Result<Vec<u32>> {
    let mut places: Vec<u32> = reserve(words.len())?;
    places.resize(words.len(), 0);
    in_chunks(pool, &mut places, 1, |start, part| {
        part.iter_mut().zip(&words[start..]).for_each(|(to, word)| *to = index(*word));
    });
    Ok(places)
}

/// Brings elements of a size to the order in which their places stand, in place too.
///
/// # Safety
/// The regions hold as many elements, the places are all of theirs, and the caller holds access.
unsafe fn gather(pool: &ThreadPool, places: &[u32], size: usize, input: &Region, output: &Region) -> Result<()> {
    let bytes = places.len() * size;
    // SAFETY: the caller's promise. In place the bytes are copied before the output is referred to.
    let from = unsafe { std::slice::from_raw_parts(input.start().cast_const(), bytes) };
    let mut kept = vec![];
    if input.is(output) {
        kept = reserve(bytes)?;
        kept.extend_from_slice(from);
    }
    let from = if input.is(output) { &kept[..] } else { from };
    // SAFETY: as above.
    let to = unsafe { std::slice::from_raw_parts_mut(output.start(), bytes) };
    in_chunks(pool, to, size, |start, part| {
        let places = places[start / size..].iter();
        part.chunks_exact_mut(size)
            .zip(places)
            .for_each(|(to, &i)| to.copy_from_slice(&from[i as usize * size..][..size]));
    });
    Ok(())
}

impl Values {
    /// A copy of `n` values that are gathered by index, if they are written in place.
    ///
    /// # Safety
    /// There is access to the values, which are `n`, and nobody writes them.
    unsafe fn kept(&self, n: usize) -> Result<Option<Vec<u32>>> {
        let words = self.bytes / 4;
        let Some(input) = self.input.as_ref().filter(|input| words > 1 && input.is(&self.output)) else {
            return Ok(None);
        };
        let mut kept = reserve(n * words)?;
        // SAFETY: `bind` checked length and alignment, and nothing writes to the values before this ends.
        kept.extend_from_slice(unsafe { std::slice::from_raw_parts(input.start().cast(), n * words) });
        Ok(Some(kept))
    }

    /// Writes the values that pairs carry, or those whose indices they carry: of the ones kept, else of the input.
    ///
    /// # Safety
    /// The caller holds access to the values, no other thread writes these places, and the pairs' indices are of values.
    unsafe fn place<K: Bits>(&self, kept: Option<&[u32]>, start: usize, pairs: &[K::Pair]) {
        let words = self.bytes / 4;
        // SAFETY: the caller's promise; `bind` checked length and alignment.
        let output = unsafe { part_of::<u32>(Shared(self.output.start()), start * words, pairs.len() * words) };
        let carried = pairs.iter().map(|&pair| K::of_pair(pair).1);
        let from = match (&self.input, kept) {
            (Some(_), Some(kept)) => kept.as_ptr(),
            (Some(input), _) if words > 1 => input.start().cast_const().cast::<u32>(),
            _ => return output.iter_mut().zip(carried).for_each(|(value, carried)| *value = carried),
        };
        // SAFETY: as above. What is read is not written: it is kept, or the input is not the output.
        let value = |index: u32| unsafe { std::slice::from_raw_parts(from.add(index as usize * words), words) };
        // Of a number of words that is known here, copies are moves.
        match words {
            2 => output.as_chunks_mut::<2>().0.iter_mut().zip(carried).for_each(|(to, i)| to.copy_from_slice(value(i))),
            _ => output.chunks_exact_mut(words).zip(carried).for_each(|(to, i)| to.copy_from_slice(value(i))),
        }
    }
}

/// Some of the elements in memory.
///
/// # Safety
/// They are there, aligned, and nothing else refers to them for as long as these are used.
unsafe fn part_of<'a, T>(memory: Shared, start: usize, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(memory.at(start * size_of::<T>()).cast::<T>(), len) }
}

/// Works on parts of a slice on all threads, `work(start, part)`, each of a multiple of `of` elements.
fn in_chunks<T: Send>(pool: &ThreadPool, slice: &mut [T], of: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let (n, chunk) = (slice.len(), CHUNK * of);
    let memory = Shared(slice.as_mut_ptr().cast());
    in_parts(
        pool,
        size_of_val(slice) <= ALONE_BYTES,
        n.div_ceil(chunk),
        || (),
        |(), i| {
            let start = i * chunk;
            // SAFETY: parts are apart, within the slice, and this has the only reference to it.
            let part = unsafe { part_of(memory, start, chunk.min(n - start)) };
            work(start, part);
        },
    );
}

/// Works on the parts of a slice, `work(start, part)`, on all threads if there is enough of it.
fn each<T: Send>(slice: &mut [T], parallel: bool, work: impl Fn(usize, &mut [T]) + Sync) {
    if parallel {
        slice.par_chunks_mut(CHUNK).enumerate().for_each(|(i, part)| work(i * CHUNK, part));
    } else {
        work(0, slice);
    }
}

fn reserve<T>(n: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    let bytes = n as u64 * size_of::<T>() as u64;
    vec.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { bytes, device: "the cpu".into() })?;
    Ok(vec)
}

/// What a sort must give. What is before the first segment and behind the last is a segment too.
pub(crate) fn expect(request: &Request, Inputs { input: keys, values, offsets }: Inputs<'_>) -> Option<Expected> {
    let Request::Sort(request) = request else { return None };
    let image = request.image().ok()?;
    let key_bytes = request.key.bytes() as usize;
    let n = keys.len() / key_bytes;
    let mut cuts = vec![0];
    cuts.extend(request.segments.iter().flat_map(|by| begins(by, n, offsets.unwrap_or_default())));
    cuts.push(n as u32);
    // Where the key stood that comes to each place, and where its segment begins.
    let places = cuts.par_windows(2).flat_map_iter(|cuts| {
        let (begin, end) = (cuts[0], cuts[1]);
        let places = ordered(&image, &keys[begin as usize * key_bytes..end as usize * key_bytes], usize::MAX);
        places.into_iter().map(move |place| (begin + place, begin))
    });
    let places: Vec<(u32, u32)> = places.collect();
    let gathered = |element: &ElementType, bytes: &[u8]| {
        let size = element.bytes() as usize;
        let parts = places.par_iter().flat_map_iter(|&(i, _)| bytes[i as usize * size..][..size].iter().copied());
        Output::exact(element, parts.collect())
    };
    if request.by_place {
        let sorted = request.writes_keys.then(|| gathered(&request.key, keys));
        let places = places.iter().flat_map(|(i, begin)| (i - begin).to_le_bytes()).collect();
        let places = Output::exact(&ElementType::Scalar(Scalar::U32), places);
        return Some(Expected { values: sorted, ..Expected::of(places) });
    }
    let values = request.value.as_ref().zip(values).map(|(value, bytes)| gathered(value, bytes));
    match values {
        Some(values) if !request.writes_keys => Some(Expected::of(values)),
        values => Some(Expected { values, ..Expected::of(gathered(&request.key, keys)) }),
    }
}
