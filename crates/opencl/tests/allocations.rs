//! A prepared call runs without allocating on the host, on whatever OpenCL device there is.

use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;

use trifold_conformance::devices_or_skip;
use trifold_core::{Backend, Reduce, Scan, Sort, Sum, Transfer};
use trifold_opencl::OpenCl;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what this thread asks of it.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the count is a thread's own cell, which needs no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: MemoryLayout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn prepared_calls_allocate_nothing() {
    let devices = devices_or_skip("opencl", OpenCl::devices());
    let Some(device) = devices.first() else { return };
    let cl = OpenCl::open(device).unwrap();
    let n = 5003;
    let input: Vec<u32> = (0..n).rev().collect();
    let (from, to) = (cl.upload(&input).unwrap(), cl.alloc(input.len()).unwrap());
    let calls = [
        cl.inclusive_scan(&from, Sum).to(&to),
        cl.sort(&from).to(&to),
        cl.reduce(&from, Sum).to(&to.slice(..1).unwrap()),
    ];
    for call in calls {
        let primitive = call.request().primitive();
        let call = call.prepare().unwrap();
        call.run().unwrap();
        let before = ALLOCATIONS.get();
        for _ in 0..3 {
            call.run().unwrap();
        }
        let allocated = ALLOCATIONS.get() - before;
        cl.synchronize().unwrap();
        assert_eq!(allocated, 0, "{primitive} allocated");
    }
    assert!(ALLOCATIONS.get() > 0, "nothing was counted");
}
