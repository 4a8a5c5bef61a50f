//! The CPU backend against its oracle, with more threads than the machine may have.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use trifold_core::{
    Backend, Buffer, Command, Element, Error, Histogram, Map, Monoid, Offset, OneOutput, Order, Predicate, Reduce,
    ReduceByKey, Scan, Select, Sort, Span, Sum, TopK, Transfer, element, iota,
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
#[derive(Clone)]
struct Compose;
impl Monoid<Affine> for Compose {
    fn name(&self) -> Cow<'static, str> {
        "compose".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn identity(&self) -> Affine {
        Affine { a: 1, b: 0 }
    }
    fn combine(&self, l: Affine, r: Affine) -> Affine {
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
            let scanned = cpu.inclusive_scan(&from, Compose).read().unwrap();
            let want = oracle::inclusive_scan(&Compose, Compose.identity(), &input);
            assert!(scanned == want, "n = {n}, {threads} threads");
            let start = Affine { a: 3, b: 4 };
            cpu.exclusive_scan(&from, Compose).starting_from(start).in_place().run().unwrap();
            let want = oracle::exclusive_scan(&Compose, start, &input);
            assert!(from.read().unwrap() == want, "n = {n}, {threads} threads, in place");
        }
    }
}

#[test]
fn floats_have_the_same_bits_whatever_the_threads() {
    let input: Vec<f32> = words(1_000_003).into_iter().map(|w| w as f32 / 4e9 - 0.5).collect();
    // Runs within a block, over several, and of one element.
    let keys: Vec<u32> = (0..input.len() as u32).map(|i| if i < 100_000 { i / 40_000 } else { i / 3 }).collect();
    let results: Vec<Vec<u32>> = [1, 2, 3, 8]
        .into_iter()
        .map(|threads| {
            let cpu = Cpu::with_threads(threads).unwrap();
            let x = cpu.upload(&input).unwrap();
            let mut all = vec![cpu.reduce(&x, Sum).value().unwrap()];
            all.extend(cpu.inclusive_scan(&x, Sum).read().unwrap());
            let ends: Vec<u32> = (0..=input.len() as u32).filter(|i| i % 7 == 0 || *i > 900_000).collect();
            let ends = cpu.upload(&[&[0, 3, 200_000, 200_000], &ends[30_000..]].concat()).unwrap();
            all.extend(cpu.reduce(&x, Sum).segments(&ends).read().unwrap());
            all.extend(cpu.inclusive_scan(&x, Sum).segments(&ends).read().unwrap());
            all.extend(cpu.reduce_by_key(cpu.upload(&keys).unwrap(), &x, Sum).read().unwrap().1);
            all.into_iter().map(f32::to_bits).collect()
        })
        .collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn sorts_pairs_stably() {
    fn check<V: Element>(cpu: &Cpu, order: Order, keys: &[f64], values: &[V]) {
        let want = oracle::sorted_with(order, keys, values);
        let (keys, values) = (cpu.upload(keys).unwrap(), cpu.upload(values).unwrap());
        let sorted = cpu.sort(&keys).in_order(order).with(&values).read().unwrap();
        assert!(sorted == want, "{} {}, n = {}", order == Order::Ascending, V::TYPE.name(), keys.len());
        cpu.sort(&keys).in_order(order).with(&values).in_place().run().unwrap();
        assert!((keys.read().unwrap(), values.read().unwrap()) == want, "in place, {}", V::TYPE.name());
    }
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES.into_iter().chain([255, 256, 257, 65_536]) {
        for order in [Order::Ascending, Order::Descending] {
            let keys: Vec<f64> = numbers(n).into_iter().map(|x| ((x % 101) as f64 - 50.0) * 0.5).collect();
            // A value that goes with its key, one of two words and one of three, which are gathered.
            check(&cpu, order, &keys, &(0..n as u32).collect::<Vec<u32>>());
            check(&cpu, order, &keys, &(0..n as u64).collect::<Vec<u64>>());
            check(&cpu, order, &keys, &(0..n as u32).map(|i| Triple { a: i, b: !i, c: 7 }).collect::<Vec<_>>());
        }
    }
}

element! {
    struct Triple { a: u32, b: u32, c: u32 }
}

#[test]
fn a_panicking_operator_ends_and_leaves_the_backend_usable() {
    #[derive(Clone)]
    struct Fussy;
    impl Monoid<u32> for Fussy {
        fn name(&self) -> Cow<'static, str> {
            "fussy".into()
        }
        fn text(&self) -> Cow<'static, str> {
            "".into()
        }
        fn identity(&self) -> u32 {
            0
        }
        fn combine(&self, a: u32, b: u32) -> u32 {
            assert_ne!(b, 77, "not this one");
            a.wrapping_add(b)
        }
    }
    let cpu = Cpu::with_threads(4).unwrap();
    let mut input = vec![1u32; 500_000];
    input[200_000] = 77;
    let x = cpu.upload(&input).unwrap();
    let keys = cpu.alloc::<u32>(input.len()).unwrap();
    let run = std::panic::AssertUnwindSafe(|| cpu.reduce_by_key(&keys, &x, Fussy).compact());
    assert!(std::panic::catch_unwind(run).is_err());
    let run = std::panic::AssertUnwindSafe(|| cpu.inclusive_scan(&x, Fussy).in_place().run());
    assert!(std::panic::catch_unwind(run).is_err());
    cpu.inclusive_scan(&x, Sum).in_place().run().unwrap();
}

