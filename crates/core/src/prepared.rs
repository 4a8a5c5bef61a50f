//! From a plan to something that runs: compile once, bind once, run any number of times.

use std::sync::Arc;

use crate::primitive::Operand;
use crate::scratch::Pieces;
use crate::{
    Backend, Command, Device, Error, KernelKey, Layout, Options, Plan, Region, Request, Result, Slot, Span, Spans,
    Step, Tuning, block_on, planner,
};

/// A plan with its kernels compiled.
pub struct Prepared<B: Backend> {
    device: B,
    plan: Arc<Plan>,
    kernels: Vec<(KernelKey, B::Kernel)>,
}

/// A call that was planned, compiled and bound, to be run any number of times: that compiles nothing, and on a GPU allocates nothing. It
/// keeps its device and its memory.
pub struct Call<B: Backend> {
    /// They may hold no more than addresses: dropped before what keeps the memory.
    steps: Arc<B::Steps>,
    _memory: Vec<B::Handle>,
    device: B,
    plan: Arc<Plan>,
}

impl<B: Backend> Prepared<B> {
    /// Plans a request for a backend's device, by the device's own numbers, and compiles the plan's kernels.
    ///
    /// # Errors
    /// As the primitives' (see [`Scan`](crate::Scan)).
    pub async fn new(device: &B, request: &Request, layout: Layout, options: Options) -> Result<Self> {
        Self::with_tuning(device, request, layout, options, &device.tuning()).await
    }

