//! Where runs of equal keys begin.

use crate::step::Shared;

/// Keys that are compared at a time: a bit for each.
pub(crate) const WORD: usize = 64;

/// A block's runs. It has memory for one block, which serves one after the other.
#[derive(Default)]
pub(crate) struct Heads {
    /// Which elements begin a run, in order.
    places: Vec<u32>,
}

impl Heads {
    /// Finds the elements of a block whose bits are not those of the element before. The first of all elements begins a run too.
    ///
    /// # Safety
    /// There are `count` elements of `size` bytes at `start`, a number of them, and those before. Nobody writes to them.
    pub(crate) unsafe fn find(&mut self, keys: Shared, start: usize, count: usize, size: usize) -> &[u32] {
        // The first of all has none before it.
        let from = keys.0.wrapping_add(start.wrapping_sub(1).wrapping_mul(size)).cast_const();
        let is_first = start == 0;
        // SAFETY: the caller's promise. An array of bytes has no alignment.
        unsafe {
            match size {
                1 => self.fill(is_first, count, |at, n| differ(from.cast::<[u8; 1]>().wrapping_add(at), n)),
                2 => self.fill(is_first, count, |at, n| differ(from.cast::<[u8; 2]>().wrapping_add(at), n)),
                4 => self.fill(is_first, count, |at, n| words_differ(from.cast::<[u8; 4]>().wrapping_add(at), n)),
                8 => self.fill(is_first, count, |at, n| differ(from.cast::<[u8; 8]>().wrapping_add(at), n)),
                12 => self.fill(is_first, count, |at, n| differ(from.cast::<[u8; 12]>().wrapping_add(at), n)),
                16 => self.fill(is_first, count, |at, n| differ(from.cast::<[u8; 16]>().wrapping_add(at), n)),
                _ => self.fill(is_first, count, |at, n| {
                    let keys = std::slice::from_raw_parts(from.wrapping_add(at * size), (n + 1) * size);
                    let (before, own) = (keys.chunks_exact(size), keys[size..].chunks_exact(size));
                    before.zip(own).rev().fold(0, |bits, (a, b)| bits << 1 | u64::from(a != b))
                }),
            }
        }
        &self.places
    }

    /// Notes the places whose bits are set. `differ` tells of so many elements from one on which are not the one before. The first of
    /// all has none, and is not asked for.
    fn fill(&mut self, is_first: bool, count: usize, differ: impl Fn(usize, usize) -> u64) {
        self.places.clear();
        self.places.reserve(count);
        let room = &mut self.places.spare_capacity_mut()[..count];
        let mut runs = 0;
        for word in (0..count).step_by(WORD) {
            let n = WORD.min(count - word);
            let mut bits = if is_first && word == 0 { differ(1, n - 1) << 1 | 1 } else { differ(word, n) };
            while bits != 0 {
                room[runs].write(word as u32 + bits.trailing_zeros());
                runs += 1;
                bits &= bits - 1;
            }
        }
        // SAFETY: so many are written.
        unsafe { self.places.set_len(runs) };
    }
}

/// Which of up to 64 keys are not the one before; the first bit is of the second key.
///
/// # Safety
/// There are `n` readable keys, and one more.
unsafe fn differ<K: PartialEq>(keys: *const K, n: usize) -> u64 {
    let mut flags = [0; WORD];
    // SAFETY: the caller's promise.
    unsafe { compare(keys, &mut flags[..n]) };
    packed(&flags)
}

/// As [`differ`], of words: of 64 by vectors where this knows how.
///
/// # Safety
/// As there.
unsafe fn words_differ(keys: *const [u8; 4], n: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match n {
            #[cfg(target_arch = "x86_64")]
            WORD => vectors_differ(keys.cast()),
            _ => differ(keys, n),
        }
    }
}

/// As [`differ`], of 64 keys of four bytes, by vectors. Compilers make none that give bits.
///
/// # Safety
/// There are 65 readable keys.
#[cfg(target_arch = "x86_64")]
unsafe fn vectors_differ(keys: *const u32) -> u64 {
    use std::arch::x86_64::*;
    // SAFETY: every x86-64 has SSE2. These are the caller's keys, and need no alignment.
    let same = |i: usize| unsafe {
        _mm_cmpeq_epi32(_mm_loadu_si128(keys.add(i).cast()), _mm_loadu_si128(keys.add(i + 1).cast()))
    };
    (0..WORD).step_by(16).fold(0, |bits, i| {
        // SAFETY: as above. Whole lanes are set or clear, which stay so when they are narrowed.
        let same = unsafe {
            let (low, high) = (_mm_packs_epi32(same(i), same(i + 4)), _mm_packs_epi32(same(i + 8), same(i + 12)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        bits | u64::from(!same as u16) << i
    })
}

/// Sets each flag where a key is not the one before it; the first flag is of the second key.
///
/// # Safety
/// There is one readable key more than there are flags.
unsafe fn compare<K: PartialEq>(keys: *const K, flags: &mut [u8]) {
    // SAFETY: the caller's promise.
    let keys = unsafe { std::slice::from_raw_parts(keys, flags.len() + 1) };
    let (sixteens, others) = flags.as_chunks_mut::<16>();
    let after = &keys[1..];
    for ((flags, a), b) in sixteens.iter_mut().zip(keys.chunks_exact(16)).zip(after.chunks_exact(16)) {
        // Narrowed step by step, which compilers make vectors of.
        let differ: [u32; 16] = std::array::from_fn(|i| if a[i] == b[i] { 0 } else { !0 });
        let differ = differ.map(|mask| mask as u16);
        *flags = differ.map(|mask| mask as u8 & 1);
    }
    let start = after.len() - others.len();
    for ((flag, a), b) in others.iter_mut().zip(&keys[start..]).zip(&after[start..]) {
        *flag = u8::from(a != b);
    }
}

/// Flags as bits, the first one lowest.
pub(crate) fn packed(flags: &[u8; WORD]) -> u64 {
    flags.as_chunks::<8>().0.iter().fold(0, |bits, eight| {
        // Each flag's product with one bit of the factor lands in the highest byte, the first flag's lowest.
        bits >> 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) & 0xff << 56
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_those_of_a_plain_loop() {
        for size in [4, 8, 12, 16, 20] {
            let n = 1000;
            // Keys that differ in any of their bytes.
            let mut keys = vec![0u8; n * size];
            for i in 1..n {
                let (before, key) = keys.split_at_mut(i * size);
                key[..size].copy_from_slice(&before[(i - 1) * size..]);
                if i % 3 == 0 || i % 64 == 1 {
                    key[(i * 7) % size] += 1;
                }
            }
            let mut heads = Heads::default();
            for (start, count) in [(0, n), (0, 1), (1, 1), (3, 64), (64, 65), (500, 500)] {
                let key = |i: usize| &keys[i * size..][..size];
                let want: Vec<u32> = (0..count as u32)
                    .filter(|&i| start + i as usize == 0 || key(start + i as usize) != key(start + i as usize - 1))
                    .collect();
                // SAFETY: the block is within the keys.
                let found = unsafe { heads.find(Shared(keys.as_mut_ptr()), start, count, size) };
                assert_eq!(found, want, "{count} keys of {size} bytes from {start}");
            }
        }
    }
}
