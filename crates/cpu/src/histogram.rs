//! Histogram: each thread counts a part in counts of its own, or sums up weights, and adds them to the output.

use parking_lot::Mutex;
use rayon::ThreadPool;
use trifold_core::{Error, KernelKey, Request, Result, Scalar};

use crate::memory::{Access, Region};
use crate::oracle::{Elements, Expected, Inputs, Output};
use crate::step::{ALONE_BYTES, Arguments, Work, in_parts};
use crate::view::Input;

/// Elements of a block, whose bins a view makes at a time: few enough for the first cache, beside counts.
const BLOCK: usize = 4 << 10;

/// Sets of counts that a thread takes in turns: neighbours of the same bin do not wait for each other's sum.
const LANES: usize = 4;

/// From so many bins on a thread has one set of counts.
const MANY_BINS: usize = 4 << 10;

#[derive(Clone)]
struct HistogramStep {
    n: usize,
    input: Input,
    weights: Option<Input>,
    sums: Sums,
    output: Region,
}

/// What a bin's word is.
#[derive(Clone, Copy)]
enum Sums {
    Integer,
    Float,
}

impl Sums {
    fn of(self, a: u32, b: u32) -> u32 {
        match self {
            Sums::Integer => a.wrapping_add(b),
            Sums::Float => (f32::from_bits(a) + f32::from_bits(b)).to_bits(),
        }
    }
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let n = arguments.count()?;
    let input = Input::bind(key, arguments, "input", [n, 4, 4])?;
    let output = arguments.region("output")?;
    output.check_alignment("output", 4)?;
    if output.bytes() < 4 {
        return Err(Error::Invalid(format!("{} without a bin", key.name())));
    }
    input.check_apart(&output)?;
    let is_weighted = arguments.region("input_values").is_ok() || key.view("input_values").is_some();
    let weights = is_weighted.then(|| Input::bind(key, arguments, "input_values", [n, 4, 4])).transpose()?;
    weights.iter().try_for_each(|weights| weights.check_apart(&output))?;
    let sums = if key.constant("FLOATS") == Some(1) { Sums::Float } else { Sums::Integer };
    Ok(Box::new(HistogramStep { n, input, weights, sums, output }))
}

impl Work for HistogramStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let inputs = [Some(&self.input), self.weights.as_ref()].into_iter().flatten();
        let _access = Access::to(&inputs.flat_map(Input::regions).collect::<Vec<_>>(), &[&self.output])?;
        let bins = self.output.bytes() / 4;
        let lanes = if bins < MANY_BINS { LANES } else { 1 };
        // SAFETY: `bind` found the output to be aligned words, and `_access` is exclusive.
        let output = Mutex::new(unsafe { std::slice::from_raw_parts_mut(self.output.start().cast::<u32>(), bins) });
        // A part a thread, but no smaller ones than pay for their own counts.
        let part = self.n.div_ceil(pool.current_num_threads()).max(bins).max(1).next_multiple_of(BLOCK);
        let alone = self.n * 4 <= ALONE_BYTES;
        in_parts(
            pool,
            alone,
            self.n.div_ceil(part),
            || {
                let room = |input: &Input| input.room(4 * BLOCK.min(self.n));
                (vec![0u32; bins * lanes], room(&self.input), self.weights.as_ref().map(room))
            },
            |(counts, room, weights_room), i| {
                let end = ((i + 1) * part).min(self.n);
                for start in (i * part..end).step_by(BLOCK) {
                    let n = BLOCK.min(end - start);
                    // SAFETY: `bind` found `n` aligned words, the block is within them, and `_access` keeps writers out.
                    let words = |input: &Input, room| unsafe {
                        std::slice::from_raw_parts(input.block(room, start, n, 4).cast::<u32>(), n)
                    };
                    let block = words(&self.input, room);
                    match self.weights.as_ref().zip(weights_room.as_mut()) {
                        Some((weights, room)) => {
                            let weights = words(weights, room);
                            tally(block, bins, lanes, counts, |count, i| self.sums.of(count, weights[i]));
                        }
                        None => tally(block, bins, lanes, counts, |count, _| count + 1),
                    }
                }
                let (sums, others) = counts.split_at_mut(bins);
                for lane in others.chunks_exact_mut(bins) {
                    for (sum, count) in sums.iter_mut().zip(lane) {
                        *sum = self.sums.of(*sum, std::mem::take(count));
                    }
                }
                for (bin, sum) in output.lock().iter_mut().zip(sums) {
                    *bin = self.sums.of(*bin, std::mem::take(sum));
                }
            },
        );
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(HistogramStep { n, ..self.clone() })
    }
}

/// Takes a block's elements into so many lanes of counts: each changes its bin's by what it was and by its place in the block. One
/// in no bin is left out.
fn tally(block: &[u32], bins: usize, lanes: usize, counts: &mut [u32], with: impl Fn(u32, usize) -> u32) {
    match lanes {
        LANES => tally_in::<LANES>(block, bins, counts, with),
        _ => tally_in::<1>(block, bins, counts, with),
    }
}

fn tally_in<const LANES: usize>(block: &[u32], bins: usize, counts: &mut [u32], with: impl Fn(u32, usize) -> u32) {
    let mut all = counts.chunks_exact_mut(bins);
    let mut lanes: [&mut [u32]; LANES] = std::array::from_fn(|_| all.next().unwrap_or_default());
    let mut take = |i: usize, lane: usize, bin: u32| {
        if let Some(count) = lanes[lane].get_mut(bin as usize) {
            *count = with(*count, i);
        }
    };
    let (chunks, rest) = block.as_chunks::<LANES>();
    for (chunk, bins) in chunks.iter().enumerate() {
        bins.iter().enumerate().for_each(|(lane, &bin)| take(chunk * LANES + lane, lane, bin));
    }
    let first = block.len() - rest.len();
    rest.iter().enumerate().for_each(|(lane, &bin)| take(first + lane, lane, bin));
}

/// What a histogram must give.
pub(crate) fn expect(request: &Request, Inputs { input, values, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Histogram(r) = request else { return None };
    let words = |bytes: &[u8]| -> Vec<u32> { bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect() };
    let bins = words(input);
    let weights = match values {
        Some(weights) if r.weight.is_some() => words(weights),
        _ => vec![1; bins.len()],
    };
    let placed = bins.iter().map(|bin| *bin as usize).zip(&weights).filter(|(bin, _)| *bin < r.bins as usize);
    let element = r.weight.unwrap_or(Scalar::U32).into();
    if !r.adds_floats() {
        let mut sums = vec![0u32; r.bins as usize];
        placed.for_each(|(bin, weight)| sums[bin] = sums[bin].wrapping_add(*weight));
        return Some(Expected::of(Output::exact(&element, sums.into_iter().flat_map(u32::to_le_bytes).collect())));
    }
    let (mut values, mut scales) = (vec![0.0; r.bins as usize], vec![0.0; r.bins as usize]);
    for (bin, weight) in placed {
        let weight = f64::from(f32::from_bits(*weight));
        values[bin] += weight;
        scales[bin] += weight.abs();
    }
    Some(Expected::of(Output { element, elements: Elements::Near { values, scales, chained: true } }))
}
