//! Outputs that are mapped by a launch behind the call.

use trifold_core::{
    Backend, CountedOutput, Histogram, OneOutput, Reduce, Scan, Select, Sort, Sum, TopK, Transfer, Unique, UpperHalf,
};
use trifold_cpu::oracle;

use super::expect;
use crate::case::Failure;
use crate::maps::{Byte, Tripled, Two, Widened};

/// Sizes at the ends, of one tile and of many.
const SIZES: [usize; 4] = [1, 6, 1200, 70_200];

/// What `Tripled { by: 3 }` gives.
fn threefold(of: &[u32]) -> Vec<u32> {
    of.iter().map(|a| a.wrapping_mul(3)).collect()
}

pub(super) fn mapped<B: Backend + Scan + Reduce + Sort>(gpu: &B) -> Result<(), Failure> {
    let (tripled, wide) = (Tripled { by: 3 }, |a: &u32| -> Two { (*a, a + 1).into() });
    for n in SIZES {
        let words: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
        let x = gpu.upload(&words)?;
        let mut ordered = words.clone();
        ordered.sort_unstable();
        expect("a mapped sort", gpu.sort(&x).then(tripled).read()?, threefold(&ordered))?;
        expect("a widened sort", gpu.sort(&x).then(Widened {}).read()?, ordered.iter().map(wide).collect())?;
        let bytes: Vec<u8> = words.iter().map(|a| *a as u8).collect();
        let narrowed = gpu.sort(&x).then(Byte).read()?;
        expect("a narrowed sort", narrowed, ordered.iter().map(|a| *a as u8).collect())?;
        let mut of_bytes = bytes.clone();
        of_bytes.sort_unstable();
        expect("a sort of a view", gpu.sort(x.mapped(Byte)).read()?, of_bytes)?;
        of_places(gpu, &words)?;
        let mapped_twice = gpu.sort(x.mapped(tripled)).then(tripled).read()?;
        expect("a mapped sort of a view", mapped_twice, threefold(&threefold(&ordered)))?;

        let mut counts = vec![0u32; 300];
        words.iter().filter(|a| **a < 300).for_each(|a| counts[*a as usize] += 1);
        expect("a mapped histogram", gpu.histogram(&x, 300).then(tripled).read()?, threefold(&counts))?;
        let best: Vec<u32> = ordered.iter().rev().take(5.min(n)).copied().collect();
        expect("a mapped top_k", gpu.top_k(&x, best.len()).then(tripled).read()?, threefold(&best))?;

        let rows: Vec<u32> = words.chunks(n.min(6)).map(|row| row.iter().sum()).collect();
        let sums = gpu.reduce(&x, Sum).rows(n.min(6));
        expect("mapped totals of rows", sums.then(tripled).read()?, threefold(&rows))?;
        let firsts: Vec<u32> = words.chunks(n.min(6)).map(|row| *row.iter().max().unwrap_or(&0)).collect();
        let largest = gpu.top_k(&x, 1).rows(n.min(6));
        expect("a mapped top_k of rows", largest.then(tripled).read()?, threefold(&firsts))?;
        let offsets = gpu.upload(&[0, n as u32 / 2, n as u32 / 2, n as u32])?;
        let halves = [&words[..n / 2], &[], &words[n / 2..]].map(|part: &[u32]| part.iter().sum());
        let sums = gpu.reduce(&x, Sum).segments(&offsets);
        expect("mapped totals of segments", sums.then(tripled).read()?, threefold(&halves))?;
        let ends = |row: &[u32]| {
            row.iter()
                .scan(0u32, |sum, a| {
                    Some({
                        *sum += a;
                        *sum
                    })
                })
                .collect::<Vec<_>>()
        };
        let prefixes: Vec<u32> = words.chunks(n.min(6)).flat_map(ends).collect();
        let scans = gpu.inclusive_scan(&x, Sum).rows(n.min(6));
        expect("mapped scans of rows", scans.then(Widened {}).read()?, prefixes.iter().map(wide).collect())?;
    }
    counted(gpu)?;
    at_odd_places(gpu)?;
    of_other_sizes(gpu)
}

