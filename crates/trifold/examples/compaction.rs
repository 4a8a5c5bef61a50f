//! Stream compaction, on every device of the machine: `cargo run -p trifold --example compaction`.
//!
//! Of many particles the living ones are to lie densely, in their order. A selection does it in one look-back pass. The
//! predicate is written once, in WGSL with its Rust twin. The count stays on the device, beside the elements.
//!
//! The textbooks' way must give the same: an exclusive scan of flags, whose results are addresses (M. Harris, S.
//! Sengupta and J. D. Owens, *Parallel Prefix Sum (Scan) with CUDA*, GPU Gems 3, chapter 39, 39.3.1).

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::element;
use trifold::prelude::*;

element! {
    /// A particle, and the seconds that it has left.
    struct Particle { number: u32, left: f32 }
}

element! {
    /// Keeps the particles that have time left after a while. How long that is is no part of the kernel.
    struct Alive { after: f32 }
}

impl Predicate<Particle> for Alive {
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return v.left > captures.after; }".into()
    }
    fn keep(&self, v: Particle) -> bool {
        v.left > self.after
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

fn main() -> trifold::Result<()> {
    const N: u32 = 100_000;
    let life = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0;
    let particles: Vec<Particle> = (0..N).map(|number| Particle { number, left: life(number) }).collect();
    for (found, device) in open_all() {
        let input = device.upload(&particles)?;
        for alive in [0.25, 0.75].map(|after| Alive { after }) {
            let kept = device.select(&input, alive).compact()?;
            let flags: Vec<u32> = particles.iter().map(|&p| u32::from(alive.keep(p))).collect();
            let places = device.exclusive_scan(device.upload(&flags)?, Sum).read()?;

            let (n, kept) = (kept.len()?, kept.read()?);
            assert_eq!(n, flags.iter().filter(|&&flag| flag == 1).count(), "{found}");
            for ((particle, place), _) in particles.iter().zip(places).zip(&flags).filter(|(_, flag)| **flag == 1) {
                assert_eq!(kept[place as usize], *particle, "{found}");
            }
            println!("{found}: {n} of {N} particles live on after {} s", alive.after);
        }
    }
    Ok(())
}
