//! Segments that move between the runs of one call, whose tiles keep what they told each other.

use std::fmt::Debug;

use trifold_core::algorithm::segmented;
use trifold_core::{Backend, Call, Element, Error, Fault, Monoid, Options, Scan, Spans, Sum, Transfer};
use trifold_cpu::oracle;

use super::expect;
use crate::case::Failure;

/// Elements of several tiles.
const MANY: usize = 20_000;
/// Elements of a segment: most tiles begin within one.
const LENGTH: usize = 17;
/// Runs after which a tile's state has the same epoch again.
const EPOCHS: usize = 256;

/// In the first run no segment begins in most tiles, which publish aggregates. In the next 256 some begin in each, which know their prefixes
/// at once. In the last of these the epoch is the first run's again: an aggregate that is left from then must not be read. Every second tile
/// is late, so that others look before it publishes. Where a state is one word, as that of `u32` in CUDA, nothing can be left.
pub(super) fn moving<B: Backend + Scan>(gpu: &B) -> Result<(), Failure> {
    of::<u32, B>(gpu, |i| i)?;
    if gpu.caps().int64 { of::<u64, B>(gpu, u64::from) } else { Ok(()) }
}

fn of<T: Element + PartialEq + Debug, B: Backend + Scan>(gpu: &B, element: fn(u32) -> T) -> Result<(), Failure>
where
    Sum: Monoid<T>,
{
    let numbers: Vec<T> = (0..MANY as u32).map(element).collect();
    let prefixes = |segment| oracle::inclusive_scan(&Sum, Sum.identity(), segment);
    let wanted: Vec<T> = numbers.chunks(LENGTH).flat_map(prefixes).collect();
    let short: Vec<u32> = (0..=MANY.div_ceil(LENGTH)).map(|s| (s * LENGTH).min(MANY) as u32).collect();
    let whole: Vec<u32> = short.iter().map(|offset| if *offset == 0 { 0 } else { MANY as u32 }).collect();
    let (x, offsets, out) = (gpu.upload(&numbers)?, gpu.upload(&whole)?, gpu.alloc(MANY)?);
    let options = Options::by(&segmented::LOOKBACK).with(|options| options.fault = Fault::Late(2));
    let placed = gpu.inclusive_scan(&x, Sum).segments(&offsets).to(&out);
    let spans = Spans { offsets: Some(offsets.span().clone()), ..Spans::new(x.span(), out.span()) };
    // Nobody tells the aggregates of late tiles in their place.
    let mut tuning = gpu.tuning();
    tuning.set("spin_limit", 1 << 20)?;
    let call = match Call::with_tuning(gpu, placed.request(), &spans, options, &tuning) {
        Err(Error::Unsupported(_)) => return Ok(()),
        call => call?,
    };
    call.run()?;
    offsets.write(&short)?;
    for _ in 0..EPOCHS {
        call.run()?;
    }
    expect(&format!("segments of {} that moved 256 runs ago", T::TYPE.name()), out.read()?, wanted)
}
