//! Every builder, and every way in which one ends.

mod firsts;
mod mapped;
mod moving;
mod offsets;
mod parts;
mod searches;
mod sorts;
mod views;

use std::borrow::Cow;
use std::fmt::Debug;

use trifold_core::{
    Backend, Buffer, Compacted, EvenBins, Histogram, Map, Monoid, NO_PLACE, NonZero, Predicate, Reduce, ReduceByKey,
    Scan, Select, Sort, Sum, Summary, Transfer, Unique, UpperHalf, iota,
};
use trifold_cpu::oracle;

use crate::case::Failure;
use crate::maps::{Byte, Integer, Least, PlaceOf, Tripled, Unsigned, Widened};
use crate::operators::{Above, Bent};

fn expect<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Result<(), Failure> {
    match found == wanted {
        true => Ok(()),
        false => Err(Failure::Wrong(format!("{what} gave {found:?}, not {wanted:?}"))),
    }
}

const N: usize = 1000;

/// As programs call them, on a device of whatever type.
pub(crate) fn builders<B: Backend + Scan + Reduce + Sort>(gpu: &B) -> Result<(), Failure> {
    let input: Vec<u32> = (0..N as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let x = gpu.upload(&input)?;
    scans_and_reductions(gpu, &input, &x)?;
    sorts::sorts(gpu, &input, &x)?;
    sorts::top_ks(gpu, &input, &x)?;
    sorts::sorts_of_segments(gpu, &input, &x)?;
    sorts::top_ks_of_segments(gpu, &input, &x)?;
    firsts::unsorted(gpu, &input, &x)?;
    firsts::nth_elements(gpu, &input, &x)?;
    firsts::extremes(gpu, &input, &x)?;
    selections(gpu)?;
    parts::parts(gpu)?;
    runs(gpu, &input, &x)?;
    neighbours(gpu, &input)?;
    segments(gpu, &input, &x)?;
    offsets::named(gpu, &x)?;
    offsets::by_chance(gpu)?;
    offsets::edges(gpu)?;
    moving::moving(gpu)?;
    sizes(gpu, &input, &x)?;
    lengths(gpu, &input, &x)?;
    again(gpu, &input, &x)?;
    summaries(gpu)?;
    searches::searches(gpu)?;
    views::counts(gpu)?;
    views::refused(gpu, &x)?;
    views::summaries(gpu)?;
    conversions(gpu)?;
    mapped::mapped(gpu)?;
    match x.slice(1..N + 1) {
        Err(error) => expect("a slice past the end", error.to_string().contains("1..1001"), true)?,
        Ok(_) => return Err(Failure::Wrong("a slice reached past the end".into())),
    }
    expect("the input", x.read()?, input)
}

fn scans_and_reductions<B: Backend + Scan + Reduce>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let (to, one) = (gpu.alloc(N)?, gpu.alloc(1)?);
    let call = gpu.exclusive_scan(x, Sum).starting_from(5).to(&to).prepare()?;
    call.run()?;
    call.run()?;
    expect("a prepared scan", to.read()?, oracle::exclusive_scan(&Sum, 5, input))?;
    gpu.inclusive_scan(x, Sum).to(&to).run()?;
    expect("a scan to a buffer", to.read()?, oracle::inclusive_scan(&Sum, 0, input))?;
    let copied = gpu.copy(x).collect()?;
    gpu.inclusive_scan(&copied, Bent { by: 3 }).in_place().run()?;
    expect("a scan in place", copied.read()?, oracle::inclusive_scan(&Bent { by: 3 }, 0, input))?;

    let mut recorder = gpu.record()?;
    gpu.reduce(x, Sum).to(&one).encode(&mut recorder)?;
    gpu.inclusive_scan(&one, Sum).starting_from(1).in_place().encode(&mut recorder)?;
    gpu.submit(recorder)?;
    let total = oracle::reduce(&Sum, 0, input);
    expect("a recorded reduction", one.read()?, vec![total + 1])?;
    expect("a total", gpu.reduce(x, Sum).starting_from(9).value()?, total + 9)?;
    expect("a part's total", gpu.reduce(x.slice(10..20)?, Sum).value()?, input[10..20].iter().sum())
}

