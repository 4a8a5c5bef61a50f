//! The smallest complete reduction: 256 numbers, one block, one launch. CUDA through cudarc alone, without the library.

use trifold::cuda::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use trifold::cuda::cudarc::nvrtc::compile_ptx;
use trifold::cuda::{Cuda, nvrtc_version};

const KERNEL: &str = r#"
extern "C" __global__ void sum256(const float *input, float *output) {
  __shared__ float sums[256];
  const unsigned thread = threadIdx.x;
  sums[thread] = input[thread];
  __syncthreads();
  for (unsigned stride = 128u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { sums[thread] += sums[thread + stride]; }
    __syncthreads();
  }
  if (thread == 0u) { output[0] = sums[0]; }
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A driver and a compiler that are not there are errors here; further on cudarc would panic.
    Cuda::devices()?;
    nvrtc_version()?;

    // A device, a stream on it, and the kernel compiled for it.
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = context.load_module(compile_ptx(KERNEL)?)?.load_function("sum256")?;

    // The input on the device, and a word for the output.
    let numbers: Vec<f32> = (0..256u16).map(f32::from).collect();
    let input = stream.clone_htod(&numbers)?;
    let mut output = stream.alloc_zeros::<f32>(1)?;

    // The kernel with its two arguments, as one block.
    let one_block = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel reads 256 floats of the input and writes one of the output, as long as they are.
    unsafe { stream.launch_builder(&kernel).arg(&input).arg(&mut output).launch(one_block)? };

    let sum = stream.clone_dtoh(&output)?;
    println!("{}: the sum of 0 to 255 is {}", context.name()?, sum[0]);
    assert_eq!(sum, [32640.0]);
    Ok(())
}
