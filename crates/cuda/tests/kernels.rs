//! Every kernel that the planner can ask a CUDA device for: its text compiles, and its signature is the catalogue's.
//! Needs NVRTC, no device. Skipped, with the reason, where there is no NVRTC.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use trifold_core::planner::{algorithms, plan};
use trifold_core::{
    Builtin, Caps, DeviceKind, Element, ElementType, Error, Fault, KernelKey, Language, Layout, Monoid, Op, Options,
    Order, ReduceRequest, Request, Scalar, ScanKind, ScanRequest, SortRequest, Step, SubgroupSource, Subgroups, Tuning,
};
use trifold_cuda::{compile_to_cubin, nvrtc_version};
use trifold_kernels::{CATALOGUE, Entry, assemble};

/// An H200 but for the architecture.
fn caps(architecture: u32) -> Caps {
    Caps {
        backend: "cuda",
        device: "a device for tests".into(),
        driver: "none".into(),
        api: format!("CUDA 13.0 sm_{architecture}"),
        kind: DeviceKind::DiscreteGpu,
        language: Language::CudaC,
        compute_units: 132,
        memory: 140 << 30,
        subgroups: Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native }),
        int64: true,
        float64: true,
        atomics64: true,
        forward_progress: true,
        max_workgroup: 1024,
        shared_bytes: 48 * 1024,
        bulk_shared_bytes: if architecture >= 90 { 99 * 1024 } else { 0 },
        max_binding: 140 << 30,
        max_buffer: 140 << 30,
        binding_alignment: 1,
        native_copy: true,
    }
}

trifold_core::element! { struct Affine { a: u32, b: u32 } }
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

// An odd number of words, so that no wide access fits.
trifold_core::element! { struct Vector { x: f32, y: f32, z: f32 } }
// Words of two sizes, aligned to the larger.
trifold_core::element! { struct Tally { total: f64, count: u32, tag: i32 } }
struct Fieldwise;
impl Monoid<Vector> for Fieldwise {
    const NAME: &'static str = "fieldwise";
    const WGSL: &'static str = "fn combine(a: T, b: T) -> T { return T(a.x + b.x, a.y + b.y, a.z + b.z); }";
    const IDENTITY: Vector = Vector { x: 0.0, y: 0.0, z: 0.0 };
    const COMMUTATIVE: bool = true;
    fn combine(a: Vector, b: Vector) -> Vector {
        Vector { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }
    }
}
impl Monoid<Tally> for Fieldwise {
    const NAME: &'static str = "tally";
    const WGSL: &'static str =
        "fn combine(a: T, b: T) -> T { return T(a.total + b.total, a.count + b.count, max(a.tag, b.tag)); }";
    const IDENTITY: Tally = Tally { total: 0.0, count: 0, tag: i32::MIN };
    const COMMUTATIVE: bool = true;
    fn combine(a: Tally, b: Tally) -> Tally {
        Tally { total: a.total + b.total, count: a.count.wrapping_add(b.count), tag: a.tag.max(b.tag) }
    }
}

fn operators() -> Vec<Op> {
    let builtin = |which, scalar| Op::builtin(which, scalar).unwrap();
    let mut ops = vec![Op::of::<Affine, Compose>(), Op::of::<Vector, Fieldwise>(), Op::of::<Tally, Fieldwise>()];
    for scalar in Scalar::ALL {
        ops.extend([builtin(Builtin::Sum, scalar), builtin(Builtin::Min, scalar)]);
    }
    ops.extend([builtin(Builtin::Xor, Scalar::U32), builtin(Builtin::And, Scalar::U64)]);
    ops
}

fn requests() -> Vec<Request> {
    let n = 1_000_003;
    let mut requests = vec![Request::Copy { element: ElementType::Scalar(Scalar::U32), n }];
    for op in operators() {
        for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
            requests.push(Request::Scan(ScanRequest { op: op.clone(), n, kind, initial: None }));
        }
        requests.push(Request::Reduce(ReduceRequest { op, n, initial: None }));
    }
    let values = [None, Some(u32::TYPE), Some(u64::TYPE), Some(Vector::TYPE)];
    for key in [Scalar::U32, Scalar::I32, Scalar::F32, Scalar::U64, Scalar::F64] {
        for value in &values {
            for order in [Order::Ascending, Order::Descending] {
                requests.push(Request::Sort(SortRequest { key, value: value.clone(), n, order }));
            }
        }
    }
    // So many that a tile's count and its flags take 64 bits.
    for value in [None, Some(u32::TYPE)] {
        requests.push(Request::Sort(SortRequest { key: Scalar::U32, value, n: 3 << 30, order: Order::Ascending }));
    }
    requests
}

