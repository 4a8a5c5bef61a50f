//! The machine's devices, whichever backends find them. [`devices`] lists them, and [`search`] also says why a backend
//! found none.

use std::pin::Pin;

use crate::backend::DeviceKind;
use crate::{Device, Error, Result, block_on};

/// A device on its way.
type Opening = Pin<Box<dyn Future<Output = Result<Device>>>>;
type Open = Box<dyn Fn() -> Opening + Send + Sync>;

/// A device that a backend found. Finding it does not open it, but for the CPU, whose threads are started and ended.
pub struct Found {
    /// The backend: cpu, wgpu, opencl or cuda.
    pub backend: &'static str,
    /// The device's name.
    pub device: String,
    /// The driver and its version; empty where only an open device tells.
    pub driver: String,
    /// The API below the backend: Vulkan, Gl, OpenCL, CUDA and so on.
    pub api: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    open: Open,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&line(self.backend, &self.device, &self.api))
    }
}

impl Found {
    /// Whether a name means this device, as in the variable `TRIFOLD_DEVICE`: by any part of its line, in upper or lower case. A backend's
    /// whole name means that backend alone.
    ///
    /// ```
    /// for found in trifold::devices() {
    ///     assert!(found.is_named(&found.device));
    ///     assert_eq!(found.is_named("cpu"), found.backend == "cpu");
    /// }
    /// ```
    pub fn is_named(&self, name: &str) -> bool {
        is_named(name, [self.backend, &self.device, &self.api])
    }

    /// Opens the device.
    ///
    /// # Errors
    /// What the driver says, and [`Error::Unsupported`] if the device lacks what the
    /// backend cannot do without.
    pub fn open(&self) -> Result<Device> {
        block_on(self.open_async())
    }

    /// As [`Found::open`], for programs that must not block.
    ///
    /// # Errors
    /// As [`Found::open`].
    pub async fn open_async(&self) -> Result<Device> {
        (self.open)().await
    }
}

/// Whether a name means a device of this backend, name and API, as of [`Found::is_named`].
pub fn is_named(name: &str, [backend, device, api]: [&str; 3]) -> bool {
    let name = name.to_lowercase();
    // `cpu` is also part of the names of other backends' devices.
    if BACKENDS.iter().any(|(backend, _)| *backend == name) {
        return backend == name;
    }
    line(backend, device, api).to_lowercase().contains(&name)
}

/// What a device is listed as, open or not.
pub fn line(backend: &str, device: &str, api: &str) -> String {
    format!("{backend} on {device} ({api})")
}

/// A backend that found no device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The backend: cpu, wgpu, opencl or cuda.
    pub backend: &'static str,
    /// Why, and what to install, in one line.
    pub reason: String,
}

