//! Scan, reduce and sort on any GPU: CUDA, Vulkan, Metal, DX12, GL and OpenCL, and on the CPU.
//!
//! Each algorithm is written in three kernel languages (WGSL, OpenCL C, CUDA C), and one host library plans, compiles
//! and runs them through [`wgpu`], [`opencl`] or [`cuda`]. [`cpu`] needs no driver at all. Drivers are found at run
//! time: a program that uses this crate links none of them and starts on any machine.
//!
//! ```
//! # #[cfg(feature = "cpu")]
//! # fn main() -> trifold::Result<()> {
//! use trifold::prelude::*;
//!
//! let device = trifold::cpu::Cpu::new()?;
//! let input = device.upload(&[3u32, 1, 4, 1, 5])?;
//! let output = device.alloc(5 * 4)?;
//! let (from, to) = (device.span(&input).elements::<u32>(0, 5)?, device.span(&output).elements::<u32>(0, 5)?);
//!
//! device.inclusive_scan::<u32, Sum>(&from, &to)?;
//! assert_eq!(device.download::<u32>(&to)?, [3, 4, 8, 9, 14]);
//! device.sort_keys::<u32>(Order::Descending, &from, &to)?;
//! assert_eq!(device.download::<u32>(&to)?, [5, 4, 3, 1, 1]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "cpu"))]
//! # fn main() {}
//! ```
//!
//! The same calls run on every backend, since each implements [`Backend`], [`Scan`], [`Reduce`], [`Sort`], [`Select`] and [`ReduceByKey`]. A call
//! that runs often is prepared once ([`Scan::prepare_scan`] and its siblings) and bound to its buffers; running it then
//! compiles nothing, and on a GPU allocates nothing. A program that chooses its device at run time asks [`devices`] and gets an
//! [`AnyBackend`]; one that has a device, stream or queue of its own gives it to `new` of [`wgpu::Wgpu`], [`cuda::Cuda`] or
//! [`opencl::OpenCl`], and its buffers to `import`.
//!
//! Compiled kernels are kept on disk, in a folder of the user's that `TRIFOLD_CACHE` names otherwise, or `off` turns off; see
//! [`Cache`].
//!
//! # Features
//!
//! `cpu`, `wgpu`, `opencl` and `cuda`, one for each backend; all are on by default, and each builds alone.

mod discover;

pub use discover::{Found, Missing, devices, discover};
#[doc(inline)]
pub use trifold_cache::Cache;
#[doc(inline)]
pub use trifold_core::primitive::*;
#[doc(inline)]
pub use trifold_core::{
    Access, Algorithm, And, AnyBackend, AnyBuffer, AnyCall, AnySpan, AnySpans, Argument, Backend, Bound, Builtin,
    Candidates, Caps, Command, DeviceKind, Element, ElementType, Error, Fault, Field, HostOp, Kernel, KernelKey, Key,
    Language, Launch, Layout, MAX_ELEMENTS, Max, Min, Monoid, Number, Op, Options, Or, Param, Plan, Prepared, Product,
    Region, Result, Scalar, ScalarKind, Slot, Span, Spans, SpansOf, Step, SubgroupSource, Subgroups, Sum, Transfer,
    Tuning, TuningRow, TuningTable, Waiting, Xor, algorithm, block_on, bytemuck, element, for_scalar, plan_for,
    planner, primitive, renamed, scratch_bytes,
};

#[cfg(feature = "cpu")]
#[doc(inline)]
pub use trifold_cpu as cpu;
#[cfg(feature = "cuda")]
#[doc(inline)]
pub use trifold_cuda as cuda;
#[cfg(feature = "opencl")]
#[doc(inline)]
pub use trifold_opencl as opencl;
#[cfg(feature = "wgpu")]
#[doc(inline)]
pub use trifold_wgpu as wgpu;

/// What a program that scans, reduces and sorts uses: the traits, the operators, and the types of their arguments.
pub mod prelude {
    pub use trifold_core::primitive::prelude::*;

    pub use crate::{And, Backend, Element, Key, Layout, Max, Min, Monoid, Or, Product, Spans, Sum, Transfer, Xor};
}
