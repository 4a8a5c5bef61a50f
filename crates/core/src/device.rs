//! A device that is chosen at run time: a backend itself, in front of any other.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use crate::{
    Backend, Buffer, CallCache, Caps, Command, Element, Error, KernelKey, Reduce, Result, Scan, Sort, Span, Transfer,
    Tuning,
};

/// A device of any backend's, for programs that choose at run time.
///
/// It is a [`Backend`] like those behind it, so everything that works on one works on it.
///
/// ```
/// # use trifold_core::{Device, Reduce, Sum, Transfer};
/// let gpu = Device::of(trifold_cpu::Cpu::new()?);
/// assert_eq!(gpu.reduce(&gpu.upload(&[3u32, 1, 4])?, Sum).value()?, 8);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    calls: Arc<CallCache<Device>>,
    backend: Arc<dyn Erased>,
}

/// Something of a backend's that only that backend looks into.
macro_rules! erased {
    ($($(#[$doc:meta])* $name:ident: $what:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone)]
            pub struct $name(Arc<dyn Any + Send + Sync>);

            impl $name {
                fn of<T: Send + Sync + 'static>(of: T) -> Self {
                    $name(Arc::new(of))
                }

                pub(crate) fn get<T: 'static>(&self) -> Result<&T> {
                    self.0.downcast_ref().ok_or_else(|| {
                        Error::Invalid(concat!($what, " of another device; use what this one made").into())
                    })
                }
            }
        )*
    };
}

erased! {
    /// Memory of a [`Device`].
    DeviceHandle: "memory";
    /// A kernel compiled for a [`Device`].
    DeviceKernel: "a kernel";
    /// A call's commands, bound by a [`Device`].
    DeviceSteps: "a call";
}

impl DeviceSteps {
    pub(crate) fn shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.clone().downcast().ok()
    }
}

/// What a [`Device`] records commands into.
pub struct DeviceRecorder(Box<dyn Any>);

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// [`Backend`], object-safe.
trait Erased: Any + Send + Sync {
    fn caps(&self) -> &Caps;
    fn tuning(&self) -> Tuning;
    fn allocate(&self, bytes: u64) -> Result<Span<Device>>;
    fn steps_are_addresses(&self) -> bool;
    fn check_handle(&self, handle: &DeviceHandle) -> Result<()>;
    fn release(&self);
    fn is_captured(&self) -> bool;
    fn divides_scratch(&self) -> bool;
    fn handle_alignment(&self, handle: &DeviceHandle) -> u64;
    fn place_of(&self, span: &Span<Device>) -> String;
    fn same(&self, a: &DeviceHandle, b: &DeviceHandle) -> bool;
    fn compile<'a>(&'a self, key: &'a KernelKey) -> Pending<'a, DeviceKernel>;
    /// # Safety
    /// As [`Backend::bind`].
    unsafe fn bind(&self, commands: Vec<Command<'_, Device>>, resizes: bool) -> Result<DeviceSteps>;
    fn record(&self) -> Result<DeviceRecorder>;
    fn execute(&self, recorder: &mut DeviceRecorder, steps: &DeviceSteps, n: Option<u32>) -> Result<()>;
    fn begin_label(&self, recorder: &mut DeviceRecorder, label: &str);
    fn end_label(&self, recorder: &mut DeviceRecorder);
    fn submit(&self, recorder: DeviceRecorder) -> Result<()>;
    fn run(&self, steps: &DeviceSteps, n: Option<u32>) -> Result<()>;
    fn synchronize(&self) -> Result<()>;
    fn write(&self, to: &Span<Device>, bytes: &[u8]) -> Result<()>;
    fn read<'a>(&'a self, from: &'a Span<Device>, bytes: &'a mut [u8]) -> Pending<'a, ()>;
    fn time(&self, before: Option<&DeviceSteps>, steps: &DeviceSteps, n: Option<u32>, repeat: u32) -> Result<f64>;
}

/// A span of a device's as that of the backend behind it.
pub(crate) fn inner<B: Backend>(span: &Span<Device>) -> Result<Span<B>> {
    let handle = span.handle().get::<B::Handle>()?.clone();
    // SAFETY: it is the handle that the span's own was made of.
    Ok(unsafe { span.carried(handle) })
}

fn outer<B: Backend>(span: &Span<B>) -> Span<Device> {
    // SAFETY: the erased handle keeps the span's.
    unsafe { span.carried(DeviceHandle::of(span.handle().clone())) }
}

