//! Reductions and scans of segments, in one pass. With each block a thread
//!
//! 1. finds where segments begin, and folds the elements before the first such place and from the last one on,
//! 2. learns the total so far of the segment that goes on into the block; it hands on the same of its own,
//! 3. writes the totals of the segments that end in the block, or scans its elements.

use std::sync::Arc;

use rayon::ThreadPool;
use trifold_core::{Error, Gives, HostOp, KernelKey, Op, Request, Result, ScanKind, Segments};

use crate::chain::Slots;
use crate::heads::Heads;
use crate::memory::{Access, Region};
use crate::oracle::{Aligned, Elements, Expected, Inputs, Output, Precise, scan_in_place, totals};
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};

/// Elements of a block.
const BLOCK: usize = 16 << 10;
/// Segments of which a thread writes the empty ones at a time.
const EMPTY_PART: usize = 64 << 10;

/// A reduction or a scan of segments, bound to its memory.
#[derive(Clone)]
struct SegmentedStep {
    op: Arc<dyn HostOp>,
    size: usize,
    identity: Vec<u8>,
    /// What each segment starts from.
    start: Vec<u8>,
    n: usize,
    by: Bounds,
    gives: Gives,
    input: Region,
    output: Region,
}

/// Where segments begin.
#[derive(Clone)]
enum Bounds {
    Offsets(Offsets),
    Rows(usize),
    Keys { region: Region, size: usize },
}

/// Offsets in memory: one more than there are segments.
#[derive(Clone)]
pub(crate) struct Offsets {
    region: Region,
    size: usize,
    pub(crate) segments: usize,
}

