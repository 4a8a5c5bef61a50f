//! Select and partition: all threads count the kept elements of blocks, and then bring the blocks' elements to their places.
//! Reads the input twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::{Error, HostSelector, KernelKey, Request, Rest, Result};

use crate::memory::{Access, Region};
use crate::oracle::{Aligned, CHUNK, Expected, Output};
use crate::step::{Arguments, SEQUENTIAL_BYTES, Shared, Work, in_parts};

/// Bytes of a block.
const BLOCK_BYTES: usize = 128 << 10;

/// A selection bound to its memory.
#[derive(Clone)]
struct SelectStep {
    host: Arc<dyn HostSelector>,
    size: usize,
    n: usize,
    rest: Rest,
    input: Region,
    output: Region,
    output_rest: Region,
    output_count: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let selector = key.selector.as_ref();
    let selector = selector.ok_or_else(|| Error::Invalid(format!("{} without a predicate", key.name())))?;
    let (n, element) = (arguments.count()?, selector.element());
    let (size, alignment) = (element.bytes() as usize, element.align() as usize);
    let input = arguments.array("input", n, size, alignment)?;
    let output = arguments.array("output", n, size, alignment)?;
    let output_rest = arguments.array("output_rest", n, size, alignment)?;
    let output_count = arguments.array("output_count", 1, 4, 4)?;
    let rest = Rest::of(key);
    let rest = rest.ok_or_else(|| Error::Invalid(format!("{} without what to do with the rest", key.name())))?;
    for apart in [&output, &output_rest, &output_count] {
        input.check_apart(apart)?;
    }
    if rest == Rest::Apart {
        output.check_apart(&output_rest)?;
    }
    output.check_apart(&output_count)?;
    output_rest.check_apart(&output_count)?;
    Ok(Box::new(SelectStep { host: selector.host().clone(), size, n, rest, input, output, output_rest, output_count }))
}

impl Work for SelectStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let _access = Access::to(&[&self.input], &[&self.output, &self.output_rest, &self.output_count])?;
        let each = (BLOCK_BYTES / self.size).max(1);
        let blocks = self.n.div_ceil(each);
        let range = |block: usize| (block * each, each.min(self.n - block * each));
        let on_all = |work: &(dyn Fn(usize) + Sync)| match self.n * self.size <= SEQUENTIAL_BYTES {
            true => (0..blocks).for_each(work),
            false => in_parts(pool, blocks, work),
        };
        let input = Shared(self.input.start());
        let counts: Vec<AtomicUsize> = (0..blocks).map(|_| AtomicUsize::new(0)).collect();
        on_all(&|block| {
            let (start, count) = range(block);
            // SAFETY: `bind` checked the input's size and alignment, the block is within it, and `_access` keeps writers out.
            let kept = unsafe { self.host.count(input.at(start * self.size), count) };
            counts[block].store(kept, Ordering::Relaxed);
        });
        // `in_parts` has joined the threads, so the counts are all there.
        let counts: Vec<usize> = counts.into_iter().map(AtomicUsize::into_inner).collect();
        let mut total = 0;
        let mut before = Vec::with_capacity(blocks);
        for count in &counts {
            before.push(total);
            total += count;
        }
        let (output, rest) = (Shared(self.output.start()), Shared(self.output_rest.start()));
        let rest_from = if self.rest == Rest::Behind { total } else { 0 };
        on_all(&|block| {
            let (start, count) = range(block);
            let kept_at = before[block] * self.size;
            let rest_at = (rest_from + start - before[block]) * self.size;
            // SAFETY: as above. The blocks' parts of the outputs follow each other by their counts, so they fit and are apart;
            // no more is written to them, even if the predicate now says otherwise. `bind` found outputs and input apart, and
            // `_access` is exclusive to the outputs.
            unsafe {
                let rest = if self.rest == Rest::Dropped { std::ptr::null_mut() } else { rest.at(rest_at) };
                self.host.split(input.at(start * self.size), count, counts[block], output.at(kept_at), rest);
            }
        });
        // SAFETY: `bind` found the count to be one aligned word, and `_access` is exclusive.
        unsafe { self.output_count.start().cast::<u32>().write(total as u32) };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SelectStep { n, ..self.clone() })
    }
}

/// What a selection must give.
pub(crate) fn expect(request: &Request, input: &[u8], _: Option<&[u8]>) -> Option<Expected> {
    let Request::Select(request) = request else { return None };
    let element = request.selector.element();
    let size = element.bytes() as usize;
    // Each element for itself, so that several at a time change nothing.
    let parts = input.par_chunks(CHUNK * size).map(|chunk| {
        let (mut kept, mut rest) = (vec![], vec![]);
        let mut elements = Aligned::of(chunk);
        for bytes in elements.bytes()[..chunk.len()].chunks_exact(size) {
            // SAFETY: this is one element of the predicate's type, a whole number of elements behind an address that suits any.
            let keep = unsafe { request.selector.host().count(bytes.as_ptr(), 1) } == 1;
            if keep { &mut kept } else { &mut rest }.extend_from_slice(bytes);
        }
        (kept, rest)
    });
    let (kept, rest): (Vec<_>, Vec<_>) = parts.unzip();
    let (mut kept, rest) = (kept.concat(), rest.concat());
    let count = Some((kept.len() / size) as u32);
    if request.rest == Rest::Behind {
        kept.extend_from_slice(&rest);
    }
    let rest = (request.rest == Rest::Apart).then(|| Output::exact(element, rest));
    Some(Expected { rest, count, ..Expected::of(Output::exact(element, kept)) })
}
