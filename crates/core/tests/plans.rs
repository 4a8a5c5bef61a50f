//! Plans as text, for devices that need not be there: what the planner decides.

use std::borrow::Cow;

mod devices;

use devices::*;
use trifold_core::algorithm::{self, Algorithm};
use trifold_core::planner::{algorithms, plan, traffic};
use trifold_core::{
    Builtin, Caps, CopyRequest, Element, Error, Form, Language, Layout, MAX_ELEMENTS, Monoid, Op, Options, Param, Plan,
    ReduceByKeyRequest, ReduceRequest, Region, Request, Rest, Scalar, Slot, SortRequest, Step, SubgroupSource,
    Subgroups, Tuning, Waiting,
};

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
    let narrow = Layout::default().with(|layout| {
        layout.wide = false;
        layout.in_place = false;
    });
    insta::assert_snapshot!("scan_h200_narrow", describe(&planned(&scan(1000), narrow, &h200())));
    let in_place = Layout::default().with(|layout| {
        layout.wide = true;
        layout.in_place = true;
    });
    insta::assert_snapshot!("scan_h200_in_place", describe(&planned(&scan(1000), in_place, &h200())));
    let no_progress = lavapipe().with(|caps| caps.forward_progress = false);
    insta::assert_snapshot!("scan_in_place_without_progress", describe(&planned(&scan(1000), in_place, &no_progress)));
}

/// Kernels in C read it. In WGSL a step before them does, and a copy is none of the API's.
#[test]
fn as_many_elements_as_the_device_says() {
    let counted = Layout::default().with(|layout| layout.reads_length = true);
    insta::assert_snapshot!("scan_h200_length", describe(&planned(&scan(1000), counted, &h200())));
    insta::assert_snapshot!("scan_lavapipe_length", describe(&planned(&scan(1000), counted, &lavapipe())));
    let copy = Request::Copy(CopyRequest { element: u32::TYPE, n: 1000 });
    insta::assert_snapshot!("copy_h200_length", describe(&planned(&copy, counted, &h200())));
    let reference = Options::by(&algorithm::scan::BLELLOCH);
    let refused = plan(&scan(1000), counted, reference, &h200(), &Tuning::of(&h200())).unwrap_err().to_string();
    assert!(refused.contains("a number of elements that is on the device"), "{refused}");
}

trifold_core::element! {
    struct Range { low: f32, high: f32 }
}

#[derive(Clone)]
struct Wider;

impl Monoid<Range> for Wider {
    fn name(&self) -> Cow<'static, str> {
        "wider".into()
    }
    fn identity(&self) -> Range {
        Range { low: 0.0, high: 0.0 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T { return T(min(a.low, b.low), max(a.high, b.high)); }".into()
    }
    fn combine(&self, a: Range, b: Range) -> Range {
        Range { low: a.low.min(b.low), high: a.high.max(b.high) }
    }
}

/// Elements that are taken one at a time may lie anywhere, and so may those of algorithms that take any one at a time.
#[test]
fn wide_spans_are_for_packs_of_elements() {
    let of = |op: Op| Request::Reduce(ReduceRequest { op, n: 1000, initial: None });
    assert!(!planned(&of(Op::of::<Range, _>(Wider)), Layout::default(), &h200()).wide());
    assert!(planned(&of(sum(Scalar::U64)), Layout::default(), &h200()).wide());
    use algorithm::scan::{BLELLOCH_BLOCKED, HILLIS_STEELE, LOOKAHEAD, LOOKBACK};
    for (algorithm, wide) in
        [(&LOOKBACK, true), (&LOOKAHEAD, true), (&HILLIS_STEELE, false), (&BLELLOCH_BLOCKED, false)]
    {
        let options = Options::by(algorithm);
        let plan = plan(&scan(1000), Layout::default(), options, &h200(), &Tuning::of(&h200())).unwrap();
        assert_eq!(plan.wide(), wide, "{algorithm}");
    }
    // The packs of a sort's scan are of its scratch.
    assert!(!planned(&sort_keys(1 << 20), Layout::default(), &gl()).wide());
}

