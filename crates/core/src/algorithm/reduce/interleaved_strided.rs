//! Working invocations are neighbours: no divergence, no modulo.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// Any operator: elements keep their order.
pub static INTERLEAVED_STRIDED: Algorithm = Algorithm {
    needs: Needs::WORKGROUPS,
    ..rung("interleaved_strided", "reduce-interleaved-strided.md", |planner, request| RUNG.work(planner, request))
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/interleaved_strided", "reduce_interleaved_strided");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(1), subgroups: false };
