//! What a backend must be able to do: one device, one in-order queue.

use std::future::Future;
use std::time::Instant;

use crate::{CallCache, Caps, Error, KernelKey, Layout, MAX_LEAVES, Operand, Param, Request, Result, Slot, Tuning};

/// A device and its in-order queue. A clone is another handle of the same.
///
/// A backend allocates, moves bytes, compiles a kernel of the catalogue and launches it. It knows nothing of scan,
/// reduce or sort: the planner does. `docs/extending/backend.md` walks through an implementation.
pub trait Backend: Clone + Send + Sync + 'static {
    /// Device memory, whoever allocated it. It is there as long as a handle of it is.
    type Handle: Clone + Send + Sync + 'static;
    /// A compiled kernel.
    type Kernel: Clone + Send + Sync + 'static;
    /// The commands of a call with their arguments bound, ready to be recorded any number of times.
    type Steps: Send + Sync + 'static;
    /// What commands are recorded into: the user's own, if they like.
    type Recorder: 'static;

    /// What the device can do.
    fn caps(&self) -> &Caps;

    /// The numbers to plan with.
    fn tuning(&self) -> Tuning {
        Tuning::of(self.caps())
    }

    /// Allocates `bytes` of device memory, rounded up to a multiple of 16, with undefined contents. It is freed with the last of its handles,
    /// and not before the work that was submitted on it has ended.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or [`Error::Invalid`] past the device's limit.
    fn allocate(&self, bytes: u64) -> Result<Span<Self>>;

    /// What it keeps for calls that run once, beside its tuning. Without it they plan, and allocate scratch, each time.
    fn calls(&self) -> Option<&CallCache<Self>> {
        None
    }

    /// Whether steps hold addresses, and keep no memory: those of a call that runs once may then be kept for the next on the same memory, if that
    /// passes [`Backend::check_handle`].
    fn steps_are_addresses(&self) -> bool {
        false
    }

    /// Fails for memory of another device or queue, as [`Backend::bind`] does.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    fn check_handle(&self, handle: &Self::Handle) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Gives back what it holds of memory that was freed.
    fn release(&self) {}

    /// Whether what is enqueued now does not run, but becomes part of a graph.
    fn is_captured(&self) -> bool {
        false
    }

    /// Whether a plan's own scratch should be a buffer for each of its regions, not one for all: where drivers take a part of a
    /// buffer worse than a buffer.
    fn divides_scratch(&self) -> bool {
        false
    }

    /// The alignment of the address that a handle stands for, where handles are addresses.
    fn handle_alignment(&self, handle: &Self::Handle) -> u64 {
        let _ = handle;
        256
    }

    /// Where a span starts, in words for an error.
    fn place_of(&self, span: &Span<Self>) -> String {
        format!("byte {} of memory at a multiple of {}", span.offset(), self.handle_alignment(span.handle()))
    }

    /// Whether two handles stand for the same memory.
    fn same(&self, a: &Self::Handle, b: &Self::Handle) -> bool;

    /// Compiles a kernel, or finds it compiled before. The future blocks its thread meanwhile.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's log, [`Error::Operator`] for the caller's part of the text.
    fn compile(&self, key: &KernelKey) -> impl Future<Output = Result<Self::Kernel>>;

    /// Binds the commands of a call, whose runs may have fewer elements if it `resizes`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for arguments that the kernel does not take, or memory of another device or queue.
    ///
    /// # Safety
    /// Kernels trust their numbers. Launches must be those of a plan for this device, with spans that
    /// [`Prepared`](crate::Prepared) would bind for them.
    ///
    /// Steps may hold no more than addresses. They must not be executed, by a graph that captured them either, when no
    /// handle of their spans' memory is left.
    unsafe fn bind(&self, commands: Vec<Command<'_, Self>>, resizes: bool) -> Result<Self::Steps>;

    /// Starts recording.
    ///
    /// # Errors
    /// What the driver says.
    fn record(&self) -> Result<Self::Recorder>;

    /// Records a call's steps, in order, for a run of `n` elements, or of as many as they were bound for. Another thread's, on the same queue,
    /// come before or after all of them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for steps that another backend bound, and what the driver says.
    fn execute(&self, recorder: &mut Self::Recorder, steps: &Self::Steps, n: Option<u32>) -> Result<()>;

    /// Begins a group of commands of this name, for tools that show what a device does. [`Backend::end_label`] ends it.
    fn begin_label(&self, recorder: &mut Self::Recorder, label: &str) {
        let _ = (recorder, label);
    }

    /// Ends the group that was begun last.
    fn end_label(&self, recorder: &mut Self::Recorder) {
        let _ = recorder;
    }

    /// Hands what was recorded to the device. Does not wait.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], where the driver says so already, and [`Error::Backend`].
    fn submit(&self, recorder: Self::Recorder) -> Result<()>;

    /// Records and submits a call's steps, as [`Backend::execute`]. Does not wait.
    ///
    /// # Errors
    /// As [`Backend::execute`] and [`Backend::submit`].
    fn run(&self, steps: &Self::Steps, n: Option<u32>) -> Result<()> {
        let mut recorder = self.record()?;
        self.execute(&mut recorder, steps, n)?;
        self.submit(recorder)
    }

    /// Waits until the device has done all that was submitted to the queue.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] and [`Error::Backend`]: of everything that was submitted.
    fn synchronize(&self) -> Result<()>;

    /// Copies bytes from the host, in queue order. The span has as many as there are. It may begin and end at any byte: in wgpu a small
    /// kernel writes each end that lies within a 32-bit word.
    ///
    /// # Errors
    /// [`Error::Invalid`] for other lengths and for memory of another device, [`Error::OutOfMemory`], [`Error::DeviceLost`] and
    /// [`Error::Backend`].
    fn write(&self, to: &Span<Self>, bytes: &[u8]) -> Result<()>;

    /// Copies bytes to the host, after everything submitted so far. The future blocks its thread until then.
    ///
    /// # Errors
    /// As [`Backend::write`].
    fn read(&self, from: &Span<Self>, bytes: &mut [u8]) -> impl Future<Output = Result<()>>;

    /// Runs `before`, then `repeat` times `steps` for runs of `n` elements, and gives the milliseconds that the latter took on the device, by its
    /// own timestamps.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device has no timestamps.
    fn time(&self, before: Option<&Self::Steps>, steps: &Self::Steps, n: Option<u32>, repeat: u32) -> Result<f64>;
}

