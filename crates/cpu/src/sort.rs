//! Sort.
//!
//! Keys become unsigned integers of the same order first (see [`Bits`]), and keys again afterwards.
//!
//! Keys alone are sorted by the crate `rdst`, a multi-threaded radix sort of unsigned bytes. It is not stable, and need not be:
//! equal keys have equal bits.
//!
//! Pairs become words, which a stable sort of our own takes: the key, and below it a value of 32 bits. Other values are
//! gathered by index afterwards, once, however large they are. The index is then what the word has below the key.

use parking_lot::Mutex;
use rayon::ThreadPool;
use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};
use trifold_core::{ElementType, Error, KernelKey, Number, Order, Request, Result, ScalarKind, for_scalar};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Output, indexed, sort_keys};
use crate::radix::{self, Word};
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts, inside};

/// Elements that one task of a parallel loop takes.
const CHUNK: usize = 1 << 14;

/// A sort bound to its memory.
#[derive(Clone)]
struct SortStep {
    n: usize,
    order: KeyOrder,
    key_bytes: usize,
    input: Region,
    output: Region,
    values: Option<Values>,
}

#[derive(Clone)]
struct Values {
    /// 32-bit words of a value.
    words: usize,
    input: Region,
    output: Region,
    /// Scratch for pairs, and for as many more.
    pairs: [Region; 2],
}

/// How keys compare.
#[derive(Clone, Copy)]
struct KeyOrder {
    kind: ScalarKind,
    descending: bool,
}

impl KeyOrder {
    /// Whether keys compare as their bits do.
    fn is_plain(self) -> bool {
        self.kind == ScalarKind::Unsigned && !self.descending
    }
}

/// Key bits: u32 or u64.
trait Bits: Copy + Send + Sync + RadixKey {
    /// Such bits above 32 others.
    type Pair: Word;
    /// Bits that compare, as unsigned integers, as the keys do in the wanted order.
    ///
    /// Signed integers have their sign flipped. Floats have it flipped if they are positive and all bits flipped if
    /// negative, which is IEEE 754's total order. Descending is the complement.
    fn encode(self, order: KeyOrder) -> Self;
    /// The key of these bits.
    fn decode(self, order: KeyOrder) -> Self;
    /// These bits above others.
    fn above(self, carried: u32) -> Self::Pair;
    /// Both of a pair.
    fn of_pair(pair: Self::Pair) -> (Self, u32);
}

