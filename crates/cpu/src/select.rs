//! Select and partition, in one pass.
//!
//! A thread splits a block into memory of its own, which stays in its cache. Then it learns how many elements the blocks before
//! keep, and copies its own to their places. Where the rest goes behind the kept elements, those are counted first, in a pass
//! of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;
use trifold_core::{Asks, Block, Error, HostSelector, Keeps, KernelKey, Request, Rest, Result, Selector};

use crate::memory::{Access, Region};
use crate::oracle::{Aligned, CHUNK, Expected, Inputs, Output};
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Room, Shared, Work, in_parts};
use crate::view::Input;

/// Bytes of a block.
const BLOCK_BYTES: usize = 64 << 10;
/// The same where one thread takes all, and none waits for another: what it splits stays in its first cache.
const ALONE_BLOCK_BYTES: usize = 16 << 10;

/// A selection bound to its memory.
#[derive(Clone)]
struct SelectStep {
    host: Arc<dyn HostSelector>,
    size: usize,
    n: usize,
    rest: Rest,
    writes: Writes,
    input: Input,
    output: Region,
    output_rest: Region,
    output_count: Region,
}

/// What is written of elements.
#[derive(Clone)]
enum Writes {
    Items,
    Indices,
    Values(Values),
    /// The elements, and values to this span.
    Pairs(Values, Region),
}

/// The values beside elements.
#[derive(Clone)]
struct Values {
    input: Input,
    size: usize,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let without = |what: &str| Error::Invalid(format!("{} without {what}", key.name()));
    let selector = key.selector.as_ref().ok_or_else(|| without("a predicate"))?;
    let (n, element) = (arguments.count()?, selector.element());
    let (size, alignment) = (element.bytes() as usize, element.align() as usize);
    let rest = Rest::of(key).ok_or_else(|| without("what to do with the rest"))?;
    let value = key.constant("VALUE_BYTES").ok_or_else(|| without("the values' size")).map(|bytes| bytes as usize);
    let values = |size| Ok(Values { input: Input::bind(key, arguments, "input_values", [n, size, 1])?, size });
    let writes = match key.constant("SELECT_KEEPS") {
        Some(0) => Writes::Items,
        Some(1) => Writes::Indices,
        Some(2) => Writes::Values(values(value?)?),
        Some(3) => {
            value.and_then(|size| Ok(Writes::Pairs(values(size)?, arguments.array("output_values", n, size, 1)?)))?
        }
        _ => return Err(without("what to write")),
    };
    let (written, alignment_written) = match &writes {
        Writes::Items | Writes::Pairs(..) => (size, alignment),
        Writes::Indices => (4, 4),
        Writes::Values(values) => (values.size, 1),
    };
    let output = |name| arguments.array(name, n, written, alignment_written);
    let step = SelectStep {
        host: selector.host().clone(),
        size,
        n,
        rest,
        input: Input::bind(key, arguments, "input", [n, size, alignment])?,
        output: output("output")?,
        // Of pairs nothing else is written.
        output_rest: output(if matches!(writes, Writes::Pairs(..)) { "output" } else { "output_rest" })?,
        output_count: arguments.array("output_count", 1, 4, 4)?,
        writes,
    };
    step.check_apart()?;
    Ok(Box::new(step))
}