/// A range of device memory, whoever allocated it, which it keeps. Offset and length are in bytes.
pub struct Span<B: Backend> {
    handle: B::Handle,
    offset: u64,
    bytes: u64,
    room: u64,
}

impl<B: Backend> Clone for Span<B> {
    fn clone(&self) -> Self {
        Span { handle: self.handle.clone(), ..*self }
    }
}

impl<B: Backend> std::fmt::Debug for Span<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Span({} bytes at {}, room for {})", self.bytes, self.offset, self.room)
    }
}

impl<B: Backend> Span<B> {
    /// A span of memory of `bytes` bytes, from its start, with `room` bytes to the memory's end. For backends; callers get spans
    /// from [`Backend::allocate`] and from the backends' own functions for memory that the caller allocated.
    ///
    /// # Safety
    /// The memory must have that many bytes, and be there as long as the handle: kernels are launched unchecked on what a span says.
    pub unsafe fn from_handle(handle: B::Handle, bytes: u64, room: u64) -> Span<B> {
        Span { handle, offset: 0, bytes, room: room.max(bytes) }
    }

    /// The same range of the same memory, as another backend's that reaches it by this handle.
    ///
    /// # Safety
    /// The handle must keep the memory that this span's does, and offsets mean the same from it on.
    pub unsafe fn carried<A: Backend>(&self, handle: A::Handle) -> Span<A> {
        Span { handle, offset: self.offset, bytes: self.bytes, room: self.room }
    }

