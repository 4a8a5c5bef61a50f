//! Trifold in a program that has its own wgpu device, queue, buffers, scratch and command encoder: an exclusive scan, and
//! a sort of pairs, recorded between the program's own commands.

use trifold_core::{
    Backend, Options, Order, Prepared, Request, Result, ScanKind, Span, Spans, Sum, block_on, bytemuck, scratch_bytes,
};
use trifold_wgpu::wgpu::util::DeviceExt;
use trifold_wgpu::{Wgpu, wanted_features, wgpu};

const N: u32 = 1 << 20;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // What the program has already: a device, opened with the features that Trifold makes use of, and data on it. A device
    // without them works too, by the algorithms that need none.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: adapter.features() & wanted_features(),
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = |data: Vec<u32>| {
        let contents = bytemuck::cast_slice(&data);
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let (counts, starts) = (buffer(vec![3; N as usize]), buffer(vec![0; N as usize]));
    let keys = buffer((0..N).map(|i| i.wrapping_mul(2_654_435_761)).collect());
    let values = buffer((0..N).collect());

    // Trifold on that device.
    let gpu = Wgpu::new(device.clone(), queue.clone())?;
    let n = u64::from(N);
    let scan = Request::scan::<u32, Sum>(ScanKind::Exclusive, None, n);
    let sort = Request::sort_pairs::<u32, u32>(Order::Ascending, n);
    let scanned = Spans::new(&gpu.import(&counts), &gpu.import(&starts));
    let (k, v) = (gpu.import(&keys), gpu.import(&values));
    let sorted = Spans::new(&k, &k).with_values(&v, &v);

    // One scratch buffer for both: the calls run one after the other.
    let bytes = scratch(&gpu, &scan, &scanned)?.max(scratch(&gpu, &sort, &sorted)?);
    let memory = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.max(16),
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let scratch = gpu.import(&memory);

    // The calls go into the program's own encoder, between its own commands, and are submitted with them.
    let mut encoder = device.create_command_encoder(&Default::default());
    record(&gpu, &scan, &scanned, &scratch, &mut encoder)?;
    record(&gpu, &sort, &sorted, &scratch, &mut encoder)?;
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let results =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 20, usage, mapped_at_creation: false });
    encoder.copy_buffer_to_buffer(&starts, 4 * (n - 1), &results, 0, 4);
    encoder.copy_buffer_to_buffer(&values, 0, &results, 4, 16);
    queue.submit([encoder.finish()]);

    // Whether that worked, the range below tells.
    results.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&results.get_mapped_range(..)?);
    assert_eq!((words[0], words[1]), (3 * (N - 1), 0));
    println!(
        "{}: the last of {N} starts is {}; the smallest keys were at {:?}; {bytes} bytes of scratch",
        gpu.caps().device,
        words[0],
        &words[1..]
    );
    Ok(())
}

/// What a call needs on this device. Asks no device.
fn scratch(gpu: &Wgpu, request: &Request, spans: &Spans<'_, Wgpu>) -> Result<u64> {
    scratch_bytes(request, spans.layout(gpu)?, Options::default(), gpu.caps(), &gpu.tuning())
}

/// Plans and compiles, binds, records. A program that calls often keeps what is prepared and bound.
fn record<'a>(
    gpu: &Wgpu,
    request: &Request,
    spans: &Spans<'a, Wgpu>,
    scratch: &Span<'a, Wgpu>,
    encoder: &mut wgpu::CommandEncoder,
) -> Result<()> {
    let layout = spans.layout(gpu)?;
    let prepared = block_on(Prepared::without_scratch(gpu, request, layout, Options::default(), &gpu.tuning()))?;
    prepared.bind_with_scratch(gpu, spans, scratch)?.record(gpu, encoder)
}
