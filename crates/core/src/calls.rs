//! What the primitives' builders have in common. Each says what is asked, then where results go, then when it runs
//! ([`Placed`]).

use std::marker::PhantomData;
use std::sync::Arc;

use crate::results::new_count;
use crate::{
    Algorithm, Backend, Buffer, Call, Compacted, Device, Element, Error, Options, Plan, Prepared, Request, Result,
    Span, Spans, once, planner,
};

/// Waits for a future on this thread.
///
/// ```
/// # use trifold_core::{block_on, Scan, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3u32, 1, 4])?;
/// let sums = block_on(async { gpu.inclusive_scan(&x, Sum).read_async().await })?;
/// assert_eq!(sums, [3, 4, 8]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    pollster::block_on(future)
}

/// What a primitive reads: elements of type `T`, all there are or as many as the device's memory says.
pub struct Input<T, B: Backend = Device> {
    span: Span<B>,
    /// Where it says how many of them.
    length: Option<Buffer<u32, B>>,
    /// Whether what lies beside it has another.
    is_torn: bool,
    of: PhantomData<fn() -> T>,
}

impl<T: Element, B: Backend> Input<T, B> {
    /// How many elements, or at most, where that is on the device.
    ///
    /// ```
    /// # use trifold_core::{Compacted, Input, IntoInput, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, n) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[2u32])?);
    /// let input = Compacted::new(x, n).into_input();
    /// assert_eq!(input.len(), 3);
    /// assert!(input.length().is_some());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.span.bytes() as usize / size_of::<T>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn span(&self) -> &Span<B> {
        &self.span
    }

    /// As many elements as there are of this.
    pub(crate) fn n(&self) -> u64 {
        self.len() as u64
    }

    /// Where it says how many elements there are, if that is on the device.
    pub fn length(&self) -> Option<&Buffer<u32, B>> {
        self.length.as_ref()
    }

    /// As many as there are of these beside it, if it does not say how many itself.
    pub(crate) fn beside<U>(mut self, other: &Input<U, B>) -> Self {
        match (&self.length, &other.length) {
            (Some(own), Some(other)) => self.is_torn |= !own.span().is(other.span(), own.device()),
            (None, other) => self.length = other.clone(),
            (Some(_), None) => {}
        }
        self
    }

    /// Why a call cannot read it, if it cannot.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        self.is_torn.then_some(
            "keys and values whose numbers of elements are two words on the device; pass the values' room(), or say which counts by \
             len_on_device",
        )
    }

    /// As many as this word says.
    pub(crate) fn counted_by(mut self, length: &Buffer<u32, B>) -> Self {
        self.length = Some(length.clone());
        self.is_torn = false;
        self
    }

    /// The spans of a call from this to an output.
    pub(crate) fn spans_to(&self, output: &Span<B>) -> Spans<B> {
        let length = self.length.as_ref().map(|length| length.span().clone());
        Spans { length, ..Spans::new(&self.span, output) }
    }
}

/// Whatever a primitive can read.
///
/// A buffer, a part of one, or a [`Compacted`]:
///
/// ```
/// # use trifold_core::{Compacted, Reduce, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, n) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[2u32])?);
/// assert_eq!(gpu.reduce(&x, Sum).value()?, 8);
/// assert_eq!(gpu.reduce(x.slice(1..)?, Sum).value()?, 5);
/// assert_eq!(gpu.reduce(Compacted::new(x, n), Sum).value()?, 4);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub trait IntoInput<B: Backend> {
    /// The type of the elements.
    type Item: Element;

    /// What is read.
    fn into_input(self) -> Input<Self::Item, B>;
}

impl<T: Element, B: Backend> IntoInput<B> for &Buffer<T, B> {
    type Item = T;

    fn into_input(self) -> Input<T, B> {
        Input { span: self.span().clone(), length: None, is_torn: false, of: PhantomData }
    }
}

impl<T: Element, B: Backend> IntoInput<B> for &Compacted<T, B> {
    type Item = T;

    fn into_input(self) -> Input<T, B> {
        self.room().into_input().counted_by(self.count())
    }
}

impl<T: Element, B: Backend> IntoInput<B> for Compacted<T, B> {
    type Item = T;

    fn into_input(self) -> Input<T, B> {
        (&self).into_input()
    }
}

impl<T: Element, B: Backend> IntoInput<B> for Buffer<T, B> {
    type Item = T;

    fn into_input(self) -> Input<T, B> {
        (&self).into_input()
    }
}

