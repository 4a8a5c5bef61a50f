//! Views with counts on the device, calls that are refused, and the reductions that bring their operator, of other types.

use trifold_core::{
    Backend, Buffer, Compacted, Difference, EvenBins, Histogram, IntoInput, Map, Max, Min, Monoid, NonZero, Predicate,
    Rank, Reduce, Scalar, Scan, Select, Sort, Sum, Summary, TopK, Transfer, UpperHalf, View, for_computed, for_held,
    iota,
};

use super::{N, expect, refuse};
use crate::case::Failure;
use crate::maps::{Both, Remainder, Tripled};

/// Two views side by side, of which one says how many there are, or both.
pub(super) fn counts<B: Backend + Reduce + Sort>(gpu: &B) -> Result<(), Failure> {
    let (x, y) = (gpu.upload(&[5u32, 6, 7, 8])?, gpu.upload(&[10u32, 20, 30, 40])?);
    let (two, three) = (gpu.upload(&[2u32])?, gpu.upload(&[3u32])?);
    let (some, other) = (Compacted::new(x.clone(), two.clone()), Compacted::new(y.clone(), three.clone()));
    expect("the first has a count", gpu.dot(&some, &y).value()?, 170)?;
    expect("the second has a count", gpu.dot(&y, &some).value()?, 170)?;
    expect("both have the same", gpu.dot(&some, Compacted::new(y, two)).value()?, 170)?;
    let two_counts = "zipped views whose numbers of elements are two words on the device";
    refuse("two counts", gpu.dot(&some, &other).value().map(drop), two_counts)?;
    expect("two, of which one is left out", gpu.dot(&some, other.room()).value()?, 170)?;
    expect("two, and a third that counts", gpu.dot(&some, &other).len_on_device(&three).value()?, 380)?;
    let pairs = gpu.sort(&some).with(&other).read().map(drop);
    refuse("keys and values with two counts", pairs, "keys and values whose numbers of elements are two words")?;
    more_counts(gpu, &some, &other, &three)
}

/// Counts of second inputs, of what is searched, and of calls that have a word of their own.
fn more_counts<B: Backend + Reduce + Sort>(
    gpu: &B,
    some: &Compacted<u32, B>,
    other: &Compacted<u32, B>,
    three: &Buffer<u32, B>,
) -> Result<(), Failure> {
    let classes = gpu.upload(&[1u32, 0, 1, 0])?;
    let parts = gpu.partition_by(some, &classes, 2).len_on_device(three).read()?;
    expect("parts of which a third word counts", parts, vec![vec![6], vec![5, 7]])?;
    let torn = some.zipped(other).mapped(Both);
    let pairs = gpu.sort(&classes).with(&torn).len_on_device(three).read()?;
    expect("pairs of which a third word counts", pairs, (vec![0, 1, 1], vec![26, 15, 37]))?;
    let sums = gpu.sort(&torn).read().map(drop);
    refuse("keys with two counts", sums, "two words on the device")?;

    let count = gpu.upload(&[77u32])?;
    let kept = gpu.partition(&gpu.upload(&[0.9f32, 0.1, 0.5])?, UpperHalf).count_to(&count).read()?;
    expect("a partition that is read", kept, (vec![0.9, 0.5], vec![0.1]))?;
    expect("its count", count.read()?, vec![2])?;

    // All of the room is searched.
    let sorted = Compacted::new(gpu.upload(&[1u32, 5, 0])?, gpu.upload(&[2u32])?);
    let found = classes.lower_bounds(&sorted).checked(gpu).map(drop);
    refuse("disorder behind what counts", found, "element 2 of a sorted input is less")?;
    let none = Compacted::new(classes.clone(), gpu.upload(&[0u32])?);
    expect("the first key of none", gpu.nth_element(&none, 0).value()?, 0)
}

