//! Reduction by key, in one pass. With each block a thread
//!
//! 1. finds where runs begin, and folds the values before the first one and from the last one on,
//! 2. learns how many runs began before the block, and the total so far of the last of them; it hands on the same of its own,
//! 3. writes the keys and totals of the runs that begin and end within the block.
//!
//! The parts of runs that go on from one block to the next are combined from left to right.

use std::sync::Arc;

use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::{Error, HostOp, KernelKey, Request, Result};

use crate::chain::Slots;
use crate::heads::Heads;
use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, Output, totals};
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};

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
    let key_bytes = key.constant("KEY_BYTES").ok_or_else(|| without("keys' size"))? as usize;
    let (n, value_bytes) = (arguments.count()?, op.element().bytes() as usize);
    let values = |name| arguments.array(name, n, value_bytes, op.element().align() as usize);
    let step = ByKeyStep {
        op: op.host().clone(),
        identity: op.identity().to_vec(),
        n,
        key_bytes,
        value_bytes,
        input: arguments.array("input", n, key_bytes, 1)?,
        input_values: arguments.region("input_values").is_ok().then(|| values("input_values")).transpose()?,
        output: arguments.array("output", n, key_bytes, 1)?,
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

/// What the blocks so far leave to the next one.
struct Open {
    /// How many runs have begun.
    runs: usize,
    /// The total so far of the last of them.
    total: Slots,
}

impl Work for ByKeyStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let inputs: Vec<&Region> = [Some(&self.input), self.input_values.as_ref()].into_iter().flatten().collect();
        let _access = Access::to(&inputs, &[&self.output, &self.output_values, &self.output_count])?;
        let identity = || Slots::of(&self.identity);
        let relay = Relay::new(Open { runs: 0, total: identity() });
        let begin = || (Heads::default(), identity(), identity());
        let alone = self.n * (self.key_bytes + self.value_bytes) <= 2 * ALONE_BYTES;
        in_parts(pool, alone, self.n.div_ceil(BLOCK), begin, |(heads, lead, tail), block| {
            let _watch = relay.watch();
            let (start, count) = (block * BLOCK, BLOCK.min(self.n - block * BLOCK));
            // SAFETY: `bind` checked the sizes, no output overlaps the inputs, and `_access` keeps writers out.
            let heads = unsafe { heads.find(Shared(self.input.start()), start, count, self.key_bytes) };
            // Without a head the block has one part of a run, and no tail.
            let first = heads.first().map_or(count, |&i| i as usize);
            let last = heads.last().map_or(count, |&i| i as usize);
            lead.set_bytes(&self.identity);
            tail.set_bytes(&self.identity);
            // SAFETY: as above; both are one aligned element.
            unsafe {
                self.fold(start, first, lead.start());
                self.fold(start + last, count - last, tail.start());
            }
            let runs = relay.take(block, |open| {
                // SAFETY: the runs that have begun before have their places in the output, and nobody else closes the last one.
                unsafe { self.hand_on(open, heads.len(), first, lead, tail) }
            });
            if let Some(runs) = runs {
                // SAFETY: as above. So many runs have begun before these, so their places are nobody else's.
                unsafe { self.write_runs(heads, start, runs) };
            }
        });
        let mut last = relay.into_inner();
        // SAFETY: `bind` found the count to be one aligned word, and `_access` is exclusive.
        unsafe {
            self.close(&mut last);
            self.output_count.start().cast::<u32>().write(last.runs as u32);
        }
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(ByKeyStep { n, ..self.clone() })
    }
}

impl ByKeyStep {
    /// Adds a block to what the ones before have left. How many runs began before it.
    ///
    /// Its `first` values belong to a run of theirs, and have the total `lead`. The last run that begins in it has the total
    /// `tail` so far.
    ///
    /// # Safety
    /// As [`ByKeyStep::close`].
    unsafe fn hand_on(&self, open: &mut Open, heads: usize, first: usize, lead: &mut Slots, tail: &Slots) -> usize {
        let runs = open.runs;
        if first > 0 {
            // SAFETY: both are one aligned element.
            unsafe { self.op.fold(lead.start(), 1, open.total.start()) };
        }
        if heads > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.close(open) };
            open.runs += heads;
            open.total.set(tail);
        }
        runs
    }

    /// Writes the total of the last run so far.
    ///
    /// # Safety
    /// There is access to the outputs, and no other thread closes that run.
    unsafe fn close(&self, open: &mut Open) {
        if let Some(last) = open.runs.checked_sub(1) {
            // SAFETY: there are no more runs than elements, for which the output has places.
            unsafe {
                let place = self.output_values.start().add(last * self.value_bytes);
                place.copy_from_nonoverlapping(open.total.start(), self.value_bytes);
            }
        }
    }

    /// Writes the keys of the runs that begin at these places of a block, and the totals of all but the last of them.
    ///
    /// # Safety
    /// There is access to the memory. `runs` have begun before, and their places are for nobody else.
    unsafe fn write_runs(&self, heads: &[u32], start: usize, runs: usize) {
        // SAFETY: the caller's promise; `bind` checked sizes and alignments.
        unsafe {
            let keys = self.input.start().add(start * self.key_bytes);
            let output = self.output.start().add(runs * self.key_bytes);
            match self.key_bytes {
                1 => gather(keys.cast::<[u8; 1]>(), heads, output.cast()),
                2 => gather(keys.cast::<[u8; 2]>(), heads, output.cast()),
                4 => gather(keys.cast::<[u8; 4]>(), heads, output.cast()),
                8 => gather(keys.cast::<[u8; 8]>(), heads, output.cast()),
                size => {
                    for (run, &head) in heads.iter().enumerate() {
                        let key = keys.add(head as usize * size);
                        output.add(run * size).copy_from_nonoverlapping(key, size);
                    }
                }
            }
            let totals = self.output_values.start().add(runs * self.value_bytes);
            match &self.input_values {
                Some(values) => self.op.fold_runs(values.start().add(start * self.value_bytes), heads, totals),
                None => {
                    for (run, bounds) in heads.windows(2).enumerate() {
                        totals.cast::<u32>().add(run).write(bounds[1] - bounds[0]);
                    }
                }
            }
        }
    }

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

/// Copies the elements at these places.
///
/// # Safety
/// They are there, and there is room for as many.
unsafe fn gather<T: Copy>(from: *const T, places: &[u32], to: *mut T) {
    for (i, &place) in places.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { to.add(i).write(*from.add(place as usize)) };
    }
}

/// What a reduction by key must give.
pub(crate) fn expect(request: &Request, Inputs { input, values, .. }: Inputs<'_>) -> Option<Expected> {
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
