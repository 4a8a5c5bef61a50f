//! From a plan to something that runs: compile once, bind once, run any number of times.

use std::marker::PhantomData;

use crate::primitive::Operand;
use crate::scratch::{Pieces, Working};
use crate::{
    Backend, Command, Error, KernelKey, Layout, Options, Plan, Region, Request, Result, Slot, Span, Spans, Step,
    Tuning, planner,
};

/// A plan with its kernels compiled.
pub struct Prepared<B: Backend> {
    plan: Plan,
    kernels: Vec<(KernelKey, B::Kernel)>,
    /// Nothing where the caller brings it.
    scratch: Option<Working<B>>,
}

/// A prepared plan bound to spans. Running it compiles nothing, and on a GPU allocates nothing.
pub struct Bound<'a, B: Backend> {
    steps: Vec<B::Step>,
    spans: PhantomData<&'a B>,
}

impl<B: Backend> Prepared<B> {
    /// Plans a request for a backend's device and compiles the plan's kernels. The plan gets scratch of its own,
    /// allocated and cleared here once.
    ///
    /// # Errors
    /// As the primitives' (see [`Scan`](crate::Scan)).
    pub async fn new(backend: &B, request: &Request, layout: Layout, options: Options) -> Result<Self> {
        let mut prepared = Self::without_scratch(backend, request, layout, options, &backend.tuning()).await?;
        let scratch = Working::new(backend, &prepared.plan.scratch)?;
        prepared.clear_scratch(backend, &scratch.pieces(backend))?;
        prepared.scratch = Some(scratch);
        Ok(prepared)
    }

