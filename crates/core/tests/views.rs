//! Plans of views: what they move and launch, what they bind, and what they refuse.

mod devices;

use std::borrow::Cow;

use trifold_core::planner::{plan, traffic};
use trifold_core::{
    Builtin, Element, ElementType, Layout, Map, Op, Options, Request, Rest, Scalar, ScanKind, ScanRequest, Slot,
    SortRequest, Step, Tuning, ViewData, Viewed, algorithm,
};

const N: u64 = 1 << 20;

#[derive(Clone)]
struct Widened;
impl Map<u8> for Widened {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a; }".into()
    }
    fn map(&self, a: u8) -> u32 {
        a.into()
    }
}

/// The same of bytes.
fn of_bytes(request: impl Into<Request>) -> Request {
    request.into().viewing(Viewed { slot: Slot::Input, first: 0, view: ViewData::mapped::<u8, _>(Widened) })
}

fn scan() -> ScanRequest {
    let op = Op::builtin(Builtin::Sum, Scalar::U32).unwrap();
    ScanRequest { op, n: N, kind: ScanKind::Inclusive, initial: None, total: false }
}

#[test]
fn nothing_is_copied() {
    let caps = devices::h200();
    let sort = SortRequest::new(u32::TYPE, N);
    // Of each request the algorithm, how often it reads its input, and how many elements it keeps.
    let cases: [(Request, &algorithm::Algorithm, u64, Option<u64>); 4] = [
        (scan().into(), &algorithm::scan::LOOKBACK, 1, None),
        (scan().into(), &algorithm::scan::REDUCE_THEN_SCAN, 2, None),
        (devices::select(N, Rest::Dropped), &algorithm::select::LOOKBACK, 1, Some(N / 2)),
        (sort.into(), &algorithm::sort::ONESWEEP, 2, None),
    ];
    for (memory, algorithm, reads, outputs) in cases {
        let view = of_bytes(memory.clone());
        let [of_memory, of_view] = [&memory, &view].map(|request| traffic(request, algorithm, outputs).unwrap());
        assert_eq!(of_memory - of_view, 3 * N * reads, "{algorithm}");
        let [memory, view] = [&memory, &view].map(|request| {
            plan(request, Layout::default(), Options::by(algorithm), &caps, &Tuning::of(&caps)).unwrap()
        });
        assert_eq!((view.launches(), view.scratch_bytes()), (memory.launches(), memory.scratch_bytes()), "{algorithm}");
        assert!(!view.steps().iter().any(|step| matches!(step, Step::Copy { .. })));
        let slots: Vec<Slot> = view.operands().iter().map(|operand| operand.slot).collect();
        assert!(slots.contains(&Slot::Leaf(0)) && !slots.contains(&Slot::Input), "{algorithm}");
    }
}

#[test]
fn a_call_of_a_view_moves_its_bytes() {
    assert_eq!(of_bytes(scan()).bytes_moved(), (1 + 4) * N);
    assert_eq!(Request::from(scan()).bytes_moved(), (4 + 4) * N);
}

#[test]
fn what_copies_tiles_whole_takes_memory() {
    let caps = devices::h200();
    let planned = |by: &'static algorithm::Algorithm| {
        plan(&of_bytes(scan()), Layout::default(), Options::by(by), &caps, &Tuning::of(&caps))
    };
    let why = planned(&algorithm::scan::LOOKAHEAD).unwrap_err().to_string();
    assert!(why.contains("of a view: it takes memory; copy the view to a buffer first"), "{why}");
    let why = planned(&algorithm::scan::BLELLOCH).unwrap_err().to_string();
    assert!(why.contains("it is there to be read"), "{why}");
    // The planner's own choice does.
    let chosen =
        plan(&of_bytes(scan().with_n(1 << 28)), Layout::default(), Options::default(), &caps, &Tuning::of(&caps));
    assert_ne!(chosen.unwrap().algorithm(), &algorithm::scan::LOOKAHEAD);
}

#[test]
fn a_sort_reads_its_values_from_a_view() {
    let caps = devices::h200();
    let pairs: Request = SortRequest::new(u32::TYPE, N).with(ElementType::from(Scalar::U32)).into();
    let view = ViewData::mapped::<u8, _>(Widened);
    let of_view = pairs.clone().viewing(Viewed { slot: Slot::InputValues, first: 0, view });
    let [memory, view] = [&pairs, &of_view]
        .map(|request| plan(request, Layout::default(), Options::default(), &caps, &Tuning::of(&caps)).unwrap());
    assert_eq!((view.launches(), view.scratch_bytes()), (memory.launches(), memory.scratch_bytes()));
    assert!(!view.operands().iter().any(|operand| operand.slot == Slot::InputValues));
}

/// A backend takes a view's elements for those of the slot.
#[test]
fn a_view_of_other_elements_is_refused() {
    let caps = devices::h200();
    let why = |slot, request: Request| {
        let view = ViewData::mapped::<u8, _>(Widened);
        let request = request.viewing(Viewed { slot, first: 0, view });
        let plan = plan(&request, Layout::default(), Options::default(), &caps, &Tuning::of(&caps));
        plan.unwrap_err().to_string()
    };
    let halves = why(Slot::Input, SortRequest::new(ElementType::from(Scalar::U16), N).into());
    assert!(halves.contains("a view of u32 for the input of sort_keys, which are u16"), "{halves}");
    let values = why(Slot::InputValues, SortRequest::new(u32::TYPE, N).into());
    assert!(values.contains("which has none"), "{values}");
}

/// Values of several words go by vectors where all spans are aligned to these.
#[test]
fn values_are_moved_by_vectors() {
    let caps = devices::h200();
    let unit = |value: Scalar, wide| {
        let request = SortRequest::new(u32::TYPE, N).with(ElementType::from(value)).into();
        let layout = Layout::default().with(|layout| layout.wide = wide);
        let plan = plan(&request, layout, Options::by(&algorithm::sort::ONESWEEP), &caps, &Tuning::of(&caps)).unwrap();
        let units = plan.steps().iter().filter_map(|step| match step {
            Step::Launch(launch) => launch.kernel.constant("VALUE_UNIT"),
            _ => None,
        });
        assert_eq!(plan.wide(), units.clone().any(|unit| unit > 4));
        units.max()
    };
    assert_eq!([Scalar::U8, Scalar::U32, Scalar::F64, Scalar::U128].map(|of| unit(of, true).unwrap()), [1, 4, 8, 16]);
    assert_eq!([Scalar::U8, Scalar::U32, Scalar::F64, Scalar::U128].map(|of| unit(of, false).unwrap()), [1, 4, 4, 4]);
}

#[test]
fn a_device_without_buffers_for_all_says_so() {
    let caps = devices::lavapipe().with(|caps| caps.max_bindings = 3);
    let why = plan(&of_bytes(scan()), Layout::default(), Options::default(), &caps, &Tuning::of(&caps)).unwrap_err();
    assert!(why.to_string().contains("whose kernels reach 3 buffers, and one would take 4"), "{why}");
}

trait WithN {
    fn with_n(self, n: u64) -> Self;
}
impl WithN for ScanRequest {
    fn with_n(self, n: u64) -> Self {
        ScanRequest { n, ..self }
    }
}