    /// Part of a span, in bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it reaches past the end.
    pub fn slice(&self, offset: u64, bytes: u64) -> Result<Span<B>> {
        if offset.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            return Err(Error::Invalid(format!(
                "bytes {offset}..{} of a span that has {}; end there at most",
                offset.saturating_add(bytes),
                self.bytes
            )));
        }
        Ok(Span { handle: self.handle.clone(), offset: self.offset + offset, bytes, room: self.room - offset })
    }

    /// The memory.
    pub fn handle(&self) -> &B::Handle {
        &self.handle
    }

    /// Where the span starts, in bytes from the handle.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes from its start to the end of the memory.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// Fails unless a transfer's bytes on the host are as many as the span's. For backends.
    ///
    /// # Errors
    /// [`Error::Invalid`] with both lengths.
    pub fn check_length(&self, bytes: usize) -> Result<()> {
        if bytes as u64 == self.bytes {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "{bytes} bytes on the host, and the span has {}; bring as many, or take a part of it",
            self.bytes
        )))
    }

    pub(crate) fn is_wide(&self, backend: &B) -> bool {
        let alignment = backend.handle_alignment(&self.handle);
        alignment.is_multiple_of(16)
            && self.offset.is_multiple_of(16)
            && self.bytes.checked_next_multiple_of(16).is_some_and(|end| end <= self.room)
    }

    pub(crate) fn overlaps(&self, other: &Self, backend: &B) -> bool {
        backend.same(&self.handle, &other.handle)
            && self.bytes > 0
            && other.bytes > 0
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }

    pub(crate) fn is(&self, other: &Self, backend: &B) -> bool {
        backend.same(&self.handle, &other.handle) && self.offset == other.offset && self.bytes == other.bytes
    }
}

/// A command for a backend to bind.
pub enum Command<'a, B: Backend> {
    /// Fill a span with a 32-bit word; offset and length are multiples of four.
    Fill {
        /// The span.
        span: Span<B>,
        /// The word.
        value: u32,
    },
    /// Copy a span to another of the same size.
    Copy {
        /// From where.
        from: Span<B>,
        /// To where.
        to: Span<B>,
        /// The bytes that are copied for each element of a run of fewer; all are where it is 0.
        each: u32,
    },
    /// From here on the run has as many elements as this word says when it gets there, and no more than launches were bound for. Only
    /// where kernels do not read it themselves: WGSL's and the host's.
    Length {
        /// The word.
        span: Span<B>,
    },
    /// Launch a kernel.
    Launch {
        /// What was compiled.
        key: &'a KernelKey,
        /// The compiled kernel.
        kernel: &'a B::Kernel,
        /// How many workgroups.
        groups: u32,
        /// Each argument's span.
        spans: Vec<(&'static str, Span<B>)>,
        /// What it is told beside its spans.
        values: Values<'a>,
    },
}

/// The bytes that a copy of so many moves in a run of `n` elements, of which each takes `each` bytes: all where that is 0.
pub fn bytes_of_run(bytes: u64, each: u32, n: Option<u32>) -> u64 {
    n.filter(|_| each > 0).map_or(bytes, |n| bytes.min(u64::from(n) * u64::from(each)))
}

/// What a launch is told beside its spans.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The parameters.
    pub params: &'a [(&'static str, Param)],
    /// How many elements a run has that says nothing else.
    pub n: u32,
    /// The element to start from.
    pub initial: Option<&'a [u8]>,
}

impl<B: Backend> Command<'_, B> {
    /// Why a backend whose kernels read lengths themselves takes no [`Command::Length`].
    pub fn no_length() -> Error {
        Error::Invalid("a step of a plan for another language; plan for this device, by its own caps".into())
    }

    /// Fails for a fill of other than whole, aligned words, and for a copy between lengths. For backends, to bind what passes.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the spans.
    pub fn check(&self) -> Result<()> {
        match self {
            Command::Fill { span, .. } if span.offset % 4 != 0 || span.bytes % 4 != 0 => {
                Err(Error::Invalid(format!("a fill of {span:?}; it takes whole, aligned 32-bit words")))
            }
            Command::Length { span } if span.offset % 4 != 0 || span.bytes != 4 => {
                Err(Error::Invalid(format!("a length of {span:?}; it is one aligned 32-bit word")))
            }
            Command::Copy { from, to, .. } if from.bytes != to.bytes => {
                Err(Error::Invalid(format!("a copy of {from:?} to {to:?}; they must be of one length")))
            }
            _ => Ok(()),
        }
    }
}

