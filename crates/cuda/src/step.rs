//! Commands with their arguments bound, and how they are enqueued.

use std::ffi::c_void;
use std::ptr::from_ref;

use cudarc::driver::sys::{
    self, CUdeviceptr, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig,
};
use cudarc::driver::{CudaStream, result};
use trifold_core::{Command, Error, MAX_LEAVES, Result, Span, bytes_of_run, in_order};
use trifold_kernels::Packed;

use crate::backend::Loaded;
use crate::failure::driver;
use crate::memory::Owner;
use crate::{Cuda, Handle, Kernel};

/// The most arguments of a kernel: those of the catalogue, with room to grow, and the leaves of views.
pub(crate) const MOST_ARGUMENTS: usize = 16 + MAX_LEAVES;

/// A command with its arguments bound, for the stream of the backend that bound it.
pub struct Step {
    owner: Owner,
    action: Action,
}

enum Action {
    Nothing,
    Fill {
        address: CUdeviceptr,
        words: usize,
        value: u32,
    },
    Copy {
        from: CUdeviceptr,
        to: CUdeviceptr,
        bytes: usize,
        each: u32,
    },
    Launch {
        kernel: Kernel,
        groups: u32,
        /// Each argument's address, in the kernel's order; null where one is left out.
        addresses: Box<[CUdeviceptr]>,
        params: Packed,
    },
}

impl Step {
    /// Binds a command for a stream.
    pub(crate) fn bind(owner: Owner, command: Command<'_, Cuda>) -> Result<Step> {
        let address = |what: &str, span: &Span<Cuda>| address(owner, what, span);
        command.check()?;
        let action = match command {
            Command::Fill { span, value } => {
                let address = address("a fill", &span)?;
                match length(span.bytes() / 4)? {
                    0 => Action::Nothing,
                    words => Action::Fill { address, words, value },
                }
            }
            Command::Copy { from, to, each } => match length(from.bytes())? {
                0 => Action::Nothing,
                bytes => Action::Copy { from: address("a copy", &from)?, to: address("a copy", &to)?, bytes, each },
            },
            Command::Length { .. } => return Err(Command::<Cuda>::no_length()),
            Command::Launch { key, kernel, groups, spans, values } => {
                let name = key.name();
                let Loaded { stream, arguments, params: layout, .. } = &*kernel.0;
                if Owner::of(stream) != owner {
                    return Err(Error::Invalid(format!(
                        "{name} was compiled by another backend; compile it for this one"
                    )));
                }
                if groups == 0 || groups > i32::MAX as u32 {
                    return Err(Error::Invalid(format!("{name} in {groups} blocks; CUDA launches 1 to {}", i32::MAX)));
                }
                let spans = arguments.iter().zip(in_order(name, arguments, &spans)?);
                let addresses = spans.map(|(argument, span)| span.map_or(Ok(0), |span| address(argument.name, span)));
                let addresses = addresses.collect::<Result<_>>()?;
                // An argument is bound at its span's very start.
                let params = layout.pack(key, values, |_| 0)?;
                Action::Launch { kernel: kernel.clone(), groups, addresses, params }
            }
        };
        Ok(Step { owner, action })
    }

    /// Enqueues it. The stream's context must be current on this thread.
    pub(crate) fn enqueue(&self, stream: &CudaStream, n: Option<u32>) -> Result<()> {
        if self.owner != Owner::of(stream) {
            return Err(Error::Invalid("a step that another backend bound; bind it again for this one".into()));
        }
        match &self.action {
            Action::Nothing => Ok(()),
            Action::Fill { address, words, value } => {
                // SAFETY: the span's memory has that many words, aligned as `bind` checked. It is there now, since a `Call` keeps
                // it, and whoever else bound the step promised so; and it outlives the stream's work on
                // it, since its owner waits for that before it frees it. (What a graph captured, its caller keeps.)
                unsafe { sys::cuMemsetD32Async(*address, *value, *words, stream.cu_stream()) }
                    .result()
                    .map_err(driver("enqueuing a fill"))
            }
            Action::Copy { from, to, bytes, each } => {
                let bytes = bytes_of_run(*bytes as u64, *each, n) as usize;
                // SAFETY: both spans have that many bytes, and outlive the work as above.
                unsafe { result::memcpy_dtod_async(*to, *from, bytes, stream.cu_stream()) }
                    .map_err(driver("enqueuing a copy"))
            }
            Action::Launch { kernel, groups, addresses, params } => {
                let params = params.bytes(n);
                let mut arguments = [std::ptr::null_mut::<c_void>(); MOST_ARGUMENTS];
                let values = addresses.iter().map(|address| from_ref(address).cast::<c_void>().cast_mut());
                let values = values.chain([params.as_ptr().cast::<c_void>().cast_mut()]);
                for (argument, value) in arguments.iter_mut().zip(values) {
                    *argument = value;
                }
                let mut early = CUlaunchAttribute {
                    id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                    pad: [0; 4],
                    value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
                };
                let config = CUlaunchConfig {
                    gridDimX: *groups,
                    gridDimY: 1,
                    gridDimZ: 1,
                    blockDimX: kernel.0.workgroup,
                    blockDimY: 1,
                    blockDimZ: 1,
                    sharedMemBytes: kernel.0.dynamic,
                    hStream: stream.cu_stream(),
                    attrs: &mut early,
                    numAttrs: u32::from(kernel.0.follows),
                };
                // SAFETY: the function is of this stream's context (`owner` was compared). It takes exactly these
                // arguments: `Kernel::load` held the catalogue's list, which `addresses` follows, and the size of
                // `params` against the compiled function, at most MOST_ARGUMENTS of them, and a test holds the number of
                // every text's arguments against the catalogue's. The driver copies the values
                // before it returns and writes none of them. What the addresses lead to outlives the work, as above; the
                // kernel is this project's own and stays within the sizes in its parameters. Its code outlives the launch too: `Loaded`
                // waits for the stream before it is unloaded.
                // That it may start early changes nothing in this: its first instruction waits for all that was enqueued before.
                unsafe {
                    sys::cuLaunchKernelEx(
                        &config,
                        kernel.0.function.cu_function(),
                        arguments.as_mut_ptr(),
                        std::ptr::null_mut(),
                    )
                }
                .result()
                .map_err(|error| driver(format_args!("launching {} in {groups} blocks", kernel.0.name))(error))
            }
        }
    }
}

/// A span's address, if it is memory of the stream's.
pub(crate) fn address(owner: Owner, what: &str, span: &Span<Cuda>) -> Result<CUdeviceptr> {
    check_owner(owner, what, span.handle())?;
    Ok(span.offset())
}

pub(crate) fn check_owner(owner: Owner, what: &str, handle: &Handle) -> Result<()> {
    if handle.owner != owner {
        return Err(Error::Invalid(format!(
            "the span for {what} is of another stream or device than this backend; use memory that this Cuda made (a clone is the same \
             one), or import its address (Cuda::import_raw) and order the two streams"
        )));
    }
    Ok(())
}

pub(crate) fn length(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::Invalid(format!("a length of {n} on a 32-bit host")))
}