/// Reductions that bring their operator, results that are mapped, and views of what was counted on the device.
fn summaries<B: Backend + Scan + Reduce>(gpu: &B) -> Result<(), Failure> {
    for n in [1, 7, 1000, 70_001] {
        // Each is there several times.
        let floats: Vec<f32> = (0..n).map(|i| (i * 37 % 101) as f32 / 4.0 - 7.0).collect();
        let words: Vec<u32> = floats.iter().map(|x| (x * 4.0 + 30.0) as u32).collect();
        let (x, y) = (gpu.upload(&floats)?, gpu.upload(&words)?);
        let place = |is: &dyn Fn(f32, f32) -> bool| {
            (1..n).fold(0, |best, i| if is(floats[i], floats[best]) { i } else { best }) as u32
        };
        expect("arg_min", gpu.arg_min(&x).value()?, place(&|a, b| a < b))?;
        expect("arg_max", gpu.arg_max(&x).value()?, place(&|a, b| a > b))?;
        expect("arg_min of bytes", gpu.arg_min(y.mapped(Byte)).value()?, place(&|a, b| a < b))?;
        let both = gpu.min_max(&x).value()?;
        let ends = (floats.iter().copied().fold(9e9, f32::min), floats.iter().copied().fold(-9e9, f32::max));
        expect("min_max", (both.min, both.max), ends)?;
        expect("dot", gpu.dot(&y, &y).value()?, words.iter().map(|word| word * word).sum())?;
        let held = words.iter().filter(|word| **word >= 50).count() as u32;
        expect("count_if", gpu.count_if(&y, Least { least: 50 }).value()?, held)?;
        let mean = floats.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
        let squares = floats.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n as f64;
        let length = floats.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
        near("mean", gpu.mean(&x).value()?, mean)?;
        near("variance", gpu.variance(&x).value()?, squares)?;
        near("norm", gpu.norm(&x).value()?, length)?;
        let mapped = gpu.inclusive_scan(&y, Sum).then(Tripled { by: 3 }).read()?;
        let sums = oracle::inclusive_scan(&Sum, 0, &words);
        expect("a mapped scan", mapped, sums.iter().map(|sum| sum * 3).collect())?;
        let long = gpu.exclusive_scan(y.slice(1..)?, Sum).then(Widened).read()?;
        expect(
            "a widened scan",
            long,
            oracle::exclusive_scan(&Sum, 0, &words[1..]).iter().map(|&s| (s, s + 1).into()).collect(),
        )?;
    }
    // Integers that lie close together, far from 0. Each 16 of them have this variance.
    let far: Vec<f32> = (0..4096u16).map(|i| 1e7 + f32::from(i % 16)).collect();
    near("variance of numbers far from 0", gpu.variance(&gpu.upload(&far)?).value()?, 21.25)?;
    let rows = gpu.upload(&[4u32, 2, 2, 9, 9, 1])?;
    expect("arg_min of rows", gpu.arg_min(&rows).rows(3).read()?, vec![1, 2])?;
    expect("arg_max of rows", gpu.arg_max(&rows).rows(3).read()?, vec![0, 0])?;
    let offsets = gpu.upload(&[0u32, 1, 1, 6])?;
    expect("arg_max of segments", gpu.arg_max(&rows).segments(&offsets).read()?, vec![0, NO_PLACE, 2])?;
    let none = gpu.alloc::<f32>(0)?;
    expect("arg_min of none", gpu.arg_min(&none).value()?, u32::MAX)?;
    expect("norm of none", gpu.norm(&none).value()?, 0.0)?;
    let (x, room, n) = (gpu.upload(&[5.0f32, 2.0, 1.0])?, gpu.alloc::<u32>(3)?, gpu.upload(&[2u32])?);
    let first = Compacted::new(x, n);
    expect("a mean of some", gpu.mean(&first).value()?, 3.5)?;
    expect("places of some", gpu.copy(first.mapped_indexed(PlaceOf)).compact()?.read()?, vec![0, 1])?;
    refuse("a view in place", gpu.inclusive_scan(room.mapped(Tripled { by: 1 }), Sum).in_place().run(), "no memory")?;
    refuse("its own output", gpu.copy(room.mapped(Tripled { by: 1 })).to(&room).run(), "overlap")?;
    refuse("unlike lengths", gpu.dot(&room, &gpu.alloc(2)?).value().map(drop), "3 and 2 elements")?;
    let places = gpu.upload(&[0u32, 2, 3, 9])?;
    expect("clamped places", gpu.copy(room.gathered(&places)).read()?.len(), 4)?;
    let checked = room.gathered(&places).checked(gpu).map(drop);
    refuse("an index past the end", checked, "index 2 is 3, of 3 elements")?;
    refuse("none to gather", gpu.copy(gpu.alloc::<u32>(0)?.gathered(&room)).read().map(drop), "gathered from none")
}

