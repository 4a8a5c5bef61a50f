//! The CPU backend against its oracle, with more threads than the machine may have.

use trifold_core::{
    Backend, Command, Error, Layout, Monoid, Order, Predicate, Reduce, ReduceByKey, Rest, Scan, Select, Sort, Span,
    Spans, Sum, Transfer, element,
};
use trifold_cpu::{Cpu, oracle};

fn numbers(n: usize) -> Vec<u64> {
    let mut state = 7u64;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ (state >> 29)
        })
        .collect()
}

fn words(n: usize) -> Vec<u32> {
    numbers(n).into_iter().map(|x| (x >> 32) as u32).collect()
}

element! {
    /// x -> a * x + b.
    struct Affine { a: u32, b: u32 }
}
struct Compose;
impl Monoid<Affine> for Compose {
    const NAME: &'static str = "compose";
    const WGSL: &'static str = "";
    const IDENTITY: Affine = Affine { a: 1, b: 0 };
    const COMMUTATIVE: bool = false;
    fn combine(l: Affine, r: Affine) -> Affine {
        Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
    }
}

const SIZES: [usize; 8] = [0, 1, 2, 1000, 32_768, 32_769, 65_537, 1_000_003];

#[test]
fn scans_in_order_in_place_and_apart() {
    for threads in [1, 2, 5] {
        let cpu = Cpu::with_threads(threads).unwrap();
        for n in SIZES {
            let input: Vec<Affine> = words(n).into_iter().map(|w| Affine { a: w | 1, b: w >> 3 }).collect();
            let from = cpu.upload(&input).unwrap();
            let to = cpu.alloc((n * 8) as u64).unwrap();
            let (from, to) = (cpu.span(&from), cpu.span(&to));
            cpu.inclusive_scan::<Affine, Compose>(&from, &to).unwrap();
            let want = oracle::inclusive_scan::<Affine, Compose>(Compose::IDENTITY, &input);
            assert!(cpu.download::<Affine>(&to).unwrap() == want, "n = {n}, {threads} threads");
            let start = Affine { a: 3, b: 4 };
            cpu.exclusive_scan::<Affine, Compose>(start, &from, &from).unwrap();
            let want = oracle::exclusive_scan::<Affine, Compose>(start, &input);
            assert!(cpu.download::<Affine>(&from).unwrap() == want, "n = {n}, {threads} threads, in place");
        }
    }
}

#[test]
fn reduces_to_the_same_bits_whatever_the_threads() {
    let input: Vec<f32> = words(1_000_003).into_iter().map(|w| w as f32 / 4e9 - 0.5).collect();
    let results: Vec<u32> = [1, 2, 3, 8]
        .into_iter()
        .map(|threads| {
            let cpu = Cpu::with_threads(threads).unwrap();
            let (from, to) = (cpu.upload(&input).unwrap(), cpu.alloc(4).unwrap());
            cpu.reduce::<f32, Sum>(&cpu.span(&from), &cpu.span(&to)).unwrap();
            cpu.download::<f32>(&cpu.span(&to)).unwrap()[0].to_bits()
        })
        .collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]), "{results:?}");
}

#[test]
fn sorts_pairs_stably() {
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES.into_iter().chain([255, 256, 257, 65_536]) {
        for order in [Order::Ascending, Order::Descending] {
            let keys: Vec<f64> = numbers(n).into_iter().map(|x| ((x % 101) as f64 - 50.0) * 0.5).collect();
            let values: Vec<u64> = (0..n as u64).collect();
            let (keys_in, keys_out) = (cpu.upload(&keys).unwrap(), cpu.alloc(8 * n as u64).unwrap());
            let (values_in, values_out) = (cpu.upload(&values).unwrap(), cpu.alloc(8 * n as u64).unwrap());
            let want = oracle::sort_pairs(order, &keys, &values);
            let spans = Spans::new(&cpu.span(&keys_in), &cpu.span(&keys_out))
                .with_values(&cpu.span(&values_in), &cpu.span(&values_out));
            cpu.sort_pairs::<f64, u64>(order, &spans).unwrap();
            assert!(cpu.download::<f64>(&cpu.span(&keys_out)).unwrap() == want.0, "keys, n = {n}");
            assert!(cpu.download::<u64>(&cpu.span(&values_out)).unwrap() == want.1, "values, n = {n}");
            let spans = Spans::new(&cpu.span(&keys_in), &cpu.span(&keys_in))
                .with_values(&cpu.span(&values_in), &cpu.span(&values_in));
            cpu.sort_pairs::<f64, u64>(order, &spans).unwrap();
            assert!(cpu.download::<f64>(&cpu.span(&keys_in)).unwrap() == want.0, "keys in place, n = {n}");
            assert!(cpu.download::<u64>(&cpu.span(&values_in)).unwrap() == want.1, "values in place, n = {n}");
        }
    }
}

