//! The driver's errors as Trifold's.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use trifold_core::Error;

/// Says what was being done when the driver failed: for `map_err`.
pub(crate) fn driver(doing: impl std::fmt::Display) -> impl FnOnce(DriverError) -> Error {
    move |error| {
        use CUresult::*;
        match error.0 {
            CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_DEINITIALIZED
            | CUDA_ERROR_EXTERNAL_DEVICE => Error::DeviceLost(format!("{doing}: {error}")),
            _ => Error::backend("cuda", doing, error),
        }
    }
}
