//! Trifold in a program that has its own OpenCL queue and buffers: an exclusive scan, and a sort of pairs.

use ocl::{Buffer, Context, Device, Queue};
use trifold_core::{Backend, Scan, Sort, Sum};
use trifold_opencl::{OpenCl, ocl};

const N: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What the program has already: a queue, in order, and data on the device.
    let devices = OpenCl::devices()?;
    let first = devices.first().ok_or("no OpenCL device")?;
    let device = Device::from(first.id());
    let context = Context::builder().platform(first.platform_id().into()).devices(device).build()?;
    let queue = Queue::new(&context, device, None)?;
    let buffer = |data: &[u32]| Buffer::builder().queue(queue.clone()).len(N).copy_host_slice(data).build();
    let (counts, starts) = (buffer(&vec![3; N])?, buffer(&vec![0; N])?);
    let keys = buffer(&(0..N as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect::<Vec<_>>())?;
    let values = buffer(&(0..N as u32).collect::<Vec<_>>())?;

    // Trifold on that queue: its calls come after what the program enqueued before them.
    let cl = OpenCl::new(&queue)?;
    cl.exclusive_scan(cl.import(&counts)?, Sum).to(&cl.import(&starts)?).run()?;
    let (k, v) = (cl.import(&keys)?, cl.import(&values)?);
    cl.sort(&k).with(&v).in_place().run()?;

    // The program's own commands follow on the same queue.
    let (mut last_start, mut smallest) = (vec![0; 1], vec![0; 4]);
    starts.read(&mut last_start).offset(N - 1).enq()?;
    values.read(&mut smallest).enq()?;
    assert_eq!((last_start[0], smallest[0]), (3 * (N as u32 - 1), 0));
    let device = &cl.caps().device;
    println!("{device}: the last of {N} starts is {last_start:?}; the smallest keys were at {smallest:?}");
    Ok(())
}
