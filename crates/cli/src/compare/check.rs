//! Whether a result is right: every result against an oracle that is no backend's code, fast enough for 2^28 elements.
//!
//! Sums and other scans are computed anew, in parallel by chunks. A sort is checked rather than repeated: the output
//! must be in order and hold the input's keys, by two sums of hashes; and pairs, whose values are the keys' positions,
//! must point at equal keys, in stable order, which leaves no room for anything but the right permutation.

use rayon::prelude::*;
use trifold::{Builtin, Op, Scalar, bytemuck};

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
        let n = size_of_val(words) / self.op.element().bytes() as usize;
        let mut accumulator = u64::from_ne_bytes(self.identity());
        // SAFETY: `n` elements fill the words exactly, and words are aligned for any scalar.
        unsafe { (self.op.host().fold)(words.as_ptr().cast(), n, (&raw mut accumulator).cast()) };
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
}
