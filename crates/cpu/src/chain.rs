//! Scan and reduce, block by block on all threads.
//!
//! A scan is decoupled look-back on a processor. Threads take blocks in order, and with each block a thread
//!
//! 1. folds it, which brings it into the core's cache,
//! 2. waits for the total of all blocks before it,
//! 3. publishes that total combined with the block's,
//! 4. scans the block from the cache.
//!
//! Memory is read once and written once. The chain from block to block is one combine long. A thread waits only for
//! blocks whose threads run already.

use std::sync::Arc;

use rayon::ThreadPool;
use trifold_core::{Error, HostOp, KernelKey, Op, Result};

use crate::memory::Region;
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Room, Shared, in_parts};
use crate::view::Input;

/// Bytes of a block: half of a small second-level cache.
const BLOCK_BYTES: usize = 128 << 10;
/// Up to this many bytes a reduction, which only reads, is done before a second thread has woken.
pub(crate) const READ_ALONE_BYTES: usize = 1 << 20;

/// What a scan or a reduce works on.
#[derive(Clone)]
pub(crate) struct Elements {
    /// The operator's loops.
    pub(crate) op: Arc<dyn HostOp>,
    /// Bytes of an element.
    pub(crate) size: usize,
    /// How many.
    pub(crate) n: usize,
    /// The operator's identity.
    pub(crate) identity: Slots,
    /// The element to start from.
    pub(crate) initial: Slots,
}

/// What a launch combines, its input, and its output of one element or of as many.
pub(crate) fn bind(
    key: &KernelKey,
    arguments: &Arguments<'_>,
    initial: Option<&[u8]>,
    outputs: Option<usize>,
) -> Result<(Elements, Input, Region)> {
    let elements = Elements::of(key, arguments.count()?, initial)?;
    let alignment = key.op.as_ref().map_or(8, |op| op.element().align() as usize);
    let input = Input::bind(key, arguments, "input", [elements.n, elements.size, alignment])?;
    let output = arguments.array("output", outputs.unwrap_or(elements.n), elements.size, alignment)?;
    if !input.memory().is_some_and(|input| input.is(&output)) {
        input.check_apart(&output)?;
    }
    Ok((elements, input, output))
}

impl Elements {
    /// `n` elements of a key's operator, from `initial` on.
    fn of(key: &KernelKey, n: usize, initial: Option<&[u8]>) -> Result<Elements> {
        let op: &Op = key.op.as_ref().ok_or_else(|| Error::Invalid(format!("{} without an operator", key.name())))?;
        let size = op.element().bytes() as usize;
        let initial = initial.unwrap_or(op.identity());
        if initial.len() != size || op.identity().len() != size || size == 0 {
            return Err(Error::Invalid(format!(
                "a start of {} bytes and an identity of {} for {}, which has {size}",
                initial.len(),
                op.identity().len(),
                op.element().name()
            )));
        }
        Ok(Elements { op: op.host().clone(), size, n, identity: Slots::of(op.identity()), initial: Slots::of(initial) })
    }

    fn block(&self) -> usize {
        (BLOCK_BYTES / self.size).max(1)
    }

    /// A block's first element and how many it has.
    fn range(&self, block: usize) -> (usize, usize) {
        let start = block * self.block();
        (start, self.block().min(self.n - start))
    }

    /// Room for a block of an input.
    fn room(&self, input: &Input) -> Room {
        input.room(self.block().min(self.n) * self.size)
    }
}

/// A few elements in memory aligned for any.
#[derive(Clone)]
pub(crate) struct Slots {
    words: Vec<u64>,
    stride: usize,
}

impl Slots {
    /// One element.
    pub(crate) fn of(bytes: &[u8]) -> Slots {
        Slots::many(1, bytes)
    }

