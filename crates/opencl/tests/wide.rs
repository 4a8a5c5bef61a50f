//! Elements of many words, which compilers for processors took minutes over: each exchange between emulated lanes is barriers.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use trifold_core::{Backend, Monoid, Scan, Transfer, bytemuck, element};
use trifold_opencl::OpenCl;

element! {
    /// Eight running sums.
    struct Eight { a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32 }
}

#[derive(Clone)]
struct Sums;
impl Monoid<Eight> for Sums {
    fn name(&self) -> Cow<'static, str> {
        "sums".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(l: T, r: T) -> T {
            return T(l.a + r.a, l.b + r.b, l.c + r.c, l.d + r.d, l.e + r.e, l.f + r.f, l.g + r.g, l.h + r.h);
        }"
        .into()
    }
    fn identity(&self) -> Eight {
        Eight { a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, g: 0, h: 0 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, l: Eight, r: Eight) -> Eight {
        let [l, r] = [l, r].map(bytemuck::cast::<Eight, [u32; 8]>);
        bytemuck::cast(std::array::from_fn::<u32, 8, _>(|i| l[i].wrapping_add(r[i])))
    }
}

#[test]
fn a_scan_of_eight_words_compiles_in_seconds() {
    for device in trifold_conformance::devices_or_skip("opencl", OpenCl::devices()) {
        let cl = OpenCl::open(&device).unwrap();
        let element = |i: u32| Eight { a: i, b: 1, c: 2 * i, d: !i, e: i << 16, f: 7, g: i * i, h: i ^ 85 };
        let input: Vec<Eight> = (0..5003).map(element).collect();
        let from = cl.upload(&input).unwrap();
        let started = Instant::now();
        let found = cl.inclusive_scan(&from, Sums).read().unwrap();
        let took = started.elapsed();
        eprintln!("{}: {took:?}", Backend::caps(&cl).device);
        let mut running = Sums.identity();
        let expected: Vec<Eight> = input
            .iter()
            .map(|v| {
                running = Sums.combine(running, *v);
                running
            })
            .collect();
        assert!(found == expected);
        assert!(took < Duration::from_secs(60), "it took {took:?}");
    }
}
