//! From plans to something that runs: compile once, bind once, run any number of times.

use std::sync::Arc;

use crate::call::{Bound, Call, Renewal};
use crate::once::with_room;
use crate::primitive::Operand;
use crate::scratch::Pieces;
use crate::sized::{Maker, Plans};
use crate::{
    Backend, Command, Error, KernelKey, Layout, Options, Plan, Region, Request, Result, Slot, Span, Spans, Step,
    Tuning, Values, planner,
};

/// A plan with its kernels compiled, or the plans of a call up to a capacity.
pub struct Prepared<B: Backend> {
    device: B,
    compiled: Arc<Compiled<B>>,
}

/// Plans with their kernels. They keep no device.
pub(crate) struct Compiled<B: Backend> {
    plans: Plans,
    kernels: Vec<(KernelKey, B::Kernel)>,
}

impl<B: Backend> Compiled<B> {
    pub(crate) fn plans(&self) -> &[Arc<Plan>] {
        &self.plans.plans
    }

    /// Whether this is the plan of it, the very one.
    pub(crate) fn is(&self, plan: &Plan) -> bool {
        std::ptr::eq(&**self.plans.last(), plan)
    }
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

    /// As [`Prepared::with_tuning`], for runs of any number of elements up to the request's.
    ///
    /// # Errors
    /// As [`Prepared::new`], and [`Error::Unsupported`] by an algorithm of the literature's.
    pub async fn up_to(
        device: &B,
        request: &Request,
        layout: Layout,
        options: Options,
        tuning: &Tuning,
    ) -> Result<Self> {
        let maker = Maker { request, layout, options, caps: device.caps(), tuning };
        Self::compile(device, maker.plans()?).await
    }

    /// Compiles the kernels of a plan that the caller has, for this backend's device.
    ///
    /// # Errors
    /// As [`Backend::compile`], and [`Error::Invalid`] for a plan that was made for another device.
    pub async fn of_plan(device: &B, plan: Plan) -> Result<Self> {
        Self::check_caps(device, &plan)?;
        Self::compile(device, Plans::of(plan)).await
    }

    fn check_caps(device: &B, plan: &Plan) -> Result<()> {
        let caps = device.caps();
        if *plan.caps != *caps {
            return Err(Error::Invalid(format!(
                "a plan for {} ({}) and what that can do; plan for this {} ({}), with its own caps",
                plan.caps.device, plan.caps.backend, caps.device, caps.backend
            )));
        }
        Ok(())
    }

    /// As [`Prepared::of_plan`], for runs of as many elements as the plan was made for, or fewer.
    ///
    /// # Errors
    /// As [`Prepared::of_plan`], and [`Error::Unsupported`] for a plan by an algorithm of the literature's.
    pub async fn of_plan_up_to(device: &B, plan: Plan) -> Result<Self> {
        Self::check_caps(device, &plan)?;
        Self::compile(device, Plans::up_to(plan)?).await
    }

    async fn compile(device: &B, plans: Plans) -> Result<Self> {
        let mut kernels: Vec<(KernelKey, B::Kernel)> = vec![];
        for launch in plans.plans.iter().flat_map(|plan| plan.launched()) {
            if !kernels.iter().any(|(key, _)| *key == launch.kernel) {
                kernels.push((launch.kernel.clone(), device.compile(&launch.kernel).await?));
            }
        }
        Ok(Prepared::of(device, Arc::new(Compiled { plans, kernels })))
    }

    /// What was compiled before, for the same device.
    pub(crate) fn of(device: &B, compiled: Arc<Compiled<B>>) -> Self {
        Prepared { device: device.clone(), compiled }
    }

    pub(crate) fn compiled(&self) -> Arc<Compiled<B>> {
        self.compiled.clone()
    }

    /// The plan: of a call up to a capacity that for as many as that.
    pub fn plan(&self) -> &Plan {
        self.compiled.plans.last()
    }

    /// Working memory that a call needs, in bytes. Up to a larger capacity it is no less.
    pub fn scratch_bytes(&self) -> u64 {
        self.compiled.plans.scratch_bytes()
    }

    /// Binds spans, with scratch of the call's own, allocated and cleared here once. If it is bound while a graph
    /// is captured, each of its runs clears the scratch.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the spans are not what the plan was made for.
    pub fn bind(&self, spans: &Spans<B>) -> Result<Call<B>> {
        if self.device.is_captured() {
            // A graph would have the clearing, and the call may run before the graph does.
            return self.bind_once(spans);
        }
        self.check(spans)?;
        let scratch = with_room(&self.device, || self.compiled.plans.allocate(&self.device))?;
        let renewal = self.clear_scratch(&scratch)?;
        Ok(Call { renewal, ..self.bind_all(spans, &scratch, true)? })
    }

    /// Binds spans, with scratch of the call's own that every run clears: for calls that run once, or are recorded and may never run.
    ///
    /// # Errors
    /// As [`Prepared::bind`].
    pub(crate) fn bind_once(&self, spans: &Spans<B>) -> Result<Call<B>> {
        self.check(spans)?;
        self.bind_all(spans, &self.compiled.plans.allocate(&self.device)?, false)
    }

