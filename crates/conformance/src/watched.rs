//! A backend in front of another, which tells of what it is asked for.

use std::sync::{Arc, Weak};

use trifold_core::{Backend, CallCache, Caps, Command, Error, KernelKey, Reduce, Result, Scan, Sort, Span, Tuning};

/// What a backend was asked for.
pub enum Event<'a> {
    /// This, before it is done.
    Call(&'static str),
    /// A run, which may be refused.
    Run {
        /// Whether it fails.
        fails: &'a mut bool,
    },
    /// Bytes that were read, which may be changed.
    Read(&'a mut [u8]),
    /// Memory, which may be refused as more than there is.
    Allocate {
        /// How much is asked for.
        bytes: u64,
        /// Whether there is none.
        refused: &'a mut bool,
    },
}

/// A backend that tells of each call that may cost something or wait.
#[derive(Clone)]
pub struct Watched<B: Backend> {
    /// One for each of its handles, and those of its memory.
    alive: Arc<()>,
    inner: B,
    calls: Arc<CallCache<Self>>,
    watch: Arc<dyn Fn(Event<'_>) + Send + Sync>,
    is_captured: bool,
}

impl<B: Backend> Watched<B> {
    /// In front of this backend.
    pub fn new(inner: B, watch: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        Watched { alive: Arc::default(), inner, calls: Arc::default(), watch: Arc::new(watch), is_captured: false }
    }

    /// The same, as if what it runs became part of a graph.
    pub fn captured(&self) -> Self {
        Watched { is_captured: true, ..self.clone() }
    }

    /// What is alive as long as a handle of the device or of its memory is.
    pub fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    fn outer(&self, span: &Span<B>) -> Span<Self> {
        let held = Held { handle: span.handle().clone(), _alive: self.alive.clone() };
        // SAFETY: it keeps the span's own handle.
        unsafe { span.carried(held) }
    }

    fn tell(&self, call: &'static str) -> &B {
        (self.watch)(Event::Call(call));
        &self.inner
    }
}

impl<B: Backend> Scan for Watched<B> {}
impl<B: Backend> Reduce for Watched<B> {}
impl<B: Backend> Sort for Watched<B> {}

/// A handle of memory, which is counted.
#[derive(Clone)]
pub struct Held<H> {
    handle: H,
    _alive: Arc<()>,
}

/// A span as that of the backend behind.
fn inner<B: Backend>(span: &Span<Watched<B>>) -> Span<B> {
    // SAFETY: it is the handle that the span's own keeps.
    unsafe { span.carried(span.handle().handle.clone()) }
}

impl<B: Backend> Backend for Watched<B> {
    type Handle = Held<B::Handle>;
    type Kernel = B::Kernel;
    type Steps = B::Steps;
    type Recorder = B::Recorder;

    fn caps(&self) -> &Caps {
        self.inner.caps()
    }

    fn tuning(&self) -> Tuning {
        self.inner.tuning()
    }

    fn allocate(&self, bytes: u64) -> Result<Span<Self>> {
        let mut refused = false;
        (self.watch)(Event::Allocate { bytes, refused: &mut refused });
        if refused {
            return Err(Error::OutOfMemory { bytes, device: self.caps().device.clone() });
        }
        Ok(self.outer(&self.tell("allocate").allocate(bytes)?))
    }

    fn calls(&self) -> Option<&CallCache<Self>> {
        Some(&self.calls)
    }

    fn steps_are_addresses(&self) -> bool {
        self.inner.steps_are_addresses()
    }

    fn check_handle(&self, handle: &Held<B::Handle>) -> Result<()> {
        self.inner.check_handle(&handle.handle)
    }

    fn release(&self) {
        self.inner.release();
    }

    fn is_captured(&self) -> bool {
        self.is_captured || self.inner.is_captured()
    }

    fn divides_scratch(&self) -> bool {
        self.inner.divides_scratch()
    }

    fn handle_alignment(&self, handle: &Held<B::Handle>) -> u64 {
        self.inner.handle_alignment(&handle.handle)
    }

    fn same(&self, a: &Held<B::Handle>, b: &Held<B::Handle>) -> bool {
        self.inner.same(&a.handle, &b.handle)
    }

    async fn compile(&self, key: &KernelKey) -> Result<B::Kernel> {
        self.tell("compile").compile(key).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Self>>, resizes: bool) -> Result<B::Steps> {
        let below = commands.into_iter().map(|command| match command {
            Command::Fill { span, value } => Command::Fill { span: inner(&span), value },
            Command::Length { span } => Command::Length { span: inner(&span) },
            Command::Copy { from, to, each } => Command::Copy { from: inner(&from), to: inner(&to), each },
            Command::Launch { key, kernel, groups, spans, values } => {
                let spans = spans.iter().map(|(name, span)| (*name, inner(span))).collect();
                Command::Launch { key, kernel, groups, spans, values }
            }
        });
        // SAFETY: they are the caller's commands, of the same memory.
        unsafe { self.tell("bind").bind(below.collect(), resizes) }
    }

    fn record(&self) -> Result<B::Recorder> {
        self.tell("record").record()
    }

    fn execute(&self, recorder: &mut B::Recorder, steps: &B::Steps, n: Option<u32>) -> Result<()> {
        self.tell("execute").execute(recorder, steps, n)
    }

    fn begin_label(&self, recorder: &mut B::Recorder, label: &str) {
        self.tell("begin a label").begin_label(recorder, label);
    }

    fn end_label(&self, recorder: &mut B::Recorder) {
        self.tell("end a label").end_label(recorder);
    }

    fn submit(&self, recorder: B::Recorder) -> Result<()> {
        self.tell("submit").submit(recorder)
    }

    fn run(&self, steps: &B::Steps, n: Option<u32>) -> Result<()> {
        let mut fails = false;
        (self.watch)(Event::Run { fails: &mut fails });
        if fails {
            return Err(Error::Invalid("a run that is to fail".into()));
        }
        self.tell("run").run(steps, n)
    }

    fn synchronize(&self) -> Result<()> {
        self.tell("synchronize").synchronize()
    }

    fn write(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()> {
        self.tell("write").write(&inner(to), bytes)
    }

    async fn read(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        self.tell("read").read(&inner(from), bytes).await?;
        (self.watch)(Event::Read(bytes));
        Ok(())
    }

    fn time(&self, before: Option<&B::Steps>, steps: &B::Steps, n: Option<u32>, repeat: u32) -> Result<f64> {
        self.tell("time").time(before, steps, n, repeat)
    }
}
