//! Elements of a type chosen at run time: generated ones, their text, and the order that sort puts them in.

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use rayon::prelude::*;
use trifold::bytemuck;
use trifold::types::{Number, Scalar, for_scalar};
use trifold_conformance::Distribution;

/// Elements on the host, aligned for any scalar.
pub struct Elements {
    words: Vec<u64>,
    bytes: usize,
}

/// What an input is made to hold beyond what its distribution says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Shape {
    #[default]
    Plain,
    /// This share of the values of a uniform one in the upper half. What is below that is spread over the lower half, and the rest over
    /// the upper one. Their order stays.
    Kept(f64),
    /// Each of its elements as a run of equal ones, 1 to 2 L - 1 long, L on average.
    Runs(u32),
}

/// How long segments are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// On average.
    pub mean: u32,
    pub spread: Spread,
}

/// How the lengths of segments differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Spread {
    /// Not at all.
    Even,
    /// Not at all, and there are no offsets: n is a multiple of the length.
    Rows,
    /// Each end is moved by chance, by less than the mean.
    Around,
    /// By a power law: half of the segments have a sixteenth of the elements.
    PowerLaw,
    /// One segment has half of all elements.
    Half,
    /// In the middle lie 2^20 more, which are empty.
    Empty,
}

/// Empty segments of [`Spread::Empty`].
const EMPTY: u64 = 1 << 20;

impl Spread {
    /// As the command line and the rows call it.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().into()).unwrap_or_default()
    }
}

impl Lengths {
    /// How many segments `n` elements have.
    pub fn segments(self, n: u64) -> u64 {
        let even = n.div_ceil(u64::from(self.mean));
        if self.spread == Spread::Empty { even + EMPTY } else { even }
    }

    /// Where the segment `s` begins, of so many.
    fn offset(self, s: u64, n: u64) -> u64 {
        let (mean, segments) = (u64::from(self.mean), n.div_ceil(u64::from(self.mean)));
        if s >= self.segments(n) {
            return n;
        }
        let place = match self.spread {
            Spread::Even | Spread::Rows => s * mean,
            Spread::Around if s == 0 => 0,
            Spread::Around => s * mean + mix(s) % mean,
            Spread::PowerLaw => (n as f64 * (s as f64 / segments as f64).powi(4)) as u64,
            Spread::Half if s == 0 => 0,
            Spread::Half => n / 2 + s * mean / 2,
            Spread::Empty => match s.saturating_sub(segments / 2) {
                0 => s * mean,
                behind => (s - behind.min(EMPTY)) * mean,
            },
        };
        place.min(n)
    }
}

impl Shape {
    fn ranks(self, distribution: Distribution, n: u64, seed: u64) -> Vec<u64> {
        let run_length = match self {
            Shape::Plain => return distribution.ranks(n, seed),
            Shape::Kept(share) => {
                let mut ranks = distribution.ranks(n, seed);
                let (half, all) = (1u128 << 63, 1u128 << 64);
                let below = (((1.0 - share) * all as f64) as u128).min(all);
                ranks.par_iter_mut().for_each(|rank| {
                    let at = u128::from(*rank);
                    *rank =
                        if at < below { at * half / below } else { half + (at - below) * half / (all - below) } as u64;
                });
                return ranks;
            }
            Shape::Runs(run_length) => run_length,
        };
        let (mut ends, mut end) = (vec![], 0);
        while end < n {
            end += 1 + mix(seed ^ !end) % (2 * u64::from(run_length) - 1);
            ends.push(end.min(n));
        }
        let mut ranks = Vec::with_capacity(n as usize);
        for (rank, end) in distribution.ranks(ends.len() as u64, seed).into_iter().zip(ends) {
            ranks.resize(end as usize, rank);
        }
        ranks
    }
}

impl Elements {
    pub fn zeroed(bytes: usize) -> Elements {
        Elements { words: vec![0; bytes.div_ceil(8)], bytes }
    }

    /// `n` elements in an order and of a variety, over the integers' values and over [0, 1) for floats, which makes sums
    /// of floats easy to bound.
    pub fn of(distribution: Distribution, scalar: Scalar, n: u64, seed: u64) -> Elements {
        Elements::shaped(distribution, Shape::Plain, scalar, n, seed)
    }

