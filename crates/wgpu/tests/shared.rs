//! What the suite checks of every backend beside its rows: commands, a cache on disk, and calls that are bound once. On every adapter.

mod adapters;

use trifold_conformance::{Outcome, fills_and_copies, kernels_are_cached, repeated_calls_only_run};
use trifold_wgpu::{Cache, Wgpu, wgpu::Features};

#[test]
fn fills_and_copies_keep_to_their_spans() {
    for adapter in adapters::that_open() {
        let wgpu = Wgpu::open(&adapter).unwrap();
        assert_eq!(fills_and_copies(&wgpu), Outcome::Passed, "{}", adapter.info.name);
    }
}

/// The backend is asked for no pipeline, buffer or bind group.
#[test]
fn bound_calls_only_run() {
    for adapter in adapters::that_open() {
        let wgpu = Wgpu::open(&adapter).unwrap();
        assert_eq!(repeated_calls_only_run(wgpu), Outcome::Passed, "{}", adapter.info.name);
    }
}

/// Where an API gives pipelines away.
#[test]
fn pipelines_are_kept() {
    for adapter in adapters::that_open() {
        let open = || Wgpu::open(&adapter);
        if !open().unwrap().device().features().contains(Features::PIPELINE_CACHE) {
            eprintln!("skipped: {} ({:?}) gives no pipelines away", adapter.info.name, adapter.info.backend);
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let open = || Ok(open()?.with_cache(Cache::in_folder(folder.path())));
        assert_eq!(kernels_are_cached(folder.path(), open), Outcome::Passed, "{}", adapter.info.name);
    }
}
