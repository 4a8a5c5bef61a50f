//! Sort through the crate `rdst`, a multi-threaded radix sort of unsigned bytes.
//!
//! Keys become unsigned integers of the same order first (see [`Bits`]), and keys again afterwards. `rdst` is not
//! stable. Keys alone need no stability: equal keys have equal bits.
//!
//! Pairs are sorted as (key, index), with the index as the lowest bytes of the radix key. No two are then equal, and
//! the order is the stable one. The values are gathered by index, once, however large they are.

use rayon::ThreadPool;
use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};
use trifold_core::{ElementType, Error, KernelKey, KeyImage, Order, Request, Result, ScalarKind};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Output, ordered};
use crate::step::{Arguments, Work, inside};

/// Elements that one task of a parallel loop takes.
const CHUNK: usize = 1 << 14;

/// A sort bound to its memory.
#[derive(Clone)]
struct SortStep {
    n: usize,
    image: KeyImage,
    /// Of keys of 4 or 8 bytes all of whose bits compare.
    order: Option<KeyOrder>,
    key_bytes: usize,
    input: Region,
    output: Region,
    values: Option<Values>,
}

#[derive(Clone)]
struct Values {
    /// Of a value.
    bytes: usize,
    input: Region,
    output: Region,
}

/// How keys compare.
#[derive(Clone, Copy)]
struct KeyOrder {
    kind: ScalarKind,
    descending: bool,
}

impl KeyOrder {
    /// If the key is one scalar of 4 or 8 bytes, and all of its bits compare.
    fn of(image: &KeyImage) -> Option<KeyOrder> {
        let [field] = image.fields[..] else { return None };
        let whole = matches!(image.bytes, 4 | 8) && image.bits == (0..8 * image.bytes);
        whole.then(|| KeyOrder { kind: field.scalar.kind(), descending: field.order == Some(Order::Descending) })
    }

    /// Whether keys compare as their bits do.
    fn is_plain(self) -> bool {
        self.kind == ScalarKind::Unsigned && !self.descending
    }
}

/// Key bits: u32 or u64.
trait Bits: Copy + Send + Sync + RadixKey {
    /// Bytes.
    const BYTES: usize;
    /// Bits that compare, as unsigned integers, as the keys do in the wanted order.
    ///
    /// Signed integers have their sign flipped. Floats have it flipped if they are positive and all bits flipped if
    /// negative, which is IEEE 754's total order. Descending is the complement.
    fn encode(self, order: KeyOrder) -> Self;
    /// The key of these bits.
    fn decode(self, order: KeyOrder) -> Self;
}

macro_rules! bits {
    ($ty:ident, $signed:ident) => {
        impl Bits for $ty {
            const BYTES: usize = size_of::<$ty>();
            #[inline]
            fn encode(self, order: KeyOrder) -> $ty {
                const SIGN: $ty = 1 << ($ty::BITS - 1);
                let bits = match order.kind {
                    ScalarKind::Unsigned => self,
                    ScalarKind::Signed => self ^ SIGN,
                    ScalarKind::Float => self ^ ((((self as $signed) >> ($ty::BITS - 1)) as $ty) | SIGN),
                };
                if order.descending { !bits } else { bits }
            }
            #[inline]
            fn decode(self, order: KeyOrder) -> $ty {
                const SIGN: $ty = 1 << ($ty::BITS - 1);
                let bits = if order.descending { !self } else { self };
                match order.kind {
                    ScalarKind::Unsigned => bits,
                    ScalarKind::Signed => bits ^ SIGN,
                    ScalarKind::Float => bits ^ (!(((bits as $signed) >> ($ty::BITS - 1)) as $ty) | SIGN),
                }
            }
        }
    };
}
bits!(u32, i32);
bits!(u64, i64);

/// A key and where it was, to be sorted by both. `INDEX_BYTES` is how many bytes the largest index has.
#[derive(Clone, Copy)]
struct Indexed<K, const INDEX_BYTES: usize> {
    key: K,
    index: u32,
}

