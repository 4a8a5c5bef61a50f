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
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPool;
use trifold_core::{Error, HostOp, KernelKey, Op, Result};

use crate::memory::Region;
use crate::step::{Arguments, SEQUENTIAL_BYTES, Shared, in_parts};

/// Bytes of a block: half of a small second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

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
) -> Result<(Elements, Region, Region)> {
    let elements = Elements::of(key, arguments.count()?, initial)?;
    let alignment = key.op.as_ref().map_or(8, |op| op.element().align() as usize);
    let input = arguments.array("input", elements.n, elements.size, alignment)?;
    let output = arguments.array("output", outputs.unwrap_or(elements.n), elements.size, alignment)?;
    if !input.is(&output) {
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

    /// Where a block starts and how many elements it has.
    fn range(&self, block: usize) -> (usize, usize) {
        let start = block * self.block();
        (start * self.size, self.block().min(self.n - start))
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

    pub(crate) fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }
}

/// Scans `input` to `output` by one thread, one element after the other: what every parallel scan is set against.
///
/// # Safety
/// As [`scan`].
pub(crate) unsafe fn scan_sequentially(e: &Elements, input: *mut u8, output: *mut u8, exclusive: bool) {
    let mut carry = e.initial.clone();
    // SAFETY: the caller's promises; `carry` is one aligned element.
    unsafe { e.op.scan(input, output, e.n, carry.start(), exclusive) };
}

/// Scans `input` to `output`.
///
/// # Safety
/// Both must be aligned for the elements, good for `n` of them, not touched by anyone else meanwhile, and the same or
/// apart. The operator must be of elements of this size.
pub(crate) unsafe fn scan(pool: &ThreadPool, e: &Elements, input: *mut u8, output: *mut u8, exclusive: bool) {
    let blocks = e.n.div_ceil(e.block());
    if blocks <= 1 || pool.current_num_threads() == 1 {
        // SAFETY: the caller's promises.
        return unsafe { scan_sequentially(e, input, output, exclusive) };
    }
    // Slot b is what comes before block b; it is written once, before `ready[b]` is set.
    let mut before = Slots::many(blocks + 1, &e.initial.bytes()[..e.size]);
    let stride = before.stride * 8;
    let before = Shared(before.start());
    let ready: Vec<AtomicBool> = (0..=blocks).map(|b| AtomicBool::new(b == 0)).collect();
    let abandoned = AtomicBool::new(false);
    let (input, output) = (Shared(input), Shared(output));
    in_parts(pool, blocks, |block| {
        let _abandon = Abandon(&abandoned);
        let (start, count) = e.range(block);
        let (mut total, mut carry) = (e.identity.clone(), e.identity.clone());
        // SAFETY: the block is within the input, and `total` is one aligned element.
        unsafe { e.op.fold(input.at(start), count, total.start()) };
        if !wait(&ready[block], &abandoned) {
            return;
        }
        // SAFETY: slot `block` was published before its flag; slot `block + 1` is this thread's until it sets the next
        // flag. Blocks are apart, so this one's output is nobody else's input.
        unsafe {
            carry.start().copy_from_nonoverlapping(before.at(block * stride), e.size);
            let next = before.at((block + 1) * stride);
            next.copy_from_nonoverlapping(carry.start(), e.size);
            e.op.fold(total.start(), 1, next);
            ready[block + 1].store(true, Ordering::Release);
            e.op.scan(input.at(start), output.at(start), count, carry.start(), exclusive);
        }
    });
}

/// Reduces `input` to one element at `output`, by blocks of a fixed size combined from left to right: the same bits
/// whatever the number of threads.
///
/// # Safety
/// As [`scan`]; the output has one element.
pub(crate) unsafe fn reduce(pool: &ThreadPool, e: &Elements, input: *mut u8, output: *mut u8) {
    let blocks = e.n.div_ceil(e.block());
    let mut totals = Slots::many(blocks, &e.identity.bytes()[..e.size]);
    let stride = totals.stride * 8;
    let (totals, input) = (Shared(totals.start()), Shared(input));
    let fold = |block| {
        let (start, count) = e.range(block);
        // SAFETY: the block is within the input, and slot `block` is this call's alone.
        unsafe { e.op.fold(input.at(start), count, totals.at(block * stride)) };
    };
    if e.n * e.size <= SEQUENTIAL_BYTES || pool.current_num_threads() == 1 {
        (0..blocks).for_each(fold);
    } else {
        in_parts(pool, blocks, fold);
    }
    let mut result = e.initial.clone();
    // SAFETY: every slot is written, the threads are done with them, and the output has room for one element.
    unsafe {
        for block in 0..blocks {
            e.op.fold(totals.at(block * stride), 1, result.start());
        }
        output.copy_from_nonoverlapping(result.start(), e.size);
    }
}

/// Waits for a flag; false if a thread has panicked and the flag may never come.
fn wait(ready: &AtomicBool, abandoned: &AtomicBool) -> bool {
    let mut polls = 0u32;
    while !ready.load(Ordering::Acquire) {
        if abandoned.load(Ordering::Relaxed) {
            return false;
        }
        polls += 1;
        if polls < 64 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
    true
}

/// Tells the other threads of a panic in an operator, which would otherwise leave them waiting.
struct Abandon<'a>(&'a AtomicBool);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
