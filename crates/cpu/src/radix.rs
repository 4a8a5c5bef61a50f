//! A stable radix sort of words, by the bits above what they carry.
//!
//! One pass by the highest digit on all threads makes buckets that fit a cache. There each is sorted by its other digits, the
//! lowest first.

use rayon::ThreadPool;

use crate::step::{Shared, in_parts};

/// Bits of a digit.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// Digits of the longest key.
const PASSES: usize = 8;
/// Up to so few words, comparing them is faster.
const FEW: usize = 48;
/// Bytes of words, for each two threads, that one thread sorts as soon: two passes more are for the buckets.
const ALONE_BYTES: usize = 8 << 20;

/// A key, with what it carries in lower bits.
pub(crate) trait Word: Copy + Ord + Send + Sync {
    const ZERO: Self;
    /// The digit that begins at a bit.
    fn digit(self, bit: u32) -> usize;
    /// The bits from one on.
    fn above(self, bit: u32) -> Self;
    /// The bits that are set in either, of this one's difference to another.
    fn differing(self, other: Self, before: Self) -> Self;
    /// The number of bits up to the highest that is set.
    fn width(self) -> u32;
}

macro_rules! word {
    ($($ty:ty)*) => {
        $(impl Word for $ty {
            const ZERO: $ty = 0;
            #[inline]
            fn digit(self, bit: u32) -> usize {
                (self >> bit) as usize & (DIGITS - 1)
            }
            #[inline]
            fn above(self, bit: u32) -> $ty {
                self >> bit
            }
            #[inline]
            fn differing(self, other: $ty, before: $ty) -> $ty {
                before | (self ^ other)
            }
            fn width(self) -> u32 {
                <$ty>::BITS - self.leading_zeros()
            }
        })*
    };
}
word!(u64 u128);

/// Whether one thread sorts so many bytes of words as soon as all.
pub(crate) fn is_for_one(pool: &ThreadPool, bytes: usize) -> bool {
    bytes <= 2 * ALONE_BYTES / pool.current_num_threads().max(1)
}

/// Sorts words by their bits from `low` to `high`; those above are alike. The spare memory is as long.
pub(crate) fn sort<W: Word>(pool: &ThreadPool, words: &mut [W], spare: &mut [W], low: u32, high: u32) {
    assert_eq!(words.len(), spare.len());
    if high <= low || words.len() < 2 {
        return;
    }
    if is_for_one(pool, size_of_val(words)) {
        return sort_here(words, spare, low, high);
    }
    let shift = high.saturating_sub(DIGIT).max(low);
    let ends = scatter(pool, words, spare, shift);
    let (n, mut from) = (words.len(), 0);
    let buckets: Vec<_> = ends.into_iter().map(|end| std::mem::replace(&mut from, end)..end).collect();
    // More than a thread's share: all threads sort it together, afterwards.
    let is_large = |len: usize| len > n / pool.current_num_threads() && !is_for_one(pool, len * size_of::<W>());
    let (to, scattered) = (Shared(words.as_mut_ptr().cast()), Shared(spare.as_mut_ptr().cast()));
    in_parts(
        pool,
        false,
        buckets.len(),
        || (),
        |(), bucket| {
            let range = &buckets[bucket];
            if range.is_empty() || is_large(range.len()) {
                return;
            }
            // SAFETY: buckets are apart and within both slices, which are not touched but through these meanwhile.
            let (to, from) = unsafe {
                let part = |memory: Shared| memory.at(range.start * size_of::<W>()).cast::<W>();
                let slice = |memory| std::slice::from_raw_parts_mut(part(memory), range.len());
                (slice(to), slice(scattered))
            };
            sort_here(from, to, low, shift);
            to.copy_from_slice(from);
        },
    );
    for range in buckets.into_iter().filter(|range| is_large(range.len())) {
        sort(pool, &mut spare[range.clone()], &mut words[range.clone()], low, shift);
        words[range.clone()].copy_from_slice(&spare[range]);
    }
}

