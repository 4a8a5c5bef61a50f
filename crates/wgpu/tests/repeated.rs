//! Of a bound call wgpu's backend is asked for no pipeline, buffer or bind group, on every adapter.

use trifold_conformance::{Outcome, devices_or_skip, repeated_calls_only_run, skip};
use trifold_core::Error;
use trifold_wgpu::Wgpu;

#[test]
fn bound_calls_only_run() {
    for adapter in devices_or_skip("vulkan", Ok::<_, Error>(Wgpu::devices())) {
        match Wgpu::open(&adapter) {
            Ok(wgpu) => assert_eq!(repeated_calls_only_run(wgpu), Outcome::Passed, "{}", adapter.info.name),
            Err(error) => skip("vulkan", error),
        }
    }
}