    /// As [`Prepared::new`], by these numbers.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub async fn with_tuning(
        device: &B,
        request: &Request,
        layout: Layout,
        options: Options,
        tuning: &Tuning,
    ) -> Result<Self> {
        Self::of_plan(device, planner::plan(request, layout, options, device.caps(), tuning)?).await
    }

    /// Compiles the kernels of a plan that the caller has, for this backend's device.
    ///
    /// # Errors
    /// As [`Backend::compile`], and [`Error::Invalid`] for a plan that was made for another device.
    pub async fn of_plan(device: &B, plan: Plan) -> Result<Self> {
        let caps = device.caps();
        if *plan.caps != *caps {
            return Err(Error::Invalid(format!(
                "a plan for {} ({}) and what that can do; plan for this {} ({}), with its own caps",
                plan.caps.device, plan.caps.backend, caps.device, caps.backend
            )));
        }
        let mut kernels: Vec<(KernelKey, B::Kernel)> = vec![];
        for launch in plan.launched() {
            if !kernels.iter().any(|(key, _)| *key == launch.kernel) {
                kernels.push((launch.kernel.clone(), device.compile(&launch.kernel).await?));
            }
        }
        Ok(Prepared { device: device.clone(), plan: Arc::new(plan), kernels })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Binds spans, with scratch of the call's own, allocated and cleared here once.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the spans are not what the plan was made for.
    pub fn bind(&self, spans: &Spans<B>) -> Result<Call<B>> {
        self.check(spans)?;
        let scratch = Pieces::new(&self.device, &self.plan.scratch)?;
        self.clear_scratch(&scratch)?;
        self.bind_steps(spans, &scratch, true)
    }

    /// Binds spans, with scratch of the call's own that every run clears: for calls that run once, or are recorded and may never run.
    ///
    /// # Errors
    /// As [`Prepared::bind`].
    pub(crate) fn bind_once(&self, spans: &Spans<B>) -> Result<Call<B>> {
        self.check(spans)?;
        self.bind_steps(spans, &Pieces::new(&self.device, &self.plan.scratch)?, false)
    }

    /// Binds spans and the caller's scratch, which is cleared as needed on every run. A plan that needs none takes any. Calls may share
    /// scratch where one ends before the next begins, as they do on one queue. In OpenCL calls
    /// of several launches are faster with scratch of their own, which is a buffer for each region: NVIDIA's driver is slow with parts of one.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the spans are not what the plan was made for, or the scratch is too small, overlaps a span,
    /// or does not start at a multiple of 256 bytes or of what the device can bind at; in OpenCL also if it is cut from a buffer that
    /// has a span.
    pub fn bind_with_scratch(&self, spans: &Spans<B>, scratch: &Span<B>) -> Result<Call<B>> {
        self.check(spans)?;
        let (need, device) = (self.plan.scratch_bytes(), &self.device);
        if need == 0 {
            return self.bind_steps(spans, &Pieces::none(), false);
        }
        let alignment = device.caps().binding_alignment.max(256);
        let start = device.handle_alignment(scratch.handle());
        let aligned = start.is_multiple_of(256) && scratch.offset().is_multiple_of(alignment);
        if scratch.bytes() < need || !aligned {
            return Err(Error::Invalid(format!(
                "scratch of {} bytes at {}; bring at least {need} bytes at a multiple of {alignment}, of memory at a multiple of \
                 256",
                scratch.bytes(),
                device.place_of(scratch)
            )));
        }
        for (name, span) in spans.named() {
            if span.overlaps(scratch, device) {
                return Err(Error::Invalid(format!("the scratch overlaps the {name}; give it memory of its own")));
            }
        }
        self.bind_steps(spans, &Pieces::whole(scratch.clone()), false)
    }

    /// Clears what the kernels will leave clean from then on.
    fn clear_scratch(&self, scratch: &Pieces<B>) -> Result<()> {
        let mut clear = vec![];
        for step in &self.plan.steps {
            if let Step::Fill { region, value, once: true } = step {
                clear.extend(scratch.parts(region)?.into_iter().map(|span| Command::Fill { span, value: *value }));
            }
        }
        if clear.is_empty() {
            return Ok(());
        }
        // SAFETY: they fill what the spans have, and run at once, while the caller's pieces live.
        let steps = unsafe { self.device.bind(clear) }?;
        self.device.run(&steps)
    }

    /// Binds spans that were checked; `clean` says that the scratch was cleared by [`Prepared::clear_scratch`].
    fn bind_steps(&self, spans: &Spans<B>, scratch: &Pieces<B>, clean: bool) -> Result<Call<B>> {
        let resolve = |region: &Region| -> Result<Span<B>> {
            let span = match region.slot {
                Slot::Scratch => scratch.region(region)?,
                slot => spans.slot(slot).map(|span| span.slice(region.offset, region.bytes)).transpose()?,
            };
            span.ok_or_else(|| Error::Invalid(format!("the plan needs the {}, which is not bound", region.slot.noun())))
        };
        let mut commands = vec![];
        for step in &self.plan.steps {
            commands.push(match step {
                Step::Fill { once: true, .. } if clean => continue,
                // Several regions' scratch, each in a buffer of its own, may be filled at once.
                Step::Fill { region, value, .. } if region.slot == Slot::Scratch => {
                    let parts = scratch.parts(region)?;
                    commands.extend(parts.into_iter().map(|span| Command::Fill { span, value: *value }));
                    continue;
                }
                Step::Fill { region, value, .. } => Command::Fill { span: resolve(region)?, value: *value },
                Step::Copy { from, to } => Command::Copy { from: resolve(from)?, to: resolve(to)? },
                Step::Launch(launch) => Command::Launch {
                    key: &launch.kernel,
                    kernel: self
                        .kernels
                        .iter()
                        .find_map(|(key, kernel)| (*key == launch.kernel).then_some(kernel))
                        .ok_or_else(|| Error::Invalid(format!("kernel {} was not prepared", launch.kernel.name())))?,
                    groups: launch.groups,
                    spans: launch
                        .bindings
                        .iter()
                        .map(|(name, region)| Ok((*name, resolve(region)?)))
                        .collect::<Result<_>>()?,
                    params: &launch.params,
                    initial: launch.initial.as_deref(),
                },
            });
        }
        // SAFETY: the plan is for this device, as `of_plan` compared, and for spans as `check` found these. The call keeps their memory and the
        // scratch's as long as the steps, which it gives to nobody.
        let steps = unsafe { self.device.bind(commands) }?;
        let memory = spans.all().map(|(_, span)| span).chain(scratch.all()).map(|span| span.handle().clone());
        Ok(Call {
            steps: steps.into(),
            _memory: memory.collect(),
            device: self.device.clone(),
            plan: self.plan.clone(),
        })
    }

    fn check(&self, spans: &Spans<B>) -> Result<()> {
        let backend = &self.device;
        let layout = spans.layout(backend)?;
        let is_planned = |slot: Slot| self.plan.operands.iter().any(|operand| operand.slot == slot);
        if let Some((slot, _)) = spans.all().find(|(slot, span)| span.bytes() > 0 && !is_planned(*slot)) {
            return Err(Error::Invalid(format!(
                "the {} is bound, and the plan has none; leave it out, or prepare for a call that has it",
                slot.noun()
            )));
        }
        for operand in &self.plan.operands {
            let (span, noun, bytes, align) =
                (spans.slot(operand.slot), operand.slot.noun(), operand.bytes(), operand.align);
            let have = span.map_or(0, Span::bytes);
            if have != bytes {
                let remedy = match span {
                    None => "bind one",
                    Some(_) if have > bytes => "pass a slice of as many (Buffer::slice), or plan for what there is",
                    Some(_) => "bring as many, or plan for what there is",
                };
                let (size, name, len) = (u64::from(operand.element.bytes()), operand.element.name(), operand.len);
                let have = match have % size {
                    0 => format!("{} elements", have / size),
                    _ => format!("{have} bytes"),
                };
                return Err(Error::Invalid(format!(
                    "the {noun} has {have}, and the call is of {len} ({name}, {size} bytes each); {remedy}"
                )));
            }
            if let Some(span) = span
                && bytes > 0
                && (span.offset() % u64::from(align) != 0
                    || backend.handle_alignment(span.handle()) % u64::from(align) != 0)
            {
                return Err(Error::Invalid(format!(
                    "the {noun} starts at {}; it must start at a multiple of {align}, as its elements do",
                    backend.place_of(span)
                )));
            }
        }
        let is_narrow = |of: &Operand| of.packed && spans.slot(of.slot).is_some_and(|span| !span.is_wide(backend));
        if let Some(narrow) = self.plan.operands.iter().find(|operand| self.plan.wide && is_narrow(operand)) {
            return Err(Error::Invalid(format!(
                "the {} does not start at a multiple of 16 bytes or its buffer ends before the next one; prepare with \
                 the spans' own layout (Spans::layout_for)",
                narrow.slot.noun()
            )));
        }
        if layout.in_place && !self.plan.in_place && spans.input.bytes() > 0 {
            return Err(Error::Invalid(
                "the output is the input, and the plan was not made for that; prepare with Layout { in_place: true, .. }"
                    .into(),
            ));
        }
        if self.plan.in_place && !layout.in_place && spans.input.bytes() > 0 {
            return Err(Error::Invalid(
                "the plan works in place, and the output is another span than the input".into(),
            ));
        }
        Ok(())
    }
}

