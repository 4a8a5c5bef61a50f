//! Whether a result is right: every result against the operator's Rust twin, in loops fast enough for 2^28 elements. (The suite has the plainer
//! oracle.)
//!
//! Sums and other scans are computed anew, in parallel by chunks. A sort is checked rather than repeated: the output
//! must be in order and hold the input's keys, by two sums of hashes; and pairs, whose values are the keys' positions,
//! must point at equal keys, in stable order, which leaves no room for anything but the right permutation. Selections and
//! reductions by key are done anew, and must have left alone what lies past their results.

use rayon::prelude::*;
use trifold::{Builtin, Element, Op, Predicate, Scalar, bytemuck};

use super::data::{STALE, Upper};
use crate::elements::{Value, mix, text, with_type};

/// Elements that one task takes at a time.
const CHUNK: usize = 1 << 16;

/// What is wrong with a result.
pub type Verdict = Result<(), String>;

/// Whether the output is the input.
pub fn copy(scalar: Scalar, input: &[u8], output: &[u8]) -> Verdict {
    let size = scalar.bytes() as usize;
    let wrong = input.par_chunks(CHUNK * size).zip(output.par_chunks(CHUNK * size)).enumerate().find_map_first(
        |(chunk, (a, b))| {
            let at = a.chunks_exact(size).zip(b.chunks_exact(size)).position(|(a, b)| a != b)?;
            Some(chunk * CHUNK + at)
        },
    );
    match wrong {
        None => Ok(()),
        Some(i) => Err(differs(scalar, i, &output[i * size..][..size], &input[i * size..][..size])),
    }
}

fn differs(scalar: Scalar, i: usize, got: &[u8], want: &[u8]) -> String {
    format!("element {i} is {}, and should be {}", text(scalar, got), text(scalar, want))
}

/// An operator whose results are to be checked, and how long the device's chain of combines is.
pub struct Combine {
    which: Builtin,
    scalar: Scalar,
    /// The same operator over the type that the oracle computes in: floats are widened.
    op: Op,
    depth: u64,
}

/// One element, aligned for any scalar.
type Word = [u8; 8];

impl Combine {
    /// `None` for a bitwise operator over floats.
    pub fn new(which: Builtin, scalar: Scalar, depth: u64) -> Option<Combine> {
        let wide = if scalar.is_float() { Scalar::F64 } else { scalar };
        Some(Combine { which, scalar, op: Op::builtin(which, wide)?, depth })
    }

    /// Whether `output` is the exclusive scan of `input`.
    pub fn scan(&self, input: &[u8], output: &[u8]) -> Verdict {
        let size = self.scalar.bytes() as usize;
        let totals: Vec<Word> = input.par_chunks(CHUNK * size).map(|chunk| self.fold(&self.widen(chunk))).collect();
        let mut carry = self.identity();
        let mut carries = Vec::with_capacity(totals.len());
        for total in &totals {
            carries.push(carry);
            carry = self.combine(carry, *total);
        }
        let chunks = input.par_chunks(CHUNK * size).zip(output.par_chunks(CHUNK * size)).zip(carries).enumerate();
        let wrong = chunks.find_map_first(|(chunk, ((input, output), carry))| {
            let want = self.scan_chunk(&self.widen(input), carry);
            let (at, why) = self.first_wrong(output, &want, input.len() / size, totals.len())?;
            Some(format!("element {} {why}", chunk * CHUNK + at))
        });
        wrong.map_or(Ok(()), Err)
    }

    /// Whether `output` is the reduction of `input`.
    pub fn reduce(&self, input: &[u8], output: &[u8]) -> Verdict {
        let size = self.scalar.bytes() as usize;
        let totals: Vec<Word> = input.par_chunks(CHUNK * size).map(|chunk| self.fold(&self.widen(chunk))).collect();
        let total = totals.iter().fold(self.identity(), |a, b| self.combine(a, *b));
        match self.first_wrong(output, &[u64::from_ne_bytes(total)], 1, totals.len()) {
            None => Ok(()),
            Some((_, why)) => Err(format!("the total {why}")),
        }
    }

