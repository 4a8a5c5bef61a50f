//! Calls that run often, prepared once: `cargo run -p trifold --example prepared`.
//!
//! A function over any backend takes counts that change from frame to frame. From them it computes where each one's
//! output starts, and how much there is in all.
//!
//! Planning, compiling and allocating are done before the first frame. A frame writes its counts and enqueues two
//! prepared calls.

mod on_device;

use on_device::open_all;
use trifold::plan;
use trifold::prelude::*;

const N: u32 = 100_000;
const FRAMES: u32 = 50;

fn frames<B: Backend + Scan + Reduce>(device: &B) -> trifold::Result<()> {
    let n = N as usize;
    let (counts, starts, total) = (device.alloc::<u32>(n)?, device.alloc(n)?, device.alloc(1)?);
    // Once.
    let scan = device.exclusive_scan(&counts, Sum).to(&starts).prepare()?;
    let sum = device.reduce(&counts, Sum).to(&total).prepare()?;

    for frame in 0..FRAMES {
        counts.write(&(0..N).map(|i| i % (frame + 1)).collect::<Vec<_>>())?;
        // Enqueued: nothing is compiled or waited for, and on a GPU nothing allocated.
        scan.run()?;
        sum.run()?;
    }
    let (last, total) = (starts.slice(n - 1..)?.read()?[0], total.read()?[0]);
    assert_eq!(last + (N - 1) % FRAMES, total);
    assert_eq!(total, (0..N).map(|i| i % FRAMES).sum::<u32>());

    // By another algorithm than the planner's own, which is the first of these.
    let again = device.exclusive_scan(&counts, Sum).to(&starts);
    let algorithms = plan::algorithms(again.request(), device.caps());
    let again = again.by(algorithms[1]).prepare()?;
    again.run()?;
    assert_eq!(starts.read()?.last(), Some(&last));
    let (name, first, other) = (&device.caps().device, algorithms[0], again.plan().algorithm());
    println!("{name}: {FRAMES} frames by {first}, the last one's scan by {other} too");
    Ok(())
}

fn main() -> trifold::Result<()> {
    // A device of a type that is known, and those that are found at run time.
    frames(&trifold::cpu::Cpu::new()?)?;
    open_all().try_for_each(|(_, device)| frames(&device))
}
