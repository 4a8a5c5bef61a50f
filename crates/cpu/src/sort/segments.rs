//! Sorts of segments: a thread takes some segments at a time, and all threads those that are long.

use std::ops::Range;

use rayon::ThreadPool;
use trifold_core::{KernelKey, Result};

use super::{Bits, KeyOrder, SortStep, Values, word_bytes};
use crate::memory::Region;
use crate::segmented::Offsets;
use crate::step::{Arguments, in_parts};

/// Keys of a segment from which on all threads sort it together.
const LONG: usize = 1 << 16;
/// Up to so many keys, one thread sorts as soon as two.
const ALONE: usize = 8 << 10;
/// Keys that a thread takes at a time, about.
const PART: usize = 16 << 10;

/// Where segments begin.
#[derive(Clone)]
pub(super) enum Segments {
    Rows(usize),
    Offsets(Offsets),
}

/// The segments of a run, one behind the other.
enum Cuts {
    Rows {
        width: usize,
        n: usize,
    },
    /// Where they begin, and where the last ends.
    At(Vec<u32>),
}

impl Segments {
    /// None if all keys are sorted.
    pub(super) fn bind(key: &KernelKey, arguments: &Arguments<'_>) -> Result<Option<Segments>> {
        Ok(match (key.constant("OFFSET_WORDS"), arguments.word("width")) {
            (Some(words), _) => Some(Segments::Offsets(Offsets::bind(arguments, "offsets", 4 * words as usize)?)),
            (None, Ok(width)) => Some(Segments::Rows((width as usize).max(1))),
            (None, Err(_)) => None,
        })
    }

    /// The memory that says where they begin.
    pub(super) fn region(&self) -> Option<&Region> {
        match self {
            Segments::Rows(_) => None,
            Segments::Offsets(offsets) => Some(offsets.region()),
        }
    }

    /// Those of `n` keys: before the first offset and from the last on there are segments too. Where offsets fall, segments are empty.
    ///
    /// # Safety
    /// There is access to the offsets.
    unsafe fn cuts(&self, n: usize) -> Result<Cuts> {
        let offsets = match self {
            Segments::Rows(width) => return Ok(Cuts::Rows { width: *width, n }),
            Segments::Offsets(offsets) => offsets,
        };
        let mut cuts = super::reserve(offsets.segments + 3)?;
        cuts.push(0);
        let mut most = 0;
        for s in 0..=offsets.segments {
            // SAFETY: there is one offset more than segments.
            most = most.max(unsafe { offsets.at(s, n) } as u32);
            cuts.push(most);
        }
        cuts.push(n as u32);
        Ok(Cuts::At(cuts))
    }
}

impl Cuts {
    fn count(&self) -> usize {
        match self {
            Cuts::Rows { width, n } => n.div_ceil(*width),
            Cuts::At(cuts) => cuts.len() - 1,
        }
    }

    fn range(&self, segment: usize) -> Range<usize> {
        match self {
            Cuts::Rows { width, n } => segment * width..((segment + 1) * width).min(*n),
            Cuts::At(cuts) => cuts[segment] as usize..cuts[segment + 1] as usize,
        }
    }
}

impl SortStep {
    /// Sorts each segment.
    ///
    /// # Safety
    /// The caller holds access to the regions.
    pub(super) unsafe fn sort_segments(&self, pool: &ThreadPool, by: &Segments) -> Result<()> {
        // SAFETY: the caller's promise.
        let cuts = unsafe { by.cuts(self.n)? };
        // SAFETY: as above; each function is for keys of the type that it reads.
        unsafe {
            match (&self.values, self.whole(), self.image.bytes) {
                (None, Some(order), 1) => self.each_short(pool, &cuts, || (), |(), at| self.words::<u8>(order, at)),
                (None, Some(order), 2) => self.each_short(pool, &cuts, || (), |(), at| self.words::<u16>(order, at)),
                (None, Some(order), 4) => self.each_short(pool, &cuts, || (), |(), at| self.words::<u32>(order, at)),
                (None, Some(order), 8) => self.each_short(pool, &cuts, || (), |(), at| self.words::<u64>(order, at)),
                (_, Some(order), 1) => self.by_image(pool, &cuts, |key| key.read().encode(order)),
                (_, Some(order), 2) => self.by_image(pool, &cuts, |key| key.cast::<u16>().read().encode(order)),
                (_, Some(order), 4) => self.by_image(pool, &cuts, |key| key.cast::<u32>().read().encode(order)),
                (_, Some(order), 8) => self.by_image(pool, &cuts, |key| key.cast::<u64>().read().encode(order)),
                (_, _, bytes) => self.by_image(pool, &cuts, |key| {
                    let key = std::slice::from_raw_parts(key, bytes as usize);
                    self.image.compared(self.image.of(key))
                }),
            }
        }
        for range in (0..cuts.count()).map(|segment| cuts.range(segment)).filter(|range| range.len() >= LONG) {
            // SAFETY: the caller's promise; the range is of keys.
            unsafe { self.part(range)?.sort_all(pool)? };
        }
        Ok(())
    }