#[test]
fn refuses_what_would_be_unsound() {
    let cpu = Cpu::with_threads(2).unwrap();
    let span = cpu.allocate(64).unwrap();
    // SAFETY: there is no such memory, which this backend finds out by itself.
    let forged = unsafe { Span::<Cpu>::from_handle(span.handle().clone(), 1 << 40, 1 << 40) };
    assert!(matches!(cpu.write(&forged, &[]), Err(Error::Invalid(_))));
    let odd = Buffer::<u32, Cpu>::of_span(&cpu, span.slice(2, 8).unwrap()).unwrap();
    assert!(matches!(cpu.inclusive_scan(&odd, Sum).in_place().run(), Err(Error::Invalid(_))));
    let (from, to) = (span.slice(0, 32).unwrap(), span.slice(16, 32).unwrap());
    // SAFETY: it is no launch, and is not executed.
    assert!(unsafe { cpu.bind(vec![Command::Copy { from, to, each: 0 }], false) }.is_err());
    assert!(cpu.allocate(u64::MAX).is_err());
    assert!(cpu.write(&span, &[0; 3]).is_err());
}

#[derive(Clone)]
struct Even;
impl Predicate<u64> for Even {
    fn name(&self) -> Cow<'static, str> {
        "even".into()
    }
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn keep(&self, v: u64) -> bool {
        v.is_multiple_of(2)
    }
}

#[test]
fn selections_keep_the_order_and_the_count() {
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES {
        let input = numbers(n);
        let (even, odd): (Vec<u64>, Vec<u64>) = input.iter().partition(|v| v.is_multiple_of(2));
        let x = cpu.upload(&input).unwrap();
        assert_eq!(cpu.select(&x, Even).read().unwrap(), even);
        assert_eq!(cpu.partition(&x, Even).read().unwrap(), (even.clone(), odd.clone()));
        let (to, count) = (cpu.alloc(n).unwrap(), cpu.alloc(1).unwrap());
        cpu.partition(&x, Even).count_to(&count).to_one(&to).run().unwrap();
        assert_eq!(count.read().unwrap(), [even.len() as u32]);
        assert_eq!(to.read().unwrap(), [even.clone(), odd].concat());
    }
}

