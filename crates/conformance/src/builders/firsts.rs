//! Builders of the first keys as they stand, of the key at a place, and of where the least and the greatest stand.

use std::cmp::{Ordering, Reverse};

use trifold_core::{Backend, Buffer, NO_PLACE, Reduce, Summary, TopK, TopKCall, Transfer};

use super::{N, expect, refuse};
use crate::case::Failure;
use crate::inputs::Random;
use crate::maps::Turned;

/// Where segments begin: one has no keys, and one has few.
const BOUNDS: [usize; 5] = [0, 3, 3, 600, N];

fn segments_of<T>(all: &[T]) -> impl Iterator<Item = &[T]> {
    BOUNDS.windows(2).map(move |part| &all[part[0]..part[1]])
}

/// The largest keys of each part as they stand there, and their places. Where there are fewer, zeros are behind keys, and `NO_PLACE`
/// behind places.
fn as_they_stand<'a>(parts: impl Iterator<Item = &'a [u32]>, k: usize) -> (Vec<u32>, Vec<u32>) {
    let first = |part: &[u32]| {
        let mut first: Vec<(u32, u32)> = part.iter().copied().zip(0..).collect();
        first.sort_by_key(|&(key, _)| Reverse(key));
        first.truncate(k);
        first.sort_by_key(|&(_, place)| place);
        first.resize(k, (0, NO_PLACE));
        first
    };
    parts.flat_map(first).unzip()
}

pub(super) fn unsorted<B: Backend>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    // A workgroup has room for few keys. Others are sorted, or of segments selected by digits.
    for k in [1, 50, 700] {
        unsorted_of(gpu, x, k, as_they_stand([input].into_iter(), k), |call| call)?;
    }
    let offsets = gpu.upload(&BOUNDS.map(|bound| bound as u64))?;
    for k in [7, 300] {
        unsorted_of(gpu, x, k, as_they_stand(segments_of(input), k), |call| call.segments(&offsets))?;
    }
    for (width, k) in [(500, 7), (500, 300), (20, 1), (20, 7), (20, 20)] {
        unsorted_of(gpu, x, k, as_they_stand(input.chunks(width), k), |call| call.rows(width))?;
    }
    // Where the device says how many there are, all of fewer than are wanted. The last row is short.
    let n = gpu.upload(&[13u32])?;
    expect("thirteen, unsorted", gpu.top_k(x, 50).unsorted().len_on_device(&n).read()?, input[..13].to_vec())?;
    let (of_rows, _) = as_they_stand(input[..13].chunks(8), 7);
    let rows = gpu.top_k(x, 7).unsorted().rows(8).len_on_device(&n);
    expect("rows that end early, unsorted", rows.read()?, of_rows)
}

/// Of what a call is made of.
fn unsorted_of<B: Backend>(
    gpu: &B,
    x: &Buffer<u32, B>,
    k: usize,
    (keys, at): (Vec<u32>, Vec<u32>),
    of: impl Fn(TopKCall<u32, B>) -> TopKCall<u32, B>,
) -> Result<(), Failure> {
    expect("unsorted keys", of(gpu.top_k(x, k).unsorted()).read()?, keys.clone())?;
    expect("unsorted indices", of(gpu.top_k(x, k)).indices().unsorted().read()?, at.clone())?;
    let both = of(gpu.top_k(x, k)).with_indices().unsorted().read()?;
    expect("unsorted keys and indices", both, (keys.clone(), at.clone()))?;
    // The values are the keys.
    expect("unsorted pairs", of(gpu.top_k(x, k)).with(x).unsorted().read()?, (keys.clone(), keys))?;
    let of_view = of(gpu.top_k(x.mapped(Turned), k)).smallest().indices().unsorted();
    expect("unsorted indices of a view", of_view.read()?, at)
}

/// The key at a place of a part in order: of fewer keys the last, and of none 0.
fn nth(part: &[u32], place: usize, descends: bool) -> u32 {
    let mut part = part.to_vec();
    part.sort_unstable();
    if descends {
        part.reverse();
    }
    part.get(place).or(part.last()).copied().unwrap_or(0)
}

