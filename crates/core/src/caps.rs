//! What a device can do, as the planner needs to know it.

use crate::{ElementType, Error, Language, Result};

/// What kind of device it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// A GPU with its own memory.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// The host's processor, directly or behind a graphics or compute API.
    Cpu,
    /// Anything else.
    Other,
}

/// The subgroups (warps, wavefronts) of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subgroups {
    /// The narrowest a kernel may get.
    pub min: u32,
    /// The widest a kernel may get.
    pub max: u32,
    /// How kernels reach them.
    pub source: SubgroupSource,
}

/// How kernels reach a subgroup's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubgroupSource {
    /// The language's own functions.
    Native,
    /// NVIDIA's PTX inline in OpenCL C.
    InlinePtx,
    /// Local memory and barriers; the device has none, or none of a known width.
    Emulated,
}

/// A device's identity, limits and features.
///
/// Fields may come. A backend begins with [`Caps::new`], which promises nothing, and sets what it knows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Caps {
    /// The backend: cpu, wgpu, opencl or cuda.
    pub backend: &'static str,
    /// The device's name.
    pub device: String,
    /// The driver and its version.
    pub driver: String,
    /// The API below the backend: Vulkan, Gl, OpenCL 3.0, CUDA 13.0 and so on.
    pub api: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// What its kernels are written in.
    pub language: Language,
    /// Multiprocessors, compute units or threads; an estimate where the API does not say.
    pub compute_units: u32,
    /// Its memory in bytes, 0 where the API does not say.
    pub memory: u64,
    /// Its subgroups; `None` if kernels have to do without.
    pub subgroups: Option<Subgroups>,
    /// Whether 64-bit integers can be used.
    pub int64: bool,
    /// Whether 64-bit floats can be used.
    pub float64: bool,
    /// Whether kernels have atomics on 64-bit words.
    pub atomics64: bool,
    /// Whether kernels load, store and compare-and-swap 128-bit words whole (CUDA and NVIDIA's OpenCL from sm_90 on).
    pub atomics128: bool,
    /// Whether WGSL's plain storage can be `@coherent`: what one workgroup writes another reads, given fences.
    pub coherent: bool,
    /// Whether WGSL's subgroups have a barrier of their own.
    pub subgroup_barrier: bool,
    /// Whether a workgroup that has started keeps running while another one waits for it.
    pub forward_progress: bool,
    /// The most invocations in a workgroup.
    pub max_workgroup: u32,
    /// The most workgroup memory, in bytes.
    pub shared_bytes: u32,
    /// The most workgroup memory of a kernel that asks for it and fills it by bulk copies; 0 where there are none (all but
    /// CUDA from sm_90).
    pub bulk_shared_bytes: u32,
    /// The most bytes a kernel can reach through one binding.
    pub max_binding: u64,
    /// The most bytes of one buffer.
    pub max_buffer: u64,
    /// The most buffers that a kernel reaches.
    pub max_bindings: u32,
    /// The alignment at which a binding may start, in bytes.
    pub binding_alignment: u64,
    /// Whether a copy within the device is best left to the API.
    pub native_copy: bool,
    /// What may help where it lacks something, in words that stand behind a refusal; empty where nothing may.
    pub remedy: String,
}

impl Caps {
    /// A device that can do the least: one compute unit, workgroups of one invocation, 32-bit words.
    pub fn new(backend: &'static str, device: String, language: Language) -> Caps {
        Caps {
            backend,
            device,
            driver: String::new(),
            api: String::new(),
            kind: DeviceKind::Other,
            language,
            compute_units: 1,
            memory: 0,
            subgroups: None,
            int64: false,
            float64: false,
            atomics64: false,
            atomics128: false,
            coherent: false,
            subgroup_barrier: false,
            forward_progress: false,
            max_workgroup: 1,
            shared_bytes: 0,
            bulk_shared_bytes: 0,
            max_binding: u64::MAX,
            max_buffer: u64::MAX,
            max_bindings: u32::MAX,
            binding_alignment: 1,
            native_copy: false,
            remedy: String::new(),
        }
    }

    /// The same with some fields changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Caps)) -> Caps {
        change(&mut self);
        self
    }

    /// Whether there are subgroups that local memory and barriers stand in for.
    pub fn emulates_subgroups(&self) -> bool {
        self.subgroups.is_some_and(|s| s.source == SubgroupSource::Emulated)
    }

    /// Fails with the reason if kernels do not compute with one of the element's scalars, or the device lacks it.
    pub fn check_element(&self, element: &ElementType) -> Result<()> {
        if let Some(moved) = element.scalars().find(|scalar| !scalar.is_computed()) {
            let moved = moved.name();
            return Err(Error::Unsupported(format!(
                "kernels move {moved} and compare it as keys, but do not compute with it; use a type of 32 or 64 bits"
            )));
        }
        let Some(lacking) = element.scalars().find(|scalar| !scalar.is_of(self)) else { return Ok(()) };
        Err(Error::Unsupported(format!(
            "{} ({}, {}) has no {}{}; use a 32-bit type or another device",
            self.device,
            self.backend,
            self.api,
            lacking.name(),
            self.remedy
        )))
    }

    /// Fails with the reason if kernels cannot hold a value of this type and compute with it.
    pub(crate) fn check_value(&self, element: &ElementType) -> Result<()> {
        self.check_element(&element.held())
    }

    /// Fails, naming the limit, if a span of `bytes` is more than a kernel can reach.
    pub fn check_span(&self, what: &str, bytes: u64) -> Result<()> {
        let limit = self.max_binding.min(self.max_buffer);
        if bytes > limit {
            return Err(Error::Invalid(format!(
                "the {what} has {bytes} bytes, and {} ({}) can bind at most {limit}; split the work",
                self.device, self.backend
            )));
        }
        Ok(())
    }
}
