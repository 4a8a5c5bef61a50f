//! Memory that a graph keeps: it is freed when the graph is gone.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{
    self, CUdeviceptr, CUgraph, CUstreamCaptureStatus, CUuserObject, CUuserObject_flags, CUuserObjectRetain_flags,
};
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};

use crate::memory::{beside_captures, bind_thread};

/// Memory of a context's.
struct Left {
    address: CUdeviceptr,
    context: Arc<CudaContext>,
}

/// What graphs have let go of. The driver calls back from threads that may not call it.
static LEFT: Mutex<Vec<Left>> = Mutex::new(vec![]);

/// Has the graph that a stream is captured into keep memory. It is freed some time after the last graph that has this work is gone.
///
/// # Errors
/// The driver's, such as for a stream that is not captured. The memory is then nobody's.
pub(crate) fn keep(stream: &CudaStream, address: CUdeviceptr) -> Result<(), DriverError> {
    let graph = captured_into(stream)?;
    let left = Box::into_raw(Box::new(Left { address, context: stream.context().clone() }));
    let mut object: CUuserObject = ptr::null_mut();
    let no_sync = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC as u32;
    // SAFETY: the pointer to the object lives through the call, and `let_go` takes what the other one leads to once.
    let made = unsafe { sys::cuUserObjectCreate(&raw mut object, left.cast(), Some(let_go), 1, no_sync) }.result();
    if let Err(error) = made {
        // SAFETY: it is from the box above, and the driver has not taken it.
        drop(unsafe { Box::from_raw(left) });
        return Err(error);
    }
    let moved = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE as u32;
    // SAFETY: the capture's graph is there, and takes the one reference that the object has.
    unsafe { sys::cuGraphRetainUserObject(graph, object, 1, moved) }.result()
}

fn captured_into(stream: &CudaStream) -> Result<CUgraph, DriverError> {
    let (mut status, mut graph) = (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, ptr::null_mut());
    let stream = stream.cu_stream();
    // SAFETY: the stream is alive, the pointers are to values that live through the call, and the others may be null.
    unsafe {
        sys::cuStreamGetCaptureInfo_v3(
            stream,
            &raw mut status,
            ptr::null_mut(),
            &raw mut graph,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    }
    .result()?;
    match status {
        CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE => Ok(graph),
        _ => Err(DriverError(sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)),
    }
}

/// What the driver calls when no graph has the memory any more.
unsafe extern "C" fn let_go(left: *mut c_void) {
    // SAFETY: it is from `keep`'s box, and the driver calls this once.
    let left = unsafe { Box::from_raw(left.cast::<Left>()) };
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(*left);
}

/// Frees what graphs have let go of. Any context may be current afterwards.
pub(crate) fn free_left() {
    let left = std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner));
    for Left { address, context } in left {
        let freed = bind_thread(&context).and_then(|()| {
            // SAFETY: the memory was the graphs' alone, and they are gone with their work.
            beside_captures(|| unsafe { result::free_sync(address) })
        });
        if let Err(error) = freed {
            tracing::warn!(%error, "a graph's memory is not freed");
        }
    }
}
