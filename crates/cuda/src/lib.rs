//! Trifold on NVIDIA's GPUs: the CUDA C kernels, launched through cudarc and compiled at run time by NVRTC.
//!
//! Nothing of CUDA is needed to build or to start a program. At run time [`Cuda`] needs:
//!
//! - NVIDIA's driver (`libcuda`, for CUDA 12.8 or newer)
//! - a device of compute capability 7.5 or newer
//! - NVRTC to compile, from the CUDA toolkit or the wheel `nvidia-cuda-nvrtc` (see [`nvrtc_version`] for where it is
//!   looked for)
//!
//! If something is missing, the [`Error`](trifold_core::Error) says how to get it.
//!
//! ```no_run
//! use trifold_core::{Scan, Sum, Transfer};
//! use trifold_cuda::Cuda;
//!
//! # fn main() -> trifold_core::Result<()> {
//! let gpu = Cuda::open(0)?;
//! let x = gpu.upload(&[1_u32, 2, 3, 4])?;
//! assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [1, 3, 6, 10]);
//! # Ok(())
//! # }
//! ```
//!
//! # A stream and memory of your own
//!
//! [`Cuda::new`] takes a stream of the program's, and [`Cuda::import`] its memory. Calls go into that stream, in order
//! with the rest of it.
//!
//! cudarc does not know what Trifold reads and writes. Another stream that uses the memory afterwards must first wait
//! for this one (`other.join(cuda.stream())`). If it used the memory before, this one must wait for it
//! (`cuda.stream().join(other)`).
//!
//! # CUDA graphs
//!
//! A prepared call only enqueues, so it can be captured into a CUDA graph. A call that runs once gets scratch of its own
//! during a capture, which the graph keeps. Reads wait for the stream, which a capture does not allow. The graph also keeps
//! buffers that are dropped during the capture. Kernels that are dropped then are never unloaded.
//!
//! A graph does not keep what it captured alive, though cudarc calls its launch safe. Keep the prepared calls until the
//! last launch of the graph has ended: they keep their memory and kernels. Do not run them elsewhere meanwhile.

mod backend;
mod context;
mod device;
mod failure;
mod graph;
mod label;
mod memory;
mod nvrtc;
mod pool;
mod step;

pub use backend::{Cuda, Kernel};
pub use context::CurrentContext;
pub use device::Device;
pub use memory::Handle;
pub use nvrtc::{add_package_folders, check_nvrtc, compile_to_cubin, nvrtc_version};
pub use step::Step;
pub use trifold_cache::Cache;
pub use trifold_core::InOrder;

/// The cudarc that this backend is built on, whose types a caller's own streams and slices have.
pub use cudarc;
