//! The same, with a tree of shuffles.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// One barrier.
pub static SUBGROUP: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("subgroup", "reduce-subgroup.md", |planner, request| RUNG.work(planner, request))
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/subgroup", "reduce_subgroup");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Stride, subgroups: true };