impl Offsets {
    /// Those of an argument, each of so many bytes.
    pub(crate) fn bind(arguments: &Arguments<'_>, name: &str, size: usize) -> Result<Offsets> {
        let segments = arguments.word("segments")? as usize;
        Ok(Offsets { region: arguments.array(name, segments + 1, size, 1)?, size, segments })
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// The offset `s`, at most `n`.
    ///
    /// # Safety
    /// There is access to the offsets, and `s` is one of them.
    pub(crate) unsafe fn at(&self, s: usize, n: usize) -> usize {
        // SAFETY: the caller's promise; `bind` checked the size.
        let offset = unsafe {
            let place = self.region.start().add(s * self.size);
            if self.size == 4 {
                place.cast::<u32>().read_unaligned().into()
            } else {
                place.cast::<u64>().read_unaligned()
            }
        };
        offset.min(n as u64) as usize
    }

    /// The first offset that is no less than `at`, one past the last if none is.
    ///
    /// # Safety
    /// There is access to the offsets.
    unsafe fn first_from(&self, at: usize, n: usize) -> usize {
        let (mut low, mut high) = (0, self.segments + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            // SAFETY: it is one of the offsets, and the caller promises access.
            if unsafe { self.at(middle, n) } < at { low = middle + 1 } else { high = middle }
        }
        low
    }
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, initial: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let without = |what: &str| Error::Invalid(format!("{} without its {what}", key.name()));
    let op = key.op.as_ref().ok_or_else(|| without("operator"))?;
    let (n, size, alignment) = (arguments.count()?, op.element().bytes() as usize, op.element().align() as usize);
    let bytes = |name| key.constant(name).map(|bytes| bytes as usize);
    let by = match (bytes("OFFSET_BYTES"), bytes("KEY_BYTES")) {
        (Some(size), _) => Bounds::Offsets(Offsets::bind(arguments, "input_values", size)?),
        (_, Some(size)) => Bounds::Keys { region: arguments.array("input_values", n, size, 1)?, size },
        _ => Bounds::Rows((arguments.word("width")? as usize).max(1)),
    };
    let gives = match (key.constant("REDUCES"), key.constant("EXCLUSIVE")) {
        (Some(1), _) => Gives::Total,
        (_, Some(1)) => Gives::Prefixes(ScanKind::Exclusive),
        _ => Gives::Prefixes(ScanKind::Inclusive),
    };
    let outputs = match (&by, gives) {
        (Bounds::Offsets(offsets), Gives::Total) => offsets.segments,
        (Bounds::Rows(width), Gives::Total) => n.div_ceil(*width),
        _ => n,
    };
    let start = initial.unwrap_or(op.identity()).to_vec();
    if op.identity().len() != size || start.len() != size {
        return Err(without("identity"));
    }
    let (identity, op) = (op.identity().to_vec(), op.host().clone());
    let input = arguments.array("input", n, size, alignment)?;
    let output = arguments.array("output", outputs, size, alignment)?;
    if !(matches!(gives, Gives::Prefixes(_)) && input.is(&output)) {
        output.check_apart(&input)?;
    }
    let step = SegmentedStep { op, size, identity, start, n, by, gives, input, output };
    step.by.region().map_or(Ok(()), |region| step.output.check_apart(region))?;
    Ok(Box::new(step))
}

impl Bounds {
    /// The memory that says it, if some does.
    fn region(&self) -> Option<&Region> {
        match self {
            Bounds::Offsets(offsets) => Some(&offsets.region),
            Bounds::Rows(_) => None,
            Bounds::Keys { region, .. } => Some(region),
        }
    }
}

/// What a thread knows of a block. It has memory for one, which serves one after the other.
struct Block {
    keys: Heads,
    /// Which elements begin segments, in order.
    heads: Vec<u32>,
    /// The segments that end in it, each with how many begin in the block before its end.
    ends: Vec<(usize, usize)>,
    /// The totals of what lies from one head to the next.
    totals: Vec<u128>,
    lead: Slots,
    tail: Slots,
}

impl Work for SegmentedStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let inputs: Vec<&Region> = [Some(&self.input), self.by.region()].into_iter().flatten().collect();
        let _access = Access::to(&inputs, &[&self.output])?;
        let alone = self.n * self.size <= ALONE_BYTES;
        let relay = Relay::new(Slots::of(&self.start));
        in_parts(
            pool,
            alone,
            self.n.div_ceil(BLOCK),
            || self.block(),
            |block, number| {
                let _watch = relay.watch();
                let (first, count) = (number * BLOCK, BLOCK.min(self.n - number * BLOCK));
                // SAFETY: `bind` checked sizes, alignments, and that the output is the input or apart from all inputs. `_access` covers all, the
                // blocks are apart, and so are the segments that end in them.
                unsafe {
                    self.find(block, first, count);
                    self.fold_ends(block, first, count);
                    let open = relay.take(number, |open| self.hand_on(open, block));
                    match (open, self.gives) {
                        (None, _) => {}
                        (Some(open), Gives::Total) => self.write_totals(block, first, count, open),
                        (Some(open), Gives::Prefixes(kind)) => {
                            self.scan(block, first, count, open, kind == ScanKind::Exclusive)
                        }
                    }
                }
            },
        );
        if let (Gives::Total, Bounds::Offsets(offsets)) = (self.gives, &self.by) {
            let parts = offsets.segments.div_ceil(EMPTY_PART);
            let output = Shared(self.output.start());
            in_parts(
                pool,
                parts <= 1,
                parts,
                || (),
                |(), part| {
                    for segment in part * EMPTY_PART..((part + 1) * EMPTY_PART).min(offsets.segments) {
                        // SAFETY: the segment has two offsets and a place in the output, which no block writes to, as it is without elements.
                        unsafe {
                            if offsets.at(segment + 1, self.n) <= offsets.at(segment, self.n) {
                                output.at(segment * self.size).copy_from_nonoverlapping(self.start.as_ptr(), self.size);
                            }
                        }
                    }
                },
            );
        }
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SegmentedStep { n, ..self.clone() })
    }
}

impl SegmentedStep {
    fn block(&self) -> Block {
        let (lead, tail) = (Slots::of(&self.identity), Slots::of(&self.identity));
        Block { keys: Heads::default(), heads: vec![], ends: vec![], totals: vec![], lead, tail }
    }

