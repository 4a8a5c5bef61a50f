//! From a request to a plan. Choosing an algorithm happens here and in the primitives' files, and nowhere else.

pub(crate) mod compute;
mod shape;
mod waiting;

use std::sync::Arc;

pub use self::compute::compute_bound;
pub use self::shape::Words;
pub(crate) use self::shape::*;
use crate::algorithm::within::Within;
use crate::algorithm::{Algorithm, InPlace, Work, copy};
use crate::options::check_count;
use crate::primitive::{Operand, Primitive, Written};
use crate::scratch::Scratch;
use crate::{
    Caps, CopyRequest, ElementType, Error, Language, Launch, Layout, MAX_ELEMENTS, Options, Param, Plan, Region,
    Request, Result, Slot, Step, Then, Tuning, Viewed,
};

/// What plans are made from, beside the request.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'a> {
    pub(crate) layout: Layout,
    pub(crate) options: Options,
    pub(crate) caps: &'a Caps,
    pub(crate) tuning: &'a Tuning,
    /// What stands for the memory of slots.
    pub(crate) views: &'a [Viewed],
    /// What the output is mapped by.
    pub(crate) then: Option<&'a Then>,
}

/// Makes a plan: pure data from pure data, no device needed.
///
/// # Errors
/// [`Error::Unsupported`] if the device lacks the type or the algorithm, or there is none of that name; [`Error::Invalid`] for sizes
/// past its limits.
pub fn plan(request: &Request, layout: Layout, options: Options, caps: &Caps, tuning: &Tuning) -> Result<Plan> {
    let asked = request.asked();
    let operands = request.operands();
    operands.iter().try_for_each(|operand| operand.element.check())?;
    if caps.max_workgroup == 0 {
        return Err(Error::Invalid(format!(
            "{} ({}) with workgroups of at most 0 invocations",
            caps.device, caps.backend
        )));
    }
    let n = check_count(request.n())?;
    let planner = Planner {
        layout,
        options,
        caps,
        tuning: &tuning.within(caps)?,
        views: request.views(),
        then: request.mapped(),
    };
    planner.check(request)?;
    let algorithm = planner.algorithm(request)?;
    // A map that the algorithm does not know of has a launch of its own.
    let behind = planner.then.filter(|_| !algorithm.maps_output);
    let planner = Planner { then: planner.then.filter(|_| algorithm.maps_output), ..planner };
    let work = match n {
        0 if !asked.works_on_nothing() => Work::new(Default::default(), planner.of_nothing(asked)),
        _ => planner.work(request, algorithm)?,
    };
    let work = match behind {
        Some(then) => planner.mapped(asked, then, work)?,
        None => work,
    };
    let plan = planner.finish(algorithm, n, operands, work)?;
    planner.check_waiting(&plan)?;
    tracing::debug!(primitive = request.primitive(), n, algorithm = algorithm.name, "planned");
    Ok(plan)
}

/// The algorithms that a device can run for a request.
///
/// First is the planner's own choice at most sizes; tuning has the limits. Then come the others that are fast
/// somewhere, then the literature's.
pub fn algorithms(request: &Request, caps: &Caps) -> Vec<&'static Algorithm> {
    let reads = |a: &Algorithm| a.takes_views(request.views());
    let writes = |a: &Algorithm| request.mapped().is_none() || a.can_map(request.asked());
    let runs = |a: &&&Algorithm| a.lack(request, caps).is_none() && request.n() <= a.most && reads(a) && writes(a);
    let mut all: Vec<&Algorithm> = request.algorithms().iter().filter(runs).copied().collect();
    all.sort_by_key(|algorithm| (algorithm.is_reference, algorithm.steps_back(caps)));
    all
}

/// The bytes of device memory that an algorithm reads and writes for a request, in its largest terms.
///
/// What it keeps for each tile is left out. A scan by look-back moves 2n elements, each once in and once out. By
/// `reduce_then_scan` it moves 3n, as each is read twice. A sort is counted with passes for all bits of its keys.
///
/// `outputs` is how many elements a selection keeps, or how many runs a reduction by key finds, as the data has it.
/// Other primitives do not need it.
///
/// The result is `None` for:
///
/// - another primitive's algorithm
/// - the CPU's sort, which is another crate's
/// - more elements than a call takes
/// - a selection or a reduction by key without `outputs`
pub fn traffic(request: &Request, algorithm: &Algorithm, outputs: Option<u64>) -> Option<u64> {
    if request.n().max(outputs.unwrap_or_default()) > MAX_ELEMENTS || outputs.is_none() && request.counts() {
        return None;
    }
    request.moved_by(algorithm, outputs.unwrap_or_default())
}

