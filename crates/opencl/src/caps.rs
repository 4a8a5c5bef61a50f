//! What a device can do, and how its kernels are compiled.

use ocl::ffi;
use trifold_core::{Caps, DeviceKind, Error, Language, Result, SubgroupSource, Subgroups};

use crate::device::Device;
use crate::status::Checked;

// Queries of newer versions and of extensions, which cl-sys does not name.
const SUB_GROUP_SIZES_INTEL: u32 = 0x4108;
const OPENCL_C_ALL_VERSIONS: u32 = 0x1066;
const OPENCL_C_FEATURES: u32 = 0x106F;
const COMPUTE_CAPABILITY_MAJOR_NV: u32 = 0x4000;

/// The first compute capability with PTX's relaxed accesses, and whose threads are scheduled each by itself.
const VOLTA: u32 = 7;

/// The width that kernels emulate where a device has no subgroups. It is narrow, for the sake of the loops that stand
/// for shuffles, and as wide as the vectors of most processors.
const EMULATED_WIDTH: u32 = 8;

/// NVIDIA's kernels declare their local memory statically, and then get this much at most.
const NVIDIA_STATIC_SHARED: u64 = 48 << 10;

/// A device's capabilities and the options its compiler gets.
pub(crate) struct Profile {
    pub(crate) caps: Caps,
    pub(crate) options: &'static str,
}

impl Profile {
    pub(crate) fn of(device: Device) -> Result<Profile> {
        ask(device).map_err(|s| s.error("asking an OpenCL device what it can do"))
    }
}

