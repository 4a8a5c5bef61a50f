//! Trifold's kernels: scan, reduce and sort in WGSL, OpenCL C and CUDA C.
//!
//! A kernel is a body (`scan/lookback.wgsl`, `.cl`, `.cu`) behind the blocks that it names and a prelude that gives
//! the three languages one vocabulary. [`assemble`] puts a generated header before them: the constants, the element,
//! the operator and the parameters. [`CATALOGUE`] lists every kernel with its arguments; the same list drives wgpu's
//! bind-group layouts and the argument order in OpenCL and CUDA.

mod assemble;
mod catalogue;
mod params;
mod texts;
mod unroll;
mod widen;

pub use assemble::{Assembled, assemble};
pub use catalogue::{Access, Argument, CATALOGUE, Entry, in_order};
pub use params::{ParamsLayout, residue};
pub use texts::{text, texts};