#[test]
fn reductions() {
    insta::assert_snapshot!("reduce_h200", text(&reduce(1 << 28), &h200()));
    insta::assert_snapshot!("reduce_gl", text(&reduce(1 << 20), &gl()));
    insta::assert_snapshot!("reduce_of_nothing", text(&reduce(0), &h200()));
}

fn plan_by(name: &str, request: &Request, caps: &Caps) -> Result<Plan, Error> {
    let options = Options::by(request.algorithm(name)?);
    plan(request, Layout::default(), options, caps, &Tuning::of(caps))
}

/// The ladder's launches repeat one kernel on what the one before left, in two regions by turns.
#[test]
fn rungs_of_the_reduce_ladder() {
    let text = |algorithm, n, caps: &Caps| describe(&plan_by(algorithm, &reduce(n), caps).unwrap());
    insta::assert_snapshot!("reduce_sequential_lavapipe", text("sequential", 1 << 25, &lavapipe()));
    insta::assert_snapshot!("reduce_unroll_last_subgroup_h200", text("unroll_last_subgroup", 1 << 28, &h200()));
    insta::assert_snapshot!("reduce_subgroup_pocl", text("subgroup", 1 << 20, &pocl()));
    insta::assert_snapshot!("reduce_interleaved_modulo_of_few", text("interleaved_modulo", 256, &gl()));
    for algorithm in algorithms(&reduce(1), &h200()) {
        assert_eq!(algorithm.is_reference, *algorithm != algorithm::reduce::SINGLE_PASS);
        assert_eq!(plan_by(algorithm.name, &reduce(0), &h200()).unwrap().launches(), 0);
        assert_eq!(plan_by(algorithm.name, &reduce(1), &h200()).unwrap().launches(), 1);
    }
}

