//! Passes of four bits. Merrill and Grimshaw 2011.

use super::sort;
use super::upsweep_downsweep::by_digits;
use crate::algorithm::{Algorithm, Work};
use crate::planner::Planner;
use crate::{Result, SortRequest};

/// Digits of four bits.
pub static UPSWEEP_DOWNSWEEP_4BIT: Algorithm = Algorithm {
    is_reference: true,
    ..sort("upsweep_downsweep_4bit", "sort-upsweep-downsweep.md", plan, |r, _| r.moved(r.places(BITS), r.places(BITS)))
};

const BITS: u32 = 4;

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    by_digits(planner, &UPSWEEP_DOWNSWEEP_4BIT, request, BITS)
}