    /// The same, of a shape.
    pub fn shaped(distribution: Distribution, shape: Shape, scalar: Scalar, n: u64, seed: u64) -> Elements {
        let mut elements = Elements::zeroed(n as usize * scalar.bytes() as usize);
        // Sizes differ in all their elements, so that a result left over from one cannot pass for another's.
        let ranks = shape.ranks(distribution, n, mix(seed ^ n.rotate_left(32)));
        let bytes = elements.as_bytes_mut();
        for_scalar!(
            scalar,
            integer T => encode(bytes, &ranks, |x| T::of_rank(widened(x, T::BITS))),
            float T => match distribution {
                // The bytes of a rank have to be the digits of the key: those of the fraction, with the exponent of [0.5, 1).
                Distribution::HotDigit => encode(bytes, &ranks, |x| {
                    let fraction = x >> ((64 - T::PRECISION) / 8 * 8) & ((1 << (T::PRECISION - 1)) - 1);
                    T::of_bits(T::of_f64(0.5).bits() | u128::from(fraction))
                }),
                Distribution::AllValues => encode(bytes, &ranks, |x| {
                    let [least, greatest] = [f64::NEG_INFINITY, f64::INFINITY].map(|end| T::of_f64(end).rank());
                    T::of_rank(least + 1 + ((u128::from(x) * (greatest - least - 1)) >> 64))
                }),
                _ => encode(bytes, &ranks, |x| {
                    T::of_f64((x >> (64 - T::PRECISION)) as f64 / (1u64 << T::PRECISION) as f64)
                }),
            }
        );
        elements
    }

    /// Where segments of `n` elements begin, and where the last one ends, as `u32`.
    pub fn offsets(lengths: Lengths, n: u64) -> Elements {
        let segments = lengths.segments(n);
        let mut elements = Elements::zeroed(4 * (segments as usize + 1));
        let offsets = elements.as_bytes_mut().par_chunks_exact_mut(4).enumerate();
        offsets.for_each(|(s, offset)| {
            offset.copy_from_slice(&(lengths.offset(s as u64, n) as u32).to_le_bytes());
        });
        elements
    }

    /// 0, 1, 2 and so on, of so many bytes each, which are the lower ones.
    pub fn indices(n: u64, bytes: u32) -> Elements {
        let mut elements = Elements::zeroed(n as usize * bytes as usize);
        let values = elements.as_bytes_mut().par_chunks_exact_mut(bytes as usize).enumerate();
        values.for_each(|(i, value)| value.copy_from_slice(&(i as u128).to_le_bytes()[..bytes as usize]));
        elements
    }

