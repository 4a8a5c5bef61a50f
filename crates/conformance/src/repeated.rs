//! Repeated calls on a prepared plan: a backend is asked to compile, allocate, bind or wait for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trifold_core::{
    Backend, Builtin, Caps, Command, Element, Error, KernelKey, Options, Order, Prepared, Request, Rest, Result,
    Scalar, ScanKind, Slot, Span, Spans, Transfer, Tuning, block_on, planner,
};

use crate::case::{Failure, Outcome, guarded};
use crate::operators;
use crate::table::{builtin, by_key, reduce, scan, select, sort};

const N: u64 = 5003;

/// Runs a bound call of each primitive by each algorithm but the literature's again and again: of the backend it may ask for a recorder,
/// and for it to be filled and submitted.
pub fn repeated_calls_only_run<B: Backend>(backend: B) -> Outcome {
    let counting = Counting { inner: backend, asked: Arc::default() };
    guarded(|| requests().iter().try_for_each(|request| runs_alone(&counting, request)))
}

fn requests() -> Vec<Request> {
    let sum = builtin(Builtin::Sum, Scalar::U32);
    let mut requests = vec![
        scan(&sum, ScanKind::Exclusive, N),
        reduce(&sum, N),
        sort(Scalar::U32, None, Order::Ascending, N),
        sort(Scalar::U32, Some(u32::TYPE), Order::Descending, N),
        by_key(&u32::TYPE, Some(sum), N),
        by_key(&u32::TYPE, None, N),
    ];
    let [upper, ..] = operators::selectors();
    requests.extend([Rest::Dropped, Rest::Apart, Rest::Behind].map(|rest| select(&upper, rest, N)));
    requests
}

fn runs_alone<B: Backend>(backend: &Counting<B>, request: &Request) -> std::result::Result<(), Failure> {
    let words: Vec<u32> = (0..N as u32).map(|i| i / 3).collect();
    let buffers = [(); 5].map(|()| backend.upload(&words));
    let [from, to, values, moved, count] = buffers;
    let (from, to, values, moved, count) = (from?, to?, values?, moved?, count?);
    // Buffers are rounded up, and spans are as long as the request says.
    let spans = Spans::of(request, |operand| {
        let buffer = match operand.slot {
            Slot::Input => &from,
            Slot::Output => &to,
            Slot::InputValues => &values,
            Slot::Count => &count,
            _ => &moved,
        };
        backend.span(buffer).slice(0, operand.bytes())
    })?;
    let layout = spans.layout_for(backend, request)?;
    let mut planned = 0;
    for algorithm in
        planner::algorithms(request, backend.caps()).into_iter().filter(|algorithm| !algorithm.is_reference)
    {
        let options = Options { algorithm: Some(algorithm), ..Options::default() };
        match block_on(Prepared::new(backend, request, layout, options)) {
            Ok(prepared) => runs_again(backend, &prepared, &spans)?,
            // More elements than one tile, or a tile that the device has no room for.
            Err(Error::Unsupported(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        planned += 1;
    }
    match planned {
        0 => Err(Failure::Wrong(format!("no algorithm has a plan for {}", request.primitive()))),
        _ => Ok(()),
    }
}

fn runs_again<B: Backend>(
    backend: &Counting<B>,
    prepared: &Prepared<Counting<B>>,
    spans: &Spans<'_, Counting<B>>,
) -> std::result::Result<(), Failure> {
    let bound = prepared.bind(backend, spans)?;
    bound.run(backend)?;
    let before = backend.asked();
    for _ in 0..3 {
        bound.run(backend)?;
    }
    let mut asked = backend.asked();
    backend.synchronize()?;
    asked.iter_mut().for_each(|(call, times)| *times -= before.get(call).copied().unwrap_or_default());
    asked.retain(|_, times| *times > 0);
    match asked == BTreeMap::from([("record", 3), ("execute", 3), ("submit", 3)]) {
        true => Ok(()),
        false => {
            let algorithm = prepared.plan().algorithm();
            Err(Failure::Wrong(format!("three calls by {algorithm} asked for {asked:?}")))
        }
    }
}

/// A backend, and how often it was asked for what.
struct Counting<B> {
    inner: B,
    asked: Arc<Mutex<BTreeMap<&'static str, u32>>>,
}

impl<B: Backend> Counting<B> {
    fn asked(&self) -> BTreeMap<&'static str, u32> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, call: &'static str) -> &B {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
        &self.inner
    }
}

/// A span of one backend as another's with the same handles. Its offset goes with it: CUDA's is its address.
fn carried<'a, A: Backend, B: Backend<Handle = A::Handle>>(span: &Span<'a, A>) -> Result<Span<'a, B>> {
    let end = span.offset() + span.room();
    // SAFETY: the handle is a span's, whose memory has that many bytes and is there for as long.
    unsafe { Span::from_handle(span.handle().clone(), end, end) }.slice(span.offset(), span.bytes())
}

