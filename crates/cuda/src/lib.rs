//! Trifold on NVIDIA's GPUs: the CUDA C kernels, launched through cudarc and compiled at run time by NVRTC.
//!
//! Nothing of CUDA is needed to build or to start a program. At run time [`Cuda`] needs NVIDIA's driver (`libcuda`, for
//! CUDA 12.8 or newer) and a device of compute capability 7.5 or newer; compiling needs NVRTC, which comes with the CUDA
//! toolkit or in the wheel `nvidia-cuda-nvrtc` (see [`nvrtc_version`] for where it is looked for). What is missing is
//! an [`Error`](trifold_core::Error) that says how to get it.
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
//! A program with a stream and memory of its own brings them: [`Cuda::new`], [`Cuda::import`]. Calls then go into that
//! stream, in order with the rest of it, and a bound plan only enqueues, so that it can be captured into a CUDA graph. One-shot calls
//! and transfers wait for the stream, which a capture does not allow. Buffers and kernels that are dropped during one are never freed, since
//! the graph may use them: drop them before, or when the graph is done.
//!
//! cudarc does not know what Trifold reads and writes: a stream of the program's that uses the memory afterwards first waits for this one
//! (`other.join(cuda.stream())`), and one that used it before is waited for (`cuda.stream().join(other)`).
//!
//! A graph keeps nothing of what it captured, and cudarc calls its launch safe all the same: keep the prepared calls, which keep their memory and
//! kernels, until the last launch of the graph has ended, and do not run them elsewhere meanwhile.

mod backend;
mod device;
mod failure;
mod label;
mod memory;
mod nvrtc;
mod pool;
mod step;

pub use backend::{Cuda, Kernel};
pub use device::Device;
pub use memory::Handle;
pub use nvrtc::{check_nvrtc, compile_to_cubin, nvrtc_version};
pub use step::Step;
pub use trifold_cache::Cache;
pub use trifold_core::InOrder;

/// The cudarc that this backend is built on, whose types a caller's own streams and slices have.
pub use cudarc;
