//! Backends behind one object, for programs that choose at run time.

use std::any::Any;
use std::sync::Arc;

use crate::backend::SpansOf;
use crate::calls::count;
use crate::scratch::Working;
use crate::{
    Backend, Caps, Error, Layout, Options, Plan, Prepared, Request, Result, Scan, Sort, Span, Spans, Tuning, block_on,
    bytemuck, planner,
};

/// A backend's buffer, behind one type. Its memory is freed when it and every [`AnyCall`] on it are dropped.
pub struct AnyBuffer(Memory, u64);

/// A buffer of some backend.
type Memory = Arc<dyn Any + Send + Sync>;

impl AnyBuffer {
    /// The bytes that were asked for.
    pub fn bytes(&self) -> u64 {
        self.1
    }
}

/// A range of an [`AnyBuffer`], in bytes.
#[derive(Clone, Copy)]
pub struct AnySpan<'a> {
    /// The buffer.
    pub buffer: &'a AnyBuffer,
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

impl<'a> AnySpan<'a> {
    /// The whole of a buffer.
    pub fn whole(buffer: &'a AnyBuffer) -> Self {
        AnySpan { buffer, offset: 0, bytes: buffer.bytes() }
    }
}

/// The spans of one call.
pub type AnySpans<'a> = SpansOf<AnySpan<'a>>;

impl<'a> AnySpans<'a> {
    /// An input and an output.
    pub fn new(input: AnySpan<'a>, output: AnySpan<'a>) -> Self {
        SpansOf::of_two(input, output)
    }

    /// As [`Spans::with_values`].
    pub fn with_values(self, input: AnySpan<'a>, output: AnySpan<'a>) -> Self {
        AnySpans { input_values: Some(input), output_values: Some(output), ..self }
    }

    /// As [`Spans::with_rest`].
    pub fn with_rest(self, rest: AnySpan<'a>) -> Self {
        AnySpans { rest: Some(rest), ..self }
    }

    /// As [`Spans::with_count`].
    pub fn with_count(self, count: AnySpan<'a>) -> Self {
        AnySpans { count: Some(count), ..self }
    }

    /// What a call on these spans must keep from being freed.
    fn memory(&self) -> Vec<Memory> {
        self.all().map(|(_, span)| span.buffer.0.clone()).collect()
    }
}

/// A call that was planned, compiled and bound, behind one type. Runs on the backend that bound it alone, and keeps the memory
/// of its spans from being freed.
pub struct AnyCall {
    /// Steps may hold no more than addresses: dropped before what keeps the memory.
    steps: Box<dyn Any + Send>,
    _memory: Vec<Memory>,
    plan: Plan,
}

