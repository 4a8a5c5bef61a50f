//! An operator of one's own, written in WGSL with its Rust twin, on every device of the machine:
//! `cargo run -p trifold --example operator`.
//!
//! The elements are affine functions `x -> a*x + b` and the operator composes them, which is associative and does not
//! commute. Their inclusive scan solves the recurrence `x[i] = a[i] * x[i - 1] + b[i]` for all `i` at once.

mod on_device;

use on_device::open_all;
use trifold::{AnySpan, AnySpans, Monoid, Request, ScanKind, element};

element! {
    /// x -> a*x + b, modulo 2^32.
    struct Affine { a: u32, b: u32 }
}

/// First `l`, then `r`.
struct Compose;

impl Monoid<Affine> for Compose {
    const NAME: &'static str = "compose";
    const WGSL: &'static str = "fn combine(l: T, r: T) -> T { return T(l.a * r.a, l.b * r.a + r.b); }";
    const IDENTITY: Affine = Affine { a: 1, b: 0 };
    const COMMUTATIVE: bool = false;
    fn combine(l: Affine, r: Affine) -> Affine {
        Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
    }
}

fn main() -> trifold::Result<()> {
    // x[i] = 3 * x[i - 1] + 1, from x = 0.
    let functions = [Affine { a: 3, b: 1 }; 5];
    for (found, device) in open_all() {
        let input = device.upload(&functions)?;
        let output = device.alloc(input.bytes())?;
        let scan = Request::scan::<Affine, Compose>(ScanKind::Inclusive, None, 5);
        device.run_once(&scan, AnySpans::new(AnySpan::whole(&input), AnySpan::whole(&output)))?;
        let x: Vec<u32> = device.download::<Affine>(AnySpan::whole(&output))?.iter().map(|f| f.b).collect();
        println!("{found}: {x:?}"); // [1, 4, 13, 40, 121]
    }
    Ok(())
}
