//! What plans are held to, for devices that need not be there: waits, scratch, workgroups, counts and tuning.

mod devices;

use std::collections::BTreeMap;

use devices::*;
use trifold_core::algorithm::{self, named};
use trifold_core::planner::{algorithms, compute_bound, plan};
use trifold_core::{
    Caps, CopyRequest, DeviceKind, Element, ElementType, Error, Fault, Field, Language, Layout, MAX_ELEMENTS, Options,
    ReduceByKeyRequest, Request, Rest, Scalar, ScatterRequest, Segments, SortRequest, Step, SubgroupSource, Subgroups,
    Tuning, TuningRow, TuningTable, Waiting, element, scratch_bytes_up_to,
};

#[test]
fn waits_that_might_never_end_are_refused() {
    let no_progress = lavapipe().with(|caps| caps.forward_progress = false);
    let silent = unbounded().with(|options| options.fault = Fault::Silent(100));
    let bounded = silent.with(|options| options.waiting = Waiting::Bounded);
    let late = unbounded().with(|options| options.fault = Fault::Late(100));
    let (apart, in_place) = (
        Layout::default(),
        Layout::default().with(|layout| {
            layout.wide = true;
            layout.in_place = true;
        }),
    );
    let refused = |request: &Request, layout, options, caps: &Caps| {
        let plan = plan(request, layout, options, caps, &Tuning::of(caps));
        plan.err().map(|error| match error {
            Error::Unsupported(why) => why,
            other => panic!("{other}"),
        })
    };
    for request in [scan(1 << 20), sort_pairs(1 << 20)] {
        let why = refused(&request, apart, unbounded(), &no_progress).unwrap();
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

/// Kernels take the number as 32 bits.
#[test]
fn a_scatter_to_too_many_places_is_refused() {
    let to = |room| {
        let request = ScatterRequest { element: Scalar::U8.into(), n: 1, room }.into();
        plan(&request, Layout::default(), Options::default(), &h200(), &Tuning::of(&h200()))
    };
    assert!(to(MAX_ELEMENTS).is_ok());
    let why = to(MAX_ELEMENTS + 1).unwrap_err().to_string();
    assert!(why.contains("a scatter to 4294901761 places; the most is 4294901760"), "{why}");
}

/// `Caps` can be anybody's.
#[test]
fn capabilities_that_no_device_has_give_no_panic() {
    let caps = h200().with(|caps| caps.compute_units = u32::MAX);
    let lengths = Request::ReduceByKey(ReduceByKeyRequest { key: u32::TYPE, op: None, n: 1 << 20 });
    for request in [scan(1 << 20), reduce(1 << 20), sort_keys(1 << 20), sort_pairs(1 << 20), lengths.clone()] {
        for name in algorithms(&request, &caps) {
            let options = Options::by(name);
            let _ = plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps));
        }
        let none = h200().with(|caps| caps.max_workgroup = 0);
        let planned = plan(&request, Layout::default(), Options::default(), &none, &Tuning::of(&none));
        let Err(Error::Invalid(why)) = planned else { panic!("{request:?} is planned") };
        assert!(why.contains("at most 0 invocations"), "{why}");
    }
}

/// Which elements are kept stands in the bits of one word.
#[test]
fn a_selections_words_are_as_many_as_a_words_bits() {
    for name in ["select_words", "select_passes_words"] {
        let mut tuning = Tuning::of(&h200());
        tuning.set(name, 32).unwrap();
        let why = tuning.set(name, 33).unwrap_err().to_string();
        assert!(why.contains(name) && why.contains("at most 32"), "{why}");
    }
}

/// A struct that says other than it has: its words could not be moved.
#[test]
fn elements_have_no_bytes_but_their_fields() {
    let odd = |bytes| ElementType::Struct {
        name: "Odd",
        fields: vec![Field { name: "a", scalar: Scalar::U32, offset: 0, key: None }].into(),
        bytes,
    };
    let check = |request: &Request| plan(request, Layout::default(), Options::default(), &h200(), &Tuning::of(&h200()));
    assert!(check(&Request::Copy(CopyRequest { element: odd(4), n: 3 })).is_ok());
    for bytes in [0, 3, 6, 8] {
        let sort = SortRequest::new(Scalar::U32.into(), 9).with(odd(bytes));
        let by_key = ReduceByKeyRequest { key: odd(bytes), op: None, n: 9 };
        for request in [
            Request::Copy(CopyRequest { element: odd(bytes), n: 3 }),
            Request::Sort(sort),
            Request::ReduceByKey(by_key),
        ] {
            let Err(Error::Invalid(why)) = check(&request) else { panic!("{request:?} is planned") };
            assert!(why.contains("Odd") && why.contains(&format!("of {bytes} bytes")), "{why}");
        }
    }
    let counted = Request::Copy(CopyRequest { element: u32::TYPE, n: u64::MAX }).bytes_moved();
    assert_eq!((counted, named("onesweep").ok()), (u64::MAX, Some("onesweep")));
    assert!(named("bogosort").unwrap_err().to_string().contains("`bogosort`; use one of copy, scatter, parallel"));
    let of_scans = scan(1).algorithm("onesweep").unwrap_err().to_string();
    assert!(of_scans.contains("no scan is called `onesweep`; use one of parallel, sequential, lookback"), "{of_scans}");
}