/// The layouts and faults that a request is planned with: all of them for a few, the plainest for the others.
fn variants(request: &Request) -> Vec<(Layout, Fault)> {
    let all = match request {
        Request::Copy { .. } => true,
        Request::Scan(ScanRequest { op, .. }) | Request::Reduce(ReduceRequest { op, .. }) => {
            &*op.name == "compose" || (&*op.name == "sum" && [u32::TYPE, u64::TYPE].contains(op.element()))
        }
        Request::Sort(r) => r.key == Scalar::U32 && r.order == Order::Ascending,
    };
    let mut variants = vec![];
    for wide in [true, false] {
        for in_place in [false, true] {
            for fault in [Fault::None, Fault::Silent(7), Fault::Late(5)] {
                if all || (!in_place && fault == Fault::None) {
                    variants.push((Layout { wide, in_place }, fault));
                }
            }
        }
    }
    variants
}

/// Every kernel of every plan.
fn keys() -> Vec<KernelKey> {
    // The driver copies better than a kernel does, and the kernel is in the catalogue all the same.
    let caps = Caps { native_copy: false, ..caps(90) };
    let tuning = Tuning::of(&caps);
    let (mut seen, mut keys) = (HashSet::new(), vec![]);
    for request in requests() {
        for (layout, fault) in variants(&request) {
            for algorithm in algorithms(&request, &caps) {
                let options = Options { algorithm: Some(algorithm), fault };
                let plan = match plan(&request, layout, options, &caps, &tuning) {
                    Ok(plan) => plan,
                    // A copy onto itself; a table of counts too large.
                    Err(Error::Invalid(_) | Error::Unsupported(_)) => continue,
                    Err(error) => panic!("{request:?}, {layout:?}, {options:?}: {error}"),
                };
                for step in plan.steps {
                    if let Step::Launch(launch) = step
                        && seen.insert(launch.kernel.clone())
                    {
                        keys.push(launch.kernel);
                    }
                }
            }
        }
    }
    keys
}

fn entry(key: &KernelKey) -> &'static Entry {
    CATALOGUE.iter().find(|entry| entry.name == key.name).unwrap_or_else(|| panic!("{} is not listed", key.name))
}

/// A key in a line.
fn describe(key: &KernelKey) -> String {
    let mut text = format!("{} {:?}", key.name, key.parts);
    if let Some(op) = &key.op {
        let _ = write!(text, " {op:?}");
    }
    for (name, value) in &key.constants {
        let _ = write!(text, " {name}={value}");
    }
    text
}

/// Whether NVRTC is there; prints why not.
fn skip() -> bool {
    nvrtc_version().inspect_err(|error| eprintln!("skipped: {error}")).is_err()
}

