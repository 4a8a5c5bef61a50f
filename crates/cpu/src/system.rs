//! What the operating system says about the processor and its memory.

use std::fs::read_to_string;

/// The processor's name, where the system tells it.
pub(crate) fn processor() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model" | "Hardware").then(|| value.trim().to_owned())
    });
    name.filter(|n| !n.is_empty()).unwrap_or_else(|| "CPU".into())
}

/// All memory in bytes, 0 if unknown.
pub(crate) fn memory() -> u64 {
    meminfo("MemTotal:").unwrap_or(0)
}

/// The bytes that can be had without swapping.
pub(crate) fn available() -> Option<u64> {
    meminfo("MemAvailable:")
}

fn meminfo(key: &str) -> Option<u64> {
    let info = read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
