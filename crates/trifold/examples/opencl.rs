//! A reduction through OpenCL: `cargo run -p trifold --example opencl`.

use trifold::opencl::OpenCl;
use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    let devices = OpenCl::devices()?;
    let Some(first) = devices.first() else {
        println!("OpenCL has no device");
        return Ok(());
    };
    let device = OpenCl::open(first)?;
    let x = device.upload(&[3i32, -1, 4, -1, 5])?;
    println!("{:?}", device.reduce(&x, Max).value()?); // 5
    Ok(())
}