macro_rules! bits {
    ($ty:ident, $signed:ident, $pair:ident) => {
        impl Bits for $ty {
            type Pair = $pair;
            #[inline]
            fn above(self, carried: u32) -> $pair {
                $pair::from(self) << CARRIED | $pair::from(carried)
            }
            #[inline]
            fn of_pair(pair: $pair) -> ($ty, u32) {
                ((pair >> CARRIED) as $ty, pair as u32)
            }
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
bits!(u32, i32, u64);
bits!(u64, i64, u128);

/// Bits that a pair has below the key.
const CARRIED: u32 = u32::BITS;

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let constant =
        |name| key.constant(name).ok_or_else(|| Error::Invalid(format!("{} without its constant {name}", key.name())));
    let (code, kinds) = (constant("KEY_KIND")?, [ScalarKind::Unsigned, ScalarKind::Signed, ScalarKind::Float]);
    let kind = *kinds.get(code as usize).ok_or_else(|| Error::Invalid(format!("keys of kind {code}")))?;
    let order = KeyOrder { kind, descending: constant("DESCENDING")? == 1 };
    let key_bytes = constant("PLACES")? as usize;
    if key_bytes != 4 && key_bytes != 8 {
        return Err(Error::Unsupported(format!("keys of {key_bytes} bytes; they have 4 or 8")));
    }
    let n = arguments.count()?;
    let input = arguments.array("input", n, key_bytes, key_bytes)?;
    let output = arguments.array("output", n, key_bytes, key_bytes)?;
    let values = match constant("VALUE_WORDS")? as usize {
        0 => None,
        words => Some(Values {
            words,
            input: arguments.array("input_values", n, 4 * words, 4)?,
            output: arguments.array("output_values", n, 4 * words, 4)?,
            pairs: [arguments.room("pairs", n, 2 * key_bytes)?, arguments.room("spare", n, 2 * key_bytes)?],
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
        v.pairs[0].check_apart(&v.pairs[1])?;
        for (pairs, region) in v.pairs.iter().flat_map(|p| [&input, &output, &v.input, &v.output].map(|r| (p, r))) {
            pairs.check_apart(region)?;
        }
    }
    Ok(Box::new(SortStep { n, order, key_bytes, input, output, values }))
}

impl Work for SortStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let mut reads = vec![&self.input];
        let mut writes = vec![&self.output];
        if let Some(v) = &self.values {
            reads.push(&v.input);
            writes.extend([&v.output, &v.pairs[0], &v.pairs[1]]);
        }
        let _access = Access::to(&reads, &writes)?;
        // SAFETY: `_access` covers all of the memory, and lasts past this.
        unsafe {
            match (&self.values, self.key_bytes) {
                (None, 4) => inside(pool, 4 * self.n, |parallel| self.sort_keys::<u32>(parallel)),
                (None, _) => inside(pool, 8 * self.n, |parallel| self.sort_keys::<u64>(parallel)),
                (Some(values), 4) => self.sort_pairs::<u32>(pool, values),
                (Some(values), _) => self.sort_pairs::<u64>(pool, values),
            }
        }
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SortStep { n, ..self.clone() })
    }
}

impl SortStep {
    /// # Safety
    /// The caller holds access to the regions, and `K` is as wide as the keys.
    unsafe fn sort_keys<K: Bits>(&self, parallel: bool) -> Result<()> {
        let (n, order) = (self.n, self.order);
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
    unsafe fn sort_pairs<K: Bits>(&self, pool: &ThreadPool, values: &Values) -> Result<()> {
        let n = self.n;
        // SAFETY: `bind` checked lengths and alignments, and that scratch is apart from everything else. Any bits are pairs.
        let [pairs, spare] = unsafe {
            let [pairs, spare] = &values.pairs;
            [pairs, spare].map(|region| std::slice::from_raw_parts_mut(region.start().cast::<K::Pair>(), n))
        };
        // SAFETY: the caller's promise.
        let differing = unsafe { self.pair_up::<K>(pool, values, pairs) };
        radix::sort(pool, pairs, spare, CARRIED, differing.width());
        // SAFETY: as above; the pairs hold the input's values, or `n` indices of them.
        unsafe {
            self.part_keys::<K>(pool, pairs);
            values.place::<K>(pool, pairs)
        }
    }

    /// Makes pairs of encoded keys and what they carry. The bits in which any two keys differ.
    ///
    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn pair_up<K: Bits>(&self, pool: &ThreadPool, values: &Values, pairs: &mut [K::Pair]) -> K::Pair {
        let (n, order) = (self.n, self.order);
        // SAFETY: `bind` checked lengths and alignments. Nobody writes to the inputs meanwhile.
        let (keys, carried) = unsafe {
            let carried = std::slice::from_raw_parts(values.input.start().cast::<u32>(), n * values.words);
            (std::slice::from_raw_parts(self.input.start().cast::<K>(), n), carried)
        };
        let Some(&first) = keys.first() else { return K::Pair::ZERO };
        let first = first.encode(order).above(0);
        let all = Mutex::new(K::Pair::ZERO);
        in_chunks(pool, pairs, 1, |start, part| {
            let mut differing = K::Pair::ZERO;
            let keys = keys[start..].iter().map(|key| key.encode(order));
            let mut put = |pair: &mut K::Pair, key: K, carried: u32| {
                differing = key.above(0).differing(first, differing);
                *pair = key.above(carried);
            };
            match values.words {
                1 => part.iter_mut().zip(keys.zip(&carried[start..])).for_each(|(pair, (key, &v))| put(pair, key, v)),
                _ => part.iter_mut().zip(keys.zip(start as u32..)).for_each(|(pair, (key, i))| put(pair, key, i)),
            }
            let mut all = all.lock();
            *all = differing.differing(K::Pair::ZERO, *all);
        });
        all.into_inner()
    }

    /// Writes the keys of pairs.
    ///
    /// # Safety
    /// As [`SortStep::sort_keys`].
    unsafe fn part_keys<K: Bits>(&self, pool: &ThreadPool, pairs: &[K::Pair]) {
        // SAFETY: `bind` checked length and alignment; nothing refers to the input any more, which it may be.
        let output = unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<K>(), self.n) };
        in_chunks(pool, output, 1, |start, part| {
            for (key, &pair) in part.iter_mut().zip(&pairs[start..]) {
                *key = K::of_pair(pair).0.decode(self.order);
            }
        });
    }
}