/// A call whose results have a place. It remains to say when it runs: once ([`Placed::run`]), in a recorder of the caller's
/// ([`Placed::encode`]), or any number of times ([`Placed::prepare`]).
///
/// ```
/// # use trifold_core::{Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let keys = gpu.upload(&[2u32, 3, 1])?;
/// let placed = gpu.sort(&keys).in_place();
/// placed.run()?;
/// assert_eq!(keys.read()?, [1, 2, 3]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say when: run(), encode(&mut recorder) or prepare()"]
pub struct Placed<B: Backend = Device> {
    device: B,
    request: Request,
    spans: Spans<B>,
    options: Options,
    capacity: Option<u64>,
    label: Option<Arc<str>>,
    refusal: Option<&'static str>,
}

impl<B: Backend> Placed<B> {
    pub(crate) fn new(device: B, request: impl Into<Request>, spans: Spans<B>) -> Self {
        Placed {
            device,
            request: request.into(),
            spans,
            options: Options::default(),
            capacity: None,
            label: None,
            refusal: None,
        }
    }

    /// Not to run, if there is a reason.
    pub(crate) fn refused(self, refusal: Option<&'static str>) -> Self {
        Placed { refusal, ..self }
    }

    /// By this algorithm, not by the planner's choice.
    ///
    /// [`Request::algorithms`] has those that there are.
    ///
    /// ```
    /// # use trifold_core::{algorithm, Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[0.1f32, 0.2])?, gpu.alloc(2)?);
    /// let scan = gpu.inclusive_scan(&x, Sum).to(&y).by(&algorithm::scan::SEQUENTIAL);
    /// assert_eq!(scan.plan()?.algorithm().name, "sequential");
    /// scan.run()?;
    /// assert_eq!(y.read()?, [0.1, 0.1 + 0.2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn by(mut self, algorithm: &'static Algorithm) -> Self {
        self.options.algorithm = Some(algorithm);
        self
    }

    /// For any number of elements up to a capacity, which the spans must have room for. Once prepared, the call takes
    /// how many with each run ([`Call::run_n`], [`Call::encode_n`]). If a word on the device says how many, at most the
    /// capacity are taken.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[5u32, 2, 4, 1, 3])?;
    /// let sort = gpu.sort(&keys).in_place().up_to(keys.len()).prepare()?;
    /// sort.run_n(3)?;
    /// assert_eq!(keys.read()?, [2, 4, 5, 1, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn up_to(self, capacity: usize) -> Self {
        Placed { capacity: Some(capacity as u64), ..self }
    }

    /// Under this name in tools that show what a device does: a debug group in wgpu, a range of NVTX in CUDA.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[3u32, 1, 2])?;
    /// gpu.sort(&keys).in_place().label("sort by depth").run()?;
    /// assert_eq!(keys.read()?, [1, 2, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn label(self, label: impl Into<Arc<str>>) -> Self {
        Placed { label: Some(label.into()), ..self }
    }

    /// With these options, instead of all that was said before.
    ///
    /// ```
    /// # use trifold_core::{algorithm, Options, Reduce, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, total) = (gpu.upload(&[3u32, 1])?, gpu.alloc(1)?);
    /// let options = Options::by(&algorithm::reduce::PARALLEL);
    /// gpu.reduce(&x, Sum).to(&total).with_options(options).run()?;
    /// assert_eq!(total.read()?, [4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn with_options(self, options: Options) -> Self {
        Placed { options, ..self }
    }

    /// What is asked, as data.
    ///
    /// ```
    /// # use trifold_core::{Sort, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2.5f32, -1.0])?;
    /// let sort = gpu.sort(&keys).in_place();
    /// assert_eq!((sort.request().primitive(), sort.request().n()), ("sort_keys", 2));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What the device is to do, without compiling it.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// let plan = gpu.inclusive_scan(&x, Sum).in_place().plan()?;
    /// assert_eq!((plan.algorithm().name, plan.launches()), ("parallel", 1));
    /// assert_eq!(x.read()?, [3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`planner::plan`].
    pub fn plan(&self) -> Result<Plan> {
        let (request, spans) = self.cut()?;
        let layout = spans.layout_for(&self.device, &request)?;
        planner::plan(&request, layout, self.options, self.device.caps(), &self.device.tuning())
    }

    /// Submits the call. Does not wait for its end.
    ///
    /// The first time, the device plans the call and compiles what is new. It keeps the plan, states and scratch for
    /// the next time ([`Transfer::memory`](crate::Transfer::memory)).
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4])?, gpu.alloc(3)?);
    /// gpu.exclusive_scan(&x, Sum).to(&y).run()?;
    /// assert_eq!(y.read()?, [0, 3, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn run(self) -> Result<()> {
        block_on(self.run_async())
    }

    /// As [`Placed::run`], for programs that must not block.
    ///
    /// ```
    /// # use trifold_core::{block_on, Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// block_on(async {
    ///     gpu.inclusive_scan(&x, Sum).in_place().run_async().await?;
    ///     assert_eq!(x.read_async().await?, [3, 4, 8]);
    ///     Ok::<(), trifold_core::Error>(())
    /// })?;
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn run_async(self) -> Result<()> {
        let call = self.once().await?;
        call.run().inspect_err(|_| forget(&call))
    }

    /// Records the call, which then runs whenever what it was recorded into runs.
    ///
    /// In wgpu the recorder is a `CommandEncoder` of the program's own. A queue or a stream takes commands at once:
    /// they are in it when this returns.
    ///
    /// ```
    /// # use trifold_core::{Backend, Scan, Sort, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 2])?;
    /// let mut recorder = gpu.record()?;
    /// gpu.sort(&x).in_place().encode(&mut recorder)?;
    /// gpu.inclusive_scan(&x, Sum).in_place().encode(&mut recorder)?;
    /// gpu.submit(recorder)?;
    /// assert_eq!(x.read()?, [1, 3, 6]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn encode(self, recorder: &mut B::Recorder) -> Result<()> {
        let call = block_on(self.once())?;
        call.encode(recorder).inspect_err(|_| forget(&call))
    }

    /// Plans and compiles the call and allocates its scratch, to be run any number of times.
    ///
    /// ```
    /// # use trifold_core::{Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1u32, 1, 1])?;
    /// let scan = gpu.inclusive_scan(&x, Sum).in_place().prepare()?;
    /// scan.run()?;
    /// scan.run()?;
    /// assert_eq!(x.read()?, [1, 3, 6]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn prepare(self) -> Result<Call<B>> {
        block_on(self.prepare_async())
    }

    /// As [`Placed::prepare`], for programs that must not block.
    ///
    /// ```
    /// # use trifold_core::{block_on, Scan, Sum, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u32, 1, 4])?;
    /// let scan = block_on(gpu.inclusive_scan(&x, Sum).in_place().prepare_async())?;
    /// scan.run()?;
    /// assert_eq!(x.read()?, [3, 4, 8]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn prepare_async(mut self) -> Result<Call<B>> {
        self.complete()?;
        Ok(Call { label: self.label.take(), ..self.compile().await?.bind(&self.spans)? })
    }

    /// The call for this one time, of what the device keeps where that is.
    async fn once(mut self) -> Result<Call<B>> {
        let label = self.label.take();
        Ok(Call { label, ..self.unlabelled().await? })
    }

    async fn unlabelled(mut self) -> Result<Call<B>> {
        (self.request, self.spans) = self.cut()?;
        let Placed { device, request, spans, options, .. } = &mut self;
        let wants_count = spans.count.is_none() && request.counts();
        let Some(cache) = once::usable(device) else {
            if wants_count {
                spans.count = Some(new_count(device)?.span().clone());
            }
            let layout = spans.layout_for(device, request)?;
            return Prepared::new(device, request, layout, *options).await?.bind_once(spans);
        };
        if wants_count {
            spans.count = Some(cache.count(device)?);
        }
        cache.call(device, request, spans, *options).await
    }

    async fn compile(&self) -> Result<Prepared<B>> {
        let Placed { device, request, spans, options, capacity, .. } = self;
        let layout = spans.layout_for(device, request)?;
        match capacity {
            Some(_) if !layout.reads_length => {
                Prepared::up_to(device, request, layout, *options, &device.tuning()).await
            }
            _ => Prepared::new(device, request, layout, *options).await,
        }
    }

    /// The request for the capacity, where there is one, and the spans' parts for that.
    fn cut(&self) -> Result<(Request, Spans<B>)> {
        if let Some(why) = self.refusal {
            return Err(Error::Invalid(why.into()));
        }
        let mut spans = self.spans.clone();
        let Some(capacity) = self.capacity else { return Ok((self.request.clone(), spans)) };
        let request = self.request.with_n(capacity);
        for operand in request.operands() {
            let Some(span) = spans.slot(operand.slot) else { continue };
            if span.bytes() < operand.bytes() {
                return Err(Error::Invalid(format!(
                    "the {} has {} elements, and the call is for up to {capacity}; bring as many, or prepare it up to fewer",
                    operand.slot.noun(),
                    span.bytes() / u64::from(operand.element.bytes()),
                )));
            }
            let part = span.slice(0, operand.bytes())?;
            spans = spans.put(operand.slot, part);
        }
        Ok((request, spans))
    }

    /// Cuts the spans to the capacity. A count that nobody asked for needs a place all the same.
    fn complete(&mut self) -> Result<()> {
        (self.request, self.spans) = self.cut()?;
        if self.spans.count.is_none() && self.request.counts() {
            self.spans.count = Some(new_count(&self.device)?.span().clone());
        }
        Ok(())
    }
}

/// A call that was to run once has failed.
fn forget<B: Backend>(call: &Call<B>) {
    if let Some(calls) = call.device().calls() {
        calls.forget(call);
    }
}
