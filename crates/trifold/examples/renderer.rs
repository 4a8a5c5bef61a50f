//! A renderer that sorts what it draws, however much there is, in its own encoder each frame:
//! `cargo run -p trifold --example renderer`.

use trifold::prelude::*;
use trifold::wgpu::{Wgpu, wgpu};
use trifold::{Call, block_on};

/// The most sprites that there may be.
const MOST: u32 = 100_000;

/// Draws sprites from the farthest to the nearest. It keeps its buffers, and the sort that was prepared on them.
struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    depths: Buffer<f32, Wgpu>,
    order: Buffer<u32, Wgpu>,
    drawn: Buffer<u32, Wgpu>,
    sort: Call<Wgpu>,
}

impl Renderer {
    fn new(device: wgpu::Device, queue: wgpu::Queue) -> trifold::Result<Renderer> {
        let gpu = Wgpu::new(device.clone(), queue.clone())?;
        let (n, sprites) = (MOST as usize, gpu.upload(&(0..MOST).collect::<Vec<_>>())?);
        let (depths, sorted, order, drawn) = (gpu.alloc(n)?, gpu.alloc(n)?, gpu.alloc(n)?, gpu.alloc(4)?);
        // The call keeps the sprites' numbers and the sorted depths too, which nothing else needs.
        let sort = gpu.sort(&depths).descending().with(&sprites).to((&sorted, &order)).up_to(n).prepare()?;
        Ok(Renderer { device, queue, depths, order, drawn, sort })
    }

    /// Plans, compiles and allocates nothing, and waits for nothing.
    fn frame(&self, depths: &[f32]) -> trifold::Result<()> {
        self.depths.slice(..depths.len())?.write(depths)?;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.sort.encode_n(&mut encoder, depths.len())?;
        // In place of a pass that draws in this order. A handle is the wgpu::Buffer.
        encoder.copy_buffer_to_buffer(self.order.span().handle(), 0, self.drawn.span().handle(), 0, 16);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = block_on(adapter.request_device(&Wgpu::requirements(&adapter)))?;
    let renderer = Renderer::new(device, queue)?;
    for frame in 0..10 {
        let n = MOST - frame * 9001;
        renderer.frame(&(0..n).map(|sprite| ((sprite + frame * 1000) % n) as f32).collect::<Vec<_>>())?;
        let farthest = n - 1 - frame * 1000;
        assert_eq!(renderer.drawn.read()?, [farthest, farthest - 1, farthest - 2, farthest - 3]);
    }
    println!("{}: 10 frames of up to {MOST} sprites in order", adapter.get_info().name);
    Ok(())
}
