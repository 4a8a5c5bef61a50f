//! Reductions and scans of segments, in one pass. With each block a thread
//!
//! 1. finds where segments begin, and folds the elements before the first such place and from the last one on,
//! 2. learns the total so far of the segment that goes on into the block; it hands on the same of its own,
//! 3. writes the totals of the segments that end in the block, or scans its elements.
//!
//! Where a segment begins, the one before ends. A block has the begins at its elements, and the last block also those at the end.

use std::sync::Arc;

use rayon::ThreadPool;
use trifold_core::{Error, Gives, HostOp, KernelKey, Op, Request, Result, ScanKind, Segments};

use crate::chain::{READ_ALONE_BYTES, Slots};
use crate::heads::Heads;
use crate::memory::{Access, Region};
use crate::oracle::{Aligned, Elements, Expected, Inputs, Output, Precise, scan_in_place, totals};
use crate::relay::Relay;
use crate::step::{ALONE_BYTES, Arguments, Shared, Work, in_parts};

/// Bytes of a block that is reduced, which is read once.
const REDUCED_BYTES: usize = ALONE_BYTES;
/// Bytes of a block that is scanned, which is read again from the cache.
const SCANNED_BYTES: usize = ALONE_BYTES / 2;

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

    /// Those from one to before another, if they are aligned words that ascend within a part.
    ///
    /// # Safety
    /// There is access to the offsets for as long as these are used, and they are among them.
    unsafe fn words<'a>(&self, from: usize, until: usize, part: Part) -> Option<&'a [u32]> {
        let start = self.region.start().cast::<u32>();
        if self.size != 4 || !start.is_aligned() {
            return None;
        }
        // SAFETY: the caller's promise, and the start is aligned.
        let words = unsafe { std::slice::from_raw_parts(start.add(from), until - from) };
        let within = |word: Option<&u32>| word.is_none_or(|&word| (part.first..=part.end).contains(&(word as usize)));
        if part.end > i32::MAX as usize || !within(words.first()) || !within(words.last()) {
            return None;
        }
        // As signed numbers, and without a branch: compilers make vectors of that.
        let ascend = words.windows(2).fold(true, |ascend, pair| ascend & (pair[0] as i32 <= pair[1] as i32));
        ascend.then_some(words)
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
    /// Where segments begin, unless offsets in memory say it as they are.
    begins: Vec<u32>,
    lead: Slots,
    tail: Slots,
}

/// The elements of a block.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    end: usize,
    /// Whether there are none behind it.
    last: bool,
}

impl Work for SegmentedStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let inputs: Vec<&Region> = [Some(&self.input), self.by.region()].into_iter().flatten().collect();
        let _access = Access::to(&inputs, &[&self.output])?;
        let each = self.each();
        // Without an element there may be segments.
        let blocks = self.n.div_ceil(each).max(usize::from(self.gives == Gives::Total));
        let alone_bytes = if self.gives == Gives::Total { READ_ALONE_BYTES } else { ALONE_BYTES };
        let alone = self.n * self.size <= alone_bytes;
        let relay = Relay::new(Slots::of(&self.start));
        let begin = || {
            let (lead, tail) = (Slots::of(&self.identity), Slots::of(&self.start));
            Block { keys: Heads::default(), begins: vec![], lead, tail }
        };
        in_parts(pool, alone, blocks, begin, |block, number| {
            let _watch = relay.watch();
            let first = number * each;
            let part = Part { first, end: self.n.min(first + each), last: number + 1 == blocks };
            let Block { keys, begins, lead, tail } = block;
            // SAFETY: `bind` checked sizes, alignments, and that the output is the input or apart from all inputs. `_access` covers all, the
            // blocks are apart, and so are the segments that end in them.
            unsafe {
                let (before, begins) = self.by.begins(keys, begins, part, self.n);
                self.fold_ends(begins, part, lead, tail);
                let open = relay.take(number, |open| self.hand_on(open, begins, lead, tail));
                match (open, self.gives) {
                    (None, _) => {}
                    (Some(open), Gives::Total) => self.write_totals(begins, before, open, lead),
                    (Some(open), Gives::Prefixes(kind)) => {
                        self.scan(begins, part, open, kind == ScanKind::Exclusive);
                    }
                }
            }
        });
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(SegmentedStep { n, ..self.clone() })
    }
}

