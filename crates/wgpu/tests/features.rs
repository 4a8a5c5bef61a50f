//! A caller's device that was opened with fewer features than its adapter has: kernels do without.

use trifold_core::{Backend, Sort, Transfer, block_on};
use trifold_wgpu::{Wgpu, wanted_features};

/// Where subgroups have no barrier, sorts claim places by atomics.
#[test]
fn sorts_without_a_barrier_of_subgroups() {
    let keys: Vec<u32> = (0..20_011_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    for adapter in block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN)) {
        let descriptor = wgpu::DeviceDescriptor {
            required_features: adapter.features() & (wanted_features() - wgpu::Features::SUBGROUP_BARRIER),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).unwrap();
        let gpu = Wgpu::new(device, queue).unwrap();
        assert!(!gpu.caps().subgroup_barrier);
        let found = gpu.sort(&gpu.upload(&keys).unwrap()).read().unwrap();
        assert!(found == sorted, "{}", adapter.get_info().name);
    }
}
