//! Runs the Python tests on the module that cargo has built.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use trifold_conformance::skip;

/// The devices that are tested beside the processor, by parts of their lines.
const DEVICES: &str = "TRIFOLD_PYTHON_DEVICES";

/// The folder in which cargo puts what it builds for tests: the module is beside this program.
fn built() -> PathBuf {
    let program = env::current_exe().expect("a program has a path");
    program.parent().expect("a program is in a folder").to_owned()
}

/// Python, with the packages that `cargo xtask test` installs.
fn python(folders: &[&Path]) -> Command {
    let mut python = Command::new(env::var_os("TRIFOLD_PYTHON").unwrap_or_else(|| "python3".into()));
    let own = env::var_os("PYTHONPATH").unwrap_or_default();
    let paths = folders.iter().map(|folder| folder.to_path_buf()).chain(env::split_paths(&own));
    let paths: OsString = env::join_paths(paths).expect("folders without separators");
    python.env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

#[test]
fn the_module_passes_its_tests() {
    let built = built();
    // target/debug/deps
    let packages = built.ancestors().nth(2).expect("cargo's folders").join("python");
    let has_packages = python(&[&packages]).args(["-c", "import hypothesis, numpy, pytest"]).output();
    if !has_packages.is_ok_and(|output| output.status.success()) {
        skip("python", "there is none with numpy, pytest and hypothesis; pip install them");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (library, module) = match () {
        () if cfg!(windows) => ("trifold_gpu.dll", "trifold_gpu.pyd"),
        () if cfg!(target_os = "macos") => ("libtrifold_gpu.dylib", "trifold_gpu.abi3.so"),
        () => ("libtrifold_gpu.so", "trifold_gpu.abi3.so"),
    };
    std::fs::copy(built.join(library), folder.path().join(module)).expect("cargo has built the module");
    let mut tests = python(&[folder.path(), &packages]);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if env::var_os(DEVICES).is_none() {
        let found = trifold::devices();
        let is_found = |name: &&str| found.iter().any(|device| device.to_string().contains(name));
        let names: Vec<_> = ["opencl", "Vulkan"].into_iter().filter(is_found).collect();
        tests.env(DEVICES, names.join(","));
    }
    // PoCL's optimiser takes minutes.
    tests.env("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable");
    // Hypothesis keeps what failed.
    tests.env("HYPOTHESIS_STORAGE_DIRECTORY", folder.path());
    assert!(tests.status().expect("Python starts").success());
}