/// Elements, classes and places that are computed as they are read.
pub(super) fn parts<B: Backend + Select>(gpu: &B, input: &[f32]) -> Result<(), Failure> {
    let (x, thirds, tripled) = (gpu.upload(input)?, EvenBins::over(0.0, 1.0, 3), Tripled { by: 3 });
    let from_the_end = gpu.upload(&(0..N as u32).rev().collect::<Vec<_>>())?;
    let elements: Vec<f32> = input.iter().rev().copied().collect();
    let part = |part: u32| elements.iter().zip(input).filter(move |(_, v)| thirds.map(**v) == part).map(|(v, _)| *v);
    let parts = gpu.partition_by(x.gathered(&from_the_end), x.mapped(thirds), 3).read()?;
    expect("parts of views", parts, (0..3).map(|i| part(i).collect::<Vec<_>>()).collect())?;
    let out = gpu.upload(&vec![7.0f32; 3 * N])?;
    gpu.scatter(&x, iota(N).mapped(tripled)).to(&out).run()?;
    let apart = input.iter().flat_map(|v| [*v, 7.0, 7.0]).collect();
    expect("elements scattered to the places of a view", out.read()?, apart)?;

    // One text, twice in a kernel.
    let places: Vec<u32> =
        (0..N as u32).map(|i| if i == 0 { 0 } else { (i % 13).wrapping_sub((i - 1) % 13) }).collect();
    expect("differences of a view", gpu.adjacent_difference(iota(N).mapped(Remainder {})).read()?, places)?;

    // Of fewer elements the other places stay as they are.
    let (out, n) = (gpu.upload(&[7.0f32; 6])?, gpu.upload(&[2u32])?);
    gpu.scatter(&x, iota(N).mapped(tripled)).len_on_device(&n).to(&out).run()?;
    expect("two elements scattered", out.read()?, vec![input[0], 7.0, 7.0, input[1], 7.0, 7.0])
}

/// What has no meaning or no room.
pub(super) fn refused<B: Backend + Scan + Sort>(gpu: &B, x: &Buffer<u32, B>) -> Result<(), Failure> {
    let out = gpu.alloc(N)?;
    let unlike = gpu.scatter(x, x.slice(1..)?).to(&out).run();
    refuse("unlike lengths of a scatter", unlike, "1000 values and 999 indices")?;
    refuse("places onto their keys", gpu.argsort(x).to(x).run(), "give it two spans")?;
    let many = iota(u32::MAX as usize).gathered(x);
    refuse("gathered from too many", gpu.copy(many).to(&out).run(), "a view that gathers from 4294967295 elements")?;
    let gathers = |times: usize| {
        let view: View<u32, B> = x.into_input();
        (0..times).fold(view, |view, _| view.gathered(x))
    };
    refuse("nine leaves", gpu.copy(gathers(8)).to(&out).run(), "views that read 9 spans; a call reads at most 8")?;
    let pairs = gpu.sort(gathers(4)).with(gathers(4)).read().map(drop);
    refuse("twice five leaves", pairs, "views that read 10 spans; a call reads at most 8")?;
    let places = |times: usize| (0..times).fold(iota(N), |view, _| view.gathered(iota(N)));
    expect("places of places", gpu.copy(places(8)).read()?, (0..N as u32).collect())?;
    refuse("nine gathers of no memory", gpu.copy(places(9)).to(&out).run(), "look at neighbours 9 times")?;
    // Each view's lengths have numbers of their own.
    let seconds = x.adjacent().mapped_indexed(Difference).adjacent().mapped_indexed(Difference);
    gpu.scatter(&seconds, iota(N).gathered(iota(N))).to(&out).run()?;
    expect("second differences in their places", out.read()?, gpu.copy(&seconds).read()?)?;
    let past = gpu.adjacent_difference(iota(3)).to(&out).up_to(10).prepare().map(drop);
    refuse("a capacity past a view", past, "a view has 3 elements, and the call is for up to 10")?;
    let scan = gpu.inclusive_scan_by_key(iota(3), x, Sum).in_place().run();
    refuse("fewer keys than values in place", scan, "1000 values and 3 keys")?;
    let counts = gpu.histogram(x, 300).to(&out.slice(..299)?).up_to(10).prepare().map(drop);
    refuse("too few counts", counts, "the output has 299 elements, and the call is of 300; bring as many")
}

