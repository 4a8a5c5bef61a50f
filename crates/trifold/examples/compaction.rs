//! Stream compaction, on every device of the machine: `cargo run -p trifold --example compaction`.
//!
//! Of many particles the living ones are to lie densely, in their order. `select_if` does it in one look-back pass: the
//! predicate is written once, in WGSL with its Rust twin, and the count stays on the device, beside the elements. The way of the
//! textbooks, an exclusive scan of flags whose results are addresses, must give the same (M. Harris, S. Sengupta and
//! J. D. Owens, *Parallel Prefix Sum (Scan) with CUDA*, GPU Gems 3, chapter 39, 39.3.1).

mod on_device;

use on_device::{download, open_all, run, upload};
use trifold::{
    AnySpan, AnySpans, Builtin, Op, Predicate, Request, Rest, Scalar, ScanKind, ScanRequest, SelectRequest, Selector,
    element,
};

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
        let input = upload(&*device, &particles)?;
        let (output, count) = (device.alloc(input.bytes())?, device.alloc(4)?);

        let select =
            SelectRequest { selector: Selector::of::<Particle, Alive>(), n: u64::from(N), rest: Rest::Dropped };
        let spans = AnySpans::new(AnySpan::whole(&input), AnySpan::whole(&output)).with_count(AnySpan::whole(&count));
        run(&*device, &Request::Select(select), spans)?;
        let kept = download::<u32>(&*device, &count, 1)?[0] as usize;
        assert_eq!(download::<Particle>(&*device, &output, kept)?, expected, "{found}");

        let flags: Vec<u32> = particles.iter().map(|&p| u32::from(Alive::keep(p))).collect();
        let (flags_buffer, places_buffer) = (upload(&*device, &flags)?, device.alloc(u64::from(N) * 4)?);
        let op = Op::builtin(Builtin::Sum, Scalar::U32).expect("u32 has a sum");
        let scan = ScanRequest { op, n: u64::from(N), kind: ScanKind::Exclusive, initial: None };
        let spans = AnySpans::new(AnySpan::whole(&flags_buffer), AnySpan::whole(&places_buffer));
        run(&*device, &Request::Scan(scan), spans)?;
        let places: Vec<u32> = download(&*device, &places_buffer, N as usize)?;
        for ((particle, &place), _) in particles.iter().zip(&places).zip(&flags).filter(|(_, flag)| **flag == 1) {
            assert_eq!(expected[place as usize], *particle, "{found}");
        }
        println!("{found}: {kept} of {N} particles live on");
    }
    Ok(())
}
