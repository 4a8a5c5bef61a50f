//! Fills and copies, on every adapter.

mod adapters;

use trifold_conformance::{Outcome, fills_and_copies};
use trifold_wgpu::Wgpu;

#[test]
fn fills_and_copies_keep_to_their_spans() {
    for adapter in adapters::that_open() {
        let wgpu = Wgpu::open(&adapter).unwrap();
        assert_eq!(fills_and_copies(&wgpu), Outcome::Passed, "{}", adapter.info.name);
    }
}
