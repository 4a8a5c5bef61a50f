//! The backend: a stream, what its device can do, and the kernels compiled for it.

use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent_flags, CUfunction, CUfunction_attribute, CUresult, CUstreamCaptureStatus};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, result};
use cudarc::nvrtc::Ptx;
use trifold_cache::{Cache, Key};
use trifold_core::{
    Argument, Backend, CallCache, Caps, Command, Error, InOrder, KernelKey, Kernels, Reduce, Result, Scan, Sort, Span,
    Tuning, Turns,
};
use trifold_kernels::{Assembled, ParamsLayout};

use crate::failure::driver;
use crate::memory::Owner;
use crate::pool::Pool;
use crate::step::{self, MOST_ARGUMENTS};
use crate::{Device, Handle, Step, device, graph, label, memory, nvrtc};

/// A CUDA device and a stream of it.
#[derive(Clone)]
pub struct Cuda {
    calls: Arc<CallCache<Cuda>>,
    opened: Arc<Opened>,
    tuning: Arc<Tuning>,
    cache: Cache,
}

/// What all handles of a device share.
#[doc(hidden)]
pub struct Opened {
    stream: Arc<CudaStream>,
    caps: Caps,
    architecture: u32,
    kernels: Kernels<Kernel>,
    /// Taken while a call's steps go into the stream: those of another thread's call, which may share scratch, come before or
    /// after them.
    turns: Turns,
    /// Where memory comes from, if the device has pools.
    pool: Option<Arc<Pool>>,
}

#[doc(hidden)]
impl Deref for Cuda {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

impl std::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cuda").field("caps", &self.caps).field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// A compiled kernel, loaded on one device.
#[derive(Clone)]
pub struct Kernel(pub(crate) Arc<Loaded>);

pub(crate) struct Loaded {
    pub(crate) name: &'static str,
    /// That it was compiled for, and that its launches go into.
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) function: CudaFunction,
    pub(crate) workgroup: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub(crate) dynamic: u32,
    /// Whether its blocks may start while the kernel before it ends: it waits for that by itself.
    pub(crate) follows: bool,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) params: ParamsLayout,
}

impl Drop for Loaded {
    /// Nobody promises that a driver waits for a module's launches before it unloads the module.
    fn drop(&mut self) {
        if let Err(error) = memory::wait_to_free(&self.stream) {
            tracing::warn!(%error, kernel = self.name, "the kernel stays loaded: its launches may not have ended");
            std::mem::forget(self.function.clone());
        }
    }
}

impl Cuda {
    /// The driver's devices; none if it finds none.
    ///
    /// # Errors
    /// [`Error::Backend`] that says how to get NVIDIA's driver if it is missing, [`Error::Unsupported`] if it is too old.
    pub fn devices() -> Result<Vec<Device>> {
        device::devices()
    }

    /// Opens a device, with a stream of its own in the device's primary context.
    ///
    /// # Errors
    /// As [`Cuda::devices`]; [`Error::Invalid`] if there is no such device, [`Error::Unsupported`] if it is older than
    /// compute capability 7.5.
    pub fn open(ordinal: usize) -> Result<Cuda> {
        let count = if device::initialise()? {
            result::device::get_count().map_err(driver("counting devices"))?.unsigned_abs() as usize
        } else {
            0
        };
        if ordinal >= count {
            return Err(Error::Invalid(format!("CUDA device {ordinal} of {count}; nvidia-smi lists them")));
        }
        let context = CudaContext::new(ordinal).map_err(driver(format_args!("opening CUDA device {ordinal}")))?;
        Cuda::new(context.new_stream().map_err(driver("creating a stream"))?)
    }

