//! So are the words they work on: no bank conflicts.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::Algorithm;

/// The first whose operator must commute.
pub static SEQUENTIAL: Algorithm =
    rung("sequential", "reduce-sequential.md", |planner, request| KERNEL.work(planner, request));

const KERNEL: Rung = Rung { kernel: "literature/reduce/sequential", share: Share::Elements(1), subgroups: false };
