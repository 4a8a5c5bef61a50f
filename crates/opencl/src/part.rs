//! Parts of buffers, as sub-buffers.
//!
//! NVIDIA's driver 580.159 can end the process when it releases a sub-buffer while another that overlaps it is there, if kernels
//! took both. In a test of random calls it never did so by this rule: a buffer's sub-buffers are released when nobody has any of
//! them, those that were created last first. All who want the same part share its sub-buffer, so that there are no more of them
//! than there are different parts.

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
    // Dropped in this order.
    shared: Arc<SubBuffer>,
    release: Release,
}

impl Part {
    /// Of a buffer that is no sub-buffer itself.
    pub(crate) fn of(whole: &Memory, origin: usize, bytes: usize) -> Checked<Part> {
        let mut all = sub_buffers();
        let of = whole.mem.raw() as usize;
        let same = |other: &&Arc<SubBuffer>| (other.origin, other.bytes) == (origin, bytes);
        let shared = match all.get(&of).and_then(|others| others.iter().find(same)) {
            Some(same) => same.clone(),
            None => {
                let new = Arc::new(SubBuffer { mem: whole.sub_buffer(origin, bytes)?, origin, bytes });
                all.entry(of).or_default().push(new.clone());
                new
            }
        };
        Ok(Part { shared, release: Release { of } })
    }

    pub(crate) fn raw(&self) -> ffi::cl_mem {
        self.shared.mem.raw()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes as u64
    }

    /// The buffer's address: to compare, not to use.
    pub(crate) fn whole(&self) -> usize {
        self.release.of
    }

    /// Whether the two have some of their bytes in common, but not all.
    pub(crate) fn overlaps(&self, other: &Part) -> bool {
        let (a, b) = (&self.shared, &other.shared);
        let is_apart = a.origin + a.bytes <= b.origin || b.origin + b.bytes <= a.origin;
        self.whole() == other.whole() && !is_apart && !Arc::ptr_eq(a, b)
    }
}

/// Releases the sub-buffers of a buffer when nobody has one any more.
struct Release {
    of: usize,
}

impl Drop for Release {
    fn drop(&mut self) {
        let mut all = sub_buffers();
        let Some(others) = all.get_mut(&self.of) else { return };
        // References are taken with the lock alone, so none is taken now.
        if others.iter().all(|other| Arc::strong_count(other) == 1) {
            while others.pop().is_some() {}
            all.remove(&self.of);
        }
    }
}

#[cfg(test)]
mod tests {
    use trifold_conformance::devices_or_skip;
    use trifold_core::Backend;

    use super::*;
    use crate::OpenCl;

    #[test]
    fn sub_buffers_are_shared_and_released_together() {
        let devices = devices_or_skip("opencl", OpenCl::devices());
        let Some(device) = devices.first() else { return };
        let cl = OpenCl::open(device).unwrap();
        let place = (cl.caps().binding_alignment as usize).max(128);
        let whole = cl.allocate(4 * place as u64).unwrap();
        let memory = &whole.handle().0;
        let part = |origin, bytes| Part::of(memory, origin, bytes).unwrap();
        let kept = || sub_buffers().get(&(memory.mem.raw() as usize)).map_or(0, Vec::len);
        let (long, short, behind) = (part(0, 4 * place), part(0, place), part(place, place));
        let again = part(0, 4 * place);
        assert_eq!((again.raw(), kept()), (long.raw(), 3));
        assert!(long.overlaps(&short) && !long.overlaps(&again) && !short.overlaps(&behind));
        drop((long, short, behind));
        assert_eq!(kept(), 3);
        drop(again);
        assert_eq!(kept(), 0);
    }
}