impl<K: Bits, const INDEX_BYTES: usize> RadixKey for Indexed<K, INDEX_BYTES> {
    const LEVELS: usize = K::BYTES + INDEX_BYTES;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        if level < INDEX_BYTES { (self.index >> (8 * level)) as u8 } else { self.key.get_level(level - INDEX_BYTES) }
    }
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let constant =
        |name| key.constant(name).ok_or_else(|| Error::Invalid(format!("{} without its constant {name}", key.name())));
    let image = key.image.clone().ok_or_else(|| Error::Invalid(format!("{} without its keys' image", key.name())))?;
    let (n, key_bytes) = (arguments.count()?, image.bytes as usize);
    let alignment = if key_bytes.is_power_of_two() { key_bytes } else { 4 };
    let input = arguments.array("input", n, key_bytes, alignment)?;
    let output = arguments.array("output", n, key_bytes, alignment)?;
    let unit = constant("VALUE_UNIT")? as usize;
    let values = match constant("VALUE_WORDS")? as usize {
        0 => None,
        words => Some(Values {
            bytes: unit * words,
            input: arguments.array("input_values", n, unit * words, unit)?,
            output: arguments.array("output_values", n, unit * words, unit)?,
        }),
    };
    if !input.is(&output) {
        input.check_apart(&output)?;
    }
    if let Some(v) = &values {
        if !v.input.is(&v.output) {
            v.input.check_apart(&v.output)?;
        }
        for region in [&input, &output] {
            v.output.check_apart(region)?;
        }
        v.input.check_apart(&output)?;
    }
    Ok(Box::new(SortStep { n, order: KeyOrder::of(&image), image, key_bytes, input, output, values }))
}

impl Work for SortStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let mut reads = vec![&self.input];
        let mut writes = vec![&self.output];
        if let Some(v) = &self.values {
            reads.push(&v.input);
            writes.push(&v.output);
        }
        let _access = Access::to(&reads, &writes)?;
        inside(pool, self.n * self.key_bytes, |parallel| {
            // SAFETY: `_access` covers all of the memory, and lasts past this.
            unsafe {
                let by_words = self.values.as_ref().is_none_or(|values| values.bytes.is_multiple_of(4));
                match (self.order.filter(|_| by_words), self.key_bytes) {
                    (Some(order), 4) => self.sort::<u32>(order, parallel),
                    (Some(order), _) => self.sort::<u64>(order, parallel),
                    (None, _) => self.sort_images(),
                }
            }
        })
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SortStep { n, ..self.clone() })
    }
}

impl SortStep {
    /// Any keys, by what of their images compares.
    ///
    /// # Safety
    /// The caller holds access to the regions.
    unsafe fn sort_images(&self) -> Result<()> {
        let n = self.n;
        // SAFETY: `bind` checked the length. The bytes are copied before any are written.
        let keys = unsafe { std::slice::from_raw_parts(self.input.start(), n * self.key_bytes) }.to_vec();
        let compared = |key: &[u8]| self.image.compared(self.image.of(key));
        let mut pairs: Vec<(u128, u32)> = reserve(n)?;
        keys.par_chunks_exact(self.key_bytes)
            .zip(0..n as u32)
            .map(|(key, i)| (compared(key), i))
            .collect_into_vec(&mut pairs);
        pairs.par_sort_unstable();
        let gather = |from: &[u8], to: &Region, size: usize| {
            // SAFETY: `bind` checked the length, and the caller holds access; `from` is memory of its own.
            let to = unsafe { std::slice::from_raw_parts_mut(to.start(), n * size) };
            to.par_chunks_exact_mut(size)
                .zip(&pairs)
                .for_each(|(to, &(_, i))| to.copy_from_slice(&from[i as usize * size..][..size]));
        };
        gather(&keys, &self.output, self.key_bytes);
        if let Some(values) = &self.values {
            // SAFETY: as with the keys.
            let from = unsafe { std::slice::from_raw_parts(values.input.start(), n * values.bytes) }.to_vec();
            gather(&from, &values.output, values.bytes);
        }
        Ok(())
    }

