//! Where runs of equal keys begin.

use crate::step::Shared;

/// A block's runs. It has memory for one block, which serves one after the other.
#[derive(Default)]
pub(crate) struct Heads {
    /// One byte an element: whether it begins a run.
    flags: Vec<u8>,
    /// Which elements begin a run, in order, and room for as many as there are flags.
    places: Vec<u32>,
}

impl Heads {
    /// Finds the elements of a block whose bits are not those of the element before. The first of all elements begins a run too.
    ///
    /// # Safety
    /// There are `count` elements of `size` bytes at `start`, a number of them, and those before. Nobody writes to them.
    pub(crate) unsafe fn find(&mut self, keys: Shared, start: usize, count: usize, size: usize) -> &[u32] {
        let whole = count.next_multiple_of(8);
        if self.flags.len() < whole {
            self.flags.resize(whole, 0);
            self.places.resize(whole, 0);
        }
        self.flags[count..whole].fill(0);
        // The first of all has none before it.
        let skipped = usize::from(start == 0);
        let flags = &mut self.flags[skipped..count];
        // SAFETY: these are the caller's elements from the one before the first flag's to the last. An array of bytes has no
        // alignment.
        unsafe {
            let from = keys.at((start + skipped - 1) * size);
            match size {
                1 => compare(from.cast::<[u8; 1]>(), flags),
                2 => compare(from.cast::<[u8; 2]>(), flags),
                4 => compare(from.cast::<[u8; 4]>(), flags),
                8 => compare(from.cast::<[u8; 8]>(), flags),
                12 => compare(from.cast::<[u8; 12]>(), flags),
                16 => compare(from.cast::<[u8; 16]>(), flags),
                _ => {
                    let bytes = std::slice::from_raw_parts(from, (flags.len() + 1) * size);
                    let keys = bytes.chunks_exact(size);
                    let pairs = keys.clone().zip(keys.skip(1));
                    flags.iter_mut().zip(pairs).for_each(|(flag, (a, b))| *flag = u8::from(a != b));
                }
            }
        }
        if skipped == 1 {
            self.flags[0] = 1;
        }
        let mut runs = 0;
        for (word, flags) in self.flags[..whole].chunks(64).enumerate() {
            let mut bits = packed(flags);
            while bits != 0 {
                self.places[runs] = 64 * word as u32 + bits.trailing_zeros();
                runs += 1;
                bits &= bits - 1;
            }
        }
        &self.places[..runs]
    }
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

/// Up to 64 flags as bits, the first one lowest. Their number is a multiple of eight.
fn packed(flags: &[u8]) -> u64 {
    let mut bits = 0;
    for eight in flags.chunks_exact(8) {
        let eight = u64::from_le_bytes(eight.try_into().expect("chunks of eight"));
        // Each flag's product with one bit of the factor lands in the highest byte, the first flag's lowest.
        bits = bits >> 8 | eight.wrapping_mul(0x0102_0408_1020_4080) & 0xff << 56;
    }
    bits.checked_shr(64 - flags.len() as u32).unwrap_or(0)
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
