//! Device memory: allocated here, or brought by the caller.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdeviceptr, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DriverError, result};
use trifold_core::{Buffer, Element, Error, Result, Span};

use crate::failure::driver;
use crate::graph;
use crate::pool::Pool;
use crate::{Cuda, CurrentContext};

/// A stream, which orders the uses of memory and kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The stream and its context by address; never dereferenced.
    stream: usize,
    context: usize,
}

impl Owner {
    pub(crate) fn of(stream: &CudaStream) -> Owner {
        Owner { stream: stream.cu_stream() as usize, context: stream.context().cu_ctx() as usize }
    }
}

/// Device memory as one stream sees it, which the handle keeps.
///
/// The driver's addresses are unified: a handle stands for the whole address space, and a span's offset is its address.
/// So an overlap of two slices of one allocation is seen, however they were brought here. The stream orders the uses of
/// the memory, and a backend refuses spans of another stream.
#[derive(Clone)]
pub struct Handle {
    pub(crate) owner: Owner,
    _keeper: Arc<dyn Any + Send + Sync>,
}

/// Memory at an address: `bytes` of it, with `room` to the end of its allocation.
///
/// # Safety
/// As [`Span::from_handle`].
unsafe fn span_at(
    owner: Owner,
    keeper: Arc<dyn Any + Send + Sync>,
    address: CUdeviceptr,
    bytes: u64,
    room: u64,
) -> Span<Cuda> {
    let handle = Handle { owner, _keeper: keeper };
    // SAFETY: the address space from zero on is no memory of the caller's, but nothing of it leaves this function but the
    // caller's part.
    let space = unsafe { Span::from_handle(handle, address + bytes, address + room) };
    space.slice(address, bytes).expect("the space ends where the slice does")
}

/// Device memory of the backend's own. It is freed when dropped, in stream order, behind the work that was submitted
/// before.
///
/// Without a pool, freeing waits for that work and, as `cuMemFree` does, maybe for other streams of the device. While
/// the stream is being captured the graph keeps the memory.
#[derive(Debug)]
struct Memory {
    address: CUdeviceptr,
    /// As allocated.
    room: u64,
    stream: Arc<CudaStream>,
    /// Where it is from, if that was a pool.
    pool: Option<Arc<Pool>>,
}

/// Allocates memory.
pub(crate) fn allocate(
    stream: &Arc<CudaStream>,
    pool: Option<&Arc<Pool>>,
    bytes: u64,
    device: &str,
) -> Result<Span<Cuda>> {
    graph::free_left();
    bind_thread(stream.context()).map_err(driver("binding the context"))?;
    let out_of_memory = || Error::OutOfMemory { bytes, device: device.into() };
    let room = bytes.max(1).checked_next_multiple_of(16).ok_or_else(out_of_memory)?;
    let size = usize::try_from(room).map_err(|_| out_of_memory())?;
    // What a captured stream allocates would be a graph's.
    let pool = pool.filter(|_| !is_captured(stream)).cloned();
    let allocated = match &pool {
        Some(pool) => pool.allocate(size, stream),
        // SAFETY: the context is current on this thread. The memory's contents are undefined, and are only ever handed
        // to the device or copied as bytes that the device wrote.
        None => beside_captures(|| unsafe { result::malloc_sync(size) }),
    };
    let address = allocated.map_err(|error| match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory(),
        _ => driver(format_args!("allocating {room} bytes"))(error),
    })?;
    let memory = Memory { address, room, stream: stream.clone(), pool };
    // SAFETY: the memory has at least the bytes asked for, and the span keeps it.
    Ok(unsafe { span_at(Owner::of(stream), Arc::new(memory), address, bytes, room) })
}

/// Makes a context current on this thread. Not by cudarc's own call, which gives away what it kept from before: that is for whoever waits.
pub(crate) fn bind_thread(context: &CudaContext) -> std::result::Result<(), DriverError> {
    // SAFETY: the context is alive while it is borrowed.
    unsafe { result::ctx::set_current(context.cu_ctx()) }
}

/// Does what is no part of a graph, though this thread or another may be capturing one: a capture that is not relaxed forbids to
/// allocate and to load kernels.
pub(crate) fn beside_captures<R>(act: impl FnOnce() -> R) -> R {
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the pointer is to a mode that lives through the call, which gives the one that was this thread's.
    let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) }.result();
    let done = act();
    if exchanged.is_ok() {
        // SAFETY: as above. The thread has its own mode again.
        let restored = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) }.result();
        if let Err(error) = restored {
            tracing::warn!(%error, "a thread's capture mode stays relaxed");
        }
    }
    done
}

/// Waits until all work of a stream has ended, and makes its context current on this thread.
///
/// # Errors
/// The driver's, or one that cudarc kept from before, such as of freeing a slice. The kept one is returned after the
/// wait. cudarc's own `synchronize` returns it instead of waiting, but what follows a wait frees or reads memory.
pub(crate) fn wait(stream: &CudaStream) -> std::result::Result<(), DriverError> {
    let kept = stream.context().bind_to_thread();
    let bound = kept.or_else(|_| stream.context().bind_to_thread());
    // SAFETY: the stream is alive while it is borrowed. If no context could be made current, the driver says so.
    let waited = unsafe { result::stream::synchronize(stream.cu_stream()) };
    kept.and(bound).and(waited)
}

