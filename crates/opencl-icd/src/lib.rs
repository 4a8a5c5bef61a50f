//! The OpenCL entry points, forwarded to libOpenCL at run time.
//!
//! `ocl` calls OpenCL through cl-sys, and cl-sys asks the linker for libOpenCL. Such a program is built only where
//! libOpenCL is installed, and starts only where it is.
//!
//! This crate defines every function that cl-sys declares, and on Linux those that the Khronos loader exports besides.
//! Other code in the program that calls OpenCL is linked to these too. Each function looks up its namesake at its first
//! call, in
//!
//! | system  | library                                                  |
//! |---------|----------------------------------------------------------|
//! | Linux   | `libOpenCL.so.1`                                         |
//! | Windows | `OpenCL.dll`                                             |
//! | macOS   | `/System/Library/Frameworks/OpenCL.framework/OpenCL`     |
//!
//! The environment variable `TRIFOLD_OPENCL_LIBRARY` names another library to open instead.
//!
//! Where there is no library, each function answers `CL_PLATFORM_NOT_FOUND_KHR` (-1001). Where the library is too old
//! to have the function, it answers `CL_INVALID_OPERATION` (-59). Functions that return a handle return null and write
//! the code to `errcode_ret`.
//!
//! Ask [`library`] before asking `ocl`: it says why there is no OpenCL and what to install. The function
//! `ocl::core::get_platform_ids` takes -1001 for a driver that is still waking up, and tries for ten seconds.
//!
//! A crate that nothing refers to is not linked. Call [`link`], or [`library`], or write
//! `use trifold_opencl_icd as _;`.
//!
//! Tried on Linux. On Windows the definitions here stand in for an import library (MSVC warns LNK4217); on macOS the
//! framework is still named in the program, and is part of the system. A `cdylib` with this crate exports the symbols,
//! a program does not.

mod forwards;
mod library;

/// The path of the OpenCL library in use, or why none could be opened and what to install.
///
/// The library is opened at the first call, of this or of any OpenCL function; the answer then stays the same.
///
/// # Errors
///
/// A message for the user, when the library is missing or does not load.
pub fn library() -> Result<&'static str, String> {
    library::opened().map(|opened| opened.path.as_str()).map_err(str::to_owned)
}

/// Does nothing, but whoever calls it has this crate, and with it the OpenCL symbols, in the program.
pub fn link() {}
