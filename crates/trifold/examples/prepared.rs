//! Calls that run often, prepared once: `cargo run -p trifold --example prepared`.
//!
//! A function over any backend takes counts that change from frame to frame, and makes of them where each one's output starts, and how much
//! there is in all. Planning, compiling and allocating are done before the first frame; a frame writes its counts and enqueues two
//! bound calls.

use trifold::prelude::*;
use trifold::{Options, Prepared, Request, block_on, planner};

const N: u32 = 100_000;
const FRAMES: u32 = 50;

fn frames<B: Backend + Scan + Reduce>(device: &B) -> trifold::Result<()> {
    let (counts, starts, total) = (device.alloc(4 * u64::from(N))?, device.alloc(4 * u64::from(N))?, device.alloc(4)?);
    let words = |buffer, count| device.span(buffer).elements::<u32>(0, count);
    let scanned = Spans::new(&words(&counts, N.into())?, &words(&starts, N.into())?);
    let reduced = Spans::new(&words(&counts, N.into())?, &words(&total, 1)?);

    // Once. The spans' layout says whether they are in place, and start where wide accesses may.
    let n = N.into();
    let scan = device.prepare_scan::<u32, Sum>(ScanKind::Exclusive, Some(0), n, scanned.layout(device)?)?;
    let sum = device.prepare_reduce::<u32, Sum>(
        None,
        n,
        reduced.layout_for(device, &Request::reduce::<u32, Sum>(None, n))?,
    )?;
    let (scan, sum) = (scan.bind(device, &scanned)?, sum.bind(device, &reduced)?);

    for frame in 0..FRAMES {
        let bytes: Vec<u8> = (0..N).flat_map(|i| (i % (frame + 1)).to_ne_bytes()).collect();
        device.write(&scanned.input, &bytes)?;
        // Enqueued: nothing is compiled or waited for, and on a GPU nothing allocated.
        scan.run(device)?;
        sum.run(device)?;
    }
    let [last, total] = [&scanned.output.elements::<u32>((N - 1).into(), 1)?, &reduced.output];
    let [last, total] = [device.download::<u32>(last)?[0], device.download::<u32>(total)?[0]];
    assert_eq!(last + (N - 1) % FRAMES, total);
    assert_eq!(total, (0..N).map(|i| i % FRAMES).sum::<u32>());

    // By another algorithm than the planner's own, which is the first of these.
    let request = Request::scan::<u32, Sum>(ScanKind::Exclusive, Some(0), n);
    let names = planner::algorithms(&request, device.caps());
    let options = Options { algorithm: names.get(1).copied(), ..Options::default() };
    let other = block_on(Prepared::new(device, &request, scanned.layout(device)?, options))?;
    other.bind(device, &scanned)?.run(device)?;
    assert_eq!(device.download::<u32>(&scanned.output)?.last(), Some(&last));
    println!(
        "{}: {FRAMES} frames by {}, the last one's scan by {} too",
        device.caps().device,
        names[0],
        other.plan().algorithm()
    );
    Ok(())
}

fn main() -> trifold::Result<()> {
    frames(&trifold::cpu::Cpu::new()?)?;
    #[cfg(feature = "wgpu")]
    for adapter in trifold::wgpu::Wgpu::devices() {
        match trifold::wgpu::Wgpu::open(&adapter) {
            Ok(device) => frames(&device)?,
            Err(error) => println!("{} is passed over: {error}", adapter.info.name),
        }
    }
    Ok(())
}