impl Values {
    /// Writes the values that pairs carry, or those of the input whose indices they carry.
    ///
    /// # Safety
    /// The caller holds access to the values, and no reference to them.
    unsafe fn place<K: Bits>(&self, pool: &ThreadPool, pairs: &[K::Pair]) -> Result<()> {
        let (n, words) = (pairs.len(), self.words);
        let in_place = self.input.is(&self.output) && words > 1;
        let mut moved: Vec<u32> = if in_place { reserve(n * words)? } else { vec![] };
        if in_place {
            // SAFETY: `bind` checked length and alignment, and nothing writes to the values before this ends.
            moved.extend_from_slice(unsafe { std::slice::from_raw_parts(self.input.start().cast(), n * words) });
        }
        // SAFETY: as above. The output is apart from everything else, or it is the input, which is not referred to here.
        let output = unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<u32>(), n * words) };
        if words == 1 {
            in_chunks(pool, output, 1, |start, part| {
                part.iter_mut().zip(&pairs[start..]).for_each(|(value, &pair)| *value = K::of_pair(pair).1);
            });
            return Ok(());
        }
        let input = match in_place {
            true => &moved[..],
            // SAFETY: as above; the input is not the output.
            false => unsafe { std::slice::from_raw_parts(self.input.start().cast::<u32>(), n * words) },
        };
        in_chunks(pool, output, words, |start, part| {
            let pairs = pairs[start / words..].iter();
            let index = |pair: &K::Pair| K::of_pair(*pair).1 as usize * words;
            // Of a number of words that is known here, copies are moves.
            match words {
                2 => part.as_chunks_mut::<2>().0.iter_mut().zip(pairs).for_each(|(value, pair)| {
                    value.copy_from_slice(&input[index(pair)..][..2]);
                }),
                _ => part.chunks_exact_mut(words).zip(pairs).for_each(|(value, pair)| {
                    value.copy_from_slice(&input[index(pair)..][..words]);
                }),
            }
        });
        Ok(())
    }
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
            let part = unsafe {
                let part = memory.at(start * size_of::<T>()).cast::<T>();
                std::slice::from_raw_parts_mut(part, chunk.min(n - start))
            };
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

/// What a sort must give.
pub(crate) fn expect(request: &Request, keys: &[u8], values: Option<&[u8]>) -> Option<Expected> {
    fn sorted<K: Number>(order: Order, keys: &[u8], values: Option<(usize, &[u8])>) -> (Vec<u8>, Option<Vec<u8>>) {
        let keys: Vec<K> = keys.chunks_exact(size_of::<K>()).map(bytemuck::pod_read_unaligned).collect();
        let Some((size, values)) = values else {
            return (bytemuck::cast_slice(&sort_keys(order, &keys)).to_vec(), None);
        };
        let mut sorted = (Vec::with_capacity(size_of_val(&keys[..])), Vec::with_capacity(values.len()));
        for (key, i) in indexed(order, &keys) {
            sorted.0.extend_from_slice(bytemuck::bytes_of(&key));
            sorted.1.extend_from_slice(&values[i as usize * size..][..size]);
        }
        (sorted.0, Some(sorted.1))
    }
    let Request::Sort(request) = request else { return None };
    let carried = request.value.as_ref().zip(values);
    let sized = carried.map(|(value, bytes)| (value.bytes() as usize, bytes));
    let (keys, values) = for_scalar!(request.key, K => sorted::<K>(request.order, keys, sized));
    let values = carried.zip(values).map(|((value, _), bytes)| Output::exact(value, bytes));
    Some(Expected { values, ..Expected::of(Output::exact(&ElementType::Scalar(request.key), keys)) })
}
