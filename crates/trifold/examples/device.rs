//! What it costs the host to choose a device at run time.
//!
//! Times a run of a prepared scan as a call of `Device`'s, and the same call as its backend's own.
//!
//! `cargo run --release -p trifold --example device -- cuda` does so on devices whose printed line has `cuda` in it.

mod on_device;

use std::time::Instant;

use on_device::open_all;
use trifold::cpu::Cpu;
use trifold::cuda::Cuda;
use trifold::opencl::OpenCl;
use trifold::prelude::*;
use trifold::wgpu::Wgpu;
use trifold::{Call, Device};

/// The microseconds of some runs of the host's, one by one.
fn times<B: Backend>(call: &Call<B>, times: &mut Vec<f64>) -> trifold::Result<()> {
    for _ in 0..20 {
        let start = Instant::now();
        call.run()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    call.device().synchronize()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Both by turns, if the device is of this backend.
fn compare<B: Backend>(call: &Call<Device>) -> trifold::Result<()> {
    let Some(own) = call.downcast::<B>() else { return Ok(()) };
    let (mut by_device, mut by_own) = (vec![], vec![]);
    for _ in 0..50 {
        times(call, &mut by_device)?;
        times(&own, &mut by_own)?;
    }
    let (by_device, by_own) = (median(&mut by_device), median(&mut by_own));
    println!("  a run {by_device:.2} us, by the backend's own type {by_own:.2} us: {:+.2} us", by_device - by_own);
    Ok(())
}

fn main() -> trifold::Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (found, device) in open_all().filter(|(found, _)| found.is_named(&wanted)) {
        println!("{found}");
        let x = device.upload(&[1u32; 1 << 10])?;
        let call = device.inclusive_scan(&x, Sum).to(&device.alloc(x.len())?).prepare()?;
        compare::<Cpu>(&call)?;
        compare::<Wgpu>(&call)?;
        compare::<OpenCl>(&call)?;
        compare::<Cuda>(&call)?;
    }
    Ok(())
}
