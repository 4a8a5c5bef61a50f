//! Select and partition, in one pass.
//!
//! A thread splits a block into memory of its own, which stays in its cache. Then it learns how many elements the blocks before
//! keep, and copies its own to their places. Where the rest goes behind the kept elements, those are counted first, in a pass
//! of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::{Asks, Block, Error, HostSelector, KernelKey, Request, Rest, Result};

use crate::memory::{Access, Region};
use crate::oracle::{Aligned, CHUNK, Expected, Output};
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Room, Shared, Work, in_parts};
use crate::view::Input;

/// Bytes of a block.
const BLOCK_BYTES: usize = 64 << 10;

/// A selection bound to its memory.
#[derive(Clone)]
struct SelectStep {
    host: Arc<dyn HostSelector>,
    size: usize,
    n: usize,
    rest: Rest,
    input: Input,
    output: Region,
    output_rest: Region,
    output_count: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let selector = key.selector.as_ref();
    let selector = selector.ok_or_else(|| Error::Invalid(format!("{} without a predicate", key.name())))?;
    let (n, element) = (arguments.count()?, selector.element());
    let (size, alignment) = (element.bytes() as usize, element.align() as usize);
    let input = Input::bind(key, arguments, "input", [n, size, alignment])?;
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
        let _access = Access::to(&self.input.regions(), &[&self.output, &self.output_rest, &self.output_count])?;
        let total = self.rest == Rest::Behind;
        let total = total.then(|| self.count(pool));
        let relay = Relay::new(0);
        let room = || Room::of(self.size * self.each().min(self.n));
        self.in_blocks(
            pool,
            || (room(), room(), self.room()),
            |(kept, rest, made), start, count| {
                let _watch = relay.watch();
                let rest_to = if self.rest == Rest::Dropped { std::ptr::null_mut() } else { rest.start() };
                // SAFETY: `bind` checked the input's size and alignment, the block is within it, and `_access` keeps writers out. Each
                // room has a block's bytes, and is aligned for any element.
                let keeps =
                    unsafe { self.host.split(self.block(made, start, count), kept.start(), rest_to).min(count) };
                let before = relay.take(start / self.each(), |before| std::mem::replace(before, *before + keeps));
                if let Some(before) = before {
                    let block = Kept { start, count, keeps, before };
                    // SAFETY: `split` has filled both rooms as far, and `_access` is exclusive to the outputs.
                    unsafe { self.place(block, total, kept, rest) };
                }
            },
        );
        let kept = total.unwrap_or(relay.into_inner());
        // SAFETY: `bind` found the count to be one aligned word, and `_access` is exclusive.
        unsafe { self.output_count.start().cast::<u32>().write(kept as u32) };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SelectStep { n, ..self.clone() })
    }
}

/// What became of a block's elements.
struct Kept {
    start: usize,
    count: usize,
    /// How many of them are kept.
    keeps: usize,
    /// How many are that come before it.
    before: usize,
}

impl SelectStep {
    /// Elements of a block.
    fn each(&self) -> usize {
        (BLOCK_BYTES / self.size).max(1)
    }

    /// Room for a block of the input and the element before it, where they are made.
    fn room(&self) -> Room {
        self.input.room(self.size * (1 + self.each()).min(self.n))
    }

    /// A block of the input, with the element before it.
    ///
    /// # Safety
    /// As of [`Input::block`], of that element too.
    unsafe fn block(&self, made: &mut Room, start: usize, n: usize) -> Block {
        let before = start.min(1);
        // SAFETY: the caller's promise. What comes before is within the input, unless the block is the first.
        let start = unsafe { self.input.block(made, start - before, n + before, self.size).add(before * self.size) };
        Block { start, n, follows: before == 1 }
    }

    /// Works on all blocks: `work(state, start, count)`.
    fn in_blocks<S>(
        &self,
        pool: &ThreadPool,
        begin: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, usize) + Sync,
    ) {
        let (n, each) = (self.n, self.each());
        let work = |state: &mut S, block: usize| work(state, block * each, each.min(n - block * each));
        in_parts(pool, n * self.size <= ALONE_BYTES, n.div_ceil(each), begin, work);
    }

    /// How many elements are kept.
    fn count(&self, pool: &ThreadPool) -> usize {
        let total = AtomicUsize::new(0);
        self.in_blocks(
            pool,
            || self.room(),
            |made, start, count| {
                // SAFETY: as in `run`, whose access lasts.
                let kept = unsafe { self.host.count(self.block(made, start, count)) };
                total.fetch_add(kept, Ordering::Relaxed);
            },
        );
        total.into_inner()
    }

    /// Brings a block's elements to their places. Where the rest goes behind the kept elements, `total` is how many those are.
    ///
    /// # Safety
    /// The rooms hold the block's elements, no two blocks are alike, and there is access to the outputs.
    unsafe fn place(&self, block: Kept, total: Option<usize>, kept: &mut Room, rest: &mut Room) {
        let Kept { start, count, keeps, before } = block;
        // Both fit, but for a predicate that said otherwise when it counted: then some are left out.
        let keeps_fit = keeps.min(total.unwrap_or(self.n).saturating_sub(before));
        let rest_at = total.unwrap_or(0) + start - before;
        let rest_fit = (count - keeps).min(self.n.saturating_sub(rest_at));
        let copy = |from: &mut Room, to: &Region, at: usize, count: usize| {
            if count > 0 {
                let to = Shared(to.start());
                // SAFETY: the elements' places are within the output, and other blocks' are before or behind them.
                unsafe { to.at(at * self.size).copy_from_nonoverlapping(from.start(), count * self.size) };
            }
        };
        copy(kept, &self.output, before, keeps_fit);
        match self.rest {
            Rest::Dropped => {}
            Rest::Apart => copy(rest, &self.output_rest, rest_at, rest_fit),
            Rest::Behind => copy(rest, &self.output, rest_at, rest_fit),
        }
    }
}

/// What a selection must give.
pub(crate) fn expect(request: &Request, input: &[u8], _: Option<&[u8]>) -> Option<Expected> {
    let Request::Select(request) = request else { return None };
    let element = request.selector.element();
    let size = element.bytes() as usize;
    let keeps = |index: usize, bytes: &[u8]| match request.selector.asks() {
        Asks::Predicate => {
            let block = Block { start: bytes.as_ptr(), n: 1, follows: false };
            // SAFETY: this is one element of the predicate's type, a whole number of elements behind an address that suits any.
            unsafe { request.selector.host().count(block) == 1 }
        }
        Asks::Neighbours => index == 0 || input[(index - 1) * size..index * size] != *bytes,
    };
    // Each element for itself, so that several at a time change nothing.
    let parts = input.par_chunks(CHUNK * size).enumerate().map(|(number, chunk)| {
        let (mut kept, mut rest) = (vec![], vec![]);
        let mut elements = Aligned::of(chunk);
        for (i, bytes) in elements.bytes()[..chunk.len()].chunks_exact(size).enumerate() {
            if keeps(number * CHUNK + i, bytes) { &mut kept } else { &mut rest }.extend_from_slice(bytes);
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