impl AnyCall {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// A backend, object-safe. Every [`Backend`] with the three primitives is one.
pub trait AnyBackend: Send + Sync {
    /// What the device can do.
    fn caps(&self) -> &Caps;
    /// The numbers it plans with.
    fn tuning(&self) -> Tuning;
    /// As [`Backend::alloc`].
    fn alloc(&self, bytes: u64) -> Result<AnyBuffer>;
    /// As [`Backend::write`].
    fn write(&self, to: AnySpan<'_>, bytes: &[u8]) -> Result<()>;
    /// As [`Backend::read`], waiting.
    fn read(&self, from: AnySpan<'_>, bytes: &mut [u8]) -> Result<()>;
    /// How spans lie, for the planner.
    ///
    /// # Errors
    /// As [`Spans::layout_for`], and [`Error::Invalid`] for a buffer of another backend.
    fn layout_for(&self, spans: AnySpans<'_>, request: &Request) -> Result<Layout>;
    /// Compiles and binds a plan, made for this device and for spans as these lie, with scratch of its own, which is cleared once, or with
    /// the caller's, which every run clears.
    ///
    /// # Errors
    /// As [`Prepared::of_plan`], [`Prepared::bind`] and [`Prepared::bind_with_scratch`].
    fn call_plan(&self, plan: Plan, spans: AnySpans<'_>, scratch: Option<AnySpan<'_>>) -> Result<AnyCall>;
    /// Runs a call: records and submits it.
    fn run(&self, call: &AnyCall) -> Result<()>;
    /// As [`Backend::synchronize`].
    fn synchronize(&self) -> Result<()>;
    /// As [`Backend::time`].
    fn time(&self, before: Option<&AnyCall>, call: &AnyCall, repeat: u32) -> Result<f64>;
}

impl dyn AnyBackend + '_ {
    /// Allocates a buffer with these elements in it.
    ///
    /// # Errors
    /// As [`AnyBackend::alloc`] and [`AnyBackend::write`].
    pub fn upload<T: bytemuck::NoUninit>(&self, data: &[T]) -> Result<AnyBuffer> {
        let buffer = self.alloc(size_of_val(data) as u64)?;
        self.write(AnySpan::whole(&buffer), bytemuck::cast_slice(data))?;
        Ok(buffer)
    }

    /// Reads a span's elements, after all that was submitted so far.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a span that is no whole number of elements, and as [`AnyBackend::read`].
    pub fn download<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(&self, from: AnySpan<'_>) -> Result<Vec<T>> {
        let (n, all) = (count::<T>(from.bytes)?, from.buffer.bytes());
        if from.offset.checked_add(from.bytes).is_none_or(|end| end > all) {
            return Err(Error::Invalid(format!(
                "{} bytes from byte {} of a buffer that has {all}",
                from.bytes, from.offset
            )));
        }
        let mut data = vec![T::zeroed(); n as usize];
        self.read(from, bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    /// Plans a call by the device's own numbers, compiles it, and binds it with scratch of its own: to be run any number of times.
    ///
    /// # Errors
    /// As of [`Scan`].
    pub fn call(&self, request: &Request, spans: AnySpans<'_>, options: Options) -> Result<AnyCall> {
        self.call_with(request, spans, options, &self.tuning())
    }

    /// As `call`, by these numbers.
    ///
    /// # Errors
    /// As of [`Scan`].
    pub fn call_with(
        &self,
        request: &Request,
        spans: AnySpans<'_>,
        options: Options,
        tuning: &Tuning,
    ) -> Result<AnyCall> {
        self.call_plan(
            planner::plan(request, self.layout_for(spans, request)?, options, self.caps(), tuning)?,
            spans,
            None,
        )
    }

    /// Plans, compiles and runs a call by the device's own numbers, and waits for its end. What runs often is made by
    /// `call` once.
    ///
    /// # Errors
    /// As of [`Scan`].
    pub fn run_once(&self, request: &Request, spans: AnySpans<'_>) -> Result<()> {
        let call = self.call(request, spans, Options::default())?;
        self.run(&call)?;
        // The scratch goes when the call does.
        self.synchronize()
    }
}

fn own<B: Backend + 'static>(buffer: &AnyBuffer) -> Result<&B::Buffer>
where
    B::Buffer: 'static,
{
    let own = buffer.0.downcast_ref();
    own.ok_or_else(|| {
        Error::Invalid("a buffer of another backend; allocate it with `alloc` of the one that works on it".into())
    })
}

fn span<'a, B: Backend + 'static>(backend: &B, any: AnySpan<'a>) -> Result<Span<'a, B>>
where
    B::Buffer: 'static,
{
    backend.span(own::<B>(any.buffer)?).slice(any.offset, any.bytes)
}

fn typed<'a, B: Backend + 'static>(backend: &B, any: AnySpans<'a>) -> Result<Spans<'a, B>>
where
    B::Buffer: 'static,
{
    let mut spans = Spans::new(&span(backend, any.input)?, &span(backend, any.output)?);
    for (slot, any) in any.all() {
        spans = spans.put(slot, span(backend, *any)?);
    }
    Ok(spans)
}

fn steps<B: Backend>(call: &AnyCall) -> Result<&[B::Step]>
where
    B::Step: 'static,
{
    let steps: Option<&Vec<B::Step>> = call.steps.downcast_ref();
    steps.map(Vec::as_slice).ok_or_else(|| {
        Error::Invalid("a call that another backend bound; make it with `call` of the one that runs it".into())
    })
}

impl<B: Scan + crate::Reduce + Sort + Sync + 'static> AnyBackend for B
where
    B::Buffer: 'static,
    B::Step: 'static,
{
    fn caps(&self) -> &Caps {
        Backend::caps(self)
    }

    fn tuning(&self) -> Tuning {
        Backend::tuning(self)
    }

    fn alloc(&self, bytes: u64) -> Result<AnyBuffer> {
        Ok(AnyBuffer(Arc::new(Backend::alloc(self, bytes)?), bytes))
    }

    fn write(&self, to: AnySpan<'_>, bytes: &[u8]) -> Result<()> {
        Backend::write(self, &span(self, to)?, bytes)
    }

    fn read(&self, from: AnySpan<'_>, bytes: &mut [u8]) -> Result<()> {
        block_on(Backend::read(self, &span(self, from)?, bytes))
    }

    fn layout_for(&self, spans: AnySpans<'_>, request: &Request) -> Result<Layout> {
        typed(self, spans)?.layout_for(self, request)
    }

    fn call_plan(&self, plan: Plan, spans: AnySpans<'_>, scratch: Option<AnySpan<'_>>) -> Result<AnyCall> {
        let typed = typed(self, spans)?;
        let prepared = block_on(Prepared::of_plan(self, plan))?;
        let plan = prepared.plan().clone();
        let mut memory = spans.memory();
        let steps = match scratch {
            Some(scratch) => {
                memory.push(scratch.buffer.0.clone());
                prepared.bind_with_scratch(self, &typed, &span(self, scratch)?)?.into_steps()
            }
            None => {
                let scratch = Arc::new(Working::new(self, &plan.scratch)?);
                let pieces = scratch.pieces(self);
                prepared.clear_scratch(self, &pieces)?;
                memory.push(scratch.clone());
                prepared.bind_steps(self, &typed, &pieces, true)?.into_steps()
            }
        };
        Ok(AnyCall { steps: Box::new(steps), _memory: memory, plan })
    }

    fn run(&self, call: &AnyCall) -> Result<()> {
        let mut recorder = Backend::record(self)?;
        Backend::execute(self, &mut recorder, steps::<B>(call)?)?;
        Backend::submit(self, recorder)
    }

    fn synchronize(&self) -> Result<()> {
        Backend::synchronize(self)
    }

    fn time(&self, before: Option<&AnyCall>, call: &AnyCall, repeat: u32) -> Result<f64> {
        let before = before.map_or(Ok(&[][..]), steps::<B>)?;
        Backend::time(self, before, steps::<B>(call)?, repeat)
    }
}

/// What a request would take on a device, without running it.
pub fn plan_for(backend: &dyn AnyBackend, request: &Request, layout: Layout, options: Options) -> Result<Plan> {
    planner::plan(request, layout, options, backend.caps(), &backend.tuning())
}
