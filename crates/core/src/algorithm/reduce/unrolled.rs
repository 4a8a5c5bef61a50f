//! The other steps without a loop.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// Without loops.
pub static UNROLLED: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("unrolled", "reduce-unrolled.md", |planner, request| RUNG.work(planner, request))
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/unrolled", "reduce_unrolled");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(2), subgroups: true };
