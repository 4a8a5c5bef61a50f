//! The catalogue against the OpenCL texts: every kernel that a plan uses has the catalogue's arguments, in its order,
//! with the parameters last.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use ocl::core::{self, KernelArgInfo};
use trifold_conformance::devices_or_skip;
use trifold_core::{
    Backend, Caps, CopyRequest, Element, Kernel, KernelKey, Language, Layout, Monoid, Op, Options, Order, Plan,
    Predicate, ReduceByKeyRequest, ReduceRequest, Request, Rest, ScanKind, ScanRequest, SelectRequest, Selector,
    SortRequest, Sum, Tuning, planner,
};
use trifold_kernels::{assemble, catalogue, text};
use trifold_opencl::{OpenCl, ocl};

fn requests() -> Vec<Request> {
    fn of<T: Element>() -> Vec<Request>
    where
        Sum: Monoid<T>,
    {
        let (op, n) = (Op::of::<T, Sum>(), 1_000_003);
        vec![
            Request::Copy(CopyRequest { element: T::TYPE, n }),
            Request::Scan(ScanRequest { op: op.clone(), n, kind: ScanKind::Inclusive, initial: None }),
            Request::Scan(ScanRequest { op: op.clone(), n, kind: ScanKind::Exclusive, initial: None }),
            Request::Reduce(ReduceRequest { op, n, initial: None }),
        ]
    }
    let mut requests = of::<u32>();
    requests.extend(of::<u64>());
    for key in [trifold_core::Scalar::U32, trifold_core::Scalar::F32, trifold_core::Scalar::I64] {
        for value in [None, Some(u32::TYPE), Some(u64::TYPE)] {
            for order in [Order::Ascending, Order::Descending] {
                requests.push(Request::Sort(SortRequest { key, value: value.clone(), n: 1_000_003, order }));
            }
        }
    }
    // Few enough for one workgroup.
    for value in [None, Some(u32::TYPE)] {
        let (key, order) = (trifold_core::Scalar::U64, Order::Ascending);
        requests.push(Request::Sort(SortRequest { key, value, n: 1000, order }));
    }
    for rest in [Rest::Dropped, Rest::Apart, Rest::Behind] {
        requests.push(Request::Select(SelectRequest { selector: Selector::of::<u32, Odd>(), n: 1_000_003, rest }));
    }
    for op in [None, Some(Op::of::<u32, Sum>())] {
        requests.push(Request::ReduceByKey(ReduceByKeyRequest { key: u32::TYPE, op, n: 1_000_003 }));
    }
    requests
}

struct Odd;
impl Predicate<u32> for Odd {
    const NAME: &'static str = "odd";
    const WGSL: &'static str = "fn keep(v: T) -> bool { return (v & 1u) == 1u; }";
    fn keep(v: u32) -> bool {
        v & 1 == 1
    }
}

/// The kernels of all plans that these capabilities allow, and the experiments'.
fn keys(caps: &Caps) -> Vec<KernelKey> {
    let tuning = Tuning::of(caps);
    let mut keys: Vec<KernelKey> = vec![];
    for request in requests() {
        for algorithm in planner::algorithms(&request, caps) {
            for wide in [true, false] {
                let layout = Layout { wide, in_place: false };
                let options = Options { algorithm: Some(algorithm), ..Options::default() };
                let Ok(plan) = planner::plan(&request, layout, options, caps, &tuning) else { continue };
                keys.extend(launched(plan));
            }
        }
    }
    keys.extend(planner::compute_bound(1_000_003, 100, 32, caps).ok().into_iter().flat_map(launched));
    let mut distinct: Vec<KernelKey> = vec![];
    for key in keys {
        if !distinct.contains(&key) {
            distinct.push(key);
        }
    }
    distinct
}

fn launched(plan: Plan) -> Vec<KernelKey> {
    plan.launched().map(|launch| launch.kernel.clone()).collect()
}

/// The names, and the address spaces, of a kernel's arguments.
fn arguments(cl: &OpenCl, key: &KernelKey, entry: &Kernel) -> Vec<(String, String)> {
    let assembled = assemble(key, cl.caps()).unwrap();
    let device = cl.device_id();
    let context = core::create_context(None, &[device], None, None).unwrap();
    let program = core::create_program_with_source(&context, &[CString::new(assembled.source).unwrap()]).unwrap();
    let options = format!("{} -cl-kernel-arg-info", cl.build_options().to_str().unwrap());
    core::build_program(&program, Some(&[device]), &CString::new(options).unwrap(), None, None)
        .unwrap_or_else(|e| panic!("{key:?}: {e}"));
    let kernel = core::create_kernel(&program, entry.entry_point).unwrap();
    let core::KernelInfoResult::NumArgs(count) = core::get_kernel_info(&kernel, core::KernelInfo::NumArgs).unwrap()
    else {
        panic!("no number of arguments")
    };
    let ask = |i, what| core::get_kernel_arg_info(&kernel, i, what, None).unwrap().to_string();
    (0..count).map(|i| (ask(i, KernelArgInfo::Name), ask(i, KernelArgInfo::AddressQualifier))).collect()
}

#[test]
fn the_catalogue_is_the_texts() {
    let Some(device) = devices_or_skip("opencl", OpenCl::devices()).into_iter().next() else { return };
    let cl = OpenCl::open(&device).unwrap();
    let emulated = cl.caps().emulates_subgroups();
    let mut planned: BTreeMap<&str, Vec<KernelKey>> = BTreeMap::new();
    for key in keys(cl.caps()) {
        planned.entry(key.name()).or_default().push(key);
    }
    let (mut tried, mut without) = (BTreeSet::new(), BTreeSet::new());
    for entry in catalogue().filter(|e| e.only.is_none_or(|l| l == Language::OpenClC)) {
        let keys = planned.remove(entry.name).unwrap_or_default();
        if emulated && entry.name == "scan/lookback_pipelined" {
            continue;
        }
        assert!(!keys.is_empty(), "no plan uses {}", entry.name);
        // What a kernel takes hardly depends on its types and constants, and each is seconds of compilation.
        let apart = keys.len().div_ceil(2);
        for key in keys.into_iter().step_by(apart) {
            if text(Language::OpenClC, key.name()).is_none_or(|t| t.trim().is_empty()) {
                without.insert(key.name());
                continue;
            }
            let found = arguments(&cl, &key, entry);
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            let expected: Vec<&str> = entry.arguments.iter().map(|a| a.name).collect();
            let (params, buffers) = names.split_last().unwrap_or_else(|| panic!("{} has no arguments", key.name()));
            assert_eq!(*buffers, expected, "{key:?}");
            assert_eq!(*params, "params", "{key:?}");
            for (name, space) in &found {
                let wanted = if name == "params" { "Private" } else { "Global" };
                assert!(space.contains(wanted), "`{name}` of {} is {space}", key.name());
            }
            // And as the backend compiles it.
            trifold_core::block_on(cl.compile(&key)).unwrap();
            tried.insert(key.name());
        }
    }
    eprintln!("held against the catalogue: {tried:?}; skipped, for want of an OpenCL text: {without:?}");
}
