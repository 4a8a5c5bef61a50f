//! Plans as text, for devices that need not be there: what the planner decides, and how much scratch it takes.

use std::collections::BTreeMap;
use std::fmt::Write;

use trifold_core::planner::{algorithms, plan};
use trifold_core::{
    Builtin, ByKeyRequest, Caps, DeviceKind, Element, Error, Fault, Language, Launch, Layout, Op, Options, Order,
    Param, Plan, Predicate, ReduceRequest, Region, Request, Rest, Scalar, ScanKind, ScanRequest, SelectRequest,
    Selector, SortRequest, Step, SubgroupSource, Subgroups, Tuning, TuningRow, TuningTable, Waiting,
};

/// CUDA on an H200.
fn h200() -> Caps {
    Caps {
        backend: "cuda",
        device: "NVIDIA H200".into(),
        driver: "none".into(),
        api: "CUDA 13.0 sm_90".into(),
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
        bulk_shared_bytes: 227 * 1024,
        max_binding: 140 << 30,
        max_buffer: 140 << 30,
        binding_alignment: 1,
        native_copy: true,
    }
}

/// wgpu on lavapipe through Vulkan.
fn lavapipe() -> Caps {
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
        max_workgroup: 1024,
        shared_bytes: 32 * 1024,
        bulk_shared_bytes: 0,
        max_binding: 128 << 20,
        max_buffer: 2 << 30,
        binding_alignment: 16,
        native_copy: false,
        ..h200()
    }
}

/// wgpu on llvmpipe through GL.
fn gl() -> Caps {
    Caps {
        api: "Gl".into(),
        subgroups: None,
        int64: false,
        float64: false,
        atomics64: false,
        binding_alignment: 256,
        ..lavapipe()
    }
}

/// OpenCL on PoCL 3.1, which has no subgroups of its own.
fn pocl() -> Caps {
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
        ..lavapipe()
    }
}

fn sum(scalar: Scalar) -> Op {
    Op::builtin(Builtin::Sum, scalar).unwrap()
}

fn scan(n: u64) -> Request {
    Request::Scan(ScanRequest { op: sum(Scalar::U32), n, kind: ScanKind::Exclusive, initial: None })
}

fn reduce(n: u64) -> Request {
    Request::Reduce(ReduceRequest { op: sum(Scalar::F32), n, initial: None })
}

fn sort_keys(n: u64) -> Request {
    Request::Sort(SortRequest { key: Scalar::U32, value: None, n, order: Order::Ascending })
}

fn sort_pairs(n: u64) -> Request {
    Request::Sort(SortRequest { key: Scalar::U32, value: Some(u32::TYPE), n, order: Order::Descending })
}

struct Odd;
impl Predicate<u32> for Odd {
    const NAME: &'static str = "odd";
    const WGSL: &'static str = "fn keep(v: T) -> bool { return (v & 1u) == 1u; }";
    fn keep(v: u32) -> bool {
        v & 1 == 1
    }
}

fn select(n: u64, rest: Rest) -> Request {
    Request::Select(SelectRequest { selector: Selector::of::<u32, Odd>(), n, rest })
}

fn planned(request: &Request, layout: Layout, caps: &Caps) -> Plan {
    plan(request, layout, Options::default(), caps, &Tuning::of(caps)).unwrap()
}

/// The plan of a request over spans as a backend allocates them.
fn text(request: &Request, caps: &Caps) -> String {
    describe(&planned(request, Layout::default(), caps))
}

/// A plan, one line a step.
fn describe(plan: &Plan) -> String {
    let mut text = format!("{}, {} bytes of scratch", plan.algorithm, plan.scratch_bytes);
    for (said, which) in [(plan.wide, "wide"), (plan.in_place, "in place")] {
        if said {
            let _ = write!(text, ", {which}");
        }
    }
    let _ = writeln!(text, ", depth {}", plan.depth);
    for step in &plan.steps {
        let _ = match step {
            Step::Fill { region, value, once } => {
                writeln!(text, "fill {} with {value}{}", place(region), if *once { " once" } else { "" })
            }
            Step::Copy { from, to } => writeln!(text, "copy {} to {}", place(from), place(to)),
            Step::Launch(launch) => writeln!(text, "{}", line(launch)),
        };
    }
    text
}

