//! The same, with a tree of shuffles.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::{Algorithm, Needs};

/// One barrier.
pub static SUBGROUP: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("subgroup", "reduce-subgroup.md", |planner, request| KERNEL.work(planner, request))
};

const KERNEL: Rung = Rung { kernel: "literature/reduce/subgroup", share: Share::Stride, subgroups: true };
