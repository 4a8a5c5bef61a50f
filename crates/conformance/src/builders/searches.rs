//! Places in sorted elements, and bins by edges.

use trifold_core::types::{bf16, f16};
use trifold_core::{Backend, Element, EvenBins, Histogram, Rank, Reduce, Summary, Transfer};

use super::{expect, refuse};
use crate::case::Failure;

pub(super) fn searches<B: Backend + Reduce>(gpu: &B) -> Result<(), Failure> {
    let sorted = gpu.upload(&[1u32, 3, 3, 8])?;
    let x = gpu.upload(&[0u32, 3, 9])?;
    expect("lower bounds", gpu.copy(x.lower_bounds(&sorted)).read()?, vec![0, 1, 4])?;
    expect("upper bounds", gpu.copy(x.upper_bounds(&sorted)).read()?, vec![0, 3, 4])?;
    expect("bins by edges", gpu.histogram(x.binned(&sorted), 3).read()?, vec![0, 0, 1])?;
    expect("more bins than edges have", gpu.histogram(x.binned(&sorted), 5).read()?, vec![0, 0, 1, 0, 0])?;
    x.lower_bounds(&sorted).checked(gpu)?;
    let falling = x.lower_bounds(&gpu.upload(&[1u32, 3, 2])?).checked(gpu).map(drop);
    refuse("edges that fall", falling, "element 2 of a sorted input is less")?;
    refuse(
        "none to search",
        gpu.copy(x.binned(&gpu.alloc(0)?)).read().map(drop),
        "3 elements are searched for in none",
    )?;

    many_bins(gpu)?;
    let too_many = gpu.histogram(&x, usize::MAX);
    refuse("more bins than may be", too_many.read().map(drop), &format!("a histogram of {} bins", usize::MAX))?;

    // Edges are in total order: a NaN is one as any other number.
    let edges = gpu.upload(&[-f32::NAN, -0.0, 0.0, f32::NAN])?;
    // The first is before all edges, and the second is behind them.
    let outside = [0xffff_ffff, 0x7fff_ffff].map(f32::from_bits);
    let floats = [-f32::NAN, f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f32::INFINITY, f32::NAN];
    let y = gpu.upload(&[&outside[..], &floats].concat())?;
    let counts = gpu.histogram(y.binned(&edges).checked(gpu)?, 3).read()?;
    expect("bins from NaN to NaN", counts, vec![3, 1, 3])?;
    let falling = y.binned(&gpu.upload(&[0.0f32, -0.0])?).checked(gpu).map(drop);
    refuse("zeros that fall", falling, "element 1 of a sorted input is less")?;

    // Of halves a signalling NaN is the quiet one, which is outside of these edges.
    let of_f16 = [0xfe01, 0xfc01, 0xfe00, 0xfc00, 0x8000, 0, 0x7c00, 0x7c01, 0x7e00].map(f16::from_bits);
    nans(gpu, &of_f16, 1, [2, 1, 2])?;
    let of_bf16 = [0xffc1, 0xff81, 0xffc0, 0xff80, 0x8000, 0, 0x7f80, 0x7f81, 0x7fc0].map(bf16::from_bits);
    nans(gpu, &of_bf16, 1, [2, 1, 2])?;
    if gpu.caps().check_element(&f64::TYPE).is_err() {
        return Ok(());
    }
    let of_f64 =
        [0xfff9, 0xfff1, 0xfff8, 0xfff0, 0x8000, 0, 0x7ff0, 0x7ff1, 0x7ff8].map(|bits: u64| f64::from_bits(bits << 48));
    nans(gpu, &of_f64, 0, [3, 1, 3])
}

/// More bins than workgroup memory has room for, even ones and by edges.
fn many_bins<B: Backend + Reduce>(gpu: &B) -> Result<(), Failure> {
    const BINS: usize = 70_001;
    let (mut wanted, mut numbers) = (vec![0; BINS], vec![-1.0, BINS as f32, f32::NAN]);
    for i in 0..5000 {
        let bin = i * 7919 % BINS / (1 + i % 3);
        wanted[bin] += 1;
        numbers.push(bin as f32 + 0.5);
    }
    let x = gpu.upload(&numbers)?;
    let even = gpu.histogram(x.mapped(EvenBins::over(0.0, BINS as f32, BINS)), BINS).read()?;
    expect("whether many even bins are right", even == wanted, true)?;
    let edges = gpu.upload(&(0..=BINS).map(|edge| edge as f32).collect::<Vec<_>>())?;
    let by_edges = gpu.histogram(x.binned(&edges).checked(gpu)?, BINS).read()?;
    expect("whether many bins by edges are right", by_edges == wanted, true)
}

/// Numbers in bins from the quiet NaN at 2 over both zeros to that at 8, and which of the two at 2 and 1 is the least.
fn nans<B: Backend + Reduce, T: Rank>(gpu: &B, x: &[T; 9], least: u32, counts: [u32; 3]) -> Result<(), Failure> {
    let name = T::SCALAR.name();
    let edges = gpu.upload(&[2, 4, 5, 8].map(|i: usize| x[i]))?;
    let found = gpu.histogram(gpu.upload(x)?.binned(&edges).checked(gpu)?, 3).read()?;
    expect(&format!("bins from NaN to NaN of {name}"), found, counts.to_vec())?;
    let both = gpu.upload(&[x[2], x[1]])?;
    expect(&format!("arg_min of NaNs of {name}"), gpu.arg_min(&both).value()?, least)
}
