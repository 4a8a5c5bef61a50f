//! A program that has a CUDA stream and memory of its own: Trifold's calls go into the stream, between the program's.

use trifold_core::{Backend, Options, Order, Prepared, Request, ScanKind, Spans, Sum, block_on};
use trifold_cuda::Cuda;
use trifold_cuda::cudarc::driver::{CudaContext, CudaSlice};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Cuda::devices()?;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let cuda = Cuda::new(stream.clone())?;
    let n = 1 << 20;

    // An exclusive scan, with scratch of the program's.
    let counts: Vec<u32> = (0..n).map(|i| i % 3).collect();
    let input: CudaSlice<u32> = stream.clone_htod(&counts)?;
    let output: CudaSlice<u32> = stream.alloc_zeros(counts.len())?;
    let spans = Spans::new(&cuda.import(&input)?, &cuda.import(&output)?);
    run(&cuda, &Request::scan::<u32, Sum>(ScanKind::Exclusive, None, n.into()), &spans)?;
    let offsets = stream.clone_dtoh(&output)?;
    assert_eq!(offsets.last(), Some(&counts[..counts.len() - 1].iter().sum()));

    // Pairs, sorted by falling key, in place.
    let keys: Vec<f32> = (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    let values: Vec<u32> = (0..n).collect();
    let (keys_on_device, values_on_device) = (stream.clone_htod(&keys)?, stream.clone_htod(&values)?);
    let (k, v) = (cuda.import(&keys_on_device)?, cuda.import(&values_on_device)?);
    let spans = Spans::new(&k, &k).with_values(&v, &v);
    run(&cuda, &Request::sort_pairs::<f32, u32>(Order::Descending, n.into()), &spans)?;
    let (sorted, moved) = (stream.clone_dtoh(&keys_on_device)?, stream.clone_dtoh(&values_on_device)?);
    assert!(sorted.is_sorted_by(|a, b| a >= b));
    assert!(sorted.iter().zip(&moved).all(|(key, &i)| *key == keys[i as usize]));
    println!("{n} elements scanned and sorted on {}", cuda.caps().device);
    Ok(())
}

/// Plans and compiles a request, allocates scratch as a slice of the program's, and enqueues the call.
fn run(cuda: &Cuda, request: &Request, spans: &Spans<'_, Cuda>) -> Result<(), Box<dyn std::error::Error>> {
    let layout = spans.layout(cuda)?;
    let prepared = block_on(Prepared::without_scratch(cuda, request, layout, Options::default(), &cuda.tuning()))?;
    let bytes = prepared.plan().scratch_bytes() as usize;
    let scratch: CudaSlice<u8> = cuda.stream().alloc_zeros(bytes.max(1))?;
    // The scratch is freed in the stream's order, after the call; so there is no wait here.
    prepared.bind_with_scratch(cuda, spans, &cuda.import(&scratch)?)?.run(cuda)?;
    Ok(())
}
