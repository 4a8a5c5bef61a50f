//! Reduction by key, block by block, which reads the keys twice:
//!
//! 1. All threads count the runs that begin in each block.
//! 2. All threads combine the values of each run within their blocks.
//! 3. The parts of runs that go on from one block to the next are combined from left to right.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::{Error, HostOp, KernelKey, Request, Result};

use crate::chain::Slots;
use crate::memory::{Access, Region};
use crate::oracle::{Expected, Output, totals};
use crate::step::{Arguments, SEQUENTIAL_BYTES, Shared, Work, in_parts};

/// Elements of a block.
const BLOCK: usize = 16 << 10;

/// A reduction by key bound to its memory.
#[derive(Clone)]
struct ByKeyStep {
    op: Arc<dyn HostOp>,
    identity: Vec<u8>,
    n: usize,
    key_bytes: usize,
    value_bytes: usize,
    input: Region,
    /// Without, every element is a one.
    input_values: Option<Region>,
    output: Region,
    output_values: Region,
    output_count: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let without = |what: &str| Error::Invalid(format!("{} without its {what}", key.name()));
    let op = key.op.as_ref().ok_or_else(|| without("operator"))?;
    let key_bytes = 4 * key.constant("KEY_WORDS").ok_or_else(|| without("keys' size"))? as usize;
    let (n, value_bytes) = (arguments.count()?, op.element().bytes() as usize);
    let values = |name| arguments.array(name, n, value_bytes, op.element().align() as usize);
    let step = ByKeyStep {
        op: op.host().clone(),
        identity: op.identity().to_vec(),
        n,
        key_bytes,
        value_bytes,
        input: arguments.array("input", n, key_bytes, 4)?,
        input_values: arguments.region("input_values").is_ok().then(|| values("input_values")).transpose()?,
        output: arguments.array("output", n, key_bytes, 4)?,
        output_values: values("output_values")?,
        output_count: arguments.array("output_count", 1, 4, 4)?,
    };
    if step.identity.len() != value_bytes {
        return Err(without("identity"));
    }
    let outputs = [&step.output, &step.output_values, &step.output_count];
    for (i, output) in outputs.iter().enumerate() {
        let inputs = [Some(&step.input), step.input_values.as_ref()];
        inputs.into_iter().flatten().try_for_each(|input| output.check_apart(input))?;
        outputs[..i].iter().try_for_each(|other| output.check_apart(other))?;
    }
    Ok(Box::new(step))
}

impl Work for ByKeyStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let inputs: Vec<&Region> = [Some(&self.input), self.input_values.as_ref()].into_iter().flatten().collect();
        let _access = Access::to(&inputs, &[&self.output, &self.output_values, &self.output_count])?;
        // SAFETY: `bind` checked the size, the bytes are initialised, no output overlaps them, and `_access` keeps writers out.
        let keys = unsafe { std::slice::from_raw_parts(self.input.start().cast_const(), self.n * self.key_bytes) };
        let key = |i: usize| &keys[i * self.key_bytes..(i + 1) * self.key_bytes];
        let begins = |i: usize| i == 0 || key(i - 1) != key(i);
        let blocks = self.n.div_ceil(BLOCK);
        let range = |block: usize| block * BLOCK..self.n.min((block + 1) * BLOCK);
        let on_all = |work: &(dyn Fn(usize) + Sync)| match self.n * self.key_bytes <= SEQUENTIAL_BYTES {
            true => (0..blocks).for_each(work),
            false => in_parts(pool, blocks, work),
        };
        let counts: Vec<AtomicUsize> = (0..blocks).map(|_| AtomicUsize::new(0)).collect();
        on_all(&|block| counts[block].store(range(block).filter(|&i| begins(i)).count(), Ordering::Relaxed));
        let mut total = 0;
        let mut before = Vec::with_capacity(blocks);
        for count in counts {
            before.push(total);
            total += count.into_inner();
        }

        // What a block begins with of a run that began before it.
        let mut carried = Slots::many(blocks, &self.identity);
        let stride = carried.stride_bytes();
        let (carried, output) = (Shared(carried.start()), Shared(self.output.start()));
        let values = Shared(self.output_values.start());
        on_all(&|block| {
            let (mut at, end, mut next) = (range(block).start, range(block).end, before[block]);
            while at < end {
                let until = (at + 1..end).find(|&i| begins(i)).unwrap_or(end);
                // SAFETY: runs are numbered by the blocks' counts of where they begin, which are of keys that nobody writes: each
                // run that begins here has its place in the outputs, of `n` places, for itself, and each block its slot.
                unsafe {
                    let into = match begins(at) {
                        true => {
                            output.at(next * self.key_bytes).copy_from_nonoverlapping(key(at).as_ptr(), self.key_bytes);
                            next += 1;
                            values.at((next - 1) * self.value_bytes)
                        }
                        false => carried.at(block * stride),
                    };
                    into.copy_from_nonoverlapping(self.identity.as_ptr(), self.value_bytes);
                    self.fold(at, until - at, into);
                }
                at = until;
            }
        });
        for block in (1..blocks).filter(|&block| !begins(block * BLOCK)) {
            // SAFETY: the run that goes on began before the block, so it has a place; the threads are done with both.
            unsafe {
                self.op.fold(carried.at(block * stride), 1, values.at((before[block] - 1) * self.value_bytes));
            }
        }
        // SAFETY: `bind` found the count to be one aligned word, and `_access` is exclusive.
        unsafe { self.output_count.start().cast::<u32>().write(total as u32) };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(ByKeyStep { n, ..self.clone() })
    }
}

impl ByKeyStep {
    /// Folds elements into an aligned one.
    ///
    /// # Safety
    /// The elements are in the input, and `into` is for nobody else meanwhile.
    unsafe fn fold(&self, first: usize, count: usize, into: *mut u8) {
        // SAFETY: `bind` checked size and alignment of the values; without values the operator is the sum of u32.
        unsafe {
            match &self.input_values {
                Some(values) => self.op.fold(values.start().add(first * self.value_bytes), count, into),
                None => into.cast::<u32>().write(count as u32),
            }
        }
    }
}

/// What a reduction by key must give.
pub(crate) fn expect(request: &Request, input: &[u8], values: Option<&[u8]>) -> Option<Expected> {
    let Request::ReduceByKey(request) = request else { return None };
    let (op, size) = (request.total(), request.key.bytes() as usize);
    let key = |i: u32| &input[i as usize * size..][..size];
    let n = input.len() / size;
    let starts = (0..n as u32).into_par_iter().filter(|&i| i == 0 || key(i) != key(i - 1));
    let starts: Vec<u32> = starts.collect();
    let ones;
    let values = match (&request.op, values) {
        (Some(_), Some(values)) => values,
        _ => {
            ones = 1u32.to_le_bytes().repeat(n);
            &ones
        }
    };
    let keys = starts.iter().flat_map(|&i| key(i)).copied().collect();
    let totals = totals(&op, op.identity(), values, &starts);
    let count = Some(starts.len() as u32);
    Some(Expected { values: Some(totals), count, ..Expected::of(Output::exact(&request.key, keys)) })
}