fn place(region: &Region) -> String {
    format!("{:?}[{}, +{}]", region.slot, region.offset, region.bytes)
}

fn line(launch: &Launch) -> String {
    let key = &launch.kernel;
    let mut text = format!("{} x {}", key.name, launch.groups);
    if let Some(element) = &key.element {
        let _ = write!(text, " of {}", element.name());
    }
    if let Some(op) = &key.op {
        let _ = write!(text, " by {}", op.name);
    }
    if let Some(selector) = &key.selector {
        let _ = write!(text, " where {}", selector.name);
    }
    let parts: Vec<_> = key.parts.iter().map(|part| part.trim_start_matches("block/")).collect();
    let constants: Vec<_> = key.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let bindings: Vec<_> = launch.bindings.iter().map(|(name, region)| format!("{name}={}", place(region))).collect();
    let params = launch.params.iter().map(|(name, param)| match param {
        Param::Word(value) => format!("{name}={value}"),
        Param::Offset { binding, unit } => format!("{name}={binding}/{unit}"),
    });
    let params: Vec<_> = params.collect();
    let _ = write!(text, " | {} | {}", parts.join(" "), constants.join(" "));
    let _ = write!(text, " | {} | {}", bindings.join(" "), params.join(" "));
    text
}

#[test]
fn scans() {
    insta::assert_snapshot!("scan_h200", text(&scan(1 << 20), &h200()));
    insta::assert_snapshot!("scan_h200_large", text(&scan(1 << 28), &h200()));
    insta::assert_snapshot!("scan_lavapipe", text(&scan(1 << 20), &lavapipe()));
    insta::assert_snapshot!("scan_gl", text(&scan(1 << 20), &gl()));
    insta::assert_snapshot!("scan_pocl", text(&scan(1 << 20), &pocl()));
}

/// A span that starts anywhere takes single elements. In place, a stuck tile's input may be gone.
#[test]
fn scans_of_spans_anywhere_and_in_place() {
    let narrow = Layout { wide: false, in_place: false };
    insta::assert_snapshot!("scan_h200_narrow", describe(&planned(&scan(1000), narrow, &h200())));
    let in_place = Layout { wide: true, in_place: true };
    insta::assert_snapshot!("scan_h200_in_place", describe(&planned(&scan(1000), in_place, &h200())));
    let no_progress = Caps { forward_progress: false, ..lavapipe() };
    insta::assert_snapshot!("scan_in_place_without_progress", describe(&planned(&scan(1000), in_place, &no_progress)));
}

#[test]
fn reductions() {
    insta::assert_snapshot!("reduce_h200", text(&reduce(1 << 28), &h200()));
    insta::assert_snapshot!("reduce_gl", text(&reduce(1 << 20), &gl()));
    insta::assert_snapshot!("reduce_of_nothing", text(&reduce(0), &h200()));
}

#[test]
fn selections() {
    insta::assert_snapshot!("select_h200", text(&select(1 << 20, Rest::Dropped), &h200()));
    insta::assert_snapshot!("partition_h200", text(&select(1 << 20, Rest::Apart), &h200()));
    insta::assert_snapshot!("partition_behind_h200", text(&select(1 << 20, Rest::Behind), &h200()));
    insta::assert_snapshot!("select_gl", text(&select(1 << 20, Rest::Dropped), &gl()));
    insta::assert_snapshot!("select_of_nothing", text(&select(0, Rest::Apart), &h200()));
    let in_place = Layout { wide: true, in_place: true };
    let refused = plan(&select(9, Rest::Dropped), in_place, Options::default(), &h200(), &Tuning::of(&h200()));
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}

