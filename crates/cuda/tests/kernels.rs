//! Every kernel that the planner can ask a CUDA device for: its text compiles, and its signature is the catalogue's.
//! And compiling with NVRTC alone. Needs no device; skipped, with the reason, where there is no NVRTC.

use trifold_conformance::{Breadth, check_each, describe, draw_kernels, kernels, shapes};
use trifold_core::{Caps, Error, KernelKey, Language};
use trifold_cuda::{compile_to_cubin, nvrtc_version};
use trifold_kernels::{assemble, catalogue};

#[path = "../../core/tests/devices/mod.rs"]
mod devices;

/// An H200 but for the architecture.
fn caps(architecture: u32) -> Caps {
    devices::h200().with(|caps| {
        caps.device = "a device for tests".into();
        caps.atomics128 = architecture >= 90;
        caps.bulk_shared_bytes = if architecture >= 90 { 99 * 1024 } else { 0 };
    })
}

/// Every kernel of every plan for an architecture.
fn keys(architecture: u32) -> Vec<KernelKey> {
    // The driver copies better than a kernel does, and the kernel is in the catalogue all the same.
    let caps = caps(architecture).with(|caps| caps.native_copy = false);
    kernels(&caps, Breadth::Some)
}

/// Whether NVRTC is not there; prints why. One that is named must load.
fn skip() -> bool {
    let Err(error) = nvrtc_version() else { return false };
    assert!(std::env::var_os("TRIFOLD_NVRTC").is_none(), "{error}");
    trifold_conformance::skip("nvrtc", error);
    true
}

/// Each kernel comes up at one turn in so many.
const TURNS: u64 = 4;

/// Compiles each key that comes up, for its architecture.
fn compile_all(what: &str, work: Vec<(&KernelKey, u32)>) {
    let work = draw_kernels(work, TURNS, |(key, _)| *key);
    let compile = |key: &KernelKey, architecture| {
        let assembled = assemble(key, &caps(architecture))?;
        let cubin = compile_to_cubin(&assembled.source, key.name(), architecture)?;
        let section = format!(".text.{}\0", assembled.entry_point);
        if cubin.windows(section.len()).any(|w| w == section.as_bytes()) {
            return Ok(());
        }
        Err(Error::Compile { kernel: key.name().into(), log: format!("no function {}", assembled.entry_point) })
    };
    check_each(what, &work, |(key, architecture)| {
        compile(key, *architecture).map_err(|error| format!("sm_{architecture} {}\n{error}", describe(key)))
    });
}

#[test]
fn the_plans_reach_the_whole_catalogue() {
    let keys = keys(90);
    for entry in catalogue().filter(|entry| entry.only.is_none_or(|l| l == Language::CudaC)) {
        assert!(keys.iter().any(|key| key.name() == entry.name), "no plan launches {}", entry.name);
    }
    for key in &keys {
        assert!(catalogue().any(|kernel| std::ptr::eq(kernel, key.kernel)), "{} is not listed", key.name());
    }
    eprintln!("{} kernels in {} shapes", keys.len(), shapes(&keys).len());
}

#[test]
fn every_kernel_compiles_for_sm_90() {
    if skip() {
        return;
    }
    let keys = keys(90);
    let work: Vec<_> = keys.iter().filter(|key| key.kernel.cuda_from <= 90).map(|key| (key, 90)).collect();
    compile_all("every kernel", work);
}

#[test]
fn every_shape_compiles_for_every_architecture() {
    if skip() {
        return;
    }
    let all = [75, 80, 100, 120].map(|architecture| (keys(architecture), architecture));
    let mut work = vec![];
    for (keys, architecture) in &all {
        work.extend(shapes(keys).into_iter().map(|key| (key, *architecture)));
    }
    for (key, architecture) in &work {
        assert!(key.kernel.cuda_from <= *architecture, "sm_{architecture}: {}", describe(key));
    }
    compile_all("every shape", work);
}

const TWICE: &str = r#"
extern "C" __global__ void __launch_bounds__(256) twice(unsigned* words, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) words[i] *= 2;
}
"#;

#[test]
fn a_kernel_becomes_a_cubin() {
    if skip() {
        return;
    }
    for architecture in [75, 80, 90, 100, 120] {
        let cubin = compile_to_cubin(TWICE, "twice", architecture).unwrap();
        assert!(cubin.starts_with(b"\x7fELF"), "sm_{architecture}: no ELF");
        let section = b".text.twice\0";
        assert!(
            cubin.windows(section.len()).any(|w| w == section),
            "sm_{architecture}: no section of the kernel's name"
        );
    }
}

#[test]
fn the_log_names_the_kernel_and_the_line() {
    if skip() {
        return;
    }
    let error = compile_to_cubin("\n__global__ void broken() { nothing(); }", "scan/broken", 90).unwrap_err();
    let Error::Compile { kernel, log } = error else { panic!("{error:?}") };
    assert_eq!(kernel, "scan/broken");
    assert!(log.contains("scan/broken.cu(2)") && log.contains("nothing"), "{log}");
    assert!(!log.contains('\0'));
}

#[test]
fn an_unknown_architecture_is_unsupported() {
    if skip() {
        return;
    }
    let error = compile_to_cubin(TWICE, "twice", 35).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
    assert!(error.to_string().contains("sm_35"), "{error}");
}

#[test]
fn a_zero_byte_in_the_source_is_an_error() {
    if skip() {
        return;
    }
    let error = compile_to_cubin("// \0", "zero", 90).unwrap_err();
    assert!(matches!(error, Error::Compile { .. }), "{error:?}");
}

/// Machines without a GPU get an error or an empty list, never a panic.
#[test]
fn devices_never_panics() {
    match trifold_cuda::Cuda::devices() {
        Ok(devices) => eprintln!("{devices:?}"),
        Err(error) => {
            eprintln!("{error}");
            assert!(matches!(error, Error::Backend { .. } | Error::Unsupported(_)), "{error:?}");
        }
    }
    let error = trifold_cuda::Cuda::open(usize::MAX).map(drop).unwrap_err();
    assert!(matches!(error, Error::Backend { .. } | Error::Unsupported(_) | Error::Invalid(_)), "{error:?}");
}
