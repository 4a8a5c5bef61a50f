//! A sort through wgpu: `cargo run -p trifold --example wgpu`.

use trifold::prelude::*;
use trifold::wgpu::Wgpu;

fn main() -> trifold::Result<()> {
    let adapters = Wgpu::devices();
    let Some(adapter) = adapters.first() else {
        println!("wgpu finds no device");
        return Ok(());
    };
    let device = Wgpu::open(adapter)?;
    let keys = device.upload(&[2.5f32, -1.0, 0.0, -0.0])?;
    device.sort(&keys).in_place().run()?;
    println!("{:?}", keys.read()?); // [-1.0, -0.0, 0.0, 2.5]
    Ok(())
}
