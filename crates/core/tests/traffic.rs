//! The bytes that algorithms move, as the papers count them.

use std::borrow::Cow;

use trifold_core::planner::traffic;
use trifold_core::{
    Builtin, CopyRequest, Element, ElementType, Keeps, Op, Predicate, ReduceByKeyRequest, ReduceRequest, Request, Rest,
    Scalar, ScanKind, ScanRequest, SelectRequest, Selector, SortRequest,
};

const N: u64 = 1 << 20;

fn sum() -> Op {
    Op::builtin(Builtin::Sum, Scalar::U32).unwrap()
}

fn by(request: &Request, algorithm: &str, outputs: Option<u64>) -> Option<u64> {
    traffic(request, request.algorithm(algorithm).ok()?, outputs)
}

/// How often each element of four bytes is moved.
fn of_scan(algorithm: &str, n: u64) -> Option<u64> {
    let request = Request::Scan(ScanRequest { op: sum(), n, kind: ScanKind::Exclusive, initial: None, total: false });
    by(&request, algorithm, None).map(|bytes| bytes / 4 / n)
}

#[test]
fn scans_move_what_the_papers_count() {
    for (moves, algorithms) in [
        (2, &["lookback", "lookahead", "lookback_pipelined", "chained_scan", "lookback_serial", "lookback_fenced"][..]),
        (3, &["reduce_then_scan", "reduce_then_scan_recursive"]),
        (4, &["scan_then_propagate", "blelloch_blocked", "subgroup_blocked", "hillis_steele_shared"]),
        (7, &["blelloch"]),
        (40, &["hillis_steele"]),
    ] {
        for algorithm in algorithms {
            assert_eq!(of_scan(algorithm, N), Some(moves), "{algorithm}");
        }
    }
    assert_eq!([1, 2, 3, 1000].map(|n| of_scan("hillis_steele", n).unwrap()), [2, 2, 4, 20]);
    let inclusive = ScanRequest { op: sum(), n: N, kind: ScanKind::Inclusive, initial: None, total: false };
    assert_eq!(by(&Request::Scan(inclusive), "blelloch", None), Some(40 * N));
    assert_eq!(of_scan("onesweep", N), None);
    // More than a call takes.
    assert_eq!(of_scan("hillis_steele", u64::MAX), None);
    assert_eq!(of_scan("", N), None);
}

#[test]
fn reductions_read_their_input_and_copies_move_it() {
    let request = |n| Request::Reduce(ReduceRequest { op: sum(), n, initial: None });
    assert_eq!(by(&request(10), "single_pass", None), Some(40));
    assert_eq!(by(&request(10), "grid_stride", None), Some(40));
    assert_eq!(by(&request(10), "lookback", None), None);
    assert_eq!(by(&Request::Copy(CopyRequest { element: u32::TYPE, n: 10 }), "copy", None), Some(80));
}

#[test]
fn a_pass_of_a_sort_moves_keys_and_values() {
    let bytes = |key: Scalar, value: Option<ElementType>, algorithm| {
        let request = Request::Sort(SortRequest::new(key.into(), 10).with(value));
        by(&request, algorithm, None).map(|bytes| bytes / 10)
    };
    assert_eq!(bytes(Scalar::U32, None, "onesweep"), Some(4 + 4 * 8));
    assert_eq!(bytes(Scalar::U32, Some(u32::TYPE), "onesweep"), Some(4 + 4 * 16));
    assert_eq!(bytes(Scalar::U64, None, "onesweep"), Some(8 + 8 * 16));
    assert_eq!(bytes(Scalar::U32, None, "upsweep_downsweep"), Some(4 * 12));
    assert_eq!(bytes(Scalar::U32, None, "upsweep_downsweep_4bit"), Some(8 * 12));
    assert_eq!(bytes(Scalar::U32, Some(u32::TYPE), "split"), Some(32 * 20));
    assert_eq!(bytes(Scalar::U64, Some(u32::TYPE), "one_tile"), Some(24));
    assert_eq!(bytes(Scalar::U32, None, "msd_first"), Some(4 * 5));
    let many = SortRequest::new(Scalar::U32.into(), 1 << 24);
    let each = |algorithm| by(&Request::Sort(many.clone()), algorithm, None).map(|bytes| bytes >> 24);
    assert_eq!([each("hybrid"), each("msd_first")], [Some(4 * 9), Some(4 * 12)]);
    assert_eq!(bytes(Scalar::U32, None, "parallel"), None);
}
#[test]
fn selections_and_runs_write_what_there_is() {
    #[derive(Clone)]
    struct Odd;
    impl Predicate<u64> for Odd {
        fn name(&self) -> Cow<'static, str> {
            "odd".into()
        }
        fn text(&self) -> Cow<'static, str> {
            "fn keep(v: T) -> bool { return (v & 1lu) == 1lu; }".into()
        }
        fn keep(&self, v: u64) -> bool {
            v & 1 == 1
        }
    }
    let select = |rest| {
        Request::Select(SelectRequest { selector: Selector::of::<u64, _>(Odd), n: 10, rest, keeps: Keeps::Items })
    };
    let of = |rest, algorithm| by(&select(rest), algorithm, Some(3));
    assert_eq!(of(Rest::Dropped, "lookback"), Some(80 + 24));
    assert_eq!(of(Rest::Dropped, "reduce_then_scan"), Some(160 + 24));
    assert_eq!(of(Rest::Apart, "lookback"), Some(160));
    assert_eq!(of(Rest::Behind, "reduce_then_scan"), Some(240));
    assert_eq!(of(Rest::Dropped, "single_pass"), None);
    assert_eq!(by(&select(Rest::Dropped), "lookback", None), None);
    assert_eq!((select(Rest::Dropped).bytes_moved_by(3), select(Rest::Dropped).bytes_moved()), (104, 160));

    let runs = |op| Request::ReduceByKey(ReduceByKeyRequest { key: u64::TYPE, op, n: 10 });
    assert_eq!(by(&runs(Some(sum())), "lookback", Some(2)), Some(120 + 24));
    assert_eq!(by(&runs(Some(sum())), "reduce_then_scan", Some(2)), Some(240 + 24));
    assert_eq!(by(&runs(None), "lookback", Some(2)), Some(80 + 24));
    assert_eq!(runs(None).bytes_moved(), 80 + 120);
    assert_eq!(runs(Some(sum())).bytes_moved_by(2), 120 + 24);
}
