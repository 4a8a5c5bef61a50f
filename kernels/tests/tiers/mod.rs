//! Devices of wgpu that differ in what their kernels may use, and all kernels of each.

use trifold_conformance::{Breadth, kernels};
use trifold_core::algorithm::copy::{FILL, SIZES};
use trifold_core::{Caps, DeviceKind, KernelKey, Language, SubgroupSource, Subgroups};

/// The devices, by what tells them apart.
pub fn tiers() -> [(&'static str, Caps); 4] {
    let native = |min, max| Some(Subgroups { min, max, source: SubgroupSource::Native });
    let full = Caps {
        backend: "wgpu",
        device: "a device for tests".into(),
        driver: "none".into(),
        api: "Vulkan".into(),
        kind: DeviceKind::DiscreteGpu,
        language: Language::Wgsl,
        compute_units: 64,
        memory: 0,
        subgroups: native(32, 32),
        int64: true,
        float64: true,
        atomics64: true,
        atomics128: false,
        coherent: true,
        subgroup_barrier: true,
        forward_progress: true,
        max_workgroup: 1024,
        shared_bytes: 48 * 1024,
        bulk_shared_bytes: 0,
        max_binding: (4 << 30) - 4,
        max_buffer: 64 << 30,
        binding_alignment: 32,
        native_copy: false,
        remedy: String::new(),
    };
    let narrow = Caps {
        kind: DeviceKind::Cpu,
        subgroups: native(4, 4),
        int64: false,
        float64: false,
        atomics64: false,
        atomics128: false,
        coherent: false,
        subgroup_barrier: false,
        shared_bytes: 16 * 1024,
        max_workgroup: 256,
        ..full.clone()
    };
    let varying = Caps { subgroups: native(8, 64), atomics64: false, forward_progress: false, ..full.clone() };
    let none = Caps { subgroups: None, kind: DeviceKind::IntegratedGpu, ..narrow.clone() };
    [("atomics64", full), ("narrow", narrow), ("varying", varying), ("no subgroups", none)]
}

/// Every kernel of every plan, and those with which wgpu fills scratch and writes parameters.
pub fn keys(caps: &Caps) -> Vec<KernelKey> {
    let fill = KernelKey::new(&FILL, vec![], vec![("WORKGROUP", 256), ("ROWS", 8)]);
    let mut keys = kernels(caps, Breadth::Every);
    keys.extend([fill, KernelKey::new(&SIZES, vec![], vec![("WORKGROUP", 64)])]);
    keys
}
