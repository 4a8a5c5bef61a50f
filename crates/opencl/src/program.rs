//! Compiling kernels.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use ocl::ffi;
use trifold_cache::{Cache, Key};
use trifold_core::{Caps, Error, KernelKey, Result, SubgroupSource};
use trifold_kernels::{Assembled, assemble};

use crate::device::Device;
use crate::objects::{Context, KernelObject, Program, info, string, value};
use crate::status::{Checked, Status, check};

/// A compiled kernel.
#[derive(Clone)]
pub struct Kernel(pub(crate) Arc<Compiled>);

pub(crate) struct Compiled {
    program: Program,
    entry_point: CString,
    pub(crate) assembled: Assembled,
}

impl Compiled {
    /// A kernel object of its own for one bound launch: arguments belong to the object.
    pub(crate) fn kernel(&self) -> Checked<KernelObject> {
        kernel_of(&self.program, &self.entry_point)
    }
}

fn kernel_of(program: &Program, entry_point: &CStr) -> Checked<KernelObject> {
    // SAFETY: the program is live and the name ends with a zero; the call gives one reference away, if any.
    unsafe {
        KernelObject::create("clCreateKernel", |code| ffi::clCreateKernel(program.raw(), entry_point.as_ptr(), code))
    }
}

/// Assembles and compiles a kernel, and checks that the device can run its workgroups.
pub(crate) fn compile(
    context: &Context,
    device: Device,
    caps: &Caps,
    options: &CStr,
    cache: &Cache,
    key: &KernelKey,
) -> Result<Kernel> {
    let start = Instant::now();
    let assembled = assemble(key, caps)?;
    let failed = |s: Status| s.error(format_args!("compiling {} for {}", key.name(), caps.device));
    let options = for_assembler(options, key, caps);
    let asked = options.to_string_lossy();
    // PoCL compiles with these too.
    let more = std::env::var_os("POCL_EXTRA_BUILD_FLAGS").unwrap_or_default();
    let more = more.to_string_lossy();
    let kept = Key::new("opencl", &[&assembled.source, &asked, &more, &caps.device, &caps.driver, &caps.api]);
    let entry_point = CString::new(assembled.entry_point)
        .map_err(|_| Error::Invalid(format!("{} has an entry point with a zero in its name", key.name())))?;
    let found = |binary: Vec<u8>| {
        let loaded = load(context, device, &options, &binary, &entry_point);
        loaded.map_err(|status| status.error("loading a cached kernel"))
    };
    let program = match cache.load(&kept, key.name(), found) {
        Some(program) => program,
        None => {
            let program = create(context, &assembled.source).map_err(failed)?;
            build(&program, device, &options, key, caps)?;
            match binary(&program) {
                Ok(binary) => cache.put(&kept, &binary),
                Err(error) => {
                    let error = error.error("asking for a compiled kernel");
                    tracing::debug!(kernel = key.name(), %error, "the driver does not give kernels away; not cached");
                }
            }
            program
        }
    };
    let compiled = Compiled { program, entry_point, assembled };

    let kernel = compiled.kernel().map_err(failed)?;
    // NVIDIA's driver says 256 of every kernel, and runs larger workgroups of those that require them all the same, whose registers fit.
    let most = match is_nvidia(caps) {
        true => caps.max_workgroup as usize,
        false => kernel.info_for(device.raw(), ffi::CL_KERNEL_WORK_GROUP_SIZE).map_err(failed)?,
    };
    let workgroup = compiled.assembled.workgroup;
    if workgroup as usize > most {
        return Err(Error::Unsupported(format!(
            "{} runs workgroups of at most {most} invocations of {}, which was planned with {workgroup}; plan with a \
             smaller tuning",
            caps.device,
            key.name()
        )));
    }
    let local: u64 = kernel.info_for(device.raw(), ffi::CL_KERNEL_LOCAL_MEM_SIZE).map_err(failed)?;
    if local > u64::from(caps.shared_bytes) {
        return Err(Error::Unsupported(format!(
            "{} needs {local} bytes of local memory, and {} has {}; plan with a smaller tuning",
            key.name(),
            caps.device,
            caps.shared_bytes
        )));
    }
    let ms = start.elapsed().as_secs_f64() * 1e3;
    tracing::debug!(kernel = key.name(), device = caps.device, workgroup, local, ms, "compiled");
    Ok(Kernel(Arc::new(compiled)))
}

fn create(context: &Context, source: &str) -> Checked<Program> {
    let (text, length) = (source.as_ptr().cast::<ffi::c_char>(), source.len());
    // SAFETY: the context is live; there is one text, of the length given, which the call copies; it gives one reference away, if any.
    unsafe {
        Program::create("clCreateProgramWithSource", |code| {
            ffi::clCreateProgramWithSource(context.raw(), 1, (&raw const text).cast(), &raw const length, code)
        })
    }
}