    /// # Safety
    /// The caller holds access to the regions, and `K` is as wide as the keys.
    unsafe fn sort<K: Bits>(&self, order: KeyOrder, parallel: bool) -> Result<()> {
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
        let sorted = match &self.values {
            None if parallel => {
                output.radix_sort_unstable();
                Ok(())
            }
            None => {
                output.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
                Ok(())
            }
            Some(values) => {
                // SAFETY: the caller's promise.
                unsafe {
                    match n {
                        0..=0x100 => values.sort::<K, 1>(output, parallel),
                        0x101..=0x1_0000 => values.sort::<K, 2>(output, parallel),
                        0x1_0001..=0x100_0000 => values.sort::<K, 3>(output, parallel),
                        _ => values.sort::<K, 4>(output, parallel),
                    }
                }
            }
        };
        // Without memory for the values they are as they were, and so are the keys.
        if !order.is_plain() {
            each(output, parallel, |_, part| part.iter_mut().for_each(|k| *k = k.decode(order)));
        }
        sorted
    }
}

impl Values {
    /// Sorts encoded keys, and moves the values as the keys move.
    ///
    /// # Safety
    /// The caller holds access to the values, and no reference to them.
    unsafe fn sort<K: Bits, const INDEX_BYTES: usize>(&self, keys: &mut [K], parallel: bool) -> Result<()> {
        let (n, words) = (keys.len(), self.bytes / 4);
        let mut pairs: Vec<Indexed<K, INDEX_BYTES>> = reserve(n)?;
        let pair = |(i, &key): (usize, &K)| Indexed { key, index: i as u32 };
        if parallel {
            keys.par_iter().enumerate().map(pair).collect_into_vec(&mut pairs);
            pairs.radix_sort_unstable();
        } else {
            pairs.extend(keys.iter().enumerate().map(pair));
            pairs.radix_sort_builder().with_single_threaded_tuner().with_parallel(false).sort();
        }
        each(keys, parallel, |start, part| {
            let from = &pairs[start..start + part.len()];
            part.iter_mut().zip(from).for_each(|(key, pair)| *key = pair.key);
        });
        let in_place = self.input.is(&self.output);
        let mut moved: Vec<u32> = if in_place { reserve(n * words)? } else { vec![] };
        if in_place {
            moved.resize(n * words, 0);
        }
        {
            // SAFETY: `bind` checked length and alignment; the output is another region, or not referred to here.
            let input = unsafe { std::slice::from_raw_parts(self.input.start().cast::<u32>(), n * words) };
            let target = if in_place {
                &mut moved[..]
            } else {
                // SAFETY: as above; the output is apart from everything else.
                unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<u32>(), n * words) }
            };
            let gather = |start: usize, part: &mut [u32]| {
                for (to, pair) in part.chunks_exact_mut(words).zip(&pairs[start / words..]) {
                    let from = pair.index as usize * words;
                    to.copy_from_slice(&input[from..from + words]);
                }
            };
            if parallel {
                let chunk = CHUNK * words;
                target.par_chunks_mut(chunk).enumerate().for_each(|(i, part)| gather(i * chunk, part));
            } else {
                gather(0, target);
            }
        }
        if in_place {
            // SAFETY: as above, and the reference to the input has ended.
            let output = unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<u32>(), n * words) };
            each(output, parallel, |start, part| part.copy_from_slice(&moved[start..start + part.len()]));
        }
        Ok(())
    }
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

/// What a sort must give.
pub(crate) fn expect(request: &Request, keys: &[u8], values: Option<&[u8]>) -> Option<Expected> {
    let Request::Sort(request) = request else { return None };
    let image = request.image().ok()?;
    let places = ordered(&image, keys);
    let gathered = |element: &ElementType, bytes: &[u8]| {
        let size = element.bytes() as usize;
        let parts = places.par_iter().flat_map_iter(|&i| bytes[i as usize * size..][..size].iter().copied());
        Output::exact(element, parts.collect())
    };
    let values = request.value.as_ref().zip(values).map(|(value, bytes)| gathered(value, bytes));
    Some(Expected { values, ..Expected::of(gathered(&request.key, keys)) })
}
