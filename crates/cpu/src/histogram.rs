//! Histogram: each thread counts a part in counts of its own, and adds them to the output.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::ThreadPool;
use trifold_core::{Error, KernelKey, Request, Result, Scalar};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, Output};
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};
use crate::view::Input;

/// Elements of a block, whose bins a view makes at a time.
const BLOCK: usize = 16 << 10;

/// Counts that a thread interleaves: neighbours of the same bin do not wait for each other's sum.
const LANES: usize = 4;

/// From so many bins on a thread has one set of counts.
const MANY_BINS: usize = 4 << 10;

#[derive(Clone)]
struct HistogramStep {
    n: usize,
    input: Input,
    output: Region,
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
    Ok(Box::new(HistogramStep { n, input, output }))
}

impl Work for HistogramStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let _access = Access::to(&self.input.regions(), &[&self.output])?;
        let bins = self.output.bytes() / 4;
        let lanes = if bins < MANY_BINS { LANES } else { 1 };
        let to = Shared(self.output.start());
        // A part a thread, but no smaller ones than pay for their own counts.
        let part = self.n.div_ceil(pool.current_num_threads()).max(bins).max(1).next_multiple_of(BLOCK);
        let alone = self.n * 4 <= ALONE_BYTES;
        in_parts(
            pool,
            alone,
            self.n.div_ceil(part),
            || (vec![0u32; bins * lanes], self.input.room(4 * BLOCK.min(self.n))),
            |(counts, room), i| {
                let end = ((i + 1) * part).min(self.n);
                for start in (i * part..end).step_by(BLOCK) {
                    let n = BLOCK.min(end - start);
                    // SAFETY: `bind` found `n` aligned words, the block is within them, and `_access` keeps writers out.
                    let block =
                        unsafe { std::slice::from_raw_parts(self.input.block(room, start, n, 4).cast::<u32>(), n) };
                    count(block, bins, lanes, counts);
                }
                for (bin, counts) in counts.chunks_exact_mut(lanes).enumerate() {
                    let sum = counts.iter_mut().fold(0u32, |sum, count| sum.wrapping_add(std::mem::take(count)));
                    if sum > 0 {
                        // SAFETY: the bin is one of the output's, an aligned word that all write by atomics.
                        unsafe { AtomicU32::from_ptr(to.at(bin * 4).cast()) }.fetch_add(sum, Ordering::Relaxed);
                    }
                }
            },
        );
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(HistogramStep { n, ..self.clone() })
    }
}

/// Counts a block's elements in so many lanes of counts. One in no bin is left out.
fn count(block: &[u32], bins: usize, lanes: usize, counts: &mut [u32]) {
    for (i, &bin) in block.iter().enumerate() {
        if (bin as usize) < bins {
            counts[bin as usize * lanes + i % lanes] += 1;
        }
    }
}

/// What a histogram must give.
pub(crate) fn expect(request: &Request, Inputs { input, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Histogram(r) = request else { return None };
    let mut counts = vec![0u32; r.bins as usize];
    for bin in input.chunks_exact(4) {
        let bin = u32::from_le_bytes([bin[0], bin[1], bin[2], bin[3]]) as usize;
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    let bytes = counts.into_iter().flat_map(u32::to_le_bytes).collect();
    Some(Expected::of(Output::exact(&Scalar::U32.into(), bytes)))
}