impl<B: Backend> Call<B> {
    /// Plans a request by the device's own numbers and the spans' layout, compiles it and binds it with scratch of its own.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn new(device: &B, request: &Request, spans: &Spans<B>, options: Options) -> Result<Self> {
        Self::with_tuning(device, request, spans, options, &device.tuning())
    }

    /// As [`Call::new`], by these numbers.
    ///
    /// # Errors
    /// As [`Call::new`].
    pub fn with_tuning(
        device: &B,
        request: &Request,
        spans: &Spans<B>,
        options: Options,
        tuning: &Tuning,
    ) -> Result<Self> {
        let layout = spans.layout_for(device, request)?;
        block_on(Prepared::with_tuning(device, request, layout, options, tuning))?.bind(spans)
    }

    /// The device that it runs on.
    pub fn device(&self) -> &B {
        &self.device
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Submits the call. Does not wait.
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub fn run(&self) -> Result<()> {
        self.device.run(&self.steps)
    }

    /// Records the call into a recorder of the caller's.
    ///
    /// # Errors
    /// As [`Backend::execute`].
    pub fn encode(&self, recorder: &mut B::Recorder) -> Result<()> {
        self.device.execute(recorder, &self.steps)
    }

    /// The milliseconds that `repeat` runs take on the device, by its own timestamps. Waits for them.
    ///
    /// # Errors
    /// As [`Backend::time`].
    pub fn time(&self, repeat: u32) -> Result<f64> {
        self.device.time(None, &self.steps, repeat)
    }

    /// As [`Call::time`], behind a run of another call of the same device.
    ///
    /// # Errors
    /// As [`Backend::time`].
    pub fn time_after(&self, before: &Call<B>, repeat: u32) -> Result<f64> {
        self.device.time(Some(&before.steps), &self.steps, repeat)
    }
}

impl Call<Device> {
    /// The call as that of the backend behind its device, if that is of this type: for what only one API has.
    pub fn downcast<B: Backend>(&self) -> Option<Call<B>> {
        let device = self.device.downcast_ref::<B>()?.clone();
        let memory = self._memory.iter().map(|handle| handle.get::<B::Handle>().ok().cloned());
        Some(Call {
            steps: self.steps.shared()?,
            _memory: memory.collect::<Option<_>>()?,
            device,
            plan: self.plan.clone(),
        })
    }
}

/// How much scratch a request needs on a device with these capabilities, in bytes. Asks no device.
///
/// # Errors
/// As [`planner::plan`].
pub fn scratch_bytes(
    request: &Request,
    layout: Layout,
    options: Options,
    caps: &crate::Caps,
    tuning: &Tuning,
) -> Result<u64> {
    Ok(planner::plan(request, layout, options, caps, tuning)?.scratch_bytes())
}
