//! The suite on every adapter that wgpu finds.

use trifold_core::AnyBackend;
use trifold_wgpu::Wgpu;

fn main() {
    trifold_conformance::main_with(|| {
        let open = |adapter| Wgpu::open(adapter).map(|wgpu| Box::new(wgpu) as Box<dyn AnyBackend>);
        let name = |info: &wgpu::AdapterInfo| format!("{} ({:?})", info.name, info.backend);
        Wgpu::devices().iter().map(|adapter| (name(&adapter.info), open(adapter))).collect()
    });
}
