//! The one OpenCL library of this process, opened when first asked for.

use std::{env, error::Error, ffi::OsString, sync::OnceLock};

use cl_sys::{CL_INVALID_OPERATION, CL_PLATFORM_NOT_FOUND_KHR, cl_int};
use libloading::Library;

const VARIABLE: &str = "TRIFOLD_OPENCL_LIBRARY";

const DEFAULT: &str = if cfg!(windows) {
    "OpenCL.dll"
} else if cfg!(target_vendor = "apple") {
    "/System/Library/Frameworks/OpenCL.framework/OpenCL"
} else if cfg!(target_os = "android") {
    "libOpenCL.so"
} else {
    "libOpenCL.so.1"
};

const REMEDY: &str = if cfg!(windows) {
    "OpenCL.dll comes with the graphics driver: install the vendor's current one"
} else if cfg!(target_vendor = "apple") {
    "the OpenCL framework is a part of macOS"
} else {
    "on Debian or Ubuntu, install ocl-icd-libopencl1 and a driver: the GPU vendor's, or pocl-opencl-icd for the CPU"
};

/// An open library, and the path that opened it.
pub struct Opened {
    pub path: String,
    library: Library,
}

/// Opens the library the first time; afterwards repeats the answer. It is never closed.
pub fn opened() -> Result<&'static Opened, &'static str> {
    static OPENED: OnceLock<Result<Opened, String>> = OnceLock::new();
    OPENED.get_or_init(open).as_ref().map_err(String::as_str)
}

fn open() -> Result<Opened, String> {
    let chosen = env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let hint = if chosen.is_some() { format!("it was named by {VARIABLE}") } else { REMEDY.to_owned() };
    let file = chosen.unwrap_or_else(|| OsString::from(DEFAULT));
    let path = file.to_string_lossy().into_owned();
    // SAFETY: opening a library runs its initialisers. The file is the system's OpenCL loader, or one that the user
    // named in place of it: both are made to be loaded into any program, on any thread.
    match unsafe { Library::new(file) } {
        Ok(library) => Ok(Opened { path, library }),
        Err(error) => {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            Err(format!("cannot open the OpenCL library {path}: {reason} ({hint})"))
        }
    }
}

/// The library's function of this name, or the OpenCL status that says why there is none.
///
/// # Safety
///
/// `F` is a function pointer type, and the type that OpenCL specifies for `name`.
pub unsafe fn function<F: Copy>(name: &str) -> Result<F, cl_int> {
    let opened = opened().map_err(|_| CL_PLATFORM_NOT_FOUND_KHR)?;
    // SAFETY: the caller promises that `F` is the symbol's type. The copy outlives the `Symbol` but not the library,
    // which lives in a static.
    unsafe { opened.library.get::<F>(name) }.map(|symbol| *symbol).map_err(|_| CL_INVALID_OPERATION)
}
