//! Which software devices this machine has, by their drivers' files, and what to install for the others.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::succeeds;

/// Vulkan's loader and lavapipe, GL's software renderer, OpenCL's loader and PoCL, which brings clang.
pub const PACKAGES: [&str; 5] =
    ["mesa-vulkan-drivers", "libegl1", "libgl1-mesa-dri", "ocl-icd-libopencl1", "pocl-opencl-icd"];

/// Whose package on Debian has SwiftShader. Ubuntu's of that name is a snap, without it.
pub const CHROMIUM: &str = "chromium";

/// Whether a driver's files are here. Elsewhere than on Linux, only the driver itself can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Here,
    Missing {
        reason: String,
        packages: Vec<&'static str>,
    },
    /// Not known: try.
    Unknown,
}

fn presence(here: bool, reason: &str, packages: &[&'static str]) -> Presence {
    match (here, cfg!(target_os = "linux")) {
        (true, _) => Presence::Here,
        (false, true) => Presence::Missing { reason: reason.into(), packages: packages.into() },
        (false, false) => Presence::Unknown,
    }
}

/// Mesa's Vulkan driver for processors.
pub fn lavapipe() -> Presence {
    let drivers = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];
    let driver = drivers.iter().any(|folder| has(folder, |name| name.starts_with("lvp_icd")));
    presence(driver && library("libvulkan.so.1"), "no lavapipe", &["mesa-vulkan-drivers"])
}

/// Mesa's GL driver for processors.
pub fn llvmpipe() -> Presence {
    let driver = library("libEGL.so.1")
        && folders().iter().any(|folder| {
            folder.join("dri/swrast_dri.so").exists()
                || has(folder, |name| name.starts_with("libgallium") && name.contains(".so"))
        });
    presence(driver, "no llvmpipe", &["libegl1", "libgl1-mesa-dri"])
}

/// PoCL, or any other OpenCL driver for processors or GPUs.
pub fn opencl() -> Presence {
    let driver = has("/etc/OpenCL/vendors", |name| name.ends_with(".icd"));
    presence(driver && library("libOpenCL.so.1"), "no OpenCL driver", &["ocl-icd-libopencl1", "pocl-opencl-icd"])
}

/// NVIDIA's driver. There is none for processors.
pub fn cuda() -> Presence {
    presence(library("libcuda.so.1"), "no NVIDIA driver", &[])
}

/// clang, which compiles CUDA C for the host: the one that `TRIFOLD_CLANG` names, or one in the path.
pub fn clang() -> Presence {
    let versions = (14..30).map(|version| format!("clang-{version}"));
    let mut names = env::var("TRIFOLD_CLANG").into_iter().chain(["clang".into()]).chain(versions);
    match cfg!(target_os = "linux") {
        true => presence(names.any(|name| succeeds(&name, &["--version"])), "no clang", &["clang"]),
        false => Presence::Missing { reason: "CUDA C runs on Linux hosts alone".into(), packages: vec![] },
    }
}

/// SwiftShader's description for Vulkan's loader: the one that `TRIFOLD_SWIFTSHADER` names, or a browser's.
pub fn swiftshader() -> Option<PathBuf> {
    let browsers = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome", "/opt/microsoft/msedge"];
    let named = env::var_os("TRIFOLD_SWIFTSHADER").map(PathBuf::from);
    let browsers = browsers.map(|folder| Path::new(folder).join("vk_swiftshader_icd.json"));
    let mut found = named.into_iter().chain(browsers).filter(|file| file.exists());
    found.find(|file| file.with_file_name("libvk_swiftshader.so").exists() && library("libvulkan.so.1"))
}

/// Whether the system's loader would find a library.
fn library(name: &str) -> bool {
    folders().iter().any(|folder| folder.join(name).exists())
}

/// Where Linux keeps libraries.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("LD_LIBRARY_PATH").iter().flat_map(env::split_paths).collect();
    let multiarch = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    folders.extend([multiarch.as_str(), "/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    folders
}

fn has(folder: impl AsRef<Path>, wanted: impl Fn(&str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| wanted(&entry.file_name().to_string_lossy()))
}