#[test]
fn a_panicking_operator_ends_and_leaves_the_backend_usable() {
    struct Fussy;
    impl Monoid<u32> for Fussy {
        const NAME: &'static str = "fussy";
        const WGSL: &'static str = "";
        const IDENTITY: u32 = 0;
        const COMMUTATIVE: bool = false;
        fn combine(a: u32, b: u32) -> u32 {
            assert_ne!(b, 77, "not this one");
            a.wrapping_add(b)
        }
    }
    let cpu = Cpu::with_threads(4).unwrap();
    let mut input = vec![1u32; 500_000];
    input[200_000] = 77;
    let buffer = cpu.upload(&input).unwrap();
    let span = cpu.span(&buffer);
    let run = std::panic::AssertUnwindSafe(|| cpu.inclusive_scan::<u32, Fussy>(&span, &span));
    assert!(std::panic::catch_unwind(run).is_err());
    cpu.inclusive_scan::<u32, Sum>(&span, &span).unwrap();
}

#[test]
fn refuses_what_would_be_unsound() {
    let cpu = Cpu::with_threads(2).unwrap();
    let buffer = cpu.alloc(64).unwrap();
    let span = cpu.span(&buffer);
    // SAFETY: there is no such memory, which this backend finds out by itself.
    let forged = unsafe { Span::<Cpu>::from_handle(span.handle().clone(), 1 << 40, 1 << 40) };
    assert!(matches!(cpu.write(&forged, &[]), Err(Error::Invalid(_))));
    let odd = span.slice(2, 8).unwrap();
    assert!(matches!(cpu.inclusive_scan::<u32, Sum>(&odd, &odd), Err(Error::Invalid(_))));
    let (from, to) = (span.slice(0, 32).unwrap(), span.slice(16, 32).unwrap());
    // SAFETY: it is no launch, and is not executed.
    assert!(unsafe { cpu.bind(Command::Copy { from, to }) }.is_err());
    assert!(cpu.alloc(u64::MAX).is_err());
    assert!(cpu.write(&span, &[0; 3]).is_err());
}

struct Even;
impl Predicate<u64> for Even {
    const NAME: &'static str = "even";
    const WGSL: &'static str = "";
    fn keep(v: u64) -> bool {
        v.is_multiple_of(2)
    }
}

#[test]
fn selections_keep_the_order_and_the_count() {
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES {
        let input = numbers(n);
        let (even, odd): (Vec<u64>, Vec<u64>) = input.iter().partition(|v| v.is_multiple_of(2));
        let (from, to, other) =
            (cpu.upload(&input).unwrap(), cpu.alloc(8 * n as u64).unwrap(), cpu.alloc(8 * n as u64).unwrap());
        let count = cpu.alloc(4).unwrap();
        let (from, to, other) = (cpu.span(&from), cpu.span(&to), cpu.span(&other));
        let (from, count) = (from.elements::<u64>(0, n as u64).unwrap(), cpu.span(&count));
        let read =
            |span: &Span<'_, Cpu>, n: usize| cpu.download::<u64>(&span.elements::<u64>(0, n as u64).unwrap()).unwrap();

        cpu.select_if::<u64, Even>(&from, &to, &count).unwrap();
        assert_eq!(cpu.download::<u32>(&count).unwrap(), [even.len() as u32]);
        assert_eq!(read(&to, even.len()), even);
        cpu.partition_if::<u64, Even>(&from, &to, Some(&other), &count).unwrap();
        assert_eq!((read(&to, even.len()), read(&other, odd.len())), (even.clone(), odd.clone()));
        cpu.partition_if::<u64, Even>(&from, &to, None, &count).unwrap();
        assert_eq!(read(&to, n), [even.clone(), odd].concat());

        let prepared = cpu.prepare_select::<u64, Even>(n as u64, Rest::Dropped, Layout::default()).unwrap();
        let spans = Spans::new(&from, &to).with_count(&count);
        prepared.bind(&cpu, &spans).unwrap().run(&cpu).unwrap();
        assert_eq!(read(&to, even.len()), even);
    }
}

