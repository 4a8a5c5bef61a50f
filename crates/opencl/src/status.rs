//! OpenCL's status codes, and what they mean to a caller.

use std::fmt;

use num_traits::FromPrimitive;
use ocl::core::Status as Known;
use ocl::ffi;
use trifold_core::Error;

/// An OpenCL call that failed: the source of the errors that this backend gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The function.
    pub call: &'static str,
    /// What it returned.
    pub code: i32,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status { call, code } = self;
        match Known::from_i32(*code).map(|known| (known, meaning(known))) {
            Some((name, Some(meaning))) => write!(f, "{call} gave {name} ({code}): {meaning}"),
            Some((name, None)) => write!(f, "{call} gave {name} ({code})"),
            None => write!(f, "{call} gave the status {code}, which is the driver's own"),
        }
    }
}

impl std::error::Error for Status {}

impl Status {
    /// The error for a call that asks for no memory.
    pub(crate) fn error(self, doing: impl fmt::Display) -> Error {
        match self.code {
            // The backend holds a reference to its queue: only the driver can have made it invalid.
            ffi::CL_DEVICE_NOT_AVAILABLE | ffi::CL_INVALID_COMMAND_QUEUE | ILLEGAL_ACCESS => {
                Error::DeviceLost(format!("{doing}: {self}"))
            }
            ffi::CL_INVALID_BUFFER_SIZE => Error::Invalid(format!("{doing}: {self}")),
            _ => Error::backend("opencl", doing, self),
        }
    }

    /// The error for a call that makes the driver allocate `bytes`, at once or when they are first used.
    pub(crate) fn allocation_error(self, doing: impl fmt::Display, bytes: u64, device: &str) -> Error {
        match self.code {
            ffi::CL_MEM_OBJECT_ALLOCATION_FAILURE | ffi::CL_OUT_OF_RESOURCES | ffi::CL_OUT_OF_HOST_MEMORY => {
                Error::OutOfMemory { bytes, device: device.to_owned() }
            }
            _ => self.error(doing),
        }
    }
}

pub(crate) type Checked<T> = Result<T, Status>;

pub(crate) fn check(call: &'static str, code: i32) -> Checked<()> {
    if code == ffi::CL_SUCCESS { Ok(()) } else { Err(Status { call, code }) }
}

/// What NVIDIA's driver gives when a kernel touched memory that is not its own.
const ILLEGAL_ACCESS: i32 = Known::CL_NV_INVALID_MEM_ACCESS as i32;

/// What a status means to a caller, where its name does not say it.
fn meaning(status: Known) -> Option<&'static str> {
    use Known::*;
    Some(match status {
        CL_DEVICE_NOT_AVAILABLE => "the device is there but cannot be used now",
        CL_COMPILER_NOT_AVAILABLE => "the driver has no compiler",
        CL_MEM_OBJECT_ALLOCATION_FAILURE => "no device memory is left for a buffer",
        CL_OUT_OF_RESOURCES => "the device has too little memory or registers left, or a kernel faulted",
        CL_OUT_OF_HOST_MEMORY => "the driver has no memory left on the host",
        CL_PROFILING_INFO_NOT_AVAILABLE => "the queue takes no times, or the command failed",
        CL_MEM_COPY_OVERLAP => "the two ranges of a copy overlap",
        CL_BUILD_PROGRAM_FAILURE => "the program did not compile",
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => "a command before this one failed",
        CL_INVALID_QUEUE_PROPERTIES => "the device has no such queue",
        CL_INVALID_COMMAND_QUEUE => "the driver gave the queue up, after a fault or a time-out",
        CL_INVALID_BUILD_OPTIONS => "the compiler does not know an option",
        CL_INVALID_PROGRAM_EXECUTABLE => "the program was not built for this device",
        CL_INVALID_KERNEL_NAME => "the program has no such kernel",
        CL_INVALID_ARG_INDEX => "the kernel has fewer arguments",
        CL_INVALID_ARG_VALUE => "an argument is not what the kernel declares",
        CL_INVALID_ARG_SIZE => "an argument has another size than the kernel declares",
        CL_INVALID_KERNEL_ARGS => "an argument was not set",
        CL_INVALID_WORK_GROUP_SIZE => "the device cannot run a workgroup of that size",
        CL_INVALID_OPERATION => "the driver or the buffer's flags do not allow it",
        CL_INVALID_BUFFER_SIZE => "the size is zero or more than the device allows",
        CL_PLATFORM_NOT_FOUND_KHR => "no OpenCL driver is installed",
        CL_NV_INVALID_MEM_ACCESS => "a kernel touched memory that is not its own, and the driver gave the context up",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_what_a_caller_can_do() {
        let status = |code| Status { call: "clFinish", code };
        assert!(matches!(status(-36).error("waiting"), Error::DeviceLost(_)));
        assert!(matches!(status(-5).error("waiting"), Error::Backend { .. }));
        assert!(matches!(status(-61).allocation_error("allocating", 0, "gpu"), Error::Invalid(_)));
        assert!(matches!(
            status(-5).allocation_error("allocating", 64, "gpu"),
            Error::OutOfMemory { bytes: 64, device } if device == "gpu"
        ));
        assert_eq!(status(-13).to_string(), "clFinish gave CL_MISALIGNED_SUB_BUFFER_OFFSET (-13)");
        assert_eq!(status(-8).to_string(), "clFinish gave CL_MEM_COPY_OVERLAP (-8): the two ranges of a copy overlap");
        let error = status(-1057).error("waiting").to_string();
        assert_eq!(error, "opencl: waiting: clFinish gave the status -1057, which is the driver's own");
    }
}
