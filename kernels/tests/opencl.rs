//! The OpenCL texts that software devices do not run: those with NVIDIA's inline PTX and with native subgroups pass clang's front
//! end, for targets that have them. Needs clang, which PoCL's packages bring, and no device. Skipped where there is none.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use trifold_conformance::{Breadth, check_each, describe, kernels, shapes, skip};
use trifold_core::{Caps, DeviceKind, Language, SubgroupSource, Subgroups};
use trifold_kernels::{assemble, catalogue};

/// NVIDIA's OpenCL, which has `asm` and 64-bit atomics.
const PTX: &[&str] = &[
    "--target=nvptx64",
    "-cl-std=CL1.2",
    "-fgnu-keywords",
    "-Xclang",
    "-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics",
    "-D__NV_CL_C_VERSION=120",
];

/// A kind of device, and how clang is told of it.
struct Device {
    caps: Caps,
    arguments: Vec<&'static str>,
}

fn device(width: u32, source: SubgroupSource, arguments: &'static [&'static str]) -> Device {
    let caps = Caps::new("opencl", "a device for tests".into(), Language::OpenClC).with(|caps| {
        caps.driver = "none".into();
        caps.api = "OpenCL 3.0".into();
        caps.kind = DeviceKind::DiscreteGpu;
        caps.compute_units = 64;
        caps.memory = 64 << 30;
        caps.subgroups = Some(Subgroups { min: width, max: width, source });
        caps.int64 = true;
        caps.float64 = true;
        caps.atomics64 = true;
        caps.atomics128 = source == SubgroupSource::InlinePtx;
        caps.subgroup_barrier = true;
        caps.forward_progress = true;
        caps.max_workgroup = 1024;
        caps.shared_bytes = 48 * 1024;
        caps.max_binding = 16 << 30;
        caps.max_buffer = 16 << 30;
    });
    Device { caps, arguments: arguments.to_vec() }
}

/// clang by the name that `TRIFOLD_CLANG` gives, else one in the path.
fn clang() -> Option<PathBuf> {
    let versions = (14..30).rev().map(|version| format!("clang-{version}").into());
    let named = std::env::var_os("TRIFOLD_CLANG").map(PathBuf::from);
    let mut names = named.into_iter().chain(["clang".into()]).chain(versions);
    let runs = |name: &PathBuf| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let found = names.find(runs);
    if found.is_none() {
        skip("clang", "there is no clang: install it, or name it in TRIFOLD_CLANG");
    }
    found
}

/// What clang's front end says against a text, if anything.
fn check(clang: &PathBuf, device: &Device, source: &str) -> Result<(), String> {
    let mut command = Command::new(clang);
    // Constants of a plan stand in conditions, and an extension may need no pragma.
    command.args(["-Werror", "-Wno-constant-logical-operand", "-Wno-ignored-pragmas"]);
    command.args(["-x", "cl", "-fsyntax-only"]).args(&device.arguments).arg("-");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let written = child.stdin.take().map(|mut input| input.write_all(source.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match (output.status.success(), written) {
        (true, Some(Ok(()))) => Ok(()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn check_all(device: &Device) {
    let Some(clang) = clang() else { return };
    let keys = kernels(&device.caps, Breadth::Some);
    let keys = shapes(&keys);
    for entry in catalogue().filter(|entry| entry.only.is_none_or(|l| l == Language::OpenClC)) {
        assert!(keys.iter().any(|key| key.name() == entry.name), "no plan launches {}", entry.name);
    }
    check_each(&device.arguments.join(" "), &keys, |key| {
        let assembled = assemble(key, &device.caps).map_err(|error| error.to_string());
        let checked = assembled.and_then(|text| check(&clang, device, &text.source));
        checked.map_err(|error| format!("{}\n{error}", describe(key)))
    });
}

#[test]
fn with_inline_ptx() {
    check_all(&device(32, SubgroupSource::InlinePtx, PTX));
}

/// As the backend compiles for NVIDIA's GPUs before Volta.
#[test]
fn with_inline_ptx_without_relaxed_accesses() {
    let Device { caps, mut arguments } = device(32, SubgroupSource::InlinePtx, PTX);
    arguments.push("-DVOLATILE_STATES");
    check_all(&Device {
        caps: caps.with(|caps| {
            caps.atomics128 = false;
            caps.forward_progress = false;
        }),
        arguments,
    });
}

#[test]
fn with_native_subgroups() {
    for (standard, atomics64) in [("-cl-std=CL2.0", true), ("-cl-std=CL3.0", false)] {
        let Device { caps, .. } = device(16, SubgroupSource::Native, &[]);
        check_all(&Device {
            caps: caps.with(|caps| caps.atomics64 = atomics64),
            arguments: vec!["--target=spir64", standard],
        });
    }
}

#[test]
fn the_check_refuses_what_is_wrong() {
    let Some(clang) = clang() else { return };
    let wrong = "__kernel void wrong(__global uint *words) { asm(\"mov.u32 %0, 1;\" : \"=r\"(words[0].x)); }";
    let ptx = device(32, SubgroupSource::InlinePtx, PTX);
    assert!(check(&clang, &ptx, wrong).unwrap_err().contains("error:"));
    assert_eq!(check(&clang, &ptx, &wrong.replace(".x", "")), Ok(()));
}
