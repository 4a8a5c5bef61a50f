//! A reduction through OpenCL: `cargo run -p trifold --example opencl`.

use trifold::{opencl::OpenCl, prelude::*};

fn main() -> trifold::Result<()> {
    for found in OpenCl::devices()? {
        let device = OpenCl::open(&found)?;
        let x = device.upload(&[3i32, -1, 4, -1, 5])?;
        println!("{:?}", device.reduce(&x, Max).value()?); // 5
    }
    Ok(())
}
