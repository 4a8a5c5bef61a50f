//! Trifold's kernels: scan, reduce and sort in WGSL, OpenCL C and CUDA C.
//!
//! A kernel is a body (`scan/lookback.wgsl`, `.cl`, `.cu`) behind the blocks that it names and a prelude that gives
//! the three languages one vocabulary. [`assemble`] puts a generated header before them: the constants, the element,
//! the operator and the parameters. Arguments and parameters stand once, with the [`Kernel`]: bindings in
//! WGSL and signatures in C are made from them.

mod assemble;
mod emitter;
mod lines;
mod narrow;
mod params;
mod route;
mod stores;
mod texts;
mod unroll;
mod view;

pub use assemble::{Assembled, assemble};
pub use params::{Packed, ParamsLayout, residue};
pub use texts::{text, texts};

use trifold_core::{Kernel, Language, algorithm};

/// Every kernel that has texts, primitive by primitive.
pub fn catalogue() -> impl Iterator<Item = &'static Kernel> {
    algorithm::kernels().filter(|kernel| kernel.only != Some(Language::Host))
}
