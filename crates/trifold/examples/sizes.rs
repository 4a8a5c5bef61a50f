//! What a run of n elements takes, by how its call is made.
//!
//! | The call | What is timed |
//! |---|---|
//! | prepared for n alone | the device and the host |
//! | runs once | the host |
//! | prepared up to a capacity, n of the host's | the device and the host; and what it costs to record a run |
//! | prepared up to a capacity, n on the device | the device and the host |
//!
//! `cargo run --release -p trifold --example sizes -- 20 vulkan` has a capacity of 2^20, on devices whose printed line
//! has `vulkan` in it.

mod on_device;

use std::time::Instant;

use on_device::open_all;
use trifold::prelude::*;
use trifold::{Backend, Buffer, Call, Device, Placed};

const RUNS: u32 = 20;

/// The medians of some runs' microseconds: on the device, and of the host's for one.
struct Times {
    /// None where a device has no timestamps.
    device: Option<f64>,
    host: f64,
}

impl Times {
    fn of(call: &Call<Device>, n: usize) -> trifold::Result<Times> {
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
        Ok(Times { device: median(device), host: median(host).unwrap_or(0.0) })
    }

    fn beside(&self, exact: &Times) -> String {
        let device = self.device.zip(exact.device);
        let device = device.map_or("-".into(), |(own, exact)| format!("{own:.1} us ({:.2})", own / exact));
        format!("{device:>18} {:>7.1} us", self.host)
    }
}

/// The host's median time to record a run of other n each time, in us. All of them go into one recorder.
fn recorded(call: &Call<Device>, n: usize) -> trifold::Result<f64> {
    let device = call.device();
    let (mut recorder, mut times) = (device.record()?, vec![]);
    for less in 0..n.min(RUNS as usize) {
        let start = Instant::now();
        call.encode_n(&mut recorder, n - less)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    device.submit(recorder)?;
    device.synchronize()?;
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(0.0))
}

/// Makes a call for n elements, or for as many as the device says.
type Make<'a> = &'a dyn Fn(usize, Option<&Buffer<u32>>) -> trifold::Result<Placed>;

fn compare(device: &Device, what: &str, capacity: usize, make: Make<'_>) -> trifold::Result<()> {
    let once = |n| -> trifold::Result<f64> {
        let mut host = vec![];
        for _ in 0..RUNS {
            let call = make(n, None)?;
            let start = Instant::now();
            call.run()?;
            host.push(start.elapsed().as_secs_f64() * 1e6);
            device.synchronize()?;
        }
        host.sort_by(f64::total_cmp);
        Ok(host[host.len() / 2])
    };
    let length = device.upload(&[0])?;
    let sized = make(capacity, None)?.up_to(capacity).prepare()?;
    let counted = make(capacity, Some(&length))?.prepare()?;
    for n in [capacity / 100, capacity / 10, capacity / 2 + 1, capacity] {
        length.write(&[n as u32])?;
        let exact = Times::of(&make(n, None)?.prepare()?, n)?;
        let encode = recorded(&sized, n)?;
        let (sized, counted) = (Times::of(&sized, n)?, Times::of(&counted, capacity)?);
        let alone = exact.device.map_or("-".into(), |us| format!("{us:.1} us"));
        let (host, once) = (exact.host, once(n)?);
        println!(
            "{what} {n:>9} {alone:>12} {host:>6.1} us {once:>6.1} us {} {encode:>6.1} us {}",
            sized.beside(&exact),
            counted.beside(&exact)
        );
    }
    Ok(())
}

fn main() -> trifold::Result<()> {
    let exponent = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(16);
    let capacity = 1_usize << exponent;
    let words: Vec<u32> = (0..capacity as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let wanted = std::env::args().nth(2).unwrap_or_default();
    for (found, device) in open_all().filter(|(found, _)| found.is_named(&wanted)) {
        println!("{found}, up to {capacity}\n");
        println!(
            "{:>14} {:>22} {:>9} {:>29} {:>9} {:>29}",
            "n", "for n alone, host", "one-shot", "n of the host's", "encode", "n on the device"
        );
        let (x, to) = (device.upload(&words)?, device.alloc(capacity)?);
        compare(&device, "scan", capacity, &|n, length| {
            let scan = device.inclusive_scan(x.slice(..n)?, Sum);
            let scan = length.into_iter().fold(scan, |scan, length| scan.len_on_device(length));
            Ok(scan.to(&to.slice(..n)?))
        })?;
        compare(&device, "sort", capacity, &|n, length| {
            let sort = device.sort(x.slice(..n)?);
            let sort = length.into_iter().fold(sort, |sort, length| sort.len_on_device(length));
            Ok(sort.to(&to.slice(..n)?))
        })?;
        compare(&device, "keep", capacity, &|n, length| {
            let select = device.select(x.slice(..n)?, UpperHalf);
            let select = length.into_iter().fold(select, |select, length| select.len_on_device(length));
            Ok(select.to(&to.slice(..n)?))
        })?;
    }
    Ok(())
}
