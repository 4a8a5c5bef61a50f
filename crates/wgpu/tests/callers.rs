//! A caller's own device, its limits and its mistakes: each is an error that says so, and none is taken for another.

mod adapters;

use trifold_conformance::devices_or_skip;
use trifold_core::{Backend, Device, Error, Reduce, Sum, Transfer, block_on};
use trifold_wgpu::Wgpu;

/// Two devices of each Vulkan adapter, as an application opens them that wants nothing special.
fn plain_devices() -> Vec<[Wgpu; 2]> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let adapters = devices_or_skip("vulkan", Ok::<_, Error>(adapters));
    let open = |adapter: &wgpu::Adapter| {
        let (device, queue) = block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).unwrap();
        Wgpu::new(device, queue).unwrap()
    };
    adapters.iter().map(|adapter| [open(adapter), open(adapter)]).collect()
}

/// A slice of as many bytes as the device binds, behind the place at which it can be bound.
#[test]
fn a_binding_beyond_the_devices_limit_is_refused() {
    for [gpu, _] in plain_devices() {
        let most = gpu.caps().max_binding;
        assert!(most.is_multiple_of(16) && most <= 128 << 20, "wgpu's default: {most}");
        let n = most as usize / 4;
        let (from, to) = (gpu.alloc::<u32>(n + 4).unwrap(), gpu.alloc(1).unwrap());
        let prepare = |at| gpu.reduce(from.slice(at..at + n).unwrap(), Sum).to(&to).prepare().map(drop);
        assert!(prepare(0).is_ok());
        let Err(Error::Invalid(why)) = prepare(1) else { panic!("it is bound") };
        assert!(why.contains(&most.to_string()) && why.contains("input"), "{why}");
    }
}

#[test]
fn a_call_in_another_devices_encoder_is_an_error() {
    for [own, other] in plain_devices() {
        let (from, to) = (own.upload(&[1_u32; 9]).unwrap(), own.alloc(1).unwrap());
        let call = own.reduce(&from, Sum).to(&to).prepare().unwrap();
        let mut encoder = other.record().unwrap();
        let outcome = call.encode(&mut encoder).and_then(|()| other.submit(encoder));
        let Err(error @ Error::Backend { .. }) = outcome else { panic!("{outcome:?}") };
        assert!(error.to_string().contains("Device"), "{error}");
        // Nothing has happened to either.
        call.run().unwrap();
        assert_eq!(to.read().unwrap(), [9]);
        assert_eq!(other.reduce(&other.upload(&[2_u32; 9]).unwrap(), Sum).value().unwrap(), 18);
    }
}

#[test]
fn another_devices_queue_is_an_error() {
    for [own, other] in plain_devices() {
        let refused = Wgpu::new(own.device().clone(), other.queue().clone());
        let Err(Error::Invalid(why)) = refused else { panic!("it is taken") };
        assert!(why.contains("another device's"), "{why}");
        Wgpu::new(own.device().clone(), own.queue().clone()).unwrap();
    }
}

/// An application's mistake that no scope caught is no kernel's.
#[test]
fn another_calls_error_is_no_compile_error() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let from = gpu.upload(&[2_u32; 100]).unwrap();
        // An index buffer that can be mapped: nothing allows that.
        let usage = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::MAP_READ;
        drop(gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4,
            usage,
            mapped_at_creation: false,
        }));
        let reduce = || gpu.reduce(&from, Sum).value();
        let first = reduce();
        assert!(matches!(first, Ok(200) | Err(Error::Backend { .. })), "{first:?}");
        assert_eq!(reduce().unwrap(), 200);
    }
}

/// A program's struct may keep a call alone: it has the buffers, which the program has dropped.
#[test]
fn calls_and_slices_keep_their_memory() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 36, usage, mapped_at_creation: false };
        let theirs = gpu.device().create_buffer(&descriptor);
        let from = gpu.import::<u32>(&theirs).unwrap();
        from.write(&[1; 9]).unwrap();
        let results = gpu.upload(&[7_u32; 3]).unwrap();
        let middle = results.slice(1..2).unwrap();
        let call = gpu.reduce(&from, Sum).to(&middle).prepare().unwrap();
        drop((theirs, from, results));
        drop(gpu);
        call.run().unwrap();
        assert_eq!(middle.read().unwrap(), [9]);
    }
}

#[test]
fn what_cannot_be_imported_is_refused() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let import = |size, usage| {
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            gpu.import::<u64>(&gpu.device().create_buffer(&descriptor))
        };
        assert_eq!(import(24, wgpu::BufferUsages::STORAGE).unwrap().len(), 3);
        for (size, usage, reason) in
            [(24, wgpu::BufferUsages::COPY_DST, "STORAGE"), (20, wgpu::BufferUsages::STORAGE, "20 bytes")]
        {
            let Err(Error::Invalid(why)) = import(size, usage) else { panic!("{size} bytes of {usage:?} are taken") };
            assert!(why.contains(reason), "{why}");
        }
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: 10,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        };
        let why = gpu.import::<u8>(&gpu.device().create_buffer(&descriptor)).map(drop).unwrap_err().to_string();
        assert!(why.contains("a buffer of 10 bytes") && why.contains("multiple of 4"), "{why}");
        // Memory of another opening is the caller's to import.
        let other = Device::of(Wgpu::open(&adapter).unwrap());
        let why = other.import(&gpu.upload(&[1u32]).unwrap()).map(drop).unwrap_err().to_string();
        assert!(why.contains("another opening"), "{why}");
    }
}
