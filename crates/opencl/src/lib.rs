//! Trifold on OpenCL: the kernels in OpenCL C 1.2, on any device that has a driver.
//!
//! [`OpenCl::devices`] lists what the machine has. [`OpenCl::open`] opens a device with a queue of its own.
//! [`OpenCl::new`] works on a queue of the caller's, with [`OpenCl::import`] for the caller's buffers.
//!
//! Nothing of OpenCL is needed to build or to start a program: `trifold-opencl-icd` finds the library at run time.
//!
//! Three kinds of devices run three versions of the same kernels:
//!
//! - NVIDIA's driver has no subgroups, but takes PTX inline.
//! - Devices with shuffles and votes use those.
//! - All others, PoCL on a processor among them, emulate subgroups in local memory. So look-back and Onesweep run
//!   everywhere.
//!
//! ```no_run
//! use trifold_core::{Result, Scan, Sum, Transfer};
//! use trifold_opencl::OpenCl;
//!
//! # fn main() -> Result<()> {
//! let devices = OpenCl::devices()?;
//! let Some(first) = devices.first() else { return Ok(()) };
//! let gpu = OpenCl::open(first)?;
//! let x = gpu.upload(&[1_u32, 2, 3])?;
//! assert_eq!(gpu.inclusive_scan(&x, Sum).read()?, [1, 3, 6]);
//! # Ok(())
//! # }
//! ```
//!
//! Your buffers are bound whole, and a span's offset is a kernel's parameter: OpenCL has no pointers with an offset, and
//! sub-buffers start at coarse alignments. Parts of scratch that you bring are sub-buffers. The queue is in order, so there is
//! nothing to record: commands go to the queue as they are executed. All calls are ocl's raw ones, since its wrappers panic on a status that they do not know.

mod bound;
mod caps;
mod device;
mod memory;
mod objects;
mod part;
mod program;
mod status;
mod step;

use std::ffi::{CStr, CString};
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use ocl::core::DeviceId;
use ocl::ffi;
use trifold_core::{
    Backend, Buffer, CallCache, Caps, Command, Element, Error, KernelKey, Kernels, Reduce, Result, Scan, Sort, Span,
    Tuning, Turns,
};

pub use device::DeviceInfo;
pub use memory::Handle;
pub use ocl;
pub use program::Kernel;
pub use status::Status;
pub use step::Step;
pub use trifold_cache::Cache;
pub use trifold_core::InOrder;

use caps::Profile;
use device::Device;
use memory::Memory;
use objects::{Context, Event, Queue};
use status::check;

/// An OpenCL device and its in-order queue.
#[derive(Clone)]
pub struct OpenCl {
    calls: Arc<CallCache<OpenCl>>,
    opened: Arc<Opened>,
    tuning: Arc<Tuning>,
    cache: Cache,
}

/// What all handles of a device share.
#[doc(hidden)]
pub struct Opened {
    // Fields drop in order: kernels, then the queue, then the context.
    kernels: Kernels<Kernel>,
    /// Taken while a call's steps go to the queue: those of another thread's call, which may share scratch, come before or
    /// after them.
    turns: Turns,
    queue: Queue,
    context: Context,
    device: Device,
    caps: Caps,
    options: CString,
    profiling: bool,
}

#[doc(hidden)]
impl Deref for OpenCl {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

impl OpenCl {
    /// Every device of every platform.
    ///
    /// # Errors
    /// [`Error::Unsupported`], with what to install, if there is no OpenCL library or no driver.
    pub fn devices() -> Result<Vec<DeviceInfo>> {
        device::devices()
    }

