//! Offsets and edges that make no sense: a call that is to check them names the first, and any other writes to its outputs alone.

use trifold_core::algorithm::{segmented, sort};
use trifold_core::{
    Backend, Buffer, Call, Error, Histogram, Offset, Options, Reduce, Request, Scan, Sort, Spans, Sum, Summary, TopK,
    Transfer,
};

use super::{expect, refuse};
use crate::case::Failure;
use crate::inputs::Random;

/// Elements of several tiles.
const MANY: usize = 20_000;
/// Fewer, of which many are wanted.
const FEW: usize = 5000;
/// What lies beside outputs, and how many words of it.
const BESIDE: u32 = 0xcbcb_cbcb;
const MARGIN: usize = 64;

/// The first wrong offset is named, whatever is asked of segments.
pub(super) fn named<B: Backend + Scan + Reduce + Sort>(gpu: &B, x: &Buffer<u32, B>) -> Result<(), Failure> {
    named_in(gpu, x, |offset| offset)?;
    named_in(gpu, x, u64::from)?;
    let far = gpu.upload(&[0u64, 1 << 32, 1 << 33])?;
    let checked = gpu.reduce(x, Sum).segments(&far).checked().map(drop);
    refuse("an offset of 64 bits", checked, "offset 1 is 4294967296, and there are 1000 elements")
}

/// The same of offsets of one type.
fn named_in<B: Backend + Scan + Reduce + Sort, O: Offset>(
    gpu: &B,
    x: &Buffer<u32, B>,
    of: fn(u32) -> O,
) -> Result<(), Failure> {
    let wrong = [
        ([0, 9, 8, 10], "offset 2 is 8, and the one before is 9"),
        ([1, 9, 10, 11], "offset 0 is 1, and the first of all is 0"),
        ([0, 9, 10, 1001], "offset 3 is 1001, and there are 1000 elements"),
    ];
    for (offsets, why) in wrong {
        let wrong = gpu.upload(&offsets.map(of))?;
        refuse("a reduction", gpu.reduce(x, Sum).segments(&wrong).checked().map(drop), why)?;
        refuse("a scan", gpu.inclusive_scan(x, Sum).segments(&wrong).checked().map(drop), why)?;
        refuse("a sort", gpu.sort(x).segments(&wrong).checked().map(drop), why)?;
        refuse("a sort of pairs", gpu.sort(x).with(x).segments(&wrong).checked().map(drop), why)?;
        refuse("an argsort", gpu.argsort(x).segments(&wrong).checked().map(drop), why)?;
        refuse("a top_k", gpu.top_k(x, 5).segments(&wrong).checked().map(drop), why)?;
        refuse("an nth_element", gpu.nth_element(x, 5).segments(&wrong).checked().map(drop), why)?;
        refuse("an arg_min", gpu.arg_min(x).segments(&wrong).checked().map(drop), why)?;
    }
    Ok(())
}

/// What lies beside outputs stays as it is.
pub(super) fn by_chance<B: Backend + Scan + Reduce + Sort>(gpu: &B) -> Result<(), Failure> {
    let mut random = Random::named("offsets");
    let x = gpu.upload(&(0..MANY).map(|_| random.next() as u32).collect::<Vec<_>>())?;
    for _ in 0..3 {
        // Of every order of magnitude, some past the end.
        let mut offset = || ((random.next() >> 33) % (2 * MANY as u64)) >> (random.next() % 4);
        let bad: Vec<u64> = (0..100).map(|_| offset()).collect();
        let narrow: Vec<u32> = bad.iter().map(|offset| *offset as u32).collect();
        beside_outputs(gpu, &x, &gpu.upload(&narrow)?)?;
        // Some past what 32 bits hold, whose lower halves are offsets too.
        let wide = bad.iter().map(|&offset| if offset.is_multiple_of(5) { offset | 1 << 40 } else { offset });
        beside_outputs(gpu, &x, &gpu.upload(&wide.collect::<Vec<_>>())?)?;
    }
    Ok(())
}

/// Among edges by chance each element has a place, and a histogram counts it once at most.
pub(super) fn edges<B: Backend + Histogram + Reduce>(gpu: &B) -> Result<(), Failure> {
    let mut random = Random::named("edges");
    let mut numbers = |n: usize| (0..n).map(|_| f32::from_bits(random.next() as u32)).collect::<Vec<_>>();
    let x = gpu.upload(&numbers(MANY))?;
    for count in [1, 2, 257, 5000] {
        let edges = gpu.upload(&numbers(count))?;
        if count > 2 {
            refuse("edges by chance", x.binned(&edges).checked(gpu).map(drop), "is less than the one before it")?;
        }
        for (what, places) in [("lower", x.lower_bounds(&edges)), ("upper", x.upper_bounds(&edges))] {
            let far = gpu.copy(places).read()?.into_iter().filter(|place| *place as usize > count).count();
            expect(&format!("the number of {what} bounds past {count} edges"), far, 0)?;
        }
        let counts = Framed::new(gpu, count)?;
        gpu.histogram(x.binned(&edges), count).to(&counts.output).run()?;
        counts.check("counts")?;
        let counted: u64 = counts.output.read()?.into_iter().map(u64::from).sum();
        expect("whether no element is counted twice", counted <= MANY as u64, true)?;
    }
    Ok(())
}

/// An output in the middle of other memory.
struct Framed<B: Backend> {
    all: Buffer<u32, B>,
    output: Buffer<u32, B>,
}

