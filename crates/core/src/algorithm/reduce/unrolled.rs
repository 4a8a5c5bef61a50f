//! The other steps without a loop.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::{Algorithm, Needs};

/// Without loops.
pub static UNROLLED: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("unrolled", "reduce-unrolled.md", |planner, request| KERNEL.work(planner, request))
};

const KERNEL: Rung = Rung { kernel: "literature/reduce/unrolled", share: Share::Elements(2), subgroups: true };