    /// Opens a device, with a context and a queue of its own.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a device older than OpenCL 1.2 or without a compiler.
    pub fn open(device: &DeviceInfo) -> Result<OpenCl> {
        let opening = |s: Status| s.error(format_args!("opening {}", device.name));
        let id = device.id().as_raw();
        let platform = Device(device.id()).platform().map_err(opening)?;
        let properties = [ffi::CL_CONTEXT_PLATFORM as isize, platform as isize, 0];
        // SAFETY: the list of properties ends with a zero, there is one device, a live one, and no callback; the call gives one
        // reference away, if any.
        let context = unsafe {
            Context::create("clCreateContext", |code| {
                ffi::clCreateContext(properties.as_ptr(), 1, &raw const id, None, ptr::null_mut(), code)
            })
        };
        let context = context.map_err(opening)?;

        // SAFETY: context and device are live, and the device is the context's; the call gives one reference away, if any.
        let create = |properties| unsafe {
            let create = |code: &mut i32| ffi::clCreateCommandQueue(context.raw(), id, properties, code);
            Queue::create("clCreateCommandQueue", create)
        };
        let queue = match create(ffi::CL_QUEUE_PROFILING_ENABLE) {
            Err(status) if status.code == ffi::CL_INVALID_QUEUE_PROPERTIES => create(0),
            queue => queue,
        };
        Self::on(queue.map_err(opening)?, context, Device(device.id()))
    }

    /// Works on a queue of the caller's, which is retained. What the caller enqueues before a call is done before it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the queue executes out of order.
    pub fn new(queue: &ocl::Queue) -> Result<OpenCl> {
        // SAFETY: an `ocl::Queue` owns a reference to a live queue.
        unsafe { OpenCl::from_raw(queue.as_core().as_ptr()) }
    }

    /// As [`OpenCl::new`], for a queue of another binding's than ocl's.
    ///
    /// # Errors
    /// As [`OpenCl::new`], and [`Error::Invalid`] for null.
    ///
    /// # Safety
    /// `queue` is null or a live queue.
    pub unsafe fn from_raw(queue: ffi::cl_command_queue) -> Result<OpenCl> {
        let asking = |s: Status| s.error("asking the caller's queue for its device");
        if queue.is_null() {
            return Err(Error::Invalid("the queue is null; bring one of clCreateCommandQueue".into()));
        }
        // SAFETY: as the caller says.
        let queue = unsafe { Queue::retained(queue) }.map_err(asking)?;
        let context = queue.info::<usize>(ffi::CL_QUEUE_CONTEXT).map_err(asking)? as ffi::cl_context;
        // SAFETY: a live queue keeps its context alive.
        let context = unsafe { Context::retained(context) }.map_err(asking)?;
        let device = queue.info::<usize>(ffi::CL_QUEUE_DEVICE).map_err(asking)? as ffi::cl_device_id;
        if device.is_null() {
            return Err(Error::Invalid("the queue has no device".into()));
        }
        // SAFETY: a live queue keeps its device alive, and `OpenCl` keeps the queue.
        Self::on(queue, context, Device(unsafe { DeviceId::from_raw(device) }))
    }

    fn on(queue: Queue, context: Context, device: Device) -> Result<OpenCl> {
        let properties: u64 =
            queue.info(ffi::CL_QUEUE_PROPERTIES).map_err(|s| s.error("asking a queue for its properties"))?;
        if properties & (ffi::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | ffi::CL_QUEUE_ON_DEVICE) != 0 {
            return Err(Error::Invalid(
                "the queue executes out of order or on the device; bring one created without \
                 OUT_OF_ORDER_EXEC_MODE_ENABLE"
                    .into(),
            ));
        }
        let Profile { caps, options } = Profile::of(device)?;
        caps::check_usable(device, &caps)?;
        tracing::debug!(device = caps.device, driver = caps.driver, api = caps.api, subgroups = ?caps.subgroups, "opened");
        let tuning = Tuning::for_device(&caps)?;
        let opened = Opened {
            kernels: Kernels::default(),
            turns: Turns::of(queue.raw() as usize),
            queue,
            context,
            device,
            caps,
            options: CString::new(options).unwrap_or_default(),
            profiling: properties & ffi::CL_QUEUE_PROFILING_ENABLE != 0,
        };
        Ok(OpenCl { opened: opened.into(), tuning: tuning.into(), cache: Cache::from_env(), calls: Arc::default() })
    }

