//! A stable radix sort of words, by the bits above what they carry.
//!
//! One pass by the highest digit on all threads makes buckets that fit a cache. There each is sorted by its other digits, the
//! lowest first.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;

use crate::step::{self, Shared, in_parts};

/// Bits of a digit.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// Digits of the longest key.
const PASSES: usize = 8;
/// Up to so few words, comparing them is faster.
const FEW: usize = 48;
/// Bytes of words, for each two threads, that one thread sorts as soon: two passes more are for the buckets.
const ALONE_BYTES: usize = 512 << 10;
/// Words that are given at a time, where no bucket bounds them.
const GIVEN: usize = 16 << 10;

/// A key, with what it carries in lower bits, if anything.
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
word!(u8 u16 u32 u64 u128);

/// Whether one thread sorts so many bytes of words as soon as all.
pub(crate) fn is_for_one(pool: &ThreadPool, bytes: usize) -> bool {
    bytes <= 2 * ALONE_BYTES / pool.current_num_threads().max(1)
}

/// What becomes of sorted words: `give(start, part)`, on any thread.
pub(crate) type Give<'a, W> = dyn Fn(usize, &[W]) + Sync + 'a;

/// Sorts words by their bits from `low` to `high`; those above are alike, if there are any. Gives them part by part, while each is in a cache.
/// The spare memory is as long. Neither memory has the words in order afterwards.
pub(crate) fn sort<W: Word>(
    pool: &ThreadPool,
    words: &mut [W],
    spare: &mut [W],
    low: u32,
    high: u32,
    give: &Give<'_, W>,
) {
    assert_eq!(words.len(), spare.len());
    if high <= low || is_for_one(pool, size_of_val(words)) {
        return give_all(pool, sort_here(words, spare, low, high), give);
    }
    let shift = high.saturating_sub(DIGIT).max(low);
    let ends = scatter(pool, words, spare, shift);
    let mut from = 0;
    let buckets: Vec<_> = ends.into_iter().map(|end| std::mem::replace(&mut from, end)..end).collect();
    // More than a thread's share: all threads sort it together, afterwards. If it is for one thread, that is the caller's.
    let (threads, share) = (pool.current_num_threads(), words.len() / pool.current_num_threads());
    let is_large = |len: usize| len > share;
    let (free, scattered) = (Shared(words.as_mut_ptr().cast()), Shared(spare.as_mut_ptr().cast()));
    let rooms = AtomicUsize::new(0);
    in_parts(
        pool,
        false,
        buckets.len(),
        || rooms.fetch_add(1, Ordering::Relaxed),
        |room, bucket| {
            let range = &buckets[bucket];
            if range.is_empty() || is_large(range.len()) {
                return;
            }
            assert!(*room < threads);
            // SAFETY: buckets are apart and within their slice. A thread has a share of the other as its room, for one bucket after the
            // other, so that the room stays in its cache. This bucket is no longer than a share. The slices are not touched but through
            // these meanwhile.
            let [words, spare] = [(scattered, range.start), (free, *room * share)].map(|(memory, start)| unsafe {
                std::slice::from_raw_parts_mut(memory.at(start * size_of::<W>()).cast::<W>(), range.len())
            });
            give(range.start, sort_here(words, spare, low, shift));
        },
    );
    for range in buckets.into_iter().filter(|range| is_large(range.len())) {
        let give = |start: usize, part: &[W]| give(range.start + start, part);
        sort(pool, &mut spare[range.clone()], &mut words[range.clone()], low, shift, &give);
    }
}

/// Gives words that are in order, on all threads if there are enough of them.
fn give_all<W: Word>(pool: &ThreadPool, sorted: &[W], give: &Give<'_, W>) {
    let alone = size_of_val(sorted) <= step::ALONE_BYTES;
    let parts: Vec<&[W]> = sorted.chunks(GIVEN).collect();
    in_parts(pool, alone, parts.len(), || (), |(), i| give(i * GIVEN, parts[i]));
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

/// Sorts words on this thread, in either memory.
fn sort_here<'a, W: Word>(words: &'a mut [W], spare: &'a mut [W], low: u32, high: u32) -> &'a [W] {
    if words.len() <= FEW {
        words.sort_by_key(|word| word.above(low));
        return words;
    }
    let passes = high.saturating_sub(low).div_ceil(DIGIT) as usize;
    let mut counts = [[0u32; DIGITS]; PASSES];
    for word in words.iter() {
        for (pass, counts) in counts[..passes].iter_mut().enumerate() {
            counts[word.digit(low + DIGIT * pass as u32)] += 1;
        }
    }
    let n = words.len();
    let (mut from, mut to) = (words, spare);
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
    }
    from
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn words_are_sorted_stably_by_the_bits_above() {
        for threads in [1, 3, 16] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // Of all digits, of a few, of one, and with a bucket that has most.
            for (n, mask) in [
                (0, !0),
                (1, !0),
                (40, !0),
                (1000, 0xff00),
                (20_000, 0xff0f),
                (20_000, 1),
                (3_000_000, !0),
                (3_000_000, 0xff0f),
                (3_000_000, 1),
            ] {
                let mut x = 7u64;
                let keys = std::iter::repeat_with(|| {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    if x >> 60 == 0 { x >> 32 & mask } else { x >> 32 & mask & 0xffff }
                });
                let mut words: Vec<u128> = keys.take(n).zip(0..).map(|(key, i)| u128::from(key) << 32 | i).collect();
                let mut want = words.clone();
                want.sort_by_key(|word| word >> 32);
                let mut spare = vec![0; n];
                let sorted = Mutex::new(vec![0; n]);
                sort(&pool, &mut words, &mut spare, 32, 64, &|start, part| {
                    sorted.lock()[start..start + part.len()].copy_from_slice(part);
                });
                assert!(sorted.into_inner() == want, "{n} words under {mask:x}, {threads} threads");
            }
        }
    }

    fn check<W: Word>(pool: &ThreadPool, words: impl Iterator<Item = u32>, word: impl Fn(u32) -> W, low: u32) {
        let mut words: Vec<W> = words.map(word).collect();
        let mut want = words.clone();
        want.sort_by_key(|word| word.above(low));
        let (mut spare, sorted) = (vec![W::ZERO; want.len()], Mutex::new(vec![W::ZERO; want.len()]));
        let high = 8 * size_of::<W>() as u32;
        sort(pool, &mut words, &mut spare, low, high, &|start, part| {
            sorted.lock()[start..start + part.len()].copy_from_slice(part);
        });
        assert!(sorted.into_inner() == want, "{} words by bits from {low} to {high}", want.len());
    }

    #[test]
    fn keys_are_sorted_by_their_upper_bits() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        // Few by comparing, some by one thread, and many by all.
        for n in [40, 20_000, 1_000_000] {
            let words = || (0..n).map(|i: u32| i.wrapping_mul(2_654_435_761));
            check(&pool, words(), |word| (word >> 24) as u8, 3);
            check(&pool, words(), |word| (word >> 16) as u16, 5);
            check(&pool, words(), |word| word, 7);
            check(&pool, words(), |word| u64::from(word) << 32 | u64::from(!word), 17);
        }
    }
}
