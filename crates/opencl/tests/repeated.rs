//! Of a bound call OpenCL's backend is asked for no program, buffer or kernel object, on whatever devices there are.

use trifold_conformance::{Outcome, devices_or_skip, repeated_calls_only_run, skip};
use trifold_opencl::OpenCl;

#[test]
fn bound_calls_only_run() {
    let devices = devices_or_skip("opencl", OpenCl::devices());
    for device in devices {
        match OpenCl::open(&device) {
            Ok(cl) => assert_eq!(repeated_calls_only_run(cl), Outcome::Passed, "{}", device.name),
            Err(error) => skip("opencl", error),
        }
    }
}
