//! Which devices a command is for, and opening them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Result, bail};
use trifold::backend::{DeviceKind, Language};
pub use trifold::discover::line;
use trifold::tuning::TuningTable;
use trifold::{Device, Error, Found};

/// The devices that match any of the words, or all if there are none. Of all, those are left out that the file of `TRIFOLD_TUNING` has
/// no numbers for; whoever chooses one, and whoever is left with none, is told so as an error.
pub fn matching(words: &[String]) -> Result<Vec<Found>> {
    let devices = listed(words)?;
    let Some((table, path)) = TuningTable::from_env()? else { return Ok(devices) };
    let (tuned, others): (Vec<Found>, Vec<Found>) = devices.into_iter().partition(|found| may_tune(&table, found));
    let names: Vec<String> = others.iter().map(|found| format!("\n  {found}")).collect();
    let none_left = tuned.iter().all(|found| found.backend == "cpu");
    if !others.is_empty() && (none_left || !words.is_empty()) {
        let remedy =
            "run `trifold tune` on them and put its rows behind the table's, choose others, or unset TRIFOLD_TUNING";
        bail!("{}: a tuning table with no numbers for these; {remedy}:{}", path.display(), names.concat());
    }
    if !others.is_empty() {
        eprintln!("note: {} has no numbers for these, which are left out:{}", path.display(), names.concat());
    }
    Ok(tuned)
}

/// As [`matching`], whatever `TRIFOLD_TUNING` names.
pub fn listed(words: &[String]) -> Result<Vec<Found>> {
    let (found, missing) = trifold::discover::search();
    let listing: Vec<String> = found.iter().map(|device| format!("\n  {device}")).collect();
    if found.is_empty() {
        let reasons: Vec<String> = missing.iter().map(|m| format!("\n  {}: {}", m.backend, m.reason)).collect();
        bail!("there is no device:{}", reasons.concat());
    }
    for word in words {
        if !found.iter().any(|device| device.is_named(word)) {
            let absent = missing.iter().filter(|m| m.backend.contains(&word.to_lowercase()));
            let absent: Vec<String> = absent.map(|m| format!("\n{}: {}", m.backend, m.reason)).collect();
            bail!("no device is called `{word}`; there are{}{}", listing.concat(), absent.concat());
        }
    }
    let wanted = |device: &Found| words.is_empty() || words.iter().any(|word| device.is_named(word));
    Ok(found.into_iter().filter(wanted).collect())
}

/// Opens the device to run a user's data on, of those that match. A discrete GPU comes first, through CUDA before wgpu before OpenCL.
/// The CPU backend is next, and then whatever there is. Where none was asked for, one that does not open is passed over.
pub fn best(word: Option<&str>) -> Result<(Found, Device)> {
    // As the library's own choice.
    let named = std::env::var("TRIFOLD_DEVICE").ok().filter(|named| !named.is_empty());
    let words: Vec<String> = word.map(String::from).or(named).into_iter().collect();
    // Opening it tells whether the file of `TRIFOLD_TUNING` is for it.
    let mut devices = listed(&words)?;
    devices.sort_by_key(rank);
    let mut devices = devices.into_iter().peekable();
    while let Some(found) = devices.next() {
        match open(&found) {
            Ok(backend) => return Ok((found, backend)),
            // What the user asked for or set is the user's to mend.
            Err(error) if devices.peek().is_none() || !words.is_empty() || matches!(error, Error::Invalid(_)) => {
                return Err(error).with_context(|| format!("{found} cannot be opened"));
            }
            Err(error) => eprintln!("note: {found} is passed over: {error}"),
        }
    }
    bail!("there is no device")
}

/// Whether a table has numbers for a device, as far as can be told before it is open; the CPU backend has none.
fn may_tune(table: &TuningTable, found: &Found) -> bool {
    let language = match found.backend {
        "cuda" => Language::CudaC,
        "opencl" => Language::OpenClC,
        "wgpu" => Language::Wgsl,
        _ => return true,
    };
    // CUDA's version is part of an open device's API.
    let api = (found.backend != "cuda").then_some(found.api.as_str());
    table.may_be_for(language, &found.device, api, found.kind)
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

/// Opens a device. Drivers' bindings may panic over it.
pub fn open(found: &Found) -> trifold::Result<Device> {
    catch_unwind(AssertUnwindSafe(|| found.open()))
        .unwrap_or_else(|_| Err(Error::backend_message(found.backend, "its binding panicked; -v says how")))
}