/// Outputs that are counted: none, some and all are kept, by a length of the host's and of the device's.
fn counted<B: Backend + Select + Unique>(gpu: &B) -> Result<(), Failure> {
    let (tripled, poison) = (Tripled { by: 3 }, 0xDEAD_BEEFu32);
    for n in SIZES.into_iter().chain([0]) {
        // Runs of up to four, of which those of the upper half are kept.
        let words: Vec<u32> = (0..n as u32).map(|i| (i / 4).wrapping_mul(2_654_435_761)).collect();
        let upper = |n: usize| words[..n].iter().copied().filter(|a| *a >> 31 == 1).collect::<Vec<_>>();
        let places = |n: usize| (0..n as u32).filter(|i| words[*i as usize] >> 31 == 1).collect::<Vec<_>>();
        let runs = |n: usize| {
            let mut runs = words[..n].to_vec();
            runs.dedup();
            runs
        };
        let x = gpu.upload(&words)?;
        let kept = gpu.select(&x, UpperHalf).then(tripled).compact()?;
        expect("how many a mapped selection keeps", kept.count().read()?, vec![upper(n).len() as u32])?;
        expect("a mapped selection", kept.read()?, threefold(&upper(n)))?;
        let wide = |a: &u32| -> Two { (*a, a + 1).into() };
        let widened = gpu.select(&x, UpperHalf).then(Widened {}).read()?;
        expect("a widened selection", widened, upper(n).iter().map(wide).collect())?;
        let narrowed = gpu.unique(&x).then(Byte).read()?;
        expect("narrowed runs", narrowed, runs(n).iter().map(|a| *a as u8).collect())?;
        expect("mapped places", gpu.find_all(&x, UpperHalf).then(tripled).read()?, threefold(&places(n)))?;
        let flags = gpu.upload(&words.iter().map(|a| (a >> 31) as u8).collect::<Vec<_>>())?;
        let flagged = gpu.select_flagged(x.mapped(tripled), &flags).then(tripled).read()?;
        expect("a mapped selection of a view by flags", flagged, threefold(&threefold(&upper(n))))?;

        // What lies behind stays, at a place that kernels cannot take four words of at once.
        let (out, count) = (gpu.upload(&vec![poison; n + 1])?, gpu.alloc(1)?);
        let (place, some) = (out.slice(1..)?, n / 3);
        let length = gpu.upload(&[some as u32])?;
        let fewer = gpu.select(&x, UpperHalf).len_on_device(&length).then(tripled).count_to(&count);
        fewer.to(&place).run()?;
        let left = |kept: &[u32]| [threefold(kept), vec![poison; n - kept.len()]].concat();
        expect("a mapped selection of as many as a word says", place.read()?, left(&upper(some)))?;
        expect("how many those are", count.read()?, vec![upper(some).len() as u32])?;
        out.write(&vec![poison; n + 1])?;
        let runs_of = gpu.unique(&x).then(tripled).count_to(&count).to(&place).up_to(n).prepare()?;
        for some in [n, n / 2, 0] {
            out.write(&vec![poison; n + 1])?;
            runs_of.run_n(some)?;
            expect("mapped runs of some", place.read()?, left(&runs(some)))?;
            expect("how many there are", count.read()?, vec![runs(some).len() as u32])?;
        }
    }
    let x = gpu.upload(&[1u32 << 31, 1])?;
    let inside = gpu.select(&x, UpperHalf).then(tripled).to(&x).run().err().map(|error| error.to_string());
    expect("a mapped selection in place", inside.is_some_and(|why| why.contains("two spans")), true)
}

/// Places and single keys.
fn of_places<B: Backend + Sort + TopK>(gpu: &B, words: &[u32]) -> Result<(), Failure> {
    let (x, tripled, width) = (gpu.upload(words)?, Tripled { by: 3 }, words.len().min(6));
    let mut places: Vec<u32> = (0..words.len() as u32).collect();
    places.sort_by_key(|&place| words[place as usize]);
    expect("mapped places", gpu.argsort(&x).then(tripled).read()?, threefold(&places))?;
    let first = gpu.top_k(&x, 1).smallest().indices();
    expect("a mapped index", first.then(tripled).read()?, threefold(&places[..1]))?;
    let middle = words[places[words.len() / 2] as usize];
    expect("a mapped median", gpu.nth_element(&x, words.len() / 2).then(tripled).read()?, threefold(&[middle]))?;
    let least: Vec<u32> = words.chunks(width).map(|row| row.iter().copied().min().unwrap_or(0)).collect();
    let of_rows = gpu.nth_element(&x, 0).rows(width);
    expect("mapped keys of rows", of_rows.then(tripled).read()?, threefold(&least))
}

