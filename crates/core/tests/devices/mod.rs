//! Devices that need not be there, requests, and plans as text, for the tests of the planner.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::borrow::Cow;
use std::fmt::Write;

use trifold_core::planner::plan;
use trifold_core::{
    Builtin, Caps, DeviceKind, Element, Fault, Language, Launch, Layout, Op, Options, Order, Param, Plan, Predicate,
    ReduceRequest, Region, Request, Rest, Scalar, ScanKind, ScanRequest, SelectRequest, Selector, SortRequest, Step,
    SubgroupSource, Subgroups, Tuning, Waiting,
};

/// Waits without their fallback.
pub const UNBOUNDED: Options = Options { algorithm: None, fault: Fault::None, waiting: Waiting::Unbounded };

/// CUDA on an H200.
pub fn h200() -> Caps {
    Caps {
        backend: "cuda",
        device: "NVIDIA H200".into(),
        driver: "NVIDIA 580.159.04, CUDA 13.0".into(),
        api: "CUDA 13.0 sm_90".into(),
        kind: DeviceKind::DiscreteGpu,
        language: Language::CudaC,
        compute_units: 132,
        memory: 140 << 30,
        subgroups: Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native }),
        int64: true,
        float64: true,
        atomics64: true,
        atomics128: true,
        coherent: false,
        subgroup_barrier: false,
        forward_progress: true,
        max_workgroup: 1024,
        shared_bytes: 48 * 1024,
        bulk_shared_bytes: 227 * 1024,
        max_binding: 140 << 30,
        max_buffer: 140 << 30,
        binding_alignment: 1,
        native_copy: true,
        remedy: String::new(),
    }
}

/// wgpu on lavapipe through Vulkan.
pub fn lavapipe() -> Caps {
    Caps {
        backend: "wgpu",
        device: "llvmpipe".into(),
        api: "Vulkan".into(),
        kind: DeviceKind::Cpu,
        language: Language::Wgsl,
        compute_units: 2,
        memory: 0,
        subgroups: Some(Subgroups { min: 8, max: 8, source: SubgroupSource::Native }),
        atomics64: true,
        atomics128: false,
        coherent: true,
        subgroup_barrier: true,
        max_workgroup: 1024,
        shared_bytes: 32 * 1024,
        bulk_shared_bytes: 0,
        max_binding: 128 << 20,
        max_buffer: 2 << 30,
        binding_alignment: 16,
        native_copy: false,
        remedy: String::new(),
        ..h200()
    }
}

/// wgpu on llvmpipe through GL.
pub fn gl() -> Caps {
    Caps {
        api: "Gl".into(),
        subgroups: None,
        int64: false,
        float64: false,
        atomics64: false,
        atomics128: false,
        coherent: false,
        subgroup_barrier: false,
        binding_alignment: 256,
        ..lavapipe()
    }
}

/// OpenCL on PoCL 3.1, which has no subgroups of its own.
pub fn pocl() -> Caps {
    Caps {
        backend: "opencl",
        device: "pthread".into(),
        api: "OpenCL 3.0".into(),
        language: Language::OpenClC,
        memory: 8 << 30,
        subgroups: Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Emulated }),
        max_workgroup: 4096,
        shared_bytes: 512 * 1024,
        bulk_shared_bytes: 0,
        max_binding: 2 << 30,
        binding_alignment: 128,
        native_copy: true,
        remedy: String::new(),
        ..lavapipe()
    }
}

pub fn sum(scalar: Scalar) -> Op {
    Op::builtin(Builtin::Sum, scalar).unwrap()
}

pub fn scan(n: u64) -> Request {
    scan_of(Scalar::U32, n)
}

pub fn scan_of(scalar: Scalar, n: u64) -> Request {
    Request::Scan(ScanRequest { op: sum(scalar), n, kind: ScanKind::Exclusive, initial: None })
}

pub fn reduce(n: u64) -> Request {
    Request::Reduce(ReduceRequest { op: sum(Scalar::F32), n, initial: None })
}

pub fn sort_keys(n: u64) -> Request {
    Request::Sort(SortRequest { key: Scalar::U32, value: None, n, order: Order::Ascending })
}

pub fn sort_pairs(n: u64) -> Request {
    Request::Sort(SortRequest { key: Scalar::U32, value: Some(u32::TYPE), n, order: Order::Descending })
}

#[derive(Clone)]
pub struct Odd;
impl Predicate<u32> for Odd {
    fn name(&self) -> Cow<'static, str> {
        "odd".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return (v & 1u) == 1u; }".into()
    }
    fn keep(&self, v: u32) -> bool {
        v & 1 == 1
    }
}

pub fn select(n: u64, rest: Rest) -> Request {
    Request::Select(SelectRequest { selector: Selector::of::<u32, _>(Odd), n, rest })
}

/// A tuning with other numbers.
pub fn with(mut tuning: Tuning, numbers: &[(&str, u32)]) -> Tuning {
    numbers.iter().for_each(|(name, value)| tuning.set(name, *value).unwrap());
    tuning
}

pub fn planned(request: &Request, layout: Layout, caps: &Caps) -> Plan {
    plan(request, layout, Options::default(), caps, &Tuning::of(caps)).unwrap()
}

/// The plan of a request over spans as a backend allocates them.
pub fn text(request: &Request, caps: &Caps) -> String {
    describe(&planned(request, Layout::default(), caps))
}

/// A plan, one line a step.
pub fn describe(plan: &Plan) -> String {
    let mut text = format!("{}, {} bytes of scratch", plan.algorithm(), plan.scratch_bytes());
    for (said, which) in [(plan.wide(), "wide"), (plan.in_place(), "in place")] {
        if said {
            let _ = write!(text, ", {which}");
        }
    }
    let _ = writeln!(text, ", depth {}", plan.depth());
    for step in plan.steps() {
        let _ = match step {
            Step::Fill { region, value, once } => {
                writeln!(text, "fill {} with {value}{}", place(region), if *once { " once" } else { "" })
            }
            Step::Copy { from, to, .. } => writeln!(text, "copy {} to {}", place(from), place(to)),
            Step::Length(region) => writeln!(text, "length {}", place(region)),
            Step::Launch(launch) => writeln!(text, "{}", line(launch, plan.n() as u32)),
        };
    }
    text
}

pub fn place(region: &Region) -> String {
    format!("{:?}[{}, +{}]", region.slot, region.offset, region.bytes)
}

pub fn line(launch: &Launch, n: u32) -> String {
    let key = &launch.kernel;
    let mut text = format!("{} x {}", key.name(), launch.groups);
    if let Some(element) = &key.element {
        let _ = write!(text, " of {}", element.name());
    }
    if let Some(op) = &key.op {
        let _ = write!(text, " by {}", op.name);
    }
    if let Some(selector) = &key.selector {
        let _ = write!(text, " where {}", selector.name);
    }
    let parts: Vec<_> = key.parts.to_vec();
    let constants: Vec<_> = key.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let bindings: Vec<_> = launch.bindings.iter().map(|(name, region)| format!("{name}={}", place(region))).collect();
    let params = launch.params.iter().map(|(name, param)| match param {
        Param::Word(value) => format!("{name}={value}"),
        Param::Size(size) => format!("{name}={}", size.of(n)),
        Param::Offset { binding, unit } => format!("{name}={binding}/{unit}"),
    });
    let params: Vec<_> = params.collect();
    let _ = write!(text, " | {} | {}", parts.join(" "), constants.join(" "));
    let _ = write!(text, " | {} | {}", bindings.join(" "), params.join(" "));
    text
}