/// The reductions of every type that the device has.
pub(super) fn summaries<B: Backend + Reduce>(gpu: &B) -> Result<(), Failure> {
    let has = |scalar: Scalar| gpu.caps().check_element(&scalar.held().into()).is_ok();
    for scalar in Scalar::ALL.into_iter().filter(|scalar| has(*scalar)) {
        let held = for_held!(scalar, T => last::<T, B>(gpu).and_then(|()| counted::<T, B>(gpu)));
        let computed = for_computed!(scalar, T => last::<T, B>(gpu).and_then(|()| ends::<T, B>(gpu)));
        held.or(computed).unwrap_or(Ok(()))?;
    }
    if has(Scalar::F64) { doubles(gpu) } else { Ok(()) }
}

/// Numbers that are there several times.
fn numbers<T: Rank>() -> Vec<T> {
    (0..5003).map(|i| T::of_f64(f64::from(i * 37 % 101) - 50.0)).collect()
}

fn last<T: Rank, B: Backend + Reduce>(gpu: &B) -> Result<(), Failure> {
    let (numbers, greatest) = (numbers::<T>(), T::of_f64(50.0));
    let place = numbers.iter().position(|number| *number == greatest).unwrap_or_default();
    let name = T::SCALAR.name();
    expect(&format!("arg_max of {name}"), gpu.arg_max(&gpu.upload(&numbers)?).value()?, place as u32)
}

fn counted<T: Rank, B: Backend + Reduce>(gpu: &B) -> Result<(), Failure>
where
    NonZero: Predicate<T>,
{
    let numbers = numbers::<T>();
    let held = numbers.iter().filter(|number| NonZero.keep(**number)).count();
    let name = T::SCALAR.name();
    expect(&format!("count_if of {name}"), gpu.count_if(&gpu.upload(&numbers)?, NonZero).value()?, held as u32)
}

fn ends<T: Rank, B: Backend + Reduce>(gpu: &B) -> Result<(), Failure>
where
    Min: Monoid<T>,
    Max: Monoid<T>,
{
    let both = gpu.min_max(&gpu.upload(&numbers::<T>())?).value()?;
    let wanted = (T::of_f64(-50.0), T::of_f64(50.0));
    expect(&format!("min_max of {}", T::SCALAR.name()), (both.min, both.max), wanted)
}

/// To more digits than an f32 has.
fn doubles<B: Backend + Reduce>(gpu: &B) -> Result<(), Failure> {
    let numbers: Vec<f64> = numbers::<f64>().into_iter().map(|number| number + 1e12).collect();
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n;
    let norm = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    let x = gpu.upload(&numbers)?;
    let found = [gpu.mean(&x).value()?, gpu.variance(&x).value()?, gpu.norm(&x).value()?];
    for ((what, found), wanted) in ["mean", "variance", "norm"].into_iter().zip(found).zip([mean, variance, norm]) {
        let is_near = (found - wanted).abs() <= 1e-9 * wanted.abs();
        expect(&format!("{what} of f64, {found} and not {wanted}: near"), is_near, true)?;
    }
    // As an f32 the second is 1.
    let x = gpu.upload(&[0.5, 1.0 - 1e-12, 1.0])?;
    expect("even bins of f64", gpu.histogram(x.mapped(EvenBins::over(0.0, 1.0, 4)), 4).read()?, vec![0, 0, 1, 1])?;
    // As f32 the ends of the first range and of the last are one number, and those of the second are infinite.
    for (low, high, numbers) in [
        (1.79e9, 1.79e9 + 4.0, [1.79e9 - 1.0, 1.79e9 + 0.5, 1.79e9 + 3.9, 1.79e9 + 4.0]),
        (f64::MIN, f64::MAX, [f64::INFINITY, -1e308, 1e308, f64::NAN]),
        (0.0, 1e-300, [-1e-300, 0.2e-300, 0.7e-300, 1e-300]),
    ] {
        let even = gpu.upload(&numbers)?.mapped(EvenBins::over(low, high, 2));
        expect(&format!("even bins from {low} to {high}"), gpu.histogram(even, 2).read()?, vec![1, 1])?;
    }
    Ok(())
}