    /// Works on each segment that is not long, which no other thread does.
    fn each_short<S>(
        &self,
        pool: &ThreadPool,
        cuts: &Cuts,
        room: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Range<usize>) + Sync,
    ) {
        let count = cuts.count();
        let each = (count * PART).div_ceil(self.n.max(1)).clamp(1, count.max(1));
        let alone = self.n <= ALONE;
        in_parts(pool, alone, count.div_ceil(each), room, |room, i| {
            let ranges = (i * each..((i + 1) * each).min(count)).map(|segment| cuts.range(segment));
            ranges.filter(|range| !range.is_empty() && range.len() < LONG).for_each(|range| work(room, range));
        });
    }

    /// Sorts keys alone.
    ///
    /// # Safety
    /// The caller holds access to the regions, nobody else works on the range, and `K` is as wide as the keys.
    unsafe fn words<K: Bits>(&self, order: KeyOrder, range: Range<usize>) {
        let at = |region: &Region| region.start().cast::<K>().wrapping_add(range.start);
        // SAFETY: `bind` checked length and alignment, and that the output is apart from the input or the same.
        let output = unsafe {
            if !self.input.is(&self.output) {
                at(&self.output).copy_from_nonoverlapping(at(&self.input), range.len());
            }
            std::slice::from_raw_parts_mut(at(&self.output), range.len())
        };
        if order.is_plain() {
            return output.sort_unstable();
        }
        output.iter_mut().for_each(|key| *key = key.encode(order));
        output.sort_unstable();
        output.iter_mut().for_each(|key| *key = key.decode(order));
    }

    /// Sorts keys and values by images of the keys and their places.
    ///
    /// # Safety
    /// The caller holds access to the regions, and `load` is for keys of the input's type.
    unsafe fn by_image<I: Ord + Copy>(&self, pool: &ThreadPool, cuts: &Cuts, load: impl Fn(*const u8) -> I + Sync) {
        let size = self.image.bytes as usize;
        let room = || (Vec::<(I, u32)>::new(), Vec::<u8>::new());
        self.each_short(pool, cuts, room, |(images, moved), range| {
            images.clear();
            // SAFETY: the range is of keys.
            let key = |i: usize| unsafe { self.input.start().add((range.start + i) * size) };
            images.extend((0..range.len()).map(|i| (load(key(i)), i as u32)));
            images.sort_unstable();
            let mut move_all = |from: &Region, to: &Region, size: usize| {
                moved.clear();
                for (_, i) in images.iter() {
                    // SAFETY: `bind` checked lengths, and nobody else writes to the range.
                    let element = unsafe { from.start().add((range.start + *i as usize) * size) };
                    // SAFETY: as above.
                    moved.extend_from_slice(unsafe { std::slice::from_raw_parts(element, size) });
                }
                // SAFETY: as above.
                unsafe { to.start().add(range.start * size).copy_from_nonoverlapping(moved.as_ptr(), moved.len()) };
            };
            match &self.values {
                Some(Values { input: Some(input), output, bytes, .. }) => move_all(input, output, *bytes),
                Some(Values { output, .. }) => {
                    let places = output.start().cast::<u32>().wrapping_add(range.start);
                    // SAFETY: an output of places has a word for each, aligned for it.
                    let places = unsafe { std::slice::from_raw_parts_mut(places, range.len()) };
                    places.iter_mut().zip(images.iter()).for_each(|(place, (_, i))| *place = *i);
                }
                None => {}
            }
            move_all(&self.input, &self.output, size);
        });
    }

    /// A sort of a part of the keys as if they were all.
    fn part(&self, range: Range<usize>) -> Result<SortStep> {
        let of = |region: &Region, size: usize| region.part(range.start * size, range.len() * size);
        let size = self.image.bytes as usize;
        let values = self.values.as_ref().map(|values| {
            Result::Ok(Values {
                bytes: values.bytes,
                input: values.input.as_ref().map(|input| of(input, values.bytes)).transpose()?,
                output: of(&values.output, values.bytes)?,
            })
        });
        let word = word_bytes(size, self.values.is_some());
        let words = self.words.as_ref().map(|[words, spare]| Result::Ok([of(words, word)?, of(spare, word)?]));
        Ok(SortStep {
            n: range.len(),
            image: self.image.clone(),
            order: self.order,
            input: of(&self.input, size)?,
            output: of(&self.output, size)?,
            values: values.transpose()?,
            words: words.transpose()?,
            segments: None,
        })
    }
}
