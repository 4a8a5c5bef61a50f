//! Inputs, the same on every machine: each follows from its row's name.

use std::f64::consts::PI;

use rayon::prelude::*;
use trifold_core::algorithm::top_k::{SAMPLED_EACH_ROOT, sampled, sampled_place};
use trifold_core::{Builtin, ElementType, Number, Op, Scalar, for_scalar};

/// Sebastiano Vigna's splitmix64.
#[derive(Clone)]
pub(crate) struct Random(u64);

/// What its state grows by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A generator for a name.
    pub(crate) fn named(name: &str) -> Random {
        // FNV-1a.
        Random(name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next `n`, by all threads.
    fn take(&mut self, n: usize) -> Vec<u64> {
        let start = self.0;
        let after = |i: usize| start.wrapping_add((i as u64).wrapping_mul(STEP));
        self.0 = after(n);
        (0..n).into_par_iter().map(|i| Random(after(i)).next()).collect()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// How the elements of an input lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distribution {
    /// Each by chance.
    #[default]
    Uniform,
    /// All the same.
    Constant,
    /// In ascending order.
    Sorted,
    /// In descending order.
    Reversed,
    /// Of five values.
    Few,
    /// Each byte is, independently, its place's hot value in 15 elements of 16, and any value in the others. The digits
    /// of a sort pile up in every place, and no place can be skipped.
    HotDigit,
    /// Of finite floats every one is as likely: their exponents differ. Others as uniform. For the programs' inputs.
    AllValues,
    /// Runs of one value, 1 to 200 long.
    Runs,
    /// Floats: NaN, infinities, zeros of both signs; for keys denormals too.
    Specials,
    /// Floats below the smallest normal one, of both signs, zeros among them. Of other types as uniform.
    Subnormals,
    /// By turns of the lower and the upper half, the first from the lower.
    Alternating,
    /// Keys that differ only in the bytes of this mask, bit 0 for the lowest byte.
    Places(u8),
    /// Of keys that `top_k` samples the upper half, of the others the lower.
    SampledHigh,
    /// The other way round.
    SampledLow,
    /// Floats of few digits, whose sums are the same in any order. Others as uniform.
    Coarse,
    /// Offsets of segments of which many are past the end. Others as uniform.
    PastTheEnd,
    /// Elements that differ only in this word of theirs, which lie in runs of one value, 1 to 16 long.
    Word(u32),
}

impl Distribution {
    /// The six of every primitive.
    pub(crate) const ALL: [Distribution; 6] = [
        Distribution::Uniform,
        Distribution::Constant,
        Distribution::Sorted,
        Distribution::Reversed,
        Distribution::Few,
        Distribution::Runs,
    ];

    /// Its name, in cases and results.
    pub fn name(self) -> String {
        match self {
            Distribution::Uniform => "uniform".into(),
            Distribution::Constant => "constant".into(),
            Distribution::Sorted => "sorted".into(),
            Distribution::Reversed => "reversed".into(),
            Distribution::Few => "few-distinct".into(),
            Distribution::HotDigit => "hot-digit".into(),
            Distribution::AllValues => "all-values".into(),
            Distribution::Runs => "runs".into(),
            Distribution::Specials => "specials".into(),
            Distribution::Subnormals => "subnormals".into(),
            Distribution::Alternating => "alternating".into(),
            Distribution::Places(mask) => format!("places_{mask:08b}"),
            Distribution::SampledHigh => "sampled-high".into(),
            Distribution::SampledLow => "sampled-low".into(),
            Distribution::Coarse => "coarse".into(),
            Distribution::PastTheEnd => "past-the-end".into(),
            Distribution::Word(word) => format!("runs_by_word_{word}"),
        }
    }

    /// `n` ranks in 0..2^64, which say how elements are ordered, from a seed: for an encoding of the caller's own.
    /// [`Distribution::Specials`] and [`Distribution::Places`] are of keys' bits, and have uniform ranks; [`Distribution::Word`] has those of
    /// that word.
    pub fn ranks(self, n: u64, seed: u64) -> Vec<u64> {
        ranks(self, n, &mut Random::new(seed))
    }
}

/// Which values suit an operator: those that keep its result in range, and tell of an element that was lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    /// Any bits. Ascending ranks give ascending keys, floats in total order.
    Any,
    /// Integers of any bits, floats in [-1, 1).
    Unit,
    /// Integers of any bits, and of floats in [-1, 1) multiples of 2^-5.
    Coarse,
    /// Odd integers, floats within 2^-4 of one: products that neither vanish nor overflow.
    Factor,
    /// All ones, but one bit in one element of 64.
    NearlyOnes,
    /// All zeros, but one bit in one element of 64.
    NearlyZeros,
}

fn domain(op: &Op) -> Domain {
    match op.builtin {
        Some(Builtin::Product) => Domain::Factor,
        Some(Builtin::And) => Domain::NearlyOnes,
        Some(Builtin::Or) => Domain::NearlyZeros,
        _ => Domain::Unit,
    }
}

/// `n` elements for an operator.
pub(crate) fn elements(op: &Op, distribution: Distribution, n: u64, random: &mut Random) -> Vec<u8> {
    if let (Distribution::Specials, ElementType::Scalar(s)) = (distribution, op.element()) {
        return specials(op, *s, n, random);
    }
    if let (Distribution::Subnormals, ElementType::Scalar(s)) = (distribution, op.element()) {
        return subnormals(*s, n, random);
    }
    let domain = match domain(op) {
        Domain::Unit if distribution == Distribution::Coarse => Domain::Coarse,
        domain => domain,
    };
    encode(op.element(), domain, &ranks(distribution, n, random))
}

/// `n` keys.
pub(crate) fn keys(key: &ElementType, distribution: Distribution, n: u64, random: &mut Random) -> Vec<u8> {
    let mut ranks = ranks(distribution, n, random);
    if let Distribution::Places(mask) = distribution {
        let shift = 64u32.saturating_sub(8 * key.bytes());
        let bits = (0..8).filter(|p| mask >> p & 1 == 1).fold(0u64, |m, p| m | 0xff << (8 * p)) << shift;
        let rest = random.next() & !bits;
        ranks.iter_mut().for_each(|r| *r = *r & bits | rest);
    }
    bits_of(key, Domain::Any, distribution, &ranks)
}

/// Values that tell where their keys stood: the index first, then words that follow from it.
pub(crate) fn values(element: &ElementType, n: u64) -> Vec<u8> {
    let word = |i: u32, w| if w == 0 { i } else { i.wrapping_mul(0x9e37_79b9).rotate_left(w) ^ w };
    let words = |i| (0..element.words()).flat_map(move |w| word(i, w).to_le_bytes());
    (0..n as u32).flat_map(|i| words(i).take(element.bytes() as usize)).collect()
}

/// `n` elements of any type, for predicates.
pub(crate) fn items(element: &ElementType, distribution: Distribution, n: u64, random: &mut Random) -> Vec<u8> {
    let ranks = ranks(distribution, n, random);
    match distribution {
        Distribution::Word(word) => {
            let mut bytes = encode(element, Domain::Unit, &[random.next()]).repeat(n as usize);
            for (element, rank) in bytes.chunks_exact_mut(element.bytes() as usize).zip(ranks) {
                element[4 * word as usize..][..4].copy_from_slice(&((rank >> 32) as u32).to_le_bytes());
            }
            bytes
        }
        _ => bits_of(element, Domain::Unit, distribution, &ranks),
    }
}

/// Elements that are only moved, of any bits: of their ranks, or floats of special values.
fn bits_of(element: &ElementType, domain: Domain, distribution: Distribution, ranks: &[u64]) -> Vec<u8> {
    match (distribution, element) {
        (Distribution::Specials, ElementType::Scalar(scalar)) if scalar.is_float() => special_floats(*scalar, ranks),
        _ => encode(element, domain, ranks),
    }
}

/// `n` elements of any type, for copies.
pub(crate) fn any(element: &ElementType, n: u64, random: &mut Random) -> Vec<u8> {
    encode(element, Domain::Any, &ranks(Distribution::Uniform, n, random))
}

/// Ranks in 0..2^64: what a distribution says of the order of elements.
fn ranks(distribution: Distribution, n: u64, random: &mut Random) -> Vec<u64> {
    let n = n as usize;
    let mut ranks = random.take(n);
    match distribution {
        Distribution::Constant => ranks.fill(random.next()),
        Distribution::Sorted => ranks.par_sort_unstable(),
        Distribution::Reversed => ranks.par_sort_unstable_by(|a, b| b.cmp(a)),
        Distribution::Few => {
            let few: Vec<u64> = (0..5).map(|_| random.next()).collect();
            ranks.iter_mut().for_each(|r| *r = few[(*r % 5) as usize]);
        }
        Distribution::HotDigit => {
            let hot = random.next();
            for rank in &mut ranks {
                let chances = random.next();
                let keeps = |byte: &u32| (chances >> (4 * byte)).is_multiple_of(16);
                let kept = (0..8).filter(keeps).fold(0, |mask, byte| mask | 0xff << (8 * byte));
                *rank = *rank & kept | hot & !kept;
            }
        }
        Distribution::Runs | Distribution::Word(_) => {
            let longest = if distribution == Distribution::Runs { 200 } else { 16 };
            let mut start = 0;
            while start < n {
                let end = n.min(start + 1 + random.below(longest) as usize);
                let value = ranks[start];
                ranks[start..end].fill(value);
                start = end;
            }
        }
        Distribution::Alternating => {
            let turns = [0u64, 1 << 63].into_iter().cycle();
            ranks.iter_mut().zip(turns).for_each(|(rank, half)| *rank = *rank >> 1 | half);
        }
        Distribution::SampledHigh | Distribution::SampledLow => {
            let high = 1 << 63;
            ranks.iter_mut().for_each(|rank| *rank >>= 1);
            let samples = sampled(n as u64, 1, SAMPLED_EACH_ROOT).map_or(0, |(samples, _)| samples);
            (0..samples).for_each(|number| ranks[sampled_place(number, n as u32, samples) as usize] |= high);
            if distribution == Distribution::SampledLow {
                ranks.iter_mut().for_each(|rank| *rank ^= high);
            }
        }
        Distribution::Uniform
        | Distribution::AllValues
        | Distribution::Specials
        | Distribution::Subnormals
        | Distribution::Coarse
        | Distribution::PastTheEnd
        | Distribution::Places(_) => {}
    }
    ranks
}

fn encode(element: &ElementType, domain: Domain, ranks: &[u64]) -> Vec<u8> {
    // Whether a field only moves with a key.
    let fields: Vec<(Scalar, bool)> = match element {
        ElementType::Scalar(scalar) => vec![(*scalar, false)],
        ElementType::Struct { fields, .. } => {
            let has_key = fields.iter().any(|field| field.key.is_some());
            fields.iter().map(|field| (field.scalar, has_key && field.key.is_none())).collect()
        }
    };
    let mut bytes = Vec::with_capacity(ranks.len() * element.bytes() as usize);
    for (index, &rank) in ranks.iter().enumerate() {
        for (field, &(scalar, only_moves)) in fields.iter().enumerate() {
            let rank = match (field, only_moves) {
                // These tell equal keys apart.
                (_, true) => Random::new(rank ^ field as u64 ^ (index as u64 + 1) << 32).next(),
                (0, false) => rank,
                // They follow from the rank, but not in its order.
                (_, false) => Random::new(rank ^ field as u64).next(),
            };
            push(&mut bytes, scalar, domain, rank);
        }
    }
    bytes
}

fn push(bytes: &mut Vec<u8>, scalar: Scalar, domain: Domain, rank: u64) {
    // In [-1, 1), of so many binary digits.
    let unit = |digits: u32| (rank >> (64 - digits)) as f64 / (1u64 << (digits - 1)) as f64 - 1.0;
    let width = 8 * scalar.bytes();
    // Of more bits than a rank has, the lower ones follow from it.
    let ranked = match width {
        128 => u128::from(rank) << 64 | u128::from(Random::new(rank).next()),
        _ => (rank >> (64 - width)).into(),
    };
    let bits = for_scalar!(
        scalar,
        integer T => match domain {
            Domain::NearlyOnes | Domain::NearlyZeros => {
                let chance = Random::new(rank).next();
                let bit = if chance.is_multiple_of(64) { 1u128 << ((chance >> 32) % u64::from(width)) } else { 0 };
                if domain == Domain::NearlyOnes { !bit } else { bit }
            }
            Domain::Factor => T::of_rank(ranked).bits() | 1,
            Domain::Any | Domain::Unit | Domain::Coarse => T::of_rank(ranked).bits(),
        },
        float T => match domain {
            Domain::Any => T::of_rank(ranked).bits(),
            Domain::Factor => T::of_f64(1.0 + unit(24) / 16.0).bits(),
            Domain::Coarse => T::of_f64(unit(6)).bits(),
            _ => T::of_f64(unit(T::PRECISION)).bits(),
        }
    );
    put(bytes, scalar, bits);
}

/// Appends the scalar of these bits.
fn put(bytes: &mut Vec<u8>, scalar: Scalar, bits: u128) {
    bytes.extend_from_slice(&bits.to_le_bytes()[..scalar.bytes() as usize]);
}

/// Floats for an operator, in quarters: ordinary ones; zeros of both signs; infinities; NaN. Each quarter is one that a
/// minimum or a maximum of what came before must notice.
fn specials(op: &Op, scalar: Scalar, n: u64, random: &mut Random) -> Vec<u8> {
    let both = matches!(op.builtin, Some(Builtin::Min | Builtin::Max));
    let product = op.builtin == Some(Builtin::Product);
    let sign = if op.builtin == Some(Builtin::Max) { -1.0 } else { 1.0 };
    let mut bytes = vec![];
    for i in 0..n {
        let r = random.next();
        let ordinary = if product { 1.0 } else { sign * (0.5 + (r >> 41) as f64 / (1u64 << 24) as f64) };
        let value = match 4 * i / n {
            0 => ordinary,
            // A product that had a zero would make NaN of infinity.
            1 if product => ordinary,
            1 => [0.0, -0.0][(r % 2) as usize],
            2 if r.is_multiple_of(50) => f64::INFINITY * if both { sign } else { 1.0 },
            3 if r.is_multiple_of(50) && both => f64::NEG_INFINITY * sign,
            3 if r % 50 == 1 => f64::NAN.copysign(if r & 64 == 0 { 1.0 } else { -1.0 }),
            _ => ordinary,
        };
        let bits = match scalar {
            // Payloads other than the one that arithmetic makes.
            Scalar::F32 if value.is_nan() => (0x7f80_0001 | r >> 40 & 0x7f_ffff | (r & 1) << 31).into(),
            _ => for_scalar!(scalar, T => T::of_f64(value).bits()),
        };
        put(&mut bytes, scalar, bits);
    }
    bytes
}

/// Floats below the smallest normal one: one of 16 is a zero.
fn subnormals(scalar: Scalar, n: u64, random: &mut Random) -> Vec<u8> {
    let (precision, width) = (for_scalar!(scalar, T => T::PRECISION), 8 * scalar.bytes());
    let mut bytes = vec![];
    for _ in 0..n {
        let r = random.next();
        let magnitude = if r.is_multiple_of(16) { 0 } else { r >> 1 };
        let bits = magnitude & ((1 << (precision - 1)) - 1) | (r >> 5 & 1) << (width - 1);
        put(&mut bytes, scalar, bits.into());
    }
    bytes
}

fn special_floats(scalar: Scalar, ranks: &[u64]) -> Vec<u8> {
    let magnitudes = for_scalar!(scalar, integer _T => vec![0], float T => {
        let [infinity, smallest, nan] = [T::INFINITY, T::MIN_POSITIVE, T::NAN].map(T::bits);
        let [one, most, pi] = [T::of_f64(1.0), T::MAX, T::of_f64(PI)].map(T::bits);
        let every_bit = (T::of_bits(u128::MAX).bits()) >> 1;
        vec![nan, infinity | 1, every_bit, infinity, one, smallest, smallest - 1, 1, 0, most, pi, infinity | 0x5a5a]
    });
    let mut bytes = vec![];
    for &rank in ranks {
        let magnitude = magnitudes[(rank % magnitudes.len() as u64) as usize];
        put(&mut bytes, scalar, magnitude | u128::from(rank >> 63) << (8 * scalar.bytes() - 1));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
        bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }

    #[test]
    fn sorted_inputs_are_sorted() {
        let floats: Vec<f32> = read(&keys(&Scalar::F32.into(), Distribution::Sorted, 1000, &mut Random::new(1)));
        assert!(floats.windows(2).all(|w| w[0].total_cmp(&w[1]).is_le()));
        let signed: Vec<i64> = read(&keys(&Scalar::I64.into(), Distribution::Reversed, 1000, &mut Random::new(1)));
        assert!(signed.windows(2).all(|w| w[0] >= w[1]));
    }

    #[test]
    fn many_at_once_are_those_one_by_one() {
        let mut at_once = Random::new(5);
        let mut one_by_one = at_once.clone();
        assert_eq!(at_once.take(1000), (0..1000).map(|_| one_by_one.next()).collect::<Vec<_>>());
        assert_eq!(at_once.next(), one_by_one.next());
    }

    #[test]
    fn each_place_has_a_hot_digit_and_others() {
        let keys: Vec<u32> = read(&keys(&Scalar::U32.into(), Distribution::HotDigit, 16_000, &mut Random::new(3)));
        for place in 0..4 {
            let mut counts = [0; 256];
            keys.iter().for_each(|key| counts[(key >> (8 * place) & 0xff) as usize] += 1);
            let most = *counts.iter().max().unwrap();
            assert!((14_850..15_150).contains(&most), "{most} in place {place}");
            assert!(counts.iter().filter(|count| **count > 0).count() > 200, "place {place}");
        }
        // Each for itself: 0.77 of the keys are hot in all four.
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let most = sorted.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap();
        assert!((12_100..12_700).contains(&most), "{most}");
    }

    #[test]
    fn elements_differ_in_the_word_that_is_named() {
        let element = ElementType::Scalar(Scalar::U64);
        let keys: Vec<u64> = read(&items(&element, Distribution::Word(1), 1000, &mut Random::new(4)));
        assert!(keys.iter().all(|key| *key as u32 == keys[0] as u32));
        let runs = keys.chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>();
        assert!(runs.len() > 50 && *runs.iter().max().unwrap() <= 16, "{runs:?}");
    }

    #[test]
    fn places_differ_where_the_mask_says() {
        let keys: Vec<u32> = read(&keys(&Scalar::U32.into(), Distribution::Places(0b0101), 1000, &mut Random::new(2)));
        let differing = keys.iter().fold(0, |d, k| d | (k ^ keys[0]));
        assert_eq!(differing, 0x00ff_00ff);
    }
}
