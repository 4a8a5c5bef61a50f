//! Memory in stream order: allocated and freed without a wait, where the device can.

use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{
    CUdevice_attribute, CUdeviceptr, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType,
    CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
};
use cudarc::driver::{CudaContext, CudaStream, DriverError, result::mem_pool};

/// The bytes that a pool keeps at most of what was freed, when its stream is waited for.
const KEPT: u64 = 1 << 30;

/// A pool of device memory for one stream.
#[derive(Debug)]
pub(crate) struct Pool {
    pool: CUmemoryPool,
    /// Alive as long as what it made.
    context: Arc<CudaContext>,
}

// SAFETY: the driver's handle of a pool may be used by any thread, also by several at once.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// None where the device has no pools, or the driver makes none.
    pub(crate) fn new(context: &Arc<CudaContext>) -> Option<Arc<Pool>> {
        let supported = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
        if context.attribute(supported).ok()? == 0 {
            return None;
        }
        let props = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: i32::try_from(context.ordinal()).ok()?,
            },
            win32SecurityAttributes: ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        // SAFETY: the properties live through the call.
        let pool = unsafe { mem_pool::create(&props) }.ok()?;
        let pool = Pool { pool, context: context.clone() };
        let mut kept = KEPT;
        let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool was just made, and the attribute is 64 bits wide.
        unsafe { mem_pool::set_attribute(pool.pool, threshold, (&raw mut kept).cast()) }.ok()?;
        Some(pool.into())
    }

    /// Memory for work that comes behind this in the stream, whose context is current.
    pub(crate) fn allocate(&self, bytes: usize, stream: &CudaStream) -> Result<CUdeviceptr, DriverError> {
        // SAFETY: pool and stream are alive, and of one context.
        unsafe { mem_pool::alloc_async(self.pool, bytes, stream.cu_stream()) }
    }

    /// Gives back what is kept of what was freed.
    pub(crate) fn trim(&self) {
        // SAFETY: the pool is alive.
        let trimmed = self.context.bind_to_thread().and_then(|()| unsafe { mem_pool::trim_to(self.pool, 0) });
        if let Err(error) = trimmed {
            tracing::warn!(%error, "the pool keeps its memory");
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: what was allocated from it kept it, so that all is freed or on its way in stream order, which the driver waits for.
        let destroyed = self.context.bind_to_thread().and_then(|()| unsafe { mem_pool::destroy(self.pool) });
        if let Err(error) = destroyed {
            tracing::warn!(%error, "a pool of memory is left over");
        }
    }
}
