//! A bound call runs without allocating on the host, on whatever OpenCL device there is.

use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;

use trifold_conformance::devices_or_skip;
use trifold_core::{
    Backend, Layout, Operand, Options, Order, Prepared, Request, ScanKind, Spans, Sum, Transfer, block_on,
};
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
fn bound_calls_allocate_nothing() {
    let devices = devices_or_skip("opencl", OpenCl::devices());
    let Some(device) = devices.first() else { return };
    let cl = OpenCl::open(device).unwrap();
    let n = 5003;
    let input: Vec<u32> = (0..n as u32).rev().collect();
    let (from, to) = (cl.upload(&input).unwrap(), cl.alloc(4 * n).unwrap());
    let (from, to) = (cl.span(&from), cl.span(&to));
    let requests = [
        Request::scan::<u32, Sum>(ScanKind::Inclusive, None, n),
        Request::sort_keys::<u32>(Order::Ascending, n),
        Request::reduce::<u32, Sum>(None, n),
    ];
    for request in requests {
        let prepared = block_on(Prepared::new(&cl, &request, Layout::default(), Options::default())).unwrap();
        let of = |operand: &Operand| if operand.slot.is_output() { &to } else { &from };
        let spans = Spans::of(&request, |operand| of(operand).slice(0, operand.bytes())).unwrap();
        let bound = prepared.bind(&cl, &spans).unwrap();
        bound.run(&cl).unwrap();
        let before = ALLOCATIONS.get();
        for _ in 0..3 {
            bound.run(&cl).unwrap();
        }
        let allocated = ALLOCATIONS.get() - before;
        cl.synchronize().unwrap();
        assert_eq!(allocated, 0, "{} allocated", request.primitive());
    }
    assert!(ALLOCATIONS.get() > 0, "nothing was counted");
}
