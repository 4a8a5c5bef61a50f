//! Many elements an invocation, one tree in the end.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::Algorithm;

/// Two launches.
pub static GRID_STRIDE: Algorithm =
    rung("grid_stride", "reduce-grid-stride.md", |planner, request| RUNG.work(planner, request));

pub(super) static KERNEL: Kernel = kernel("literature/reduce/grid_stride", "reduce_grid_stride");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Stride, subgroups: false };