    /// Plans with these numbers, not with the device's own.
    pub fn with_tuning(self, tuning: Tuning) -> OpenCl {
        OpenCl { tuning: tuning.into(), calls: Arc::default(), ..self }
    }

    /// Keeps compiled kernels in this cache, not in the one that the environment names.
    pub fn with_cache(self, cache: Cache) -> OpenCl {
        OpenCl { cache, ..self }
    }

    /// A buffer of the caller's, which is retained. The calls on this backend's queue are in order. If other queues use
    /// the buffer at the same time, the caller must order them.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the buffer is of another context than the queue.
    pub fn import<T: Element + ocl::OclPrm>(&self, buffer: &ocl::Buffer<T>) -> Result<Buffer<T, OpenCl>> {
        // SAFETY: an `ocl::Buffer` owns a reference to a live buffer.
        unsafe { self.import_raw(buffer.as_core().as_ptr()) }
    }

    /// As [`OpenCl::import`], for a buffer of another binding's than ocl's, of elements of this type.
    ///
    /// # Errors
    /// As [`OpenCl::import`], and [`Error::Invalid`] for null and for a size that is no whole number of elements.
    ///
    /// # Safety
    /// `buffer` is null or a live buffer.
    pub unsafe fn import_raw<T: Element>(&self, buffer: ffi::cl_mem) -> Result<Buffer<T, OpenCl>> {
        if buffer.is_null() {
            return Err(Error::Invalid("the buffer is null; bring one of clCreateBuffer".into()));
        }
        // SAFETY: as the caller says.
        let place = unsafe { Memory::import(buffer, self.queue.raw() as usize) }
            .map_err(|s| s.error("asking the caller's buffer for its size"))?;
        self.check_context(&place.memory)?;
        // Of a sub-buffer it lies in its parent.
        Buffer::of_span(self, whole(place.memory).slice(place.offset, place.bytes)?)
    }

    /// The queue. This backend keeps the reference.
    pub fn queue_ptr(&self) -> ffi::cl_command_queue {
        self.queue.raw()
    }

    /// The context. This backend keeps the reference.
    pub fn context_ptr(&self) -> ffi::cl_context {
        self.context.raw()
    }

    /// The device.
    pub fn device_id(&self) -> DeviceId {
        self.device.0
    }

    /// The options that kernels are compiled with.
    pub fn build_options(&self) -> &CStr {
        &self.options
    }

    fn check_memory(&self, memory: &Memory) -> Result<()> {
        self.check_context(memory)?;
        if memory.queue != self.queue.raw() as usize {
            return Err(Error::Invalid(
                "memory of another queue, whose work this one does not wait for; import its cl_mem here, and order the two queues".into(),
            ));
        }
        Ok(())
    }

    fn check_context(&self, memory: &Memory) -> Result<()> {
        if memory.context != self.context.raw() as usize {
            return Err(Error::Invalid(
                "the buffer is of another OpenCL context than the queue; create it in the queue's".into(),
            ));
        }
        Ok(())
    }

    /// Scratch is cleared, and calls that share it are ordered, on one queue.
    fn check_queue(&self, steps: &[Step]) -> Result<()> {
        if steps.iter().any(|step| step.queue != self.queue.raw() as usize) {
            return Err(Error::Invalid(
                "a step that was bound for another queue; prepare and bind it with the backend that runs it".into(),
            ));
        }
        Ok(())
    }

