//! Through GL one thread works at a time, and wgpu-hal panics where another one has done so for six seconds: no call may.

mod adapters;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trifold_core::{Backend, Error, Reduce, Sum, Transfer};
use trifold_wgpu::{Adapter, Wgpu, wgpu};

/// Longer than wgpu-hal waits.
const LONG: Duration = Duration::from_secs(7);

fn gl() -> Vec<Adapter> {
    let mut adapters = adapters::that_open();
    adapters.retain(|adapter| adapter.info.backend == wgpu::Backend::Gl);
    if adapters.is_empty() {
        trifold_conformance::skip("gl", "no adapter of GL opens");
    }
    adapters
}

/// Another opening of the same adapter works while a long call runs.
#[test]
fn others_wait_for_a_long_call() {
    for adapter in gl() {
        let [busy, other] = [(); 2].map(|()| Wgpu::open(&adapter).unwrap());
        let n = 1 << 20;
        let ones = busy.upload(&vec![1_u32; n]).unwrap();
        let sum = busy.alloc(1).unwrap();
        let call = busy.reduce(&ones, Sum).to(&sum).prepare().unwrap();
        // So many runs in one submission that they take long. The first compiles.
        let runs = |count: u32| {
            let mut recorder = busy.record().unwrap();
            (0..count).for_each(|_| call.encode(&mut recorder).unwrap());
            let started = Instant::now();
            busy.submit(recorder).unwrap();
            busy.synchronize().unwrap();
            started.elapsed()
        };
        runs(1);
        let mut count = (1.2 * 512.0 * LONG.as_secs_f64() / runs(512).as_secs_f64()).ceil() as u32;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut calls = 0;
                while !done.load(Ordering::Relaxed) {
                    let few = other.upload(&[1_u32, 2, 3]).unwrap();
                    assert_eq!(other.reduce(&few, Sum).value().unwrap(), 6);
                    calls += 1;
                }
                calls
            });
            let took = loop {
                let took = runs(count);
                if took >= LONG {
                    break took;
                }
                count *= 2;
            };
            done.store(true, Ordering::Relaxed);
            let calls: u32 = waiting.join().unwrap();
            eprintln!("{}: {count} runs took {took:?}, beside {calls} calls", adapter.info.name);
        });
        assert_eq!(sum.read().unwrap(), [n as u32]);
    }
}

/// A caller's own calls may hold the context: then a call says so, and the next one works.
#[test]
fn a_context_that_the_caller_holds_is_an_error() {
    for adapter in gl() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let data = gpu.upload(&[5_u32]).unwrap();
        // SAFETY: the context is held, and nothing is done with it.
        let device = unsafe { gpu.device().as_hal::<wgpu::hal::api::Gles>() }.unwrap();
        let held = device.context().lock();
        std::thread::scope(|scope| {
            let refused = scope.spawn(|| data.read()).join().unwrap();
            let Err(error @ Error::Backend { .. }) = refused else { panic!("{refused:?}") };
            assert!(error.to_string().contains("GL context"), "{error}");
        });
        drop(held);
        drop(device);
        assert_eq!(data.read().unwrap(), [5]);
    }
}
