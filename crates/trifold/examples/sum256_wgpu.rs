//! The smallest complete reduction: 256 numbers, one workgroup, one launch. wgpu alone, without the library.

use trifold::bytemuck;
use trifold::wgpu::wgpu;
use trifold::wgpu::wgpu::util::DeviceExt;

const KERNEL: &str = "
@group(0) @binding(0) var<storage, read> input: array<f32, 256>;
@group(0) @binding(1) var<storage, read_write> output: array<f32, 1>;
var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn sum256(@builtin(local_invocation_index) thread: u32) {
  sums[thread] = input[thread];
  workgroupBarrier();
  for (var stride = 128u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { sums[thread] += sums[thread + stride]; }
    workgroupBarrier();
  }
  if (thread == 0u) { output[0] = sums[0]; }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A device, and a queue to it.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = trifold::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = trifold::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;

    // The input on the device, a word for the output there, and one that the host can read.
    let numbers: Vec<f32> = (0..256u16).map(f32::from).collect();
    let contents = bytemuck::cast_slice(&numbers);
    let usage = wgpu::BufferUsages::STORAGE;
    let input = device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
    let word = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false })
    };
    let output = word(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let result = word(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);

    // The kernel, and its two arguments.
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(KERNEL.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("sum256"),
        compilation_options: Default::default(),
        cache: None,
    });
    let arguments = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: input.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: output.as_entire_binding() },
        ],
    });

    // One workgroup, and the copy of what it wrote.
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &arguments, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&output, 0, &result, 0, 4);
    queue.submit([encoder.finish()]);

    result.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let sum: f32 = bytemuck::pod_read_unaligned(&result.get_mapped_range(..)?);
    println!("{}: the sum of 0 to 255 is {sum}", adapter.get_info().name);
    assert_eq!(sum, 32640.0);
    Ok(())
}
