//! Tests of what a machine may lack.

use std::env;
use std::fmt::Display;
use std::path::PathBuf;

/// Says that a test stays untested for want of `what` (`opencl`, `vulkan`, `gl`, `cuda`, `nvrtc`, `clang`, `chromium` or `python`), and why.
///
/// # Panics
/// If `TRIFOLD_REQUIRE`, a list with commas, has that: where it has been installed for the tests, none may be skipped.
pub fn skip(what: &str, why: impl Display) {
    let required = env::var("TRIFOLD_REQUIRE").unwrap_or_default();
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

/// The browser of a test, Chromium or one made of it: the file that `TRIFOLD_CHROMIUM` names, or the first in `PATH`. A test is skipped if
/// there is none: see [`skip`].
pub fn chromium_or_skip() -> Option<PathBuf> {
    let named = env::var_os("TRIFOLD_CHROMIUM").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let browser = named.into_iter().chain(found).find(|file| file.is_file());
    if browser.is_none() {
        skip("chromium", "there is no Chromium: install it, or name it in TRIFOLD_CHROMIUM");
    }
    browser
}