impl<B: Backend> Backend for Counting<B> {
    type Buffer = B::Buffer;
    type Handle = B::Handle;
    type Kernel = B::Kernel;
    type Step = B::Step;
    type Recorder = B::Recorder;

    fn caps(&self) -> &Caps {
        self.inner.caps()
    }

    fn tuning(&self) -> Tuning {
        self.inner.tuning()
    }

    fn alloc(&self, bytes: u64) -> Result<B::Buffer> {
        self.count("alloc").alloc(bytes)
    }

    fn divides_scratch(&self) -> bool {
        self.inner.divides_scratch()
    }

    fn span<'a>(&self, buffer: &'a B::Buffer) -> Span<'a, Self> {
        carried(&self.inner.span(buffer)).expect("a span ends where its memory does")
    }

    fn handle_alignment(&self, handle: &B::Handle) -> u64 {
        self.inner.handle_alignment(handle)
    }

    fn same(&self, a: &B::Handle, b: &B::Handle) -> bool {
        self.inner.same(a, b)
    }

    async fn compile(&self, key: &KernelKey) -> Result<B::Kernel> {
        self.count("compile").compile(key).await
    }

    unsafe fn bind(&self, command: Command<'_, Self>) -> Result<B::Step> {
        let below = match command {
            Command::Fill { span, value } => Command::Fill { span: carried(&span)?, value },
            Command::Copy { from, to } => Command::Copy { from: carried(&from)?, to: carried(&to)? },
            Command::Launch { key, kernel, groups, spans, params, initial } => {
                let spans = spans.iter().map(|(name, span)| Ok((*name, carried(span)?))).collect::<Result<_>>()?;
                Command::Launch { key, kernel, groups, spans, params, initial }
            }
        };
        // SAFETY: it is the caller's command, of the same memory.
        unsafe { self.count("bind").bind(below) }
    }

    fn record(&self) -> Result<B::Recorder> {
        self.count("record").record()
    }

    fn execute(&self, recorder: &mut B::Recorder, steps: &[B::Step]) -> Result<()> {
        self.count("execute").execute(recorder, steps)
    }

    fn submit(&self, recorder: B::Recorder) -> Result<()> {
        self.count("submit").submit(recorder)
    }

    fn synchronize(&self) -> Result<()> {
        self.count("synchronize").synchronize()
    }

    fn write(&self, to: &Span<'_, Self>, bytes: &[u8]) -> Result<()> {
        self.count("write").write(&carried(to)?, bytes)
    }

    async fn read(&self, from: &Span<'_, Self>, bytes: &mut [u8]) -> Result<()> {
        self.count("read").read(&carried(from)?, bytes).await
    }

    fn time(&self, before: &[B::Step], steps: &[B::Step], repeat: u32) -> Result<f64> {
        self.count("time").time(before, steps, repeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_calls_only_run() {
        assert_eq!(repeated_calls_only_run(trifold_cpu::Cpu::with_threads(2).unwrap()), Outcome::Passed);
    }
}