/// A predicate that answers otherwise each time writes nothing past the outputs.
#[test]
fn an_inconstant_predicate_harms_nothing() {
    use std::sync::atomic::{AtomicU32, Ordering};
    #[derive(Clone)]
    struct Fickle;
    impl Predicate<u32> for Fickle {
        fn name(&self) -> Cow<'static, str> {
            "fickle".into()
        }
        fn text(&self) -> Cow<'static, str> {
            "".into()
        }
        fn keep(&self, _: u32) -> bool {
            static CALLS: AtomicU32 = AtomicU32::new(0);
            // Nothing while the elements are counted, everything while they are written, and the reverse.
            CALLS.fetch_add(1, Ordering::Relaxed) / 1000 % 3 == 1
        }
    }
    let cpu = Cpu::with_threads(1).unwrap();
    let (from, to) = (cpu.upload(&[7u32; 1000]).unwrap(), cpu.upload(&[1u32; 1001]).unwrap());
    let room = to.slice(..1000).unwrap();
    // One pass, in which nothing is kept.
    cpu.select(&from, Fickle).to(&room).run().unwrap();
    assert_eq!(to.read().unwrap(), [1; 1001]);
    // All are counted, and then nothing is kept: there is no room behind.
    cpu.partition(&from, Fickle).to_one(&room).run().unwrap();
    assert_eq!(to.read().unwrap(), [1; 1001]);
    // Nothing is counted, and then all are kept: there is no room before.
    cpu.partition(&from, Fickle).to_one(&room).run().unwrap();
    assert_eq!(to.read().unwrap(), [1; 1001]);
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
            expected.push((run[0], run.len() as u32, oracle::reduce(&Compose, Compose.identity(), own)));
            at += run.len();
        }
        let (keys, values) = (cpu.upload(&keys).unwrap(), cpu.upload(&values).unwrap());
        let (found, lengths) = cpu.run_length_encode(&keys).read().unwrap();
        assert!(found.iter().eq(expected.iter().map(|(key, ..)| key)));
        assert!(lengths.iter().eq(expected.iter().map(|(_, length, _)| length)));
        let (found, totals) = cpu.reduce_by_key(&keys, &values, Compose).read().unwrap();
        assert!(found.iter().eq(expected.iter().map(|(key, ..)| key)));
        assert!(totals.iter().eq(expected.iter().map(|(.., total)| total)));
    }
}

/// Reductions by offsets, of which one may be past the end, and the scans.
fn check_segments<O: Offset>(cpu: &Cpu, x: &[Affine], offsets: &[O], places: &[usize]) {
    let (from, by, start) = (cpu.upload(x).unwrap(), cpu.upload(offsets).unwrap(), Affine { a: 3, b: 4 });
    for start in [Compose.identity(), start] {
        let totals = cpu.reduce(&from, Compose).starting_from(start).segments(&by).read().unwrap();
        let want = places.windows(2).map(|ends| oracle::reduce(&Compose, start, &x[ends[0]..ends[1]]));
        assert!(totals.into_iter().eq(want), "{} elements", x.len());
        let scanned = cpu.exclusive_scan(&from, Compose).starting_from(start).segments(&by).read().unwrap();
        let all = [&[0], places, &[x.len()]].concat();
        let want = all.windows(2).flat_map(|ends| oracle::exclusive_scan(&Compose, start, &x[ends[0]..ends[1]]));
        assert!(scanned.into_iter().eq(want), "{} elements", x.len());
    }
}

#[test]
fn segments_end_where_offsets_say() {
    let cpu = Cpu::with_threads(3).unwrap();
    for n in SIZES {
        let x: Vec<Affine> = words(n).into_iter().map(|w| Affine { a: w | 1, b: w >> 3 }).collect();
        // Of any length up to a power of two, now and then of none, and at the ends of blocks.
        for bits in [1, 5, 17] {
            let mut at = bits;
            let offsets = words(n / 2 + 2).into_iter().map(|word| {
                let now = at;
                at += (word >> 8) as usize & ((1 << bits) - 1);
                if word % 5 == 0 { now } else { now.next_multiple_of(if word % 7 == 0 { 1 << 15 } else { 1 }) }
            });
            let mut offsets: Vec<usize> = offsets.collect();
            offsets.sort_unstable();
            let places: Vec<usize> = offsets.iter().map(|offset| *offset.min(&n)).collect();
            let narrow: Vec<u32> = offsets.iter().map(|offset| *offset.min(&(n + 9)) as u32).collect();
            check_segments(&cpu, &x, &narrow, &places);
            check_segments(&cpu, &x, &offsets.iter().map(|offset| *offset as u64).collect::<Vec<_>>(), &places);
        }
    }
}