impl<B: Backend> Framed<B> {
    fn new(gpu: &B, len: usize) -> Result<Framed<B>, Failure> {
        let all = gpu.upload(&vec![BESIDE; len + 2 * MARGIN])?;
        let output = all.slice(MARGIN..MARGIN + len)?;
        Ok(Framed { all, output })
    }

    /// Fails if a call wrote beside it.
    fn check(&self, what: &str) -> Result<(), Failure> {
        let all = self.all.read()?;
        let (before, rest) = all.split_at(MARGIN);
        let behind = &rest[self.output.len()..];
        let touched = before.iter().chain(behind).filter(|word| **word != BESIDE).count();
        expect(&format!("the number of words beside {what} that were written"), touched, 0)
    }
}

/// Not every device runs each algorithm.
fn where_it_runs(ran: Result<(), Error>) -> Result<(), Error> {
    match ran {
        Err(Error::Unsupported(_)) => Ok(()),
        ran => ran,
    }
}

/// Runs a sort by the lengths of segments, of which few are short: so that passes sort most.
fn by_passes<B: Backend>(gpu: &B, request: &Request, spans: &Spans<B>) -> Result<(), Failure> {
    let mut tuning = gpu.tuning();
    let few = [("merge_sort_workgroup", 32), ("long_keys", 1), ("long_rounds", 2), ("long_levels_less", 16)];
    few.into_iter().try_for_each(|(name, number)| tuning.set(name, number))?;
    let ran = Call::with_tuning(gpu, request, spans, Options::by(&sort::BY_LENGTH), &tuning);
    Ok(where_it_runs(ran.and_then(|call| call.run()))?)
}

/// Runs what takes offsets by these.
fn beside_outputs<B: Backend + Scan + Reduce + Sort, O: Offset>(
    gpu: &B,
    x: &Buffer<u32, B>,
    bad: &Buffer<O, B>,
) -> Result<(), Failure> {
    let count = bad.len() - 1;
    let (all, values, each) = (Framed::new(gpu, MANY)?, Framed::new(gpu, MANY)?, Framed::new(gpu, count)?);
    refuse("offsets by chance", gpu.reduce(x, Sum).segments(bad).checked().map(drop), "offset ")?;
    gpu.reduce(x, Sum).segments(bad).to(&each.output).run()?;
    each.check("totals")?;
    for algorithm in [&segmented::RANGES, &segmented::LOOKBACK, &segmented::REDUCE_THEN_SCAN] {
        where_it_runs(gpu.reduce(x, Sum).segments(bad).to(&each.output).by(algorithm).run())?;
        each.check(algorithm.name)?;
    }
    gpu.arg_min(x).segments(bad).to(&each.output).run()?;
    each.check("places of the least")?;
    gpu.inclusive_scan(x, Sum).segments(bad).to(&all.output).run()?;
    all.check("prefixes")?;
    for algorithm in [&segmented::LOOKBACK, &segmented::REDUCE_THEN_SCAN] {
        where_it_runs(gpu.inclusive_scan(x, Sum).segments(bad).to(&all.output).by(algorithm).run())?;
        all.check(algorithm.name)?;
    }
    gpu.inclusive_scan(&all.output, Sum).segments(bad).in_place().run()?;
    all.check("prefixes in place")?;
    gpu.sort(&all.output).segments(bad).in_place().run()?;
    all.check("keys sorted in place")?;
    gpu.sort(x).segments(bad).to(&all.output).run()?;
    all.check("sorted keys")?;
    let keys = Spans { offsets: Some(bad.span().clone()), ..Spans::new(x.span(), all.output.span()) };
    by_passes(gpu, gpu.sort(x).segments(bad).to(&all.output).request(), &keys)?;
    all.check("keys sorted by the lengths of segments")?;
    let pairs = gpu.sort(x).with(x).segments(bad).to((&all.output, &values.output));
    by_passes(gpu, pairs.request(), &keys.with_values(x.span(), values.output.span()))?;
    all.check("keys of pairs sorted by the lengths of segments")?;
    values.check("values of pairs sorted by the lengths of segments")?;
    gpu.argsort(x).segments(bad).to(&all.output).run()?;
    all.check("sorted places")?;
    gpu.sort(x).with(x).segments(bad).to((&all.output, &values.output)).run()?;
    all.check("keys of pairs")?;
    values.check("values of pairs")?;
    let few = x.slice(..FEW)?;
    // A workgroup has room for 3 keys, and each chunk of a long segment gives its own. Digits find 700.
    for (x, k) in [(x, 3), (&few, 700)] {
        let (first, second) = (Framed::new(gpu, k * count)?, Framed::new(gpu, k * count)?);
        gpu.top_k(x, k).segments(bad).to(&first.output).run()?;
        first.check("the largest")?;
        gpu.top_k(x, k).unsorted().segments(bad).to(&first.output).run()?;
        first.check("the largest as they stand")?;
        gpu.top_k(x, k).indices().segments(bad).to(&first.output).run()?;
        first.check("where the largest stand")?;
        gpu.top_k(x, k).with(x).segments(bad).to((&first.output, &second.output)).run()?;
        first.check("the largest of pairs")?;
        second.check("values of the largest")?;
        gpu.nth_element(x, k - 1).segments(bad).to(&each.output).run()?;
        each.check("one key of each")?;
    }
    Ok(())
}