impl Planner<'_> {
    /// Refuses what no algorithm could do.
    fn check(&self, request: &Request) -> Result<()> {
        let asked = request.asked();
        if let Some(selector) = asked.selector() {
            self.caps.check_value(selector.element())?;
        }
        if let Some(op) = asked.op() {
            self.caps.check_element(op.element())?;
            check_initial(op.element(), asked.initial())?;
        }
        asked.check()?;
        if let Request::Viewed(viewed) = request {
            viewed.check()?;
        }
        match asked.apart() {
            Some(why) if self.layout.in_place && request.n() > 0 => Err(Error::Invalid(why.into())),
            _ => Ok(()),
        }
    }

    /// The algorithm to use: the caller's, if the device has it, else the fastest.
    pub(crate) fn algorithm(&self, request: &Request) -> Result<&'static Algorithm> {
        let runs = algorithms(request, self.caps);
        let caps = self.caps;
        let Some(wanted) = self.options.algorithm else {
            let first = runs.iter().find(|algorithm| self.lack(request, algorithm).is_none());
            let none = || {
                // What the device would run but for the call's spans says what these lack.
                let mut others =
                    request.algorithms().iter().filter(|algorithm| algorithm.lack(request, caps).is_none());
                let lack = others.find_map(|algorithm| self.lack(request, algorithm)).unwrap_or_default();
                Error::Unsupported(format!("{} on {} ({}){lack}", request.primitive(), caps.device, caps.backend))
            };
            return first.map(|first| request.asked().choose(self, first)).ok_or_else(none);
        };
        if !request.algorithms().contains(&wanted) {
            return Err(self.is_foreign(request, wanted));
        }
        let Some(lack) = self.lack(request, wanted) else { return Ok(wanted) };
        let runs = runs.iter().filter(|algorithm| self.lack(request, algorithm).is_none());
        Err(Error::Unsupported(format!(
            "{} by `{wanted}` on {} ({}){lack}; it runs {}",
            request.primitive(),
            caps.device,
            caps.backend,
            runs.map(|algorithm| algorithm.name).collect::<Vec<_>>().join(", ")
        )))
    }

    /// What is missing for an algorithm, in words that go behind the device's name.
    pub(crate) fn lack(&self, request: &Request, algorithm: &Algorithm) -> Option<String> {
        let Layout { wide, in_place, reads_length } = self.layout;
        let of_device = algorithm.lack(request, self.caps);
        let of_length = (reads_length && algorithm.is_reference)
            .then(|| " for a number of elements that is on the device: its launches follow from n".into());
        let of_views = (!algorithm.takes_views(self.views)).then(|| match algorithm.is_reference {
            true => " of a view: it is there to be read, and takes memory".into(),
            false => " of a view: it takes memory; copy the view to a buffer first".into(),
        });
        let onto_itself = (self.then.is_some() && in_place)
            .then(|| " in place, with its output mapped (then): give it two spans".into());
        let of_output = (self.then.is_some() && !algorithm.can_map(request.asked()))
            .then(|| " with its output mapped (then); map what it wrote, as a view".into());
        of_device.or(of_length).or(of_views).or(of_output).or(onto_itself).or_else(|| match algorithm.needs.in_place {
            InPlace::WithProgress if in_place && !self.caps.forward_progress => Some(
                " in place, where a stuck tile's input may be overwritten before a helper reads it: give it two spans".into(),
            ),
            InPlace::Never if in_place || !wide => Some(
                " in place, or of spans that do not start at a multiple of 16 bytes with room to the next at their end: \
                 tiles are copied whole"
                    .into(),
            ),
            _ => None,
        })
    }

    /// What is to be done for a request by an algorithm.
    pub(crate) fn work(&self, request: &Request, algorithm: &Algorithm) -> Result<Work> {
        let asked = request.asked();
        let is_half = self.is_half_in_place(asked);
        // Of copies no output is in the place of an input.
        let layout = Layout { in_place: self.layout.in_place && !is_half, ..self.layout };
        let work = request.work(algorithm, &Planner { layout, ..*self });
        let work = work.unwrap_or_else(|| Err(self.is_foreign(request, algorithm)))?;
        if is_half || (self.layout.in_place && asked.copies_in_place(algorithm, self.caps)) {
            return self.of_copies(asked, work);
        }
        Ok(work)
    }

    /// Whether one of keys and values is in place, and a view stands for the other.
    fn is_half_in_place(&self, asked: &dyn Primitive) -> bool {
        let is_view = |slot: Slot| self.views.iter().any(|viewed| viewed.slot == slot);
        let operands = asked.operands();
        self.layout.in_place && operands.iter().filter_map(|operand| operand.slot.replaces()).any(is_view)
    }

    /// The same of copies of the inputs that outputs are in the place of.
    fn of_copies(&self, asked: &dyn Primitive, work: Work) -> Result<Work> {
        let operands = asked.operands();
        let replaced: Vec<Slot> = operands.iter().filter_map(|operand| operand.slot.replaces()).collect();
        let (mut scratch, mut steps, mut copies) = (Scratch::default(), vec![], vec![]);
        // What a view stands for is not overwritten: the memory that it reads is none of the outputs'.
        let is_memory = |slot: Slot| !self.views.iter().any(|viewed| viewed.slot == slot);
        let overwritten = |operand: &&Operand| replaced.contains(&operand.slot) && is_memory(operand.slot);
        let of_memory = Planner { views: &[], ..*self };
        for Operand { slot, element, len, .. } in operands.iter().filter(overwritten) {
            let copy = scratch.take(len.saturating_mul(element.bytes().into()));
            let work = copy::plan(&of_memory, &CopyRequest { element: element.clone(), n: *len })?;
            let slots = [(Slot::Input, whole(*slot, copy.bytes)), (Slot::Output, copy)];
            steps.extend(work.within(&Within { slots: &slots, n: None }, &mut scratch));
            copies.push((*slot, copy));
        }
        let Work { depth, in_fixed_order, .. } = work;
        steps.extend(work.within(&Within { slots: &copies, n: None }, &mut scratch));
        Ok(Work { scratch, steps, depth, in_fixed_order })
    }

    /// The same whose output goes to scratch, and a copy of what a map gives of that.
    fn mapped(&self, asked: &dyn Primitive, then: &Then, work: Work) -> Result<Work> {
        let (operands, output) = (asked.operands(), |operand: &&Operand| operand.slot == Slot::Output);
        let (Some(written), Some(own)) = (asked.written(), operands.iter().find(output)) else {
            return Err(Error::Unsupported("a mapped output of two spans".into()));
        };
        then.view.node.elements().iter().try_for_each(|element| self.caps.check_value(element))?;
        if own.len == 0 {
            let is_count = |step: &Step| matches!(step, Step::Fill { region, .. } if region.slot == Slot::Count);
            let counts = work.steps.into_iter().filter(is_count);
            return Ok(Work::new(Scratch::default(), counts.collect()));
        }
        let (mut scratch, leaf) = (Scratch::default(), Slot::Leaf(0));
        let between = scratch.take(own.bytes());
        let Work { depth, in_fixed_order, .. } = work;
        let mut steps = work.within(&Within { slots: &[(Slot::Output, between)], n: None }, &mut scratch);
        // An output that is not packed may lie anywhere, however wide the others are.
        let layout = Layout { wide: self.layout.wide && own.packed, ..self.layout };
        let request = CopyRequest { element: then.map.output.clone(), n: own.len };
        let elements = if let Written::Elements(param) = written { param } else { Param::ELEMENTS };
        let mut launch = copy::of_view(&Planner { layout, ..*self }, &request, elements);
        let viewed = Viewed { slot: Slot::Input, first: 0, view: then.view.clone() };
        launch.reads_view(&viewed, &[Operand { slot: leaf, ..own.clone() }], self.caps.language)?;
        let mut copied = Work::new(Scratch::default(), vec![Step::Launch(launch)]);
        if written == Written::Counted {
            self.read_length(&mut copied.steps, Slot::Count);
        }
        steps.extend(copied.within(&Within { slots: &[(leaf, between)], n: None }, &mut scratch));
        Ok(Work { scratch, steps, depth, in_fixed_order })
    }

    /// Of an algorithm of another primitive.
    fn is_foreign(&self, request: &Request, algorithm: &Algorithm) -> Error {
        let names: Vec<_> = algorithms(request, self.caps).iter().map(|algorithm| algorithm.name).collect();
        let (what, caps) = (request.primitive(), self.caps);
        Error::Unsupported(format!(
            "{what} by `{algorithm}` on {} ({}), which is no algorithm of {what}'s; it runs {}",
            caps.device,
            caps.backend,
            names.join(", ")
        ))
    }

    pub(crate) fn finish(
        &self,
        algorithm: &'static Algorithm,
        n: u32,
        mut operands: Vec<Operand>,
        mut work: Work,
    ) -> Result<Plan> {
        if self.layout.reads_length {
            self.read_length(&mut work.steps, Slot::Length);
            operands.push(Operand::length());
        }
        for step in &mut work.steps {
            if let Step::Launch(launch) = step {
                self.views.iter().try_for_each(|viewed| launch.reads_view(viewed, &operands, self.caps.language))?;
                self.then.iter().for_each(|then| launch.maps_output(then, &operands));
                let Launch { kernel, bindings, .. } = launch;
                kernel.arguments = bindings.iter().map(|(name, _)| *name).collect();
                let captured = kernel.captured().into_iter().filter_map(|captured| captured.captures.element());
                kernel.element.iter().chain(captured).try_for_each(|element| self.caps.check_element(element))?;
                let most = self.caps.max_bindings as usize;
                if kernel.arguments.len() > most {
                    return Err(Error::Unsupported(format!(
                        "{} of views that read so many spans on {} ({}), whose kernels reach {most} buffers, and one would take {}; \
                         copy a part of the views first",
                        algorithm,
                        self.caps.device,
                        self.caps.backend,
                        kernel.arguments.len()
                    )));
                }
            }
        }
        for viewed in self.views {
            let values = viewed.view.node.elements();
            values.iter().try_for_each(|element| self.caps.check_value(element))?;
        }
        if let Some(then) = self.then {
            self.caps.check_element(&then.map.output)?;
        }
        for operand in &operands {
            self.caps.check_span(operand.slot.noun(), operand.bytes())?;
        }
        let scratch_bytes = work.scratch.bytes();
        if scratch_bytes > self.caps.max_buffer {
            return Err(Error::Invalid(format!(
                "the scratch has {scratch_bytes} bytes, and a buffer of {} ({}) at most {}; split the work",
                self.caps.device, self.caps.backend, self.caps.max_buffer
            )));
        }
        Ok(Plan {
            algorithm,
            n,
            wide: work.steps.iter().any(is_wide),
            scratch: work.scratch,
            steps: work.steps,
            operands,
            in_place: self.layout.in_place,
            depth: work.depth,
            follows_arrival: algorithm.follows_arrival && !work.in_fixed_order,
            caps: Arc::new(self.caps.clone()),
        })
    }
}

