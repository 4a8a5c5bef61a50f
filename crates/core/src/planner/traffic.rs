//! The bytes that an algorithm has to move: what predicts its time from a device's copy speed.

use super::reduce_ladder;
use super::sort::DIGITS;
use super::sort_local::LARGEST_TILE;
use crate::{MAX_ELEMENTS, Request, ScanKind, SortRequest};

/// The bytes of device memory that an algorithm reads and writes for a request, in its largest terms: what it keeps for
/// each tile is left out. `None` where no such algorithm of the primitive is known, of more elements than a call takes, and of selections and reductions by key
/// without `outputs`: how many elements are kept, or how many runs there are, which follows from the data. The other primitives
/// do not ask for it.
///
/// In units of the n elements of a scan, by algorithm:
///
/// | Moves | Algorithms |
/// |---|---|
/// | 2n | `lookback`, `lookahead`, `lookahead_registers`, `chained_scan`, `lookback_serial`, `lookback_fenced`: each element once in and once out |
/// | 3n | `reduce_then_scan`, `reduce_then_scan_recursive`: read to reduce, read and written to scan |
/// | 4n | `scan_then_propagate`, `blelloch_blocked`, `subgroup_blocked`, `hillis_steele_shared`: read and written to scan tiles, and again to add what comes before each |
/// | 7n | `blelloch`: each of the tree's n nodes is two reads and a write upwards, two and two downwards; 10n of an inclusive scan, which adds each element afterwards |
/// | 2n log2 n | `hillis_steele`: read and written in each of its steps |
///
/// Every reduction reads n. A sort with digits of d bits has passes for all bits of its keys: `onesweep` reads the keys once
/// to count all digits, and in a pass keys and values once in and once out; `upsweep_downsweep` reads the keys of a pass once
/// more, to count, as `split` does in passes of one bit (the few thousand that it then ranks it reads a second time at once, from a cache); `one_tile`
/// and `merge_tile` read keys and values once and write them once. `msd_first`
/// reads the keys to count one digit, and has two passes, as long as a workgroup holds each bucket of uniform keys; larger ones it counts and
/// scatters by each other digit. `hybrid` is the one, or `onesweep`. On the CPU, `sequential` and `parallel` scans and
/// reductions move 2n and n; its sort is another crate's, and not counted here.
///
/// Selections and reductions by key read their inputs once by `lookback` and twice by `reduce_then_scan`; on the CPU, `parallel`
/// reads a selection's elements and the keys twice, and values once. All write their outputs once.
pub fn traffic(request: &Request, algorithm: &str, outputs: Option<u64>) -> Option<u64> {
    if request.n().max(outputs.unwrap_or_default()) > MAX_ELEMENTS {
        return None;
    }
    match request {
        Request::Copy { element, n } => (algorithm == "copy").then_some(2 * n * u64::from(element.bytes())),
        Request::Scan(r) => Some(scan_moves(algorithm, r.kind, r.n)? * r.n * u64::from(r.op.element().bytes())),
        Request::Reduce(r) => reads_once(algorithm).then_some(r.n * u64::from(r.op.element().bytes())),
        Request::Sort(r) => sort_bytes(algorithm, r),
        Request::Select(r) => Some(passes_over_input(algorithm)? * r.bytes_read() + r.bytes_written(outputs?)),
        Request::ByKey(r) => {
            let read = match algorithm {
                "parallel" => r.n * u64::from(r.key.bytes()) + r.bytes_read(),
                _ => passes_over_input(algorithm)? * r.bytes_read(),
            };
            Some(read + r.bytes_written(outputs?))
        }
    }
}

/// How often a selection or a reduction by key reads its inputs.
fn passes_over_input(algorithm: &str) -> Option<u64> {
    match algorithm {
        "lookback" => Some(1),
        "reduce_then_scan" | "parallel" => Some(2),
        _ => None,
    }
}

/// How often a scan moves each of `n` elements.
fn scan_moves(algorithm: &str, kind: ScanKind, n: u64) -> Option<u64> {
    Some(match algorithm {
        "lookback" | "lookahead" | "lookahead_registers" | "chained_scan" | "lookback_serial" | "lookback_fenced" => 2,
        "sequential" | "parallel" => 2,
        "reduce_then_scan" | "reduce_then_scan_recursive" => 3,
        "scan_then_propagate" | "blelloch_blocked" | "subgroup_blocked" | "hillis_steele_shared" => 4,
        "blelloch" => match kind {
            ScanKind::Exclusive => 7,
            ScanKind::Inclusive => 10,
        },
        "hillis_steele" => 2 * u64::from(n.max(2).next_power_of_two().ilog2()),
        _ => return None,
    })
}

fn reads_once(algorithm: &str) -> bool {
    ["single_pass", "parallel"].contains(&algorithm) || reduce_ladder::find(algorithm).is_some()
}