    /// Whether `out_keys` and `totals` begin with the key of each run of equal `keys` and its `values` combined, and hold
    /// nothing else.
    pub fn by_key(&self, keys: &[u8], values: &[u8], out_keys: &[u8], totals: &[u8]) -> Verdict {
        let size = self.scalar.bytes() as usize;
        let starts = runs(self.scalar, keys);
        run_keys(self.scalar, keys, &starts, out_keys)?;
        let end = |run: usize| starts.get(run + 1).map_or(keys.len() / size, |start| *start as usize);
        let wrong = starts.par_chunks(CHUNK).enumerate().find_map_first(|(chunk, of)| {
            let (begin, first) = (chunk * CHUNK, of[0] as usize);
            let last = end(begin + of.len() - 1);
            let words = self.widen(&values[first * size..last * size]);
            let wide = self.op.element().bytes() as usize;
            let mut want = vec![0u64; (of.len() * wide).div_ceil(8)];
            let mut longest = 0;
            let places = bytemuck::cast_slice_mut::<u64, u8>(&mut want).chunks_exact_mut(wide);
            for (i, place) in places.take(of.len()).enumerate() {
                let (from, to) = (of[i] as usize - first, end(begin + i) - first);
                place.copy_from_slice(&self.fold_part(&words, from, to)[..wide]);
                longest = longest.max(to - from);
            }
            let (at, why) = self.first_wrong(&totals[begin * size..], &want, of.len(), longest)?;
            Some(format!("the total of run {} {why}", begin + at))
        });
        wrong.map_or(Ok(()), Err)?;
        untouched(&totals[starts.len() * size..], "totals")
    }

    /// The elements as the oracle's own type, aligned for it.
    fn widen(&self, chunk: &[u8]) -> Vec<u64> {
        let mut words;
        if self.scalar == Scalar::F32 {
            words = Vec::with_capacity(chunk.len() / 4);
            let floats = chunk.chunks_exact(4).map(bytemuck::pod_read_unaligned::<f32>);
            words.extend(floats.map(|x| f64::from(x).to_bits()));
        } else {
            words = vec![0; chunk.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut words)[..chunk.len()].copy_from_slice(chunk);
            if !chunk.len().is_multiple_of(8) {
                // An odd number of four-byte elements: the identity completes the last word.
                let rest: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                rest[chunk.len()..].copy_from_slice(&self.op.identity()[..4]);
            }
        }
        words
    }

    fn identity(&self) -> Word {
        let mut word = [0; 8];
        word[..self.op.identity().len()].copy_from_slice(self.op.identity());
        word
    }

    fn combine(&self, a: Word, b: Word) -> Word {
        let mut accumulator = u64::from_ne_bytes(a);
        let b = u64::from_ne_bytes(b);
        // SAFETY: one element at each pointer; both are words of eight bytes, aligned for any scalar.
        unsafe { (self.op.host().fold)((&raw const b).cast(), 1, (&raw mut accumulator).cast()) };
        accumulator.to_ne_bytes()
    }

    fn fold(&self, words: &[u64]) -> Word {
        self.fold_part(words, 0, size_of_val(words) / self.op.element().bytes() as usize)
    }

    /// The elements `from..to` of those that the words hold.
    fn fold_part(&self, words: &[u64], from: usize, to: usize) -> Word {
        let size = self.op.element().bytes() as usize;
        let part = &bytemuck::cast_slice::<u64, u8>(words)[from * size..to * size];
        let mut accumulator = u64::from_ne_bytes(self.identity());
        // SAFETY: `to - from` elements fill the part exactly. It begins at a multiple of their size in words that are aligned for any
        // scalar, and a scalar's alignment divides its size.
        unsafe { (self.op.host().fold)(part.as_ptr(), to - from, (&raw mut accumulator).cast()) };
        accumulator.to_ne_bytes()
    }

