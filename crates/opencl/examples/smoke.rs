//! temporary
use trifold_core::{Backend, Builtin, Fault, Layout, Op, Options, Order, Prepared, Reduce, Request, Scalar, ScanKind, ScanRequest, SortRequest, Spans, Sum, Transfer, block_on};
use trifold_opencl::OpenCl;
fn rnd(n: usize) -> Vec<u32> { let mut s = 1u64; (0..n).map(|_| { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (s >> 33) as u32 ^ (s as u32) }).collect() }
fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    for a in OpenCl::devices().unwrap() {
        let name = a.name.clone();
        if !name.contains(&filter) { continue; }
        println!("== {name}");
        let g = match OpenCl::open(&a) { Ok(g) => g, Err(e) => { println!("{e}"); continue; } };
        println!("{:?}", Backend::caps(&g));
        for n in [1usize, 100, 5000, 100_003, 1_000_000] {
            let x = rnd(n);
            let inp = g.upload(&x).unwrap();
            let out = g.alloc(4 * n as u64).unwrap();
            let (i, o) = (g.span(&inp), g.span(&out));
            let mut acc = 0u32;
            let want: Vec<u32> = x.iter().map(|v| { acc = acc.wrapping_add(*v); acc }).collect();
            let mut sorted = x.clone(); sorted.sort();
            for alg in [None, Some("reduce_then_scan")] {
                let req = Request::Scan(ScanRequest { op: Op::builtin(Builtin::Sum, Scalar::U32).unwrap(), n: n as u64, kind: ScanKind::Inclusive, initial: None });
                for fault in [Fault::None, Fault::Silent(2), Fault::Late(3)] {
                    let r = (|| { let p = block_on(Prepared::new(&g, &req, Layout::default(), Options { algorithm: alg, fault }))?; p.bind(&g, &Spans::new(&i, &o))?.run(&g)?; g.download::<u32>(&o) })();
                    match r { Ok(v) => println!("scan {alg:?} {fault:?} {n}: {}", v == want), Err(e) => println!("scan {alg:?} {n}: {e}") }
                }
            }
            g.reduce::<u32, Sum>(&i, &o.slice(0, 4).unwrap()).map_err(|e| println!("{e}")).ok();
            println!("reduce {n}: {}", g.download::<u32>(&o).unwrap()[0] == acc);
            for alg in [None, Some("upsweep_downsweep")] {
                let req = Request::Sort(SortRequest { key: Scalar::U32, value: None, n: n as u64, order: Order::Ascending });
                for fault in [Fault::None, Fault::Silent(2), Fault::Late(3)] {
                    let t = std::time::Instant::now();
                    let r = (|| { let p = block_on(Prepared::new(&g, &req, Layout::default(), Options { algorithm: alg, fault }))?; p.bind(&g, &Spans::new(&i, &o))?.run(&g)?; g.download::<u32>(&o) })();
                    match r { Ok(v) => println!("sort {alg:?} {fault:?} {n}: {} {:?}", v == sorted, t.elapsed()), Err(e) => println!("sort {alg:?} {n}: {e}") }
                }
            }
        }
    }
}
