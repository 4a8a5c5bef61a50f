//! Fills and copies, on every adapter.

use trifold_conformance::{Outcome, devices_or_skip, fills_and_copies, skip};
use trifold_core::Error;
use trifold_wgpu::Wgpu;

#[test]
fn fills_and_copies_keep_to_their_spans() {
    for adapter in devices_or_skip("vulkan", Ok::<_, Error>(Wgpu::devices())) {
        match Wgpu::open(&adapter) {
            Ok(wgpu) => assert_eq!(fills_and_copies(&wgpu), Outcome::Passed, "{}", adapter.info.name),
            Err(error) => skip("vulkan", error),
        }
    }
}
