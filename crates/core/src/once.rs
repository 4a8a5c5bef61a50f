//! What a device keeps for calls that run once: plans with their kernels and states, and scratch that all of them
//! share.
//!
//! A queue runs calls one after the other, and each of them whole. So all calls may have the same scratch, and calls of
//! one plan the same states. Nothing here keeps a device, a buffer of a program's or a call. With the last handle of a
//! device all of it is freed.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::prepared::Compiled;
use crate::scratch::Pieces;
use crate::sized::Shares;
use crate::{
    Backend, Call, Captures, Error, Language, Layout, Op, Options, Prepared, Request, Result, Selector, Span, Spans,
    Transfer,
};

/// The most calls that are kept. The one that was not asked for the longest gives way.
const MOST: usize = 64;
/// What the place of a count that nobody asked for has, in bytes.
const COUNT: u64 = 4;

/// What a device keeps for calls that run once. For backends, which have one beside their tuning.
pub struct CallCache<B: Backend> {
    kept: Mutex<Kept<B>>,
    hasher: RandomState,
}

struct Kept<B: Backend> {
    /// The one that was asked for last is the last.
    entries: Vec<Arc<Entry<B>>>,
    /// Scratch that is garbage between calls, region by region: as large as any call wanted it.
    scratch: Vec<Span<B>>,
    count: Option<Span<B>>,
}

/// A call's plan, compiled, and its states.
struct Entry<B: Backend> {
    hash: u64,
    key: Key,
    compiled: Arc<Compiled<B>>,
    shares: Shares,
    states: Vec<Span<B>>,
    /// What was bound last, where steps are addresses: of which memory, and the steps.
    bound: Mutex<Option<Bound<B>>>,
}

/// Steps, and the places of the memory that they are bound to: each offset, which is an address, and length.
type Bound<B> = (Vec<(u64, u64)>, Arc<<B as Backend>::Steps>);

/// What a plan follows from, beside the device and its tuning, and the numbers that its launches take.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    request: Request,
    captures: Vec<u8>,
    layout: Layout,
    options: Options,
}

impl Key {
    fn new(request: &Request, layout: Layout, options: Options) -> Key {
        let captures = [request.op().map(Op::captures), request.selector().map(Selector::captures)];
        let captures = captures.into_iter().flatten().flat_map(Captures::bytes).copied();
        let captures = captures.chain(request.views().iter().flat_map(|viewed| viewed.view.numbers()));
        let of_output = request.mapped().map_or(&[][..], |then| then.map.captures.bytes());
        let captures = captures.chain(of_output.iter().copied()).collect();
        Key { request: request.clone(), captures, layout, options }
    }
}

/// What a device keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KeptMemory {
    /// How many calls' plans it has, with their kernels and states.
    pub calls: usize,
    /// The bytes of their states, and of the scratch that they share.
    pub bytes: u64,
}

impl<B: Backend> Default for CallCache<B> {
    fn default() -> Self {
        let kept = Kept { entries: vec![], scratch: vec![], count: None };
        CallCache { kept: Mutex::new(kept), hasher: RandomState::new() }
    }
}

impl<B: Backend> CallCache<B> {
    fn kept(&self) -> MutexGuard<'_, Kept<B>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept.
    pub fn memory(&self) -> KeptMemory {
        let kept = self.kept();
        let states = kept.entries.iter().flat_map(|entry| &entry.states);
        let spans = states.chain(&kept.scratch).chain(&kept.count);
        KeptMemory { calls: kept.entries.len(), bytes: spans.map(Span::bytes).sum() }
    }

    /// Frees all, when the calls that have it are done.
    pub fn trim(&self) {
        let mut kept = self.kept();
        let freed = std::mem::replace(&mut *kept, Kept { entries: vec![], scratch: vec![], count: None });
        // Not under the lock: freeing may wait for the device.
        drop(kept);
        drop(freed);
    }

    /// A place for a count that nobody asked for.
    pub(crate) fn count(&self, device: &B) -> Result<Span<B>> {
        if let Some(count) = &self.kept().count {
            return Ok(count.clone());
        }
        let count = device.allocate(COUNT)?;
        Ok(self.kept().count.get_or_insert(count).clone())
    }

    /// A call on these spans, to run once or to be recorded.
    pub(crate) async fn call(
        &self,
        device: &B,
        request: &Request,
        spans: &Spans<B>,
        options: Options,
    ) -> Result<Call<B>> {
        let key = Key::new(request, spans.layout_for(device, request)?, options);
        let hash = self.hasher.hash_one(&key);
        let entry = match self.find(hash, &key) {
            Some(entry) => entry,
            None => self.insert(Entry::new(device, hash, key).await?),
        };
        let scratch = with_room(device, || self.scratch(device, entry.shares.shared()))?;
        entry.bind(device, spans, &scratch)
    }

    fn find(&self, hash: u64, key: &Key) -> Option<Arc<Entry<B>>> {
        let mut kept = self.kept();
        let at = kept.entries.iter().rposition(|entry| entry.hash == hash && entry.key == *key)?;
        let entry = kept.entries.remove(at);
        kept.entries.push(entry.clone());
        Some(entry)
    }

