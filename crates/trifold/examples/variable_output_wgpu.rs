//! Output of variable length from each thread: count, exclusive scan, write.
//!
//! The program has two kernels of its own, on its own wgpu device, and Trifold's scan between them.
//!
//! Thread `i` has as many results as `i` has prime factors, and all are to lie densely. Each thread counts its own. The
//! scan tells it where they go, and it writes them there. Blelloch calls this allocation of processors (G. E. Blelloch,
//! *Prefix Sums and Their Applications*, CMU-CS-90-190, 1990).

use trifold::prelude::*;
use trifold::wgpu::{Wgpu, wgpu};

const KERNELS: &str = "
@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> factors: array<u32>;

fn smallest_factor(x: u32) -> u32 {
  for (var p = 2u; p * p <= x; p++) {
    if (x % p == 0u) { return p; }
  }
  return x;
}

@compute @workgroup_size(256)
fn count_factors(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&counts) - 1u) { return; }
  var count = 0u;
  for (var x = id.x; x > 1u; x /= smallest_factor(x)) { count++; }
  counts[id.x] = count;
}

@compute @workgroup_size(256)
fn write_factors(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&places) - 1u) { return; }
  var place = places[id.x];
  for (var x = id.x; x > 1u; x /= factors[place - 1u]) {
    factors[place] = smallest_factor(x);
    place++;
  }
}";

const N: u32 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program's device, and Trifold on it.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = trifold::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = trifold::block_on(adapter.request_device(&Wgpu::requirements(&adapter)))?;
    let gpu = Wgpu::new(device.clone(), queue.clone())?;
    let source = wgpu::ShaderSource::Wgsl(KERNELS.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let words = |count: u32| {
        let (size, usage) = (4 * u64::from(count), wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let launch = |kernel: &str, arguments: &[wgpu::BindGroupEntry<'_>]| {
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some(kernel),
            compilation_options: Default::default(),
            cache: None,
        });
        let arguments = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: arguments,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &arguments, &[]);
        pass.dispatch_workgroups(N.div_ceil(256), 1, 1);
        drop(pass);
        queue.submit([encoder.finish()]);
    };

    // 1. Count. wgpu's buffers begin as zeros, and the last stays one: its place is the length of all.
    let (counts, places) = (words(N + 1), words(N + 1));
    launch("count_factors", &[argument(0, &counts)]);
    // 2. Scan.
    gpu.exclusive_scan(gpu.import::<u32>(&counts)?, Sum).to(&gpu.import(&places)?).run()?;
    // 3. Write, into memory as long as all results.
    let starts = gpu.import::<u32>(&places)?.read()?;
    let factors = words(starts[N as usize]);
    launch("write_factors", &[argument(1, &places), argument(2, &factors)]);

    let factors = gpu.import::<u32>(&factors)?.read()?;
    let of = |i: u32| &factors[starts[i as usize] as usize..starts[i as usize + 1] as usize];
    assert!((1..N).all(|i| of(i).iter().product::<u32>() == i));
    println!("{}: {N} threads wrote {} results densely; of 84 {:?}", gpu.caps().device, factors.len(), of(84));
    Ok(())
}

fn argument(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
}
