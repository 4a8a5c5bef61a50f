//! The smallest complete reduction: 256 numbers, one workgroup, one launch. OpenCL through ocl alone, without the library.

use trifold::opencl::OpenCl;
use trifold::opencl::ocl::{Buffer, Device, Platform, ProQue};

const KERNEL: &str = "
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void sum256(__global const float *input, __global float *output) {
  __local float sums[256];
  const uint thread = get_local_id(0);
  sums[thread] = input[thread];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 128u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { sums[thread] += sums[thread + stride]; }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread == 0u) { output[0] = sums[0]; }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A device, a queue to it, and the program compiled for it.
    let devices = OpenCl::devices()?;
    let first = devices.first().ok_or("OpenCL has no device")?;
    let (platform, device) = (Platform::from(first.platform_id()), Device::from(first.id()));
    let device = ProQue::builder().platform(platform).device(device).src(KERNEL).dims(256).build()?;

    // The input on the device, and a word for the output.
    let numbers: Vec<f32> = (0..256u16).map(f32::from).collect();
    let queue = device.queue();
    let input = Buffer::builder().queue(queue.clone()).len(256).copy_host_slice(&numbers).build()?;
    let output = Buffer::<f32>::builder().queue(queue.clone()).len(1).build()?;

    // The kernel with its two arguments, as one workgroup.
    let kernel = device.kernel_builder("sum256").arg(&input).arg(&output).local_work_size(256).build()?;
    // SAFETY: the kernel reads 256 floats of the input and writes one of the output, as long as they are.
    unsafe { kernel.enq()? };

    let mut sum = [0.0];
    output.read(&mut sum[..]).enq()?;
    println!("{}: the sum of 0 to 255 is {}", first.name, sum[0]);
    assert_eq!(sum, [32640.0]);
    Ok(())
}
