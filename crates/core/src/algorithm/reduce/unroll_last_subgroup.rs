//! The last steps are shuffles within a subgroup.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::{Algorithm, Needs};

/// Without barriers at the end.
pub static UNROLL_LAST_SUBGROUP: Algorithm = Algorithm {
    needs: Needs { commuting: true, ..Needs::SUBGROUPS },
    ..rung("unroll_last_subgroup", "reduce-unroll-last-subgroup.md", |planner, request| KERNEL.work(planner, request))
};

const KERNEL: Rung =
    Rung { kernel: "literature/reduce/unroll_last_subgroup", share: Share::Elements(2), subgroups: true };
