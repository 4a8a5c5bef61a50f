//! Lists the OpenCL platforms through `ocl`, without linking libOpenCL.

use std::ptr::{null, null_mut};

use ocl::{core, ffi};

fn main() {
    trifold_opencl_icd::link();
    match trifold_opencl_icd::library() {
        Ok(path) => println!("library: {path}"),
        Err(reason) => println!("library: {reason}"),
    }

    let mut count = 0;
    // SAFETY: no platforms are asked for, only their number, and `count` is a place for it.
    let status = unsafe { ffi::clGetPlatformIDs(0, null_mut(), &mut count) };
    println!("clGetPlatformIDs: {status}");

    let mut errcode = 0;
    // SAFETY: a context of no devices is refused, whatever else is given; `errcode` is a place for the reason.
    let context = unsafe { ffi::clCreateContext(null(), 0, null(), None, null_mut(), &mut errcode) };
    println!("clCreateContext: {errcode}, null: {}", context.is_null());

    if status != 0 {
        return; // `get_platform_ids` would try for ten seconds
    }
    for platform in core::get_platform_ids().expect("clGetPlatformIDs has succeeded") {
        match core::get_platform_info(platform, core::PlatformInfo::Name) {
            Ok(name) => println!("platform: {name}"),
            Err(error) => println!("platform: {error}"),
        }
    }
}