    /// A backend on a caller's stream. Calls go into it, in order with the rest of it. They make its context current on
    /// the calling thread, as cudarc's own calls do.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the driver or the device is too old, [`Error::Invalid`] for the per-thread default
    /// stream, which is another one on every thread.
    pub fn new(stream: Arc<CudaStream>) -> Result<Cuda> {
        device::initialise()?;
        /// The handle that stands for the calling thread's default stream: CU_STREAM_PER_THREAD.
        const PER_THREAD: usize = 2;
        if stream.cu_stream() as usize == PER_THREAD {
            return Err(Error::Invalid(
                "the per-thread default stream is another stream on every thread; bring one from CudaContext::new_stream"
                    .into(),
            ));
        }
        let (caps, architecture) = device::capabilities(stream.context())?;
        tracing::debug!(device = caps.device, driver = caps.driver, api = caps.api, "opened");
        let tuning = Tuning::for_device(&caps)?;
        let (turns, kernels) = (Turns::of(stream.cu_stream() as usize), Kernels::default());
        let pool = memory::beside_captures(|| Pool::new(stream.context()));
        let opened = Opened { stream, caps, architecture, kernels, turns, pool };
        Ok(Cuda { opened: opened.into(), tuning: tuning.into(), cache: Cache::from_env(), calls: Arc::default() })
    }

    /// Plans with these numbers, not with the device's own.
    pub fn with_tuning(self, tuning: Tuning) -> Cuda {
        Cuda { tuning: tuning.into(), calls: Arc::default(), ..self }
    }

    /// Keeps compiled kernels in this cache, not in the one that the environment names.
    pub fn with_cache(self, cache: Cache) -> Cuda {
        Cuda { cache, ..self }
    }

    /// The stream that calls go into.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The device's architecture: 90 for sm_90.
    pub fn architecture(&self) -> u32 {
        self.architecture
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner::of(&self.stream)
    }

    /// Refuses what would wait for a stream that is being captured, before anything of it is enqueued: a graph would copy to memory that is
    /// gone by then.
    fn check_waits(&self, doing: &str) -> Result<()> {
        match memory::capture(&self.stream) {
            Ok(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE) => Ok(()),
            Ok(_) => Err(Error::Invalid(format!(
                "{doing}: the stream is being captured, and this would wait for it; do it before or behind the capture"
            ))),
            // What failed before.
            Err(error) => Err(driver(doing)(error)),
        }
    }

    fn wait(&self) -> Result<()> {
        graph::free_left();
        memory::wait(&self.stream).map_err(driver("waiting for the stream"))
    }

    /// Makes the context current on this thread, as every call of the driver wants it.
    fn bind_thread(&self) -> Result<()> {
        memory::bind_thread(self.stream.context()).map_err(driver("making the context current"))
    }

    /// Puts steps into the stream, and no other thread's between them.
    fn enqueue(&self, steps: &[Step], n: Option<u32>) -> Result<()> {
        let _alone = self.turns.take();
        steps.iter().try_for_each(|step| step.enqueue(&self.stream, n))
    }
}

impl Kernel {
    fn compile(key: &KernelKey, cuda: &Cuda) -> Result<Kernel> {
        let assembled = trifold_kernels::assemble(key, &cuda.caps)?;
        let architecture = format!("sm_{}", cuda.architecture);
        // Cubins alone: PTX for an older architecture would outlive the old NVRTC that made it.
        let kept = Key::new("cuda", &["cubin", &assembled.source, &architecture, &cuda.caps.driver, nvrtc::OPTIONS]);
        let found = cuda.cache.load(&kept, key.name(), |cubin| {
            cuda.stream.context().load_module(Ptx::from_binary(cubin))?.load_function(assembled.entry_point)
        });
        if let Some(function) = found {
            return Kernel::load(key, cuda, function, assembled, cuda.architecture);
        }
        let image = nvrtc::compile_for_device(&assembled.source, key.name(), cuda.architecture)?;
        let form = if image.ptx { "PTX" } else { "a cubin" };
        let loading = |error: cudarc::driver::DriverError| match error.0 {
            CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => driver(format_args!(
                "loading {} ({form}); if NVRTC is newer than the driver ({}), install an NVRTC of the driver's CUDA version",
                key.name(),
                cuda.caps.driver
            ))(error),
            _ => driver(format_args!("loading {}", key.name()))(error),
        };
        let module = cuda.stream.context().load_module(Ptx::from_binary(image.bytes.clone())).map_err(loading)?;
        let function = module.load_function(assembled.entry_point).map_err(loading)?;
        if !image.ptx {
            cuda.cache.put(&kept, &image.bytes);
        }
        Kernel::load(key, cuda, function, assembled, image.architecture)
    }