    fn scan_chunk(&self, words: &[u64], carry: Word) -> Vec<u64> {
        let n = size_of_val(words) / self.op.element().bytes() as usize;
        let mut want = vec![0u64; words.len()];
        let mut carry = u64::from_ne_bytes(carry);
        // SAFETY: as in `fold`; the output has as many words as the input.
        unsafe {
            (self.op.host().scan)(words.as_ptr().cast(), want.as_mut_ptr().cast(), n, (&raw mut carry).cast(), true)
        };
        want
    }

    /// The first of `n` elements that is not what it should be, and why.
    fn first_wrong(&self, got: &[u8], want: &[u64], n: usize, chunks: usize) -> Option<(usize, String)> {
        let size = self.scalar.bytes() as usize;
        if !self.scalar.is_float() {
            let want: &[u8] = &bytemuck::cast_slice(want)[..n * size];
            let at = got.chunks_exact(size).zip(want.chunks_exact(size)).position(|(a, b)| a != b)?;
            let show = |from: &[u8]| text(self.scalar, &from[at * size..][..size]);
            return Some((at, format!("is {}, and should be {}", show(got), show(want))));
        }
        let (epsilon, smallest) = match self.scalar {
            Scalar::F32 => (f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE)),
            _ => (f64::EPSILON, f64::MIN_POSITIVE),
        };
        // Inputs are not negative, so a sum's rounding is at most depth * epsilon of the sum itself; the oracle's own
        // chain rounds too. Denormals may be flushed.
        let rounds = matches!(self.which, Builtin::Sum | Builtin::Product);
        let own = (CHUNK + chunks) as f64 * f64::EPSILON;
        let tolerance = if rounds { self.depth as f64 * epsilon + own } else { 0.0 };
        let floor = if rounds { smallest } else { 0.0 };
        (0..n).find_map(|i| {
            let value = match self.scalar {
                Scalar::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(&got[i * 4..][..4])),
                _ => bytemuck::pod_read_unaligned::<f64>(&got[i * 8..][..8]),
            };
            let should = f64::from_bits(want[i]);
            // The identity of min and max is infinite, and equal to itself alone.
            let right = value == should || (value - should).abs() <= tolerance * should.abs() + floor;
            (!right)
                .then(|| (i, format!("is {value:?}, and should be {should:?} within {:?}", tolerance * should.abs())))
        })
    }
}

/// Whether `output` is `input` in ascending order.
pub fn sorted(scalar: Scalar, input: &[u8], output: &[u8]) -> Verdict {
    with_type!(scalar, T => sorted_keys::<T>(bytemuck::cast_slice(input), bytemuck::cast_slice(output)))
}

fn sorted_keys<T: Value>(input: &[T], output: &[T]) -> Verdict {
    in_order(output)?;
    if hashes(input) != hashes(output) {
        return Err("the output is in order, and does not hold the input's keys".into());
    }
    Ok(())
}

fn in_order<T: Value>(keys: &[T]) -> Verdict {
    match keys.par_windows(2).position_first(|pair| pair[0].rank() > pair[1].rank()) {
        Some(i) => Err(format!("key {i} is {:?}, and the next is {:?}", keys[i], keys[i + 1])),
        None => Ok(()),
    }
}

/// Two sums of independent hashes: the same for any order of the same keys, and next to never for other keys.
fn hashes<T: Value>(keys: &[T]) -> (u64, u64) {
    keys.par_iter()
        .map(|key| {
            let rank = key.rank();
            (mix(rank), mix(rank.rotate_left(31) ^ 0xd1b5_4a32_d192_ed03))
        })
        .reduce(|| (0, 0), |a, b| (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1)))
}

/// Whether `keys` is `input` in stable ascending order, with each key's position in `input` beside it.
pub fn pairs(scalar: Scalar, input: &[u8], keys: &[u8], values: &[u8]) -> Verdict {
    let values = bytemuck::cast_slice(values);
    with_type!(scalar, T => sorted_pairs::<T>(bytemuck::cast_slice(input), bytemuck::cast_slice(keys), values))
}