/// Compiles each key for its architecture, in two threads, and fails with every failure at once.
fn compile_all(work: &[(&KernelKey, u32)]) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let compile = |key: &KernelKey, architecture| {
        let assembled = assemble(key, &caps(architecture))?;
        let cubin = compile_to_cubin(&assembled.source, key.name, architecture)?;
        let section = format!(".text.{}\0", assembled.entry_point);
        if cubin.windows(section.len()).any(|w| w == section.as_bytes()) {
            return Ok(());
        }
        Err(Error::Compile { kernel: key.name.into(), log: format!("no function {}", assembled.entry_point) })
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((key, architecture)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = compile(key, *architecture) {
                        failures.lock().unwrap().push(format!("sm_{architecture} {}\n{error}", describe(key)));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let first = failures.iter().take(8).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {} did not compile; the first:\n\n{first}", failures.len(), work.len());
    eprintln!("{} kernels compiled", work.len());
}

#[test]
fn the_plans_reach_the_whole_catalogue() {
    let keys = keys();
    for entry in CATALOGUE.iter().filter(|entry| entry.only.is_none_or(|l| l == Language::CudaC)) {
        assert!(keys.iter().any(|key| key.name == entry.name), "no plan launches {}", entry.name);
    }
    eprintln!("{} kernels in {} shapes", keys.len(), shapes(&keys).len());
}

/// The first key of each kernel, with each list of blocks, over words, longer scalars and structs.
fn shapes(keys: &[KernelKey]) -> Vec<&KernelKey> {
    let mut seen = HashSet::new();
    let class = |element: &ElementType| match element {
        ElementType::Scalar(scalar) => (false, scalar.bytes(), scalar.is_float()),
        ElementType::Struct { .. } => (true, element.align(), false),
    };
    keys.iter().filter(|key| seen.insert((key.name, &key.parts, key.element.as_ref().map(class)))).collect()
}

#[test]
fn every_kernel_compiles_for_sm_90() {
    if skip() {
        return;
    }
    let keys = keys();
    let work: Vec<_> = keys.iter().filter(|key| entry(key).cuda_from <= 90).map(|key| (key, 90)).collect();
    compile_all(&work);
}

#[test]
fn every_shape_compiles_for_every_architecture() {
    if skip() {
        return;
    }
    let keys = keys();
    let mut work = vec![];
    for key in shapes(&keys) {
        let from = entry(key).cuda_from;
        work.extend([75, 80, 100, 120].into_iter().filter(|&a| a >= from).map(|architecture| (key, architecture)));
    }
    compile_all(&work);
}

/// The parameters of a `__global__` function, each as its type and name; `None` if the source has no such function.
fn parameters(source: &str, function: &str) -> Option<Vec<(String, String)>> {
    let code: String = source.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    let list = code.match_indices(function).find_map(|(at, _)| {
        let declaration = code[..at].rsplit([';', '}']).next()?;
        let list = code[at + function.len()..].trim_start().strip_prefix('(')?;
        let starts = code[..at].ends_with(|c: char| !c.is_alphanumeric() && c != '_');
        (starts && declaration.contains("__global__")).then_some(list)
    })?;
    let list = &list[..list.find(')')?];
    let parameters = list.split(',').map(|parameter| {
        let parameter = parameter.trim();
        let name = parameter.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        (parameter[..name].trim().to_owned(), parameter[name..].to_owned())
    });
    Some(parameters.collect())
}

#[test]
fn parameters_are_found() {
    let source = "struct Params { u32 n; }; // f(x)\nvoid g() { f_not(1); }\nextern \"C\" __global__ void\n\
                  __launch_bounds__(WORKGROUP) f(const T* __restrict__ input, T *output, // out\n  Params params) {}";
    let found = parameters(source, "f").unwrap();
    let found: Vec<_> = found.iter().map(|(ty, name)| (ty.as_str(), name.as_str())).collect();
    assert_eq!(found, [("const T* __restrict__", "input"), ("T *", "output"), ("Params", "params")]);
    assert_eq!(parameters(source, "g"), None);
}

#[test]
fn signatures_are_the_catalogues() {
    let mut wrong = String::new();
    for key in keys() {
        let assembled = assemble(&key, &caps(90)).unwrap_or_else(|error| panic!("{}: {error}", describe(&key)));
        let Some(found) = parameters(&assembled.source, assembled.entry_point) else {
            let _ = writeln!(wrong, "{}: no __global__ function {}", describe(&key), assembled.entry_point);
            continue;
        };
        let names: Vec<_> = found.iter().map(|(_, name)| name.as_str()).collect();
        let expected: Vec<_> = assembled.arguments.iter().map(|a| a.name).chain(["params"]).collect();
        if names != expected {
            let _ = writeln!(wrong, "{}: takes {names:?}, and the catalogue has {expected:?}", describe(&key));
        }
        for (place, (ty, name)) in found.iter().enumerate() {
            let by_value = place == assembled.arguments.len();
            if by_value == ty.contains('*') || ty.contains('&') || (by_value && !ty.ends_with("Params")) {
                let _ = writeln!(wrong, "{}: `{name}` is a `{ty}`", describe(&key));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
