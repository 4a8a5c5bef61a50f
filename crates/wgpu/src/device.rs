//! Finding devices and asking what they can do.

use std::sync::Arc;

use trifold_cache::Cache;
use trifold_core::{
    Backend, Caps, DeviceKind, Error, Kernels, Language, Result, SubgroupSource, Subgroups, Tuning, block_on,
};
use wgpu::Features;

use crate::bind::{MAX_GROUPS, fill_key};
use crate::cache::KernelCache;
use crate::error::Watch;
use crate::gl::{Kept, Turns};
use crate::memory::Opening;
use crate::{Opened, Wgpu};

/// A device that could be opened.
#[derive(Clone)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    /// What wgpu says of it.
    pub info: wgpu::AdapterInfo,
}

/// The features that make kernels faster or types available.
pub fn wanted_features() -> Features {
    Features::SUBGROUP
        | Features::SUBGROUP_BARRIER
        | Features::SHADER_INT64
        | Features::SHADER_INT64_ATOMIC_ALL_OPS
        | Features::SHADER_INT64_ATOMIC_MIN_MAX
        | Features::MEMORY_DECORATION_COHERENT
        | Features::SHADER_F64
        | Features::TIMESTAMP_QUERY
        | Features::PIPELINE_CACHE
}

/// NVIDIA's PCI vendor id.
const NVIDIA: u32 = 0x10de;
/// Lanes, as Direct3D and WebGPU have them at most.
const WIDEST_WAVE: u32 = 128;

impl Wgpu {
    /// The machine's devices, one for each API that reaches them.
    pub fn devices() -> Vec<Adapter> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::PRIMARY | wgpu::Backends::GL);
        descriptor.flags = wgpu::InstanceFlags::empty().with_env();
        let instance = wgpu::Instance::new(descriptor);
        let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let mut adapters: Vec<Adapter> =
            adapters.into_iter().map(|adapter| Adapter { info: adapter.get_info(), adapter }).collect();
        adapters
            .retain(|a| a.adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS));
        adapters.sort_by_key(|a| match a.info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        });
        adapters
    }

    /// What to open a device of one's own with, for [`Wgpu::new`]: the [`wanted_features`] that the adapter has, and
    /// its limits. Add what the program itself needs.
    pub fn requirements(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
        wgpu::DeviceDescriptor {
            label: None,
            required_features: adapter.features() & wanted_features(),
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        }
    }

    /// Opens a device of its own, by its [`Wgpu::requirements`].
    ///
    /// # Errors
    /// [`Error::Backend`] if the driver refuses.
    pub fn open(adapter: &Adapter) -> Result<Wgpu> {
        block_on(Wgpu::open_async(adapter))
    }

    /// As [`Wgpu::open`], for programs that must not block.
    ///
    /// # Errors
    /// As [`Wgpu::open`].
    pub async fn open_async(adapter: &Adapter) -> Result<Wgpu> {
        let descriptor = Wgpu::requirements(&adapter.adapter);
        let opening = Turns::of(&adapter.info).take(|| adapter.adapter.request_device(&descriptor))?;
        let (device, queue) =
            opening.await.map_err(|e| Error::backend("wgpu", format!("opening {}", adapter.info.name), e))?;
        let watch = Watch::device(&device);
        let wgpu = Wgpu::with(device, queue, watch)?;
        // A driver of GL may claim compute shaders in a version that has none.
        if adapter.info.backend == wgpu::Backend::Gl {
            wgpu.compile(&fill_key(&wgpu.caps)).await.map_err(|error| {
                Error::Unsupported(format!("{} through GL: {error}; use it through Vulkan", wgpu.caps.device))
            })?;
        }
        Ok(wgpu)
    }

    /// Works on the caller's device and queue.
    ///
    /// Kernels use the features that the device was opened with, so open it by [`Wgpu::requirements`]. Features that it
    /// lacks are told once, by `tracing`, and in the errors that come of it.
    ///
    /// The device keeps the caller's callbacks, so they hear first when it is lost. This backend's calls then fail if
    /// they make something or wait. wgpu accepts `write`, and what is only submitted, in silence.
    ///
    /// # Errors
    /// - [`Error::Unsupported`] if the device was opened without limits that any kernel needs.
    /// - [`Error::Invalid`] if the queue is another device's.
    pub fn new(device: wgpu::Device, queue: wgpu::Queue) -> Result<Wgpu> {
        let wgpu = Wgpu::with(device, queue, Watch::default())?;
        wgpu.check_queue()?;
        Ok(wgpu)
    }

    fn with(device: wgpu::Device, queue: wgpu::Queue, watch: Watch) -> Result<Wgpu> {
        let turns = Turns::of(&device.adapter_info());
        let (device, queue) = (Kept::new(device, turns), Kept::new(queue, turns));
        let features = device.features();
        let mut caps = caps(&device.adapter_info(), &device.limits(), features);
        let lacking = wanted_features() - features;
        if !watch.is_own() && !lacking.is_empty() {
            let lacking: Vec<_> = lacking.iter_names().map(|(name, _)| name).collect();
            let lacking = lacking.join(", ");
            tracing::info!(
                device = caps.device,
                lacking,
                "opened without features that make kernels faster or types available"
            );
            caps.remedy = format!(
                " (it was opened without {lacking}; open it by Wgpu::requirements(&adapter), if the adapter has them)"
            );
        }
        if device.limits().max_storage_buffers_per_shader_stage < 8 {
            return Err(Error::Unsupported(format!(
                "{} was opened with {} storage buffers a stage, and a sort binds 8; open it by Wgpu::requirements(&adapter)",
                caps.device,
                device.limits().max_storage_buffers_per_shader_stage
            )));
        }
        let groups = device.limits().max_compute_workgroups_per_dimension;
        if groups < MAX_GROUPS {
            return Err(Error::Unsupported(format!(
                "{} was opened with {groups} workgroups a dimension, and kernels launch up to {MAX_GROUPS}; open it by \
                 Wgpu::requirements(&adapter)",
                caps.device
            )));
        }
        let timestamp_period = features.contains(Features::TIMESTAMP_QUERY).then(|| queue.get_timestamp_period());
        let tuning = Tuning::for_device(&caps)?;
        let (opening, kernels) = (Opening::new(), Kernels::default());
        let opened = Opened { device, queue, turns, opening, caps, watch, kernels, timestamp_period };
        Ok(Wgpu {
            opened: opened.into(),
            tuning: tuning.into(),
            cache: KernelCache(Cache::from_env()),
            calls: Arc::default(),
        })
    }
}

