//! A device that has no memory left gives back what it keeps for calls that run once, and goes on.

mod adapters;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use trifold_conformance::{Event, Watched};
use trifold_core::{Error, Result, Sort, Transfer};
use trifold_wgpu::Wgpu;

/// The backend in front, which refuses as many of the next allocations as are asked of it.
fn short_of_memory(gpu: Wgpu) -> (Watched<Wgpu>, Arc<AtomicU32>) {
    let refuse = Arc::new(AtomicU32::new(0));
    let left = refuse.clone();
    let watched = Watched::new(gpu, move |event| {
        if let Event::Allocate { refused, .. } = event {
            *refused = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        }
    });
    (watched, refuse)
}

#[test]
fn what_is_kept_makes_room() {
    for adapter in adapters::that_open() {
        makes_room(Wgpu::open(&adapter).unwrap()).unwrap();
    }
}

fn makes_room(gpu: Wgpu) -> Result<()> {
    let (device, refuse) = short_of_memory(gpu);
    let keys = device.upload(&[3u32, 1, 2])?;
    let sorted = || device.sort(&keys).read();
    assert_eq!(sorted()?, [1, 2, 3]);
    assert!(device.memory().bytes > 0);

    // A buffer: what the sort left behind is given back for it, and the sort makes it anew.
    refuse.store(1, Ordering::Relaxed);
    let more = device.alloc::<u32>(1000)?;
    assert_eq!((device.memory().bytes, more.len()), (0, 1000));
    assert_eq!(sorted()?, [1, 2, 3]);

    // A call of more elements, whose scratch is larger than what is kept.
    let many: Vec<u32> = (0..100_000).rev().collect();
    let (many, out) = (device.upload(&many)?, device.alloc::<u32>(100_000)?);
    assert!(device.memory().bytes > 0);
    refuse.store(1, Ordering::Relaxed);
    device.sort(&many).to(&out).run()?;
    assert_eq!((refuse.load(Ordering::Relaxed), &out.read()?[..3]), (0, &[0, 1, 2][..]));

    // None is left even so.
    refuse.store(2, Ordering::Relaxed);
    assert!(matches!(device.alloc::<u32>(1000), Err(Error::OutOfMemory { bytes: 4000, .. })));
    refuse.store(1, Ordering::Relaxed);
    device.trim();
    assert!(device.alloc::<u32>(1000).is_err(), "nothing is kept that could make room");
    Ok(())
}
