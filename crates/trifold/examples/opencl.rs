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
    let input = device.upload(&[3i32, -1, 4, -1, 5])?;
    let output = device.alloc(4)?;
    device.reduce::<i32, Max>(&device.span(&input), &device.span(&output))?;
    println!("{:?}", device.download::<i32>(&device.span(&output))?); // [5]
    Ok(())
}