fn sort_bytes(algorithm: &str, request: &SortRequest) -> Option<u64> {
    let key = u64::from(request.key.bytes());
    let value = request.value.as_ref().map_or(0, |v| u64::from(v.bytes()));
    // Keys and values, in and out.
    let moved = 2 * (key + value);
    let passes = |bits: u64| 8 * key / bits;
    // Uniform keys part into buckets of a size; a device's own tile may be smaller.
    let fits = request.n <= LARGEST_TILE * u64::from(DIGITS);
    let each = match algorithm {
        "onesweep" => key + passes(8) * moved,
        "one_tile" | "merge_tile" => moved,
        "msd_first" | "hybrid" if fits => key + 2 * moved,
        "msd_first" => passes(8) * (key + moved),
        "hybrid" => key + passes(8) * moved,
        "upsweep_downsweep" => passes(8) * (key + moved),
        "upsweep_downsweep_4bit" => passes(4) * (key + moved),
        "split" => passes(1) * (key + moved),
        _ => return None,
    };
    Some(each * request.n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Builtin, ByKeyRequest, Element, Op, Order, ReduceRequest, Rest, Scalar, ScanRequest, SelectRequest, Selector,
    };

    const N: u64 = 1 << 20;

    fn sum() -> Op {
        Op::builtin(Builtin::Sum, Scalar::U32).unwrap()
    }

    /// How often each element of four bytes is moved.
    fn of_scan(algorithm: &str, n: u64) -> Option<u64> {
        let request = Request::Scan(ScanRequest { op: sum(), n, kind: ScanKind::Exclusive, initial: None });
        traffic(&request, algorithm, None).map(|bytes| bytes / 4 / n)
    }

    #[test]
    fn scans_move_what_the_papers_count() {
        for (moves, algorithms) in [
            (
                2,
                &["lookback", "lookahead", "lookahead_registers", "chained_scan", "lookback_serial", "lookback_fenced"]
                    [..],
            ),
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
        let inclusive = ScanRequest { op: sum(), n: N, kind: ScanKind::Inclusive, initial: None };
        assert_eq!(traffic(&Request::Scan(inclusive), "blelloch", None), Some(40 * N));
        assert_eq!(of_scan("onesweep", N), None);
        // More than a call takes.
        assert_eq!(of_scan("hillis_steele", u64::MAX), None);
        assert_eq!(of_scan("", N), None);
    }

    #[test]
    fn reductions_read_their_input_and_copies_move_it() {
        let request = |n| Request::Reduce(ReduceRequest { op: sum(), n, initial: None });
        assert_eq!(traffic(&request(10), "single_pass", None), Some(40));
        assert_eq!(traffic(&request(10), "grid_stride", None), Some(40));
        assert_eq!(traffic(&request(10), "lookback", None), None);
        assert_eq!(traffic(&Request::Copy { element: u32::TYPE, n: 10 }, "copy", None), Some(80));
    }

    #[test]
    fn a_pass_of_a_sort_moves_keys_and_values() {
        let bytes = |key, value, algorithm| {
            let request = Request::Sort(SortRequest { key, value, n: 10, order: Order::Ascending });
            traffic(&request, algorithm, None).map(|bytes| bytes / 10)
        };
        assert_eq!(bytes(Scalar::U32, None, "onesweep"), Some(4 + 4 * 8));
        assert_eq!(bytes(Scalar::U32, Some(u32::TYPE), "onesweep"), Some(4 + 4 * 16));
        assert_eq!(bytes(Scalar::U64, None, "onesweep"), Some(8 + 8 * 16));
        assert_eq!(bytes(Scalar::U32, None, "upsweep_downsweep"), Some(4 * 12));
        assert_eq!(bytes(Scalar::U32, None, "upsweep_downsweep_4bit"), Some(8 * 12));
        assert_eq!(bytes(Scalar::U32, Some(u32::TYPE), "split"), Some(32 * 20));
        assert_eq!(bytes(Scalar::U64, Some(u32::TYPE), "one_tile"), Some(24));
        assert_eq!(bytes(Scalar::U32, None, "msd_first"), Some(4 * 5));
        let many = SortRequest { key: Scalar::U32, value: None, n: 1 << 24, order: Order::Ascending };
        let each = |algorithm| traffic(&Request::Sort(many.clone()), algorithm, None).map(|bytes| bytes >> 24);
        assert_eq!([each("hybrid"), each("msd_first")], [Some(4 * 9), Some(4 * 12)]);
        assert_eq!(bytes(Scalar::U32, None, "parallel"), None);
    }
    #[test]
    fn selections_and_runs_write_what_there_is() {
        struct Odd;
        impl crate::Predicate<u64> for Odd {
            const NAME: &'static str = "odd";
            const WGSL: &'static str = "fn keep(v: T) -> bool { return (v & 1lu) == 1lu; }";
            fn keep(v: u64) -> bool {
                v & 1 == 1
            }
        }
        let select = |rest| Request::Select(SelectRequest { selector: Selector::of::<u64, Odd>(), n: 10, rest });
        let of = |rest, algorithm| traffic(&select(rest), algorithm, Some(3));
        assert_eq!(of(Rest::Dropped, "lookback"), Some(80 + 24));
        assert_eq!(of(Rest::Dropped, "reduce_then_scan"), Some(160 + 24));
        assert_eq!(of(Rest::Apart, "lookback"), Some(160));
        assert_eq!(of(Rest::Behind, "reduce_then_scan"), Some(240));
        assert_eq!(of(Rest::Dropped, "single_pass"), None);
        assert_eq!(traffic(&select(Rest::Dropped), "lookback", None), None);
        assert_eq!((select(Rest::Dropped).bytes_moved_by(3), select(Rest::Dropped).bytes_moved()), (104, 160));

        let runs = |op| Request::ByKey(ByKeyRequest { key: u64::TYPE, op, n: 10 });
        assert_eq!(traffic(&runs(Some(sum())), "lookback", Some(2)), Some(120 + 24));
        assert_eq!(traffic(&runs(Some(sum())), "reduce_then_scan", Some(2)), Some(240 + 24));
        assert_eq!(traffic(&runs(None), "lookback", Some(2)), Some(80 + 24));
        assert_eq!(runs(None).bytes_moved(), 80 + 120);
        assert_eq!(runs(Some(sum())).bytes_moved_by(2), 120 + 24);
    }
}