fn sorted_pairs<T: Value>(input: &[T], keys: &[T], values: &[u32]) -> Verdict {
    in_order(keys)?;
    let stray = keys
        .par_iter()
        .zip(values)
        .position_first(|(key, &value)| input.get(value as usize).is_none_or(|original| original.rank() != key.rank()));
    if let Some(i) = stray {
        return Err(format!("value {i} is {}, and its key {:?} did not come from there", values[i], keys[i]));
    }
    let unstable = (1..keys.len())
        .into_par_iter()
        .position_first(|i| keys[i - 1].rank() == keys[i].rank() && values[i - 1] >= values[i]);
    match unstable {
        Some(i) => Err(format!("values {} and {} have equal keys and are not in their old order", i, i + 1)),
        None => Ok(()),
    }
}

/// Whether a call counted right: the elements that it kept, or the runs.
pub fn count(got: &[u8], want: u64) -> Verdict {
    let got = bytemuck::pod_read_unaligned::<u32>(got);
    if u64::from(got) == want { Ok(()) } else { Err(format!("the count is {got}, and should be {want}")) }
}

/// Whether what lies past a result is still what was there before.
fn untouched(bytes: &[u8], what: &str) -> Verdict {
    match bytes.par_iter().position_first(|byte| *byte != STALE) {
        None => Ok(()),
        Some(i) => Err(format!("something is written {i} bytes past the last of the {what}")),
    }
}

/// How many elements [`Upper`] keeps.
pub fn kept(scalar: Scalar, input: &[u8]) -> u64 {
    fn of<T: Value + Element>(input: &[T]) -> u64
    where
        Upper: Predicate<T>,
    {
        input.par_iter().filter(|x| Upper::keep(**x)).count() as u64
    }
    with_type!(scalar, T => of::<T>(bytemuck::cast_slice(input)))
}

/// Whether `output` begins with the elements that [`Upper`] keeps, and `rest` with the others, in their order, and hold nothing
/// else.
pub fn selected(scalar: Scalar, input: &[u8], output: &[u8], rest: Option<&[u8]>) -> Verdict {
    fn of<T: Value + Element>(input: &[T], output: &[T], rest: Option<&[T]>) -> Verdict
    where
        Upper: Predicate<T>,
    {
        let keeps = |x: &&T| Upper::keep(**x);
        let counts: Vec<usize> = input.par_chunks(CHUNK).map(|chunk| chunk.iter().filter(keeps).count()).collect();
        let (mut kept, mut before) = (0, Vec::with_capacity(counts.len()));
        for count in counts {
            before.push(kept);
            kept += count;
        }
        let wrong = input.par_chunks(CHUNK).zip(before).enumerate().find_map_first(|(chunk, (input, before))| {
            let (mut kept, mut left) = (before, chunk * CHUNK - before);
            input.iter().find_map(|x| {
                let (place, to, which) = match (keeps(&x), rest) {
                    (true, _) => (&mut kept, output, "kept"),
                    (false, Some(rest)) => (&mut left, rest, "other"),
                    (false, None) => return None,
                };
                let (at, got) = (*place, to[*place]);
                *place += 1;
                (bytemuck::bytes_of(&got) != bytemuck::bytes_of(x))
                    .then(|| format!("{which} element {at} is {got:?}, and should be {x:?}"))
            })
        });
        wrong.map_or(Ok(()), Err)?;
        untouched(bytemuck::cast_slice(&output[kept..]), "kept elements")?;
        rest.map_or(Ok(()), |rest| untouched(bytemuck::cast_slice(&rest[input.len() - kept..]), "other elements"))
    }
    with_type!(scalar, T => of::<T>(
        bytemuck::cast_slice(input), bytemuck::cast_slice(output), rest.map(bytemuck::cast_slice)
    ))
}

