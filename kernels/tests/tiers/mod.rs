//! Devices of wgpu that differ in what their kernels may use, and all kernels of each.

use trifold_conformance::{Breadth, kernels};
use trifold_core::algorithm::copy::{FILL, PATCH, SIZES};
use trifold_core::{Caps, DeviceKind, KernelKey, Language, SubgroupSource, Subgroups};

/// The devices, by what tells them apart.
pub fn tiers() -> [(&'static str, Caps); 4] {
    let native = |min, max| Some(Subgroups { min, max, source: SubgroupSource::Native });
    let full = Caps::new("wgpu", "a device for tests".into(), Language::Wgsl).with(|caps| {
        caps.driver = "none".into();
        caps.api = "Vulkan".into();
        caps.kind = DeviceKind::DiscreteGpu;
        caps.compute_units = 64;
        caps.subgroups = native(32, 32);
        caps.int64 = true;
        caps.float64 = true;
        caps.atomics64 = true;
        caps.coherent = true;
        caps.subgroup_barrier = true;
        caps.forward_progress = true;
        caps.max_workgroup = 1024;
        caps.shared_bytes = 48 * 1024;
        caps.max_binding = (4 << 30) - 4;
        caps.max_buffer = 64 << 30;
        caps.binding_alignment = 32;
    });
    let narrow = full.clone().with(|caps| {
        caps.kind = DeviceKind::Cpu;
        caps.subgroups = native(4, 4);
        caps.int64 = false;
        caps.float64 = false;
        caps.atomics64 = false;
        caps.atomics128 = false;
        caps.coherent = false;
        caps.subgroup_barrier = false;
        caps.shared_bytes = 16 * 1024;
        caps.max_workgroup = 256;
    });
    let varying = full.clone().with(|caps| {
        caps.subgroups = native(8, 64);
        caps.atomics64 = false;
        caps.forward_progress = false;
    });
    let none = narrow.clone().with(|caps| {
        caps.subgroups = None;
        caps.kind = DeviceKind::IntegratedGpu;
    });
    [("atomics64", full), ("narrow", narrow), ("varying", varying), ("no subgroups", none)]
}

/// Every kernel of every plan, and those with which wgpu fills scratch and writes parameters.
pub fn keys(caps: &Caps) -> Vec<KernelKey> {
    let fill = KernelKey::new(&FILL, vec![], vec![("WORKGROUP", 256), ("ROWS", 8)]);
    let mut keys = kernels(caps, Breadth::Every);
    let of = |kernel, workgroup| KernelKey::new(kernel, vec![], vec![("WORKGROUP", workgroup)]);
    keys.extend([fill, of(&SIZES, 64), of(&PATCH, 1)]);
    keys
}
