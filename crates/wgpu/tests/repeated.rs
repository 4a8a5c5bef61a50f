//! Of a bound call wgpu's backend is asked for no pipeline, buffer or bind group, on every adapter.

mod adapters;

use trifold_conformance::{Outcome, repeated_calls_only_run};
use trifold_wgpu::Wgpu;

#[test]
fn bound_calls_only_run() {
    for adapter in adapters::that_open() {
        let wgpu = Wgpu::open(&adapter).unwrap();
        assert_eq!(repeated_calls_only_run(wgpu), Outcome::Passed, "{}", adapter.info.name);
    }
}
