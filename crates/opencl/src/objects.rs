//! OpenCL's reference-counted objects, owned.
//!
//! ocl has such types, which panic where a driver refuses a release or gives a status that ocl does not know. These
//! do not.

use std::ffi::c_void;
use std::ptr;

use ocl::ffi;
use trifold_core::bytemuck::{AnyBitPattern, pod_read_unaligned};

use crate::status::{Checked, Status, check};

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident: $raw:ident, $retain:ident, $release:ident $(, $get:ident)?;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(ffi::$raw);

        // SAFETY: an OpenCL object may be used from any thread. The one call that is not safe on two threads at once for
        // one object is clSetKernelArg, and `Kernel`s get their arguments before they are shared.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        #[allow(dead_code, reason = "not every object needs every function")]
        impl $name {
            /// Takes over the reference that a creating call gives, if it does. It has a place for its status.
            ///
            /// # Safety
            /// `create` gives null or an object of this kind, with one reference away.
            pub(crate) unsafe fn create(
                call: &'static str,
                create: impl FnOnce(&mut i32) -> ffi::$raw,
            ) -> Checked<Self> {
                let mut code = ffi::CL_SUCCESS;
                let raw = create(&mut code);
                check(call, code)?;
                if raw.is_null() { Err(Status { call, code: ffi::CL_INVALID_VALUE }) } else { Ok(Self(raw)) }
            }

            /// Takes a reference of its own.
            ///
            /// # Safety
            /// `raw` is null or a live object of this kind.
            pub(crate) unsafe fn retained(raw: ffi::$raw) -> Checked<Self> {
                if raw.is_null() {
                    return Err(Status { call: stringify!($retain), code: ffi::CL_INVALID_VALUE });
                }
                // SAFETY: `raw` is live, says the caller.
                check(stringify!($retain), unsafe { ffi::$retain(raw) })?;
                Ok(Self(raw))
            }

            pub(crate) fn raw(&self) -> ffi::$raw {
                self.0
            }

            $(
                /// What the object says of itself.
                pub(crate) fn info<T: AnyBitPattern>(&self, what: u32) -> Checked<T> {
                    let call = stringify!($get);
                    // SAFETY: the object is live, and `info` gives room for as many bytes as it says.
                    value(call, &info(call, |n, to, size| unsafe { ffi::$get(self.0, what, n, to, size) })?)
                }
            )?
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this value owns one reference and gives it back once. A driver that refuses, because the
                // device is gone, leaves nothing to do.
                unsafe { ffi::$release(self.0) };
            }
        }
    )*};
}

objects! {
    Context: cl_context, clRetainContext, clReleaseContext;
    Queue: cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue, clGetCommandQueueInfo;
    Mem: cl_mem, clRetainMemObject, clReleaseMemObject, clGetMemObjectInfo;
    Program: cl_program, clRetainProgram, clReleaseProgram;
    /// A kernel with its arguments. Never cloned: clones share the arguments.
    KernelObject: cl_kernel, clRetainKernel, clReleaseKernel;
    /// A command's event, which has the times of the command, in nanoseconds of the device's clock.
    Event: cl_event, clRetainEvent, clReleaseEvent, clGetEventProfilingInfo;
}

/// The bytes of an answer to one of OpenCL's `clGet…Info`, which all have this shape: first the size, then the bytes.
pub(crate) fn info(call: &'static str, query: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Checked<Vec<u8>> {
    let mut size = 0;
    check(call, query(0, ptr::null_mut(), &mut size))?;
    let mut bytes = vec![0_u8; size];
    if size > 0 {
        check(call, query(size, bytes.as_mut_ptr().cast(), ptr::null_mut()))?;
    }
    Ok(bytes)
}

pub(crate) fn value<T: AnyBitPattern>(call: &'static str, bytes: &[u8]) -> Checked<T> {
    match bytes.get(..size_of::<T>()) {
        Some(bytes) => Ok(pod_read_unaligned(bytes)),
        None => Err(Status { call, code: ffi::CL_INVALID_VALUE }),
    }
}

/// An answer as text, without the zero at its end.
pub(crate) fn string(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

impl KernelObject {
    pub(crate) fn info_for<T: AnyBitPattern>(&self, device: ffi::cl_device_id, what: u32) -> Checked<T> {
        let call = "clGetKernelWorkGroupInfo";
        let bytes = info(call, |n, to, size| {
            // SAFETY: the kernel is live, the device is one it was built for, and `info` gives room for as many bytes
            // as it says.
            unsafe { ffi::clGetKernelWorkGroupInfo(self.raw(), device, what, n, to, size) }
        })?;
        value(call, &bytes)
    }
}
