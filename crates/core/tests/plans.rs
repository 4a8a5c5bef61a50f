//! Plans as text, for devices that need not be there: what the planner decides, and how much scratch it takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use trifold_core::planner::{ALGORITHMS, algorithms, compute_bound, is_reference, plan, traffic};
use trifold_core::{
    Builtin, ByKeyRequest, Caps, DeviceKind, Element, Error, Fault, Language, Launch, Layout, MAX_ELEMENTS, Op,
    Options, Order, Param, Plan, Predicate, ReduceRequest, Region, Request, Rest, Scalar, ScanKind, ScanRequest,
    SelectRequest, Selector, Slot, SortRequest, Step, SubgroupSource, Subgroups, Tuning, TuningRow, TuningTable,
    Waiting,
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
        coherent: true,
        subgroup_barrier: true,
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
        coherent: false,
        subgroup_barrier: false,
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

fn reduce_by(algorithm: &'static str, request: &Request, caps: &Caps) -> Result<Plan, Error> {
    let options = Options { algorithm: Some(algorithm), ..Options::default() };
    plan(request, Layout::default(), options, caps, &Tuning::of(caps))
}

/// The ladder's launches repeat one kernel on what the one before left, in two regions by turns.
#[test]
fn rungs_of_the_reduce_ladder() {
    let text = |algorithm, n, caps: &Caps| describe(&reduce_by(algorithm, &reduce(n), caps).unwrap());
    insta::assert_snapshot!("reduce_sequential_lavapipe", text("sequential", 1 << 25, &lavapipe()));
    insta::assert_snapshot!("reduce_unroll_last_subgroup_h200", text("unroll_last_subgroup", 1 << 28, &h200()));
    insta::assert_snapshot!("reduce_subgroup_pocl", text("subgroup", 1 << 20, &pocl()));
    insta::assert_snapshot!("reduce_interleaved_modulo_of_few", text("interleaved_modulo", 256, &gl()));
    for algorithm in algorithms(&reduce(1), &h200()) {
        assert_eq!(is_reference(algorithm), algorithm != "single_pass");
        assert_eq!(reduce_by(algorithm, &reduce(0), &h200()).unwrap().launches(), 0);
        assert_eq!(reduce_by(algorithm, &reduce(1), &h200()).unwrap().launches(), 1);
    }
}

/// Each launch takes what the one before it left, until one element is left, and each sum is written where it is read.
#[test]
fn a_rung_leaves_one_sum() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        for n in [1, 255, 256, 257, 511, 513, 1 << 16, (1 << 16) + 1, 100_000_007, MAX_ELEMENTS] {
            let rungs = algorithms(&reduce(n), &caps).into_iter().filter(|name| is_reference(name));
            for rung in rungs {
                // More than a device can bind.
                let Ok(plan) = reduce_by(rung, &reduce(n), &caps) else { continue };
                let (mut left, mut from) = (n, Region { slot: Slot::Input, offset: 0, bytes: 4 * n });
                for step in plan.steps() {
                    let Step::Launch(launch) = step else { panic!("{step:?}") };
                    let [(_, input), (_, output)] = launch.bindings[..] else { panic!("{launch:?}") };
                    let word = |name| launch.params.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
                    assert_eq!((word("n"), input), (Some(Param::Word(left as u32)), from), "{rung} of {n}");
                    assert_eq!(word("groups"), Some(Param::Word(launch.groups)), "{rung} of {n}");
                    assert!(output.slot != input.slot || output.offset != input.offset, "{rung} of {n}");
                    assert_eq!(output.bytes, 4 * u64::from(launch.groups), "{rung} of {n}");
                    (left, from) = (launch.groups.into(), output);
                }
                assert_eq!((left, from.slot), (1, Slot::Output), "{rung} of {n}");
            }
        }
    }
}

