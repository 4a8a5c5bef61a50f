//! The suite on the emulated CUDA device: planned for as a software device, or with `TRIFOLD_EMULATE=gpu` as an NVIDIA GPU.

use trifold_core::{Device, DeviceKind};
use trifold_cuda_emulation::Emulation;

fn main() {
    trifold_conformance::main_with(|| {
        let kind = match std::env::var("TRIFOLD_EMULATE").as_deref() {
            Ok("gpu") => DeviceKind::DiscreteGpu,
            _ => DeviceKind::Cpu,
        };
        vec![("emulation".into(), Emulation::new(kind).map(Device::of))]
    });
}
