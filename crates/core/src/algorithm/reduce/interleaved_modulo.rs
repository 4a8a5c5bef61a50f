//! A tree in workgroup memory: of neighbours one works, found by a modulo.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// Any operator: elements keep their order.
pub static INTERLEAVED_MODULO: Algorithm = Algorithm {
    needs: Needs::WORKGROUPS,
    ..rung("interleaved_modulo", "reduce-interleaved-modulo.md", |planner, request| RUNG.work(planner, request))
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/interleaved_modulo", "reduce_interleaved_modulo");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(1), subgroups: false };