#[test]
fn reductions_by_key() {
    let by_key = |op, n| Request::ByKey(ByKeyRequest { key: u64::TYPE, op, n });
    insta::assert_snapshot!("reduce_by_key_h200", text(&by_key(Some(sum(Scalar::F32)), 1 << 20), &h200()));
    insta::assert_snapshot!("run_length_encode_gl", text(&by_key(None, 1 << 20), &gl()));
    let wide = planned(&by_key(Some(sum(Scalar::F64)), 1000), Layout::default(), &h200());
    let Some(Step::Launch(launch)) = wide.steps.last() else { panic!("{wide:?}") };
    let op = launch.kernel.op.as_ref().unwrap();
    insta::assert_snapshot!("segmented_sum", format!("{:?} {:?}\n{}", op.element(), op.identity(), op.wgsl));
}

#[test]
fn sorts() {
    insta::assert_snapshot!("sort_keys_h200", text(&sort_keys(1 << 20), &h200()));
    insta::assert_snapshot!("sort_pairs_lavapipe", text(&sort_pairs(1 << 20), &lavapipe()));
    insta::assert_snapshot!("sort_keys_gl", text(&sort_keys(1 << 20), &gl()));
    insta::assert_snapshot!("sort_pairs_pocl", text(&sort_pairs(1 << 20), &pocl()));
}

/// Counts past 30 bits leave no room for a status beside them in a word: a pass takes portions of fewer keys.
#[test]
fn sorts_of_very_many_keys_go_by_portions() {
    insta::assert_snapshot!("sort_keys_h200_portions", text(&sort_keys(3 << 30), &h200()));
}

const UNBOUNDED: Options = Options { algorithm: None, fault: Fault::None, waiting: Waiting::Unbounded };

/// The fallbacks of a plan's launches that wait.
fn fallbacks(plan: &Plan) -> Vec<u32> {
    let of = |step: &Step| match step {
        Step::Launch(launch) => launch.kernel.constant("FALLBACK"),
        _ => None,
    };
    plan.steps.iter().filter_map(of).collect()
}

#[test]
fn unbounded_waits_leave_the_fallback_out_and_change_nothing_else() {
    for request in [scan(1 << 20), sort_keys(1 << 20), sort_pairs(1 << 20)] {
        for caps in [h200(), lavapipe(), pocl()] {
            let make = |options| plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps)).unwrap();
            let (bounded, unbounded) = (make(Options::default()), make(UNBOUNDED));
            assert!(bounded.waiting_tiles() > 1 && bounded.waiting_tiles() == unbounded.waiting_tiles());
            assert!(!fallbacks(&bounded).is_empty() && fallbacks(&bounded).iter().all(|f| *f == 1));
            assert!(fallbacks(&unbounded).iter().all(|f| *f == 0));
            assert_eq!(describe(&bounded).replace("FALLBACK=1", "FALLBACK=0"), describe(&unbounded));
        }
    }
    // Where no tile waits for another there is nothing to bound.
    for (request, caps) in [(reduce(1 << 20), h200()), (sort_keys(1 << 20), gl()), (scan(1 << 20), gl())] {
        let unbounded = plan(&request, Layout::default(), UNBOUNDED, &caps, &Tuning::of(&caps)).unwrap();
        assert_eq!((unbounded.waiting_tiles(), unbounded), (0, planned(&request, Layout::default(), &caps)));
    }
}

#[test]
fn look_ahead_always_has_its_fallback() {
    let request = scan(1 << 28);
    assert_eq!(planned(&request, Layout::default(), &h200()).algorithm, "lookahead");
    let make = |options| plan(&request, Layout::default(), options, &h200(), &Tuning::of(&h200()));
    assert_eq!(make(UNBOUNDED).unwrap().algorithm, "lookback");
    let error = make(Options { algorithm: Some("lookahead"), ..UNBOUNDED }).unwrap_err();
    assert!(matches!(&error, Error::Unsupported(why) if why.contains("lookahead with unbounded")), "{error}");
}

