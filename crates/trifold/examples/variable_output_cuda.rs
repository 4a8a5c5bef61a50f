//! Output of variable length from each thread: count, exclusive scan, write.
//!
//! The program has two kernels of its own, in its own CUDA stream, and Trifold's scan between them.
//!
//! Thread `i` has as many results as `i` has prime factors, and all are to lie densely. Each thread counts its own. The
//! scan tells it where they go, and it writes them there. Blelloch calls this allocation of processors (G. E. Blelloch,
//! *Prefix Sums and Their Applications*, CMU-CS-90-190, 1990).

use std::sync::Arc;
use trifold::cuda::cudarc::driver::{CudaContext, CudaSlice, LaunchConfig, PushKernelArg};
use trifold::cuda::cudarc::nvrtc::compile_ptx;
use trifold::cuda::{Cuda, nvrtc_version};
use trifold::prelude::*;

const KERNELS: &str = r#"
__device__ unsigned smallest_factor(unsigned x) {
  for (unsigned p = 2u; p * p <= x; p++) {
    if (x % p == 0u) { return p; }
  }
  return x;
}

extern "C" __global__ void count_factors(unsigned *counts, unsigned n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n) { return; }
  unsigned count = 0u;
  for (unsigned x = thread; x > 1u; x /= smallest_factor(x)) { count++; }
  counts[thread] = count;
}

extern "C" __global__ void write_factors(const unsigned *places, unsigned *factors, unsigned n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n) { return; }
  unsigned place = places[thread];
  for (unsigned x = thread; x > 1u; x /= factors[place - 1u]) {
    factors[place] = smallest_factor(x);
    place++;
  }
}"#;

const N: u32 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A driver and a compiler that are not there are errors here; further on cudarc would panic.
    Cuda::devices()?;
    nvrtc_version()?;

    // The program's stream, and Trifold in it.
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let cuda = Cuda::new(stream.clone())?;
    let module = context.load_module(compile_ptx(KERNELS)?)?;
    let (count, write) = (module.load_function("count_factors")?, module.load_function("write_factors")?);
    let threads = LaunchConfig { grid_dim: (N.div_ceil(256), 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };

    // 1. Count. The last count stays zero: its place is the length of all.
    let mut counts: CudaSlice<u32> = stream.alloc_zeros(N as usize + 1)?;
    // SAFETY: each of N threads writes one of more than N counts.
    unsafe { stream.launch_builder(&count).arg(&mut counts).arg(&N).launch(threads)? };
    // 2. Scan.
    let places = Arc::new(stream.alloc_zeros::<u32>(N as usize + 1)?);
    cuda.exclusive_scan(cuda.import(counts)?, Sum).to(&cuda.import(places.clone())?).run()?;
    // 3. Write, into memory as long as all results.
    let starts = stream.clone_dtoh(&*places)?;
    let mut factors: CudaSlice<u32> = stream.alloc_zeros(starts[N as usize] as usize)?;
    // SAFETY: a thread reads one of more than N places, and from there on writes as many results as it counted, which end
    // where the next thread's begin, and the last one's at the end of the memory.
    unsafe { stream.launch_builder(&write).arg(&*places).arg(&mut factors).arg(&N).launch(threads)? };

    let factors = stream.clone_dtoh(&factors)?;
    let of = |i: u32| &factors[starts[i as usize] as usize..starts[i as usize + 1] as usize];
    assert!((1..N).all(|i| of(i).iter().product::<u32>() == i));
    println!("{}: {N} threads wrote {} results densely; of 84 {:?}", cuda.caps().device, factors.len(), of(84));
    Ok(())
}
