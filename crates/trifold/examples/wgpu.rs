//! In a program of wgpu's, in its own encoder: `cargo run -p trifold --example wgpu`.

use trifold::prelude::*;
use trifold::wgpu::wgpu::{self, util::DeviceExt};
use trifold::{block_on, bytemuck, wgpu::Wgpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What your program has: a device with its queue, and a buffer.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = block_on(adapter.request_device(&Wgpu::requirements(&adapter)))?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let contents = bytemuck::cast_slice(&[2.5f32, -1.0, 0.0, -0.0]);
    let buffer = device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
    let gpu = Wgpu::new(device.clone(), queue.clone())?;
    let keys = gpu.import::<f32>(&buffer)?;
    let mut encoder = device.create_command_encoder(&Default::default());
    gpu.sort(&keys).in_place().encode(&mut encoder)?;
    queue.submit([encoder.finish()]);
    println!("{:?}", keys.read()?); // [-1.0, -0.0, 0.0, 2.5]
    Ok(())
}
