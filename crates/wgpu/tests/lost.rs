//! A device that is gone: every call says so, and none panics or waits for ever. On every adapter that wgpu finds.

mod adapters;

use trifold_core::{
    Backend, Error, Layout, Options, Order, Prepared, Reduce, Request, Result, Scan, Sort, Spans, Sum, Transfer,
    block_on,
};
use trifold_wgpu::Wgpu;

/// Every call, after the device is destroyed.
fn calls(gpu: &Wgpu) -> Vec<(&'static str, Result<()>)> {
    let (a, b) = (gpu.upload(&[3_u32, 1, 2]).unwrap(), gpu.alloc(12).unwrap());
    let (from, to) = (gpu.span(&a), gpu.span(&b));
    let request = Request::sort_keys::<u32>(Order::Ascending, 3);
    let prepared = block_on(Prepared::new(gpu, &request, Layout::default(), Options::default())).unwrap();
    let bound = prepared.bind(gpu, &Spans::new(&from, &to)).unwrap();
    gpu.device().destroy();
    vec![
        ("bound sort", bound.run(gpu).and_then(|()| gpu.synchronize())),
        ("scan", gpu.inclusive_scan::<u32, Sum>(&from, &to)),
        ("reduce", gpu.reduce::<u32, Sum>(&from, &to.slice(0, 4).unwrap())),
        ("sort", gpu.sort_keys::<u32>(Order::Ascending, &from, &to)),
        ("write", gpu.write(&to, &[0; 12])),
        ("read", block_on(gpu.read(&from, &mut [0; 12]))),
        ("time", bound.time(gpu, None, 1).map(drop)),
    ]
}

#[test]
fn calls_on_a_destroyed_device_say_so() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        for (call, outcome) in calls(&gpu) {
            eprintln!("{} {:?}: {call}: {outcome:?}", adapter.info.name, adapter.info.backend);
            assert!(matches!(outcome, Err(Error::DeviceLost(_))), "{call}: {outcome:?}");
        }
        assert!(matches!(gpu.alloc(64), Err(Error::DeviceLost(_))));
        assert!(matches!(gpu.synchronize(), Err(Error::DeviceLost(_))));
    }
}

/// A caller's device has the caller's callbacks, which tell of its loss. What makes anything or waits is an error all the same; what
/// only submits, wgpu takes in silence.
#[test]
fn calls_on_a_callers_destroyed_device_are_errors() {
    for adapter in adapters::that_open() {
        let own = Wgpu::open(&adapter).unwrap();
        let gpu = Wgpu::new(own.device().clone(), own.queue().clone()).unwrap();
        for (call, outcome) in calls(&gpu) {
            eprintln!("{} {:?}: {call}: {outcome:?}", adapter.info.name, adapter.info.backend);
            match call {
                "write" => {}
                "bound sort" | "read" | "time" => {
                    assert!(matches!(outcome, Err(Error::DeviceLost(_))), "{call}: {outcome:?}")
                }
                _ => assert!(outcome.is_err(), "{call}"),
            }
        }
    }
}
