//! An inclusive scan on the processor: `cargo run -p trifold --example cpu`.

use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    let device = trifold::cpu::Cpu::new()?;
    let x = device.upload(&[3u32, 1, 4, 1, 5])?;
    println!("{:?}", device.inclusive_scan(&x, Sum).read()?); // [3, 4, 8, 9, 14]
    Ok(())
}