    /// Holds a function, compiled for an architecture, against the catalogue: the driver reads as many bytes for each argument as
    /// the function takes.
    fn load(
        key: &KernelKey,
        cuda: &Cuda,
        function: CudaFunction,
        assembled: Assembled,
        architecture: u32,
    ) -> Result<Kernel> {
        let name = key.name();
        let Assembled { workgroup, arguments, params, .. } = assembled;
        let mut expected = vec![8; arguments.len()];
        expected.push(params.bytes() as usize);
        let taken = argument_sizes(function.cu_function(), expected.len());
        let wrong = |log: String| Error::Compile { kernel: name.into(), log };
        if taken.len() > MOST_ARGUMENTS {
            return Err(wrong(format!("takes {} arguments, and a launch has {MOST_ARGUMENTS} at most", taken.len())));
        }
        if taken != expected {
            return Err(wrong(format!("takes arguments of {taken:?} bytes, and the catalogue has {expected:?}")));
        }
        let attribute = |which| function.get_attribute(which).map_err(driver(format_args!("asking about {name}")));
        let threads = attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let registers = attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        let shared = attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let local = attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
        tracing::debug!(name, workgroup, registers, shared, local, "loaded");
        if threads.unsigned_abs() < workgroup {
            return Err(Error::Unsupported(format!(
                "{name} in blocks of {workgroup} threads: with {registers} registers a thread a block has at most \
                 {threads}; tune a smaller workgroup or fewer elements a thread"
            )));
        }
        // More than a block may declare: it asks for it.
        let dynamic = key.constant("DYNAMIC_BYTES").unwrap_or(0);
        if dynamic > 0 {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let asking = format_args!("asking for {dynamic} bytes of shared memory for {name}");
            function.set_attribute(most, dynamic as i32).map_err(driver(asking))?;
        }
        let stream = cuda.stream.clone();
        // As the prelude's follow_predecessor has it.
        let follows = architecture >= 90;
        Ok(Kernel(Arc::new(Loaded { name, stream, function, workgroup, dynamic, follows, arguments, params })))
    }

    /// Its name in the catalogue.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Threads of a block.
    pub fn workgroup(&self) -> u32 {
        self.0.workgroup
    }
}

/// The sizes of a function's first `count` arguments, in bytes; fewer if it has not so many.
///
/// It does not ask whether there is one more: the driver would answer with an error, which tools that watch its calls
/// report.
fn argument_sizes(function: CUfunction, count: usize) -> Vec<usize> {
    let size = |index| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function's module is loaded, both pointers are to values that live through the call, and an index
        // past the last argument is an error that the call reports.
        let result = unsafe { sys::cuFuncGetParamInfo(function, index, &mut offset, &mut size) };
        (result == CUresult::CUDA_SUCCESS).then_some(size)
    };
    (0..count).map_while(size).collect()
}

impl Backend for Cuda {
    type Handle = Handle;
    type Kernel = Kernel;
    type Steps = Vec<Step>;
    type Recorder = InOrder;

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn tuning(&self) -> Tuning {
        (*self.tuning).clone()
    }

    fn calls(&self) -> Option<&CallCache<Cuda>> {
        Some(&self.calls)
    }

    fn steps_are_addresses(&self) -> bool {
        true
    }

    fn check_handle(&self, handle: &Handle) -> Result<()> {
        step::check_owner(self.owner(), "a call", handle)
    }

    fn release(&self) {
        let Some(pool) = &self.pool else { return };
        // What is freed behind work counts as the pool's until that has ended.
        if !self.is_captured() && self.synchronize().is_ok() {
            pool.trim();
        }
    }

