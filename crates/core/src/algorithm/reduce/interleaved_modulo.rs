//! A tree in workgroup memory: of neighbours one works, found by a modulo.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::{Algorithm, Needs};

/// Any operator: elements keep their order.
pub static INTERLEAVED_MODULO: Algorithm = Algorithm {
    needs: Needs::WORKGROUPS,
    ..rung("interleaved_modulo", "reduce-interleaved-modulo.md", |planner, request| KERNEL.work(planner, request))
};

const KERNEL: Rung =
    Rung { kernel: "literature/reduce/interleaved_modulo", share: Share::Elements(1), subgroups: false };
