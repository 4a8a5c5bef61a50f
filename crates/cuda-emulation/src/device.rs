//! The emulated device as a backend.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trifold_core::{
    Argument, Backend, Caps, Command, DeviceKind, Error, InOrder, KernelKey, Kernels, Language, Reduce, Result, Scan,
    Sort, Span, SubgroupSource, Subgroups,
};
use trifold_cpu::{ALIGNMENT, Region};
use trifold_kernels::ParamsLayout;

use crate::Step;
use crate::compile::{Program, clang};
use crate::run::Stacks;

const MEMORY: u64 = 4 << 30;
/// What new memory holds: kernels must not rely on it.
const POISON: u8 = 0xa5;
/// Few, so that workgroups that stay until all tiles are done are resident together.
const COMPUTE_UNITS: u32 = 3;

/// A device that runs CUDA C on the host's processor, one command at a time.
#[derive(Clone)]
pub struct Emulation(Arc<Opened>);

/// What all handles of a device share.
#[doc(hidden)]
pub struct Opened {
    caps: Caps,
    clang: PathBuf,
    kernels: Kernels<Kernel>,
    /// Held while a command runs: kernels keep a block's memory in variables of their own.
    running: Mutex<Stacks>,
}

#[doc(hidden)]
impl Deref for Emulation {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.0
    }
}

/// A reference to memory of the emulated device, the host's, poisoned, which it keeps.
#[derive(Clone)]
pub struct Handle(trifold_cpu::Handle);

impl From<trifold_cpu::Handle> for Handle {
    fn from(handle: trifold_cpu::Handle) -> Handle {
        Handle(handle)
    }
}

impl AsRef<trifold_cpu::Handle> for Handle {
    fn as_ref(&self) -> &trifold_cpu::Handle {
        &self.0
    }
}

/// A kernel compiled for the host.
#[derive(Clone)]
pub struct Kernel(pub(crate) Arc<Compiled>);

pub(crate) struct Compiled {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) workgroup: u32,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) params: ParamsLayout,
}

impl Emulation {
    /// A device that has what compute capability 9.0 has: words of 128 bits, and copies of tiles by hardware. Plans are those for
    /// its kind: of [`DeviceKind::DiscreteGpu`] with the tiles that ship for NVIDIA's GPUs, of [`DeviceKind::Cpu`] with smaller ones, which
    /// take less time.
    ///
    /// # Errors
    /// [`Error::Unsupported`] without clang.
    pub fn new(kind: DeviceKind) -> Result<Emulation> {
        let caps = {
            let mut caps = Caps::new("cuda", "CUDA C on the host".into(), Language::CudaC);
            caps.driver = "emulated".into();
            caps.api = "CUDA sm_90, emulated".into();
            caps.kind = kind;
            caps.compute_units = COMPUTE_UNITS;
            caps.memory = MEMORY;
            caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
            caps.int64 = true;
            caps.float64 = true;
            caps.atomics64 = true;
            caps.atomics128 = true;
            caps.forward_progress = true;
            caps.max_workgroup = 1024;
            caps.shared_bytes = 48 << 10;
            caps.bulk_shared_bytes = 227 << 10;
            caps.max_binding = MEMORY;
            caps.max_buffer = MEMORY;
            // So that the suite runs the kernel.
            caps
        };
        let opened = Opened { caps, clang: clang()?, kernels: Kernels::default(), running: Mutex::default() };
        Ok(Emulation(opened.into()))
    }

    /// The right to touch memory.
    fn alone(&self) -> MutexGuard<'_, Stacks> {
        // Whoever panicked left stacks at the most.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Emulation {
    type Handle = Handle;
    type Kernel = Kernel;
    type Steps = Vec<Step>;
    type Recorder = InOrder;

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Emulation>> {
        if bytes > self.caps.max_buffer {
            let most = self.caps.max_buffer;
            return Err(Error::Invalid(format!("a buffer of {bytes} bytes; {} has at most {most}", self.caps.device)));
        }
        trifold_cpu::allocate(bytes, POISON, &self.caps.device)
    }

    fn handle_alignment(&self, _: &Handle) -> u64 {
        ALIGNMENT as u64
    }

    fn same(&self, a: &Handle, b: &Handle) -> bool {
        a.0.same(&b.0)
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let compile = async {
            let assembled = trifold_kernels::assemble(key, &self.caps)?;
            let takes = (assembled.arguments.len(), assembled.params.bytes() as usize);
            let program = Program::compile(&self.clang, &assembled.source, assembled.entry_point, takes)?;
            Ok(Kernel(Arc::new(Compiled {
                name: key.name(),
                program,
                workgroup: assembled.workgroup,
                arguments: assembled.arguments,
                params: assembled.params,
            })))
        };
        self.kernels.get_or_compile(key, compile).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Emulation>>, _: bool) -> Result<Vec<Step>> {
        commands.into_iter().map(Step::bind).collect()
    }

    fn record(&self) -> Result<InOrder> {
        Ok(InOrder)
    }

    fn execute(&self, _: &mut InOrder, steps: &Vec<Step>, n: Option<u32>) -> Result<()> {
        let mut stacks = self.alone();
        steps.iter().try_for_each(|step| step.run(n, &mut stacks))
    }

    fn submit(&self, _: InOrder) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, to: &Span<Emulation>, bytes: &[u8]) -> Result<()> {
        to.check_length(bytes.len())?;
        let _alone = self.alone();
        Region::of(to)?.write(bytes)
    }

    async fn read(&self, from: &Span<Emulation>, bytes: &mut [u8]) -> Result<()> {
        from.check_length(bytes.len())?;
        let _alone = self.alone();
        Region::of(from)?.read(bytes)
    }

    fn time(&self, before: Option<&Vec<Step>>, steps: &Vec<Step>, n: Option<u32>, repeat: u32) -> Result<f64> {
        InOrder::time(self, before, steps, n, repeat)
    }
}

impl Scan for Emulation {}
impl Reduce for Emulation {}
impl Sort for Emulation {}