/// What a backend records into that takes steps in order as they are executed: nothing. They go into its queue at once, or run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InOrder;

impl InOrder {
    /// [`Backend::time`] by the host's clock, where steps are done when they have been executed.
    ///
    /// # Errors
    /// As [`Backend::execute`].
    pub fn time<B>(backend: &B, before: Option<&B::Steps>, steps: &B::Steps, n: Option<u32>, repeat: u32) -> Result<f64>
    where
        B: Backend<Recorder = InOrder>,
    {
        before.map_or(Ok(()), |before| backend.execute(&mut InOrder, before, None))?;
        let start = Instant::now();
        for _ in 0..repeat {
            backend.execute(&mut InOrder, steps, n)?;
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }
}

/// The spans of one call, each a `S`.
#[derive(Debug, Clone, Copy)]
pub struct SpansOf<S> {
    /// The input elements or keys, where they lie in memory: views have leaves.
    pub input: Option<S>,
    /// The output elements or keys; the same span as the input to work in place.
    pub output: S,
    /// The values that a sort carries along or a reduction by key reduces.
    pub input_values: Option<S>,
    /// Where they go.
    pub output_values: Option<S>,
    /// Where segments begin, and where the last one ends.
    pub offsets: Option<S>,
    /// Where the elements go that a partition does not keep.
    pub rest: Option<S>,
    /// Where a selection writes how many elements it kept: one `u32`.
    pub count: Option<S>,
    /// Where it says how many elements there are, where that is on the device: one `u32`.
    pub length: Option<S>,
    /// What the call's views read.
    pub leaves: [Option<S>; MAX_LEAVES],
}

/// The spans of one call, on a backend.
pub type Spans<B> = SpansOf<Span<B>>;

impl<S> SpansOf<S> {
    /// An output, and no more yet.
    fn of_one(output: S) -> Self {
        SpansOf {
            input: None,
            output,
            input_values: None,
            output_values: None,
            offsets: None,
            rest: None,
            count: None,
            length: None,
            leaves: [const { None }; MAX_LEAVES],
        }
    }

    /// The spans of a request, each by what it is to hold.
    ///
    /// # Errors
    /// What `span` says.
    pub fn of<E>(
        request: &Request,
        mut span: impl FnMut(&Operand) -> std::result::Result<S, E>,
    ) -> std::result::Result<Self, E> {
        let mut made = vec![];
        for operand in request.operands() {
            made.push((operand.slot, span(&operand)?));
        }
        // Every call has one.
        let output = made.iter().position(|(slot, _)| *slot == Slot::Output).unwrap_or_default();
        let spans = SpansOf::of_one(made.swap_remove(output).1);
        Ok(made.into_iter().fold(spans, |spans, (slot, span)| spans.put(slot, span)))
    }

    /// With this span in a slot of the call's.
    pub(crate) fn put(mut self, slot: Slot, span: S) -> Self {
        match slot {
            Slot::Input => self.input = Some(span),
            Slot::Output => self.output = span,
            Slot::InputValues => self.input_values = Some(span),
            Slot::OutputValues => self.output_values = Some(span),
            Slot::Offsets => self.offsets = Some(span),
            Slot::Rest => self.rest = Some(span),
            Slot::Count => self.count = Some(span),
            Slot::Length => self.length = Some(span),
            Slot::Leaf(leaf) => self.leaves[usize::from(leaf)] = Some(span),
            Slot::Scratch => {}
        }
        self
    }

    /// The span of a slot, if there is one. Scratch is no span of the call.
    pub fn slot(&self, slot: Slot) -> Option<&S> {
        match slot {
            Slot::Input => self.input.as_ref(),
            Slot::Output => Some(&self.output),
            Slot::InputValues => self.input_values.as_ref(),
            Slot::OutputValues => self.output_values.as_ref(),
            Slot::Offsets => self.offsets.as_ref(),
            Slot::Rest => self.rest.as_ref(),
            Slot::Count => self.count.as_ref(),
            Slot::Length => self.length.as_ref(),
            Slot::Leaf(leaf) => self.leaves.get(usize::from(leaf))?.as_ref(),
            Slot::Scratch => None,
        }
    }

