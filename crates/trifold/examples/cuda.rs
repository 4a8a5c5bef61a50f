//! A sort of keys with values through CUDA: `cargo run -p trifold --example cuda`.

use trifold::cuda::Cuda;
use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    let device = Cuda::open(0)?;
    let (keys, values) = (device.upload(&[30u64, 10, 20])?, device.upload(&[0u32, 1, 2])?);
    let (k, v) = (device.span(&keys), device.span(&values));
    device.sort_pairs::<u64, u32>(Order::Descending, &Spans::new(&k, &k).with_values(&v, &v))?;
    println!("{:?}", device.download::<u64>(&k)?); // [30, 20, 10]
    println!("{:?}", device.download::<u32>(&v)?); // [0, 2, 1]
    Ok(())
}