/// Floats as integers, those that are none or out of range too, and as bins.
fn conversions<B: Backend>(gpu: &B) -> Result<(), Failure> {
    let ends = [f32::NAN, -f32::NAN, f32::INFINITY, f32::MAX, 4294967296.0, 4294967040.0, 2147483648.0, 2147483520.0];
    let others = [1e-40, 0.0, 0.25, 0.5, 0.999_999_94, 1.0, 1.5, 16777217.0];
    let floats: Vec<f32> = ends.iter().chain(&others).flat_map(|&x| [x, -x]).collect();
    let x = gpu.upload(&floats)?;
    let unsigned: Vec<u32> = floats.iter().map(|&x| x as u32).collect();
    expect("floats as u32", gpu.copy(x.mapped(Unsigned)).read()?, unsigned)?;
    let signed: Vec<i32> = floats.iter().map(|&x| x as i32).collect();
    expect("floats as i32", gpu.copy(x.mapped(Integer)).read()?, signed)?;
    let even = EvenBins::over(-1.0, 1.0, 4);
    let mut counts = vec![0; 4];
    for bin in floats.iter().map(|&x| even.map(x) as usize).filter(|bin| *bin < 4) {
        counts[bin] += 1;
    }
    expect("even bins", gpu.histogram(x.mapped(even), 4).read()?, counts)?;
    // WGSL may take a subnormal number for 0, which is in a bin where the number below it is in none.
    let floats: Vec<f32> = floats.into_iter().filter(|x| !x.is_subnormal()).collect();
    let x = gpu.upload(&floats)?;
    let ranges =
        [(-1.0, 1.0), (f32::MIN, f32::MAX), (0.0, f32::MAX), (0.0, 1e-30), (f32::NEG_INFINITY, 0.0), (1.0, 0.0)];
    for ((low, high), bins) in ranges.into_iter().flat_map(|range| [1, 3].map(|bins| (range, bins))) {
        let place = |x: f32| (f64::from(x) - f64::from(low)) / (f64::from(high) - f64::from(low)) * bins as f64;
        let is_in = |x: f32| low.is_finite() && x >= low && x < high;
        // What is in none of them is in none of more bins either.
        let mut counts = vec![0; 6];
        floats.iter().filter(|x| is_in(**x)).for_each(|&x| counts[place(x) as usize] += 1);
        let even = EvenBins::over(low, high, bins);
        expect(&format!("{even:?}"), gpu.histogram(x.mapped(even), 6).read()?, counts)?;
    }
    let tiny = gpu.upload(&[0.1e-30f32, 0.3e-30, 0.6e-30, 0.9e-30])?;
    let even = tiny.mapped(EvenBins::over(0.0, 1e-30, 4));
    expect("bins of tiny numbers", gpu.histogram(even, 4).read()?, vec![1; 4])?;
    // No bins, and ends that are no range of f32.
    for even in [EvenBins::over(-1.0, 1.0, 0), EvenBins::over(0.0, f64::MAX, 4), EvenBins::over(f64::NAN, 1.0, 4)] {
        expect(&format!("{even:?}"), gpu.histogram(x.mapped(even), 4).read()?, vec![0; 4])?;
    }
    Ok(())
}

/// As many digits as sums of so many of these floats have.
fn near(what: &str, found: f32, wanted: f64) -> Result<(), Failure> {
    expect(what, (f64::from(found) - wanted).abs() <= 1e-4 * (1.0 + wanted.abs()), true)
        .map_err(|_| Failure::Wrong(format!("{what} gave {found}, not {wanted}")))
}

