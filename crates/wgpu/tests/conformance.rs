//! The suite on every adapter that wgpu finds.

use trifold_core::Device;
use trifold_wgpu::Wgpu;

fn main() {
    trifold_conformance::main_with(|| {
        let open = |adapter| Wgpu::open(adapter).map(Device::of);
        let name = |info: &wgpu::AdapterInfo| format!("{} ({:?})", info.name, info.backend);
        Wgpu::devices().iter().map(|adapter| (name(&adapter.info), open(adapter))).collect()
    });
}