#[test]
fn offsets_that_fall_harm_nothing() {
    let cpu = Cpu::with_threads(3).unwrap();
    let (n, count, beside) = (300_000, 5000, 77);
    let x = cpu.upload(&words(n)).unwrap();
    for turn in 0..4 {
        let bad: Vec<u32> =
            words(count + 1).into_iter().map(|word| (word % (2 * n as u32)) >> (word >> 28 & turn)).collect();
        let wide: Vec<u64> = bad.iter().map(|&word| u64::from(word) << (word & 32)).collect();
        let (bad, wide) = (cpu.upload(&bad).unwrap(), cpu.upload(&wide).unwrap());
        let (totals, scanned) = (cpu.upload(&vec![7; count + 2 * beside]), cpu.upload(&vec![7; n + 2 * beside]));
        let (totals, scanned) = (totals.unwrap(), scanned.unwrap());
        let (own, all) = (totals.slice(beside..beside + count).unwrap(), scanned.slice(beside..beside + n).unwrap());
        cpu.reduce(&x, Sum).segments(&bad).to(&own).run().unwrap();
        cpu.reduce(&x, Sum).segments(&wide).to(&own).run().unwrap();
        cpu.inclusive_scan(&x, Sum).segments(&bad).to(&all).run().unwrap();
        cpu.inclusive_scan(&x, Sum).segments(&wide).to(&all).run().unwrap();
        for words in [totals.read().unwrap(), scanned.read().unwrap()] {
            assert!(words[..beside].iter().chain(&words[words.len() - beside..]).all(|&word| word == 7));
        }
    }
}

/// As on a GPU's queue. Whichever comes first, the other finds its work whole.
#[test]
fn calls_of_two_threads_come_one_after_the_other() {
    let cpu = Cpu::with_threads(2).unwrap();
    let x = cpu.upload(&vec![1_u32; 100_000]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..40 {
                    cpu.inclusive_scan(&x, Sum).in_place().run().unwrap();
                    x.slice(1..2).unwrap().read().unwrap();
                }
            });
        }
    });
    let mut expected = vec![1; 100_000];
    for _ in 0..80 {
        expected = oracle::inclusive_scan(&Sum, 0, &expected);
    }
    assert!(x.read().unwrap() == expected);
}

/// A call within a call does not wait for the other to end.
#[test]
fn an_operator_may_run_calls() {
    #[derive(Clone)]
    struct Inner(Cpu);
    impl Predicate<u32> for Inner {
        fn text(&self) -> Cow<'static, str> {
            "".into()
        }
        fn keep(&self, v: u32) -> bool {
            let x = self.0.upload(&[v, 1]).unwrap();
            self.0.reduce(&x, Sum).value().unwrap() % 2 == 1
        }
    }
    for (threads, n) in [(1, 10), (2, 40_000)] {
        let cpu = Cpu::with_threads(threads).unwrap();
        let x = cpu.upload(&(0..n).collect::<Vec<u32>>()).unwrap();
        let even: Vec<u32> = (0..n).step_by(2).collect();
        assert_eq!(cpu.select(&x, Inner(cpu.clone())).read().unwrap(), even);
    }
}

