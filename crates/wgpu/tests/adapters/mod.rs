//! The adapters that tests run on.

use trifold_wgpu::wgpu::Backend;
use trifold_wgpu::{Adapter, Wgpu};

/// Those that open. One at least has to be Vulkan's where tests may not be skipped.
pub fn that_open() -> Vec<Adapter> {
    let mut adapters = Wgpu::devices();
    adapters.retain(|adapter| match Wgpu::open(adapter) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("passed over: {} ({:?}): {error}", adapter.info.name, adapter.info.backend);
            false
        }
    });
    if !adapters.iter().any(|adapter| adapter.info.backend == Backend::Vulkan) {
        trifold_conformance::skip("vulkan", "no adapter of Vulkan opens");
    }
    adapters
}
