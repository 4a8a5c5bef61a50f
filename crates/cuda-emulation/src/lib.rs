//! Runs Trifold's CUDA C kernels on the host's processor: for tests on machines without an NVIDIA GPU.
//!
//! A kernel's text, the very one that NVRTC compiles, is compiled by clang behind a header that gives it CUDA C's vocabulary
//! (`cuda.hpp`), with a function in place of each statement of inline PTX (`ptx.rs`). A launch then runs thread by thread
//! (`run.rs`): each is a coroutine that stops where it meets others, at barriers, shuffles and votes, or polls memory.
//!
//! It finds what is wrong in a text for whoever has no GPU: wrong indices, missing barriers (threads run in an order that
//! changes from launch to launch), lanes that meet at different operations, tiles that rely on the order in which blocks
//! start, and memory that is read before it is written, which is poisoned. It knows nothing of memory order, which only a GPU
//! shows, and its times mean nothing.

mod compile;
mod device;
mod ptx;
mod run;
mod step;

pub use device::{Emulation, Handle, Kernel};
pub use step::Step;
pub use trifold_core::InOrder;