pub(super) fn nth_elements<B: Backend>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let turned: Vec<u32> = input.iter().map(|key| !key).collect();
    let offsets = gpu.upload(&BOUNDS.map(|bound| bound as u64))?;
    for place in [0, 2, 5, 450] {
        let of_each =
            |all: &[u32], descends| segments_of(all).map(|part| nth(part, place, descends)).collect::<Vec<_>>();
        let of_rows = |all: &[u32], descends| all.chunks(500).map(|row| nth(row, place, descends)).collect::<Vec<_>>();
        let (call, of_view) = (|| gpu.nth_element(x, place), || gpu.nth_element(x.mapped(Turned), place));
        expect("a key at a place", call().value()?, nth(input, place, false))?;
        expect("a key from the last on", call().descending().value()?, nth(input, place, true))?;
        expect("a key of a view", of_view().value()?, nth(&turned, place, false))?;
        expect("a key of each row", call().rows(500).read()?, of_rows(input, false))?;
        expect("the same from the last on", call().descending().rows(500).read()?, of_rows(input, true))?;
        expect("a key of each row of a view", of_view().rows(500).read()?, of_rows(&turned, false))?;
        expect("a key of each segment", call().segments(&offsets).checked()?.read()?, of_each(input, false))?;
        let descending = of_view().segments(&offsets).descending();
        expect("a key of each segment of a view", descending.read()?, of_each(&turned, true))?;
    }
    for (width, place) in [(500, 499), (20, 0), (20, 7), (20, 19)] {
        let of_rows = |descends| input.chunks(width).map(|row| nth(row, place, descends)).collect::<Vec<_>>();
        let call = || gpu.nth_element(x, place).rows(width);
        expect("a key of each row of other widths", call().read()?, of_rows(false))?;
        expect("the same in descending order", call().descending().read()?, of_rows(true))?;
    }

    // Where the device says how many there are, the last row is short.
    let (n, to) = (gpu.upload(&[13u32])?, gpu.upload(&[7u32; N / 8])?);
    let short = [nth(&input[..8], 6, false), nth(&input[8..13], 6, false)];
    gpu.nth_element(x, 6).rows(8).len_on_device(&n).to(&to).run()?;
    expect("a key of rows that end early", to.slice(..3)?.read()?, [&short[..], &[7]].concat())?;
    expect("the same, read", gpu.nth_element(x, 6).rows(8).len_on_device(&n).read()?, short.to_vec())?;

    let refused = [
        (gpu.nth_element(x, N).value().map(drop), "place 1000 of 1000 keys"),
        (gpu.nth_element(x, N).descending().collect().map(drop), "place 1000 of 1000 keys"),
        (gpu.nth_element(x, 9).rows(5).read().map(drop), "place 9 of rows of 5 keys"),
        (gpu.nth_element(x, 1).rows(7).read().map(drop), "rows of 7 elements do not divide 1000"),
        (gpu.nth_element(x, 1).rows(0).read().map(drop), "rows of 0 elements"),
    ];
    refused.into_iter().try_for_each(|(result, why)| refuse("an nth_element", result, why))
}

/// Where the least and the greatest stand, of rows and of segments, with NaNs and zeros of both signs among them.
pub(super) fn extremes<B: Backend + Reduce>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let some = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1.5, -1.5];
    let mut random = Random::named("floats");
    let floats: Vec<f32> = (0..N).map(|_| some[(random.next() % 8) as usize]).collect();
    let (y, offsets) = (gpu.upload(&floats)?, gpu.upload(&BOUNDS.map(|bound| bound as u32))?);
    for is in [Ordering::Less, Ordering::Greater] {
        // Of equal ones the first.
        let place = |part: &[f32]| {
            let better = |best: usize, at: usize| if part[at].total_cmp(&part[best]) == is { at } else { best };
            (0..part.len()).reduce(better).map_or(NO_PLACE, |at| at as u32)
        };
        let call = || if is == Ordering::Less { gpu.arg_min(&y) } else { gpu.arg_max(&y) };
        expect("an extreme of all", call().value()?, place(&floats))?;
        // Of few, so that there is none of each kind in most.
        expect("extremes of rows", call().rows(2).read()?, floats.chunks(2).map(place).collect())?;
        expect("extremes of rows of five", call().rows(5).read()?, floats.chunks(5).map(place).collect())?;
        let of_segments = call().segments(&offsets).checked()?.read()?;
        expect("extremes of segments", of_segments, segments_of(&floats).map(place).collect())?;
    }

    // Where the device says how many there are, the last row is short.
    let (n, to) = (gpu.upload(&[13u32])?, gpu.upload(&[7u32; N / 8])?);
    let least = |row: &[u32]| (1..row.len()).fold(0, |best, at| if row[at] < row[best] { at } else { best }) as u32;
    let short = [least(&input[..8]), least(&input[8..13])];
    gpu.arg_min(x).len_on_device(&n).rows(8).to(&to).run()?;
    expect("the least of rows that end early", to.slice(..3)?.read()?, [&short[..], &[7]].concat())?;
    expect("the same, read", gpu.arg_min(x).rows(8).len_on_device(&n).read()?, short.to_vec())?;
    refuse("rows that do not divide", gpu.arg_min(x).rows(7).read().map(drop), "rows of 7 elements do not divide 1000")
}
