//! Many elements an invocation, one tree in the end.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::Algorithm;

/// Two launches.
pub static GRID_STRIDE: Algorithm =
    rung("grid_stride", "reduce-grid-stride.md", |planner, request| KERNEL.work(planner, request));

const KERNEL: Rung = Rung { kernel: "literature/reduce/grid_stride", share: Share::Stride, subgroups: false };
