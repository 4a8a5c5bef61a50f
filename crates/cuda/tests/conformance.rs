//! The suite on every CUDA device.

use trifold_core::{Device, Error};
use trifold_cuda::{Cuda, nvrtc_version};

fn main() {
    // Without a compiler there is nothing to test.
    trifold_conformance::main_with(|| match Cuda::devices().and_then(|devices| nvrtc_version().map(|_| devices)) {
        Ok(devices) => {
            devices.iter().map(|device| (device.name.clone(), Cuda::open(device.ordinal).map(Device::of))).collect()
        }
        // No driver is no fault of this crate's.
        Err(error) => vec![("cuda".into(), Err(Error::Unsupported(error.to_string())))],
    });
}
