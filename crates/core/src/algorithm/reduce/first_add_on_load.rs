//! Two elements an invocation: nobody only loads.

use super::ladder::{Rung, Share, rung};
use crate::algorithm::Algorithm;

/// Half the workgroups.
pub static FIRST_ADD_ON_LOAD: Algorithm =
    rung("first_add_on_load", "reduce-first-add-on-load.md", |planner, request| KERNEL.work(planner, request));

const KERNEL: Rung =
    Rung { kernel: "literature/reduce/first_add_on_load", share: Share::Elements(2), subgroups: false };
