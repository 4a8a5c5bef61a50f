//! Of a bound call OpenCL's backend is asked for no program, buffer or kernel object, on whatever devices there are.

use trifold_conformance::{Outcome, repeated_calls_only_run};
use trifold_opencl::OpenCl;

#[test]
fn bound_calls_only_run() {
    let devices = OpenCl::devices().inspect_err(|error| eprintln!("skipped: {error}")).unwrap_or_default();
    for device in devices {
        match OpenCl::open(&device) {
            Ok(cl) => assert_eq!(repeated_calls_only_run(cl), Outcome::Passed, "{}", device.name),
            Err(error) => eprintln!("skipped: {error}"),
        }
    }
}