    /// As [`Prepared::new`], for a caller who brings scratch to [`Prepared::bind_with_scratch`] and may have numbers of
    /// their own to plan with.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub async fn without_scratch(
        backend: &B,
        request: &Request,
        layout: Layout,
        options: Options,
        tuning: &Tuning,
    ) -> Result<Self> {
        Self::of_plan(backend, planner::plan(request, layout, options, backend.caps(), tuning)?).await
    }

    /// Compiles the kernels of a plan that the caller has, for this backend's device. As [`Prepared::without_scratch`], it
    /// has no scratch.
    ///
    /// # Errors
    /// As [`Backend::compile`], and [`Error::Invalid`] for a plan that was made for another device.
    pub async fn of_plan(backend: &B, plan: Plan) -> Result<Self> {
        let caps = backend.caps();
        if *plan.caps != *caps {
            return Err(Error::Invalid(format!(
                "a plan for {} ({}) and what that can do; plan for this {} ({}), with its own caps",
                plan.caps.device, plan.caps.backend, caps.device, caps.backend
            )));
        }
        let mut kernels: Vec<(KernelKey, B::Kernel)> = vec![];
        for step in &plan.steps {
            if let Step::Launch(launch) = step
                && !kernels.iter().any(|(key, _)| *key == launch.kernel)
            {
                kernels.push((launch.kernel.clone(), backend.compile(&launch.kernel).await?));
            }
        }
        Ok(Prepared { plan, kernels, scratch: None })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Binds spans, with the plan's own scratch. Two bound calls of one prepared plan share that scratch: run them on the backend
    /// that prepared it, from any thread, where one ends before the next begins. CUDA and OpenCL refuse to run what was bound for another
    /// queue.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the spans are not what the plan was made for.
    pub fn bind<'a>(&'a self, backend: &B, spans: &Spans<'a, B>) -> Result<Bound<'a, B>> {
        match &self.scratch {
            Some(scratch) => self.bind_steps(backend, spans, &scratch.pieces(backend), true),
            None if self.plan.scratch_bytes() == 0 => self.bind_steps(backend, spans, &Pieces::none(), true),
            None => Err(Error::Invalid(format!(
                "this plan was prepared without scratch; bring {} bytes to bind_with_scratch",
                self.plan.scratch_bytes()
            ))),
        }
    }

    /// Binds spans and the caller's scratch, which is cleared as needed on every run. A plan that needs none takes any. In OpenCL calls
    /// of several launches are faster with the plan's own, which is a buffer for each region: NVIDIA's driver is slow with parts of one.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the spans are not what the plan was made for, or the scratch is too small, overlaps a span,
    /// or does not start at a multiple of 256 bytes or of what the device can bind at; in OpenCL also if it is cut from a buffer that
    /// has a span.
    pub fn bind_with_scratch<'a>(
        &self,
        backend: &B,
        spans: &Spans<'a, B>,
        scratch: &Span<'a, B>,
    ) -> Result<Bound<'a, B>> {
        let need = self.plan.scratch_bytes();
        if need == 0 {
            return self.bind_steps(backend, spans, &Pieces::none(), false);
        }
        let alignment = backend.caps().binding_alignment.max(256);
        let start = backend.handle_alignment(scratch.handle());
        let aligned = start.is_multiple_of(256) && scratch.offset().is_multiple_of(alignment);
        if scratch.bytes() < need || !aligned {
            return Err(Error::Invalid(format!(
                "scratch of {} bytes at {}; bring at least {need} bytes at a multiple of {alignment}, of memory at a multiple of \
                 256",
                scratch.bytes(),
                backend.place_of(scratch)
            )));
        }
        for (name, span) in spans.named() {
            if span.overlaps(scratch, backend) {
                return Err(Error::Invalid(format!("the scratch overlaps the {name}; give it memory of its own")));
            }
        }
        self.bind_steps(backend, spans, &Pieces::whole(scratch.clone()), false)
    }

    /// Clears what the kernels will leave clean from then on.
    pub(crate) fn clear_scratch(&self, backend: &B, scratch: &Pieces<'_, B>) -> Result<()> {
        let mut clear = vec![];
        for step in &self.plan.steps {
            if let Step::Fill { region, value, once: true } = step {
                for span in scratch.parts(region)? {
                    // SAFETY: it fills what the span has, and is executed below, while the caller's pieces live.
                    clear.push(unsafe { backend.bind(Command::Fill { span, value: *value }) }?);
                }
            }
        }
        if clear.is_empty() {
            return Ok(());
        }
        let mut recorder = backend.record()?;
        backend.execute(&mut recorder, &clear)?;
        backend.submit(recorder)
    }

    /// Binds spans; `clean` says that the scratch was cleared by [`Prepared::clear_scratch`].
    pub(crate) fn bind_steps<'a>(
        &self,
        backend: &B,
        spans: &Spans<'a, B>,
        scratch: &Pieces<'a, B>,
        clean: bool,
    ) -> Result<Bound<'a, B>> {
        self.check(backend, spans)?;
        let resolve = |region: &Region| -> Result<Span<'a, B>> {
            let span = match region.slot {
                Slot::Scratch => scratch.region(region)?,
                slot => spans.slot(slot).map(|span| span.slice(region.offset, region.bytes)).transpose()?,
            };
            span.ok_or_else(|| Error::Invalid(format!("the plan needs the {}, which is not bound", region.slot.noun())))
        };
        let mut steps = vec![];
        for step in &self.plan.steps {
            let command = match step {
                Step::Fill { once: true, .. } if clean => continue,
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
            };
            // SAFETY: the plan is for this device, as `of_plan` compared, and for spans as `check` found these. `Bound` borrows their memory,
            // and who takes the steps out of it keeps that.
            steps.push(unsafe { backend.bind(command) }?);
        }
        Ok(Bound { steps, spans: PhantomData })
    }

    fn check(&self, backend: &B, spans: &Spans<'_, B>) -> Result<()> {
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
                    Some(_) if have > bytes => "pass a slice of as many (Span::slice), or prepare for what there is",
                    Some(_) => "bring as many, or prepare for what there is",
                };
                return Err(Error::Invalid(format!(
                    "the {noun} has {have} bytes, and the plan was made for {bytes}; {remedy}"
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

impl<B: Backend> Bound<'_, B> {
    /// The bound steps, for a caller who executes or times them by [`Backend`]'s own functions.
    ///
    /// # Safety
    /// They must be executed all, in order, and with nothing in between that uses the same scratch: a kernel trusts what those before it
    /// wrote, and stores where that says.
    pub unsafe fn steps(&self) -> &[B::Step] {
        &self.steps
    }

    /// The bound steps alone, whose owner keeps the spans' memory.
    pub(crate) fn into_steps(self) -> Vec<B::Step> {
        self.steps
    }

    /// The milliseconds that `repeat` runs take on the device, by its own timestamps, behind a run of `before`. Waits for them.
    ///
    /// # Errors
    /// As [`Backend::time`].
    pub fn time(&self, backend: &B, before: Option<&Bound<'_, B>>, repeat: u32) -> Result<f64> {
        backend.time(before.map_or(&[], |before| &before.steps), &self.steps, repeat)
    }

    /// Records the call into a recorder of the caller's.
    ///
    /// # Errors
    /// As [`Backend::execute`].
    pub fn record(&self, backend: &B, recorder: &mut B::Recorder) -> Result<()> {
        backend.execute(recorder, &self.steps)
    }

    /// Records and submits the call. Does not wait.
    ///
    /// # Errors
    /// As [`Backend::execute`] and [`Backend::submit`].
    pub fn run(&self, backend: &B) -> Result<()> {
        let mut recorder = backend.record()?;
        backend.execute(&mut recorder, &self.steps)?;
        backend.submit(recorder)
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