fn selections<B: Backend>(gpu: &B) -> Result<(), Failure> {
    let input: Vec<f32> = (0..N).map(|i| (i * 37 % N) as f32 / N as f32).collect();
    let x = gpu.upload(&input)?;
    let (to, other, one) = (gpu.alloc(N)?, gpu.alloc(N)?, gpu.alloc(1)?);
    for limit in [0.25, 0.75] {
        let (kept, rest): (Vec<f32>, Vec<f32>) = input.iter().partition(|v| **v > limit);
        let above = Above { limit };
        expect("a selection", gpu.select(&x, above).read()?, kept.clone())?;
        let compacted = gpu.select(&x, above).compact()?;
        expect("a compacted selection", (compacted.len()?, compacted.read()?), (kept.len(), kept.clone()))?;
        expect("a partition", gpu.partition(&x, above).read()?, (kept.clone(), rest.clone()))?;
        gpu.partition(&x, above).count_to(&one).to((&to, &other)).run()?;
        expect("a partition's count", one.read()?, vec![kept.len() as u32])?;
        expect("a partition's rest", other.slice(..rest.len())?.read()?, rest.clone())?;
        gpu.partition(&x, above).to_one(&to).run()?;
        expect("a partition of one buffer", to.read()?, [&kept[..], &rest].concat())?;
        let own = gpu.upload(&input)?;
        gpu.select(&own, above).count_to(&one).in_place().run()?;
        expect("a selection in place", own.slice(..kept.len())?.read()?, kept.clone())?;
        expect("a selection's count in place", one.read()?, vec![kept.len() as u32])?;
        expect("what is behind it", own.slice(kept.len()..)?.read()?, input[kept.len()..].to_vec())?;
        let own = gpu.upload(&input)?;
        gpu.partition(&own, above).in_place().run()?;
        expect("a partition in place", own.read()?, [kept, rest].concat())?;
    }
    // The last class is past the parts, and counts as the last of them.
    for parts in [1, 3, 300] {
        let class = |v: f32| (v * 3.0) as usize * parts / 2;
        let classes = gpu.upload(&input.iter().map(|v| class(*v) as u32).collect::<Vec<_>>())?;
        let of = |n: usize, part: usize| input[..n].iter().copied().filter(move |v| class(*v).min(parts - 1) == part);
        let all = |n: usize| (0..parts).map(|part| of(n, part).collect()).collect::<Vec<Vec<f32>>>();
        expect("parts", gpu.partition_by(&x, &classes, parts).read()?, all(N))?;
        let half = gpu.upload(&[N as u32 / 2])?;
        expect("parts of half", gpu.partition_by(&x, &classes, parts).len_on_device(&half).read()?, all(N / 2))?;
        gpu.partition_by(&x, &classes, parts).to(&to).run()?;
        expect("parts in one buffer", to.read()?, all(N).concat())?;
    }
    views::parts(gpu, &input)?;
    let none = gpu.partition_by(&x, x.mapped(EvenBins::over(0.0, 1.0, 2)), 0).read();
    refuse("into no parts", none.map(drop), "a partition into 0 parts")
}

