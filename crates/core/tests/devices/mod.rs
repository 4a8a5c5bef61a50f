//! Devices that need not be there, requests, and plans as text, for the tests of the planner.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::borrow::Cow;
use std::fmt::Write;

use trifold_core::planner::plan;
use trifold_core::{
    Builtin, Caps, DeviceKind, Element, Keeps, Language, Launch, Layout, Op, Options, Order, Param, Plan, Predicate,
    ReduceRequest, Region, Request, Rest, Scalar, ScanKind, ScanRequest, SelectRequest, Selector, SortRequest, Step,
    SubgroupSource, Subgroups, Tuning, Waiting,
};

/// Waits without their fallback.
pub fn unbounded() -> Options {
    Options::default().with(|options| options.waiting = Waiting::Unbounded)
}

/// CUDA on an H200.
pub fn h200() -> Caps {
    let mut caps = Caps::new("cuda", "NVIDIA H200".into(), Language::CudaC);
    caps.driver = "NVIDIA 580.159.04, CUDA 13.0".into();
    caps.api = "CUDA 13.0 sm_90".into();
    caps.kind = DeviceKind::DiscreteGpu;
    caps.compute_units = 132;
    caps.memory = 140 << 30;
    caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
    caps.int64 = true;
    caps.float64 = true;
    caps.atomics64 = true;
    caps.atomics128 = true;
    caps.forward_progress = true;
    caps.max_workgroup = 1024;
    caps.shared_bytes = 48 * 1024;
    caps.bulk_shared_bytes = 227 * 1024;
    caps.max_binding = 140 << 30;
    caps.max_buffer = 140 << 30;
    caps.native_copy = true;
    caps
}

/// wgpu on lavapipe through Vulkan.
pub fn lavapipe() -> Caps {
    h200().with(|caps| {
        caps.backend = "wgpu";
        caps.device = "llvmpipe".into();
        caps.api = "Vulkan".into();
        caps.kind = DeviceKind::Cpu;
        caps.language = Language::Wgsl;
        caps.compute_units = 2;
        caps.memory = 0;
        caps.subgroups = Some(Subgroups { min: 8, max: 8, source: SubgroupSource::Native });
        caps.atomics64 = true;
        caps.atomics128 = false;
        caps.coherent = true;
        caps.subgroup_barrier = true;
        caps.max_workgroup = 1024;
        caps.shared_bytes = 32 * 1024;
        caps.bulk_shared_bytes = 0;
        caps.max_binding = 128 << 20;
        caps.max_buffer = 2 << 30;
        caps.binding_alignment = 16;
        caps.native_copy = false;
        caps.remedy = String::new();
    })
}

/// wgpu on llvmpipe through GL.
pub fn gl() -> Caps {
    lavapipe().with(|caps| {
        caps.api = "Gl".into();
        caps.subgroups = None;
        caps.int64 = false;
        caps.float64 = false;
        caps.atomics64 = false;
        caps.atomics128 = false;
        caps.coherent = false;
        caps.subgroup_barrier = false;
        caps.binding_alignment = 256;
    })
}

/// OpenCL on PoCL 3.1, which has no subgroups of its own.
pub fn pocl() -> Caps {
    lavapipe().with(|caps| {
        caps.backend = "opencl";
        caps.device = "pthread".into();
        caps.api = "OpenCL 3.0".into();
        caps.language = Language::OpenClC;
        caps.memory = 8 << 30;
        caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Emulated });
        caps.max_workgroup = 4096;
        caps.shared_bytes = 512 * 1024;
        caps.bulk_shared_bytes = 0;
        caps.max_binding = 2 << 30;
        caps.binding_alignment = 128;
        caps.native_copy = true;
        caps.remedy = String::new();
    })
}

pub fn sum(scalar: Scalar) -> Op {
    Op::builtin(Builtin::Sum, scalar).unwrap()
}

pub fn scan(n: u64) -> Request {
    scan_of(Scalar::U32, n)
}

pub fn scan_of(scalar: Scalar, n: u64) -> Request {
    Request::Scan(ScanRequest { op: sum(scalar), n, kind: ScanKind::Exclusive, initial: None, total: false })
}

pub fn reduce(n: u64) -> Request {
    Request::Reduce(ReduceRequest { op: sum(Scalar::F32), n, initial: None })
}

pub fn sort_keys(n: u64) -> Request {
    Request::Sort(SortRequest::new(Scalar::U32.into(), n))
}

pub fn sort_pairs(n: u64) -> Request {
    Request::Sort(SortRequest::new(Scalar::U32.into(), n).with(u32::TYPE).in_order(Order::Descending))
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
    Request::Select(SelectRequest { selector: Selector::of::<u32, _>(Odd), n, rest, keeps: Keeps::Items })
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
