//! temporary
use trifold_core::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let lang = args.next().unwrap(); let out = args.next().unwrap();
    let language = if lang == "cu" { Language::CudaC } else { Language::OpenClC };
    let caps = Caps { backend: "cuda", device: "H200".into(), driver: "".into(), api: "".into(), kind: DeviceKind::DiscreteGpu, language, compute_units: 132, memory: 1 << 37, subgroups: Some(Subgroups { min: 32, max: 32, source: if lang == "cu" { SubgroupSource::Native } else { SubgroupSource::InlinePtx } }), int64: true, float64: true, atomics64: true, forward_progress: true, max_workgroup: 1024, shared_bytes: 49152, max_binding: 1 << 37, max_buffer: 1 << 37, binding_alignment: 1, native_copy: true };
    let mut t = Tuning::of(&caps);
    for a in args { let (n, v) = a.split_once('=').unwrap(); t.set(n, v.parse().unwrap()).unwrap(); }
    let n = 1 << 28;
    let sum = || Op::builtin(Builtin::Sum, Scalar::U32).unwrap();
    for (tag, r) in [("", Request::Reduce(ReduceRequest { op: sum(), n, initial: None })), ("", Request::Scan(ScanRequest { op: sum(), n, kind: ScanKind::Exclusive, initial: None })), ("", Request::Sort(SortRequest { key: Scalar::U32, value: None, n, order: Order::Ascending })), ("_pairs", Request::Sort(SortRequest { key: Scalar::U32, value: Some(ElementType::Scalar(Scalar::U32)), n, order: Order::Ascending })), ("_64", Request::Sort(SortRequest { key: Scalar::U64, value: None, n, order: Order::Ascending }))] {
        let p = planner::plan(&r, Layout::default(), Options::default(), &caps, &t).unwrap();
        for s in &p.steps { if let Step::Launch(l) = s { std::fs::write(format!("{out}/{}{tag}.{lang}", l.kernel.name.replace('/', "_")), trifold_kernels::assemble(&l.kernel, &caps).unwrap().source).unwrap(); } }
    }
}