fn neighbours<B: Backend + Scan>(gpu: &B, input: &[u32]) -> Result<(), Failure> {
    let short: Vec<u32> = input.iter().map(|v| v % 3).collect();
    let (x, n) = (gpu.upload(&short)?, gpu.upload(&[N as u32 / 2])?);
    let firsts: Vec<usize> = (0..N).filter(|&i| i == 0 || short[i] != short[i - 1]).collect();
    let of_firsts: Vec<u32> = firsts.iter().map(|&i| short[i]).collect();
    let half = firsts.iter().filter(|&&i| i < N / 2).count();
    expect("unique", gpu.unique(&x).read()?, of_firsts.clone())?;
    expect("unique of half", gpu.unique(&x).len_on_device(&n).read()?, of_firsts[..half].to_vec())?;
    let indices: Vec<u32> = (0..N as u32).collect();
    // Those of 128 bits differ in their upper half alone, or in their lower one.
    let wide = |v: u32| u128::from(v) << (if v.is_multiple_of(2) { 90 } else { 3 });
    let wides: Vec<u128> = short.iter().map(|v| wide(*v)).collect();
    let firsts_of_wide = of_firsts.iter().map(|v| wide(*v)).collect();
    expect("unique of 128 bits", gpu.unique(&gpu.upload(&wides)?).read()?, firsts_of_wide)?;
    let by_key = gpu.unique_by_key(&x, iota(N)).read()?;
    expect("unique by key", by_key, (of_firsts, firsts.iter().map(|&i| i as u32).collect()))?;
    let set = |v: &u32| short[*v as usize] != 0;
    let kept: Vec<u32> = indices.iter().copied().filter(set).collect();
    expect("flagged", gpu.select_flagged(&gpu.upload(&indices)?, &x).read()?, kept.clone())?;
    expect("found", gpu.find_all(&x, NonZero).read()?, kept)?;

    let counts = (0..4).map(|bin| short.iter().filter(|&&v| v == bin).count() as u32).collect::<Vec<_>>();
    expect("a histogram", gpu.histogram(&x, 4).read()?, counts)?;
    let places = gpu.copy(iota(N)).collect()?;
    let places_of = |bin: u32| (0..).zip(&short).filter(|(_, v)| **v == bin).map(|(place, _)| place).sum::<u32>();
    let sums = gpu.histogram(&x, 4).weighted(&places).read()?;
    expect("a weighted histogram", sums, (0..4).map(places_of).collect())?;
    let unlike = gpu.histogram(&x, 4).weighted(places.slice(1..)?).read().map(drop);
    refuse("other weights than elements", unlike, "weights; bring as many of each")?;
    refuse("no bins", gpu.histogram(&x, 0).read().map(drop), "a histogram of 0 bins")?;
    let no_sums = gpu.histogram(&x, 0).weighted(&places).read().map(drop);
    refuse("no bins of weights", no_sums, "a histogram of 0 bins")?;
    let (sums, total) = (gpu.alloc(N)?, gpu.alloc(1)?);
    gpu.inclusive_scan(&x, Sum).total_to(&total).to(&sums).run()?;
    expect("a total", total.read()?, vec![short.iter().sum()])?;
    let tripled = x.mapped(Tripled { by: 3 });
    gpu.exclusive_scan(tripled, Sum).total_to(&total).to(&gpu.alloc(N)?).run()?;
    expect("a total of a view", total.read()?, vec![3 * short.iter().sum::<u32>()])?;
    expect("differences of sums", gpu.adjacent_difference(&sums).read()?, short.clone())?;
    let differences = gpu.adjacent_difference(&sums).len_on_device(&n).read()?;
    expect("differences of half", differences, short[..N / 2].to_vec())?;
    let bytes = gpu.upload(&[250u8, 5, 5, 0])?;
    expect("differences of bytes", gpu.adjacent_difference(&bytes).read()?, vec![250, 11, 0, 251])?;
    let none = gpu.alloc::<u32>(0)?;
    expect("differences of nothing", gpu.adjacent_difference(&none).read()?, vec![])
}

fn segments<B: Backend + Scan + Reduce>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let totals = |width| input.chunks(width).map(|row| row.iter().sum::<u32>()).collect::<Vec<_>>();
    expect("rows", gpu.reduce(x, Sum).rows(8).read()?, totals(8))?;
    let offsets: Vec<u64> = (0..=N as u64 / 8).map(|s| 8 * s).collect();
    let wide = gpu.upload(&offsets)?;
    let to = gpu.alloc(N / 8)?;
    let call = gpu.reduce(x.mapped(Tripled { by: 3 }), Sum).segments(&wide).to(&to).prepare()?;
    call.run()?;
    expect("segments of a view", to.read()?, totals(8).iter().map(|total| total.wrapping_mul(3)).collect())?;
    let scanned = |width| input.chunks(width).flat_map(|row| oracle::exclusive_scan(&Sum, 5, row)).collect::<Vec<_>>();
    let copied = gpu.copy(x).collect()?;
    gpu.exclusive_scan(&copied, Sum).starting_from(5).segments(&wide).in_place().run()?;
    expect("a scan of segments in place", copied.read()?, scanned(8))?;

    // Where the device says how many there are, the last row is short.
    let n = gpu.upload(&[13u32])?;
    let sums = gpu.exclusive_scan(x, Sum).rows(8).starting_from(5).len_on_device(&n).compact()?;
    expect("rows that end early", sums.read()?, scanned(8)[..13].to_vec())?;
    let short = [input[..8].iter().sum(), input[8..13].iter().sum::<u32>()];
    to.write(&[7; N / 8])?;
    gpu.reduce(x, Sum).rows(8).len_on_device(&n).to(&to).run()?;
    expect("totals of rows that end early", to.slice(..3)?.read()?, [&short[..], &[7]].concat())?;
    expect("the same, read", gpu.reduce(x, Sum).rows(8).len_on_device(&n).read()?, short.to_vec())?;

    // Keys of a view too.
    let keys: Vec<u32> = (0..N as u32).map(|i| i / 8).collect();
    let keys = gpu.upload(&keys)?;
    let by_key = gpu.exclusive_scan_by_key(keys.mapped(Tripled { by: 3 }), x, Sum).starting_from(5).read()?;
    expect("a scan by key", by_key, scanned(8))?;

    let none = gpu.alloc::<u32>(0)?;
    refuse("no offsets", gpu.reduce(x, Sum).segments(&none).collect().map(drop), "no offsets")?;
    refuse("rows of nothing", gpu.reduce(x, Sum).rows(0).to(&to).run(), "rows of 0 elements")?;
    refuse(
        "rows that do not divide",
        gpu.inclusive_scan(x, Sum).rows(7).read().map(drop),
        "7 elements do not divide 1000",
    )?;
    let one = gpu.alloc(1)?;
    let total = gpu.inclusive_scan(x, Sum).total_to(&one).rows(8).read().map(drop);
    refuse("segments with the total of all", total, "reduce its segments")?;
    let empty = gpu.reduce(&none, Sum).starting_from(4).segments(&gpu.upload(&[0u32; 4])?).read()?;
    expect("segments of nothing", empty, vec![4; 3])
}

