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
//! let gpu = trifold::open()?;
//! let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
//!
//! assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [3, 4, 8, 9, 14]);
//! assert_eq!(gpu.reduce(&x, Max).value()?, 5);
//! gpu.sort(&x).descending().in_place().run()?;
//! assert_eq!(x.read()?, [5, 4, 3, 1, 1]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "cpu"))]
//! # fn main() {}
//! ```
//!
//! A call says what, then where its results go, then when it runs. The same calls run on every backend, since each implements
//! [`Backend`], [`Scan`], [`Reduce`], [`Sort`], [`Select`] and [`ReduceByKey`]. A call
//! that runs often is prepared once ([`Placed::prepare`]); running it then
//! compiles nothing, and on a GPU allocates nothing. [`open`] opens the best device, and [`devices`] lists all; both give a
//! [`Device`]. A program that has a device, stream or queue of its own gives it to `new` of [`wgpu::Wgpu`], [`cuda::Cuda`] or
//! [`opencl::OpenCl`], and its buffers to `import`.
//!
//! Compiled kernels are kept on disk, in a folder of the user's that `TRIFOLD_CACHE` names otherwise, or `off` turns off; see
//! [`Cache`].
//!
//! # Features
//!
//! `cpu`, `wgpu`, `opencl` and `cuda`, one for each backend; all are on by default, and each builds alone.

mod discover;

pub use discover::{Found, Missing, devices, discover, open, open_async};
#[doc(inline)]
pub use trifold_cache::Cache;
#[doc(inline)]
pub use trifold_core::primitive::*;
#[doc(inline)]
pub use trifold_core::{
    Access, Algorithm, And, Argument, Backend, Buffer, Builtin, Call, Candidates, Caps, Captures, Command, Compacted,
    Device, DeviceKind, Element, ElementType, Error, Fault, Field, HostOp, Input, IntoInput, Kernel, KernelKey, Key,
    Language, Launch, Layout, MAX_ELEMENTS, Max, Min, Monoid, Number, Op, Options, Or, Param, Placed, Plan, Prepared,
    Product, Region, Result, Scalar, ScalarKind, Size, SizeStep, Slot, Span, Spans, SpansOf, Step, SubgroupSource,
    Subgroups, Sum, Transfer, Tuning, TuningRow, TuningTable, Values, Waiting, Xor, algorithm, block_on, bytemuck,
    element, for_scalar, planner, primitive, renamed, scratch_bytes, scratch_bytes_up_to,
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

/// What a program that scans, reduces and sorts uses: the traits and the operators.
pub mod prelude {
    pub use trifold_core::primitive::prelude::*;

    pub use crate::{
        And, Backend, Buffer, Captures, Compacted, Element, Key, Max, Min, Monoid, Or, Product, Sum, Transfer,
        UpperHalf, Xor,
    };
}

/// The guide's programs are tests.
#[cfg(all(doctest, feature = "cpu"))]
#[doc = include_str!("../../../docs/GUIDE.md")]
struct Guide;
