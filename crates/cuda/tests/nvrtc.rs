//! Compiling with NVRTC alone: no device, no driver. Skipped, with the reason, where there is no NVRTC.

use trifold_core::Error;
use trifold_cuda::{compile_to_cubin, nvrtc_version};

const TWICE: &str = r#"
extern "C" __global__ void __launch_bounds__(256) twice(unsigned* words, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) words[i] *= 2;
}
"#;

/// Whether NVRTC is not there; prints why. One that is named must load.
fn skip() -> bool {
    let Err(error) = nvrtc_version() else { return false };
    assert!(std::env::var_os("TRIFOLD_NVRTC").is_none(), "{error}");
    trifold_conformance::skip("nvrtc", error);
    true
}

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