/// Each launch takes what the one before it left, until one element is left, and each sum is written where it is read.
#[test]
fn a_rung_leaves_one_sum() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        for n in [1, 255, 256, 257, 511, 513, 1 << 16, (1 << 16) + 1, 100_000_007, MAX_ELEMENTS] {
            let rungs = algorithms(&reduce(n), &caps).into_iter().filter(|algorithm| algorithm.is_reference);
            for rung in rungs {
                // More than a device can bind.
                let Ok(plan) = plan_by(rung.name, &reduce(n), &caps) else { continue };
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
    let refused = |algorithm, request: &Request, caps: &Caps| match plan_by(algorithm, request, caps) {
        Err(Error::Unsupported(why)) => why,
        other => panic!("{other:?}"),
    };
    let names = |request: &Request, caps: &Caps| -> Vec<_> {
        algorithms(request, caps).iter().map(|algorithm| algorithm.name).collect()
    };
    let ordered = names(&request, &h200());
    assert_eq!(ordered[..3], ["single_pass", "interleaved_modulo", "interleaved_strided"]);
    for rung in names(&reduce(1), &h200()).into_iter().filter(|rung| !ordered.contains(rung)) {
        let why = refused(rung, &request, &h200());
        assert!(why.contains(rung) && why.contains("`ordered`") && why.contains(&ordered.join(", ")), "{why}");
    }
    for rung in ["unroll_last_subgroup", "unrolled", "subgroup"] {
        assert!(!names(&reduce(1), &gl()).contains(&rung));
        let why = refused(rung, &reduce(1000), &gl());
        assert!(why.contains(rung) && why.contains("no subgroups") && why.contains("grid_stride"), "{why}");
    }
    let host = gl().with(|caps| {
        caps.language = Language::Host;
        caps.subgroups = None;
    });
    assert!(refused("subgroup", &reduce(1000), &host).contains("it runs parallel"));
    // So with the other primitives' algorithms.
    assert!(refused("lookback", &scan(1000), &gl()).contains("no subgroups; it runs reduce_then_scan"));
    assert!(refused("onesweep", &sort_keys(1000), &gl()).contains("no subgroups"));
    assert!(refused("lookahead", &scan(1000), &lavapipe()).contains("no hardware copies tiles"));
    assert!(refused("lookback_pipelined", &scan(1000), &pocl()).contains("subgroups are emulated"));
    let incoherent = lavapipe().with(|caps| caps.coherent = false);
    assert!(refused("lookback_fenced", &scan(1000), &incoherent).contains("no `@coherent` memory"));
    let foreign = Options::by(&algorithm::sort::ONESWEEP);
    let foreign = plan(&scan(1000), Layout::default(), foreign, &h200(), &Tuning::of(&h200())).unwrap_err().to_string();
    assert!(foreign.contains("no algorithm of scan's; it runs lookback"), "{foreign}");
}

#[test]
fn selections() {
    insta::assert_snapshot!("select_h200", text(&select(1 << 20, Rest::Dropped), &h200()));
    insta::assert_snapshot!("partition_h200", text(&select(1 << 20, Rest::Apart), &h200()));
    insta::assert_snapshot!("partition_behind_h200", text(&select(1 << 20, Rest::Behind), &h200()));
    insta::assert_snapshot!("select_gl", text(&select(1 << 20, Rest::Dropped), &gl()));
    insta::assert_snapshot!("select_of_nothing", text(&select(0, Rest::Apart), &h200()));
    let in_place = Layout::default().with(|layout| {
        layout.wide = true;
        layout.in_place = true;
    });
    // In place each tile has read what it overwrites, if it need not help. Others select from a copy.
    let one = planned(&select(1 << 20, Rest::Dropped), in_place, &h200());
    assert_eq!(
        (one.launches(), one.launched().last().and_then(|launch| launch.kernel.constant("FALLBACK"))),
        (1, Some(0))
    );
    let copies_first = |plan: &Plan| match plan.steps().first() {
        Some(Step::Launch(launch)) => launch.kernel.name().starts_with("copy"),
        step => matches!(step, Some(Step::Copy { .. })),
    };
    let of_copy = planned(&select(1 << 20, Rest::Dropped), in_place, &lavapipe());
    assert!(copies_first(&of_copy) && !copies_first(&one), "{of_copy:?}");
    assert_eq!(of_copy.launched().last().and_then(|launch| launch.kernel.constant("FALLBACK")), Some(1));
    assert!(copies_first(&planned(&select(1 << 20, Rest::Behind), in_place, &h200())));
}

#[test]
fn reductions_by_key() {
    let by_key = |op, n| Request::ReduceByKey(ReduceByKeyRequest { key: u64::TYPE, op, n });
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
    let shape = |n| {
        let plan = planned(&sort_keys(n), Layout::default(), &h200());
        let Some(launch) = plan.launched().last() else { panic!("{plan:?}") };
        (plan.algorithm().name, launch.kernel.constant("WORKGROUP").unwrap(), launch.kernel.constant("ITEMS").unwrap())
    };
    let largest = Tuning::of(&h200()).one_tile.workgroup * Tuning::of(&h200()).one_tile.keys;
    for n in [1, 64, 65, 500, 1023, 1024, 1025, 4000, u64::from(largest)] {
        let (algorithm, workgroup, keys) = shape(n);
        assert_eq!(algorithm, "one_tile");
        let tile = u64::from(workgroup * keys);
        assert!(n <= tile && (tile <= 2 * n || workgroup == 64), "{n} keys by {workgroup} x {keys}");
    }
    // Then by buckets that likely fit a workgroup each; floats share their first digits.
    let most = |request: fn(u64) -> Request| {
        let plans = (12..31).map(|bits| planned(&request(1 << bits), Layout::default(), &h200()).algorithm().name);
        plans.collect::<Vec<_>>()
    };
    let hybrids = most(sort_keys).into_iter().filter(|algorithm| *algorithm == "hybrid").count();
    assert_eq!((shape(u64::from(largest) + 1).0, shape(1 << 21).0, hybrids), ("hybrid", "onesweep", 8));
    let floats = |n| Request::Sort(SortRequest::new(Scalar::F32.into(), n));
    assert!(!most(floats).contains(&"hybrid"));
    // Software devices have no wave to fill, and devices without subgroups cannot.
    assert_eq!(planned(&sort_keys(1000), Layout::default(), &lavapipe()).algorithm().name, "onesweep");
    assert_eq!(plan_by("one_tile", &sort_keys(1000), &lavapipe()).unwrap().algorithm().name, "one_tile");
    for (n, caps) in [(5000, h200()), (1 << 30, h200()), (1000, gl())] {
        match plan_by("one_tile", &sort_keys(n), &caps) {
            Err(Error::Unsupported(why)) => assert!(why.contains("one_tile"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Few keys are merged where that is the faster way, and where it is the only one of a single launch.
#[test]
fn sorts_that_merge() {
    let no_subgroups = h200().with(|caps| caps.subgroups = None);
    let sort = |key: Scalar, n| Request::Sort(SortRequest::new(key.into(), n));
    let shape = |request: &Request, caps: &Caps| {
        let plan = planned(request, Layout::default(), caps);
        let Some(launch) = plan.launched().last() else { panic!("{plan:?}") };
        let [workgroup, keys] = ["WORKGROUP", "ITEMS"].map(|name| launch.kernel.constant(name).unwrap());
        (plan.algorithm().name, u64::from(workgroup), u64::from(keys))
    };
    for (key, caps) in [(Scalar::U64, h200()), (Scalar::U32, no_subgroups.clone())] {
        for n in [1, 5, 45, 300, 1000, 2048, 2049, 4096] {
            let (algorithm, workgroup, keys) = shape(&sort(key, n), &caps);
            assert_eq!(algorithm, "merge_tile", "{n} {key:?}");
            assert!(
                n <= workgroup * keys && workgroup.is_power_of_two() && keys % 2 == 1,
                "{n} by {workgroup} x {keys}"
            );
        }
    }
    assert_eq!(shape(&sort(Scalar::U64, 4097), &h200()).0, "hybrid");
    assert_eq!(shape(&sort(Scalar::U32, 4096), &h200()).0, "one_tile");
    assert_eq!(shape(&sort(Scalar::U32, 5000), &no_subgroups).0, "upsweep_downsweep");
    assert_eq!(shape(&sort(Scalar::U32, 100), &gl()).0, "upsweep_downsweep");
    let even = with(Tuning::of(&no_subgroups), &[("merge_keys", 8)]);
    let plan = plan(&sort(Scalar::U32, 512 * 7), Layout::default(), Options::default(), &no_subgroups, &even).unwrap();
    assert_eq!(plan.launched().last().unwrap().kernel.constant("ITEMS"), Some(7));
}

/// A partition by the most significant digit into the second buffer, whence workgroups sort its buckets into the output.
#[test]
fn sorts_from_the_most_significant_digit() {
    let options = Options::by(&algorithm::sort::MSD_FIRST);
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

/// Counts past 29 bits leave no room for a status beside them in a word: a pass takes portions of fewer keys.
#[test]
fn sorts_of_very_many_keys_go_by_portions() {
    insta::assert_snapshot!("sort_keys_h200_portions", text(&sort_keys(3 << 30), &h200()));
}

/// The fallbacks of a plan's launches that wait.
fn fallbacks(plan: &Plan) -> Vec<u32> {
    plan.launched().filter_map(|launch| launch.kernel.constant("FALLBACK")).collect()
}

#[test]
fn unbounded_waits_leave_the_fallback_out_and_change_nothing_else() {
    for request in [scan(1 << 20), sort_keys(1 << 20), sort_pairs(1 << 20)] {
        for caps in [h200(), lavapipe(), pocl()] {
            // Where subgroups are emulated no scan waits by choice.
            let algorithm = request.algorithm("lookback").ok();
            let make = |options: Options| {
                let options = options.with(|options| options.algorithm = algorithm);
                plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps)).unwrap()
            };
            let (bounded, unbounded) = (make(Options::default()), make(unbounded()));
            assert!(bounded.waiting_tiles() > 1 && bounded.waiting_tiles() == unbounded.waiting_tiles());
            assert!(!fallbacks(&bounded).is_empty() && fallbacks(&bounded).iter().all(|f| *f == 1));
            assert!(fallbacks(&unbounded).iter().all(|f| *f == 0));
            assert_eq!(describe(&bounded).replace("FALLBACK=1", "FALLBACK=0"), describe(&unbounded));
        }
    }
    // Where no tile waits for another there is nothing to bound.
    for (request, caps) in [(reduce(1 << 20), h200()), (sort_keys(1 << 20), gl()), (scan(1 << 20), gl())] {
        let unbounded = plan(&request, Layout::default(), unbounded(), &caps, &Tuning::of(&caps)).unwrap();
        assert_eq!((unbounded.waiting_tiles(), unbounded), (0, planned(&request, Layout::default(), &caps)));
    }
}

/// There every row of a look-back's tile is barriers, which take long to compile and to run.
#[test]
fn where_subgroups_are_emulated_no_tile_waits_by_choice() {
    let by_key = ReduceByKeyRequest { key: u32::TYPE, op: None, n: 1 << 20 };
    for request in [scan(1 << 20), select(1 << 20, Rest::Apart), Request::ReduceByKey(by_key)] {
        let on = |caps| planned(&request, Layout::default(), &caps);
        assert!(on(pocl()).waiting_tiles() == 0 && on(lavapipe()).waiting_tiles() > 0, "{request:?}");
    }
}

#[test]
fn look_ahead_always_has_its_fallback() {
    let request = scan(1 << 28);
    assert_eq!(planned(&request, Layout::default(), &h200()).algorithm().name, "lookahead");
    let make = |options| plan(&request, Layout::default(), options, &h200(), &Tuning::of(&h200()));
    assert_eq!(make(unbounded()).unwrap().algorithm().name, "lookback");
    let error = make(unbounded().with(|options| options.algorithm = Some(&algorithm::scan::LOOKAHEAD))).unwrap_err();
    assert!(matches!(&error, Error::Unsupported(why) if why.contains("lookahead with unbounded")), "{error}");
}

/// Each device runs some algorithm of each primitive, and each algorithm runs somewhere.
#[test]
fn every_algorithm_runs_on_some_device() {
    let host = gl().with(|caps| {
        caps.language = Language::Host;
        caps.subgroups = None;
    });
    let forms = Form::all().map(|form| form.request(Scalar::U32, Builtin::Sum, 9).unwrap());
    let bytes = SortRequest::new(u8::TYPE, 9).into();
    let requests: Vec<Request> = forms.chain([select(9, Rest::Behind), bytes]).collect();
    let mut found: Vec<&Algorithm> = vec![];
    for caps in [h200(), lavapipe(), gl(), pocl(), host] {
        for request in &requests {
            let all = algorithms(request, &caps);
            assert!(!all[0].is_reference, "{} on {}", request.primitive(), caps.device);
            found.extend(all);
        }
    }
    let missing: Vec<_> = algorithm::all().filter(|algorithm| !found.contains(algorithm)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_algorithm_of_a_gpu_has_a_traffic() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        let copy = Request::Copy(CopyRequest { element: u32::TYPE, n: 1000 });
        let runs = Request::ReduceByKey(ReduceByKeyRequest { key: u32::TYPE, op: None, n: 1000 });
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

/// A name is a plan of its own: no algorithm runs under another's.
#[test]
fn algorithms_differ_in_their_plans() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        let n = 1 << 20;
        let runs = Request::ReduceByKey(ReduceByKeyRequest { key: u64::TYPE, op: Some(sum(Scalar::F32)), n });
        for request in [scan(n), reduce(n), sort_keys(n), sort_pairs(n), select(n, Rest::Dropped), runs] {
            let mut seen: Vec<(&str, String)> = vec![];
            for name in algorithms(&request, &caps).into_iter().map(|algorithm| algorithm.name) {
                let plan = match plan_by(name, &request, &caps) {
                    Ok(plan) => plan,
                    // More keys than one tile.
                    Err(Error::Unsupported(_)) => continue,
                    Err(error) => panic!("{name} on {}: {error}", caps.device),
                };
                assert_eq!(plan.algorithm().name, name);
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

#[test]
fn scans_look_ahead_from_so_many_words_on() {
    let algorithm = |scalar, n| planned(&scan_of(scalar, n), Layout::default(), &h200()).algorithm().name;
    for (scalar, from) in [(Scalar::U32, 1 << 23), (Scalar::U64, 1 << 22), (Scalar::F64, 1 << 22)] {
        assert_eq!(algorithm(scalar, from - 1), "lookback", "{scalar:?}");
        assert_eq!(algorithm(scalar, from), "lookahead", "{scalar:?}");
    }
}

#[test]
fn scans_look_ahead_by_registers_from_so_many_words_on() {
    let nvidia = |language| {
        h200().with(|caps| {
            caps.language = language;
            caps.bulk_shared_bytes = 0;
        })
    };
    let by = |scalar, n, layout, options, caps: &Caps| {
        plan(&scan_of(scalar, n), layout, options, caps, &Tuning::of(caps)).unwrap().algorithm().name
    };
    let usual = |scalar, n, caps: &Caps| by(scalar, n, Layout::default(), Options::default(), caps);
    for (caps, words) in [(nvidia(Language::Wgsl), 1 << 23), (nvidia(Language::OpenClC), 1 << 22)] {
        for (scalar, from) in [(Scalar::U32, words), (Scalar::U64, words / 2), (Scalar::F64, words / 2)] {
            assert_eq!(usual(scalar, from - 1, &caps), "lookback", "{scalar:?}");
            assert_eq!(usual(scalar, from, &caps), "lookback_pipelined", "{scalar:?}");
        }
        let in_place = Layout::default().with(|layout| layout.in_place = true);
        let unbounded = Options::default().with(|options| options.waiting = Waiting::Unbounded);
        let unpromised = caps.clone().with(|caps| caps.forward_progress = false);
        let halved = caps.clone().with(|caps| caps.atomics64 = false);
        assert_eq!(by(Scalar::U32, words, in_place, Options::default(), &caps), "lookback_pipelined");
        assert_eq!(by(Scalar::U32, words, in_place, Options::default(), &unpromised), "reduce_then_scan");
        assert_eq!(by(Scalar::U32, words, Layout::default(), unbounded, &caps), "lookback");
        assert_eq!(usual(Scalar::U32, words, &halved), "lookback");
    }
    assert_eq!(usual(Scalar::U32, 1 << 24, &pocl()), "reduce_then_scan");
}

#[test]
fn a_scan_in_chunks_does_not_follow_its_tiles() {
    use algorithm::scan::{LOOKBACK, LOOKBACK_PIPELINED as AHEAD, REDUCE_THEN_SCAN};
    let follows = |language, scalar, algorithm, chunks: Option<u32>| {
        let caps = h200().with(|caps| {
            caps.language = language;
            caps.bulk_shared_bytes = 0;
        });
        let mut tuning = Tuning::of(&caps);
        tuning.lookback_pipelined.chunks = chunks.unwrap_or(tuning.lookback_pipelined.chunks);
        let options = Options::by(algorithm);
        plan(&scan_of(scalar, 1 << 23), Layout::default(), options, &caps, &tuning).unwrap().follows_arrival()
    };
    for scalar in [Scalar::U32, Scalar::F32] {
        assert!(!follows(Language::OpenClC, scalar, &AHEAD, None), "{scalar:?}");
        assert!(!follows(Language::CudaC, scalar, &AHEAD, None), "{scalar:?}");
        assert!(follows(Language::Wgsl, scalar, &AHEAD, None), "{scalar:?}");
        assert!(!follows(Language::Wgsl, scalar, &AHEAD, Some(4)), "{scalar:?}");
        assert!(follows(Language::OpenClC, scalar, &AHEAD, Some(0)), "{scalar:?}");
    }
    assert!(follows(Language::OpenClC, Scalar::F64, &AHEAD, None));
    // Chunks are as wide as subgroups, of which all have to be alike.
    let varying =
        lavapipe().with(|caps| caps.subgroups = Some(Subgroups { min: 8, max: 32, source: SubgroupSource::Native }));
    let options = Options::by(&AHEAD);
    let tuning = with(Tuning::of(&varying), &[("lookback_pipelined_chunks", 4)]);
    assert!(plan(&scan(1 << 20), Layout::default(), options, &varying, &tuning).unwrap().follows_arrival());
    assert!(follows(Language::OpenClC, Scalar::F32, &LOOKBACK, None));
    assert!(!follows(Language::OpenClC, Scalar::F32, &REDUCE_THEN_SCAN, None));
}

#[test]
fn scans_that_stay_keep_to_what_mesa_turns() {
    let mesa = lavapipe().with(|caps| caps.forward_progress = false);
    let by = |n, options, tuning: &Tuning| plan(&scan(n), Layout::default(), options, &mesa, tuning);
    let asked = Options::by(&algorithm::scan::LOOKBACK_PIPELINED);
    let shipped = Tuning::of(&lavapipe());
    assert_eq!(by(1 << 20, asked, &shipped).unwrap().algorithm().name, "lookback_pipelined");
    let many = with(shipped.clone(), &[("lookback_pipelined_chunks", 16)]);
    for (n, tuning) in [(1 << 24, &shipped), (1 << 20, &many)] {
        let refused = by(n, asked, tuning).unwrap_err().to_string();
        assert!(refused.contains("65535; use lookback"), "{refused}");
    }
    let early = with(shipped, &[("lookback_pipelined_from", 1)]);
    let chosen = [1 << 20, 1 << 24].map(|n| by(n, Options::default(), &early).unwrap().algorithm().name);
    assert_eq!(chosen, ["lookback_pipelined", "lookback"]);
}

/// One workgroup goes through a bucket of all keys: on Mesa 22.3 180000 came out right, and 2^18 did not.
#[test]
fn buckets_of_all_keys_keep_to_what_mesa_turns() {
    let mesa = lavapipe().with(|caps| caps.forward_progress = false);
    let options = Options::by(&algorithm::sort::MSD_FIRST);
    let by = |n, caps: &Caps| plan(&sort_keys(n), Layout::default(), options, caps, &Tuning::of(caps));
    assert_eq!(by(1 << 17, &mesa).unwrap().algorithm().name, "msd_first");
    assert_eq!(by(1 << 18, &lavapipe()).unwrap().algorithm().name, "msd_first");
    let wide = with(Tuning::of(&mesa), &[("bucket_workgroup", 256)]);
    assert!(plan(&sort_keys(320_000), Layout::default(), options, &mesa, &wide).is_err());
    let refused = by(1 << 18, &mesa).unwrap_err().to_string();
    assert!(refused.contains("65535; use onesweep"), "{refused}");
}

#[test]
fn few_elements_are_reduced_by_one_workgroup() {
    let groups = |n, caps: &Caps| planned(&reduce(n), Layout::default(), caps).launched().next().unwrap().groups;
    assert_eq!(groups(1 << 15, &h200()), 1);
    assert!(groups((1 << 15) + 1, &h200()) > 1);
    assert!(groups(1 << 14, &lavapipe()) > 1);
}

/// States of several words are 64-bit words where there are such atomics.
#[test]
fn states_are_of_the_widest_words_that_there_are() {
    let state = |caps: &Caps| {
        let plan = planned(&scan_of(Scalar::U64, 1 << 20), Layout::default(), caps);
        let launch = plan.launched().next().unwrap();
        launch.kernel.parts.iter().find(|part| part.contains("/state_")).copied()
    };
    let older = h200().with(|caps| caps.atomics128 = false);
    assert_eq!(state(&h200()), Some("chain/state_word128"));
    assert_eq!(state(&older), Some("chain/state_words64"));
    assert_eq!(state(&older.with(|caps| caps.atomics64 = false)), Some("chain/state_wide"));
    let partials = |caps: &Caps| {
        let plan = planned(&reduce(1 << 20), Layout::default(), caps);
        let launch = plan.launched().next().unwrap();
        launch.kernel.parts.iter().find(|part| part.starts_with("reduce/partials")).copied()
    };
    assert_eq!(partials(&lavapipe()), Some("reduce/partials64"));
    assert_eq!(partials(&lavapipe().with(|caps| caps.atomics64 = false)), Some("reduce/partials"));
}

/// One turn of looking back where that is possible: by as many states a lane as tuned, and by half as many tiles.
#[test]
fn few_tiles_are_looked_back_at_at_once() {
    let shape_with = |scalar, n, caps: &Caps, tuning: &Tuning| {
        let plan = plan(&scan_of(scalar, n), Layout::default(), Options::default(), caps, tuning).unwrap();
        let launch = plan.launched().next().unwrap();
        let kernel = &launch.kernel;
        let windows = kernel.constant("WINDOWS");
        assert_eq!(windows.is_some(), kernel.parts.contains(&"chain/lookback_windows"));
        assert_ne!(windows.is_some(), kernel.parts.contains(&"chain/lookback"));
        (launch.groups, kernel.constant("WORKGROUP").unwrap(), windows)
    };
    let shape = |scalar, n, caps: &Caps| shape_with(scalar, n, caps, &Tuning::of(caps));
    for (scalar, n, expected) in [
        (Scalar::U32, 1 << 16, (32, 256, None)),
        (Scalar::U32, (1 << 16) + 1, (17, 512, None)),
        (Scalar::U32, 1 << 17, (32, 512, None)),
        (Scalar::U32, 1 << 18, (64, 512, Some(4))),
        (Scalar::U32, 1 << 20, (128, 512, Some(4))),
        (Scalar::U32, 1 << 22, (256, 512, None)),
        (Scalar::U64, 1 << 16, (32, 512, None)),
        (Scalar::U64, 1 << 18, (128, 256, None)),
    ] {
        assert_eq!(shape(scalar, n, &h200()), expected, "{n} of {scalar:?}");
    }
    // Not without such a number, and in no other language.
    let one = with(Tuning::of(&h200()), &[("scan_window", 1)]);
    assert_eq!(shape_with(Scalar::U32, 1 << 20, &h200(), &one), (128, 512, None));
    let opencl = h200().with(|caps| caps.language = Language::OpenClC);
    let large = with(Tuning::of(&opencl), &[("scan_window", 4), ("scan_workgroup_many", 512)]);
    assert_eq!(shape_with(Scalar::U32, 1 << 20, &opencl, &large), (128, 512, None));
    assert_eq!(shape_with(Scalar::U64, 1 << 16, &opencl, &large), (64, 256, None));
}
