//! Pipelines kept on disk, on every adapter whose API gives them away.

use trifold_conformance::{Outcome, devices_or_skip, kernels_are_cached};
use trifold_core::Error;
use trifold_wgpu::{Cache, Wgpu, wgpu::Features};

#[test]
fn pipelines_are_kept() {
    for adapter in devices_or_skip("vulkan", Ok::<_, Error>(Wgpu::devices())) {
        let open = || Wgpu::open(&adapter);
        let Ok(true) = open().map(|wgpu| wgpu.device().features().contains(Features::PIPELINE_CACHE)) else {
            eprintln!("skipped: {} ({:?}) gives no pipelines away", adapter.info.name, adapter.info.backend);
            continue;
        };
        let folder = tempfile::tempdir().unwrap();
        let open = || Ok(open()?.with_cache(Cache::in_folder(folder.path())));
        assert_eq!(kernels_are_cached(folder.path(), open), Outcome::Passed, "{}", adapter.info.name);
    }
}