fn command<'a, B: Backend>(command: Command<'a, Device>) -> Result<Command<'a, B>> {
    Ok(match command {
        Command::Fill { span, value } => Command::Fill { span: inner(&span)?, value },
        Command::Copy { from, to, each } => Command::Copy { from: inner(&from)?, to: inner(&to)?, each },
        Command::Length { span } => Command::Length { span: inner(&span)? },
        Command::Launch { key, kernel, groups, spans, values } => {
            let spans = spans.iter().map(|(name, span)| Ok((*name, inner(span)?))).collect::<Result<_>>()?;
            Command::Launch { key, kernel: kernel.get()?, groups, spans, values }
        }
    })
}

impl<B: Backend> Erased for B {
    fn caps(&self) -> &Caps {
        Backend::caps(self)
    }

    fn tuning(&self) -> Tuning {
        Backend::tuning(self)
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Device>> {
        Ok(outer(&Backend::allocate(self, bytes)?))
    }

    fn steps_are_addresses(&self) -> bool {
        Backend::steps_are_addresses(self)
    }

    fn check_handle(&self, handle: &DeviceHandle) -> Result<()> {
        Backend::check_handle(self, handle.get()?)
    }

    fn release(&self) {
        Transfer::trim(self);
    }

    fn is_captured(&self) -> bool {
        Backend::is_captured(self)
    }

    fn divides_scratch(&self) -> bool {
        Backend::divides_scratch(self)
    }

    fn handle_alignment(&self, handle: &DeviceHandle) -> u64 {
        // Memory of another device is refused where it is bound.
        handle.get().map_or(256, |handle| Backend::handle_alignment(self, handle))
    }

    fn place_of(&self, span: &Span<Device>) -> String {
        inner(span).map_or_else(|error| error.to_string(), |span| Backend::place_of(self, &span))
    }

    fn same(&self, a: &DeviceHandle, b: &DeviceHandle) -> bool {
        matches!((a.get(), b.get()), (Ok(a), Ok(b)) if Backend::same(self, a, b))
    }

    fn compile<'a>(&'a self, key: &'a KernelKey) -> Pending<'a, DeviceKernel> {
        Box::pin(async { Ok(DeviceKernel::of(Backend::compile(self, key).await?)) })
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Device>>, resizes: bool) -> Result<DeviceSteps> {
        let commands = commands.into_iter().map(command).collect::<Result<_>>()?;
        // SAFETY: they are the caller's commands, of the same memory.
        Ok(DeviceSteps::of(unsafe { Backend::bind(self, commands, resizes) }?))
    }

    fn record(&self) -> Result<DeviceRecorder> {
        Ok(DeviceRecorder(Box::new(Backend::record(self)?)))
    }

    fn execute(&self, recorder: &mut DeviceRecorder, steps: &DeviceSteps, n: Option<u32>) -> Result<()> {
        let recorder = recorder.0.downcast_mut().ok_or_else(foreign_recorder)?;
        Backend::execute(self, recorder, steps.get()?, n)
    }

    fn begin_label(&self, recorder: &mut DeviceRecorder, label: &str) {
        // Of another device's recorder `execute` tells.
        if let Some(recorder) = recorder.0.downcast_mut() {
            Backend::begin_label(self, recorder, label);
        }
    }

    fn end_label(&self, recorder: &mut DeviceRecorder) {
        if let Some(recorder) = recorder.0.downcast_mut() {
            Backend::end_label(self, recorder);
        }
    }

    fn submit(&self, recorder: DeviceRecorder) -> Result<()> {
        Backend::submit(self, *recorder.0.downcast().map_err(|_| foreign_recorder())?)
    }

    fn run(&self, steps: &DeviceSteps, n: Option<u32>) -> Result<()> {
        Backend::run(self, steps.get()?, n)
    }

    fn synchronize(&self) -> Result<()> {
        Backend::synchronize(self)
    }

    fn write(&self, to: &Span<Device>, bytes: &[u8]) -> Result<()> {
        Backend::write(self, &inner(to)?, bytes)
    }

    fn read<'a>(&'a self, from: &'a Span<Device>, bytes: &'a mut [u8]) -> Pending<'a, ()> {
        Box::pin(async { Backend::read(self, &inner(from)?, bytes).await })
    }

    fn time(&self, before: Option<&DeviceSteps>, steps: &DeviceSteps, n: Option<u32>, repeat: u32) -> Result<f64> {
        let before = before.map(DeviceSteps::get).transpose()?;
        Backend::time(self, before, steps.get()?, n, repeat)
    }
}

fn foreign_recorder() -> Error {
    Error::Invalid("a recorder of another device; use `record` of this one".into())
}

impl Device {
    /// A backend's device.
    ///
    /// ```
    /// # use trifold_core::{Backend, Device};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let device = Device::of(gpu);
    /// assert_eq!(device.caps().backend, "cpu");
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn of<B: Backend>(backend: B) -> Device {
        match (&backend as &dyn Any).downcast_ref::<Device>() {
            Some(device) => device.clone(),
            None => Device { calls: Arc::default(), backend: Arc::new(backend) },
        }
    }

