//! Reductions: by one launch, and the rungs of the literature's ladder.

mod first_add_on_load;
mod grid_stride;
mod interleaved_modulo;
mod interleaved_strided;
mod ladder;
mod parallel;
mod sequential;
pub(crate) mod single_pass;
mod subgroup;
mod unroll_last_subgroup;
mod unrolled;

pub use first_add_on_load::FIRST_ADD_ON_LOAD;
pub use grid_stride::GRID_STRIDE;
pub use interleaved_modulo::INTERLEAVED_MODULO;
pub use interleaved_strided::INTERLEAVED_STRIDED;
pub use parallel::PARALLEL;
pub use sequential::SEQUENTIAL;
pub use single_pass::SINGLE_PASS;
pub use subgroup::SUBGROUP;
pub use unroll_last_subgroup::UNROLL_LAST_SUBGROUP;
pub use unrolled::UNROLLED;

use super::Algorithm;
use crate::Kernel;

/// Those of the primitive: the planner's choices, then the ladder from the bottom up.
pub(crate) static ALL: &[&Algorithm] = &[
    &PARALLEL,
    &SINGLE_PASS,
    &INTERLEAVED_MODULO,
    &INTERLEAVED_STRIDED,
    &SEQUENTIAL,
    &FIRST_ADD_ON_LOAD,
    &UNROLL_LAST_SUBGROUP,
    &UNROLLED,
    &GRID_STRIDE,
    &SUBGROUP,
];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[
    &single_pass::KERNEL,
    &interleaved_modulo::KERNEL,
    &interleaved_strided::KERNEL,
    &sequential::KERNEL,
    &first_add_on_load::KERNEL,
    &unroll_last_subgroup::KERNEL,
    &unrolled::KERNEL,
    &grid_stride::KERNEL,
    &subgroup::KERNEL,
    &parallel::KERNEL,
];
