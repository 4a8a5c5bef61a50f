//! How long a process waits for its first result, which a cache on disk shortens from the second process on:
//! `cargo run --release -p trifold --example first_scan -- cuda`.

use std::time::Instant;
use trifold::{AnySpan, AnySpans, Options, Request, ScanKind, Sum};

fn main() -> trifold::Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default().to_lowercase();
    for found in trifold::devices().into_iter().filter(|found| found.to_string().to_lowercase().contains(&wanted)) {
        let start = Instant::now();
        let device = match found.open() {
            Ok(device) => device,
            Err(error) => {
                println!("{found}: {error}");
                continue;
            }
        };
        let opened = start.elapsed();
        let n = 1 << 20;
        let (input, output) = (device.upload(&vec![1u32; n as usize])?, device.alloc(4 * n)?);
        let written = start.elapsed();
        let scan = Request::scan::<u32, Sum>(ScanKind::Inclusive, None, n);
        let spans = AnySpans::new(AnySpan::whole(&input), AnySpan::whole(&output));
        let call = device.call(&scan, spans, Options::default())?;
        let prepared = start.elapsed();
        device.run(&call)?;
        let last = device.download::<u32>(AnySpan { offset: 4 * (n - 1), bytes: 4, ..spans.output })?;
        assert_eq!(last, [n as u32]);
        println!(
            "{found}: opened in {opened:.1?}; from there on input written after {:.1?}, scan prepared after {:.1?}, result after {:.1?}",
            written - opened,
            prepared - opened,
            start.elapsed() - opened
        );
    }
    Ok(())
}