#[test]
fn what_a_rung_cannot_do_is_refused_with_what_can() {
    let mut op = sum(Scalar::U32);
    (op.name, op.commutative) = ("ordered".into(), false);
    let request = Request::Reduce(ReduceRequest { op, n: 1000, initial: None });
    let refused = |algorithm, request: &Request, caps: &Caps| match reduce_by(algorithm, request, caps) {
        Err(Error::Unsupported(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(algorithms(&request, &h200()), ["single_pass", "interleaved_modulo", "interleaved_strided"]);
    for rung in algorithms(&reduce(1), &h200()).into_iter().skip(3) {
        let why = refused(rung, &request, &h200());
        assert!(why.contains(rung) && why.contains("`ordered`") && why.contains("interleaved_strided keep"), "{why}");
    }
    for rung in ["unroll_last_subgroup", "unrolled", "subgroup"] {
        assert!(!algorithms(&reduce(1), &gl()).contains(&rung));
        let why = refused(rung, &reduce(1000), &gl());
        assert!(why.contains(rung) && why.contains("no subgroups") && why.contains("grid_stride"), "{why}");
    }
    let host = Caps { language: Language::Host, subgroups: None, ..gl() };
    assert!(refused("subgroup", &reduce(1000), &host).contains("it runs parallel"));
    // So with the other primitives' algorithms.
    assert!(refused("lookback", &scan(1000), &gl()).contains("no subgroups; it runs reduce_then_scan"));
    assert!(refused("onesweep", &sort_keys(1000), &gl()).contains("no subgroups"));
    assert!(refused("lookahead", &scan(1000), &lavapipe()).contains("no hardware copies tiles"));
    assert!(refused("lookahead_registers", &scan(1000), &pocl()).contains("subgroups are emulated"));
    let incoherent = Caps { coherent: false, ..lavapipe() };
    assert!(refused("lookback_fenced", &scan(1000), &incoherent).contains("no `@coherent` memory"));
    assert!(refused("onesweep", &scan(1000), &h200()).contains("H200 (cuda); it runs lookback"));
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
    let Some(launch) = wide.launched().last() else { panic!("{wide:?}") };
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

/// A GPU sorts few keys in one workgroup, no larger than they need.
#[test]
fn sorts_of_one_tile() {
    insta::assert_snapshot!("sort_keys_h200_one_tile", text(&sort_keys(1000), &h200()));
    insta::assert_snapshot!("sort_pairs_h200_one_tile", text(&sort_pairs(3000), &h200()));
    let by = |algorithm, request: &Request, caps: &Caps| {
        let options = Options { algorithm, ..Options::default() };
        plan(request, Layout::default(), options, caps, &Tuning::of(caps))
    };
    let shape = |n| {
        let plan = planned(&sort_keys(n), Layout::default(), &h200());
        let Some(launch) = plan.launched().last() else { panic!("{plan:?}") };
        (plan.algorithm(), launch.kernel.constant("WORKGROUP").unwrap(), launch.kernel.constant("ITEMS").unwrap())
    };
    let largest = Tuning::of(&h200()).tile_workgroup * Tuning::of(&h200()).tile_keys;
    for n in [1, 64, 65, 500, 1023, 1024, 1025, 4000, u64::from(largest)] {
        let (algorithm, workgroup, keys) = shape(n);
        assert_eq!(algorithm, "one_tile");
        let tile = u64::from(workgroup * keys);
        assert!(n <= tile && (tile <= 2 * n || workgroup == 64), "{n} keys by {workgroup} x {keys}");
    }
    // Then by buckets that likely fit a workgroup each; floats share their first digits.
    let most = |request: fn(u64) -> Request| {
        let plans = (12..31).map(|bits| planned(&request(1 << bits), Layout::default(), &h200()).algorithm());
        plans.collect::<Vec<_>>()
    };
    let hybrids = most(sort_keys).into_iter().filter(|algorithm| *algorithm == "hybrid").count();
    assert_eq!((shape(u64::from(largest) + 1).0, shape(1 << 21).0, hybrids), ("hybrid", "onesweep", 8));
    let floats = |n| Request::Sort(SortRequest { key: Scalar::F32, value: None, n, order: Order::Ascending });
    assert!(!most(floats).contains(&"hybrid"));
    // Software devices have no wave to fill, and devices without subgroups cannot.
    assert_eq!(planned(&sort_keys(1000), Layout::default(), &lavapipe()).algorithm(), "onesweep");
    assert_eq!(by(Some("one_tile"), &sort_keys(1000), &lavapipe()).unwrap().algorithm(), "one_tile");
    for (n, caps) in [(5000, h200()), (1 << 30, h200()), (1000, gl())] {
        match by(Some("one_tile"), &sort_keys(n), &caps) {
            Err(Error::Unsupported(why)) => assert!(why.contains("one_tile"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

/// A partition by the most significant digit into the second buffer, whence workgroups sort its buckets into the output.
#[test]
fn sorts_from_the_most_significant_digit() {
    let options = Options { algorithm: Some("msd_first"), ..Options::default() };
    for (name, request, caps) in [
        ("sort_keys_h200_msd_first", sort_keys(1 << 20), h200()),
        ("sort_pairs_lavapipe_msd_first", sort_pairs(1 << 20), lavapipe()),
    ] {
        let plan = plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps)).unwrap();
        insta::assert_snapshot!(name, describe(&plan));
    }
    let refused = plan(&sort_keys(9), Layout::default(), options, &gl(), &Tuning::of(&gl()));
    assert!(matches!(refused, Err(Error::Unsupported(_))), "{refused:?}");
}

/// Counts past 30 bits leave no room for a status beside them in a word: a pass takes portions of fewer keys.
#[test]
fn sorts_of_very_many_keys_go_by_portions() {
    insta::assert_snapshot!("sort_keys_h200_portions", text(&sort_keys(3 << 30), &h200()));
}

const UNBOUNDED: Options = Options { algorithm: None, fault: Fault::None, waiting: Waiting::Unbounded };

/// The fallbacks of a plan's launches that wait.
fn fallbacks(plan: &Plan) -> Vec<u32> {
    plan.launched().filter_map(|launch| launch.kernel.constant("FALLBACK")).collect()
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
    assert_eq!(planned(&request, Layout::default(), &h200()).algorithm(), "lookahead");
    let make = |options| plan(&request, Layout::default(), options, &h200(), &Tuning::of(&h200()));
    assert_eq!(make(UNBOUNDED).unwrap().algorithm(), "lookback");
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
fn every_algorithm_has_a_name_in_the_list() {
    let (requests, mut found) = ([scan(9), reduce(9), sort_keys(9)], BTreeSet::new());
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        found.extend(requests.iter().flat_map(|request| algorithms(request, &caps)));
    }
    found.extend(["copy", "parallel", "sequential"]);
    assert_eq!(found, BTreeSet::from(ALGORITHMS));
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
                    let bytes = plan.scratch_bytes();
                    // The literature's scans have a second buffer or a tree, or a sum for every 512 elements.
                    let most = if is_reference(algorithm) { most.max(4 * n + 4 * n / 100) } else { most };
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
fn every_algorithm_of_a_gpu_has_a_traffic() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        let copy = Request::Copy { element: u32::TYPE, n: 1000 };
        let runs = Request::ByKey(ByKeyRequest { key: u32::TYPE, op: None, n: 1000 });
        let others = [select(1000, Rest::Dropped), select(1000, Rest::Behind), runs];
        for request in [copy, scan(1000), reduce(1000), sort_keys(1000), sort_pairs(1000)].into_iter().chain(others) {
            for algorithm in algorithms(&request, &caps) {
                let bytes = traffic(&request, algorithm, Some(500));
                // At least what has to be read.
                assert!(bytes.is_some_and(|bytes| bytes >= 4000), "{} by {algorithm}: {bytes:?}", request.primitive());
            }
        }
    }
}

#[test]
fn arithmetic_is_planned_in_workgroups_that_the_device_has() {
    let plan = compute_bound(1000, 7, 3, &lavapipe()).unwrap();
    assert_eq!(
        describe(&plan),
        "compute_bound, 0 bytes of scratch, depth 0\nexperiment/compute_bound x 334 |  | WORKGROUP=3 | \
         output=Output[0, +4000] | n=1000 turns=7 output_offset=output/4\n"
    );
    let why = |workgroup, caps: &Caps| compute_bound(1000, 7, workgroup, caps).unwrap_err().to_string();
    assert!(why(2048, &lavapipe()).contains("the most is 1024"));
    assert!(why(0, &lavapipe()).contains("at least 1"));
    assert!(why(1, &Caps { language: Language::Host, ..lavapipe() }).contains("not workgroups"));
}

/// A name is a plan of its own: no algorithm runs under another's.
#[test]
fn algorithms_differ_in_their_plans() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        for request in
            [scan(1 << 20), reduce(1 << 20), sort_keys(1 << 20), sort_pairs(1 << 20), select(1 << 20, Rest::Dropped)]
        {
            let mut seen: Vec<(&str, String)> = vec![];
            for name in algorithms(&request, &caps) {
                let options = Options { algorithm: Some(name), ..Options::default() };
                let Ok(plan) = plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps)) else { continue };
                assert_eq!(plan.algorithm(), name);
                // Without the line that has its name.
                let steps = describe(&plan).split_once('\n').unwrap().1.to_owned();
                if let Some((other, _)) = seen.iter().find(|(_, known)| *known == steps) {
                    panic!("{name} is {other} on {}: {steps}", caps.device);
                }
                seen.push((name, steps));
            }
        }
    }
}

/// Subgroups that may be so narrow need counts for many, and so wide a workgroup of them: Metal's, with wgpu's default limits.
#[test]
fn sorts_without_room_for_ranks_are_classic() {
    let caps = Caps {
        shared_bytes: 16 << 10,
        subgroups: Some(Subgroups { min: 4, max: 64, source: SubgroupSource::Native }),
        ..lavapipe()
    };
    let by = |algorithm| {
        let options = Options { algorithm, ..Options::default() };
        plan(&sort_keys(1 << 20), Layout::default(), options, &caps, &Tuning::of(&caps))
    };
    assert_eq!(by(None).unwrap().algorithm(), "upsweep_downsweep");
    for algorithm in ["onesweep", "hybrid", "msd_first"] {
        let outcome = by(Some(algorithm));
        assert!(matches!(&outcome, Err(Error::Unsupported(why)) if why.contains("16384 bytes")), "{outcome:?}");
    }
    let roomy = Caps { shared_bytes: 32 << 10, ..caps };
    let outcome = planned(&sort_keys(1 << 20), Layout::default(), &roomy);
    assert_eq!(outcome.algorithm(), "onesweep");
}

#[test]
fn workgroups_are_whole_subgroups_and_no_larger_than_the_devices() {
    let caps = Caps {
        max_workgroup: 256,
        subgroups: Some(Subgroups { min: 32, max: 64, source: SubgroupSource::Native }),
        ..lavapipe()
    };
    let with = |sort_workgroup| {
        let tuning = Tuning { sort_workgroup, ..Tuning::of(&caps) };
        plan(&sort_keys(1 << 20), Layout::default(), Options::default(), &caps, &tuning)
    };
    let outcome = with(96);
    assert!(matches!(&outcome, Err(Error::Invalid(why)) if why.contains("workgroup of 96")), "{outcome:?}");
    for workgroup in [64, 192, 256, 512, 1024] {
        for launch in with(workgroup).unwrap().launched() {
            let planned = launch.kernel.constant("WORKGROUP").unwrap();
            assert!(planned.is_multiple_of(64) && planned <= 256, "{workgroup}: {launch:?}");
        }
    }
}

#[test]
fn copies_go_by_what_a_kernel_can_count() {
    let caps = Caps { max_binding: 1 << 40, max_buffer: 1 << 40, ..lavapipe() };
    for n in [1 << 30, (1 << 30) + 1, 1 << 31, (1 << 31) + 512, MAX_ELEMENTS] {
        let request = Request::Copy { element: u64::TYPE, n };
        let plan = planned(&request, Layout::default(), &caps);
        let mut copied = 0;
        for launch in plan.launched() {
            let (_, region) = launch.bindings[0];
            assert_eq!(region.offset, copied);
            assert!(launch.params.contains(&("n", Param::Word((region.bytes / 4) as u32))), "{launch:?}");
            assert!(region.bytes / 4 <= MAX_ELEMENTS && launch.groups > 0);
            copied += region.bytes;
        }
        assert_eq!(copied, 8 * n);
    }
}

#[test]
fn tuning_of_nothing_is_refused() {
    let caps = h200();
    let wrong: [fn(&mut Tuning); 3] = [|t| t.scan_workgroup = 0, |t| t.sort_keys = 0, |t| t.sort_workgroup = 1 << 20];
    for change in wrong {
        let mut tuning = Tuning::of(&caps);
        change(&mut tuning);
        let outcome = plan(&sort_keys(1000), Layout::default(), Options::default(), &caps, &tuning);
        assert!(matches!(&outcome, Err(Error::Invalid(why)) if why.contains("tuning `s")), "{outcome:?}");
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
