//! Which devices a command is for, and opening them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, bail};
use trifold::{AnyBackend, DeviceKind, Error, Found, Language, TuningTable};

/// The devices that match any of the words, or all if there are none.
pub fn matching(words: &[String]) -> Result<Vec<Found>> {
    let devices = listed(words)?;
    check_tuning(&devices)?;
    Ok(devices)
}

/// As [`matching`], for who does not go by the numbers that `TRIFOLD_TUNING` names.
pub fn listed(words: &[String]) -> Result<Vec<Found>> {
    let (found, missing) = trifold::discover();
    let listing: Vec<String> = found.iter().map(|device| format!("\n  {device}")).collect();
    if found.is_empty() {
        let reasons: Vec<String> = missing.iter().map(|m| format!("\n  {}: {}", m.backend, m.reason)).collect();
        bail!("there is no device:{}", reasons.concat());
    }
    for word in words {
        if !found.iter().any(|device| is_called(device, word)) {
            let absent = missing.iter().filter(|m| m.backend.contains(&word.to_lowercase()));
            let absent: Vec<String> = absent.map(|m| format!("\n{}: {}", m.backend, m.reason)).collect();
            bail!("no device is called `{word}`; there are{}{}", listing.concat(), absent.concat());
        }
    }
    let wanted = |device: &Found| words.is_empty() || words.iter().any(|word| is_called(device, word));
    Ok(found.into_iter().filter(wanted).collect())
}

/// The one device to run a user's data on: of those that match, a discrete GPU if there is one (CUDA before wgpu before
/// OpenCL), else the CPU backend, else whatever there is.
pub fn best(word: Option<&str>) -> Result<Found> {
    let words: Vec<String> = word.map(String::from).into_iter().collect();
    let mut devices = listed(&words)?;
    devices.sort_by_key(rank);
    // There is at least one, or there was an error.
    devices.truncate(1);
    check_tuning(&devices)?;
    devices.pop().ok_or_else(|| anyhow::anyhow!("there is no device"))
}

/// A file of tuning numbers that is for none of the devices is an error: whoever names it expects it to do something.
fn check_tuning(devices: &[Found]) -> Result<()> {
    let Some((table, path)) = TuningTable::from_env()? else { return Ok(()) };
    let is_known = |found: &Found| {
        let language = match found.backend {
            "cuda" => Language::CudaC,
            "opencl" => Language::OpenClC,
            "wgpu" => Language::Wgsl,
            _ => Language::Host,
        };
        // CUDA's version is part of an open device's API.
        let api = (found.backend != "cuda").then_some(found.api.as_str());
        table.may_be_for(language, &found.device, api, found.kind)
    };
    let mut tuned = devices.iter().filter(|found| found.backend != "cpu").peekable();
    if tuned.peek().is_some() && !tuned.any(is_known) {
        let names: Vec<String> = devices.iter().map(|found| format!("\n  {found}")).collect();
        let remedy = "run `trifold tune` on one, or unset TRIFOLD_TUNING";
        bail!("{}: a tuning table with no numbers for any of these; {remedy}:{}", path.display(), names.concat());
    }
    Ok(())
}

fn rank(device: &Found) -> (u32, u32) {
    let backend = match device.backend {
        "cuda" => 0,
        "wgpu" => 1,
        "opencl" => 2,
        _ => 3,
    };
    let class = match device.kind {
        DeviceKind::DiscreteGpu => 0,
        _ if device.backend == "cpu" => 1,
        DeviceKind::IntegratedGpu => 2,
        DeviceKind::Other => 3,
        DeviceKind::Cpu => 4,
    };
    (class, backend)
}

/// Why a device is not open.
pub enum Unopened {
    /// It lacks what the backend needs.
    Unsupported(String),
    Failed(String),
}

/// Opens a device. Drivers' bindings may panic over it.
pub fn open(found: &Found) -> std::result::Result<Box<dyn AnyBackend>, Unopened> {
    match catch_unwind(AssertUnwindSafe(|| found.open())) {
        Ok(Ok(backend)) => Ok(backend),
        Ok(Err(Error::Unsupported(why))) => Err(Unopened::Unsupported(why)),
        Ok(Err(error)) => Err(Unopened::Failed(error.to_string())),
        Err(_) => Err(Unopened::Failed("its binding panicked; -v says how".into())),
    }
}

fn is_called(device: &Found, word: &str) -> bool {
    is_named(word, [device.backend, &device.device, &device.api])
}

/// Whether `--device` with this word means a device of this backend, name and API.
pub fn is_named(word: &str, names: [&str; 3]) -> bool {
    let word = word.to_lowercase();
    // A backend's whole name means that backend: `cpu` is also part of the names of other backends' devices.
    if ["cpu", "wgpu", "opencl", "cuda"].contains(&word.as_str()) {
        return names[0] == word;
    }
    names.iter().any(|name| name.to_lowercase().contains(&word))
}