/// Moves words to where those of their digit go, in their order. Where each digit's end.
fn scatter<W: Word>(pool: &ThreadPool, words: &[W], to: &mut [W], shift: u32) -> [usize; DIGITS] {
    let part = words.len().div_ceil(pool.current_num_threads());
    let parts: Vec<&[W]> = words.chunks(part).collect();
    let mut places = vec![[0usize; DIGITS]; parts.len()];
    let counted = Shared(places.as_mut_ptr().cast());
    in_parts(
        pool,
        false,
        parts.len(),
        || (),
        |(), i| {
            // SAFETY: each part has its own counts.
            let counts = unsafe { &mut *counted.at(i * size_of::<[usize; DIGITS]>()).cast::<[usize; DIGITS]>() };
            parts[i].iter().for_each(|word| counts[word.digit(shift)] += 1);
        },
    );
    let mut end = 0;
    let ends = std::array::from_fn(|digit| {
        for counts in &mut places {
            end += std::mem::replace(&mut counts[digit], end);
        }
        end
    });
    let to = Shared(to.as_mut_ptr().cast());
    in_parts(
        pool,
        false,
        parts.len(),
        || (),
        |(), i| {
            let mut places = places[i];
            for &word in parts[i] {
                let place = &mut places[word.digit(shift)];
                // SAFETY: places are numbered by the counts of these very words, which nobody writes: each word has its own, and there
                // are as many as the output has.
                unsafe { to.at(*place * size_of::<W>()).cast::<W>().write(word) };
                *place += 1;
            }
        },
    );
    ends
}

/// Sorts words on this thread.
fn sort_here<W: Word>(words: &mut [W], spare: &mut [W], low: u32, high: u32) {
    if words.len() <= FEW {
        return words.sort_by_key(|word| word.above(low));
    }
    let passes = high.saturating_sub(low).div_ceil(DIGIT) as usize;
    let mut counts = [[0u32; DIGITS]; PASSES];
    for word in words.iter() {
        for (pass, counts) in counts[..passes].iter_mut().enumerate() {
            counts[word.digit(low + DIGIT * pass as u32)] += 1;
        }
    }
    let n = words.len();
    let (mut from, mut to, mut is_spare) = (words, spare, false);
    for (pass, counts) in counts[..passes].iter_mut().enumerate() {
        if counts.iter().any(|&count| count as usize == n) {
            continue;
        }
        let mut next = 0;
        for place in counts.iter_mut() {
            next += std::mem::replace(place, next);
        }
        for &word in from.iter() {
            let place = &mut counts[word.digit(low + DIGIT * pass as u32)];
            // SAFETY: places are numbered by the counts of these very words, of which there are as many as `to` has.
            unsafe { *to.get_unchecked_mut(*place as usize) = word };
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        is_spare = !is_spare;
    }
    if is_spare {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn words_are_sorted_stably_by_the_bits_above() {
        for threads in [1, 3] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // Of all digits, of a few, of one, and with a bucket that has most.
            for (n, mask) in
                [(0, !0), (1, !0), (40, !0), (1000, 0xff00), (3_000_000, !0), (3_000_000, 0xff0f), (3_000_000, 1)]
            {
                let mut x = 7u64;
                let keys = std::iter::repeat_with(|| {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    if x >> 60 == 0 { x >> 32 & mask } else { x >> 32 & mask & 0xffff }
                });
                let mut words: Vec<u128> = keys.take(n).zip(0..).map(|(key, i)| u128::from(key) << 32 | i).collect();
                let mut want = words.clone();
                want.sort_by_key(|word| word >> 32);
                let mut spare = vec![0; n];
                sort(&pool, &mut words, &mut spare, 32, 64);
                assert!(words == want, "{n} words under {mask:x}, {threads} threads");
            }
        }
    }
}