    /// The spans that there are, by their slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Slot, &S)> {
        Slot::OF_CALLS.into_iter().filter_map(|slot| Some((slot, self.slot(slot)?)))
    }
}

impl<B: Backend> Spans<B> {
    /// An input and an output.
    pub fn new(input: &Span<B>, output: &Span<B>) -> Self {
        SpansOf { input: Some(input.clone()), ..Self::to(output) }
    }

    /// An output. Inputs are added.
    pub(crate) fn to(output: &Span<B>) -> Self {
        SpansOf::of_one(output.clone())
    }

    /// Keys with values.
    pub fn with_values(self, input: &Span<B>, output: &Span<B>) -> Self {
        self.put(Slot::InputValues, input.clone()).put(Slot::OutputValues, output.clone())
    }

    /// With a span of its own for what a partition does not keep.
    pub fn with_rest(self, rest: &Span<B>) -> Self {
        self.put(Slot::Rest, rest.clone())
    }

    /// With a `u32` for how many elements a selection keeps.
    pub fn with_count(self, count: &Span<B>) -> Self {
        self.put(Slot::Count, count.clone())
    }

    /// With a `u32` that says how many elements there are, up to as many as the spans have.
    pub fn with_length(self, length: &Span<B>) -> Self {
        self.put(Slot::Length, length.clone())
    }

    /// The spans that there are, by their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &Span<B>)> {
        self.all().map(|(slot, span)| (slot.noun(), span))
    }

    /// What the planner has to know of these spans, for this request: [`Spans::layout`], but that a reduction's result may lie anywhere.
    ///
    /// # Errors
    /// As [`Spans::layout`].
    pub fn layout_for(&self, backend: &B, request: &Request) -> Result<Layout> {
        let packed = request.operands().into_iter().filter(|operand| operand.packed);
        let wide = packed.filter_map(|operand| self.slot(operand.slot)).all(|span| span.is_wide(backend));
        Ok(Layout { wide, ..self.layout(backend)? })
    }

    /// What the planner has to know of these spans, whatever the request.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an output overlaps another span without being its input.
    pub fn layout(&self, backend: &B) -> Result<Layout> {
        let spans: Vec<_> = self.all().collect();
        // Of each input that an output may replace, whether it does.
        let mut replaced = vec![];
        for (i, (slot, span)) in spans.iter().enumerate() {
            for (other, before) in &spans[..i] {
                let is_twin = slot.replaces() == Some(*other);
                let in_place = is_twin && before.is(span, backend);
                if is_twin && (before.bytes() > 0 || *slot == Slot::Output) {
                    replaced.push(in_place);
                }
                let is_written = slot.is_output() || other.is_output();
                if is_written && !in_place && before.overlaps(span, backend) {
                    let advice = match is_twin {
                        true => "give each elements of its own, or, to a call that works in place, exactly the same",
                        false => "give each elements of its own, in another buffer or slice",
                    };
                    return Err(Error::Invalid(format!(
                        "the {} (bytes {}..{}) and the {} (bytes {}..{}) overlap; {advice}",
                        other.noun(),
                        before.offset,
                        before.offset + before.bytes,
                        slot.noun(),
                        span.offset,
                        span.offset + span.bytes
                    )));
                }
            }
        }
        let in_place = replaced.contains(&true);
        if in_place && replaced.contains(&false) {
            return Err(Error::Invalid(
                "keys and values must both be in place, or both have an output of their own".into(),
            ));
        }
        let is_one = |slot| matches!(slot, Slot::Count | Slot::Length);
        let wide = spans.iter().all(|(slot, span)| is_one(*slot) || span.is_wide(backend));
        Ok(Layout { wide, in_place, reads_length: self.length.is_some() })
    }
}
