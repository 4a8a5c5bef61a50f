//! Device memory: allocated here, or brought by the caller.

use std::sync::Arc;

use cudarc::driver::sys::{CUdeviceptr, CUresult, CUstreamCaptureStatus};
use cudarc::driver::{CudaSlice, CudaStream, CudaView, DevicePtr, DeviceSlice, DriverError, result};
use trifold_core::bytemuck::Pod;
use trifold_core::{Error, Result, Span};

use crate::Cuda;
use crate::failure::driver;

/// Device memory as one stream sees it.
///
/// The driver's addresses are unified, so a handle stands for the whole address space and a span's offset is its address:
/// two slices of one allocation then overlap exactly where they do, however they were brought here. The stream is
/// what orders uses of the memory; a backend refuses spans of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    /// The stream and its context by address; never dereferenced.
    stream: usize,
    context: usize,
}

impl Handle {
    pub(crate) fn of(stream: &CudaStream) -> Handle {
        Handle { stream: stream.cu_stream() as usize, context: stream.context().cu_ctx() as usize }
    }
}

/// Memory at an address: `bytes` of it, with `room` to the end of its allocation.
///
/// # Safety
/// As [`Span::from_handle`].
unsafe fn span_at<'a>(handle: Handle, address: CUdeviceptr, bytes: u64, room: u64) -> Span<'a, Cuda> {
    // SAFETY: the address space from zero on is no memory of the caller's, but nothing of it leaves this function but the
    // caller's part.
    let space = unsafe { Span::from_handle(handle, address + bytes, address + room) };
    space.slice(address, bytes).expect("the space ends where the slice does")
}

/// Device memory of the backend's own; freed when dropped, which waits for the work that was submitted before, and as `cuMemFree` does maybe
/// for other streams of the device. While its stream is being captured it is not freed at all: the graph may use it.
#[derive(Debug)]
pub struct Buffer {
    address: CUdeviceptr,
    /// As asked for.
    bytes: u64,
    /// As allocated.
    room: u64,
    stream: Arc<CudaStream>,
}

impl Buffer {
    pub(crate) fn new(stream: &Arc<CudaStream>, bytes: u64, device: &str) -> Result<Buffer> {
        stream.context().bind_to_thread().map_err(driver("binding the context"))?;
        let out_of_memory = || Error::OutOfMemory { bytes, device: device.into() };
        let room = bytes.max(1).checked_next_multiple_of(16).ok_or_else(out_of_memory)?;
        let size = usize::try_from(room).map_err(|_| out_of_memory())?;
        // SAFETY: the context is current on this thread. The memory's contents are undefined, and are only ever handed
        // to the device or copied as bytes that the device wrote.
        let address = unsafe { result::malloc_sync(size) }.map_err(|error| match error.0 {
            cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory(),
            _ => driver(format_args!("allocating {room} bytes"))(error),
        })?;
        Ok(Buffer { address, bytes, room, stream: stream.clone() })
    }

    /// Its length in bytes, as asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its address on the device.
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    pub(crate) fn span(&self) -> Span<'_, Cuda> {
        // SAFETY: the buffer's own sizes, and the span borrows it.
        unsafe { span_at(Handle::of(&self.stream), self.address, self.bytes, self.room) }
    }
}

/// Waits until all work of a stream has ended, and makes its context current on this thread.
///
/// # Errors
/// The driver's; or one that cudarc kept from before, of a slice's freeing, say. That one is told after the wait: cudarc's own
/// `synchronize` returns with it instead of waiting, and what follows a wait frees or reads memory.
pub(crate) fn wait(stream: &CudaStream) -> std::result::Result<(), DriverError> {
    let kept = stream.context().bind_to_thread();
    let bound = kept.or_else(|_| stream.context().bind_to_thread());
    // SAFETY: the stream is alive while it is borrowed. If no context could be made current, the driver says so.
    let waited = unsafe { result::stream::synchronize(stream.cu_stream()) };
    kept.and(bound).and(waited)
}

