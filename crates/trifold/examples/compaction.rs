//! Stream compaction, on every device of the machine: `cargo run -p trifold --example compaction`.
//!
//! Of many particles the living ones are to lie densely, in their order. `select_if` does it in one look-back pass: the
//! predicate is written once, in WGSL with its Rust twin, and the count stays on the device, beside the elements. The way of the
//! textbooks, an exclusive scan of flags whose results are addresses, must give the same (M. Harris, S. Sengupta and
//! J. D. Owens, *Parallel Prefix Sum (Scan) with CUDA*, GPU Gems 3, chapter 39, 39.3.1).

mod on_device;

use on_device::open_all;
use trifold::{AnySpan, AnySpans, Predicate, Request, Rest, ScanKind, SelectRequest, Selector, Sum, element};

element! {
    /// A particle, and the seconds that it has left.
    struct Particle { number: u32, left: f32 }
}

/// Keeps the particles that have time left.
struct Alive;

impl Predicate<Particle> for Alive {
    const NAME: &'static str = "alive";
    const WGSL: &'static str = "fn keep(v: T) -> bool { return v.left > 0.0; }";
    fn keep(v: Particle) -> bool {
        v.left > 0.0
    }
}

fn main() -> trifold::Result<()> {
    const N: u32 = 100_000;
    let life = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0 - 0.75;
    let particles: Vec<Particle> = (0..N).map(|number| Particle { number, left: life(number) }).collect();
    let expected: Vec<Particle> = particles.iter().copied().filter(|p| p.left > 0.0).collect();
    for (found, device) in open_all() {
        let input = device.upload(&particles)?;
        let (output, count) = (device.alloc(input.bytes())?, device.alloc(4)?);

        let select =
            SelectRequest { selector: Selector::of::<Particle, Alive>(), n: u64::from(N), rest: Rest::Dropped };
        let spans = AnySpans::new(AnySpan::whole(&input), AnySpan::whole(&output)).with_count(AnySpan::whole(&count));
        device.run_once(&Request::Select(select), spans)?;
        let kept = device.download::<u32>(AnySpan::whole(&count))?[0] as usize;
        assert_eq!(device.download::<Particle>(AnySpan::whole(&output))?[..kept], expected, "{found}");

        let flags: Vec<u32> = particles.iter().map(|&p| u32::from(Alive::keep(p))).collect();
        let (flags_buffer, places_buffer) = (device.upload(&flags)?, device.alloc(u64::from(N) * 4)?);
        let scan = Request::scan::<u32, Sum>(ScanKind::Exclusive, None, u64::from(N));
        let spans = AnySpans::new(AnySpan::whole(&flags_buffer), AnySpan::whole(&places_buffer));
        device.run_once(&scan, spans)?;
        let places = device.download::<u32>(AnySpan::whole(&places_buffer))?;
        for ((particle, &place), _) in particles.iter().zip(&places).zip(&flags).filter(|(_, flag)| **flag == 1) {
            assert_eq!(expected[place as usize], *particle, "{found}");
        }
        println!("{found}: {kept} of {N} particles live on");
    }
    Ok(())
}
