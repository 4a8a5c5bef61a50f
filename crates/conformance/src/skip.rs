//! Tests of what a machine may lack.

use std::fmt::Display;

/// Says that a test stays untested for want of `what` (`opencl`, `vulkan`, `cuda`, `nvrtc`, `clang` or `chromium`), and why.
///
/// # Panics
/// If `TRIFOLD_REQUIRE`, a list with commas, has that: where it has been installed for the tests, none may be skipped.
pub fn skip(what: &str, why: impl Display) {
    let required = std::env::var("TRIFOLD_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == what), "TRIFOLD_REQUIRE has {what}, and {why}");
    eprintln!("skipped: {why}");
}

/// The devices of a test, which is skipped if there is none: see [`skip`].
pub fn devices_or_skip<D, E: Display>(what: &str, found: Result<Vec<D>, E>) -> Vec<D> {
    match found {
        Ok(devices) if devices.is_empty() => skip(what, "there is no device"),
        Ok(devices) => return devices,
        Err(error) => skip(what, error),
    }
    vec![]
}
