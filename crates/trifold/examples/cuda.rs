//! A sort of keys with values through CUDA: `cargo run -p trifold --example cuda`.

use trifold::{cuda::Cuda, prelude::*};

fn main() -> trifold::Result<()> {
    let device = Cuda::open(0)?;
    let (keys, values) = (device.upload(&[30u64, 10, 20])?, device.upload(&[0u32, 1, 2])?);
    device.sort(&keys).descending().with(&values).in_place().run()?;
    println!("{:?} {:?}", keys.read()?, values.read()?); // [30, 20, 10] [0, 2, 1]
    Ok(())
}