/// Waits for a stream's work before what it uses is freed. An error if the work may go on: in a graph that is being captured, whose
/// capture a wait would break, or on a device that does not answer.
pub(crate) fn wait_to_free(stream: &CudaStream) -> std::result::Result<(), DriverError> {
    // What cudarc kept from before says nothing of this work.
    stream.context().bind_to_thread().or_else(|_| stream.context().bind_to_thread())?;
    // SAFETY: the stream is alive while it is borrowed, and its context current.
    match unsafe { result::stream::is_capturing(stream.cu_stream()) }? {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => {
            // SAFETY: as above.
            unsafe { result::stream::synchronize(stream.cu_stream()) }
        }
        _ => Err(DriverError(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)),
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let freed = wait_to_free(&self.stream).and_then(|()| {
            // SAFETY: the address is from `malloc_sync`, and freed here once. Spans of it borrow the buffer, only work on its stream uses
            // it (`Cuda::bind` refuses others), and that work has just ended.
            unsafe { result::free_sync(self.address) }
        });
        if let Err(error) = freed {
            tracing::warn!(%error, bytes = self.room, "device memory is not freed");
        }
    }
}

impl Cuda {
    /// A caller's slice as a span.
    ///
    /// The slice must be of this backend's own stream: then the calls on the span, cudarc's on the slice, and its being
    /// freed come in the order in which they are made. For memory of another stream see [`Cuda::import_raw`].
    /// Other streams have to wait for the work by themselves (`other.join(cuda.stream())`): cudarc does not know of
    /// it. Wide accesses want a length that is a multiple of 16 bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the slice is another stream's.
    pub fn import<'a, T: Pod>(&self, slice: &'a CudaSlice<T>) -> Result<Span<'a, Cuda>> {
        self.import_view(&slice.as_view())
    }

    /// A view of a caller's slice as a span; otherwise as [`Cuda::import`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the slice is another stream's.
    pub fn import_view<'a, T: Pod>(&self, view: &CudaView<'a, T>) -> Result<Span<'a, Cuda>> {
        if view.stream().as_ref() != self.stream().as_ref() {
            return Err(Error::Invalid(
                "a slice of another stream than this backend's; allocate it from `Cuda::stream`, make the backend of the \
                 slice's stream with `Cuda::new`, or order the two streams and use `Cuda::import_raw`"
                    .into(),
            ));
        }
        // What cudarc enqueues to order this use orders one stream after itself, at once.
        let (address, _) = view.device_ptr(self.stream());
        let bytes = view.num_bytes() as u64;
        // SAFETY: the view's own size, and it borrows the slice for the span's lifetime.
        Ok(unsafe { span_at(self.handle(), address, bytes, bytes) })
    }

    /// Device memory at an address as a span: `bytes` of it.
    ///
    /// # Safety
    /// The memory must be the device's or reachable from it, hold `bytes` bytes, and stay allocated until the work that
    /// is submitted with the span has ended. Other uses of it must be ordered with this backend's stream.
    pub unsafe fn import_raw<'a>(&self, address: CUdeviceptr, bytes: u64) -> Span<'a, Cuda> {
        // SAFETY: as the caller says.
        unsafe { span_at(self.handle(), address, bytes, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spans_offset_is_its_address() {
        // SAFETY: nothing is launched on it.
        let span = unsafe { span_at(Handle { stream: 1, context: 2 }, 0x7f00_0000_0100, 20, 32) };
        assert_eq!((span.offset(), span.bytes(), span.room()), (0x7f00_0000_0100, 20, 32));
        let part = span.slice(4, 16).unwrap();
        assert_eq!((part.offset(), part.bytes(), part.room()), (0x7f00_0000_0104, 16, 28));
        assert!(span.slice(4, 17).is_err());
    }
}
