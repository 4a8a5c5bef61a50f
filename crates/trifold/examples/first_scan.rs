//! How long a process waits for its first result, which a cache on disk shortens from the second process on:
//! `cargo run --release -p trifold --example first_scan -- cuda`.

use std::time::Instant;
use trifold::prelude::*;

const N: usize = 1 << 20;

fn main() -> trifold::Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for found in trifold::devices().into_iter().filter(|found| found.is_named(&wanted)) {
        let start = Instant::now();
        let device = match found.open() {
            Ok(device) => device,
            Err(error) => {
                println!("{found}: {error}");
                continue;
            }
        };
        let opened = start.elapsed();
        let (input, output) = (device.upload(&vec![1u32; N])?, device.alloc(N)?);
        let written = start.elapsed() - opened;
        let call = device.inclusive_scan(&input, Sum).to(&output).prepare()?;
        let prepared = start.elapsed() - opened;
        call.run()?;
        assert_eq!(output.slice(N - 1..)?.read()?, [N as u32]);
        let read = start.elapsed() - opened;
        println!(
            "{found}: opened in {opened:.1?}; from there on input written after {written:.1?}, scan prepared after {prepared:.1?}, \
             result after {read:.1?}"
        );
    }
    Ok(())
}
