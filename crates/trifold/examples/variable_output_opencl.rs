//! Output of variable length from each thread: count, exclusive scan, write.
//!
//! The program has two kernels of its own, on its own OpenCL queue, and Trifold's scan between them.
//!
//! Thread `i` has as many results as `i` has prime factors, and all are to lie densely. Each thread counts its own. The
//! scan tells it where they go, and it writes them there. Blelloch calls this allocation of processors (G. E. Blelloch,
//! *Prefix Sums and Their Applications*, CMU-CS-90-190, 1990).

use trifold::opencl::OpenCl;
use trifold::opencl::ocl::{Buffer, Device, Platform, ProQue};
use trifold::prelude::*;

const KERNELS: &str = "
uint smallest_factor(uint x) {
  for (uint p = 2u; p * p <= x; p++) {
    if (x % p == 0u) { return p; }
  }
  return x;
}

__kernel void count_factors(__global uint *counts) {
  const uint thread = get_global_id(0);
  uint count = 0u;
  for (uint x = thread; x > 1u; x /= smallest_factor(x)) { count++; }
  counts[thread] = count;
}

__kernel void write_factors(__global const uint *places, __global uint *factors) {
  const uint thread = get_global_id(0);
  uint place = places[thread];
  for (uint x = thread; x > 1u; x /= factors[place - 1u]) {
    factors[place] = smallest_factor(x);
    place++;
  }
}";

const N: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program's queue, and Trifold on it.
    let devices = OpenCl::devices()?;
    let first = devices.first().ok_or("OpenCL has no device")?;
    let (platform, device) = (Platform::from(first.platform_id()), Device::from(first.id()));
    let program = ProQue::builder().platform(platform).device(device).src(KERNELS).dims(N).build()?;
    let queue = program.queue();
    let cl = OpenCl::new(queue)?;
    let words = |count: usize| Buffer::<u32>::builder().queue(queue.clone()).len(count).fill_val(0).build();

    // 1. Count. The last count stays zero: its place is the length of all.
    let (counts, places) = (words(N + 1)?, words(N + 1)?);
    let count_factors = program.kernel_builder("count_factors").arg(&counts).build()?;
    // SAFETY: each of N work items writes one of more than N counts.
    unsafe { count_factors.enq()? };
    // 2. Scan.
    cl.exclusive_scan(cl.import(&counts)?, Sum).to(&cl.import(&places)?).run()?;
    // 3. Write, into memory as long as all results.
    let starts = cl.import(&places)?.read()?;
    let factors = words(starts[N] as usize)?;
    let write_factors = program.kernel_builder("write_factors").arg(&places).arg(&factors).build()?;
    // SAFETY: a work item reads one of more than N places, and from there on writes as many results as it counted, which end
    // where the next one's begin, and the last one's at the end of the memory.
    unsafe { write_factors.enq()? };

    let factors = cl.import(&factors)?.read()?;
    let of = |i: usize| &factors[starts[i] as usize..starts[i + 1] as usize];
    assert!((1..N).all(|i| of(i).iter().product::<u32>() == i as u32));
    println!("{}: {N} threads wrote {} results densely; of 84 {:?}", cl.caps().device, factors.len(), of(84));
    Ok(())
}
