//! Runs Trifold's CUDA C kernels on the host's processor: for tests on machines without an NVIDIA GPU.
//!
//! clang compiles the same kernel text as NVRTC, behind a header that gives it CUDA C's vocabulary (`cuda.hpp`). A
//! function stands for each statement of inline PTX (`ptx.rs`).
//!
//! A launch runs thread by thread (`run.rs`). Each thread is a coroutine. It stops where it meets others, at barriers,
//! shuffles and votes, or where it polls memory.
//!
//! So these faults are found without a GPU:
//!
//! - wrong indices
//! - missing barriers, as threads run in an order that changes from launch to launch
//! - lanes that meet at different operations
//! - tiles that rely on the order in which blocks start
//! - memory that is read before it is written, which is poisoned
//!
//! Faults of memory order show on a GPU only. Times mean nothing.

mod compile;
mod device;
mod ptx;
mod run;
mod step;

pub use device::{Emulation, Handle, Kernel};
pub use step::Step;
pub use trifold_core::InOrder;
