//! Parts of buffers, as sub-buffers.
//!
//! NVIDIA's driver 580.159 can crash in `clReleaseMemObject`, if kernels have used two sub-buffers that overlap and one of them is
//! released. Which order is safe was found by trial: all sub-buffers of a buffer are kept until none is in use, and then the newest
//! is released first. All who want the same part share its sub-buffer, so there is one for each different part.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ocl::ffi;

use crate::memory::Memory;
use crate::objects::Mem;
use crate::status::Checked;

/// The sub-buffers of each buffer, by its address, in the order of their creation. They are the program's and not a backend's,
/// since two backends may be handed one buffer. A sub-buffer keeps its buffer alive, so an address here is no other buffer's.
static SUB_BUFFERS: Mutex<BTreeMap<usize, Vec<Arc<SubBuffer>>>> = Mutex::new(BTreeMap::new());

fn sub_buffers() -> MutexGuard<'static, BTreeMap<usize, Vec<Arc<SubBuffer>>>> {
    SUB_BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SubBuffer {
    mem: Mem,
    origin: usize,
    bytes: usize,
}

/// A part of a buffer, which keeps the whole alive.
pub(crate) struct Part {
    // Dropped in this order: the reference is gone when `Release` counts.
    shared: Arc<SubBuffer>,
    release: Release,
}

impl Part {
    /// Of a buffer that is no sub-buffer itself.
    pub(crate) fn of(whole: &Memory, origin: usize, bytes: usize) -> Checked<Part> {
        let mut all = sub_buffers();
        let buffer = whole.mem.raw() as usize;
        let is_same = |part: &&Arc<SubBuffer>| (part.origin, part.bytes) == (origin, bytes);
        let shared = match all.get(&buffer).and_then(|parts| parts.iter().find(is_same)) {
            Some(same) => same.clone(),
            None => {
                let new = Arc::new(SubBuffer { mem: whole.sub_buffer(origin, bytes)?, origin, bytes });
                all.entry(buffer).or_default().push(new.clone());
                new
            }
        };
        Ok(Part { shared, release: Release { buffer } })
    }

    pub(crate) fn raw(&self) -> ffi::cl_mem {
        self.shared.mem.raw()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes as u64
    }

    /// The buffer's address: to compare, not to use.
    pub(crate) fn buffer(&self) -> usize {
        self.release.buffer
    }

    /// Whether the two overlap and are not the same.
    pub(crate) fn overlaps(&self, other: &Part) -> bool {
        let (a, b) = (&self.shared, &other.shared);
        let is_apart = a.origin + a.bytes <= b.origin || b.origin + b.bytes <= a.origin;
        self.buffer() == other.buffer() && !is_apart && !Arc::ptr_eq(a, b)
    }
}

/// Releases the sub-buffers of a buffer when nobody has one any more.
struct Release {
    buffer: usize,
}

impl Drop for Release {
    fn drop(&mut self) {
        let mut all = sub_buffers();
        let Some(parts) = all.get_mut(&self.buffer) else { return };
        // References are taken under this lock, so no count grows now. Whoever lets one go comes here too.
        if parts.iter().all(|part| Arc::strong_count(part) == 1) {
            // One by one from the end: a vector drops what is first in it first.
            while parts.pop().is_some() {}
            all.remove(&self.buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::ptr;

    use trifold_conformance::devices_or_skip;
    use trifold_core::Backend;

    use super::*;
    use crate::OpenCl;

    /// The sub-buffers that are gone, in order.
    static RELEASED: Mutex<Vec<usize>> = Mutex::new(vec![]);

    extern "C" fn released(mem: ffi::cl_mem, _: *mut c_void) {
        RELEASED.lock().unwrap().push(mem as usize);
    }

    #[test]
    fn sub_buffers_are_shared_and_the_last_is_released_first() {
        let devices = devices_or_skip("opencl", OpenCl::devices());
        let Some(device) = devices.first() else { return };
        let cl = OpenCl::open(device).unwrap();
        let place = (cl.caps().binding_alignment as usize).max(128);
        let whole = cl.allocate(4 * place as u64).unwrap();
        let memory = &whole.handle().0;
        let part = |origin, bytes| Part::of(memory, origin, bytes).unwrap();
        let parts = [part(0, 4 * place), part(0, place), part(place, place)];
        let created = parts.each_ref().map(|part| part.raw() as usize);
        for part in &parts {
            // SAFETY: the sub-buffer is live, and the function looks at nothing that it is given.
            let code = unsafe { ffi::clSetMemObjectDestructorCallback(part.raw(), Some(released), ptr::null_mut()) };
            assert_eq!(code, ffi::CL_SUCCESS);
        }
        let again = part(0, 4 * place);
        let [long, short, behind] = parts;
        assert_eq!(again.raw(), long.raw());
        assert!(long.overlaps(&short) && !long.overlaps(&again) && !short.overlaps(&behind));
        drop((long, short, behind));
        assert!(RELEASED.lock().unwrap().is_empty());
        drop(again);
        let [first, second, third] = created;
        assert_eq!(*RELEASED.lock().unwrap(), [third, second, first]);
        assert!(!sub_buffers().contains_key(&(memory.mem.raw() as usize)));
    }
}
