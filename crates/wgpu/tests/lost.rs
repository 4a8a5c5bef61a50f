//! A device that is gone: every call says so, and none panics or waits for ever. On every adapter that wgpu finds.

mod adapters;

use trifold_core::{Backend, Error, Reduce, Result, Scan, Sort, Sum, Transfer};
use trifold_wgpu::Wgpu;

/// Every call, after the device is destroyed.
fn calls(gpu: &Wgpu) -> Vec<(&'static str, Result<()>)> {
    let (from, to) = (gpu.upload(&[3_u32, 1, 2]).unwrap(), gpu.alloc(3).unwrap());
    let call = gpu.sort(&from).to(&to).prepare().unwrap();
    gpu.device().destroy();
    vec![
        ("prepared sort", call.run().and_then(|()| gpu.synchronize())),
        ("scan", gpu.inclusive_scan(&from, Sum).to(&to).run()),
        ("reduce", gpu.reduce(&from, Sum).value().map(drop)),
        ("sort", gpu.sort(&from).to(&to).run()),
        ("write", to.write(&[0; 3])),
        ("read", from.read().map(drop)),
        ("time", call.time(1).map(drop)),
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
        assert!(matches!(gpu.alloc::<u32>(16), Err(Error::DeviceLost(_))));
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
                "prepared sort" | "read" | "time" => {
                    assert!(matches!(outcome, Err(Error::DeviceLost(_))), "{call}: {outcome:?}")
                }
                _ => assert!(outcome.is_err(), "{call}"),
            }
        }
    }
}
