//! A program that has a CUDA stream and memory of its own: Trifold's calls go into the stream, between the program's.

use std::sync::Arc;

use trifold_core::{Backend, Scan, Sort, Sum};
use trifold_cuda::Cuda;
use trifold_cuda::cudarc::driver::{CudaContext, CudaSlice};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Cuda::devices()?;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let cuda = Cuda::new(stream.clone())?;
    let n = 1 << 20;

    // An exclusive scan of slices that the program goes on using.
    let counts: Vec<u32> = (0..n).map(|i| i % 3).collect();
    let input: Arc<CudaSlice<u32>> = stream.clone_htod(&counts)?.into();
    let output: Arc<CudaSlice<u32>> = stream.alloc_zeros(counts.len())?.into();
    cuda.exclusive_scan(cuda.import(input)?, Sum).to(&cuda.import(output.clone())?).run()?;
    let starts = stream.clone_dtoh(&*output)?;
    assert_eq!(starts.last(), Some(&counts[..counts.len() - 1].iter().sum()));

    // Pairs, sorted by falling key, in place, of slices that the program hands over.
    let keys: Vec<f32> = (0..n).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    let values: Vec<u32> = (0..n).collect();
    let (k, v) = (cuda.import(stream.clone_htod(&keys)?)?, cuda.import(stream.clone_htod(&values)?)?);
    cuda.sort(&k).descending().with(&v).in_place().run()?;
    let (sorted, moved) = (k.read()?, v.read()?);
    assert!(sorted.is_sorted_by(|a, b| a >= b));
    assert!(sorted.iter().zip(&moved).all(|(key, &i)| *key == keys[i as usize]));
    println!("{n} elements scanned and sorted on {}", cuda.caps().device);
    Ok(())
}
