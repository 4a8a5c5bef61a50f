//! What a run of n elements takes, of a call that was prepared up to a capacity: beside a call that was prepared for n alone.
//! `cargo run --release -p trifold --example sizes -- 20 vulkan`, for a capacity of 2^20, on devices with that in their line.

mod on_device;

use std::time::Instant;

use on_device::open_all;
use trifold::Placed;
use trifold::prelude::*;

const RUNS: u32 = 20;

/// The median of some runs' microseconds on the device, and of the host's for one; none where a device has no timestamps.
fn measure(call: &trifold::Call<trifold::Device>, n: usize) -> trifold::Result<(Option<f64>, f64)> {
    let (mut device, mut host) = (vec![], vec![]);
    for _ in 0..RUNS {
        device.extend(call.time_n(n, 1).ok().map(|ms| 1e3 * ms));
        let start = Instant::now();
        call.run_n(n)?;
        host.push(start.elapsed().as_secs_f64() * 1e6);
        call.device().synchronize()?;
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    };
    Ok((median(device), median(host).unwrap_or(0.0)))
}

fn compare(what: &str, capacity: usize, make: impl Fn(usize) -> trifold::Result<Placed>) -> trifold::Result<()> {
    let sized = make(capacity)?.up_to(capacity).prepare()?;
    for n in [capacity / 100, capacity / 10, capacity / 2 + 1, capacity] {
        let (exact, any) = (measure(&make(n)?.prepare()?, n)?, measure(&sized, n)?);
        let ratio = exact
            .0
            .zip(any.0)
            .map_or(String::new(), |(exact, any)| format!("device {any:.1} us ({:.2} of a call for n), ", any / exact));
        println!("  {what} of {n}: {ratio}host {:.1} us ({:.2})", any.1, any.1 / exact.1);
    }
    Ok(())
}

fn main() -> trifold::Result<()> {
    let exponent = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(16);
    let capacity = 1_usize << exponent;
    let words: Vec<u32> = (0..capacity as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let wanted = std::env::args().nth(2).unwrap_or_default().to_lowercase();
    open_all().filter(|(found, _)| found.to_string().to_lowercase().contains(&wanted)).try_for_each(
        |(found, device)| {
            println!("{found}, up to {capacity}");
            let (x, to) = (device.upload(&words)?, device.alloc(capacity)?);
            compare("a scan", capacity, |n| Ok(device.inclusive_scan(x.slice(..n)?, Sum).to(&to.slice(..n)?)))?;
            compare("a sort", capacity, |n| Ok(device.sort(x.slice(..n)?).to(&to.slice(..n)?)))
        },
    )
}