/// A predicate that answers otherwise each time writes nothing past the outputs.
#[test]
fn an_inconstant_predicate_harms_nothing() {
    use std::sync::atomic::{AtomicU32, Ordering};
    struct Fickle;
    impl Predicate<u32> for Fickle {
        const NAME: &'static str = "fickle";
        const WGSL: &'static str = "";
        fn keep(_: u32) -> bool {
            static CALLS: AtomicU32 = AtomicU32::new(0);
            // Nothing while the elements are counted, everything while they are written.
            CALLS.fetch_add(1, Ordering::Relaxed) >= 1000
        }
    }
    let cpu = Cpu::with_threads(1).unwrap();
    let (from, to) = (cpu.upload(&[7u32; 1000]).unwrap(), cpu.upload(&[1u32; 1001]).unwrap());
    let count = cpu.upload(&[9u32]).unwrap();
    let output = cpu.span(&to).elements::<u32>(0, 1000).unwrap();
    let from = cpu.span(&from).elements::<u32>(0, 1000).unwrap();
    cpu.select_if::<u32, Fickle>(&from, &output, &cpu.span(&count).elements::<u32>(0, 1).unwrap()).unwrap();
    assert_eq!(cpu.download::<u32>(&cpu.span(&to).elements::<u32>(0, 1001).unwrap()).unwrap(), [1; 1001]);
}

#[test]
fn runs_of_equal_keys_are_reduced() {
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES {
        let mut keys = vec![];
        for x in words(n) {
            // One element in five begins a run.
            keys.push(keys.last().map_or(0, |key: &u64| key + u64::from(x % 5 == 0)));
        }
        let values: Vec<Affine> = words(n).into_iter().map(|x| Affine { a: x | 1, b: x >> 7 }).collect();
        let mut at = 0;
        let mut expected = vec![];
        for run in keys.chunk_by(|a, b| a == b) {
            let own = &values[at..at + run.len()];
            expected.push((run[0], run.len() as u32, oracle::reduce::<Affine, Compose>(Compose::IDENTITY, own)));
            at += run.len();
        }
        let n = n as u64;
        let (keys, values) = (cpu.upload(&keys).unwrap(), cpu.upload(&values).unwrap());
        let (unique, totals) = (cpu.alloc(8 * n).unwrap(), cpu.alloc(8 * n).unwrap());
        let (lengths, count) = (cpu.alloc(4 * n).unwrap(), cpu.alloc(4).unwrap());
        let (keys, values) = (cpu.span(&keys).slice(0, 8 * n).unwrap(), cpu.span(&values).slice(0, 8 * n).unwrap());
        let (unique, totals, lengths) = (cpu.span(&unique), cpu.span(&totals), cpu.span(&lengths));
        let count = cpu.span(&count);
        let runs = expected.len() as u64;

        cpu.run_length_encode::<u64>(&keys, &unique, &lengths, &count).unwrap();
        assert_eq!(cpu.download::<u32>(&count).unwrap(), [runs as u32]);
        let found = cpu.download::<u32>(&lengths.elements::<u32>(0, runs).unwrap()).unwrap();
        assert!(found.iter().eq(expected.iter().map(|(_, length, _)| length)));

        let spans = Spans::new(&keys, &unique).with_values(&values, &totals).with_count(&count);
        cpu.reduce_by_key::<u64, Affine, Compose>(&spans).unwrap();
        let found = cpu.download::<u64>(&unique.elements::<u64>(0, runs).unwrap()).unwrap();
        assert!(found.iter().eq(expected.iter().map(|(key, ..)| key)));
        let found = cpu.download::<Affine>(&totals.elements::<Affine>(0, runs).unwrap()).unwrap();
        assert!(found.iter().eq(expected.iter().map(|(.., total)| total)));
    }
}