/// Every device of every backend that this build has.
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> trifold::Result<()> {
/// use trifold::prelude::*;
///
/// let found = trifold::devices();
/// let cpu = found.iter().find(|device| device.backend == "cpu").expect("every machine has one");
/// let gpu = cpu.open()?;
/// assert_eq!(gpu.reduce(&gpu.upload(&[3u32, 1, 4])?, Sum).value()?, 8);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
pub fn devices() -> Vec<Found> {
    search().0
}

/// As [`devices`], and the backends that found none, each with what to install.
///
/// ```
/// let (found, missing) = trifold::discover::search();
/// for device in &found {
///     println!("{device}");
/// }
/// for backend in &missing {
///     println!("no {}: {}", backend.backend, backend.reason);
/// }
/// # assert!(!found.is_empty() || !missing.is_empty());
/// ```
pub fn search() -> (Vec<Found>, Vec<Missing>) {
    let (mut found, mut missing) = (vec![], vec![]);
    for (backend, find) in BACKENDS {
        match find() {
            Ok(devices) if devices.is_empty() => {
                missing.push(Missing { backend, reason: "its driver reports no device".into() });
            }
            Ok(devices) => found.extend(devices),
            Err(reason) => missing.push(Missing { backend, reason }),
        }
    }
    (found, missing)
}

/// Opens the best device.
///
/// A GPU with its own memory comes before one that shares the host's, and that before the processor. Of one GPU's APIs
/// CUDA comes before wgpu, and wgpu before OpenCL. A device that does not open is passed over, with a warning.
///
/// If the variable `TRIFOLD_DEVICE` is set, it is the best of the devices that have this name ([`Found::is_named`]).
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> trifold::Result<()> {
/// use trifold::prelude::*;
///
/// let gpu = trifold::open()?;
/// assert_eq!(gpu.reduce(&gpu.upload(&[3u32, 1, 4])?, Sum).value()?, 8);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
///
/// # Errors
/// [`Error::Unsupported`] with what was tried, and what to install, if none opens.
pub fn open() -> Result<Device> {
    block_on(open_async())
}

/// As [`open`], for programs that must not block.
///
/// # Errors
/// As [`open`].
pub async fn open_async() -> Result<Device> {
    let (found, missing) = search();
    let wanted = std::env::var("TRIFOLD_DEVICE").unwrap_or_default();
    let listed: Vec<String> = found.iter().map(Found::to_string).collect();
    let mut tried: Vec<String> = missing.into_iter().map(|m| format!("{}: {}", m.backend, m.reason)).collect();
    let ranked = ranked(found, &wanted);
    if ranked.is_empty() && !listed.is_empty() {
        let there_are = listed.join(", ");
        return Err(Error::Unsupported(format!(
            "no device has `{wanted}` (TRIFOLD_DEVICE) in its line; there are {there_are}"
        )));
    }
    for device in ranked {
        match device.open_async().await {
            Ok(open) => return Ok(open),
            Err(error) => {
                tracing::warn!("{device} does not open, and is passed over: {error}");
                tried.push(format!("{device}: {error}"));
            }
        }
    }
    let whose = if wanted.is_empty() { String::new() } else { format!(" whose line has `{wanted}` (TRIFOLD_DEVICE)") };
    Err(Error::Unsupported(format!("no device{whose} opens; {}", tried.join("; "))))
}

/// Those whose line contains what is wanted, the best first.
fn ranked(mut found: Vec<Found>, wanted: &str) -> Vec<Found> {
    found.retain(|device| device.is_named(wanted));
    found.sort_by_key(|device| {
        let kind = match device.kind {
            DeviceKind::DiscreteGpu => 0,
            DeviceKind::IntegratedGpu => 1,
            DeviceKind::Other => 2,
            // Nothing is between it and the processor.
            DeviceKind::Cpu if device.backend == "cpu" => 3,
            DeviceKind::Cpu => 4,
        };
        (kind, ["cuda", "wgpu", "opencl"].iter().position(|backend| *backend == device.backend))
    });
    found
}

type Search = fn() -> std::result::Result<Vec<Found>, String>;

/// In the order of reports.
const BACKENDS: [(&str, Search); 4] = [("cpu", cpu), ("wgpu", wgpu), ("opencl", opencl), ("cuda", cuda)];

macro_rules! without {
    ($feature:literal, $search:ident) => {
        #[cfg(not(feature = $feature))]
        fn $search() -> std::result::Result<Vec<Found>, String> {
            Err(concat!("this program was built without the feature `", $feature, "`; build it with that").into())
        }
    };
}
without!("cpu", cpu);
without!("wgpu", wgpu);
without!("opencl", opencl);
without!("cuda", cuda);

#[cfg(feature = "cpu")]
fn cpu() -> std::result::Result<Vec<Found>, String> {
    let cpu = crate::cpu::Cpu::new().map_err(|error| error.to_string())?;
    let caps = crate::Backend::caps(&cpu).clone();
    Ok(vec![Found {
        backend: caps.backend,
        device: caps.device,
        driver: caps.driver,
        api: caps.api,
        kind: caps.kind,
        open: Box::new(|| Box::pin(async { Ok(Device::of(crate::cpu::Cpu::new()?)) })),
    }])
}

#[cfg(feature = "wgpu")]
fn wgpu() -> std::result::Result<Vec<Found>, String> {
    use crate::wgpu::{Wgpu, wgpu::DeviceType};
    let found: Vec<Found> = Wgpu::devices()
        .into_iter()
        .map(|adapter| Found {
            backend: "wgpu",
            device: adapter.info.name.clone(),
            driver: format!("{} {}", adapter.info.driver, adapter.info.driver_info).trim().into(),
            api: format!("{:?}", adapter.info.backend),
            kind: match adapter.info.device_type {
                DeviceType::DiscreteGpu => DeviceKind::DiscreteGpu,
                DeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
                DeviceType::Cpu => DeviceKind::Cpu,
                _ => DeviceKind::Other,
            },
            open: Box::new(move || {
                let adapter = adapter.clone();
                Box::pin(async move { Ok(Device::of(Wgpu::open_async(&adapter).await?)) })
            }),
        })
        .collect();
    if found.is_empty() {
        return Err("no Vulkan, Metal, DX12 or GL driver was found; install the GPU vendor's, or Mesa's \
                    (mesa-vulkan-drivers), which also runs on the processor"
            .into());
    }
    Ok(found)
}

#[cfg(feature = "opencl")]
fn opencl() -> std::result::Result<Vec<Found>, String> {
    use crate::opencl::OpenCl;
    let devices = OpenCl::devices().map_err(reason)?;
    let found = devices.into_iter().map(|info| {
        let caps = info.caps().ok();
        Found {
            backend: "opencl",
            device: info.name.clone(),
            driver: caps.as_ref().map_or_else(|| info.driver.clone(), |caps| caps.driver.clone()),
            api: caps.as_ref().map_or_else(|| info.version.clone(), |caps| caps.api.clone()),
            kind: caps.map_or(DeviceKind::Other, |caps| caps.kind),
            open: Box::new(move || {
                let opened = OpenCl::open(&info);
                Box::pin(async { Ok(Device::of(opened?)) })
            }),
        }
    });
    Ok(found.collect())
}

#[cfg(feature = "cuda")]
fn cuda() -> std::result::Result<Vec<Found>, String> {
    use crate::cuda::Cuda;
    let devices = Cuda::devices().map_err(reason)?;
    // Its driver is all that a device needs to be opened, and compiles nothing.
    devices.iter().try_for_each(|device| crate::cuda::check_nvrtc(device.architecture)).map_err(reason)?;
    let found = devices.into_iter().map(|device| Found {
        backend: "cuda",
        api: device.api,
        device: device.name,
        // Only a device that is open tells.
        driver: String::new(),
        kind: if device.integrated { DeviceKind::IntegratedGpu } else { DeviceKind::DiscreteGpu },
        open: Box::new(move || Box::pin(async move { Ok(Device::of(Cuda::open(device.ordinal)?)) })),
    });
    Ok(found.collect())
}

/// An error's text without its kind or its backend, which the report names anyway.
#[cfg(any(feature = "opencl", feature = "cuda"))]
fn reason(error: crate::Error) -> String {
    match error {
        crate::Error::Unsupported(message) | crate::Error::Backend { message, .. } => message,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(backend: &'static str, device: &str, kind: DeviceKind) -> Found {
        let open: Open = Box::new(|| Box::pin(async { Err(Error::Unsupported("a device for tests".into())) }));
        Found { backend, device: device.into(), driver: String::new(), api: String::new(), kind, open }
    }

    #[test]
    fn a_device_is_named_by_any_part_of_its_line() {
        let h200 = ["opencl", "NVIDIA H200", "OpenCL 3.0"];
        for name in ["OpenCL", "nvidia", "h200", "OpenCL 3", "opencl on NVIDIA", "opencl on NVIDIA H200 (OpenCL 3.0)"] {
            assert!(is_named(name, h200), "{name}");
        }
        assert!(!is_named("opencl on NVIDIA", ["opencl", "cpu-skylake", "OpenCL 3.0"]));
        assert!(!is_named("opencl on NVIDIA", ["cuda", "NVIDIA H200", "CUDA 13.0 sm_90"]));
        assert!(!is_named("cpu", ["opencl", "cpu-skylake", "OpenCL 3.0"]));
    }

    #[test]
    fn the_best_device_comes_first() {
        let all = || {
            vec![
                found("cpu", "Processor", DeviceKind::Cpu),
                found("wgpu", "llvmpipe", DeviceKind::Cpu),
                found("wgpu", "Iris", DeviceKind::IntegratedGpu),
                found("wgpu", "H200", DeviceKind::DiscreteGpu),
                found("opencl", "H200", DeviceKind::DiscreteGpu),
                found("cuda", "H200", DeviceKind::DiscreteGpu),
            ]
        };
        let lines = |wanted| ranked(all(), wanted).iter().map(|f| format!("{} {}", f.backend, f.device)).collect();
        let best: Vec<String> = lines("");
        assert_eq!(best, ["cuda H200", "wgpu H200", "opencl H200", "wgpu Iris", "cpu Processor", "wgpu llvmpipe"]);
        let named: Vec<String> = lines("WGPU on h");
        assert_eq!(named, ["wgpu H200"]);
        assert_eq!(lines("no such").len(), 0);
    }
}
