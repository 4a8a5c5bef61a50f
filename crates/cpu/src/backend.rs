//! The host's processor as a backend. A command runs when it is recorded, on the calling thread and the backend's own.
//! It is done when recording returns.

use std::sync::Arc;

use parking_lot::ReentrantMutex;
use rayon::{ThreadPool, ThreadPoolBuilder};
use trifold_core::{
    Backend, Caps, Command, DeviceKind, Error, InOrder, KernelKey, Language, Reduce, Result, Scan, Sort, Span,
};

use crate::memory::{self, Region};
use crate::{Handle, Step, system};

/// The host's processor, all of its cores.
#[derive(Clone)]
pub struct Cpu {
    caps: Arc<Caps>,
    pool: Arc<ThreadPool>,
    /// Taken while a call runs, as a queue takes one call after the other.
    queue: Arc<ReentrantMutex<()>>,
}

/// What runs a launch: a function of Rust.
#[derive(Clone, Copy)]
pub struct Kernel(pub(crate) &'static crate::Primitive);

impl Cpu {
    /// The processor with a thread for each of its hardware threads.
    ///
    /// # Errors
    /// [`Error::Backend`] if the threads do not start.
    pub fn new() -> Result<Cpu> {
        Cpu::with_threads(0)
    }

    /// The processor with this many threads; 0 for as many as it has.
    ///
    /// # Errors
    /// As [`Cpu::new`].
    pub fn with_threads(threads: usize) -> Result<Cpu> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("trifold-cpu-{i}"))
            .build()
            .map_err(|e| Error::backend("cpu", "starting threads", e))?;
        let threads = pool.current_num_threads();
        let memory = system::memory();
        // A 32-bit host ends earlier than its memory.
        let limit = if memory == 0 { isize::MAX as u64 } else { memory.min(isize::MAX as u64) };
        let caps = {
            let mut caps = Caps::new("cpu", system::processor(), Language::Host);
            caps.driver = format!("rayon {threads} threads");
            caps.api = "Rust".into();
            caps.kind = DeviceKind::Cpu;
            caps.compute_units = threads as u32;
            caps.memory = memory;
            caps.int64 = true;
            caps.float64 = true;
            caps.atomics64 = true;
            caps.forward_progress = true;
            caps.max_workgroup = 1024;
            caps.shared_bytes = 64 << 10;
            caps.max_binding = limit;
            caps.max_buffer = limit;
            caps.binding_alignment = 4;
            caps.native_copy = true;
            caps
        };
        Ok(Cpu { caps: caps.into(), pool: pool.into(), queue: Default::default() })
    }
}

impl Cpu {
    /// Does something after what other threads have begun before. If an operator's code runs calls itself, these do not
    /// wait for the call that the code is part of.
    fn in_turn<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        if self.pool.current_thread_index().is_some() {
            return work();
        }
        let in_turn = || {
            let _turn = self.queue.lock();
            work()
        };
        if rayon::current_thread_index().is_none() {
            return in_turn();
        }
        // A thread of another pool of rayon's would begin others of its pool's tasks while it waits for this pool, and have the queue meanwhile.
        let outcome = std::thread::scope(|scope| scope.spawn(in_turn).join());
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Backend for Cpu {
    type Handle = Handle;
    type Kernel = Kernel;
    type Steps = Vec<Step>;
    type Recorder = InOrder;

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Cpu>> {
        if bytes > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "a buffer of {bytes} bytes, and {} has {} bytes of memory; split the work",
                self.caps.device, self.caps.max_buffer
            )));
        }
        memory::allocate(bytes, 0, &self.caps.device)
    }

    fn handle_alignment(&self, handle: &Handle) -> u64 {
        handle.alignment()
    }

    fn same(&self, a: &Handle, b: &Handle) -> bool {
        a.same(b)
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let found = crate::PRIMITIVES.iter().find(|primitive| primitive.kernel == key.name());
        let none = || Error::Unsupported(format!("kernel {} on the cpu backend; it runs Rust alone", key.name()));
        found.map(Kernel).ok_or_else(none)
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Cpu>>, _: bool) -> Result<Vec<Step>> {
        commands.into_iter().map(Step::bind).collect()
    }

    fn record(&self) -> Result<InOrder> {
        Ok(InOrder)
    }

    fn execute(&self, _: &mut InOrder, steps: &Vec<Step>, n: Option<u32>) -> Result<()> {
        self.in_turn(|| steps.iter().try_fold(n, |n, step| step.run(n, &self.pool)).map(drop))
    }

    fn submit(&self, _: InOrder) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, to: &Span<Cpu>, bytes: &[u8]) -> Result<()> {
        to.check_length(bytes.len())?;
        self.in_turn(|| Region::of(to)?.write(bytes))
    }

    async fn read(&self, from: &Span<Cpu>, bytes: &mut [u8]) -> Result<()> {
        from.check_length(bytes.len())?;
        self.in_turn(|| Region::of(from)?.read(bytes))
    }

    fn time(&self, before: Option<&Vec<Step>>, steps: &Vec<Step>, n: Option<u32>, repeat: u32) -> Result<f64> {
        InOrder::time(self, before, steps, n, repeat)
    }
}

impl Scan for Cpu {}
impl Reduce for Cpu {}
impl Sort for Cpu {}
