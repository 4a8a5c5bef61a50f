//! Passes of one bit. Blelloch 1990; Harris, Sengupta and Owens, GPU Gems 3, chapter 39.

use super::sort;
use super::upsweep_downsweep::by_digits;
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{Result, SortRequest};

/// One bit a pass.
pub static SPLIT: Algorithm = Algorithm {
    is_reference: true,
    ..sort("split", "sort-split.md", plan, |r, _| r.moved(r.places(BITS), r.places(BITS)))
};

const BITS: u32 = 1;

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    by_digits(planner, &SPLIT, request, BITS)
}
