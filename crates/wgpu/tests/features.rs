//! A caller's device that was opened with fewer features than its adapter has: kernels do without.

use trifold_core::{Backend, Scan, Sort, Sum, Transfer, algorithm, block_on};
use trifold_wgpu::Wgpu;

/// Where subgroups have no barrier, sorts claim places by atomics.
#[test]
fn sorts_without_a_barrier_of_subgroups() {
    let keys: Vec<u32> = (0..20_011_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    for adapter in block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN)) {
        let mut descriptor = Wgpu::requirements(&adapter);
        descriptor.required_features.remove(wgpu::Features::SUBGROUP_BARRIER);
        let (device, queue) = block_on(adapter.request_device(&descriptor)).unwrap();
        let gpu = Wgpu::new(device, queue).unwrap();
        assert!(!gpu.caps().subgroup_barrier);
        let found = gpu.sort(&gpu.upload(&keys).unwrap()).read().unwrap();
        assert!(found == sorted, "{}", adapter.get_info().name);
    }
}

/// What is refused for want of a feature says how to open the device with it.
#[test]
fn a_refusal_names_the_features_that_are_missing() {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    for adapter in block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN)) {
        let mut descriptor = Wgpu::requirements(&adapter);
        descriptor.required_features = wgpu::Features::empty();
        let (device, queue) = block_on(adapter.request_device(&descriptor)).unwrap();
        let gpu = Wgpu::new(device, queue).unwrap();
        let (wide, x) = (gpu.upload(&[1_u64, 2]).unwrap(), gpu.upload(&[1_u32, 2]).unwrap());
        let of_type = gpu.inclusive_scan(&wide, Sum).read().unwrap_err().to_string();
        let by = gpu.inclusive_scan(&x, Sum).in_place().by(&algorithm::scan::LOOKBACK).run().unwrap_err().to_string();
        for (error, feature) in [(of_type, "SHADER_INT64"), (by, "SUBGROUP")] {
            assert!(error.contains(feature) && error.contains("Wgpu::requirements(&adapter)"), "{error}");
        }
        assert_eq!(gpu.inclusive_scan(&x, Sum).read().unwrap(), [1, 3]);
    }
}