    /// The backend behind it, if it is of this type: for what only one API has.
    ///
    /// ```
    /// # use trifold_core::Device;
    /// let device = Device::of(trifold_cpu::Cpu::new()?);
    /// assert!(device.downcast_ref::<trifold_cpu::Cpu>().is_some());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn downcast_ref<B: Backend>(&self) -> Option<&B> {
        (&*self.backend as &dyn Any).downcast_ref()
    }

    /// Memory of the backend behind it as memory of this device: for what only one API can import.
    ///
    /// ```
    /// # use trifold_core::{Device, Reduce, Sum, Transfer};
    /// let cpu = trifold_cpu::Cpu::new()?;
    /// let gpu = Device::of(cpu.clone());
    /// let x = gpu.import(&cpu.upload(&[3u32, 1, 4])?)?;
    /// assert_eq!(gpu.reduce(&x, Sum).value()?, 8);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] if the memory is another backend's, or of another device.
    pub fn import<T: Element, B: Backend>(&self, buffer: &Buffer<T, B>) -> Result<Buffer<T, Device>> {
        let Some(backend) = self.downcast_ref::<B>() else {
            let (own, other) = (Backend::caps(self).backend, Backend::caps(buffer.device()).backend);
            return Err(Error::Invalid(format!("memory of {other}, and the device is one of {own}; import it there")));
        };
        Backend::check_handle(backend, buffer.span().handle())?;
        Buffer::of_span(self, outer(buffer.span()))
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Caps { backend, device, api, .. } = self.backend.caps();
        write!(f, "{backend} on {device} ({api})")
    }
}

impl Backend for Device {
    type Handle = DeviceHandle;
    type Kernel = DeviceKernel;
    type Steps = DeviceSteps;
    type Recorder = DeviceRecorder;

    fn caps(&self) -> &Caps {
        self.backend.caps()
    }

    fn tuning(&self) -> Tuning {
        self.backend.tuning()
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Device>> {
        self.backend.allocate(bytes)
    }

    fn calls(&self) -> Option<&CallCache<Device>> {
        Some(&self.calls)
    }

    fn steps_are_addresses(&self) -> bool {
        self.backend.steps_are_addresses()
    }

    fn check_handle(&self, handle: &DeviceHandle) -> Result<()> {
        self.backend.check_handle(handle)
    }

    fn release(&self) {
        self.backend.release();
    }

    fn is_captured(&self) -> bool {
        self.backend.is_captured()
    }

    fn divides_scratch(&self) -> bool {
        self.backend.divides_scratch()
    }

    fn handle_alignment(&self, handle: &DeviceHandle) -> u64 {
        self.backend.handle_alignment(handle)
    }

    fn place_of(&self, span: &Span<Device>) -> String {
        self.backend.place_of(span)
    }

    fn same(&self, a: &DeviceHandle, b: &DeviceHandle) -> bool {
        self.backend.same(a, b)
    }

    async fn compile(&self, key: &KernelKey) -> Result<DeviceKernel> {
        self.backend.compile(key).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Device>>, resizes: bool) -> Result<DeviceSteps> {
        // SAFETY: the caller's promise.
        unsafe { self.backend.bind(commands, resizes) }
    }

    fn record(&self) -> Result<DeviceRecorder> {
        self.backend.record()
    }

    fn execute(&self, recorder: &mut DeviceRecorder, steps: &DeviceSteps, n: Option<u32>) -> Result<()> {
        self.backend.execute(recorder, steps, n)
    }

    fn begin_label(&self, recorder: &mut DeviceRecorder, label: &str) {
        self.backend.begin_label(recorder, label);
    }

    fn end_label(&self, recorder: &mut DeviceRecorder) {
        self.backend.end_label(recorder);
    }

    fn submit(&self, recorder: DeviceRecorder) -> Result<()> {
        self.backend.submit(recorder)
    }

    fn run(&self, steps: &DeviceSteps, n: Option<u32>) -> Result<()> {
        self.backend.run(steps, n)
    }

    fn synchronize(&self) -> Result<()> {
        self.backend.synchronize()
    }

    fn write(&self, to: &Span<Device>, bytes: &[u8]) -> Result<()> {
        self.backend.write(to, bytes)
    }

    async fn read(&self, from: &Span<Device>, bytes: &mut [u8]) -> Result<()> {
        self.backend.read(from, bytes).await
    }

    fn time(&self, before: Option<&DeviceSteps>, steps: &DeviceSteps, n: Option<u32>, repeat: u32) -> Result<f64> {
        self.backend.time(before, steps, n, repeat)
    }
}

impl Scan for Device {}
impl Reduce for Device {}
impl Sort for Device {}
