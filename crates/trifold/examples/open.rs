//! On the best device that there is: `cargo run -p trifold --example open`.

use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    let gpu = trifold::open()?;
    let x = gpu.upload(&[3u32, 1, 4, 1, 5])?;
    println!("{:?}", gpu.inclusive_scan(&x, Sum).read()?); // [3, 4, 8, 9, 14]

    // How many are kept stays on the device: the host does not wait for it.
    let high = gpu.select(&gpu.upload(&[0.7f32, 0.2, 0.9, 0.5])?, UpperHalf).compact()?;
    gpu.sort(&high).in_place().run()?;
    println!("{:?}", high.read()?); // [0.5, 0.7, 0.9]
    Ok(())
}
