//! Gives the linker an OpenCL library with nothing in it.
//!
//! cl-sys asks for one with `#[link(name = "OpenCL")]`; the symbols themselves are in this crate.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");

    let variable = |name| env::var(name).unwrap_or_default();
    let (name, contents) = match (variable("CARGO_CFG_TARGET_OS").as_str(), variable("CARGO_CFG_TARGET_ENV").as_str()) {
        // The framework comes with the system and its SDK: linking it needs no installation.
        ("macos" | "ios", _) => return,
        // An archive without members.
        ("windows", "msvc") => ("OpenCL.lib", "!<arch>\n"),
        ("windows", _) => ("libOpenCL.a", "!<arch>\n"),
        // A linker script without commands.
        _ => ("libOpenCL.so", "/* The OpenCL symbols are defined by trifold-opencl-icd. */\n"),
    };

    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join(name), contents).expect("OUT_DIR is writable");
    println!("cargo:rustc-link-search=native={folder}");
}