#[test]
fn waits_that_might_never_end_are_refused() {
    let no_progress = Caps { forward_progress: false, ..lavapipe() };
    let silent = Options { fault: Fault::Silent(100), ..UNBOUNDED };
    let bounded = Options { waiting: Waiting::Bounded, ..silent };
    let late = Options { fault: Fault::Late(100), ..UNBOUNDED };
    let (apart, in_place) = (Layout::default(), Layout { wide: true, in_place: true });
    let refused = |request: &Request, layout, options, caps: &Caps| {
        let plan = plan(request, layout, options, caps, &Tuning::of(caps));
        plan.err().map(|error| match error {
            Error::Unsupported(why) => why,
            other => panic!("{other}"),
        })
    };
    for request in [scan(1 << 20), sort_pairs(1 << 20)] {
        let why = refused(&request, apart, UNBOUNDED, &no_progress).unwrap();
        assert!(why.contains("llvmpipe (wgpu) does not promise"), "{why}");
        let why = refused(&request, apart, silent, &h200()).unwrap();
        assert!(why.contains("one tile in 100 would never publish"), "{why}");
        assert_eq!(refused(&request, apart, late, &h200()), None);
        assert_eq!(refused(&request, apart, bounded, &h200()), None);
        assert_eq!(refused(&request, apart, bounded, &no_progress), None);
    }
    // A scan in place has no fallback either.
    let why = refused(&scan(1 << 20), in_place, bounded, &h200()).unwrap();
    assert!(why.starts_with("lookback in place") && why.contains("two spans"), "{why}");
    assert_eq!(refused(&sort_keys(1 << 20), in_place, bounded, &h200()), None);
}

#[test]
fn scratch_is_as_little_as_promised() {
    let narrow = Caps { subgroups: Some(Subgroups { min: 4, max: 4, source: SubgroupSource::Native }), ..lavapipe() };
    let wide = Caps { subgroups: Some(Subgroups { min: 32, max: 64, source: SubgroupSource::Native }), ..lavapipe() };
    for caps in [h200(), lavapipe(), narrow, wide, gl(), pocl()] {
        for n in [1, 1000, 1 << 16, 1_000_003, 1 << 28, 4_000_000_000] {
            let check = |request: Request, most: u64| {
                for algorithm in algorithms(&request, &caps) {
                    let options = Options { algorithm: Some(algorithm), ..Options::default() };
                    let plan = plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps));
                    // Too many keys for a table of counts is an error that says so.
                    let Ok(plan) = plan else { continue };
                    let bytes = plan.scratch_bytes;
                    assert!(
                        bytes <= most + (64 << 10),
                        "{} {algorithm} on {}: {bytes}, not {most}",
                        request.primitive(),
                        caps.api
                    );
                }
            };
            check(scan(n), 4 * n / 100);
            check(reduce(n), 4 * n / 100);
            check(sort_keys(n), 4 * n + 4 * n / 25);
            check(sort_pairs(n), 8 * n + 8 * n / 25);
        }
    }
}

#[test]
fn tuning_rows_are_for_the_devices_they_name() {
    let vulkan = Caps { device: "Some GPU 7".into(), kind: DeviceKind::DiscreteGpu, ..lavapipe() };
    let gl = Caps { api: "Gl".into(), ..vulkan.clone() };
    let software = lavapipe();
    let numbers = BTreeMap::from([("sort_keys".to_string(), 7)]);
    let set = |row: &TuningRow, caps: &Caps| {
        let mut tuning = Tuning::of(caps);
        assert_ne!(tuning.sort_keys, 7);
        TuningTable::new(vec![row.clone()]).apply(caps, &mut tuning);
        tuning.sort_keys == 7
    };
    let own = TuningRow::for_device(&vulkan, numbers.clone());
    assert_eq!([&vulkan, &gl, &software].map(|caps| set(&own, caps)), [true, false, false]);
    let any = TuningRow { language: Some("wgsl".into()), numbers, ..TuningRow::default() };
    assert_eq!([&vulkan, &gl, &software].map(|caps| set(&any, caps)), [true, true, false]);
    let wide = TuningRow { subgroup: Some(32), ..any };
    assert!(!set(&wide, &vulkan));
    let later = TuningRow { numbers: BTreeMap::from([("sort_keys".into(), 9)]), ..own.clone() };
    let mut tuning = Tuning::of(&vulkan);
    TuningTable::new(vec![own, later]).apply(&vulkan, &mut tuning);
    assert_eq!(tuning.sort_keys, 9);
}
