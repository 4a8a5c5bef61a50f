//! Counts in the caller's own indirect arguments: how many elements are kept is how many workgroups the caller's dispatch has.

mod adapters;

use trifold_core::{Buffer, Select, Sort, Transfer, UpperHalf};
use trifold_wgpu::{Wgpu, wgpu};

/// Each workgroup counts itself.
const COUNT: &str = "
@group(0) @binding(0) var<storage, read_write> groups: atomic<u32>;
@compute @workgroup_size(1) fn count() { atomicAdd(&groups, 1u); }";

fn dispatch(gpu: &Wgpu, encoder: &mut wgpu::CommandEncoder, groups: &Buffer<u32, Wgpu>, args: &wgpu::Buffer) {
    let device = gpu.device();
    let source = wgpu::ShaderSource::Wgsl(COUNT.into());
    let module = &device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: groups.span().handle().as_entire_binding() }],
    });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups_indirect(args, 0);
}

#[test]
fn a_count_is_an_indirect_argument() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 12, usage, mapped_at_creation: false };
        let args = gpu.device().create_buffer(&descriptor);
        gpu.queue().write_buffer(&args, 0, [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0].as_slice());
        let count = gpu.import::<u32>(&args).unwrap().slice(..1).unwrap();
        let x = gpu.upload(&(0..1000).map(|i| (i % 10) as f32 / 10.0).collect::<Vec<_>>()).unwrap();
        let (kept, groups) = (gpu.alloc::<f32>(1000).unwrap(), gpu.upload(&[0]).unwrap());
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.select(&x, UpperHalf).count_to(&count).to(&kept).encode(&mut encoder).unwrap();
        gpu.sort(&kept).len_on_device(&count).in_place().encode(&mut encoder).unwrap();
        dispatch(&gpu, &mut encoder, &groups, &args);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(groups.read().unwrap(), [500], "{}", adapter.info.name);
        let sorted = kept.slice(..500).unwrap().read().unwrap();
        assert!(sorted.is_sorted() && sorted[0] == 0.5, "{}", adapter.info.name);
    }
}