fn ask(device: Device) -> Checked<Profile> {
    let extensions = device.string(ffi::CL_DEVICE_EXTENSIONS)?;
    let has = |name: &str| has_extension(&extensions, name);
    let types: u64 = device.value(ffi::CL_DEVICE_TYPE)?;
    let (cpu, gpu) = (types & ffi::CL_DEVICE_TYPE_CPU != 0, types & ffi::CL_DEVICE_TYPE_GPU != 0);
    let platform = device.platform_name()?;
    // Mesa's and PoCL's drivers for the same GPUs name the same vendor; only NVIDIA's own compiler has its extensions.
    let nvidia = gpu
        && device.string(ffi::CL_DEVICE_VENDOR)?.contains("NVIDIA")
        && (has("cl_nv_compiler_options") || platform.contains("NVIDIA"));
    // One that does not tell is taken for an old one.
    let capability = nvidia.then(|| device.value::<u32>(COMPUTE_CAPABILITY_MAJOR_NV).unwrap_or(0));
    let version = device.string(ffi::CL_DEVICE_VERSION)?;
    let kind = if cpu {
        DeviceKind::Cpu
    } else if !gpu {
        DeviceKind::Other
    } else if device.flag(ffi::CL_DEVICE_HOST_UNIFIED_MEMORY).unwrap_or(false) {
        DeviceKind::IntegratedGpu
    } else {
        DeviceKind::DiscreteGpu
    };

    let local: u64 = device.value(ffi::CL_DEVICE_LOCAL_MEM_SIZE)?;
    let local = if nvidia { local.min(NVIDIA_STATIC_SHARED) } else { local };
    let group: usize = device.value(ffi::CL_DEVICE_MAX_WORK_GROUP_SIZE)?;
    // The first of the three dimensions.
    let items: usize = device.value(ffi::CL_DEVICE_MAX_WORK_ITEM_SIZES)?;
    let most: u64 = device.value(ffi::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?;
    let embedded = device.string(ffi::CL_DEVICE_PROFILE)? == "EMBEDDED_PROFILE";

    let features = named(&device.bytes(OPENCL_C_FEATURES).unwrap_or_default());
    let features: Vec<String> = features.into_iter().map(|(_, name)| name).collect();
    let sizes = sizes(&device.bytes(SUB_GROUP_SIZES_INTEL).unwrap_or_default());
    let (subgroups, options) = subgroups(capability, &extensions, &c_versions(device)?, &features, &sizes);
    let caps = {
        let mut caps = Caps::new("opencl", device.string(ffi::CL_DEVICE_NAME)?, Language::OpenClC);
        caps.driver = format!("{platform} {}", device.string(ffi::CL_DRIVER_VERSION)?);
        caps.api = api(&version);
        caps.kind = kind;
        caps.compute_units = device.value(ffi::CL_DEVICE_MAX_COMPUTE_UNITS)?;
        caps.memory = device.value(ffi::CL_DEVICE_GLOBAL_MEM_SIZE)?;
        caps.subgroups = Some(subgroups);
        caps.int64 = !embedded || has("cles_khr_int64");
        caps.float64 = has("cl_khr_fp64");
        caps.atomics64 = has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics");
        caps.atomics128 = capability >= Some(9) && takes_128_bits(device)?;
        // A processor's threads take turns, and so do those of NVIDIA's workgroups, once started, since Volta. Elsewhere OpenCL promises nothing.
        caps.forward_progress = cpu || capability >= Some(VOLTA);
        caps.max_workgroup = u32::try_from(group.min(items)).unwrap_or(u32::MAX);
        caps.shared_bytes = u32::try_from(local).unwrap_or(u32::MAX);
        caps.max_binding = most;
        caps.max_buffer = most;
        // Where sub-buffers may start, which a caller's scratch is bound as. OpenCL tells it in bits.
        caps.binding_alignment = u64::from(device.value::<u32>(ffi::CL_DEVICE_MEM_BASE_ADDR_ALIGN)? / 8).max(1);
        caps
    };
    Ok(Profile { caps, options })
}

/// Fails with the reason if a device cannot be opened.
pub(crate) fn check_usable(device: Device, caps: &Caps) -> Result<()> {
    let flag = |what| device.flag(what).map_err(|s| s.error("asking an OpenCL device what it can do"));
    let name = &caps.device;
    let version = version(&caps.api).unwrap_or((1, 2));
    if version < (1, 2) {
        return Err(Error::Unsupported(format!("{name} has {}, and 1.2 is needed; update its driver", caps.api)));
    }
    if !flag(ffi::CL_DEVICE_COMPILER_AVAILABLE)? {
        return Err(Error::Unsupported(format!(
            "the driver of {name} has no compiler; install the vendor's full driver"
        )));
    }
    if !flag(ffi::CL_DEVICE_ENDIAN_LITTLE)? {
        return Err(Error::Unsupported(format!("{name} is big-endian; use another device")));
    }
    if !flag(ffi::CL_DEVICE_AVAILABLE)? {
        return Err(Error::DeviceLost(format!("{name} says that it is not available")));
    }
    Ok(())
}

/// The subgroups and the compiler's options. On NVIDIA's own driver the compute capability's first number decides.
/// Elsewhere these do:
///
/// - the device's extensions
/// - the OpenCL C versions that the compiler takes
/// - the optional features of OpenCL 3.0
/// - the widths that a kernel can ask for
fn subgroups(
    nvidia: Option<u32>,
    extensions: &str,
    c_versions: &[(u32, u32)],
    c_features: &[String],
    sizes: &[usize],
) -> (Subgroups, &'static str) {
    let all = |width, source| Subgroups { min: width, max: width, source };
    if let Some(capability) = nvidia {
        let options = if capability >= VOLTA { "-cl-std=CL1.2" } else { "-cl-std=CL1.2 -D VOLATILE_STATES" };
        return (all(32, SubgroupSource::InlinePtx), options);
    }
    // Votes and shuffles are extensions in every version, and so is a width that one can rely on.
    let complete = [
        "cl_intel_required_subgroup_size",
        "cl_khr_subgroup_ballot",
        "cl_khr_subgroup_shuffle",
        "cl_khr_subgroup_shuffle_relative",
    ]
    .into_iter()
    .all(|name| has_extension(extensions, name));
    // Votes are a word's bits.
    let width = sizes.iter().copied().filter(|&s| (8..=32).contains(&s) && s.is_power_of_two()).min();
    let with = |major| c_versions.iter().any(|v| v.0 == major);
    let options = if with(3) && c_features.iter().any(|f| f == "__opencl_c_subgroups") {
        Some("-cl-std=CL3.0")
    } else if with(2) && has_extension(extensions, "cl_khr_subgroups") {
        Some("-cl-std=CL2.0")
    } else {
        None
    };
    match (complete, width, options) {
        (true, Some(width), Some(options)) => (all(width as u32, SubgroupSource::Native), options),
        _ => (all(EMULATED_WIDTH, SubgroupSource::Emulated), "-cl-std=CL1.2"),
    }
}

fn has_extension(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|e| e == name)
}

