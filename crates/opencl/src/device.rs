//! Finding the devices of all platforms, and what OpenCL says of one.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use ocl::core::{DeviceId, PlatformId};
use ocl::ffi;
use trifold_core::bytemuck::AnyBitPattern;
use trifold_core::{Caps, Error, Result};

use crate::caps::Profile;
use crate::objects::{info, string, value};
use crate::status::{Checked, check};

/// A device of this machine.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// Its place among all devices of all platforms, from 0.
    pub index: usize,
    /// Its platform: the driver's name.
    pub platform: String,
    /// Its name.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// The OpenCL version that it implements, with what the vendor adds to that.
    pub version: String,
    id: DeviceId,
    platform_id: PlatformId,
}

impl DeviceInfo {
    /// The device as ocl knows it.
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// Its platform as ocl knows it: what a context of the device is made on.
    pub fn platform_id(&self) -> PlatformId {
        self.platform_id
    }

    /// What the device can do, without opening it.
    pub fn caps(&self) -> Result<Caps> {
        Ok(Profile::of(Device(self.id))?.caps)
    }
}

pub(crate) fn devices() -> Result<Vec<DeviceInfo>> {
    trifold_opencl_icd::library().map_err(Error::Unsupported)?;
    // Two threads that enter an ICD loader for the first time together may both find it without platforms.
    static FIRST: Mutex<()> = Mutex::new(());
    let _first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);

    let mut found = vec![];
    // One broken driver or device does not hide the others; where nothing else is found, it is why.
    let mut broken = None;
    for platform in platforms()? {
        let devices = platform_devices(platform).unwrap_or_else(|status| vec![Err(status)]);
        for device in devices {
            match device {
                Ok(device) => found.push(DeviceInfo { index: found.len(), ..device }),
                Err(status) => {
                    tracing::warn!(%status, "a device of an OpenCL platform is left out");
                    broken = Some(status);
                }
            }
        }
    }
    match broken {
        Some(status) if found.is_empty() => Err(status.error("listing the OpenCL devices")),
        _ => Ok(found),
    }
}

fn platforms() -> Result<Vec<ffi::cl_platform_id>> {
    let call = "clGetPlatformIDs";
    let mut count = 0;
    // SAFETY: with no room for platforms, only the count is written.
    let code = unsafe { ffi::clGetPlatformIDs(0, ptr::null_mut(), &mut count) };
    if code == ffi::CL_PLATFORM_NOT_FOUND_KHR || (code == ffi::CL_SUCCESS && count == 0) {
        return Err(Error::Unsupported(
            "libOpenCL is here but no driver for it; install the GPU vendor's OpenCL driver, or PoCL \
             (pocl-opencl-icd) to run on the processor"
                .into(),
        ));
    }
    check(call, code).map_err(|s| s.error("listing the OpenCL platforms"))?;
    let mut platforms = vec![ptr::null_mut(); count as usize];
    let mut written = count;
    // SAFETY: there is room for `count` platforms.
    let code = unsafe { ffi::clGetPlatformIDs(count, platforms.as_mut_ptr(), &mut written) };
    check(call, code).map_err(|s| s.error("listing the OpenCL platforms"))?;
    platforms.truncate(written as usize);
    Ok(platforms)
}

/// A platform's devices, each as far as it tells of itself.
fn platform_devices(platform: ffi::cl_platform_id) -> Checked<Vec<Checked<DeviceInfo>>> {
    let call = "clGetDeviceIDs";
    let all = ffi::CL_DEVICE_TYPE_ALL;
    let mut count = 0;
    // SAFETY: the platform is one that clGetPlatformIDs gave; with no room for devices, only the count is written.
    let code = unsafe { ffi::clGetDeviceIDs(platform, all, 0, ptr::null_mut(), &mut count) };
    if code == ffi::CL_DEVICE_NOT_FOUND || (code == ffi::CL_SUCCESS && count == 0) {
        return Ok(vec![]);
    }
    check(call, code)?;
    let mut ids = vec![ptr::null_mut(); count as usize];
    // SAFETY: as above, with room for `count` devices.
    check(call, unsafe { ffi::clGetDeviceIDs(platform, all, count, ids.as_mut_ptr(), ptr::null_mut()) })?;
    ids.retain(|id| !id.is_null());
    let describe = |id| {
        // SAFETY: the platform gave this device, and root devices live as long as the program.
        let device = Device(unsafe { DeviceId::from_raw(id) });
        Ok(DeviceInfo {
            index: 0,
            platform: device.platform_name()?,
            name: device.string(ffi::CL_DEVICE_NAME)?,
            driver: device.string(ffi::CL_DRIVER_VERSION)?,
            version: device.string(ffi::CL_DEVICE_VERSION)?,
            id: device.0,
            // SAFETY: clGetPlatformIDs gave it, and platforms live as long as the program.
            platform_id: unsafe { PlatformId::from_raw(platform) },
        })
    };
    Ok(ids.into_iter().map(describe).collect())
}

#[derive(Clone, Copy)]
pub(crate) struct Device(pub(crate) DeviceId);

impl Device {
    pub(crate) fn raw(self) -> ffi::cl_device_id {
        self.0.as_raw()
    }

    pub(crate) fn bytes(self, what: u32) -> Checked<Vec<u8>> {
        // SAFETY: a `DeviceId` is a live device, and `info` gives room for as many bytes as it says.
        info("clGetDeviceInfo", |n, to, size| unsafe { ffi::clGetDeviceInfo(self.raw(), what, n, to, size) })
    }

    pub(crate) fn value<T: AnyBitPattern>(self, what: u32) -> Checked<T> {
        value("clGetDeviceInfo", &self.bytes(what)?)
    }

    pub(crate) fn flag(self, what: u32) -> Checked<bool> {
        Ok(self.value::<u32>(what)? != 0)
    }

    pub(crate) fn string(self, what: u32) -> Checked<String> {
        Ok(string(&self.bytes(what)?))
    }

    pub(crate) fn platform(self) -> Checked<ffi::cl_platform_id> {
        Ok(self.value::<usize>(ffi::CL_DEVICE_PLATFORM)? as ffi::cl_platform_id)
    }

    pub(crate) fn platform_name(self) -> Checked<String> {
        let platform = self.platform()?;
        let bytes = info("clGetPlatformInfo", |n, to, size| {
            // SAFETY: the device names its platform, and `info` gives room for as many bytes as it says.
            unsafe { ffi::clGetPlatformInfo(platform, ffi::CL_PLATFORM_NAME, n, to, size) }
        })?;
        Ok(string(&bytes))
    }
}