element! {
    struct Unordered { a: u32, b: f32 }
}

element! {
    struct Long { #[key] a: u64, b: u64, c: u64 }
}

element! {
    struct Three { #[key] a: u8, b: u8, c: u8 }
}

#[test]
fn structs_that_are_no_keys_are_refused() {
    let refused = |key: ElementType| {
        let by_key = [SortRequest::new(key.clone(), 9), SortRequest::argsort(key, 9)];
        by_key.map(|request| {
            let (request, caps) = (request.into(), h200());
            plan(&request, Layout::default(), Options::default(), &caps, &Tuning::of(&caps)).unwrap_err()
        })
    };
    for error in refused(Unordered::TYPE) {
        assert!(matches!(&error, Error::Invalid(why) if why.contains("none of whose fields orders them")), "{error}");
    }
    for error in refused(Long::TYPE) {
        assert!(matches!(&error, Error::Unsupported(why) if why.contains("carry the whole as a value")), "{error}");
    }
    for error in refused(Three::TYPE) {
        assert!(matches!(&error, Error::Unsupported(why) if why.contains("1, 2 or a multiple of 4")), "{error}");
    }
}

#[test]
fn scratch_is_as_little_as_promised() {
    let narrow =
        lavapipe().with(|caps| caps.subgroups = Some(Subgroups { min: 4, max: 4, source: SubgroupSource::Native }));
    let wide =
        lavapipe().with(|caps| caps.subgroups = Some(Subgroups { min: 32, max: 64, source: SubgroupSource::Native }));
    for caps in [h200(), lavapipe(), narrow, wide, gl(), pocl()] {
        let mut planned = 0;
        for n in [1, 1000, 1 << 16, 1_000_003, 1 << 28, 4_000_000_000] {
            let mut check = |request: Request, most: u64| {
                for algorithm in algorithms(&request, &caps) {
                    let options = Options::by(algorithm);
                    let plan = plan(&request, Layout::default(), options, &caps, &Tuning::of(&caps));
                    // Too many keys for a table of counts is an error that says so.
                    let Ok(plan) = plan else { continue };
                    planned += 1;
                    let bytes = plan.scratch_bytes();
                    // The literature's scans have a second buffer or a tree, or a sum for every 512 elements.
                    let most = if algorithm.is_reference { most.max(4 * n + 4 * n / 100) } else { most };
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
        assert!(planned > 50, "{planned} plans on {}", caps.api);
    }
}

#[test]
fn scratch_up_to_more_elements_is_no_less() {
    for caps in [h200(), lavapipe(), gl(), pocl()] {
        let tuning = Tuning::of(&caps);
        for request in [scan(1), reduce(1), sort_keys(1), sort_pairs(1), select(1, Rest::Apart)] {
            for algorithm in algorithms(&request, &caps).into_iter().filter(|algorithm| !algorithm.is_reference) {
                let options = Options::by(algorithm);
                let bytes = |n| {
                    scratch_bytes_up_to(&request.with_n(n), Layout::default(), options, &caps, &tuning).map(|b| (n, b))
                };
                // Of each order of magnitude, and those whose own plans need less than a smaller one's.
                let sizes = (0..70).map(|i| (1.3_f64.powi(i) * 1.5) as u64).chain([124_161, 124_417]);
                let mut sizes: Vec<u64> = sizes.collect();
                sizes.sort_unstable();
                let needed: Vec<_> = sizes.into_iter().filter_map(|n| bytes(n).ok()).collect();
                let less = needed.windows(2).find(|pair| pair[0].1 > pair[1].1);
                assert!(less.is_none(), "{} {algorithm} on {}: {less:?}", request.primitive(), caps.api);
                // Little more than what the capacity alone needs.
                for (n, bytes) in needed {
                    let Ok(plan) = plan(&request.with_n(n), Layout::default(), options, &caps, &tuning) else {
                        continue;
                    };
                    let most = 2 * plan.scratch_bytes() + (512 << 10);
                    assert!(bytes <= most, "{} {algorithm} on {}: {bytes} for {n}", request.primitive(), caps.api);
                }
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
    assert!(why(1, &lavapipe().with(|caps| caps.language = Language::Host)).contains("not workgroups"));
}

/// Subgroups that may be so narrow need counts for many, and so wide a workgroup of them: Metal's, with wgpu's default limits.
#[test]
fn sorts_without_room_for_ranks_are_classic() {
    let caps = lavapipe().with(|caps| {
        caps.shared_bytes = 16 << 10;
        caps.subgroups = Some(Subgroups { min: 4, max: 64, source: SubgroupSource::Native });
    });
    let by = |algorithm| {
        let options = Options::default().with(|options| options.algorithm = algorithm);
        plan(&sort_keys(1 << 20), Layout::default(), options, &caps, &Tuning::of(&caps))
    };
    assert_eq!(by(None).unwrap().algorithm().name, "upsweep_downsweep");
    for algorithm in [&algorithm::sort::ONESWEEP, &algorithm::sort::HYBRID, &algorithm::sort::MSD_FIRST] {
        let outcome = by(Some(algorithm));
        assert!(matches!(&outcome, Err(Error::Unsupported(why)) if why.contains("16384 bytes")), "{outcome:?}");
    }
    let roomy = caps.with(|caps| caps.shared_bytes = 32 << 10);
    let outcome = planned(&sort_keys(1 << 20), Layout::default(), &roomy);
    assert_eq!(outcome.algorithm().name, "onesweep");
}

/// What the scatter of long segments declares, by hand: the subgroups' counts, a round's keys, three words a digit, and a few words.
#[test]
fn long_segments_are_sorted_in_the_memory_there_is() {
    for shared in [16 << 10, 32 << 10, 48 << 10] {
        let caps = lavapipe().with(|caps| {
            caps.shared_bytes = shared;
            caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
        });
        let request = SortRequest::new(Scalar::U32.into(), 1 << 24).of_segments(Segments::Rows(1 << 20));
        let options = Options::by(&algorithm::sort::BY_LENGTH);
        let plan = plan(&request.into(), Layout::default(), options, &caps, &Tuning::of(&caps)).unwrap();
        let scatters = plan.steps().iter().filter_map(|step| match step {
            Step::Launch(launch) if launch.kernel.kernel.name == "sort/long_scatter" => Some(&launch.kernel.constants),
            _ => None,
        });
        let constants: BTreeMap<_, _> = scatters.flatten().copied().collect();
        let (workgroup, keys) = (constants["WORKGROUP"], constants["ITEMS"]);
        assert!(workgroup / 32 * 1024 + 4 * workgroup * keys + 3 * 1024 + 256 <= shared, "{workgroup} x {keys}");
    }
}

#[test]
fn workgroups_are_whole_subgroups_and_no_larger_than_the_devices() {
    let caps = lavapipe().with(|caps| {
        caps.max_workgroup = 256;
        caps.subgroups = Some(Subgroups { min: 32, max: 64, source: SubgroupSource::Native });
    });
    let with = |sort_workgroup| {
        let tuning = with(Tuning::of(&caps), &[("sort_workgroup", sort_workgroup)]);
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
    let caps = lavapipe().with(|caps| {
        caps.max_binding = 1 << 40;
        caps.max_buffer = 1 << 40;
    });
    for n in [1 << 30, (1 << 30) + 1, 1 << 31, (1 << 31) + 512, MAX_ELEMENTS] {
        let request = Request::Copy(CopyRequest { element: u64::TYPE, n });
        let plan = planned(&request, Layout::default(), &caps);
        let mut copied = 0;
        for launch in plan.launched() {
            let (_, region) = launch.bindings[0];
            assert_eq!(region.offset, copied);
            let (_, words) = launch.params[0];
            assert_eq!(words.number(n as u32), Some((region.bytes / 4) as u32), "{launch:?}");
            assert!(region.bytes / 4 <= MAX_ELEMENTS && launch.groups > 0);
            copied += region.bytes;
        }
        assert_eq!(copied, 8 * n);
    }
}

#[test]
fn tuning_of_nothing_is_refused() {
    let caps = h200();
    let wrong: [fn(&mut Tuning); 3] =
        [|t| t.scan.workgroup = 0, |t| t.onesweep.keys = 0, |t| t.onesweep.workgroup = 1 << 20];
    for change in wrong {
        let mut tuning = Tuning::of(&caps);
        change(&mut tuning);
        let outcome = plan(&sort_keys(1000), Layout::default(), Options::default(), &caps, &tuning);
        assert!(matches!(&outcome, Err(Error::Invalid(why)) if why.contains("tuning `s")), "{outcome:?}");
    }
}

#[test]
fn tuning_rows_are_for_the_devices_they_name() {
    let vulkan = lavapipe().with(|caps| {
        caps.device = "Some GPU 7".into();
        caps.kind = DeviceKind::DiscreteGpu;
    });
    let gl = vulkan.clone().with(|caps| caps.api = "Gl".into());
    let software = lavapipe();
    let numbers = BTreeMap::from([("sort_keys".to_string(), 7)]);
    let set = |row: &TuningRow, caps: &Caps| {
        let mut tuning = Tuning::of(caps);
        assert_ne!(tuning.onesweep.keys, 7);
        TuningTable::new(vec![row.clone()]).apply(caps, &mut tuning);
        tuning.onesweep.keys == 7
    };
    let own = TuningRow::for_device(&vulkan, numbers.clone());
    assert_eq!([&vulkan, &gl, &software].map(|caps| set(&own, caps)), [true, false, false]);
    let any = TuningRow { language: Some("wgsl".into()), numbers, ..TuningRow::default() };
    assert_eq!([&vulkan, &gl, &software].map(|caps| set(&any, caps)), [true, true, false]);
    let wide = TuningRow { subgroup: Some(32), ..any };
    assert!(!set(&wide, &vulkan));
    let by = |caps: &Caps| Tuning::by_table(caps, &TuningTable::new(vec![own.clone()]));
    assert_eq!(by(&vulkan).unwrap().onesweep.keys, 7);
    let foreign = by(&gl).unwrap_err().to_string();
    assert!(foreign.contains("Some GPU 7 (Gl)") && foreign.contains("trifold tune"), "{foreign}");
    let later = TuningRow { numbers: BTreeMap::from([("sort_keys".into(), 9)]), ..own.clone() };
    let mut tuning = Tuning::of(&vulkan);
    TuningTable::new(vec![own, later]).apply(&vulkan, &mut tuning);
    assert_eq!(tuning.onesweep.keys, 9);
}

/// Mesa's processors end an invocation's loops after 65535 turns: what stays for several tiles has few of them.
#[test]
fn workgroups_that_stay_have_few_tiles_where_loops_are_ended() {
    const N: u32 = 1 << 27;
    const MOST_TILES: u32 = 1 << 11;
    let mesa = lavapipe().with(|caps| caps.forward_progress = false);
    let request = SortRequest::new(u8::TYPE, N.into()).into();
    let plan = plan(&request, Layout::default(), Options::default(), &mesa, &Tuning::of(&mesa)).unwrap();
    assert_eq!(plan.algorithm().name, "counting_sort");
    for step in plan.steps() {
        let Step::Launch(launch) = step else { continue };
        let tile = launch.kernel.constant("WORKGROUP").unwrap() * 16;
        let (groups, kernel) = (launch.groups, launch.kernel.name());
        assert!(groups >= N / tile / MOST_TILES, "{kernel} by {groups} workgroups");
    }
}

#[test]
fn rows_up_to_a_capacity_need_what_its_plan_does() {
    let (caps, layout, options) = (h200(), Layout::default(), Options::default());
    let tuning = Tuning::of(&caps);
    for (width, n) in [(37, 3700), (1_000_000, 1_000_000), (1_000_000, 3_000_000), (3, 3)] {
        let sort = SortRequest::new(Scalar::U32.into(), n).of_segments(Segments::Rows(width)).into();
        let own = plan(&sort, layout, options, &caps, &tuning).unwrap().scratch_bytes();
        let up_to = |n| scratch_bytes_up_to(&sort.with_n(n), layout, options, &caps, &tuning);
        let all = up_to(n).unwrap();
        // Sizes are rounded up by an eighth, and each plan keeps some bytes.
        assert!(
            (own..=own + own / 8 + 4096).contains(&all),
            "rows of {width}, up to {n}: {all}, where one takes {own}"
        );
        let why = up_to(n + 1).unwrap_err().to_string();
        assert!(why.contains("do not divide"), "{why}");
    }
}