    pub fn as_bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// The highest bits of a rank, or a longer one of the same order.
fn widened(rank: u64, bits: u32) -> u128 {
    let twice = u128::from(rank) << 64 | u128::from(rank);
    twice >> (128 - bits)
}

fn encode<T: bytemuck::Pod + Send>(bytes: &mut [u8], ranks: &[u64], from: fn(u64) -> T) {
    let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
    elements.par_iter_mut().zip(ranks).for_each(|(element, rank)| *element = from(*rank));
}

/// The output function of splitmix64 (Steele, Lea and Flood 2014): a bijection whose output looks random.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// An element's bytes from its text.
pub fn parse(scalar: Scalar, text: &str) -> Result<Vec<u8>> {
    for_scalar!(scalar, T => text.trim().parse::<T>().ok().map(|x| bytemuck::bytes_of(&x).to_vec()))
        .ok_or_else(|| anyhow!("`{text}` is no {}; give a number that fits the type", scalar.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_long_as_their_names_say() {
        const N: u64 = 16_000;
        for spread in [Spread::Even, Spread::Around, Spread::PowerLaw, Spread::Half, Spread::Empty] {
            let lengths = Lengths { mean: 16, spread };
            let offsets = Elements::offsets(lengths, N);
            let offsets: &[u32] = bytemuck::cast_slice(offsets.as_bytes());
            assert!(offsets.is_sorted() && offsets[0] == 0 && *offsets.last().unwrap() == N as u32, "{spread:?}");
            let lengths: Vec<u32> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
            let longest = lengths.iter().copied().max().unwrap();
            assert!(match spread {
                Spread::Even | Spread::Rows => lengths.iter().all(|length| *length == 16),
                Spread::Around => longest < 32 && lengths.iter().any(|length| *length != 16),
                Spread::PowerLaw => offsets[lengths.len() / 2] == N as u32 / 16,
                Spread::Half => (N as u32 / 2..N as u32 / 2 + 16).contains(&longest),
                Spread::Empty => lengths.iter().filter(|length| **length == 0).count() == 1 << 20 && longest == 16,
            });
        }
    }

    #[test]
    fn inputs_lie_as_their_names_say() {
        const N: u64 = 16_000;
        for scalar in Scalar::ALL {
            let ranks = |input| -> Vec<u128> {
                let elements = Elements::of(input, scalar, N, 1);
                for_scalar!(scalar, T => bytemuck::cast_slice::<u8, T>(elements.as_bytes()).iter().map(|x| x.rank()).collect())
            };
            let distinct = |mut ranks: Vec<u128>| {
                ranks.sort_unstable();
                ranks.dedup();
                ranks.len()
            };
            let many = if scalar.bytes() < 4 { 250 } else { 15_900 };
            assert!(distinct(ranks(Distribution::Uniform)) > many);
            assert!(!ranks(Distribution::Uniform).is_sorted());
            assert_eq!(distinct(ranks(Distribution::Constant)), 1);
            assert!((2..=5).contains(&distinct(ranks(Distribution::Few))));
            for (input, descends) in [(Distribution::Sorted, false), (Distribution::Reversed, true)] {
                let mut ranks = ranks(input);
                assert!(distinct(ranks.clone()) > many);
                if descends {
                    ranks.reverse();
                }
                assert!(ranks.is_sorted(), "{input:?} {scalar:?}");
            }
            let hot = ranks(Distribution::HotDigit);
            for place in 0..scalar.bytes() {
                let mut counts = [0; 256];
                hot.iter().for_each(|rank| counts[(rank >> (8 * place) & 0xff) as usize] += 1);
                let most = *counts.iter().max().unwrap();
                // The places of a float's sign and exponent are the same in all keys, or nearly.
                let is_exponent = scalar.is_float() && place + 2 >= scalar.bytes();
                assert!(
                    (14_850..15_150).contains(&most) || (is_exponent && most > 15_000),
                    "{most} {place} {scalar:?}"
                );
            }
            let hot = Elements::of(Distribution::HotDigit, scalar, N, 1);
            let mut numbers = hot.as_bytes().chunks_exact(scalar.bytes() as usize).map(|x| scalar.to_f64(x));
            assert!(!scalar.is_float() || numbers.all(|x| (0.5..1.0).contains(&x)));
        }
    }

    #[test]
    fn shapes_keep_the_order_and_have_the_share_or_the_runs_that_are_asked() {
        const N: u64 = 100_000;
        let upper = |share| {
            let ranks = Shape::Kept(share).ranks(Distribution::Sorted, N, 1);
            assert!(ranks.is_sorted());
            ranks.iter().filter(|rank| **rank >> 63 == 1).count() as f64 / N as f64
        };
        for share in [0.0, 0.01, 0.5, 0.75, 1.0] {
            let got = upper(share);
            assert!((got - share).abs() < 0.005 && (share.fract() != 0.0 || got == share), "{got} of {share}");
        }
        let plain = Distribution::Uniform.ranks(N, 1);
        assert_eq!(Shape::Kept(0.5).ranks(Distribution::Uniform, N, 1), plain);
        assert_eq!(Shape::Runs(1).ranks(Distribution::Uniform, N, 1), plain);
        for length in [2, 8, 100] {
            let ranks = Shape::Runs(length).ranks(Distribution::Sorted, N, 1);
            assert!(ranks.len() == N as usize && ranks.is_sorted());
            let runs: Vec<usize> = ranks.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
            assert!(runs.iter().all(|run| *run < 2 * length as usize));
            let mean = N as f64 / runs.len() as f64;
            assert!((mean / f64::from(length) - 1.0).abs() < 0.05, "{mean} of {length}");
        }
        assert_eq!(Shape::Runs(8).ranks(Distribution::Constant, 100, 1).len(), 100);
        assert!(Shape::Runs(8).ranks(Distribution::Uniform, 0, 1).is_empty());
    }

    #[test]
    fn text_reads_back() {
        for (scalar, written) in [(Scalar::I32, "-5"), (Scalar::F32, "1e30"), (Scalar::F64, "0.1"), (Scalar::U64, "7")]
        {
            let bytes = parse(scalar, written).unwrap();
            assert_eq!(parse(scalar, &scalar.text(&bytes)).unwrap(), bytes);
        }
        assert!(parse(Scalar::U32, "-1").is_err());
        assert!(parse(Scalar::U32, "4294967296").is_err());
    }
}
