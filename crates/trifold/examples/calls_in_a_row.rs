//! What calls in a row take, on random numbers: each by its builder, and prepared before.
//! `cargo run --release -p trifold --example calls_in_a_row -- cuda 28`.
//!
//! The calls are those of `crates/python/benches/against.py`, and so is their time: the host's and the device's, with a wait
//! behind the last call, the median of seven. Results go to memory that is there; Python's calls allocate theirs. Without
//! arguments it is the processor, up to 2^12 elements.

use std::time::Instant;

use trifold::prelude::*;
use trifold::{Device, Placed};

/// Of a row.
const WIDTH: usize = 4096;

fn main() -> trifold::Result<()> {
    let mut args = std::env::args().skip(1);
    let wanted = args.next().unwrap_or("cpu".into());
    let most = args.next().and_then(|text| text.parse().ok()).unwrap_or(12);
    for found in trifold::devices().into_iter().filter(|found| found.is_named(&wanted)) {
        let device = found.open()?;
        let fewer = [10, 16, 20, 24].into_iter().filter(|log| *log < most);
        for log in fewer.chain([most]) {
            println!("\n{found}:\n\n| 2^{log} | us | prepared | G elements/s | prepared |\n|---|---|---|---|---|");
            rows(&device, 1 << log)?;
        }
    }
    Ok(())
}

fn rows(device: &Device, n: usize) -> trifold::Result<()> {
    let x = device.upload(&random(n).map(|bits| (bits >> 8) as f32 / (1 << 24) as f32).collect::<Vec<_>>())?;
    let keys = device.upload(&random(n).map(|bits| bits as i32).collect::<Vec<_>>())?;
    let (y, total) = (device.alloc::<f32>(n)?, device.alloc::<f32>(1)?);
    let (sorted, places, count) = (device.alloc::<i32>(n)?, device.alloc::<u32>(n)?, device.alloc::<u32>(1)?);
    let enqueued = || Ok(());
    row(device, n, "scan", || device.inclusive_scan(&x, Sum).to(&y), enqueued)?;
    row(device, n, "reduce", || device.reduce(&x, Sum).to(&total), enqueued)?;
    row(device, n, "sort", || device.argsort(&keys).with_keys(&sorted).to(&places), enqueued)?;
    let best = (y.slice(..32)?, places.slice(..32)?);
    row(device, n, "top_k, k = 32", || device.top_k(&x, 32).with_indices().to((&best.0, &best.1)), enqueued)?;
    let mask = || device.select(&x, UpperHalf).count_to(&count).to(&y);
    row(device, n, "mask", mask, || count.read().map(drop))?;
    if n >= WIDTH {
        let best = (y.slice(..n / WIDTH * 32)?, places.slice(..n / WIDTH * 32)?);
        let of_rows = || device.top_k(&x, 32).rows(WIDTH).with_indices().to((&best.0, &best.1));
        row(device, n, "rows of 4096: top_k, k = 32", of_rows, enqueued)?;
    }
    Ok(())
}

/// A call's times, as a row of the table. Behind each call something may be waited for.
fn row(
    device: &Device,
    n: usize,
    name: &str,
    call: impl Fn() -> Placed,
    behind: impl Fn() -> trifold::Result<()>,
) -> trifold::Result<()> {
    let built = seconds(device, n, || call().run().and_then(|()| behind()))?;
    let prepared = call().prepare()?;
    let prepared = seconds(device, n, || prepared.run().and_then(|()| behind()))?;
    let rate = |seconds: f64| n as f64 / seconds / 1e9;
    let (us, prepared_us) = (built * 1e6, prepared * 1e6);
    println!("| {name} | {us:.1} | {prepared_us:.1} | {:.1} | {:.1} |", rate(built), rate(prepared));
    Ok(())
}

/// The median of seven times of a call.
fn seconds(device: &Device, n: usize, call: impl Fn() -> trifold::Result<()>) -> trifold::Result<f64> {
    let (repeat, mut times) = (if n <= 1 << 16 { 300 } else { 10 }, vec![]);
    (0..3).try_for_each(|_| call())?;
    for _ in 0..7 {
        device.synchronize()?;
        let start = Instant::now();
        (0..repeat).try_for_each(|_| call())?;
        device.synchronize()?;
        times.push(start.elapsed().as_secs_f64() / f64::from(repeat));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Random numbers, by a multiplication and shifts.
fn random(n: usize) -> impl Iterator<Item = u32> {
    (1..=n as u32).map(|i| {
        let bits = (i ^ (i >> 16)).wrapping_mul(0x7feb_352d);
        let bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
        bits ^ (bits >> 16)
    })
}
