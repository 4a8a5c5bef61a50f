//! One invocation adds up what its workgroup loaded.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::{Algorithm, Needs};

/// Any operator: elements keep their order.
pub static ONE_INVOCATION: Algorithm = Algorithm {
    needs: Needs::WORKGROUPS,
    // From left to right: no tree, but a chain.
    ..rung("one_invocation", "reduce-one-invocation.md", |planner, request| {
        Ok(RUNG.work(planner, request)?.depth(request.n))
    })
};

pub(super) static KERNEL: Kernel = kernel("literature/reduce/one_invocation", "reduce_one_invocation");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(1), subgroups: false };
