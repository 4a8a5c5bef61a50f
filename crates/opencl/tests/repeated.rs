//! Calls that are bound run without another program, buffer or kernel object, on whatever OpenCL devices there are.

use trifold_conformance::{Outcome, repeated_calls_only_run};
use trifold_opencl::OpenCl;

#[test]
fn bound_calls_only_run() {
    let devices = OpenCl::devices().inspect_err(|error| eprintln!("skipped: {error}")).unwrap_or_default();
    for device in devices {
        let cl = OpenCl::open(&device).unwrap();
        assert_eq!(repeated_calls_only_run(cl), Outcome::Passed, "{}", device.name);
    }
}