/// Tasks of another pool of rayon's, which begins a task while another waits.
#[test]
fn tasks_of_other_pools_queue_too() {
    use rayon::prelude::*;
    let (one, two) = (Cpu::with_threads(2).unwrap(), Cpu::with_threads(2).unwrap());
    let n = 60_000;
    let (x, y) = (one.upload(&vec![1_u32; n]).unwrap(), two.upload(&vec![1_u32; n]).unwrap());
    (0..60).into_par_iter().for_each(|i| {
        let (cpu, buffer) = if i % 2 == 0 { (&one, &x) } else { (&two, &y) };
        cpu.inclusive_scan(buffer, Sum).in_place().run().unwrap();
    });
    let mut expected = vec![1; n];
    for _ in 0..30 {
        expected = oracle::inclusive_scan(&Sum, 0, &expected);
    }
    assert!(x.read().unwrap() == expected && y.read().unwrap() == expected);
}

/// Code that notes its threads. It takes so long that another one which is woken has a share.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<HashSet<ThreadId>>>);

impl Noted {
    fn note(&self, v: u32) {
        if v % 1024 == 1 {
            self.0.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Map<u32> for Noted {
    type Output = u32;
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn map(&self, v: u32) -> u32 {
        self.note(v);
        v
    }
}

impl Predicate<u32> for Noted {
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn keep(&self, v: u32) -> bool {
        self.note(v);
        v % 3 == 1
    }
}

impl Monoid<u32> for Noted {
    fn text(&self) -> Cow<'static, str> {
        "".into()
    }
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        self.note(b);
        a.wrapping_add(b)
    }
}

/// The threads that calls of `n` elements run code on, each by the name of its call.
fn threads(cpu: &Cpu, n: usize) -> Vec<(&'static str, HashSet<ThreadId>)> {
    let numbers: Vec<u32> = (0..n as u32).collect();
    let keys: Vec<u32> = numbers.iter().map(|i| i / 7).collect();
    let (x, keys, to) = (cpu.upload(&numbers).unwrap(), cpu.upload(&keys).unwrap(), cpu.alloc(n).unwrap());
    let calls: [(&str, &dyn Fn(Noted)); 12] = [
        ("copy", &|own| drop(cpu.copy(x.mapped(own)).read().unwrap())),
        ("reduce", &|own| drop(cpu.reduce(&x, own).read().unwrap())),
        ("scan", &|own| drop(cpu.inclusive_scan(&x, own).read().unwrap())),
        ("scan of rows", &|own| drop(cpu.inclusive_scan(&x, own).rows(n / 4).read().unwrap())),
        ("reduce by key", &|own| drop(cpu.reduce_by_key(&keys, &x, own).read().unwrap())),
        ("select", &|own| drop(cpu.select(&x, own).read().unwrap())),
        ("partition behind", &|own| cpu.partition(&x, own).to_one(&to).run().unwrap()),
        ("sort of a view", &|own| drop(cpu.sort(x.mapped(own)).read().unwrap())),
        ("mapped sort", &|own| drop(cpu.sort(&x).then(own).read().unwrap())),
        ("histogram", &|own| drop(cpu.histogram(x.mapped(own), 16).read().unwrap())),
        ("top_k", &|own| drop(cpu.top_k(x.mapped(own), 5).read().unwrap())),
        ("scatter", &|own| cpu.scatter(x.mapped(own), iota(n)).to(&to).run().unwrap()),
    ];
    let noted = calls.map(|(name, call)| {
        let own = Noted::default();
        call(own.clone());
        let threads = own.0.lock().unwrap().clone();
        (name, threads)
    });
    noted.into()
}

/// Up to as many elements as one thread has done before another has woken.
#[test]
fn small_calls_wake_no_thread() {
    let cpu = Cpu::with_threads(4).unwrap();
    let own = HashSet::from([thread::current().id()]);
    for n in [1000, 60_000] {
        for (call, threads) in threads(&cpu, n) {
            assert_eq!(threads, own, "{call} of {n}");
        }
    }
    for (call, threads) in threads(&cpu, 400_000) {
        assert!(threads.len() > 1, "{call} of many, by {threads:?}");
    }
}
