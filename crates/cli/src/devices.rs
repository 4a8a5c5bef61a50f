//! `trifold devices`: what there is, and what to install for what there is not.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use trifold::Backend;
use trifold::backend::{Caps, DeviceKind, SubgroupSource};

use crate::args::DevicesArgs;

pub fn run(args: &DevicesArgs) -> Result<ExitCode> {
    let (found, missing) = trifold::discover::search();
    // What a device can do is known once it is open.
    let opened: Vec<_> =
        found.iter().map(|f| (f, crate::choose::open(f).map(|backend| backend.caps().clone()))).collect();
    if args.json {
        let devices: Vec<Value> = opened
            .iter()
            .map(|(found, caps)| match caps {
                Ok(caps) => describe(caps),
                Err(error) => json!({
                    "backend": found.backend, "device": found.device, "driver": found.driver, "api": found.api,
                    "kind": kind(found.kind), "error": error.to_string(),
                }),
            })
            .collect();
        let missing: Vec<Value> = missing.iter().map(|m| json!({ "backend": m.backend, "reason": m.reason })).collect();
        crate::files::print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&json!({ "devices": devices, "missing": missing }))?
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (found, caps) in &opened {
        match caps {
            Ok(caps) => text += &print(caps),
            Err(error) => text += &format!("{found}\n  cannot be opened: {error}\n"),
        }
        text.push('\n');
    }
    for m in &missing {
        text += &format!("{}: no device; {}\n", m.backend, m.reason);
    }
    crate::files::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::DiscreteGpu => "discrete GPU",
        DeviceKind::IntegratedGpu => "integrated GPU",
        DeviceKind::Cpu => "CPU",
        DeviceKind::Other => "other",
    }
}

fn source(source: SubgroupSource) -> &'static str {
    match source {
        SubgroupSource::Native => "native",
        SubgroupSource::InlinePtx => "inline PTX",
        SubgroupSource::Emulated => "emulated",
    }
}

fn describe(caps: &Caps) -> Value {
    json!({
        "backend": caps.backend,
        "device": caps.device,
        "driver": caps.driver,
        "api": caps.api,
        "kind": kind(caps.kind),
        "compute_units": caps.compute_units,
        "memory": if caps.memory == 0 { Value::Null } else { json!(caps.memory) },
        "subgroups": caps.subgroups.map(|s| json!({ "min": s.min, "max": s.max, "source": source(s.source) })),
        "int64": caps.int64,
        "float64": caps.float64,
        "atomics64": caps.atomics64,
        "atomics128": caps.atomics128,
        "forward_progress": caps.forward_progress,
        "native_copy": caps.native_copy,
        "max_workgroup": caps.max_workgroup,
        "shared_bytes": caps.shared_bytes,
        "max_binding": caps.max_binding,
        "max_buffer": caps.max_buffer,
        "binding_alignment": caps.binding_alignment,
    })
}

fn print(caps: &Caps) -> String {
    let subgroups = match caps.subgroups {
        Some(s) if s.min == s.max => format!("{} wide, {}", s.min, source(s.source)),
        Some(s) => format!("{} to {} wide, {}", s.min, s.max, source(s.source)),
        None => "none".into(),
    };
    let flags = [
        ("64-bit integers", caps.int64),
        ("64-bit floats", caps.float64),
        ("64-bit atomics", caps.atomics64),
        ("128-bit atomics", caps.atomics128),
        ("forward progress", caps.forward_progress),
    ];
    let having = |has: bool| -> Vec<&str> { flags.iter().filter(|f| f.1 == has).map(|f| f.0).collect() };
    let list = |names: Vec<&str>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    let memory = if caps.memory == 0 { "unknown".into() } else { size(caps.memory) };
    let Caps { backend, device, api, driver, compute_units, max_workgroup, binding_alignment, .. } = caps;
    let (kind, has, lacks) = (kind(caps.kind), list(having(true)), list(having(false)));
    let [shared, binding, buffer] = [u64::from(caps.shared_bytes), caps.max_binding, caps.max_buffer].map(size);
    format!(
        "{backend} on {device} ({api})
  driver      {driver}
  kind        {kind}, {compute_units} compute units, memory {memory}
  subgroups   {subgroups}
  has         {has}
  lacks       {lacks}
  limits      workgroup {max_workgroup}, workgroup memory {shared}, binding {binding} (aligned to {binding_alignment}), \
         buffer {buffer}
"
    )
}

/// Bytes, in the unit that suits.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    // No device has limits past this; the CPU backend has none and says so by a number this large.
    if bytes >= 1 << 50 {
        return "unlimited".into();
    }
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 { format!("{value:.0} {}", UNITS[unit]) } else { format!("{value:.1} {}", UNITS[unit]) }
}
