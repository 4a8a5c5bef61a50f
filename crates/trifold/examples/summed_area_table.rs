//! A summed-area table by scans of rows and columns, on every device of the machine:
//! `cargo run -p trifold --example summed_area_table`.
//!
//! Entry (x, y) is the sum of all pixels above and to the left, itself included; the sum over any rectangle is then four
//! entries. Each row is scanned, the image is transposed, each row of that is scanned, and it is transposed back (M. Harris,
//! S. Sengupta and J. D. Owens, *Parallel Prefix Sum (Scan) with CUDA*, GPU Gems 3, chapter 39, 39.3.2). A stable sort of the
//! pixels by their column is the transposition, so nothing leaves the device in between.

mod on_device;

use on_device::open_all;
use trifold::{AnyBackend, AnyBuffer, AnySpan, AnySpans, Options, Order, Request, Result, ScanKind, Sum};

const WIDTH: usize = 45;
const HEIGHT: usize = 30;
const BYTES: u64 = (WIDTH * HEIGHT * 4) as u64;

/// Scans each row of an image, all calls enqueued before the first is waited for.
fn scan_rows(device: &dyn AnyBackend, from: &AnyBuffer, to: &AnyBuffer, width: usize) -> Result<()> {
    let scan = Request::scan::<u32, Sum>(ScanKind::Inclusive, None, width as u64);
    let bytes = width as u64 * 4;
    let mut calls = vec![];
    for row in 0..BYTES / bytes {
        let span = |buffer| AnySpan { buffer, offset: row * bytes, bytes };
        let spans = AnySpans::new(span(from), span(to));
        calls.push(device.call(&scan, spans, Options::default())?);
    }
    calls.iter().try_for_each(|call| device.run(call))?;
    device.synchronize()
}

/// Transposes an image of that width: its pixels sorted by their columns.
fn transpose(device: &dyn AnyBackend, from: &AnyBuffer, to: &AnyBuffer, width: usize) -> Result<()> {
    let columns: Vec<u32> = (0..WIDTH * HEIGHT).map(|i| (i % width) as u32).collect();
    let (keys, sorted) = (device.upload(&columns)?, device.alloc(BYTES)?);
    let sort = Request::sort_pairs::<u32, u32>(Order::Ascending, columns.len() as u64);
    let spans = AnySpans::new(AnySpan::whole(&keys), AnySpan::whole(&sorted));
    device.run_once(&sort, spans.with_values(AnySpan::whole(from), AnySpan::whole(to)))
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
        let (a, b) = (device.upload(&image)?, device.alloc(BYTES)?);
        scan_rows(&*device, &a, &b, WIDTH)?;
        transpose(&*device, &b, &a, WIDTH)?;
        scan_rows(&*device, &a, &b, HEIGHT)?;
        transpose(&*device, &b, &a, HEIGHT)?;
        let table = device.download::<u32>(AnySpan::whole(&a))?;
        assert_eq!(table, expected, "{found}");
        println!("{found}: the sum over the {WIDTH} x {HEIGHT} pixels is {}", table[WIDTH * HEIGHT - 1]);
    }
    Ok(())
}
