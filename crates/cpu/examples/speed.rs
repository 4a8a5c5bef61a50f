//! How fast the CPU backend is beside its own copy: `cargo run --release -p trifold-cpu --example speed [log2 n]`.

use trifold_core::{
    Backend, Builtin, Call, CopyRequest, ElementType, Error, Op, Operand, Options, ReduceRequest, Request, Result,
    Scalar, ScanKind, ScanRequest, Slot, SortRequest, SpansOf,
};
use trifold_cpu::Cpu;

fn main() -> Result<()> {
    let log = std::env::args().nth(1).unwrap_or_else(|| "25".into());
    let Some(log) = log.parse().ok().filter(|log| (1..=31).contains(log)) else {
        return Err(Error::Invalid(format!("{log}: the power of two is a number from 1 to 31")));
    };
    let n = 1u64 << log;
    let cpu = Cpu::new()?;
    let keys: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ (i << 7)).collect();
    let [a, b, c, d] = [cpu.allocate(4 * n)?, cpu.allocate(4 * n)?, cpu.allocate(4 * n)?, cpu.allocate(4 * n)?];
    let bytes: Vec<u8> = keys.iter().flat_map(|k| k.to_le_bytes()).collect();
    cpu.write(&a, &bytes)?;
    let op = |scalar| Op::builtin(Builtin::Sum, scalar).expect("every scalar has a sum");
    let scan = |s| Request::Scan(ScanRequest { op: op(s), n, kind: ScanKind::Inclusive, initial: None, total: false });
    let reduce = |s| Request::Reduce(ReduceRequest { op: op(s), n, initial: None });
    let word = ElementType::Scalar(Scalar::U32);
    let sort = |value| Request::Sort(SortRequest::new(Scalar::U32.into(), n).with(value));
    let rows = [
        ("copy", Request::Copy(CopyRequest { element: word.clone(), n })),
        ("scan u32", scan(Scalar::U32)),
        ("scan f32", scan(Scalar::F32)),
        ("reduce u32", reduce(Scalar::U32)),
        ("reduce f32", reduce(Scalar::F32)),
        ("sort keys", sort(None)),
        ("sort pairs", sort(Some(word))),
    ];
    for (name, request) in rows {
        let of = |operand: &Operand| {
            let span = match operand.slot {
                Slot::Input => &a,
                Slot::Output => &b,
                Slot::InputValues => &c,
                _ => &d,
            };
            span.slice(0, operand.bytes())
        };
        let call = Call::new(&cpu, &request, &SpansOf::of(&request, of)?, Options::default())?;
        call.run()?;
        let times = (0..5).map(|_| call.time(1)).collect::<Result<Vec<_>>>()?;
        let best = times.into_iter().fold(f64::INFINITY, f64::min);
        let gb = request.bytes_moved() as f64 / best / 1e6;
        println!("{name:12} {best:9.3} ms {:7.3} Gelem/s {gb:7.2} GB/s", n as f64 / best / 1e6);
    }
    Ok(())
}