    /// Binds spans, with scratch whose states are as the run before left them, or as [`Prepared::clear_states`] did.
    pub(crate) fn bind_kept(&self, spans: &Spans<B>, scratch: &[Pieces<B>]) -> Result<Call<B>> {
        self.check(spans)?;
        self.bind_all(spans, scratch, true)
    }

    /// A call by steps that were bound before to this very memory, whose handles it keeps.
    pub(crate) fn bound_before(
        &self,
        spans: &Spans<B>,
        scratch: &[Pieces<B>],
        steps: Arc<B::Steps>,
    ) -> Result<Call<B>> {
        self.check(spans)?;
        spans.all().try_for_each(|(_, span)| self.device.check_handle(span.handle()))?;
        Ok(self.call(vec![Bound { most: self.plan().n, steps }], spans, scratch))
    }

    /// Clears states, as kernels will leave them from then on.
    pub(crate) fn clear_states(&self, states: &[Span<B>]) -> Result<()> {
        // A plan's are all the same word.
        let cleared = self.plan().steps.iter().find_map(|step| match step {
            Step::Fill { value, once: true, .. } => Some(*value),
            _ => None,
        });
        let Some(value) = cleared else { return Ok(()) };
        let fills = states.iter().map(|span| Command::Fill { span: span.clone(), value }).collect();
        run_fills(&self.device, fills).map(drop)
    }

