//! What the primitives' builders have in common. Each says what is asked, then where results go, then when it runs
//! ([`Placed`]).

use std::sync::Arc;

use crate::results::new_count;
use crate::view::Erased;
use crate::{
    Algorithm, Backend, Call, Device, Element, Error, MAX_LEAVES, Options, Plan, Prepared, Request, Result, Slot,
    Spans, Then, View, ViewData, Viewed, once, planner,
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
    /// Or why the call cannot run.
    spans: std::result::Result<Spans<B>, String>,
    /// Why it cannot run without a capacity.
    unlike: Option<String>,
    /// How many elements there are of views that are more than memory.
    made: u64,
    options: Options,
    capacity: Option<u64>,
    label: Option<Arc<str>>,
}

impl<B: Backend> Placed<B> {
    pub(crate) fn new(device: B, request: impl Into<Request>, spans: Spans<B>) -> Self {
        Placed::of(device, request, Ok(spans))
    }

    /// A call that is data, on spans for its operands: for programs that learn at run time what is asked. The builders make all others.
    ///
    /// ```
    /// # use trifold_core::{ElementType, Placed, Scalar, SortRequest, Spans, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let keys = gpu.upload(&[2u32, 3, 1])?;
    /// let request = SortRequest::new(ElementType::Scalar(Scalar::U32), 3).into();
    /// let spans = Spans::of(&request, |_| trifold_core::Result::Ok(keys.span().clone()))?;
    /// Placed::of_request(gpu, request, spans).run()?;
    /// assert_eq!(keys.read()?, [1, 2, 3]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn of_request(device: B, request: Request, spans: Spans<B>) -> Self {
        Placed::new(device, request, spans)
    }

    /// On these spans, or not to run for this reason.
    pub(crate) fn of(device: B, request: impl Into<Request>, spans: std::result::Result<Spans<B>, String>) -> Self {
        let (request, options) = (request.into(), Options::default());
        Placed { device, request, spans, unlike: None, made: u64::MAX, options, capacity: None, label: None }
    }

    /// Not to run, if there is a reason.
    pub(crate) fn refused(mut self, refusal: Option<String>) -> Self {
        self.spans = self.spans.and_then(|spans| refusal.map_or(Ok(spans), Err));
        self
    }

    /// With its output mapped.
    pub(crate) fn then(self, then: Then) -> Self {
        Placed { request: self.request.then(then), ..self }
    }

    /// Reads this in a slot: if it is more than memory, by the memory that it is made of.
    pub(crate) fn reads<T: Element>(self, slot: Slot, view: &View<T, B>) -> Self {
        self.reads_erased(slot, view.erased())
    }

    /// The same of a view whose type is not known.
    pub(crate) fn reads_erased(mut self, slot: Slot, view: Erased<B>) -> Self {
        // What counts of a second input is what counts of the first, which knows of both.
        self = self.refused(view.refusal).refused(view.torn.filter(|_| slot == Slot::Input));
        self.unlike = self.unlike.or(view.unlike);
        let (Some((data, spans)), Ok(own)) = (view.data, &mut self.spans) else { return self };
        self.made = self.made.min(view.n);
        // Spans have numbers, and so do the lengths of what is gathered from, searched and looked at beside neighbours.
        let numbers = |view: &ViewData| view.leaves().len().max(view.lengths.len());
        let first = self.request.views().iter().map(|of| usize::from(of.first) + numbers(&of.view)).max().unwrap_or(0);
        if first + numbers(&data) > MAX_LEAVES {
            let (read, reached) = (own.leaves.iter().flatten().count() + spans.len(), first + numbers(&data));
            return self.refused(Some(match read > MAX_LEAVES {
                true => format!(
                    "views that read {read} spans; a call reads at most {MAX_LEAVES}, so copy a part of them first"
                ),
                false => format!(
                    "views that gather, search and look at neighbours {reached} times; a call does so at most {MAX_LEAVES} times, so copy a \
                     part of them first"
                ),
            }));
        }
        for (leaf, span) in own.leaves[first..].iter_mut().zip(spans) {
            *leaf = Some(span);
        }
        self.request = self.request.viewing(Viewed { slot, first: first as u8, view: data });
        self
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
    /// As [`planner::plan`], and [`Error::Invalid`] for spans that overlap, for views that cannot be read, and for a capacity that spans
    /// have no room for.
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
        let spans = self.complete()?;
        Ok(Call { label: self.label.take(), ..self.compile(&spans).await?.bind(&spans)? })
    }

    /// The call for this one time, of what the device keeps where that is.
    async fn once(mut self) -> Result<Call<B>> {
        let label = self.label.take();
        Ok(Call { label, ..self.unlabelled().await? })
    }

    async fn unlabelled(self) -> Result<Call<B>> {
        let (request, mut spans) = self.cut()?;
        let (request, spans) = (&request, &mut spans);
        let Placed { device, options, .. } = &self;
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

    async fn compile(&self, spans: &Spans<B>) -> Result<Prepared<B>> {
        let Placed { device, request, options, capacity, .. } = self;
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
        let mut spans = self.spans.clone().map_err(Error::Invalid)?;
        let Some(capacity) = self.capacity else {
            return match &self.unlike {
                Some(why) => Err(Error::Invalid(why.clone())),
                None => Ok((self.request.clone(), spans)),
            };
        };
        if self.made < capacity {
            return Err(Error::Invalid(format!(
                "a view has {} elements, and the call is for up to {capacity}; bring as many, or prepare it up to fewer",
                self.made
            )));
        }
        let request = self.request.with_n(capacity);
        for (operand, own) in request.operands().into_iter().zip(self.request.operands()) {
            let Some(span) = spans.slot(operand.slot) else { continue };
            if span.bytes() < operand.bytes() {
                let (noun, have) = (operand.slot.noun(), span.bytes() / u64::from(operand.element.bytes()));
                return Err(Error::Invalid(match operand.len == own.len && capacity != self.request.n() {
                    true => format!("the {noun} has {have} elements, and the call is of {}; bring as many", own.len),
                    false => format!(
                        "the {noun} has {have} elements, and the call is for up to {capacity}; bring as many, or prepare it up to fewer"
                    ),
                }));
            }
            let part = span.slice(0, operand.bytes())?;
            spans = spans.put(operand.slot, part);
        }
        Ok((request, spans))
    }

    /// Cuts the spans to the capacity. A count that nobody asked for needs a place all the same.
    fn complete(&mut self) -> Result<Spans<B>> {
        let (request, mut spans) = self.cut()?;
        self.request = request;
        if spans.count.is_none() && self.request.counts() {
            spans.count = Some(new_count(&self.device)?.span().clone());
        }
        Ok(spans)
    }
}

/// A call that was to run once has failed.
fn forget<B: Backend>(call: &Call<B>) {
    if let Some(calls) = call.device().calls() {
        calls.forget(call);
    }
}
