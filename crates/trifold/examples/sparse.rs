//! A sparse matrix in rows (CSR) times a vector, on every device of the machine: `cargo run -p trifold --example sparse`.
//!
//! It is one call: each value times the vector's element of its column, added up row by row. Numbers are whole, so that sums are
//! exact.

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::prelude::*;

#[derive(Clone)]
struct Times;

impl Map<(f32, f32)> for Times {
    type Output = f32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A, b: B) -> U { return a * b; }".into()
    }
    fn map(&self, (value, x): (f32, f32)) -> f32 {
        value * x
    }
}

fn main() -> trifold::Result<()> {
    const ROWS: u32 = 5000;
    let mixed = |i: u32| i.wrapping_mul(0x9e37_79b9) >> 16;
    // Rows of 0 to 30 values, one of 20 000, and where each begins.
    let lengths = (0..ROWS).map(|row| if row == 7 { 20_000 } else { mixed(row) % 31 });
    let mut offsets = vec![0];
    offsets.extend(lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let n = offsets[ROWS as usize];
    let values: Vec<f32> = (0..n).map(|i| (mixed(i) % 9) as f32 - 4.0).collect();
    let columns: Vec<u32> = (0..n).map(|i| mixed(!i) % ROWS).collect();
    let x: Vec<f32> = (0..ROWS).map(|i| (mixed(i) % 7) as f32).collect();
    let row = |begin: u32, end: u32| -> f32 {
        (begin as usize..end as usize).map(|i| values[i] * x[columns[i] as usize]).sum()
    };
    let want: Vec<f32> = offsets.windows(2).map(|ends| row(ends[0], ends[1])).collect();

    for (found, device) in open_all() {
        let (values, columns) = (device.upload(&values)?, device.upload(&columns)?);
        let (x, offsets) = (device.upload(&x)?, device.upload(&offsets)?);
        let products = values.zipped(x.gathered(&columns)).mapped(Times);
        let y = device.reduce(products, Sum).segments(&offsets).read()?;
        assert_eq!(y, want, "{found}");
        println!("{found}: {n} values in {} rows", y.len());
    }
    Ok(())
}