fn runs<B: Backend>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let keys = gpu.upload(&(0..N as u32).map(|i| i / 7).collect::<Vec<_>>())?;
    let own: Vec<u32> = (0..N.div_ceil(7) as u32).collect();
    let sums: Vec<u32> = input.chunks(7).map(|run| run.iter().sum()).collect();
    expect("a reduction by key", gpu.reduce_by_key(&keys, x, Sum).read()?, (own.clone(), sums.clone()))?;
    let (_, compacted) = gpu.reduce_by_key(&keys, x, Sum).compact()?;
    expect("compacted totals", (compacted.count().read()?, compacted.read()?), (vec![own.len() as u32], sums))?;
    let (to, lengths) = (gpu.alloc(N)?, gpu.alloc(N)?);
    gpu.run_length_encode(&keys).to((&to, &lengths)).run()?;
    let wanted: Vec<u32> = input.chunks(7).map(|run| run.len() as u32).collect();
    expect("run lengths", lengths.slice(..own.len())?.read()?, wanted)?;
    // In place of keys that begin anywhere, with values that a view makes.
    let keys = gpu.upload(&[&[9], &keys.read()?[..]].concat())?.slice(1..)?;
    gpu.unique_by_key(&keys, x.mapped(Tripled { by: 3 })).to((&keys, &lengths)).run()?;
    expect("the firsts' keys, in place", keys.slice(..own.len())?.read()?, own.clone())?;
    let firsts: Vec<u32> = input.chunks(7).map(|run| run[0] * 3).collect();
    expect("the firsts of a view", lengths.slice(..own.len())?.read()?, firsts)
}

/// Two runs of one call in one recorder, each with a size of its own.
fn sizes<B: Backend + Scan + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let (keys, to, kept) = (gpu.copy(x).collect()?, gpu.upload(&[7; N])?, gpu.alloc(N)?);
    let scan = gpu.inclusive_scan(x, Sum).to(&to).up_to(N).prepare()?;
    let sort = gpu.sort(&keys).in_place().up_to(900).prepare()?;
    let keep = gpu.copy(&to).to(&kept).prepare()?;
    let mut recorder = gpu.record()?;
    scan.encode_n(&mut recorder, 700)?;
    keep.encode(&mut recorder)?;
    sort.encode_n(&mut recorder, 800)?;
    scan.encode_n(&mut recorder, 3)?;
    sort.encode_n(&mut recorder, 0)?;
    gpu.submit(recorder)?;
    let sums = oracle::inclusive_scan(&Sum, 0, input);
    expect("a scan of the first 700", kept.read()?, [&sums[..700], &[7; 300]].concat())?;
    expect("a scan of the first 3 after that", to.read()?, kept.read()?)?;
    let (mut first, rest) = (input[..800].to_vec(), &input[800..]);
    first.sort_unstable();
    expect("a sort of the first 800", keys.read()?, [&first, rest].concat())?;
    scan.run()?;
    expect("a scan of the capacity", to.read()?, sums)?;
    refuse("a run past the capacity", sort.run_n(901), "a run of 901 elements, by a call for up to 900")?;
    refuse("a run of other than what was prepared", keep.run_n(5), "a run of 5 elements, by a call for 1000")?;
    let past = gpu.sort(x).in_place().up_to(N + 1).prepare().map(drop);
    refuse("a capacity past the buffer", past, "the input has 1000 elements, and the call is for up to 1001")
}

