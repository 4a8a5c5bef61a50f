//! Trifold on wgpu: WGSL on Vulkan, Metal, DX12 and GL.
//!
//! [`Wgpu::open`] takes a device of the machine's, [`Wgpu::new`] one of the caller's. Work is recorded into a
//! `wgpu::CommandEncoder`, the caller's own if they like; buffers of the caller's take part through [`Wgpu::import`].

mod bind;
mod cache;
mod device;
mod error;
mod gl;
mod memory;
mod queue;

use std::ops::Deref;
use std::sync::Arc;

use trifold_core::{
    Backend, Buffer, CallCache, Caps, Command, Element, Error, KernelKey, Kernels, Reduce, Result, Scan, Sort, Span,
    Tuning, block_on,
};
pub use wgpu;

pub use bind::Steps;
use cache::KernelCache;
pub use device::{Adapter, wanted_features};
use error::Watch;
use gl::{Kept, Turns};
pub use memory::Handle;
use memory::Opening;
pub use trifold_cache::Cache;

/// A wgpu device and its queue.
#[derive(Clone)]
pub struct Wgpu {
    calls: Arc<CallCache<Wgpu>>,
    opened: Arc<Opened>,
    tuning: Arc<Tuning>,
    cache: KernelCache,
}

/// What all handles of a device share.
#[doc(hidden)]
pub struct Opened {
    pub(crate) device: Kept<wgpu::Device>,
    pub(crate) queue: Kept<wgpu::Queue>,
    pub(crate) turns: Turns,
    pub(crate) opening: Opening,
    pub(crate) caps: Caps,
    pub(crate) watch: Watch,
    pub(crate) kernels: Kernels<Kernel>,
    pub(crate) timestamp_period: Option<f32>,
}

#[doc(hidden)]
impl Deref for Wgpu {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

/// A compiled kernel.
#[derive(Clone)]
pub struct Kernel(Arc<Kept<bind::Pipeline>>);

impl Scan for Wgpu {}
impl Reduce for Wgpu {}
impl Sort for Wgpu {}

impl Wgpu {
    /// A buffer of the same device, as elements of this type. The caller made it, or another `Wgpu` on that device.
    ///
    /// It needs `STORAGE` usage. To be read by the host it needs `COPY_SRC` too, and to be written by it `COPY_DST`.
    ///
    /// wgpu reports a buffer of another device of the same instance. For a buffer of another instance, it takes its own
    /// buffer of the same number.
    ///
    /// # Errors
    /// [`Error::Invalid`] without `STORAGE` usage, or for a size that is no multiple of 4 bytes or no whole number of elements.
    pub fn import<T: Element>(&self, buffer: &wgpu::Buffer) -> Result<Buffer<T, Wgpu>> {
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::Invalid(format!(
                "a buffer of usage {:?}, which kernels cannot reach; create it with BufferUsages::STORAGE",
                buffer.usage()
            )));
        }
        if !buffer.size().is_multiple_of(4) {
            return Err(Error::Invalid(format!(
                "a buffer of {} bytes; wgpu binds and copies whole 32-bit words: make it a multiple of 4 bytes long",
                buffer.size()
            )));
        }
        Buffer::of_span(self, self.span_of(buffer.clone(), buffer.size()))
    }

    /// Plans with these numbers, not with the device's own.
    pub fn with_tuning(self, tuning: Tuning) -> Wgpu {
        Wgpu { tuning: tuning.into(), calls: Arc::default(), ..self }
    }

    /// Keeps compiled kernels in this cache, not in the one that the environment names. Needs the device's feature
    /// `PIPELINE_CACHE`.
    pub fn with_cache(self, cache: Cache) -> Wgpu {
        Wgpu { cache: KernelCache(cache), ..self }
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }
}

impl Backend for Wgpu {
    type Handle = Handle;
    type Kernel = Kernel;
    type Steps = Steps;
    type Recorder = wgpu::CommandEncoder;

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn tuning(&self) -> Tuning {
        (*self.tuning).clone()
    }

    fn calls(&self) -> Option<&CallCache<Wgpu>> {
        Some(&self.calls)
    }

    fn check_handle(&self, handle: &Handle) -> Result<()> {
        self.check_own("memory", handle.opening())
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Wgpu>> {
        let size = bytes.max(1).checked_next_multiple_of(16).unwrap_or(u64::MAX);
        if size > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "a buffer of {bytes} bytes; {} can make at most {}: split the work",
                self.caps.device, self.caps.max_buffer
            )));
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = self.scoped(bytes, || self.make_buffer("trifold", size, usage))?;
        Ok(self.span_of(buffer, bytes))
    }

    fn same(&self, a: &Handle, b: &Handle) -> bool {
        a.same(b)
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let compile = async { Ok(Kernel(Arc::new(Kept::new(bind::Pipeline::compile(self, key).await?, self.turns)))) };
        self.kernels.get_or_compile(key, compile).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Self>>, resizes: bool) -> Result<Steps> {
        self.bind_commands(commands, resizes)
    }

    fn record(&self) -> Result<wgpu::CommandEncoder> {
        let encoder = wgpu::CommandEncoderDescriptor { label: Some("trifold") };
        block_on(self.caught(0, || self.device.create_command_encoder(&encoder)))
    }

    fn execute(&self, recorder: &mut wgpu::CommandEncoder, steps: &Steps, n: Option<u32>) -> Result<()> {
        self.check_steps(steps)?;
        self.resize(recorder, steps, n)?;
        bind::execute(recorder, steps, n);
        Ok(())
    }

    fn begin_label(&self, recorder: &mut wgpu::CommandEncoder, label: &str) {
        recorder.push_debug_group(label);
    }

    fn end_label(&self, recorder: &mut wgpu::CommandEncoder) {
        recorder.pop_debug_group();
    }

    fn submit(&self, recorder: wgpu::CommandEncoder) -> Result<()> {
        self.scoped(0, || self.queue.submit([recorder.finish()]))?;
        self.watch.check()
    }

    fn synchronize(&self) -> Result<()> {
        self.wait()
    }

    fn write(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()> {
        self.write_span(to, bytes)
    }

    async fn read(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        self.read_span(from, bytes).await
    }

    fn time(&self, before: Option<&Steps>, steps: &Steps, n: Option<u32>, repeat: u32) -> Result<f64> {
        self.time_steps(before, steps, n, repeat)
    }
}
