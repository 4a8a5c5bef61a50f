//! Working invocations are neighbours: no divergence, no modulo.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::{Algorithm, Needs};

/// Any operator: elements keep their order.
pub static INTERLEAVED_STRIDED: Algorithm = Algorithm {
    needs: Needs::WORKGROUPS,
    ..rung("interleaved_strided", "reduce-interleaved-strided.md", |planner, request| KERNEL.work(planner, request))
};

const KERNEL: Rung =
    Rung { kernel: "literature/reduce/interleaved_strided", share: Share::Elements(1), subgroups: false };