fn caps(info: &wgpu::AdapterInfo, limits: &wgpu::Limits, features: Features) -> Caps {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::DiscreteGpu,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    // wgpu does not say how many multiprocessors there are.
    let compute_units = match kind {
        DeviceKind::DiscreteGpu => 128,
        DeviceKind::Cpu => std::thread::available_parallelism().map_or(4, |n| n.get() as u32),
        _ => 32,
    };
    // Direct3D's `WaveLaneCountMax` is reserved, and not to be used, by Microsoft's documentation: but for NVIDIA's GPUs, which have one
    // width, it is the widest of all.
    let is_reserved = info.backend == wgpu::Backend::Dx12 && info.vendor != NVIDIA;
    let widest = if is_reserved { WIDEST_WAVE } else { info.subgroup_max_size };
    let (min, source) = (info.subgroup_min_size, SubgroupSource::Native);
    let known = features.contains(Features::SUBGROUP) && (1..=widest).contains(&min);
    let subgroups = known.then_some(Subgroups { min, max: widest, source });
    {
        let mut caps = Caps::new("wgpu", info.name.clone(), Language::Wgsl);
        caps.driver = format!("{} {}", info.driver, info.driver_info).trim().to_string();
        caps.api = format!("{:?}", info.backend);
        caps.kind = kind;
        caps.compute_units = compute_units;
        caps.subgroups = subgroups;
        caps.int64 = features.contains(Features::SHADER_INT64);
        caps.float64 = features.contains(Features::SHADER_F64);
        caps.atomics64 = features.contains(Features::SHADER_INT64 | Features::SHADER_INT64_ATOMIC_ALL_OPS);
        caps.coherent = features.contains(Features::MEMORY_DECORATION_COHERENT);
        caps.subgroup_barrier = features.contains(Features::SUBGROUP_BARRIER);
        // NVIDIA's GPUs since Volta schedule every resident workgroup; software devices give each one an OS thread until it
        // ends, but Mesa's ends a loop after 65535 turns. Elsewhere a waiting workgroup may starve the one it waits for.
        caps.forward_progress = info.vendor == NVIDIA || (kind == DeviceKind::Cpu && !info.name.contains("llvmpipe"));
        caps.max_workgroup = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        caps.shared_bytes = limits.max_compute_workgroup_storage_size;
        // Kernels load four words at once: what is bound ends at a multiple of 16.
        caps.max_binding =
            u64::from(u32::try_from(limits.max_storage_buffer_binding_size).unwrap_or(u32::MAX)) / 16 * 16;
        caps.max_buffer = limits.max_buffer_size;
        caps.max_bindings = limits.max_storage_buffers_per_shader_stage;
        caps.binding_alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        caps
    }
}
