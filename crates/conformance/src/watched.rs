//! A backend in front of another, which tells of what it is asked for.

use std::sync::Arc;

use trifold_core::{Backend, Caps, Command, KernelKey, Reduce, Result, Scan, Sort, Span, Tuning};

/// What a backend was asked for.
pub enum Event<'a> {
    /// This, before it is done.
    Call(&'static str),
    /// Bytes that were read, which may be changed.
    Read(&'a mut [u8]),
}

/// A backend that tells of each call that may cost something or wait.
#[derive(Clone)]
pub struct Watched<B> {
    inner: B,
    watch: Arc<dyn Fn(Event<'_>) + Send + Sync>,
}

impl<B: Backend> Watched<B> {
    /// In front of this backend.
    pub fn new(inner: B, watch: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        Watched { inner, watch: Arc::new(watch) }
    }

    fn tell(&self, call: &'static str) -> &B {
        (self.watch)(Event::Call(call));
        &self.inner
    }
}

impl<B: Backend> Scan for Watched<B> {}
impl<B: Backend> Reduce for Watched<B> {}
impl<B: Backend> Sort for Watched<B> {}

/// A span of one backend as another's with the same handles.
fn carried<A: Backend, B: Backend<Handle = A::Handle>>(span: &Span<A>) -> Span<B> {
    // SAFETY: it is the span's own handle.
    unsafe { span.carried(span.handle().clone()) }
}

impl<B: Backend> Backend for Watched<B> {
    type Handle = B::Handle;
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
        Ok(carried(&self.tell("allocate").allocate(bytes)?))
    }

    fn divides_scratch(&self) -> bool {
        self.inner.divides_scratch()
    }

    fn handle_alignment(&self, handle: &B::Handle) -> u64 {
        self.inner.handle_alignment(handle)
    }

    fn same(&self, a: &B::Handle, b: &B::Handle) -> bool {
        self.inner.same(a, b)
    }

    async fn compile(&self, key: &KernelKey) -> Result<B::Kernel> {
        self.tell("compile").compile(key).await
    }

    unsafe fn bind(&self, commands: Vec<Command<'_, Self>>, resizes: bool) -> Result<B::Steps> {
        let below = commands.into_iter().map(|command| match command {
            Command::Fill { span, value } => Command::Fill { span: carried(&span), value },
            Command::Length { span } => Command::Length { span: carried(&span) },
            Command::Copy { from, to, each } => Command::Copy { from: carried(&from), to: carried(&to), each },
            Command::Launch { key, kernel, groups, spans, values } => {
                let spans = spans.iter().map(|(name, span)| (*name, carried(span))).collect();
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

    fn submit(&self, recorder: B::Recorder) -> Result<()> {
        self.tell("submit").submit(recorder)
    }

    fn run(&self, steps: &B::Steps, n: Option<u32>) -> Result<()> {
        self.tell("run").run(steps, n)
    }

    fn synchronize(&self) -> Result<()> {
        self.tell("synchronize").synchronize()
    }

    fn write(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()> {
        self.tell("write").write(&carried(to), bytes)
    }

    async fn read(&self, from: &Span<Self>, bytes: &mut [u8]) -> Result<()> {
        self.tell("read").read(&carried(from), bytes).await?;
        (self.watch)(Event::Read(bytes));
        Ok(())
    }

    fn time(&self, before: Option<&B::Steps>, steps: &B::Steps, n: Option<u32>, repeat: u32) -> Result<f64> {
        self.tell("time").time(before, steps, n, repeat)
    }
}