    fn bind_command(&self, command: Command<'_, Self>) -> Result<Step> {
        command.check()?;
        let kind = match command {
            Command::Fill { span, value } => {
                self.check_memory(&span.handle().0)?;
                step::fill(&span, value)
            }
            Command::Copy { from, to, each } => {
                self.check_memory(&from.handle().0)?;
                self.check_memory(&to.handle().0)?;
                step::copy(&from, &to, each)
            }
            Command::Length { .. } => Err(Command::<Self>::no_length()),
            Command::Launch { key, kernel, groups, spans, values } => {
                for (_, span) in &spans {
                    self.check_memory(&span.handle().0)?;
                }
                step::launch(key, kernel, groups, &spans, values, self.caps.binding_alignment)
            }
        };
        Ok(Step { queue: self.queue.raw() as usize, kind: kind? })
    }

    /// A transfer's offset, if the spans are of this context and the sizes agree.
    fn transfer(&self, span: &Span<Self>, bytes: usize) -> Result<usize> {
        self.check_memory(&span.handle().0)?;
        span.check_length(bytes)?;
        Ok(memory::range(span)?.0)
    }
}

impl Backend for OpenCl {
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

    fn calls(&self) -> Option<&CallCache<OpenCl>> {
        Some(&self.calls)
    }

    fn check_handle(&self, handle: &Handle) -> Result<()> {
        self.check_memory(&handle.0)
    }

    fn allocate(&self, bytes: u64) -> Result<Span<OpenCl>> {
        let limit = self.caps.max_buffer;
        let rounded = bytes.max(1).checked_next_multiple_of(16).filter(|&rounded| rounded <= limit);
        let Some(rounded) = rounded else {
            return Err(Error::Invalid(format!(
                "a buffer of {bytes} bytes, and {} allows {limit} (CL_DEVICE_MAX_MEM_ALLOC_SIZE); split the work",
                self.caps.device
            )));
        };
        let memory = Memory::new(&self.context, self.queue.raw() as usize, rounded)
            .map_err(|s| s.allocation_error(format_args!("allocating {rounded} bytes"), rounded, &self.caps.device))?;
        whole(memory).slice(0, bytes)
    }

    /// NVIDIA's driver takes up to three times as long for launches that bind parts of one buffer.
    fn divides_scratch(&self) -> bool {
        true
    }

    fn handle_alignment(&self, handle: &Handle) -> u64 {
        handle.0.alignment
    }

    fn same(&self, a: &Handle, b: &Handle) -> bool {
        a.0.mem.raw() == b.0.mem.raw()
    }

    async fn compile(&self, key: &KernelKey) -> Result<Kernel> {
        let compile =
            async { program::compile(&self.context, self.device, &self.caps, &self.options, &self.cache, key) };
        self.kernels.get_or_compile(key, compile).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Self>>, _: bool) -> Result<Vec<Step>> {
        commands.into_iter().map(|command| self.bind_command(command)).collect()
    }

    fn record(&self) -> Result<InOrder> {
        Ok(InOrder)
    }

    fn execute(&self, _: &mut InOrder, steps: &Vec<Step>, n: Option<u32>) -> Result<()> {
        self.check_queue(steps)?;
        let _alone = self.turns.take();
        steps.iter().try_for_each(|step| step.enqueue(&self.queue, n, &self.caps.device))
    }

    fn submit(&self, _: InOrder) -> Result<()> {
        // SAFETY: the queue is live.
        check("clFlush", unsafe { ffi::clFlush(self.queue.raw()) }).map_err(|s| s.error("submitting"))
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: the queue is live.
        check("clFinish", unsafe { ffi::clFinish(self.queue.raw()) }).map_err(|s| s.error("waiting for the device"))
    }

