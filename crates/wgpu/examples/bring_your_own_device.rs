//! Trifold in a program that has its own wgpu device, queue, buffers and command encoder: an exclusive scan, and a sort of pairs, recorded
//! between the program's own commands.

use trifold_core::{Backend, Scan, Sort, Sum, block_on, bytemuck};
use trifold_wgpu::wgpu::util::DeviceExt;
use trifold_wgpu::{Wgpu, wgpu};

const N: u32 = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What the program has already: a device, opened with the features that Trifold makes use of, and data on it. A device
    // without them works too, by the algorithms that need none.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = block_on(adapter.request_device(&Wgpu::requirements(&adapter)))?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = |data: Vec<u32>| {
        let contents = bytemuck::cast_slice(&data);
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let (counts, starts) = (buffer(vec![3; N as usize]), buffer(vec![0; N as usize]));
    let (keys, values) = (buffer((0..N).map(|i| i.wrapping_mul(2_654_435_761)).collect()), buffer((0..N).collect()));

    // Trifold on that device, and its calls in the program's own encoder, which are submitted with the rest of it.
    let gpu = Wgpu::new(device.clone(), queue.clone())?;
    let mut encoder = device.create_command_encoder(&Default::default());
    gpu.exclusive_scan(gpu.import::<u32>(&counts)?, Sum).to(&gpu.import(&starts)?).encode(&mut encoder)?;
    let (k, v) = (gpu.import::<u32>(&keys)?, gpu.import::<u32>(&values)?);
    gpu.sort(&k).with(&v).in_place().encode(&mut encoder)?;

    // The program's own commands follow.
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let results =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 20, usage, mapped_at_creation: false });
    encoder.copy_buffer_to_buffer(&starts, 4 * u64::from(N - 1), &results, 0, 4);
    encoder.copy_buffer_to_buffer(&values, 0, &results, 4, 16);
    queue.submit([encoder.finish()]);

    // Whether that worked, the range below tells.
    results.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&results.get_mapped_range(..)?);
    assert_eq!((words[0], words[1]), (3 * (N - 1), 0));
    let device = &gpu.caps().device;
    println!("{device}: the last of {N} starts is {}; the smallest keys were at {:?}", words[0], &words[1..]);
    Ok(())
}
