//! The OpenCL devices of this machine, and what Trifold makes of each.

use trifold_core::Result;
use trifold_opencl::OpenCl;

fn main() -> Result<()> {
    for device in OpenCl::devices()? {
        let caps = device.caps()?;
        println!("{}: {} ({}, {})", device.index, caps.device, caps.api, caps.driver);
        println!("   {} compute units, {} MiB, {:?}", caps.compute_units, caps.memory >> 20, caps.kind);
        println!("   subgroups {:?}, workgroups up to {}", caps.subgroups, caps.max_workgroup);
        println!("   64-bit floats {}, 64-bit atomics {}", caps.float64, caps.atomics64);
    }
    Ok(())
}