    /// Binds spans and the caller's scratch, which every run clears as needed. A plan that needs no scratch takes any.
    ///
    /// Calls may share scratch where one ends before the next begins, as they do on one queue. In OpenCL, calls of
    /// several launches are faster by [`Prepared::bind`]. Their scratch is then a buffer for each region, and NVIDIA's
    /// driver is slow with parts of a buffer. A part is kept until no call has any part of the scratch.
    ///
    /// # Errors
    /// [`Error::Invalid`] in these cases:
    ///
    /// - The spans are not what the plan was made for.
    /// - The scratch is too small, or overlaps a span.
    /// - The scratch does not start at a multiple of 256 bytes and of what the device can bind at.
    /// - In OpenCL, the scratch is cut from a buffer that has a span.
    pub fn bind_with_scratch(&self, spans: &Spans<B>, scratch: &Span<B>) -> Result<Call<B>> {
        self.check(spans)?;
        let (need, device) = (self.scratch_bytes(), &self.device);
        if need == 0 {
            return self.bind_all(spans, &self.compiled.plans.none(), false);
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
        self.bind_all(spans, &self.compiled.plans.whole(scratch)?, false)
    }

    /// Clears what the kernels will leave clean from then on. What does so again.
    fn clear_scratch(&self, scratch: &[Pieces<B>]) -> Result<Option<Renewal<B>>> {
        let mut clear = vec![];
        for (plan, scratch) in self.compiled.plans.plans.iter().zip(scratch) {
            for step in &plan.steps {
                if let Step::Fill { region, value, once: true } = step {
                    clear.extend(scratch.parts(region)?.into_iter().map(|span| Command::Fill { span, value: *value }));
                }
            }
        }
        let steps = run_fills(&self.device, clear)?;
        Ok(steps.map(|steps| Renewal { steps: steps.into(), is_due: Arc::default() }))
    }

    /// Binds spans that were checked; `clean` says that the scratch was cleared by [`Prepared::clear_scratch`].
    fn bind_all(&self, spans: &Spans<B>, scratch: &[Pieces<B>], clean: bool) -> Result<Call<B>> {
        let bound = self.compiled.plans.plans.iter().zip(scratch).map(|(plan, scratch)| {
            let commands = self.commands(plan, spans, scratch, clean)?;
            // SAFETY: the plan is for this device, as `of_plan` compared or as it was made, and for spans as `check` found these, or ends where
            // they do. The call keeps their memory and the scratch's as long as the steps, which it gives to nobody.
            let steps = unsafe { self.device.bind(commands, self.compiled.plans.resizes) }?;
            Ok(Bound { most: plan.n, steps: steps.into() })
        });
        Ok(self.call(bound.collect::<Result<_>>()?, spans, scratch))
    }

    /// A call of bound steps, which keeps the device and the memory.
    fn call(&self, sizes: Vec<Bound<B>>, spans: &Spans<B>, scratch: &[Pieces<B>]) -> Call<B> {
        let memory = spans.all().map(|(_, span)| span).chain(scratch.iter().flat_map(Pieces::all));
        Call {
            sizes,
            memory: memory.map(|span| span.handle().clone()).collect(),
            device: self.device.clone(),
            plan: self.compiled.plans.last().clone(),
            n: self.compiled.plans.n,
            resizes: self.compiled.plans.resizes,
            scratch_bytes: self.scratch_bytes(),
            label: None,
            renewal: None,
        }
    }

    /// The commands of a plan, with their spans.
    fn commands<'a>(
        &'a self,
        plan: &'a Plan,
        spans: &Spans<B>,
        scratch: &Pieces<B>,
        clean: bool,
    ) -> Result<Vec<Command<'a, B>>> {
        let resolve = |region: &Region| -> Result<Span<B>> {
            let part = |span: &Span<B>| {
                // A plan for more elements than the spans have ends where they do.
                let first = if self.compiled.plans.resizes { region.offset.min(span.bytes()) } else { region.offset };
                let there = if self.compiled.plans.resizes { span.bytes() - first } else { region.bytes };
                span.slice(first, region.bytes.min(there))
            };
            let span = match region.slot {
                Slot::Scratch => scratch.region(region)?,
                slot => spans.slot(slot).map(part).transpose()?,
            };
            span.ok_or_else(|| Error::Invalid(format!("the plan needs the {}, which is not bound", region.slot.noun())))
        };
        let mut commands = vec![];
        for step in &plan.steps {
            commands.push(match step {
                Step::Fill { once: true, .. } if clean => continue,
                // Several regions' scratch, each in a buffer of its own, may be filled at once.
                Step::Fill { region, value, .. } if region.slot == Slot::Scratch => {
                    let parts = scratch.parts(region)?;
                    commands.extend(parts.into_iter().map(|span| Command::Fill { span, value: *value }));
                    continue;
                }
                Step::Fill { region, value, .. } => Command::Fill { span: resolve(region)?, value: *value },
                Step::Copy { from, to, each } => {
                    let (from, to) = (resolve(from)?, resolve(to)?);
                    let bytes = from.bytes().min(to.bytes());
                    Command::Copy { from: from.slice(0, bytes)?, to: to.slice(0, bytes)?, each: *each }
                }
                Step::Length(region) => Command::Length { span: resolve(region)? },
                Step::Launch(launch) => Command::Launch {
                    key: &launch.kernel,
                    kernel: self
                        .compiled
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
                    values: Values {
                        params: &launch.params,
                        n: plan.n.min(self.compiled.plans.n),
                        initial: launch.initial.as_deref(),
                    },
                },
            });
        }
        Ok(commands)
    }

    fn check(&self, spans: &Spans<B>) -> Result<()> {
        let backend = &self.device;
        let layout = spans.layout(backend)?;
        let is_planned = |slot: Slot| self.compiled.plans.operands.iter().any(|operand| operand.slot == slot);
        if let Some((slot, _)) = spans.all().find(|(slot, span)| span.bytes() > 0 && !is_planned(*slot)) {
            return Err(Error::Invalid(format!(
                "the {} is bound, and the plan has none; leave it out, or prepare for a call that has it",
                slot.noun()
            )));
        }
        for operand in &self.compiled.plans.operands {
            let (span, noun, bytes, align) =
                (spans.slot(operand.slot), operand.slot.noun(), operand.bytes(), operand.align);
            let have = span.map_or(0, Span::bytes);
            if have != bytes {
                let remedy = match span {
                    None => "bind one",
                    Some(_) if have > bytes => "pass a slice of as many (Buffer::slice)",
                    Some(_) => "bring as many",
                };
                let (size, name, len) = (u64::from(operand.element.bytes()), operand.element.name(), operand.len);
                let have = match have % size {
                    0 if have == size => "1 element".into(),
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
        if let Some(narrow) = self.compiled.plans.operands.iter().find(|operand| self.plan().wide && is_narrow(operand))
        {
            return Err(Error::Invalid(format!(
                "the {} does not start at a multiple of 16 bytes or its buffer ends before the next one; prepare with \
                 the spans' own layout (Spans::layout_for)",
                narrow.slot.noun()
            )));
        }
        // Of keys and values either may be a view, which has no span.
        let has_input = [&spans.input, &spans.input_values].into_iter().flatten().any(|input| input.bytes() > 0);
        if layout.in_place && !self.plan().in_place && has_input {
            return Err(Error::Invalid(
                "the output is the input, and the plan was not made for that; prepare with Layout { in_place: true, .. }"
                    .into(),
            ));
        }
        if self.plan().in_place && !layout.in_place && has_input {
            return Err(Error::Invalid(
                "the plan works in place, and the output is another span than the input".into(),
            ));
        }
        Ok(())
    }
}

/// Runs fills of spans that the caller has. Their steps, to be run as long as the spans live.
pub(crate) fn run_fills<B: Backend>(device: &B, fills: Vec<Command<'_, B>>) -> Result<Option<B::Steps>> {
    if fills.is_empty() {
        return Ok(None);
    }
    // SAFETY: they fill what the spans have, and run at once, while the caller's spans live. A call that keeps the steps keeps the spans' memory.
    let steps = unsafe { device.bind(fills, false) }?;
    device.run(&steps, None)?;
    Ok(Some(steps))
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

/// How much scratch a call up to the request's number of elements needs, in bytes, on a device with these capabilities.
/// A larger capacity needs no less. Asks no device.
///
/// # Errors
/// As [`Prepared::up_to`].
pub fn scratch_bytes_up_to(
    request: &Request,
    layout: Layout,
    options: Options,
    caps: &crate::Caps,
    tuning: &Tuning,
) -> Result<u64> {
    Ok(Maker { request, layout, options, caps, tuning }.plans()?.scratch_bytes())
}