    /// Finds where segments begin and end in a block.
    ///
    /// # Safety
    /// There is access to offsets and keys, and the block is one of the elements'.
    unsafe fn find(&self, block: &mut Block, first: usize, count: usize) {
        let Block { heads, ends, .. } = block;
        heads.clear();
        ends.clear();
        match &self.by {
            Bounds::Rows(width) => {
                let all = (first.next_multiple_of(*width)..first + count).step_by(*width);
                heads.extend(all.map(|place| (place - first) as u32));
                // A row's end is where the next one begins, or the end of all.
                let rows = first / width..(first + count).div_ceil(*width);
                let ended = rows.map(|row| (row, ((row + 1) * width).min(self.n)));
                let ended = ended.filter(|(_, end)| *end <= first + count);
                ends.extend(
                    ended.map(|(row, end)| (row, heads.partition_point(|&head| (head as usize) < end - first))),
                );
            }
            Bounds::Keys { region, size } => {
                // SAFETY: `bind` found a key for each element, and the caller promises access.
                heads.extend(unsafe { block.keys.find(Shared(region.start()), first, count, *size) });
            }
            Bounds::Offsets(offsets) => {
                heads.extend((first == 0).then_some(0));
                // SAFETY: the numbers are of offsets, to which the caller promises access.
                unsafe {
                    let own = offsets.first_from(first, self.n);
                    let places = (own..=offsets.segments).map(|s| offsets.at(s, self.n));
                    for place in places.take_while(|&place| place < first + count) {
                        let place = place.saturating_sub(first) as u32;
                        if heads.last().is_none_or(|&last| last < place) {
                            heads.push(place);
                        }
                    }
                    if self.gives != Gives::Total {
                        return;
                    }
                    let mut begun = 0;
                    for s in own.max(1)..=offsets.segments {
                        let (begin, end) = (offsets.at(s - 1, self.n), offsets.at(s, self.n));
                        if end > first + count {
                            break;
                        }
                        while heads.get(begun).is_some_and(|&head| (head as usize) < end.saturating_sub(first)) {
                            begun += 1;
                        }
                        if end > first && begin < end {
                            ends.push((s - 1, begun));
                        }
                    }
                }
            }
        }
    }

    /// Folds what lies before the first head, and from the last one on.
    ///
    /// # Safety
    /// As [`SegmentedStep::find`], which has been here, and there is access to the input.
    unsafe fn fold_ends(&self, block: &mut Block, first: usize, count: usize) {
        let lead = block.heads.first().map_or(count, |&head| head as usize);
        block.lead.set_bytes(&self.identity);
        block.tail.set_bytes(&self.start);
        // SAFETY: the caller's promise; both are one aligned element.
        unsafe {
            self.op.fold(self.element(first), lead, block.lead.start());
            if let Some(&last) = block.heads.last() {
                self.op.fold(self.element(first + last as usize), count - last as usize, block.tail.start());
            }
        }
    }

    /// Adds a block to what the ones before have left: the total so far of the segment that goes on. Gives what it was.
    ///
    /// # Safety
    /// None but that operators are called on aligned elements, which slots are.
    unsafe fn hand_on(&self, open: &mut Slots, block: &mut Block) -> Slots {
        let before = open.clone();
        match block.heads.is_empty() {
            // SAFETY: both are one aligned element.
            true => unsafe { self.op.fold(block.lead.start(), 1, open.start()) },
            false => open.set(&block.tail),
        }
        before
    }

    /// Writes the totals of the segments that end in a block, of which the first goes on with the total `open`.
    ///
    /// # Safety
    /// As [`SegmentedStep::fold_ends`], and there is access to the output.
    unsafe fn write_totals(&self, block: &mut Block, first: usize, count: usize, mut open: Slots) {
        let Block { heads, ends, totals, lead, .. } = block;
        let pieces = heads.len();
        heads.push(count as u32);
        totals.resize((pieces * self.size).div_ceil(16), 0);
        let totals = totals.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise; there is room for a total from each head to the next, aligned for any element.
        unsafe {
            self.op.fold_runs(self.element(first), heads, totals);
            self.op.fold(lead.start(), 1, open.start());
            for &(segment, begun) in ends.iter() {
                let to = self.output.start().add(segment * self.size);
                if begun == 0 {
                    to.copy_from_nonoverlapping(open.start(), self.size);
                } else if self.start == self.identity {
                    to.copy_from_nonoverlapping(totals.add((begun - 1) * self.size), self.size);
                } else {
                    let mut total = Slots::of(&self.start);
                    self.op.fold(totals.add((begun - 1) * self.size), 1, total.start());
                    to.copy_from_nonoverlapping(total.start(), self.size);
                }
            }
        }
    }

