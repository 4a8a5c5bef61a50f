//! An operator of one's own, written in WGSL with its Rust twin, on every device of the machine:
//! `cargo run -p trifold --example operator`.
//!
//! The elements are affine functions `x -> a*x + b` and the operator composes them, which is associative and does not
//! commute. Their inclusive scan solves the recurrence `x[i] = a[i] * x[i - 1] + b[i]` for all `i` at once.

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::element;
use trifold::prelude::*;

element! {
    /// x -> a*x + b, modulo 2^32.
    struct Affine { a: u32, b: u32 }
}

/// First `l`, then `r`.
#[derive(Clone)]
struct Compose;

impl Monoid<Affine> for Compose {
    fn text(&self) -> Cow<'static, str> {
        "fn combine(l: T, r: T) -> T { return T(l.a * r.a, l.b * r.a + r.b); }".into()
    }
    fn identity(&self) -> Affine {
        Affine { a: 1, b: 0 }
    }
    fn combine(&self, l: Affine, r: Affine) -> Affine {
        Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
    }
}

fn main() -> trifold::Result<()> {
    // x[i] = 3 * x[i - 1] + 1, from x = 0.
    let functions = [Affine { a: 3, b: 1 }; 5];
    for (found, device) in open_all() {
        let composed = device.inclusive_scan(device.upload(&functions)?, Compose).read()?;
        let x: Vec<u32> = composed.iter().map(|f| f.b).collect();
        assert_eq!(x, [1, 4, 13, 40, 121], "{found}");
        println!("{found}: {x:?}");
    }
    Ok(())
}
