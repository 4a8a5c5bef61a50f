//! An inclusive scan on the processor: `cargo run -p trifold --example cpu`.

use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    let device = trifold::cpu::Cpu::new()?;
    let input = device.upload(&[3u32, 1, 4, 1, 5])?;
    let output = device.alloc(20)?;
    device.inclusive_scan::<u32, Sum>(&device.span(&input), &device.span(&output))?;
    println!("{:?}", device.download::<u32>(&device.span(&output))?); // [3, 4, 8, 9, 14]
    Ok(())
}