impl Work for SelectStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let _access = Access::to(&self.reads(), &self.targets())?;
        let total = self.rest == Rest::Behind;
        let total = total.then(|| self.count(pool));
        let relay = Relay::new(0);
        let each = self.each().min(self.n);
        let room = || Room::of(self.split_bytes() * each);
        self.in_blocks(
            pool,
            || (room(), room(), self.room(), self.values().map(|values| values.input.room(values.size * each))),
            |(kept, rest, made, values), start, count| {
                let _watch = relay.watch();
                let rest_to = if self.rest == Rest::Dropped { std::ptr::null_mut() } else { rest.start() };
                // SAFETY: `bind` checked the input's size and alignment, the block is within it, and `_access` keeps writers out. Each
                // room has a block's bytes, and is aligned for any element.
                let (block, keeps) = unsafe {
                    let block = self.block(made, start, count);
                    (block, self.split(block, kept.start(), rest_to).min(count))
                };
                let before = relay.take(start / self.each(), |before| std::mem::replace(before, *before + keeps));
                if let Some(before) = before {
                    let found = Found { block, first: start, keeps, before };
                    // SAFETY: `split` has filled both rooms as far, and `_access` is exclusive to the outputs.
                    unsafe { self.place(&found, total, [kept, rest], values.as_mut()) };
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
struct Found {
    block: Block,
    /// The first one's index.
    first: usize,
    /// How many of them are kept.
    keeps: usize,
    /// How many are that come before it.
    before: usize,
}

impl SelectStep {
    /// Elements of a block.
    fn each(&self) -> usize {
        let bytes = if self.is_for_one() { ALONE_BLOCK_BYTES } else { BLOCK_BYTES };
        (bytes / self.size).max(1)
    }

    /// Whether one thread is done with so few before others have woken.
    fn is_for_one(&self) -> bool {
        self.n * self.size <= ALONE_BYTES
    }

    fn values(&self) -> Option<&Values> {
        match &self.writes {
            Writes::Items | Writes::Indices => None,
            Writes::Values(values) | Writes::Pairs(values, _) => Some(values),
        }
    }

    /// What is read.
    fn reads(&self) -> Vec<&Region> {
        let values = self.values().map(|values| values.input.regions());
        self.input.regions().into_iter().chain(values.into_iter().flatten()).collect()
    }

    /// What is written.
    fn targets(&self) -> Vec<&Region> {
        let pairs = if let Writes::Pairs(_, output) = &self.writes { Some(output) } else { None };
        [&self.output, &self.output_rest, &self.output_count].into_iter().chain(pairs).collect()
    }

    fn check_apart(&self) -> Result<()> {
        let targets = self.targets();
        for target in &targets {
            self.input.check_apart(target)?;
            self.values().map_or(Ok(()), |values| values.input.check_apart(target))?;
        }
        let is_one = |a: &Region, b: &Region| {
            self.rest != Rest::Apart && std::ptr::eq(a, &self.output) && std::ptr::eq(b, &self.output_rest)
        };
        for (i, a) in targets.iter().enumerate() {
            for b in targets[i + 1..].iter().filter(|b| !is_one(a, b)) {
                a.check_apart(b)?;
            }
        }
        Ok(())
    }

    /// Bytes of what a block's elements are split into: themselves, or their places.
    fn split_bytes(&self) -> usize {
        if let Writes::Items = self.writes { self.size } else { 4 }
    }

    /// Splits a block into two rooms.
    ///
    /// # Safety
    /// As of [`HostSelector::split`] and [`HostSelector::places`].
    unsafe fn split(&self, block: Block, kept: *mut u8, rest: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            match self.writes {
                Writes::Items => self.host.split(block, kept, rest),
                _ => self.host.places(block, kept.cast(), rest.cast()),
            }
        }
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
        in_parts(pool, self.is_for_one(), n.div_ceil(each), begin, work);
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

    /// Brings what is written of a block to its places. Where the rest goes behind what is kept, `total` is how much that is.
    ///
    /// # Safety
    /// The rooms hold the block's elements or their places, no two blocks are alike, and there is access to the outputs.
    unsafe fn place(
        &self,
        found: &Found,
        total: Option<usize>,
        [kept, rest]: [&mut Room; 2],
        mut values: Option<&mut Room>,
    ) {
        let &Found { block, first, keeps, before } = found;
        // Both fit, but for a predicate that said otherwise when it counted: then some are left out.
        let keeps_fit = keeps.min(total.unwrap_or(self.n).saturating_sub(before));
        let rest_at = total.unwrap_or(0) + first - before;
        let rest_fit = (block.n - keeps).min(self.n.saturating_sub(rest_at));
        let mut write = |from: &mut Room, to: &Region, at: usize, count: usize| {
            // SAFETY: the caller's promise. The places are within the output, and other blocks' are before or behind them.
            unsafe { self.write(found, from.start(), to, at, count, values.as_deref_mut()) }
        };
        write(kept, &self.output, before, keeps_fit);
        match self.rest {
            Rest::Dropped => {}
            Rest::Apart => write(rest, &self.output_rest, rest_at, rest_fit),
            Rest::Behind => write(rest, &self.output, rest_at, rest_fit),
        }
    }

    /// Writes `count` of what a room holds, elements or their places in the block, from the place `at` on.
    ///
    /// # Safety
    /// As of [`SelectStep::place`].
    unsafe fn write(
        &self,
        found: &Found,
        from: *const u8,
        to: &Region,
        at: usize,
        count: usize,
        values: Option<&mut Room>,
    ) {
        if count == 0 {
            return;
        }
        // SAFETY: the caller's promise. A room is aligned for words. The block's values are as many as its elements.
        unsafe {
            let target = |to: &Region, size: usize| Shared(to.start()).at(at * size);
            let places = || std::slice::from_raw_parts(from.cast::<u32>(), count);
            let made = |of: &Values| {
                let mut none = Room::of(0);
                of.input.block(values.unwrap_or(&mut none), found.first, found.block.n, of.size).cast_const()
            };
            match &self.writes {
                Writes::Items => target(to, self.size).copy_from_nonoverlapping(from, count * self.size),
                Writes::Indices => {
                    let to = target(to, 4).cast::<u32>();
                    places().iter().enumerate().for_each(|(i, place)| to.add(i).write(found.first as u32 + place));
                }
                Writes::Values(of) => gather(made(of), places(), target(to, of.size), of.size),
                Writes::Pairs(of, output) => {
                    gather(found.block.start, places(), target(to, self.size), self.size);
                    gather(made(of), places(), target(output, of.size), of.size);
                }
            }
        }
    }
}

/// Copies the elements of `size` bytes at these places of `from` to `to`, one behind the other.
///
/// # Safety
/// The places are within `from`, and there is room for as many at `to`, apart from it.
unsafe fn gather(from: *const u8, places: &[u32], to: *mut u8, size: usize) {
    /// The same of a size that compilers know.
    ///
    /// # Safety
    /// As of the function around it.
    unsafe fn by<const SIZE: usize>(from: *const u8, places: &[u32], to: *mut u8) {
        for (i, &place) in places.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                to.add(i * SIZE).cast::<[u8; SIZE]>().write(from.add(place as usize * SIZE).cast::<[u8; SIZE]>().read())
            };
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => by::<1>(from, places, to),
            2 => by::<2>(from, places, to),
            4 => by::<4>(from, places, to),
            8 => by::<8>(from, places, to),
            16 => by::<16>(from, places, to),
            _ => {
                for (i, &place) in places.iter().enumerate() {
                    to.add(i * size).copy_from_nonoverlapping(from.add(place as usize * size), size);
                }
            }
        }
    }
}

/// What a selection must give.
pub(crate) fn expect(request: &Request, Inputs { input, values, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Select(request) = request else { return None };
    let element = request.selector.element();
    let (kept, others): (Vec<usize>, Vec<usize>) = {
        let kept = kept(&request.selector, input);
        let all =
            |want: bool| kept.par_iter().enumerate().filter(move |(_, is)| **is == want).map(|(i, _)| i).collect();
        (all(true), all(false))
    };
    let given = |input: &[u8], size: usize, places: &[usize]| {
        places.iter().flat_map(|&i| &input[i * size..][..size]).copied().collect::<Vec<u8>>()
    };
    let written = |places: &[usize]| match &request.keeps {
        Keeps::Items | Keeps::Pairs(_) => given(input, element.bytes() as usize, places),
        Keeps::Indices => places.iter().flat_map(|&i| (i as u32).to_le_bytes()).collect(),
        Keeps::Values(value) => given(values.unwrap_or_default(), value.bytes() as usize, places),
    };
    let output = |places: &[usize]| Output::exact(request.keeps.output(element), written(places));
    let pairs = match &request.keeps {
        Keeps::Pairs(value) => {
            Some(Output::exact(value, given(values.unwrap_or_default(), value.bytes() as usize, &kept)))
        }
        _ => None,
    };
    let count = Some(kept.len() as u32);
    let all = if request.rest == Rest::Behind { [&kept[..], &others].concat() } else { kept };
    let rest = (request.rest == Rest::Apart).then(|| output(&others));
    Some(Expected { rest, count, values: pairs, ..Expected::of(output(&all)) })
}

/// Which elements are kept.
fn kept(selector: &Selector, input: &[u8]) -> Vec<bool> {
    let size = selector.element().bytes() as usize;
    if selector.asks() == Asks::Neighbours {
        let differs = |i: usize| i == 0 || input[(i - 1) * size..i * size] != input[i * size..(i + 1) * size];
        return (0..input.len() / size).into_par_iter().map(differs).collect();
    }
    // Each element for itself, so that several at a time change nothing.
    let chunks = input.par_chunks(CHUNK * size).flat_map_iter(|chunk| {
        let mut elements = Aligned::of(chunk);
        let bytes = elements.bytes()[..chunk.len()].chunks_exact(size);
        let keeps = bytes.map(|bytes| {
            let block = Block { start: bytes.as_ptr(), n: 1, follows: false };
            // SAFETY: this is one element of the predicate's type, a whole number of elements behind an address that suits any.
            unsafe { selector.host().count(block) == 1 }
        });
        keeps.collect::<Vec<bool>>()
    });
    chunks.collect()
}
