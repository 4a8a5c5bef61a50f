//! Output of variable length from each thread: count, exclusive scan, write. On every device of the machine:
//! `cargo run -p trifold --example variable_output`.
//!
//! Thread `i` has as many results as `i` has prime factors, and all results are to lie densely. Each thread counts its own, an
//! exclusive scan of the counts tells each where to write, and the last place is the length of all. Counting and writing are
//! the application's own kernels; the host stands in for them here. (G. E. Blelloch, *Prefix Sums and Their Applications*,
//! CMU-CS-90-190, 1990, calls it allocation of processors.)

mod on_device;

use on_device::{download, open_all, run, upload};
use trifold::{AnySpan, AnySpans, Builtin, Op, Request, Scalar, ScanKind, ScanRequest};

/// A thread's results.
fn prime_factors(mut x: u32) -> Vec<u32> {
    let mut factors = vec![];
    let mut p = 2;
    while p * p <= x {
        while x.is_multiple_of(p) {
            factors.push(p);
            x /= p;
        }
        p += 1;
    }
    factors.extend((x > 1).then_some(x));
    factors
}

fn main() -> trifold::Result<()> {
    const N: u32 = 10_000;
    let expected: Vec<u32> = (0..N).flat_map(prime_factors).collect();
    for (found, device) in open_all() {
        // 1. Count.
        let counts: Vec<u32> = (0..N).map(|i| prime_factors(i).len() as u32).collect();
        let counts_buffer = upload(&*device, &counts)?;
        let places_buffer = device.alloc(u64::from(N) * 4)?;
        // 2. Scan.
        let op = Op::builtin(Builtin::Sum, Scalar::U32).expect("u32 has a sum");
        let scan = ScanRequest { op, n: u64::from(N), kind: ScanKind::Exclusive, initial: None };
        let spans = AnySpans::new(AnySpan::whole(&counts_buffer), AnySpan::whole(&places_buffer));
        run(&*device, &Request::Scan(scan), spans)?;
        let places: Vec<u32> = download(&*device, &places_buffer, N as usize)?;
        // 3. Write.
        let last = N as usize - 1;
        let mut output = vec![0; (places[last] + counts[last]) as usize];
        for i in 0..N {
            let at = places[i as usize] as usize;
            let factors = prime_factors(i);
            output[at..at + factors.len()].copy_from_slice(&factors);
        }
        assert_eq!(output, expected, "{found}");
        println!("{found}: {N} threads wrote {} results densely", output.len());
    }
    Ok(())
}
