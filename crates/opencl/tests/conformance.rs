//! The suite on every OpenCL device.

use trifold_core::{Device, Error};
use trifold_opencl::OpenCl;

fn main() {
    trifold_conformance::main_with(|| match OpenCl::devices() {
        Ok(devices) => {
            devices.iter().map(|device| (device.name.clone(), OpenCl::open(device).map(Device::of))).collect()
        }
        // No driver is no fault of this crate's.
        Err(error) => vec![("opencl".into(), Err(Error::Unsupported(error.to_string())))],
    });
}