    /// `count` copies of an element.
    pub(crate) fn many(count: usize, bytes: &[u8]) -> Slots {
        let stride = bytes.len().div_ceil(8);
        let mut words = vec![0; stride * count];
        for slot in words.chunks_exact_mut(stride.max(1)) {
            bytemuck::cast_slice_mut(slot)[..bytes.len()].copy_from_slice(bytes);
        }
        Slots { words, stride }
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// Bytes from one element to the next.
    pub(crate) fn stride_bytes(&self) -> usize {
        self.stride * 8
    }

    /// Takes over as many elements, of the same size.
    pub(crate) fn set(&mut self, other: &Slots) {
        self.words.copy_from_slice(&other.words);
    }

    /// Takes over an element's bytes.
    pub(crate) fn set_bytes(&mut self, bytes: &[u8]) {
        bytemuck::cast_slice_mut(&mut self.words)[..bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }
}

/// Scans `input` to `output` by one thread, one element after the other: what every parallel scan is set against. Gives the total.
///
/// # Safety
/// As [`scan`].
pub(crate) unsafe fn scan_sequentially(e: &Elements, input: &Input, output: *mut u8, exclusive: bool) -> Slots {
    let (mut carry, mut room, output) = (e.initial.clone(), e.room(input), Shared(output));
    // Memory is one block.
    let each = if input.memory().is_some() { e.n.max(1) } else { e.block() };
    for start in (0..e.n).step_by(each) {
        let count = each.min(e.n - start);
        // SAFETY: the caller's promises; `carry` is one aligned element, and the room is for a block.
        unsafe {
            let block = input.block(&mut room, start, count, e.size);
            e.op.scan(block, output.at(start * e.size), count, carry.start(), exclusive);
        }
    }
    carry
}

/// Scans `input` to `output`, and gives the total: the same bits whatever the number of threads.
///
/// # Safety
/// Both must be aligned for the elements, good for `n` of them, not touched by anyone else meanwhile, and the same memory
/// or apart. The operator must be of elements of this size.
pub(crate) unsafe fn scan(pool: &ThreadPool, e: &Elements, input: &Input, output: *mut u8, exclusive: bool) -> Slots {
    if e.n * e.size <= ALONE_BYTES {
        // SAFETY: the caller's promises.
        return unsafe { scan_sequentially(e, input, output, exclusive) };
    }
    let relay = Relay::new(e.initial.clone());
    let output = Shared(output);
    let begin = || (e.identity.clone(), e.identity.clone(), e.room(input));
    in_parts(pool, false, e.n.div_ceil(e.block()), begin, |(total, carry, room), block| {
        let _watch = relay.watch();
        let (start, count) = e.range(block);
        total.set(&e.identity);
        // SAFETY: the block is within the input, the room is for one, and `total` is one aligned element.
        let elements = unsafe {
            let elements = input.block(room, start, count, e.size);
            e.op.fold(elements, count, total.start());
            elements
        };
        let publish = |before: &mut Slots| {
            carry.set(before);
            // SAFETY: both are one aligned element.
            unsafe { e.op.fold(total.start(), 1, before.start()) };
        };
        if relay.take(block, publish).is_some() {
            // SAFETY: as above. Blocks are apart, so this one's output is nobody else's input.
            unsafe { e.op.scan(elements, output.at(start * e.size), count, carry.start(), exclusive) };
        }
    });
    relay.into_inner()
}

/// Reduces `input` to one element at `output`, by blocks of a fixed size combined from left to right: the same bits
/// whatever the number of threads.
///
/// # Safety
/// As [`scan`]; the output has one element.
pub(crate) unsafe fn reduce(pool: &ThreadPool, e: &Elements, input: &Input, output: *mut u8) {
    let blocks = e.n.div_ceil(e.block());
    let mut totals = Slots::many(blocks, &e.identity.bytes()[..e.size]);
    let stride = totals.stride_bytes();
    let totals = Shared(totals.start());
    let alone = e.n * e.size <= READ_ALONE_BYTES;
    in_parts(
        pool,
        alone,
        blocks,
        || e.room(input),
        |room, block| {
            let (start, count) = e.range(block);
            // SAFETY: the block is within the input, the room is for one, and slot `block` is this call's alone.
            unsafe {
                let elements = input.block(room, start, count, e.size);
                e.op.fold(elements, count, totals.at(block * stride));
            }
        },
    );
    let mut result = e.initial.clone();
    // SAFETY: every slot is written, the threads are done with them, and the output has room for one element.
    unsafe {
        for block in 0..blocks {
            e.op.fold(totals.at(block * stride), 1, result.start());
        }
        output.copy_from_nonoverlapping(result.start(), e.size);
    }
}
