//! So are the words they work on: no bank conflicts.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::Algorithm;

/// The first whose operator must commute.
pub static SEQUENTIAL: Algorithm =
    rung("sequential", "reduce-sequential.md", |planner, request| RUNG.work(planner, request));

pub(super) static KERNEL: Kernel = kernel("literature/reduce/sequential", "reduce_sequential");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(1), subgroups: false };
