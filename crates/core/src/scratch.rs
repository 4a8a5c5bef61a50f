//! Working memory: the regions that a plan divides it into, and the buffers that hold them.

use crate::{Backend, Region, Result, Slot, Span};

/// Where every API can bind, OpenCL's sub-buffers included.
pub(crate) const ALIGNMENT: u64 = 1024;

/// A plan's regions of working memory, each at a multiple of [`ALIGNMENT`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scratch {
    regions: Vec<Region>,
    /// Whether a region must be as the run before left it.
    kept: Vec<bool>,
    bytes: u64,
}

impl Scratch {
    /// Memory that is garbage when a run begins and when it ends.
    pub(crate) fn take(&mut self, bytes: u64) -> Region {
        self.push(bytes, false)
    }

    /// Memory that a run needs as the one before left it.
    pub(crate) fn keep(&mut self, bytes: u64) -> Region {
        self.push(bytes, true)
    }

    /// The regions that are kept, or the others.
    pub(crate) fn regions(&self, kept: bool) -> impl Iterator<Item = &Region> {
        self.regions.iter().zip(&self.kept).filter(move |(_, own)| **own == kept).map(|(region, _)| region)
    }

    fn push(&mut self, bytes: u64, kept: bool) -> Region {
        let region = Region { slot: Slot::Scratch, offset: self.bytes, bytes };
        if bytes > 0 {
            self.regions.push(region);
            self.kept.push(kept);
        }
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        region
    }

    /// Takes another's regions too. Gives where the first of them begins.
    pub(crate) fn append(&mut self, other: &Scratch) -> u64 {
        let base = self.bytes;
        for (region, kept) in other.regions.iter().zip(&other.kept) {
            self.push(region.bytes, *kept);
        }
        base
    }

    /// All regions' bytes, and those between them.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Spans that are a plan's scratch together.
pub(crate) struct Pieces<B: Backend> {
    /// By where in the scratch each begins.
    spans: Vec<(u64, Span<B>)>,
    /// Whether each is for one region, and may be larger than that.
    apart: bool,
}

impl<B: Backend> Pieces<B> {
    /// A span for each region, with room for it at least, from where in the plan's scratch the region begins.
    pub(crate) fn of(spans: Vec<(u64, Span<B>)>) -> Self {
        Pieces { spans, apart: true }
    }

    /// Memory of a call's own: one buffer, or one for each region where the backend wants that.
    pub(crate) fn new(backend: &B, scratch: &Scratch) -> Result<Self> {
        let whole = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes };
        let places = match scratch.regions.as_slice() {
            regions if regions.is_empty() || backend.divides_scratch() => regions,
            _ => &[whole],
        };
        let buffers = places.iter().map(|place| Ok((place.offset, backend.allocate(place.bytes)?)));
        Ok(Pieces { spans: buffers.collect::<Result<_>>()?, apart: false })
    }

    /// Of a plan that needs none.
    pub(crate) fn none() -> Self {
        Pieces { spans: vec![], apart: false }
    }

    /// One span for all regions.
    pub(crate) fn whole(span: Span<B>) -> Self {
        Pieces { spans: vec![(0, span)], apart: false }
    }

    /// The pieces.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Span<B>> {
        self.spans.iter().map(|(_, span)| span)
    }

    /// The span of a region, if one piece has all of it. Of a larger piece that no other region has it is all, as NVIDIA's OpenCL takes parts of a
    /// buffer badly.
    pub(crate) fn region(&self, region: &Region) -> Result<Option<Span<B>>> {
        if let Some((_, span)) = self.spans.iter().find(|(start, _)| self.apart && *start == region.offset) {
            return Ok(Some(span.clone()));
        }
        let has =
            |start: u64, span: &Span<B>| start <= region.offset && region.offset + region.bytes <= start + span.bytes();
        // A piece may be larger than its region, and seem to have those behind it.
        let piece = self.spans.iter().filter(|(start, span)| has(*start, span)).max_by_key(|(start, _)| *start);
        piece.map(|(start, span)| span.slice(region.offset - start, region.bytes)).transpose()
    }

    /// What the pieces have of a region, which may be several.
    pub(crate) fn parts(&self, region: &Region) -> Result<Vec<Span<B>>> {
        let end = region.offset + region.bytes;
        let common = self.spans.iter().filter_map(|(start, span)| {
            let (from, to) = (region.offset.max(*start), end.min(start + span.bytes()));
            (from < to).then(|| span.slice(from - start, to - from))
        });
        common.collect()
    }
}