    fn is_captured(&self) -> bool {
        memory::is_captured(&self.stream)
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Cuda>> {
        if bytes > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "a buffer of {bytes} bytes on {}, which has {}; split the work",
                self.caps.device, self.caps.max_buffer
            )));
        }
        memory::allocate(&self.stream, self.pool.as_ref(), bytes, &self.caps.device)
    }

    /// A handle is the address space, which starts at zero: a span's offset is its address, and decides alone.
    fn handle_alignment(&self, _: &Handle) -> u64 {
        1 << 63
    }

    fn place_of(&self, span: &Span<Cuda>) -> String {
        format!("address {:#x}", span.offset())
    }

    /// One address space; see [`Handle`].
    fn same(&self, _: &Handle, _: &Handle) -> bool {
        true
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let compile = async { memory::beside_captures(|| Kernel::compile(key, self)) };
        self.kernels.get_or_compile(key, compile).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Cuda>>, _: bool) -> Result<Vec<Step>> {
        commands.into_iter().map(|command| Step::bind(self.owner(), command)).collect()
    }

    fn record(&self) -> Result<InOrder> {
        Ok(InOrder)
    }

    fn execute(&self, _: &mut InOrder, steps: &Vec<Step>, n: Option<u32>) -> Result<()> {
        self.bind_thread()?;
        self.enqueue(steps, n)
    }

    fn begin_label(&self, _: &mut InOrder, label: &str) {
        label::begin(label);
    }

    fn end_label(&self, _: &mut InOrder) {
        label::end();
    }

    fn submit(&self, _: InOrder) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.check_waits("waiting for the stream")?;
        self.wait()
    }

    fn write(&self, to: &Span<Cuda>, bytes: &[u8]) -> Result<()> {
        to.check_length(bytes.len())?;
        let address = step::address(self.owner(), "a write", to)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.check_waits("writing from the host")?;
        self.bind_thread()?;
        let copied = {
            // Not between the steps of another thread's call: a sort that finds other keys than it counted writes past its output.
            let _alone = self.turns.take();
            // SAFETY: the span has at least the slice's bytes, and the slice is borrowed until the copy has ended: the wait below
            // comes before any return.
            unsafe { result::memcpy_htod_async(address, bytes, self.stream.cu_stream()) }
        };
        let waited = self.wait();
        copied.map_err(driver(format_args!("writing {} bytes", bytes.len())))?;
        waited
    }

    async fn read(&self, from: &Span<Cuda>, bytes: &mut [u8]) -> Result<()> {
        from.check_length(bytes.len())?;
        let address = step::address(self.owner(), "a read", from)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.check_waits("reading to the host")?;
        self.bind_thread()?;
        // SAFETY: as for `write`; nothing looks at the bytes before the wait has ended.
        let copied = unsafe { result::memcpy_dtoh_async(bytes, address, self.stream.cu_stream()) };
        let waited = self.wait();
        copied.map_err(driver(format_args!("reading {} bytes", bytes.len())))?;
        waited
    }

    fn time(&self, before: Option<&Vec<Step>>, steps: &Vec<Step>, n: Option<u32>, repeat: u32) -> Result<f64> {
        let doing = "timing";
        self.check_waits(doing)?;
        let event = || {
            let timed = CUevent_flags::CU_EVENT_DEFAULT;
            self.stream.context().new_event(Some(timed)).map_err(driver(doing))
        };
        let (start, end) = (event()?, event()?);
        self.bind_thread()?;
        before.map_or(Ok(()), |before| self.enqueue(before, None))?;
        start.record(&self.stream).map_err(driver(doing))?;
        for _ in 0..repeat {
            self.enqueue(steps, n)?;
        }
        end.record(&self.stream).map_err(driver(doing))?;
        self.synchronize()?;
        start.elapsed_ms(&end).map(f64::from).map_err(driver(doing))
    }
}

impl Scan for Cuda {}
impl Reduce for Cuda {}
impl Sort for Cuda {}