    /// Keeps a call, or finds that another thread has meanwhile.
    fn insert(&self, entry: Entry<B>) -> Arc<Entry<B>> {
        if let Some(other) = self.find(entry.hash, &entry.key) {
            return other;
        }
        let entry = Arc::new(entry);
        let mut kept = self.kept();
        let oldest = (kept.entries.len() >= MOST).then(|| kept.entries.remove(0));
        kept.entries.push(entry.clone());
        drop(kept);
        drop(oldest);
        entry
    }

    /// Forgets a call that did not get through: what it leaves in its states may be no run's.
    pub(crate) fn forget(&self, call: &Call<B>) {
        self.kept().entries.retain(|entry| !entry.compiled.is(call.plan()));
    }

    /// Scratch of these sizes, region by region.
    fn scratch(&self, device: &B, sizes: &[u64]) -> Result<Vec<Span<B>>> {
        let own = self.kept().scratch.clone();
        let most = device.caps().max_binding.min(device.caps().max_buffer);
        let spans = sizes.iter().enumerate().map(|(i, &bytes)| match own.get(i) {
            Some(span) if span.bytes() >= bytes => Ok(span.clone()),
            _ => device.allocate(rounded(bytes).min(most.max(bytes))),
        });
        // Not under the lock: a program's callback may run meanwhile, and calls of its own.
        let spans: Vec<Span<B>> = spans.collect::<Result<_>>()?;
        let freed = self.keep(&spans);
        drop(freed);
        let parts = spans.into_iter().zip(sizes).map(|(span, &bytes)| match device.divides_scratch() {
            true => Ok(span),
            false => span.slice(0, bytes),
        });
        parts.collect()
    }

    /// Keeps spans that are larger than those that are kept, and gives these.
    fn keep(&self, spans: &[Span<B>]) -> Vec<Span<B>> {
        let mut kept = self.kept();
        let mut freed = vec![];
        for (i, span) in spans.iter().enumerate() {
            match kept.scratch.get_mut(i) {
                Some(own) if own.bytes() >= span.bytes() => {}
                Some(own) => freed.push(std::mem::replace(own, span.clone())),
                None => kept.scratch.push(span.clone()),
            }
        }
        freed
    }
}

/// What `make` makes, if need be of the memory that the device keeps for calls.
pub(crate) fn with_room<B: Backend, R>(device: &B, make: impl Fn() -> Result<R>) -> Result<R> {
    match make() {
        Err(Error::OutOfMemory { .. }) if device.memory().bytes > 0 => {
            device.trim();
            make()
        }
        made => made,
    }
}

/// At most a sixteenth more, so that what grows step by step is not allocated each time.
fn rounded(bytes: u64) -> u64 {
    bytes.next_multiple_of((bytes.next_power_of_two() / 16).max(256))
}

impl<B: Backend> Entry<B> {
    /// Plans and compiles the call, and allocates and clears its states.
    async fn new(device: &B, hash: u64, key: Key) -> Result<Self> {
        let prepared = Prepared::new(device, &key.request, key.layout, key.options).await?;
        let shares = Shares::of(prepared.plan());
        let states = with_room(device, || shares.allocate_kept(device))?;
        prepared.clear_states(&states)?;
        Ok(Entry { hash, key, compiled: prepared.compiled(), shares, states, bound: Mutex::default() })
    }

    /// A call on these spans, by steps that were bound to the very same memory if there are any.
    fn bind(&self, device: &B, spans: &Spans<B>, scratch: &[Span<B>]) -> Result<Call<B>> {
        let (prepared, pieces) = (Prepared::of(device, self.compiled.clone()), self.pieces(scratch));
        if !device.steps_are_addresses() {
            return prepared.bind_kept(spans, &pieces);
        }
        let own = spans.all().map(|(_, span)| span).chain(pieces.iter().flat_map(Pieces::all));
        let places: Vec<_> = own.map(|span| (span.offset(), span.bytes())).collect();
        let bound = || self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = bound().as_ref().filter(|(of, _)| *of == places).map(|(_, steps)| steps.clone());
        if let Some(steps) = steps {
            return prepared.bound_before(spans, &pieces, steps);
        }
        let call = prepared.bind_kept(spans, &pieces)?;
        *bound() = call.only_steps().map(|steps| (places, steps));
        Ok(call)
    }

    fn pieces(&self, scratch: &[Span<B>]) -> Vec<Pieces<B>> {
        self.shares.divide(self.compiled.plans(), [scratch, &self.states].concat())
    }
}

/// The device's cache of calls, if its calls may use it.
///
/// The CPU's may not: its plans are quick to make and have little scratch, and an operator's code in Rust is no part of
/// what entries are compared by. Nor may calls that become part of a graph.
pub(crate) fn usable<B: Backend>(device: &B) -> Option<&CallCache<B>> {
    let cache = device.calls()?;
    (device.caps().language != Language::Host && !device.is_captured()).then_some(cache)
}
