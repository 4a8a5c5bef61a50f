//! Builders of sorts and of what takes the first of sorted keys.

use trifold_core::{
    Backend, Buffer, Layout, NO_PLACE, Options, Prepared, Slot, Sort, SpansOf, TopK, Transfer, block_on, iota,
};

use super::{N, expect, refuse};
use crate::case::Failure;
use crate::maps::Turned;
use crate::operators::Fields;

pub(super) fn sorts<B: Backend + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let mut sorted = input.to_vec();
    sorted.sort_unstable();
    expect("sorted keys", gpu.sort(x).read()?, sorted.clone())?;
    let (keys, values) = (gpu.alloc(N)?, gpu.alloc(N)?);
    gpu.sort(x).with(x).to((&keys, &values)).run()?;
    expect("sorted pairs", (keys.read()?, values.read()?), (sorted.clone(), sorted.clone()))?;
    sorted.reverse();
    gpu.sort(&keys).descending().with(&values).in_place().prepare()?.run()?;
    expect("pairs sorted in place", (keys.read()?, values.read()?), (sorted.clone(), sorted.clone()))?;
    expect("collected pairs", gpu.sort(x).descending().with(x).read()?, (sorted.clone(), sorted))?;
    beside_views(gpu, x)
}

/// Keys or values that are sorted in place, and a view for the others.
fn beside_views<B: Backend + Sort>(gpu: &B, x: &Buffer<u32, B>) -> Result<(), Failure> {
    // More equal keys than one tile has: none of their digits differ.
    let (keys, places) = (gpu.upload(&[7u32; 20 * N])?, gpu.alloc(20 * N)?);
    gpu.sort(&keys).with(iota(20 * N)).to((&keys, &places)).run()?;
    expect("places of equal keys in place", places.read()?.into_iter().eq(0..20 * N as u32), true)?;
    let (sorted, own) = (gpu.alloc(N)?, gpu.upload(&vec![9u32; N])?);
    let apart = gpu.sort(x.mapped(Turned)).with(x).to((&sorted, &own));
    let prepared = block_on(Prepared::new(gpu, apart.request(), Layout::default(), Options::default()))?;
    let in_place = SpansOf::of(apart.request(), |operand| {
        Ok::<_, Failure>(match operand.slot {
            Slot::Output => sorted.span().clone(),
            Slot::InputValues | Slot::OutputValues => own.span().clone(),
            _ => x.span().clone(),
        })
    })?;
    refuse("values in place, by a plan that has them apart", prepared.bind(&in_place).map(drop), "made for that")
}

pub(super) fn sorts_of_segments<B: Backend + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    // The keys of parts in order, and where they stood.
    let of = |bounds: &[usize]| -> (Vec<u32>, Vec<u32>) {
        let parts = bounds.windows(2).flat_map(|part| {
            let mut keys: Vec<(u32, u32)> = input[part[0]..part[1]].iter().copied().zip(0..).collect();
            keys.sort();
            keys
        });
        parts.unzip()
    };
    let rows: Vec<usize> = (0..=N).step_by(100).collect();
    let (keys, places) = of(&rows);
    expect("sorted rows", gpu.sort(x).rows(100).read()?, keys.clone())?;
    expect("places of rows", gpu.argsort(x).rows(100).read()?, places.clone())?;
    expect("places of rows of a view", gpu.argsort(x.mapped(Turned)).rows(100).descending().read()?, places)?;
    let (copy, values) = (gpu.upload(input)?, gpu.upload(input)?);
    gpu.sort(&copy).with(&values).rows(100).in_place().run()?;
    expect("rows of pairs, in place", (copy.read()?, values.read()?), (keys.clone(), keys))?;

    let bounds = [0usize, 3, 3, 600, N];
    let (keys, places) = of(&bounds);
    let offsets = gpu.upload(&bounds.map(|bound| bound as u64))?;
    expect("sorted segments", gpu.sort(x).segments(&offsets).checked()?.read()?, keys.clone())?;
    expect("segments of pairs", gpu.sort(x).with(x).segments(&offsets).read()?, (keys.clone(), keys.clone()))?;
    let (at, sorted) = (gpu.alloc(N)?, gpu.alloc(N)?);
    gpu.argsort(x).with_keys(&sorted).segments(&offsets).checked()?.to(&at).run()?;
    expect("places, and keys", (at.read()?, sorted.read()?), (places, keys))?;

    // A call up to a capacity takes parts of what has room for more.
    let (some, more) = (x.slice(..10)?, x.slice(..12)?);
    let (keys, values) = (gpu.alloc(10)?, gpu.alloc(10)?);
    gpu.sort(&some).with(&more).to((&keys, &values)).up_to(8).prepare()?.run()?;
    let mut first = input[..8].to_vec();
    first.sort_unstable();
    expect("some of unlike pairs", keys.slice(..8)?.read()?, first)?;

    let fields = gpu.upload(&[Fields { low: 1, moved: 0.5, high: 2.0 }])?;
    let refused = [
        (gpu.sort(x).rows(0).read().map(drop), "rows of 0 elements"),
        (gpu.sort(x).with(x).rows(7).read().map(drop), "rows of 7 elements do not divide 1000"),
        (gpu.argsort(x).rows(usize::MAX).read().map(drop), "do not divide 1000"),
        (gpu.sort(x).segments(&gpu.upload::<u32>(&[])?).read().map(drop), "no offsets"),
        (gpu.sort(&some).with(&more).read().map(drop), "10 keys and 12 values; bring as many of each"),
        (gpu.sort(x).rows(10).bits(9..9).read().map(drop), "bits 9..9, which are none; give at least one"),
        (gpu.argsort(x).bits(9..33).read().map(drop), "bits 9..33 of keys that have 32; end at 32 at most"),
        (
            gpu.sort(&fields).bits(0..8).read().map(drop),
            "of keys of type Fields, which is a struct; bits are for scalars",
        ),
    ];
    refused.into_iter().try_for_each(|(result, why)| {
        let error = result.err().map_or("nothing".into(), |error| error.to_string());
        expect(&format!("{why}: {error}"), error.contains(why) && error != "nothing", true)
    })
}

