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

use std::sync::Arc;

use trifold_core::{
    Backend, Caps, Command, Error, KernelKey, Kernels, Reduce, Result, Scan, Sort, Span, Tuning, block_on,
};
pub use wgpu;

pub use bind::Step;
use cache::KernelCache;
pub use device::{Adapter, wanted_features};
use error::Watch;
use gl::{Kept, Turns};
use memory::Opening;
pub use memory::{Buffer, Handle};
pub use trifold_cache::Cache;

/// A wgpu device and its queue.
pub struct Wgpu {
    device: Kept<wgpu::Device>,
    queue: Kept<wgpu::Queue>,
    turns: Turns,
    opening: Opening,
    caps: Caps,
    tuning: Tuning,
    watch: Watch,
    cache: KernelCache,
    kernels: Kernels<Kernel>,
    timestamp_period: Option<f32>,
}

/// A compiled kernel.
#[derive(Clone)]
pub struct Kernel(Arc<Kept<bind::Pipeline>>);

impl Scan for Wgpu {}
impl Reduce for Wgpu {}
impl Sort for Wgpu {}

impl Wgpu {
    /// A span of a buffer of the same device, with `STORAGE` usage (and `COPY_SRC` or `COPY_DST` to be read or written by this backend). The
    /// caller made it, or another `Wgpu` on that device. wgpu reports a buffer of another device, if that is of the same instance; of
    /// another instance's buffer it takes its own of the same number.
    pub fn import<'a>(&self, buffer: &'a wgpu::Buffer) -> Span<'a, Wgpu> {
        // SAFETY: the sizes are the buffer's own, and its handle keeps it.
        unsafe { Span::from_handle(Handle::new(buffer.clone(), self.opening), buffer.size(), buffer.size()) }
    }

    /// Plans with these numbers, not with the device's own.
    pub fn with_tuning(mut self, tuning: Tuning) -> Wgpu {
        self.tuning = tuning;
        self
    }

    /// Keeps compiled kernels in this cache, not in the one that the environment names. Needs the device's feature
    /// `PIPELINE_CACHE`.
    pub fn with_cache(mut self, cache: Cache) -> Wgpu {
        self.cache = KernelCache(cache);
        self
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
    type Buffer = Buffer;
    type Handle = Handle;
    type Kernel = Kernel;
    type Step = Step;
    type Recorder = wgpu::CommandEncoder;

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn tuning(&self) -> Tuning {
        self.tuning.clone()
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        let size = bytes.max(1).checked_next_multiple_of(16).unwrap_or(u64::MAX);
        if size > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "a buffer of {bytes} bytes; {} can make at most {}",
                self.caps.device, self.caps.max_buffer
            )));
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = self.scoped(bytes, || self.make_buffer("trifold", size, usage))?;
        Ok(Buffer::new(Handle::new(buffer, self.opening), bytes, self.turns))
    }

    fn span<'a>(&self, buffer: &'a Buffer) -> Span<'a, Self> {
        buffer.span()
    }

    fn same(&self, a: &Handle, b: &Handle) -> bool {
        a == b
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let compile = async { Ok(Kernel(Arc::new(Kept::new(bind::Pipeline::compile(self, key).await?, self.turns)))) };
        self.kernels.get_or_compile(key, compile).await
    }

    unsafe fn bind(&self, command: Command<'_, Self>) -> Result<Step> {
        self.bind_command(command)
    }

    fn record(&self) -> Result<wgpu::CommandEncoder> {
        let encoder = wgpu::CommandEncoderDescriptor { label: Some("trifold") };
        block_on(self.caught(0, || self.device.create_command_encoder(&encoder)))
    }

    fn execute(&self, recorder: &mut wgpu::CommandEncoder, steps: &[Step]) -> Result<()> {
        self.check_steps(steps)?;
        bind::execute(recorder, steps, None);
        Ok(())
    }

    fn submit(&self, recorder: wgpu::CommandEncoder) -> Result<()> {
        self.scoped(0, || self.queue.submit([recorder.finish()]))?;
        self.watch.check()
    }

    fn synchronize(&self) -> Result<()> {
        self.wait()
    }

    fn write(&self, to: &Span<'_, Self>, bytes: &[u8]) -> Result<()> {
        self.write_span(to, bytes)
    }

    async fn read(&self, from: &Span<'_, Self>, bytes: &mut [u8]) -> Result<()> {
        self.read_span(from, bytes).await
    }

    fn time(&self, before: &[Step], steps: &[Step], repeat: u32) -> Result<f64> {
        self.time_steps(before, steps, repeat)
    }
}