/// Calls whose number of elements is on the device, one behind the other.
fn lengths<B: Backend + Scan + Reduce + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let high = UpperHalf;
    let floats: Vec<f32> = input.iter().map(|v| *v as f32 / 4096.0).collect();
    let y = gpu.upload(&floats)?;
    let mut kept: Vec<f32> = floats.iter().copied().filter(|v| *v >= 0.5).collect();
    let alive = gpu.select(&y, high).compact()?;
    let n = alive.count();
    let copied = gpu.copy(&alive).compact()?;
    expect("a copy of what was kept", copied.read()?, kept.clone())?;
    expect("of what was kept, what is kept", gpu.select(&alive, high).read()?, kept.clone())?;
    expect("a partition of it", gpu.partition(&alive, Above { limit: 2.0 }).read()?, (vec![], kept.clone()))?;
    expect("its runs", gpu.run_length_encode(&alive).read()?.1.iter().sum::<u32>(), kept.len() as u32)?;
    kept.sort_unstable_by(f32::total_cmp);
    expect("it sorted", gpu.sort(&alive).read()?, kept.clone())?;
    gpu.sort(&alive).in_place().prepare()?.run()?;
    expect("it sorted in place", alive.read()?, kept.clone())?;

    let (first, k) = (&input[..kept.len()], kept.len());
    let total = oracle::reduce(&Sum, 0, first);
    expect("a sum of as many", gpu.reduce(x, Sum).len_on_device(n).value()?, total)?;
    expect(
        "a scan of as many",
        gpu.inclusive_scan(x, Sum).len_on_device(n).read()?,
        oracle::inclusive_scan(&Sum, 0, first),
    )?;
    let (keys, values) = gpu.sort(x).with(x).len_on_device(n).read()?;
    expect("pairs of as many", (keys.is_sorted(), keys.len(), values == keys), (true, k, true))?;
    let totals = gpu.reduce_by_key(x, &Compacted::new(x.clone(), n.clone()), Sum).read()?;
    expect("a reduction by key of as many", totals.1.iter().sum::<u32>(), total)?;

    // More than there are is as many as there are.
    let one = gpu.upload(&[u32::MAX, 7])?;
    let (past, zero) = (one.slice(..1)?, gpu.upload(&[0])?);
    expect("a sum past the end", gpu.reduce(x, Sum).len_on_device(&past).value()?, oracle::reduce(&Sum, 0, input))?;
    expect("a sum of nothing", gpu.reduce(x, Sum).starting_from(3).len_on_device(&zero).value()?, 3)?;
    let to = gpu.upload(&[7; N])?;
    gpu.inclusive_scan(x, Sum).len_on_device(&past).to(&to).up_to(10).run()?;
    let sums = oracle::inclusive_scan(&Sum, 0, &input[..10]);
    expect("a scan past its capacity", to.read()?, [&sums[..], &[7; N - 10]].concat())?;

    let call = gpu.inclusive_scan(x, Sum).len_on_device(&zero).to(&to).prepare()?;
    refuse("a run of the host's n", call.run_n(5), "number of elements is on the device")?;
    let collected = gpu.sort(x).len_on_device(&zero).collect().map(drop);
    refuse("a buffer of nobody knows how many", collected, "use compact()")?;
    let two = gpu.sort(x).len_on_device(&one).in_place().run();
    refuse("a length of two words", two, "the length has 2 elements")?;
    let other = gpu.select(&y, high).compact()?;
    let torn = gpu.sort(&alive).with(&other).in_place().run();
    refuse("pairs with two numbers of elements", torn, "two words on the device")?;
    gpu.sort(&alive).with(other.room()).in_place().run()?;
    let same = gpu.select(x, Keep).len_on_device(&zero).count_to(&zero).to(&to).run();
    refuse("a count over the length", same, "overlap")
}

