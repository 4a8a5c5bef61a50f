//! Finding devices, and what they can do.

use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};
use cudarc::driver::{CudaContext, result};
use trifold_core::{Caps, DeviceKind, Error, Language, Result, SubgroupSource, Subgroups};

use crate::failure::driver;

/// The oldest driver, as cuDriverGetVersion counts: CUDA 12.8 (r570) is the first with every function that cudarc calls
/// here, and cudarc panics on a missing one.
const OLDEST_DRIVER: i32 = 12080;
/// The oldest architecture: CUDA 13 compiles for none before it.
const OLDEST_ARCHITECTURE: u32 = 75;

/// A device that the driver lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// What [`Cuda::open`](crate::Cuda::open) takes.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Its architecture: 90 for sm_90.
    pub architecture: u32,
    /// The API below the backend, as an open device has it: the driver's CUDA, and the architecture.
    pub api: String,
    /// Its memory, in bytes.
    pub memory: u64,
    /// Whether it shares the processor's memory.
    pub integrated: bool,
}

/// Loads and initialises the driver. False if it has no device.
pub(crate) fn initialise() -> Result<bool> {
    // SAFETY: looks for libcuda by NVIDIA's names; loading the driver runs its own initialisers only.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::backend_message(
            "cuda",
            "NVIDIA's driver (libcuda.so.1, or nvcuda.dll) is not installed or not found; install it from \
             https://www.nvidia.com/drivers, or start the container with its GPUs (docker run --gpus all)",
        ));
    }
    match result::init() {
        Ok(()) => {}
        Err(error) if error.0 == CUresult::CUDA_ERROR_NO_DEVICE => return Ok(false),
        Err(error) if error.0 == CUresult::CUDA_ERROR_STUB_LIBRARY => {
            return Err(Error::backend(
                "cuda",
                "the libcuda that was found is the toolkit's stub; take its folder from LD_LIBRARY_PATH",
                error,
            ));
        }
        Err(error) => return Err(driver("starting NVIDIA's driver")(error)),
    }
    let version = driver_version()?;
    if version < OLDEST_DRIVER {
        return Err(Error::Unsupported(format!(
            "NVIDIA's driver is for CUDA {}; install one for CUDA {} (r570) or newer",
            dotted(version),
            dotted(OLDEST_DRIVER)
        )));
    }
    Ok(true)
}

fn driver_version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: the pointer is to an integer that lives through the call; libcuda is loaded.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(driver("asking for the driver's version"))?;
    Ok(version)
}

/// The API below the backend: the driver's CUDA, and the architecture.
fn api(version: i32, architecture: u32) -> String {
    format!("CUDA {} sm_{architecture}", dotted(version))
}

/// 13.0 for 13000.
fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

pub(crate) fn devices() -> Result<Vec<Device>> {
    if !initialise()? {
        return Ok(vec![]);
    }
    let (doing, version) = ("listing devices", driver_version()?);
    let count = result::device::get_count().map_err(driver(doing))?;
    (0..count)
        .map(|ordinal| {
            let device = result::device::get(ordinal).map_err(driver(doing))?;
            // SAFETY: the device was just given by the driver.
            let attribute = |which| unsafe { result::device::get_attribute(device, which) }.map_err(driver(doing));
            let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
            let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
            // SAFETY: as above.
            let memory = unsafe { result::device::total_mem(device) }.map_err(driver(doing))?;
            let architecture = (10 * major + minor).unsigned_abs();
            Ok(Device {
                ordinal: ordinal.unsigned_abs() as usize,
                name: result::device::get_name(device).map_err(driver(doing))?,
                architecture,
                api: api(version, architecture),
                memory: memory as u64,
                integrated: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
            })
        })
        .collect()
}

/// A context's device: its capabilities, and its architecture.
pub(crate) fn capabilities(context: &CudaContext) -> Result<(Caps, u32)> {
    let doing = "asking for the device's properties";
    let attribute = |which| context.attribute(which).map_err(driver(doing));
    let name = context.name().map_err(driver(doing))?;
    let (major, minor) = context.compute_capability().map_err(driver(doing))?;
    let architecture = (10 * major + minor).unsigned_abs();
    if architecture < OLDEST_ARCHITECTURE {
        return Err(Error::Unsupported(format!(
            "{name} is of compute capability {major}.{minor}; the kernels need 7.5 (Turing) or newer: use the wgpu or \
             OpenCL backend"
        )));
    }
    let units = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let opt_in = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    let threads = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    let integrated = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0;
    let memory = context.total_mem().map_err(driver(doing))? as u64;
    let version = driver_version()?;
    let caps = {
        let mut caps = Caps::new("cuda", name, Language::CudaC);
        caps.driver = match kernel_module() {
            Some(module) => format!("NVIDIA {module}, CUDA {}", dotted(version)),
            None => format!("NVIDIA's for CUDA {}", dotted(version)),
        };
        caps.api = api(version, architecture);
        caps.kind = if integrated { DeviceKind::IntegratedGpu } else { DeviceKind::DiscreteGpu };
        caps.compute_units = units.unsigned_abs();
        caps.memory = memory;
        caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
        caps.int64 = true;
        caps.float64 = true;
        caps.atomics64 = true;
        caps.atomics128 = architecture >= 90;
        // Since sm_70 every thread of a block that has started is scheduled independently and gets its turn: CUDA C++
        // promises parallel forward progress. Not to blocks that have not started; tickets number the tiles in the
        // order in which blocks start, so that a block waits on started ones alone.
        caps.forward_progress = true;
        caps.max_workgroup = threads.unsigned_abs().min(1024);
        // What a block may declare statically; more takes dynamic shared memory and an opt-in.
        caps.shared_bytes = 48 * 1024;
        caps.bulk_shared_bytes = if architecture >= 90 { opt_in.unsigned_abs() } else { 0 };
        caps.max_binding = memory;
        caps.max_buffer = memory;
        caps.native_copy = true;
        caps
    };
    Ok((caps, architecture))
}

/// The version of the driver's kernel module, such as 580.65.06, where Linux tells it.
fn kernel_module() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let version = text
        .lines()
        .next()?
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
    Some(version.into())
}