    fn write(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()> {
        let offset = self.transfer(to, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let memory = &to.handle().0;
        let (queue, mem, from) = (self.queue.raw(), memory.mem.raw(), bytes.as_ptr().cast());
        let call = "clEnqueueWriteBuffer";
        let doing = || format!("writing {} bytes", bytes.len());
        let failed = |s: Status| s.allocation_error(doing(), memory.bytes, &self.caps.device);
        let mut raw: ffi::cl_event = ptr::null_mut();
        let code = {
            // Not between the steps of another thread's call: a sort that finds other keys than it counted writes past its output.
            let _alone = self.turns.take();
            // SAFETY: queue and buffer are live and of one context, the range lies within the buffer, and the host's bytes are borrowed
            // until the command has ended: a wait below comes before any return but one for a command that was not enqueued.
            unsafe {
                let (size, none) = (bytes.len(), ptr::null());
                ffi::clEnqueueWriteBuffer(queue, mem, ffi::CL_FALSE, offset, size, from, 0, none, &raw mut raw)
            }
        };
        check(call, code).map_err(failed)?;
        // SAFETY: the call above gave one reference away.
        let event = unsafe { Event::create(call, |_| raw) };
        // SAFETY: the queue is live.
        let finish = || check("clFinish", unsafe { ffi::clFinish(queue) });
        let waited = match event {
            // SAFETY: the event is live.
            Ok(event) => check("clWaitForEvents", unsafe { ffi::clWaitForEvents(1, &event.raw()) }).inspect_err(|_| {
                // The driver may still read the host's bytes.
                let _ = finish();
            }),
            Err(_) => finish(),
        };
        // As in a read it may be a fault of an earlier kernel.
        waited.map_err(|s| s.error(doing()))
    }

    async fn read(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        let offset = self.transfer(from, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (queue, mem, to) = (self.queue.raw(), from.handle().0.mem.raw(), bytes.as_mut_ptr().cast());
        // SAFETY: queue and buffer are live and of one context, the range lies within the buffer, and the call is done
        // with the host's bytes when it returns.
        let code = unsafe {
            let (size, none) = (bytes.len(), ptr::null());
            ffi::clEnqueueReadBuffer(queue, mem, ffi::CL_TRUE, offset, size, to, 0, none, ptr::null_mut())
        };
        // A fault of an earlier kernel shows here, and looks like a lack of resources: it is not one of this call's.
        check("clEnqueueReadBuffer", code).map_err(|s| s.error(format_args!("reading {} bytes", bytes.len())))
    }

    fn time(&self, before: Option<&Vec<Step>>, steps: &Vec<Step>, n: Option<u32>, repeat: u32) -> Result<f64> {
        if !self.profiling {
            return Err(Error::Unsupported(
                "the queue takes no times; create it with PROFILING_ENABLE, or let Trifold open the device".into(),
            ));
        }
        let (queue, device) = (&self.queue, &self.caps.device);
        self.check_queue(steps)?;
        before.map_or(Ok(()), |before| self.execute(&mut InOrder, before, None))?;
        let alone = self.turns.take();
        let commands: Vec<&Step> = steps.iter().filter(|step| !step.is_nothing()).collect();
        let count = commands.len() * repeat as usize;
        // Only the first and the last carry an event: one costs a driver time.
        let (mut first, mut last) = (None, None);
        for (i, step) in commands.iter().cycle().take(count).enumerate() {
            if i == 0 {
                first = Some(step.enqueue_event(queue, n, device)?);
            } else if i + 1 == count {
                last = Some(step.enqueue_event(queue, n, device)?);
            } else {
                step.enqueue(queue, n, device)?;
            }
        }
        drop(alone);
        self.synchronize()?;
        let Some(first) = first else { return Ok(0.0) };
        let timing = |s: Status| s.error("reading the device's times");
        let start: u64 = first.info(ffi::CL_PROFILING_COMMAND_START).map_err(timing)?;
        let end: u64 = last.as_ref().unwrap_or(&first).info(ffi::CL_PROFILING_COMMAND_END).map_err(timing)?;
        Ok(end.saturating_sub(start) as f64 / 1e6)
    }
}

/// All of a buffer.
fn whole(memory: Memory) -> Span<OpenCl> {
    let bytes = memory.bytes;
    // SAFETY: the buffer's own size, and its handle keeps it.
    unsafe { Span::from_handle(Handle(Arc::new(memory)), bytes, bytes) }
}

impl Scan for OpenCl {}
impl Reduce for OpenCl {}
impl Sort for OpenCl {}