/// Calls that run once, again and again: those of one plan share states, and all of them scratch. One of each is recorded before, and runs behind
/// them.
fn again<B: Backend + Scan + Reduce + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let (late, keys) = (gpu.alloc(N)?, gpu.copy(x).collect()?);
    let mut recorder = gpu.record()?;
    gpu.inclusive_scan(x, Sum).to(&late).encode(&mut recorder)?;
    gpu.sort(&keys).in_place().encode(&mut recorder)?;
    for turn in 0..20 {
        let n = [N, 1, 700, 0, 999][turn % 5];
        let (part, own) = (x.slice(N - n..)?, &input[N - n..]);
        let mut sorted = own.to_vec();
        sorted.sort_unstable();
        expect("a scan again", gpu.inclusive_scan(&part, Sum).read()?, oracle::inclusive_scan(&Sum, 0, own))?;
        expect("a sort again", gpu.sort(&part).read()?, sorted.clone())?;
        expect("a sum again", gpu.reduce(&part, Sum).value()?, own.iter().sum())?;
        let bent = Bent { by: turn as u32 };
        expect("other numbers", gpu.reduce(&part, bent).value()?, oracle::reduce(&bent, bent.identity(), own))?;
        let (_, totals) = gpu.reduce_by_key(&gpu.sort(&part).collect()?, &part, Sum).read()?;
        expect("totals again", totals.iter().sum::<u32>(), own.iter().sum())?;
        expect("a selection again", gpu.select(&part, Keep).read()?, own.to_vec())?;
    }
    // The same memory each time, but for what is in it.
    let (one, sums) = (gpu.alloc(1)?, gpu.alloc(N)?);
    for turn in 0..3 {
        one.write(&[turn])?;
        gpu.reduce(x, Sum).starting_from(turn).to(&one).run()?;
        gpu.inclusive_scan(x, Bent { by: turn }).to(&sums).run()?;
        expect("a sum to the same place", one.read()?, vec![input.iter().sum::<u32>() + turn])?;
        let bent = oracle::inclusive_scan(&Bent { by: turn }, 0, input);
        expect("a scan to the same place", sums.read()?, bent)?;
    }
    let mut dropped = gpu.record()?;
    gpu.inclusive_scan(x, Sum).to(&sums).encode(&mut dropped)?;
    drop(dropped);
    gpu.inclusive_scan(x, Sum).to(&sums).run()?;
    expect("a scan behind a recorder that was dropped", sums.read()?, oracle::inclusive_scan(&Sum, 0, input))?;
    threads(gpu, input, x)?;
    gpu.submit(recorder)?;
    expect("what was recorded before", late.read()?, oracle::inclusive_scan(&Sum, 0, input))?;
    expect("keys sorted late", keys.read()?.is_sorted(), true)?;
    gpu.trim();
    expect("what is kept after a trim", gpu.memory().bytes, 0)?;
    expect("a sum after a trim", gpu.reduce(x, Sum).value()?, input.iter().sum())
}

/// Two threads run one call, and calls that run once, at a time.
fn threads<B: Backend + Scan + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let (keys, sums) = (gpu.copy(x).collect()?, gpu.alloc(N)?);
    let call = gpu.inclusive_scan(x, Sum).to(&sums).up_to(N).prepare()?;
    let each = || {
        (0..10).try_for_each(|turn| {
            call.run_n(N - turn)?;
            gpu.sort(&keys).in_place().run()?;
            call.run()
        })
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(each), scope.spawn(each)];
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    expect("a call of two threads", sums.read()?, oracle::inclusive_scan(&Sum, 0, input))?;
    expect("sorts of two threads", keys.read()?.is_sorted(), true)
}

/// Keeps all.
#[derive(Clone)]
struct Keep;

impl Predicate<u32> for Keep {
    fn text(&self) -> Cow<'static, str> {
        "fn keep(v: T) -> bool { return true; }".into()
    }

    fn keep(&self, _: u32) -> bool {
        true
    }
}

fn refuse(what: &str, result: trifold_core::Result<()>, words: &str) -> Result<(), Failure> {
    match result {
        Err(error) if error.to_string().contains(words) => Ok(()),
        Err(error) => Err(Failure::Wrong(format!("{what} gave `{error}`, not `{words}`"))),
        Ok(()) => Err(Failure::Wrong(format!("{what} passed"))),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_processors_own_type_has_them_too() {
        super::builders(&trifold_cpu::Cpu::with_threads(2).unwrap()).unwrap();
    }
}