impl Bounds {
    /// Where segments begin in a block, in order, and how many begin before.
    ///
    /// # Safety
    /// There is access to offsets and keys, and the block is one of `n` elements.
    unsafe fn begins<'a>(&self, keys: &mut Heads, room: &'a mut Vec<u32>, part: Part, n: usize) -> (usize, &'a [u32]) {
        let Part { first, end, last } = part;
        room.clear();
        match self {
            Bounds::Rows(width) => {
                let before = first.div_ceil(*width);
                let until = if last { n.div_ceil(*width) + 1 } else { end.div_ceil(*width) };
                room.extend((before..until).map(|row| (row * width).min(n) as u32));
                (before, room)
            }
            Bounds::Keys { region, size } => {
                // SAFETY: `bind` found a key for each element, and the caller promises access.
                let heads = unsafe { keys.find(Shared(region.start()), first, end - first, *size) };
                room.extend(heads.iter().map(|head| first as u32 + head));
                (0, room)
            }
            // SAFETY: the caller's promise. A search for more ends no earlier, whatever the order of the offsets: both take the same way until
            // the one goes left and the other right.
            Bounds::Offsets(offsets) => unsafe {
                let before = offsets.first_from(first, n);
                let until = if last { offsets.segments + 1 } else { offsets.first_from(end, n) };
                if let Some(as_they_are) = offsets.words(before, until, part) {
                    return (before, as_they_are);
                }
                let mut begin = first;
                room.extend((before..until).map(|s| {
                    begin = offsets.at(s, n).max(begin).min(end);
                    begin as u32
                }));
                (before, room)
            },
        }
    }
}

impl SegmentedStep {
    /// Elements of a block.
    fn each(&self) -> usize {
        let bytes = if self.gives == Gives::Total { REDUCED_BYTES } else { SCANNED_BYTES };
        (bytes / self.size).max(1)
    }

    /// Folds what lies before the first begin, and from the last one on.
    ///
    /// # Safety
    /// There is access to the input. The begins ascend within the block, which is one of the elements'.
    unsafe fn fold_ends(&self, begins: &[u32], part: Part, lead: &mut Slots, tail: &mut Slots) {
        let begin = begins.first().map_or(part.end, |&begin| begin as usize);
        lead.set_bytes(&self.identity);
        // SAFETY: the caller's promise; both are one aligned element.
        unsafe {
            self.op.fold(self.element(part.first), begin - part.first, lead.start());
            if let Some(&last) = begins.last() {
                tail.set_bytes(&self.start);
                self.op.fold(self.element(last as usize), part.end - last as usize, tail.start());
            }
        }
    }

    /// Adds a block to what the ones before have left: the total so far of the segment that goes on. Gives what it was.
    ///
    /// # Safety
    /// None but that operators are called on aligned elements, which slots are.
    unsafe fn hand_on(&self, open: &mut Slots, begins: &[u32], lead: &mut Slots, tail: &Slots) -> Slots {
        let before = open.clone();
        match begins.is_empty() {
            // SAFETY: both are one aligned element.
            true => unsafe { self.op.fold(lead.start(), 1, open.start()) },
            false => open.set(tail),
        }
        before
    }

    /// Writes the totals of the segments that end in a block. The first has the total `open` before it and `lead` in it, and the
    /// others begin in it.
    ///
    /// # Safety
    /// As [`SegmentedStep::fold_ends`], and there is access to the output. So many segments begin `before`, and no other block has
    /// these begins.
    unsafe fn write_totals(&self, begins: &[u32], before: usize, mut open: Slots, lead: &mut Slots) {
        let Some(last) = begins.len().checked_sub(1) else { return };
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(segment) = before.checked_sub(1) {
                self.op.fold(lead.start(), 1, open.start());
                self.total(segment).copy_from_nonoverlapping(open.start(), self.size);
            }
            if last == 0 {
                return;
            }
            self.op.fold_runs(self.element(0), begins, self.total(before));
            if self.start == self.identity {
                return;
            }
            for (segment, bounds) in (before..).zip(begins.windows(2)) {
                open.set_bytes(&self.start);
                if bounds[0] < bounds[1] {
                    self.op.fold(self.total(segment), 1, open.start());
                }
                self.total(segment).copy_from_nonoverlapping(open.start(), self.size);
            }
        }
    }

    /// Scans a block, whose first segment goes on with the total `open`.
    ///
    /// # Safety
    /// As [`SegmentedStep::fold_ends`], there is access to the output, and the block is no other thread's.
    unsafe fn scan(&self, begins: &[u32], part: Part, mut open: Slots, exclusive: bool) {
        let (input, output) = (self.input.start(), self.output.start());
        let lead = [part.first as u32, begins.first().map_or(part.end as u32, |&begin| begin)];
        // SAFETY: the caller's promise. Input and output are the same or apart.
        unsafe {
            self.op.scan_runs(input, output, &lead, open.start(), exclusive);
            open.set_bytes(&self.start);
            self.op.scan_runs(input, output, begins, open.start(), exclusive);
            if let Some(&last) = begins.last() {
                self.op.scan_runs(input, output, &[last, part.end as u32], open.start(), exclusive);
            }
        }
    }

    /// Where a segment's total is.
    ///
    /// # Safety
    /// There is such a segment.
    unsafe fn total(&self, segment: usize) -> *mut u8 {
        // SAFETY: the caller's promise, and `bind` found room for a total of each.
        unsafe { self.output.start().add(segment * self.size) }
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
