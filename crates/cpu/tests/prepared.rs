//! Each typed way to prepare a call gives what the call itself gives.

use trifold_core::{
    Backend, Bound, Monoid, Order, Predicate, Prepared, Reduce, ReduceByKey, Rest, Result, Scan, ScanKind, Select,
    Sort, Span, Spans, Sum, Transfer,
};
use trifold_cpu::{Cpu, oracle};

const N: u64 = 1000;

struct Odd;
impl Predicate<u32> for Odd {
    const NAME: &'static str = "odd";
    const WGSL: &'static str = "fn keep(v: T) -> bool { return (v & 1u) == 1u; }";
    fn keep(v: u32) -> bool {
        v & 1 == 1
    }
}

fn run(cpu: &Cpu, prepared: Result<Prepared<Cpu>>, spans: &Spans<'_, Cpu>) {
    let prepared = prepared.unwrap();
    let bound: Bound<'_, Cpu> = prepared.bind(cpu, spans).unwrap();
    bound.run(cpu).unwrap();
}

fn first(cpu: &Cpu, span: &Span<'_, Cpu>, count: usize) -> Vec<u32> {
    cpu.download::<u32>(&span.elements::<u32>(0, count as u64).unwrap()).unwrap()
}

#[test]
fn prepared_calls_give_what_the_oracle_does() {
    let cpu = Cpu::with_threads(2).unwrap();
    let input: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let runs: Vec<u32> = (0..N as u32).map(|i| i / 7).collect();
    let buffers = [&input, &runs].map(|words| cpu.upload(words).unwrap());
    let [from, keys] = buffers.each_ref().map(|buffer| cpu.span(buffer).elements::<u32>(0, N).unwrap());
    let places = [(); 3].map(|()| cpu.alloc(4 * N).unwrap());
    let [to, moved, count] = places.each_ref().map(|buffer| cpu.span(buffer).elements::<u32>(0, N).unwrap());
    let [one, count] = [&to, &count].map(|span| span.elements::<u32>(0, 1).unwrap());
    let both = Spans::new(&from, &to);
    let layout = both.layout(&cpu).unwrap();

    run(&cpu, cpu.prepare_scan::<u32, Sum>(ScanKind::Exclusive, Some(5), N, layout), &both);
    assert_eq!(first(&cpu, &to, input.len()), oracle::exclusive_scan::<u32, Sum>(5, &input));
    run(&cpu, cpu.prepare_reduce::<u32, Sum>(Some(9), N, layout), &Spans::new(&from, &one));
    assert_eq!(first(&cpu, &one, 1), [input.iter().fold(9, |a, &b| <Sum as Monoid<u32>>::combine(a, b))]);

    let mut sorted = input.clone();
    sorted.sort_unstable();
    run(&cpu, cpu.prepare_sort_keys::<u32>(Order::Ascending, N, layout), &both);
    assert_eq!(first(&cpu, &to, input.len()), sorted);
    let pairs = Spans::new(&from, &to).with_values(&from, &moved);
    run(&cpu, cpu.prepare_sort_pairs::<u32, u32>(Order::Ascending, N, layout), &pairs);
    assert_eq!((first(&cpu, &to, input.len()), first(&cpu, &moved, input.len())), (sorted.clone(), sorted));

    let odd: Vec<u32> = input.iter().copied().filter(|v| v & 1 == 1).collect();
    let kept = Spans::new(&from, &to).with_count(&count);
    run(&cpu, cpu.prepare_select::<u32, Odd>(N, Rest::Dropped, layout), &kept);
    assert_eq!((first(&cpu, &count, 1), first(&cpu, &to, odd.len())), (vec![odd.len() as u32], odd));

    let lengths: Vec<u32> = input.chunks(7).map(|run| run.len() as u32).collect();
    let sums: Vec<u32> = input.chunks(7).map(|run| run.iter().sum()).collect();
    let by_key = Spans::new(&keys, &to).with_values(&from, &moved).with_count(&count);
    run(&cpu, cpu.prepare_reduce_by_key::<u32, u32, Sum>(N, layout), &by_key);
    assert_eq!((first(&cpu, &count, 1)[0] as usize, first(&cpu, &moved, sums.len())), (sums.len(), sums));
    let encoded = Spans::new(&keys, &to).with_values(&from.slice(0, 0).unwrap(), &moved).with_count(&count);
    run(&cpu, cpu.prepare_run_length_encode::<u32>(N, layout), &encoded);
    assert_eq!(first(&cpu, &moved, lengths.len()), lengths);
}