pub(super) fn top_ks_of_segments<B: Backend + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    // What is wanted of a part: keys, places in it, and what says that there are none behind them.
    let of = |range: std::ops::Range<usize>, k: usize| {
        let mut first: Vec<(u32, u32)> = input[range].iter().copied().zip(0..).collect();
        first.sort_by_key(|&(key, _)| std::cmp::Reverse(key));
        first.resize(k.max(first.len()), (0, NO_PLACE));
        first.truncate(k);
        first
    };
    let rows: Vec<(u32, u32)> = (0..N).step_by(100).flat_map(|row| of(row..row + 100, 7)).collect();
    let bounds = [0u64, 3, 3, 600, N as u64];
    let segments = bounds.windows(2).flat_map(|part| of(part[0] as usize..part[1] as usize, 9));
    let segments: Vec<(u32, u32)> = segments.collect();
    let (keys, at): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
    expect("of rows", gpu.top_k(x, 7).rows(100).with_indices().read()?, (keys.clone(), at.clone()))?;
    expect("of rows, said last", gpu.top_k(x, 7).with_indices().rows(100).read()?, (keys, at.clone()))?;
    expect("of rows of a view", gpu.top_k(x.mapped(Turned), 7).rows(100).smallest().indices().read()?, at)?;
    let offsets = gpu.upload(&bounds)?;
    let (keys, at): (Vec<u32>, Vec<u32>) = segments.into_iter().unzip();
    expect("of segments", gpu.top_k(x, 9).segments(&offsets).checked()?.indices().read()?, at.clone())?;
    expect("of segments, said last", gpu.top_k(x, 9).indices().segments(&offsets).checked()?.read()?, at)?;
    // The values are the keys.
    expect("of segments, with values", gpu.top_k(x, 9).segments(&offsets).with(x).read()?, (keys.clone(), keys))?;

    let refused = [
        (gpu.top_k(x, 5).rows(0).read().map(drop), "rows of 0 elements"),
        (gpu.top_k(x, 5).rows(7).read().map(drop), "rows of 7 elements do not divide 1000"),
        (gpu.top_k(x, 50).rows(10).with_indices().read().map(drop), "a top_k of k = 50 of rows of 10 keys"),
        (gpu.top_k(x, usize::MAX).rows(10).read().map(drop), "of rows of 10 keys"),
        (gpu.top_k(x, usize::MAX / 64).segments(&offsets).read().map(drop), "of each of 4 segments"),
        (gpu.top_k(x, 5).segments(&gpu.upload::<u32>(&[])?).read().map(drop), "no offsets"),
    ];
    for (result, why) in refused {
        let error = result.err().map_or("nothing".into(), |error| error.to_string());
        expect(&format!("{why}: {error}"), error.contains(why) && error != "nothing", true)?;
    }
    Ok(())
}

pub(super) fn top_ks<B: Backend + Sort>(gpu: &B, input: &[u32], x: &Buffer<u32, B>) -> Result<(), Failure> {
    let mut indices: Vec<u32> = (0..N as u32).collect();
    indices.sort_by_key(|&i| std::cmp::Reverse(input[i as usize]));
    indices.truncate(50);
    let keys: Vec<u32> = indices.iter().map(|&i| input[i as usize]).collect();
    expect("the largest", gpu.top_k(x, 50).read()?, keys.clone())?;
    expect("the smallest", gpu.top_k(x, 1).smallest().read()?, input.iter().copied().min().into_iter().collect())?;
    expect("with indices", gpu.top_k(x, 50).with_indices().read()?, (keys.clone(), indices.clone()))?;
    expect("with values", gpu.top_k(x, 50).with(iota(N)).read()?, (keys.clone(), indices.clone()))?;
    expect("indices", gpu.top_k(x.mapped(Turned), 50).indices().smallest().collect()?.read()?, indices.clone())?;

    // Of fewer keys than are wanted, the places behind them are left.
    let (to, n) = (gpu.upload(&[7u32; 50])?, gpu.upload(&[20u32])?);
    gpu.top_k(x, 50).len_on_device(&n).to(&to).prepare()?.run()?;
    let mut first = input[..20].to_vec();
    first.sort_unstable_by(|a, b| b.cmp(a));
    expect("the largest of twenty, read", gpu.top_k(x, 50).len_on_device(&n).read()?, first.clone())?;
    first.resize(50, 7);
    expect("the largest of twenty", to.read()?, first)?;

    let refused = [
        (gpu.top_k(x, 0).read().map(drop), "a top_k of k = 0"),
        (gpu.top_k(x, N + 1).with_indices().read().map(drop), "a top_k of k = 1001 of 1000 keys"),
        (gpu.top_k(x, 5).with(x.slice(1..)?).read().map(drop), "999"),
        (gpu.top_k(x, 5).len_on_device(&n).indices().collect().map(drop), "follows from a length on the device"),
        (gpu.top_k(x, N).to(x).run(), "top_k onto its keys"),
    ];
    for (result, why) in refused {
        let error = result.err().map_or("nothing".into(), |error| error.to_string());
        expect(&format!("{why}: {error}"), error.contains(why), true)?;
    }
    Ok(())
}