/// Outputs that begin in the middle of what kernels load at once, of more than one tile, and of no elements.
fn at_odd_places<B: Backend + Reduce + Histogram + TopK>(gpu: &B) -> Result<(), Failure> {
    let (n, bins, tripled) = (40_000, 20_001, Tripled { by: 3 });
    let words: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) % bins as u32).collect();
    let (x, out) = (gpu.upload(&words)?, gpu.alloc::<u32>(n + 1)?);
    let mut counts = vec![0u32; bins];
    words.iter().for_each(|a| counts[*a as usize] += 3);
    let place = out.slice(1..bins + 1)?;
    gpu.histogram(&x, bins).then(tripled).to(&place).run()?;
    expect("a mapped histogram at an odd place", place.read()?, counts)?;
    let place = out.slice(1..n / 2 + 1)?;
    gpu.reduce(&x, Sum).rows(2).then(tripled).to(&place).run()?;
    let sums = words.chunks(2).map(|row| 3 * (row[0] + row[1])).collect();
    expect("mapped totals at an odd place", place.read()?, sums)?;
    let mut ordered = words.clone();
    ordered.sort_unstable_by(|a, b| b.cmp(a));
    let place = out.slice(1..12_346)?;
    gpu.top_k(&x, 12_345).then(tripled).to(&place).run()?;
    expect("a mapped top_k at an odd place", place.read()?, ordered[..12_345].iter().map(|a| 3 * a).collect())?;
    let none = gpu.reduce(&x, Sum).segments(&gpu.upload(&[0u32])?).then(tripled);
    expect("mapped totals of no segments", none.read()?, vec![])
}

/// For fewer elements than they were planned for, and for as many as a word on the device says.
fn of_other_sizes<B: Backend + Scan + Reduce + Sort + Histogram + TopK>(gpu: &B) -> Result<(), Failure> {
    let words: Vec<u32> = (0..5000).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 24).collect();
    let (x, n) = (gpu.upload(&words)?, gpu.upload(&[777u32])?);
    let (out, counts) = (gpu.upload(&vec![7u32; words.len()])?, gpu.alloc(256)?);
    let tripled = Tripled { by: 3 };
    let sort = gpu.sort(&x).then(tripled).to(&out).up_to(words.len()).prepare()?;
    let histogram = gpu.histogram(&x, 256).then(tripled).to(&counts).up_to(words.len()).prepare()?;
    let (prefixes, total) = (gpu.alloc(words.len())?, gpu.alloc(1)?);
    let scan = gpu.inclusive_scan(&x, Sum).then(tripled).to(&prefixes).up_to(words.len()).prepare()?;
    let reduce = gpu.reduce(&x, Sum).then(tripled).to(&total).up_to(words.len()).prepare()?;
    let wanted = |n: usize| {
        let (mut ordered, mut counts) = (words[..n].to_vec(), vec![0u32; 256]);
        ordered.sort_unstable();
        ordered.iter().for_each(|a| counts[*a as usize] += 3);
        (ordered.iter().map(|a| a * 3).collect::<Vec<_>>(), counts)
    };
    for n in [0, 1, 777, 5000] {
        sort.run_n(n)?;
        histogram.run_n(n)?;
        let (ordered, counted) = wanted(n);
        expect("a mapped sort of some", out.slice(..n)?.read()?, ordered)?;
        expect("a mapped histogram of some", counts.read()?, counted)?;
        prefixes.write(&vec![7; words.len()])?;
        scan.run_n(n)?;
        let sums = oracle::inclusive_scan(&Sum, 0, &words[..n]);
        let behind = vec![7; words.len() - n];
        expect("a mapped scan of some", prefixes.read()?, [threefold(&sums), behind].concat())?;
        reduce.run_n(n)?;
        expect("a mapped total of some", total.read()?, threefold(&[words[..n].iter().sum()]))?;
    }
    out.write(&vec![7u32; words.len()])?;
    gpu.sort(&x).len_on_device(&n).then(tripled).to(&out).run()?;
    gpu.histogram(&x, 256).len_on_device(&n).then(tripled).to(&counts).run()?;
    let few = gpu.upload(&[7u32; 20])?;
    gpu.top_k(&x, 20).len_on_device(&gpu.upload(&[3u32])?).then(tripled).to(&few).run()?;
    let mut best = words[..3].to_vec();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let behind = best.iter().map(|a| a * 3).chain([7; 17]).collect();
    expect("a mapped top_k of fewer keys than it takes", few.read()?, behind)?;
    let (ordered, counted) = wanted(777);
    expect("a mapped sort of as many as a word says", out.slice(..777)?.read()?, ordered)?;
    expect("what lies behind it", out.slice(777..)?.read()?, vec![7u32; words.len() - 777])?;
    expect("a mapped histogram of as many", counts.read()?, counted)?;
    let none = gpu.alloc::<u32>(0)?;
    expect("a mapped histogram of none", gpu.histogram(&none, 3).then(tripled).read()?, vec![0; 3])?;
    expect("a mapped sort of none", gpu.sort(&none).then(tripled).read()?, vec![])?;
    let inside = gpu.sort(&x).then(tripled).to(&x).run().err().map(|error| error.to_string());
    expect("a mapped sort in place", inside.is_some_and(|why| why.contains("two spans")), true)
}