/// Where the runs of equal keys begin.
pub fn runs(scalar: Scalar, keys: &[u8]) -> Vec<u32> {
    let size = scalar.bytes() as usize;
    let key = |i: usize| &keys[i * size..][..size];
    // No call has more elements than a u32 counts.
    let begins = (0..keys.len() / size).into_par_iter().filter(|&i| i == 0 || key(i) != key(i - 1));
    begins.map(|i| i as u32).collect()
}

/// Whether `out_keys` begins with the key of each run, and holds nothing else.
fn run_keys(scalar: Scalar, keys: &[u8], starts: &[u32], out_keys: &[u8]) -> Verdict {
    let size = scalar.bytes() as usize;
    let (given, past) = out_keys.split_at(starts.len() * size);
    let wrong =
        starts.par_iter().zip(given.par_chunks_exact(size)).enumerate().find_map_first(|(run, (start, got))| {
            let want = &keys[*start as usize * size..][..size];
            let say = || format!("the key of run {run} is {}, and should be {}", text(scalar, got), text(scalar, want));
            (got != want).then(say)
        });
    wrong.map_or(Ok(()), Err)?;
    untouched(past, "keys")
}

/// Whether `out_keys` and `lengths` begin with the key of each run of equal `keys` and its length, and hold nothing else.
pub fn run_lengths(scalar: Scalar, keys: &[u8], out_keys: &[u8], lengths: &[u8]) -> Verdict {
    let starts = runs(scalar, keys);
    run_keys(scalar, keys, &starts, out_keys)?;
    let n = keys.len() / scalar.bytes() as usize;
    let (given, past) = lengths.split_at(4 * starts.len());
    let wrong = given.par_chunks_exact(4).enumerate().find_map_first(|(run, got)| {
        let got = bytemuck::pod_read_unaligned::<u32>(got) as usize;
        let want = starts.get(run + 1).map_or(n, |start| *start as usize) - starts[run] as usize;
        (got != want).then(|| format!("the length of run {run} is {got}, and should be {want}"))
    });
    wrong.map_or(Ok(()), Err)?;
    untouched(past, "lengths")
}

#[cfg(test)]
mod tests {
    use trifold_conformance::Distribution;

    use super::*;
    use crate::elements::Elements;

    const N: u64 = 3 * CHUNK as u64 + 7;

    #[test]
    fn right_results_pass_and_wrong_ones_do_not() {
        for scalar in Scalar::ALL {
            let input = Elements::of(Distribution::Uniform, scalar, N, 1);
            let size = scalar.bytes() as usize;
            for which in Builtin::ALL {
                let Some(op) = Op::builtin(which, scalar) else { continue };
                let combine = Combine::new(which, scalar, N).unwrap();
                let (mut carry, mut output) = (0u64, Elements::zeroed(input.as_bytes().len()));
                bytemuck::bytes_of_mut(&mut carry)[..size].copy_from_slice(op.identity());
                let (from, to) = (input.as_bytes().as_ptr(), output.as_bytes_mut().as_mut_ptr());
                // SAFETY: both hold N elements, aligned for any scalar.
                unsafe { (op.host().scan)(from, to, N as usize, (&raw mut carry).cast(), true) };
                combine.scan(input.as_bytes(), output.as_bytes()).unwrap();
                combine.reduce(input.as_bytes(), &bytemuck::bytes_of(&carry)[..size]).unwrap();
                output.as_bytes_mut()[(N as usize - 1) * size..].fill(0x55);
                assert!(combine.scan(input.as_bytes(), output.as_bytes()).is_err(), "{which:?} {scalar:?}");
            }
            copy(scalar, input.as_bytes(), input.as_bytes()).unwrap();
            assert!(
                copy(scalar, input.as_bytes(), Elements::of(Distribution::Uniform, scalar, N, 2).as_bytes()).is_err()
            );
        }
    }

