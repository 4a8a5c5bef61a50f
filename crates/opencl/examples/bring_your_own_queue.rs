//! Trifold in a program that has its own OpenCL queue, buffers and scratch: an exclusive scan, and a sort of pairs.

use ocl::{Buffer, Context, Device, Queue};
use trifold_core::{
    Backend, Options, Order, Prepared, Request, Result, ScanKind, Span, Spans, Sum, block_on, scratch_bytes,
};
use trifold_opencl::{OpenCl, ocl};

const N: usize = 1 << 20;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // What the program has already: a queue, in order, and data on the device.
    let devices = OpenCl::devices()?;
    let first = devices.first().ok_or("no OpenCL device")?;
    let device = Device::from(first.id());
    let context = Context::builder().platform(first.platform_id().into()).devices(device).build()?;
    let queue = Queue::new(&context, device, None)?;
    let buffer = |data: &[u32]| Buffer::builder().queue(queue.clone()).len(N).copy_host_slice(data).build();
    let counts = buffer(&vec![3; N])?;
    let starts = buffer(&vec![0; N])?;
    let keys = buffer(&(0..N as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect::<Vec<_>>())?;
    let values = buffer(&(0..N as u32).collect::<Vec<_>>())?;
    let (sorted_keys, sorted_values) = (buffer(&vec![0; N])?, buffer(&vec![0; N])?);

    // Trifold on that queue.
    let cl = OpenCl::new(&queue)?;
    let n = N as u64;
    let scan = Request::scan::<u32, Sum>(ScanKind::Exclusive, None, n);
    let sort = Request::sort_pairs::<u32, u32>(Order::Ascending, n);
    let scanned = Spans::new(&cl.import(&counts)?, &cl.import(&starts)?);
    let sorted = Spans::new(&cl.import(&keys)?, &cl.import(&sorted_keys)?)
        .with_values(&cl.import(&values)?, &cl.import(&sorted_values)?);

    // One scratch buffer for both: the calls run one after the other.
    let bytes = scratch(&cl, &scan, &scanned)?.max(scratch(&cl, &sort, &sorted)?);
    let memory = Buffer::<u8>::builder().queue(queue.clone()).len(bytes.max(1) as usize).build()?;
    let scratch = cl.import(&memory)?;
    call(&cl, &scan, &scanned, &scratch)?;
    call(&cl, &sort, &sorted, &scratch)?;

    // The program's own commands follow on the same queue.
    let (mut last_start, mut smallest) = (vec![0; 1], vec![0; 4]);
    starts.read(&mut last_start).offset(N - 1).enq()?;
    sorted_values.read(&mut smallest).enq()?;
    println!(
        "{}: the last of {N} starts is {last_start:?}; the smallest keys were at {smallest:?}; {bytes} bytes of scratch",
        cl.caps().device
    );
    Ok(())
}

/// What a call needs on this device. Asks no device.
fn scratch(cl: &OpenCl, request: &Request, spans: &Spans<'_, OpenCl>) -> Result<u64> {
    scratch_bytes(request, spans.layout(cl)?, Options::default(), cl.caps(), &cl.tuning())
}

/// Plans and compiles, binds, runs. A program that calls often keeps what is prepared and bound.
fn call<'a>(cl: &OpenCl, request: &Request, spans: &Spans<'a, OpenCl>, scratch: &Span<'a, OpenCl>) -> Result<()> {
    let layout = spans.layout(cl)?;
    let prepared = block_on(Prepared::without_scratch(cl, request, layout, Options::default(), &cl.tuning()))?;
    prepared.bind_with_scratch(cl, spans, scratch)?.run(cl)
}
