//! Particles that die are left out, and the others sorted from the farthest to the nearest, each frame.
//!
//! Everything is recorded into the program's own encoder. Only the device knows how many particles live. The sort reads
//! that count, and it is an argument of an indirect draw. Run it by `cargo run -p trifold --example particles`.

use std::borrow::Cow;

use trifold::prelude::*;
use trifold::wgpu::{Wgpu, wgpu};
use trifold::{Captures, block_on, element};

/// The most particles that there may be.
const MOST: usize = 100_000;

element! {
    /// Keeps particles up to this age. A particle is its depth above its age in one number, so that it sorts by its depth.
    struct Alive { age: u32 }
}

impl Predicate<u32> for Alive {
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return (v & 255u) <= captures.age; }".into()
    }
    fn keep(&self, particle: u32) -> bool {
        particle & 255 <= self.age
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = block_on(adapter.request_device(&Wgpu::requirements(&adapter)))?;

    let gpu = Wgpu::new(device.clone(), queue.clone())?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_SRC;
    let draw =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false });
    let (all, living) = (gpu.alloc(MOST)?, gpu.alloc(MOST)?);
    let instances = gpu.import::<u32>(&draw)?.slice(1..2)?;
    let select = gpu.select(&all, Alive { age: 99 }).count_to(&instances).to(&living).prepare()?;
    let sort = gpu.sort(&living).descending().len_on_device(&instances).in_place().prepare()?;
    for frame in 1..=10 {
        all.write(&(0..MOST as u32).map(|i| i.wrapping_mul(2_654_435_761 + 2 * frame)).collect::<Vec<_>>())?;
        let mut encoder = device.create_command_encoder(&Default::default());
        select.encode(&mut encoder)?;
        sort.encode(&mut encoder)?;
        // Here a pass would draw_indirect(&draw, 0).
        queue.submit([encoder.finish()]);
    }
    let drawn = living.slice(..instances.read()?[0] as usize)?.read()?;
    assert!(
        drawn.is_sorted_by(|far, near| far >= near) && drawn.iter().all(|particle| Alive { age: 99 }.keep(*particle))
    );
    println!("{}: {} of {MOST} particles live, in order", adapter.get_info().name, drawn.len());
    Ok(())
}