impl Planner<'_> {
    /// Has steps take how many elements a run has from a word on the device: kernels in C read it, and in WGSL one before them writes
    /// their parameters. Steps that already read another word keep to that.
    fn read_length(&self, steps: &mut Vec<Step>, word: Slot) {
        let length = whole(word, 4);
        match self.caps.language {
            Language::Wgsl | Language::Host => steps.insert(0, Step::Length(length)),
            Language::OpenClC | Language::CudaC => steps.iter_mut().for_each(|step| {
                if let Step::Launch(launch) = step {
                    launch.reads_length(length);
                }
            }),
        }
    }
}

impl Planner<'_> {
    /// What is to be done where there are no elements.
    fn of_nothing(&self, asked: &dyn Primitive) -> Vec<Step> {
        let steps = asked.of_nothing();
        let Some(then) = self.then else { return steps };
        let is_output = |step: &Step| matches!(step, Step::Fill { region, .. } if region.slot == Slot::Output);
        let (of_output, mut others): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(is_output);
        let words = of_output.iter().map(|step| if let Step::Fill { value, .. } = step { *value } else { 0 });
        let words: Vec<u32> = words.collect();
        if !words.is_empty() {
            others.extend(fills(&then.of_one(&words)));
        }
        others
    }
}

/// Fills of an output's words.
pub(crate) fn fills(words: &[u32]) -> Vec<Step> {
    let fill = |(i, &value): (usize, &u32)| Step::Fill {
        region: Region { slot: Slot::Output, offset: 4 * i as u64, bytes: 4 },
        value,
        once: false,
    };
    words.iter().enumerate().map(fill).collect()
}

fn check_initial(element: &ElementType, initial: Option<&[u8]>) -> Result<()> {
    match initial {
        Some(bytes) if bytes.len() != element.bytes() as usize => Err(Error::Invalid(format!(
            "the initial value has {} bytes, and a {} has {}",
            bytes.len(),
            element.name(),
            element.bytes()
        ))),
        _ => Ok(()),
    }
}
