//! A caller's own device, its limits and its mistakes: each is an error that says so, and none is taken for another.

mod adapters;

use trifold_conformance::devices_or_skip;
use trifold_core::{Backend, Error, Layout, Options, Prepared, Reduce, Request, Spans, Sum, Transfer, block_on};
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

/// A span of as many bytes as the device binds, behind the place at which it can be bound.
#[test]
fn a_binding_beyond_the_devices_limit_is_refused() {
    for [gpu, _] in plain_devices() {
        let most = gpu.caps().max_binding;
        assert!(most.is_multiple_of(16) && most <= 128 << 20, "wgpu's default: {most}");
        let (from, to) = (gpu.alloc(most + 16).unwrap(), gpu.alloc(4).unwrap());
        let narrow = Layout { wide: false, in_place: false };
        let prepared =
            block_on(Prepared::new(&gpu, &Request::reduce::<u32, Sum>(None, most / 4), narrow, Options::default()))
                .unwrap();
        let (whole, to) = (gpu.span(&from), gpu.span(&to));
        let bind = |at| prepared.bind(&gpu, &Spans::new(&whole.slice(at, most).unwrap(), &to)).map(drop);
        assert!(bind(0).is_ok());
        let Err(Error::Invalid(why)) = bind(4) else { panic!("it is bound") };
        assert!(why.contains(&most.to_string()) && why.contains("input"), "{why}");
    }
}

#[test]
fn a_step_of_another_device_is_refused() {
    for [own, other] in plain_devices() {
        let (from, to) = (own.upload(&[1_u32; 9]).unwrap(), own.alloc(4).unwrap());
        let prepared =
            block_on(Prepared::new(&own, &Request::reduce::<u32, Sum>(None, 9), Layout::default(), Options::default()))
                .unwrap();
        let bound = prepared.bind(&own, &Spans::new(&own.span(&from), &own.span(&to))).unwrap();
        let mut encoder = other.record().unwrap();
        let Err(Error::Invalid(why)) = bound.record(&other, &mut encoder) else { panic!("it is executed") };
        assert!(why.contains("another opening"), "{why}");
        // Nothing has happened to the encoder.
        other.submit(encoder).unwrap();
        assert!(matches!(bound.time(&other, None, 1), Err(Error::Invalid(_) | Error::Unsupported(_))));
        bound.run(&own).unwrap();
        assert_eq!(own.download::<u32>(&own.span(&to)).unwrap(), [9]);
    }
}

/// An application's mistake that no scope caught is no kernel's.
#[test]
fn another_calls_error_is_no_compile_error() {
    for adapter in adapters::that_open() {
        let gpu = Wgpu::open(&adapter).unwrap();
        let (from, to) = (gpu.upload(&[2_u32; 100]).unwrap(), gpu.alloc(4).unwrap());
        // An index buffer that can be mapped: nothing allows that.
        let usage = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::MAP_READ;
        drop(gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4,
            usage,
            mapped_at_creation: false,
        }));
        let reduce = || gpu.reduce::<u32, Sum>(&gpu.span(&from), &gpu.span(&to));
        let first = reduce();
        assert!(matches!(first, Ok(()) | Err(Error::Backend { .. })), "{first:?}");
        reduce().unwrap();
        assert_eq!(gpu.download::<u32>(&gpu.span(&to)).unwrap(), [200]);
    }
}