fn c_versions(device: Device) -> Checked<Vec<(u32, u32)>> {
    let all = named(&device.bytes(OPENCL_C_ALL_VERSIONS).unwrap_or_default());
    if !all.is_empty() {
        return Ok(all.into_iter().map(|(v, _)| (v >> 22, v >> 12 & 0x3ff)).collect());
    }
    // Before OpenCL 3.0: the newest version, which includes those before it.
    Ok(version(&device.string(ffi::CL_DEVICE_OPENCL_C_VERSION)?).into_iter().collect())
}

/// An array of `cl_name_version`: a version in one word and a name in 64 bytes.
fn named(bytes: &[u8]) -> Vec<(u32, String)> {
    bytes
        .chunks_exact(68)
        .map(|entry| {
            let version = u32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
            (version, crate::objects::string(&entry[4..]))
        })
        .collect()
}

fn sizes(bytes: &[u8]) -> Vec<usize> {
    bytes.chunks_exact(size_of::<usize>()).map(trifold_core::bytemuck::pod_read_unaligned).collect()
}

/// "OpenCL 3.0" of "OpenCL 3.0 and what the vendor adds".
fn api(version: &str) -> String {
    version.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

/// Whether NVIDIA's inline PTX for sm_90 has accesses and a compare-and-swap of 128 bits: in the drivers of CUDA 12.3 and newer,
/// whose versions are "545.23.06" and so on.
fn takes_128_bits(device: Device) -> Checked<bool> {
    let driver = numbers(&device.string(ffi::CL_DRIVER_VERSION)?);
    Ok(driver.is_some_and(|driver| driver >= (545, 0)))
}

/// The first number with a point in "OpenCL 3.0 …" or "OpenCL C 1.2 …".
fn version(text: &str) -> Option<(u32, u32)> {
    text.split_ascii_whitespace().find_map(numbers)
}

fn numbers(word: &str) -> Option<(u32, u32)> {
    let mut parts = word.trim().split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: &str = "cl_khr_subgroups cl_intel_required_subgroup_size cl_khr_subgroup_ballot \
                            cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative";

    fn choose(nvidia: Option<u32>, extensions: &str, c: &[(u32, u32)], features: &[&str], sizes: &[usize]) -> String {
        let c_features: Vec<String> = features.iter().map(|f| (*f).to_owned()).collect();
        let (s, options) = subgroups(nvidia, extensions, c, &c_features, sizes);
        format!("{:?} {}..{} {options}", s.source, s.min, s.max)
    }

    #[test]
    fn subgroup_sources() {
        let features = &["__opencl_c_subgroups"];
        let (c12, c2, c3) = (&[(1, 2)][..], &[(2, 0)][..], &[(1, 2), (3, 0)][..]);
        assert_eq!(choose(Some(9), "", c12, &[], &[]), "InlinePtx 32..32 -cl-std=CL1.2");
        assert_eq!(choose(Some(6), "", c12, &[], &[]), "InlinePtx 32..32 -cl-std=CL1.2 -D VOLATILE_STATES");
        assert_eq!(choose(None, "", c12, &[], &[]), "Emulated 8..8 -cl-std=CL1.2");
        assert_eq!(choose(None, COMPLETE, c3, features, &[8, 16, 32]), "Native 8..8 -cl-std=CL3.0");
        assert_eq!(choose(None, COMPLETE, c2, &[], &[4, 16, 32]), "Native 16..16 -cl-std=CL2.0");
        // A 3.0 compiler without subgroups, no width to ask for, and no shuffles.
        assert_eq!(choose(None, COMPLETE, c3, &[], &[8]), "Emulated 8..8 -cl-std=CL1.2");
        assert_eq!(choose(None, COMPLETE, c3, features, &[]), "Emulated 8..8 -cl-std=CL1.2");
        assert_eq!(choose(None, "cl_khr_subgroups", c3, features, &[8]), "Emulated 8..8 -cl-std=CL1.2");
    }

    #[test]
    fn versions() {
        assert_eq!(version("OpenCL C 1.2 PoCL"), Some((1, 2)));
        assert_eq!(version("OpenCL 3.0 CUDA 12.2.138"), Some((3, 0)));
        assert_eq!(api("OpenCL 3.0 PoCL HSTR: pthread"), "OpenCL 3.0");
        assert_eq!(numbers("580.159.04"), Some((580, 159)));
        assert_eq!(numbers("PoCL"), None);
    }
}
