//! Fills and copies of the emulated device.

use trifold_conformance::{Outcome, fills_and_copies, skip};
use trifold_core::DeviceKind;
use trifold_cuda_emulation::Emulation;

#[test]
fn fills_and_copies_keep_to_their_spans() {
    match Emulation::new(DeviceKind::Cpu) {
        Ok(device) => assert_eq!(fills_and_copies(&device), Outcome::Passed),
        Err(error) => skip("clang", error),
    }
}
