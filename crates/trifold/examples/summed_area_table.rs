//! A summed-area table by scans of rows and columns, on every device of the machine:
//! `cargo run -p trifold --example summed_area_table`.
//!
//! Entry (x, y) is the sum of all pixels above and to the left, itself included. The sum over any rectangle then takes
//! four entries.
//!
//! Each row is scanned, the image is transposed, each row of that is scanned, and it is transposed back (M. Harris, S.
//! Sengupta and J. D. Owens, *Parallel Prefix Sum (Scan) with CUDA*, GPU Gems 3, chapter 39, 39.3.2). A stable sort of
//! the pixels by their column is the transposition, so nothing leaves the device in between.

mod on_device;

use on_device::open_all;
use trifold::prelude::*;
use trifold::{Device, Result};

const WIDTH: usize = 45;
const HEIGHT: usize = 30;

/// Scans each row of an image of that width, and gives the image transposed.
fn scan_and_transpose(device: &Device, image: &Buffer<u32>, width: usize) -> Result<Buffer<u32>> {
    for start in (0..image.len()).step_by(width) {
        device.inclusive_scan(image.slice(start..start + width)?, Sum).in_place().run()?;
    }
    let columns: Vec<u32> = (0..image.len()).map(|i| (i % width) as u32).collect();
    let (_, transposed) = device.sort(device.upload(&columns)?).with(image).collect()?;
    Ok(transposed)
}

fn main() -> Result<()> {
    let image: Vec<u32> = (0..WIDTH * HEIGHT).map(|i| (i * i % 251) as u32).collect();
    let mut expected = image.clone();
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let sum = |x: Option<usize>, y: Option<usize>| x.zip(y).map_or(0, |(x, y)| expected[y * WIDTH + x]);
            let (left, up) = (x.checked_sub(1), y.checked_sub(1));
            expected[y * WIDTH + x] += sum(left, Some(y)) + sum(Some(x), up) - sum(left, up);
        }
    }
    for (found, device) in open_all() {
        let columns = scan_and_transpose(&device, &device.upload(&image)?, WIDTH)?;
        let table = scan_and_transpose(&device, &columns, HEIGHT)?.read()?;
        assert_eq!(table, expected, "{found}");
        println!("{found}: the sum over the {WIDTH} x {HEIGHT} pixels is {}", table[WIDTH * HEIGHT - 1]);
    }
    Ok(())
}
