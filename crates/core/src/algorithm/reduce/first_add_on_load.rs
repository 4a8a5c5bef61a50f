//! Two elements an invocation: nobody only loads.

use super::ladder::{Rung, Share, kernel, rung};
use crate::Kernel;
use crate::algorithm::Algorithm;

/// Half the workgroups.
pub static FIRST_ADD_ON_LOAD: Algorithm =
    rung("first_add_on_load", "reduce-first-add-on-load.md", |planner, request| RUNG.work(planner, request));

pub(super) static KERNEL: Kernel = kernel("literature/reduce/first_add_on_load", "reduce_first_add_on_load");
const RUNG: Rung = Rung { kernel: &KERNEL, share: Share::Elements(2), subgroups: false };
