//! The last steps are shuffles within a subgroup.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// Without barriers at the end.
pub static UNROLL_LAST_SUBGROUP: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("unroll_last_subgroup", "reduce-unroll-last-subgroup.md", |planner, request| RUNG.work(planner, request))
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/unroll_last_subgroup", "reduce_unroll_last_subgroup");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(2), subgroups: true };