    #[test]
    fn sorts_are_told_from_what_only_looks_sorted() {
        let input = [3.0f32, -0.0, 1.0, 3.0, 0.0];
        assert_eq!(sorted_keys(&input, &[-0.0, 0.0, 1.0, 3.0, 3.0]), Ok(()));
        assert!(sorted_keys(&input, &[0.0, -0.0, 1.0, 3.0, 3.0]).is_err());
        assert!(sorted_keys(&input, &[-0.0, 0.0, 1.0, 1.0, 3.0]).is_err());
        let keys = [-0.0, 0.0, 1.0, 3.0, 3.0];
        assert_eq!(sorted_pairs(&input, &keys, &[1, 4, 2, 0, 3]), Ok(()));
        assert!(sorted_pairs(&input, &keys, &[1, 4, 2, 3, 0]).is_err());
        assert!(sorted_pairs(&input, &keys, &[1, 4, 2, 0, 0]).is_err());
        assert!(sorted_pairs(&input, &keys, &[1, 4, 2, 0, 9]).is_err());
    }
    #[test]
    fn selections_are_told_from_what_only_looks_selected() {
        const BIG: u32 = 1 << 31;
        let stale = u32::from_ne_bytes([STALE; 4]);
        let input = [BIG + 1, 2, BIG + 3, 4, 5];
        let select = |output: [u32; 5], rest: Option<[u32; 5]>| {
            let rest = rest.as_ref().map(|rest| bytemuck::cast_slice(rest));
            selected(Scalar::U32, bytemuck::cast_slice(&input), bytemuck::cast_slice(&output), rest)
        };
        let (kept, rest) = ([BIG + 1, BIG + 3, stale, stale, stale], [2, 4, 5, stale, stale]);
        assert_eq!((select(kept, None), select(kept, Some(rest))), (Ok(()), Ok(())));
        assert!(select([BIG + 3, BIG + 1, stale, stale, stale], None).is_err());
        assert!(select([BIG + 1, BIG + 3, 0, stale, stale], None).is_err());
        assert!(select(kept, Some([5, 4, 2, stale, stale])).is_err());
        assert!(select(kept, Some([2, 4, 5, stale, 0])).is_err());
        assert_eq!(kept_of(&input), 2);
        assert!(count(&2u32.to_ne_bytes(), 2).is_ok() && count(&3u32.to_ne_bytes(), 2).is_err());
    }

    fn kept_of(input: &[u32]) -> u64 {
        super::kept(Scalar::U32, bytemuck::cast_slice(input))
    }

    #[test]
    fn runs_are_told_from_what_only_looks_reduced() {
        let stale = f32::from_ne_bytes([STALE; 4]);
        let (keys, values) = ([7.0f32, 7.0, 3.0, 7.0], [0.5f32, 0.25, 1.0, 2.0]);
        let combine = Combine::new(Builtin::Sum, Scalar::F32, 4).unwrap();
        let sums = |out_keys: [f32; 4], totals: [f32; 4]| {
            let [keys, values, out_keys, totals] =
                [&keys, &values, &out_keys, &totals].map(|x| bytemuck::cast_slice(x));
            combine.by_key(keys, values, out_keys, totals)
        };
        let (out_keys, totals) = ([7.0, 3.0, 7.0, stale], [0.75, 1.0, 2.0, stale]);
        assert_eq!(sums(out_keys, totals), Ok(()));
        assert!(sums([7.0, 3.0, 3.0, stale], totals).is_err());
        assert!(sums([7.0, 3.0, 7.0, 0.0], totals).is_err());
        assert!(sums(out_keys, [0.75, 1.001, 2.0, stale]).is_err());
        assert!(sums(out_keys, [0.75, 1.0, 2.0, 0.0]).is_err());

        let lengths = |lengths: [u32; 4]| {
            run_lengths(
                Scalar::F32,
                bytemuck::cast_slice(&keys),
                bytemuck::cast_slice(&out_keys),
                bytemuck::cast_slice(&lengths),
            )
        };
        assert_eq!(lengths([2, 1, 1, stale.to_bits()]), Ok(()));
        assert!(lengths([2, 1, 2, stale.to_bits()]).is_err());
        assert!(lengths([2, 1, 1, 0]).is_err());
        assert!(runs(Scalar::F32, &[]).is_empty());
    }
}
