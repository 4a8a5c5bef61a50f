//! Pipelines kept on disk, on every adapter whose API gives them away.

mod adapters;

use trifold_conformance::{Outcome, kernels_are_cached};
use trifold_wgpu::{Cache, Wgpu, wgpu::Features};

#[test]
fn pipelines_are_kept() {
    for adapter in adapters::that_open() {
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