    /// Scans a block, whose first segment goes on with the total `open`.
    ///
    /// # Safety
    /// As [`SegmentedStep::write_totals`].
    unsafe fn scan(&self, block: &mut Block, first: usize, count: usize, mut open: Slots, exclusive: bool) {
        let heads = block.heads.iter().map(|&head| head as usize);
        let ends = heads.clone().chain([count]);
        for (begin, end) in [0].into_iter().chain(heads.clone()).zip(ends) {
            // The first part goes on, and may have no elements.
            if begin < end {
                // SAFETY: the caller's promise. The part is within the block, and input and output are the same or apart.
                unsafe {
                    let to = self.output.start().add((first + begin) * self.size);
                    self.op.scan(self.element(first + begin), to, end - begin, open.start(), exclusive);
                }
            }
            open.set_bytes(&self.start);
        }
    }

    /// Where an element is.
    ///
    /// # Safety
    /// There are as many, or it is the end.
    unsafe fn element(&self, index: usize) -> *const u8 {
        // SAFETY: the caller's promise.
        unsafe { self.input.start().add(index * self.size).cast_const() }
    }
}

/// What a reduction or a scan of segments must give.
pub(crate) fn expect(request: &Request, Inputs { input, values, offsets }: Inputs<'_>) -> Option<Expected> {
    let Request::Segmented(r) = request else { return None };
    let (op, size) = (&r.op, r.op.element().bytes() as usize);
    let n = input.len() / size;
    let offsets = begins(&r.by, n, offsets.or(values).unwrap_or_default());
    let element = op.element().clone();
    Some(Expected::of(match r.gives {
        Gives::Total => {
            let end = offsets.last().map_or(0, |&end| end as usize);
            let starts = &offsets[..offsets.len().saturating_sub(1)];
            totals(op, r.start(), &input[..end * size], starts)
        }
        Gives::Prefixes(kind) => {
            // Before the first offset and from the last one on are segments too.
            let mut bounds = [&[0], &offsets[..], &[n as u32]].concat();
            bounds.dedup();
            let parts = bounds.windows(2).map(|part| &input[part[0] as usize * size..part[1] as usize * size]);
            Output { element, elements: scans(op, r.start(), parts, kind == ScanKind::Exclusive) }
        }
    }))
}

/// Where segments begin, and the end of the last one, by offsets or keys.
pub(crate) fn begins(by: &Segments, n: usize, beside: &[u8]) -> Vec<u32> {
    match by {
        Segments::Rows(width) => {
            let begins = (0..n as u64).step_by(*width as usize);
            begins.chain([n as u64]).map(|offset| offset as u32).collect()
        }
        Segments::Offsets { of, .. } => {
            Segments::offsets(of, beside).map(|offset| offset.min(n as u64) as u32).collect()
        }
        Segments::Keys(of) => {
            let size = of.bytes() as usize;
            let key = |i: usize| &beside[i * size..][..size];
            let heads = (0..n).filter(|&i| i == 0 || key(i) != key(i - 1));
            heads.chain([n]).map(|head| head as u32).collect()
        }
    }
}

/// The scan of each part.
fn scans<'a>(op: &Op, start: &[u8], parts: impl Iterator<Item = &'a [u8]>, exclusive: bool) -> Elements {
    let scanned = parts.map(|part| match Precise::of(op, start) {
        Some(running) => running.scan(part, exclusive),
        None => {
            let (mut elements, mut running) = (Aligned::of(part), Aligned::of(start));
            scan_in_place(op, &mut elements.bytes()[..part.len()], &mut running.bytes()[..start.len()], exclusive);
            Elements::Made(elements.bytes()[..part.len()].to_vec())
        }
    });
    scanned.reduce(Elements::then).unwrap_or(Elements::Made(vec![]))
}