/// A program from what [`binary`] gave for the same device and driver.
fn load(context: &Context, device: Device, options: &CStr, binary: &[u8], entry_point: &CStr) -> Checked<Program> {
    let (id, length, bytes) = (device.raw(), binary.len(), binary.as_ptr());
    let mut status = ffi::CL_SUCCESS;
    // SAFETY: the context is live and the device its own; there is one binary, of the length given, which the call copies;
    // status and code are integers that live through it. A driver checks what it is given; the cache's digest says that it
    // is what a driver gave. The call gives one reference away, if any.
    let program = unsafe {
        Program::create("clCreateProgramWithBinary", |code| {
            let (id, length, bytes) = (&raw const id, &raw const length, &raw const bytes);
            ffi::clCreateProgramWithBinary(context.raw(), 1, id, length, bytes, &mut status, code)
        })
    }?;
    check("clCreateProgramWithBinary", status)?;
    // SAFETY: as in `build`.
    check("clBuildProgram", unsafe {
        ffi::clBuildProgram(program.raw(), 1, &raw const id, options.as_ptr(), None, ptr::null_mut())
    })?;
    // It may be another kernel's.
    kernel_of(&program, entry_point)?;
    Ok(program)
}

/// What a driver made of a program's text, for its one device.
fn binary(program: &Program) -> Checked<Vec<u8>> {
    let call = "clGetProgramInfo";
    let sizes = info(call, |n, to, size| {
        // SAFETY: the program is live, and `info` gives room for as many bytes as it says.
        unsafe { ffi::clGetProgramInfo(program.raw(), ffi::CL_PROGRAM_BINARY_SIZES, n, to, size) }
    })?;
    let mut bytes = vec![0_u8; value::<usize>(call, &sizes)?];
    if bytes.is_empty() || sizes.len() != size_of::<usize>() {
        return Err(Status { call, code: ffi::CL_INVALID_BINARY });
    }
    let mut place = bytes.as_mut_ptr();
    // SAFETY: the program has one device, so the answer is one pointer's worth of places, and it leads to as many bytes as the
    // driver said that there are.
    check(call, unsafe {
        let place = (&raw mut place).cast();
        ffi::clGetProgramInfo(program.raw(), ffi::CL_PROGRAM_BINARIES, size_of::<*mut u8>(), place, ptr::null_mut())
    })?;
    Ok(bytes)
}

fn is_nvidia(caps: &Caps) -> bool {
    caps.subgroups.is_some_and(|s| s.source == SubgroupSource::InlinePtx)
}

/// The options, and NVIDIA's own where it is the driver. They have its assembler tell of registers and spills in the
/// build's log. They also bound the registers of a kernel that says how many workgroups a multiprocessor should hold.
fn for_assembler(options: &CStr, key: &KernelKey, caps: &Caps) -> CString {
    if !is_nvidia(caps) {
        return options.to_owned();
    }
    let mut text = options.to_bytes().to_vec();
    text.extend_from_slice(b" -cl-nv-verbose");
    if let (Some(workgroup), Some(resident)) = (key.constant("WORKGROUP"), key.constant("RESIDENT")) {
        text.extend_from_slice(format!(" -cl-nv-maxrregcount={}", most_registers(workgroup, resident)).as_bytes());
    }
    CString::new(text).unwrap_or_else(|_| options.to_owned())
}

/// The registers that an invocation may have so that as many workgroups fit.
fn most_registers(workgroup: u32, resident: u32) -> u32 {
    (REGISTERS / (workgroup * resident).max(1) / 8 * 8).clamp(32, 248)
}

/// Registers of a multiprocessor, on every NVIDIA GPU since Kepler.
const REGISTERS: u32 = 65536;

fn build(program: &Program, device: Device, options: &CStr, key: &KernelKey, caps: &Caps) -> Result<()> {
    let id = device.raw();
    // SAFETY: program and device are live, the options end with a zero, and without a callback the call returns when
    // it is done.
    let code = unsafe { ffi::clBuildProgram(program.raw(), 1, &raw const id, options.as_ptr(), None, ptr::null_mut()) };
    let log = build_info(program, device, ffi::CL_PROGRAM_BUILD_LOG).map(|b| string(&b)).unwrap_or_default();
    // Some drivers report success of a build that failed.
    let status = build_info(program, device, ffi::CL_PROGRAM_BUILD_STATUS)
        .and_then(|bytes| value::<i32>("clGetProgramBuildInfo", &bytes))
        .unwrap_or(ffi::CL_BUILD_SUCCESS);
    match check("clBuildProgram", code) {
        Ok(()) if status == ffi::CL_BUILD_SUCCESS => {
            if !log.is_empty() {
                tracing::trace!(kernel = key.name(), log, "the compiler has remarks");
            }
            Ok(())
        }
        Err(status) if status.code != ffi::CL_BUILD_PROGRAM_FAILURE && log.is_empty() => {
            Err(status.error(format_args!("compiling {} for {}", key.name(), caps.device)))
        }
        _ => {
            let log = if log.is_empty() { "the compiler gave no reason".to_owned() } else { log };
            Err(Error::Compile { kernel: key.name().to_owned(), log })
        }
    }
}

fn build_info(program: &Program, device: Device, what: u32) -> Checked<Vec<u8>> {
    info("clGetProgramBuildInfo", |n, to, size| {
        // SAFETY: program and device are live, and `info` gives room for as many bytes as it says.
        unsafe { ffi::clGetProgramBuildInfo(program.raw(), device.raw(), what, n, to, size) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_workgroups_fit_as_are_asked_for() {
        for (workgroup, resident) in [(256, 2), (256, 3), (256, 5), (128, 10), (64, 16), (128, 0)] {
            let registers = most_registers(workgroup, resident);
            assert!(registers.is_multiple_of(8) && registers <= 248, "{registers}");
            assert!(registers * workgroup * resident <= REGISTERS, "{registers}");
        }
        assert_eq!((most_registers(256, 4), most_registers(256, 5)), (64, 48));
    }
}