/// Waits for a stream's work before what it uses is freed.
///
/// It is an error if the work may go on. That is so on a device that does not answer, and in a graph that is being
/// captured, as a wait would break the capture.
pub(crate) fn wait_to_free(stream: &CudaStream) -> std::result::Result<(), DriverError> {
    bind_thread(stream.context())?;
    // SAFETY: the stream is alive while it is borrowed, and its context current.
    match unsafe { result::stream::is_capturing(stream.cu_stream()) }? {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => {
            // SAFETY: as above.
            unsafe { result::stream::synchronize(stream.cu_stream()) }
        }
        _ => Err(DriverError(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)),
    }
}

/// Whether what is enqueued becomes part of a graph. Where that cannot be known it may.
pub(crate) fn is_captured(stream: &CudaStream) -> bool {
    !matches!(capture(stream), Ok(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE))
}

/// Whether the stream is being captured.
pub(crate) fn capture(stream: &CudaStream) -> std::result::Result<CUstreamCaptureStatus, DriverError> {
    // SAFETY: the stream is alive, and its context current.
    bind_thread(stream.context()).and_then(|()| unsafe { result::stream::is_capturing(stream.cu_stream()) })
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _context = CurrentContext::kept();
        let freed = match &self.pool {
            // The graph may use it.
            _ if is_captured(&self.stream) => graph::keep(&self.stream, self.address),
            // SAFETY: the address is from a pool, and freed here once, behind all work that uses it: spans and calls keep it, and only work on
            // its stream does (`Cuda::bind` refuses others). Its context is current, as `is_captured` made it.
            Some(_) => unsafe { result::free_async(self.address, self.stream.cu_stream()) },
            None => wait_to_free(&self.stream).and_then(|()| {
                // SAFETY: the address is from `malloc_sync`, and freed here once, when the work on it has just ended.
                beside_captures(|| unsafe { result::free_sync(self.address) })
            }),
        };
        if let Err(error) = freed {
            tracing::warn!(%error, bytes = self.room, "device memory is not freed");
        }
    }
}

impl Cuda {
    /// A caller's slice, by value or by `Arc`, as memory of this backend's.
    ///
    /// The slice must be of this backend's own stream. Then the calls on the buffer, cudarc's on the slice, and its
    /// being freed come in the order in which they are made. For memory of another stream see [`Cuda::import_raw`].
    ///
    /// Other streams have to wait for the work by themselves (`other.join(cuda.stream())`): cudarc does not know of it.
    /// Wide accesses want a length that is a multiple of 16 bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the slice is another stream's.
    pub fn import<T: Element>(&self, slice: impl Into<Arc<CudaSlice<T>>>) -> Result<Buffer<T, Cuda>> {
        let slice = slice.into();
        if slice.stream().as_ref() != self.stream().as_ref() {
            return Err(Error::Invalid(
                "a slice of another stream than this backend's; allocate it from `Cuda::stream`, make the backend of the \
                 slice's stream with `Cuda::new`, or order the two streams and use `Cuda::import_raw`"
                    .into(),
            ));
        }
        // What cudarc enqueues to order this use orders one stream after itself, at once.
        let (address, bytes) = (slice.device_ptr(self.stream()).0, slice.num_bytes() as u64);
        // SAFETY: the slice's own size, and the span keeps it.
        Buffer::of_span(self, unsafe { span_at(self.owner(), slice, address, bytes, bytes) })
    }

    /// Device memory at an address: `n` elements. The keeper is dropped when no buffer or call has the memory any more.
    ///
    /// # Errors
    /// [`Error::Invalid`] for more bytes than there are addresses.
    ///
    /// # Safety
    /// The memory must be the device's or reachable from it, and hold `n` elements. It must stay allocated until the
    /// keeper is dropped and the work that was submitted before has ended. Other uses of it must be ordered with this
    /// backend's stream.
    pub unsafe fn import_raw<T: Element>(
        &self,
        address: CUdeviceptr,
        n: usize,
        keeper: impl Any + Send + Sync,
    ) -> Result<Buffer<T, Cuda>> {
        let bytes = (n as u64).checked_mul(size_of::<T>() as u64).filter(|bytes| address.checked_add(*bytes).is_some());
        let bytes = bytes.ok_or_else(|| Error::Invalid(format!("{n} elements from address {address:#x}")))?;
        // SAFETY: as the caller says.
        Buffer::of_span(self, unsafe { span_at(self.owner(), Arc::new(keeper), address, bytes, bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spans_offset_is_its_address() {
        // SAFETY: nothing is launched on it.
        let span = unsafe { span_at(Owner { stream: 1, context: 2 }, Arc::new(()), 0x7f00_0000_0100, 20, 32) };
        assert_eq!((span.offset(), span.bytes(), span.room()), (0x7f00_0000_0100, 20, 32));
        let part = span.slice(4, 16).unwrap();
        assert_eq!((part.offset(), part.bytes(), part.room()), (0x7f00_0000_0104, 16, 28));
        assert!(span.slice(4, 17).is_err());
    }
}
