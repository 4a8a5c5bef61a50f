//! A row's memory on a device: inputs among guards, poisoned outputs, a bound call, and the check of what it wrote.

use trifold_core::{
    Backend, Call, Device, Error, Options, Prepared, Request, Slot, Span, Spans, SpansOf, Transfer, Tuning, block_on,
    planner,
};
use trifold_cpu::oracle::{self, Expected, Given};

use crate::case::Failure;
use crate::row::Row;

/// What unwritten memory around spans holds.
const GUARD: u8 = 0xcb;
/// What outputs hold before a run.
pub(crate) const STALE: u8 = 0x5e;
/// Guard bytes after a span.
const AFTER: u64 = 64;

/// A span within a larger buffer, with guards around it.
pub(crate) struct Block {
    buffer: Span<Device>,
    lead: u64,
    bytes: u64,
    image: Vec<u8>,
}

impl Block {
    fn new(backend: &Device, lead: u64, bytes: u64, content: Option<&[u8]>) -> trifold_core::Result<Block> {
        let whole = (lead + bytes + AFTER).next_multiple_of(16);
        let mut image = vec![GUARD; whole as usize];
        let inside = &mut image[lead as usize..(lead + bytes) as usize];
        match content {
            Some(content) => inside.copy_from_slice(content),
            None => inside.fill(STALE),
        }
        let block = Block { buffer: backend.allocate(whole)?, lead, bytes, image };
        block.reset(backend)?;
        Ok(block)
    }

    fn fill(&mut self, content: &[u8]) {
        self.image[self.lead as usize..][..content.len()].copy_from_slice(content);
    }

    fn span(&self) -> trifold_core::Result<Span<Device>> {
        self.buffer.slice(self.lead, self.bytes)
    }

    fn reset(&self, backend: &Device) -> trifold_core::Result<()> {
        backend.write(&self.buffer, &self.image)
    }

    /// The span's bytes, if the guards are unharmed.
    fn read(&self, backend: &Device, what: &str) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; self.image.len()];
        backend.read_blocking(&self.buffer, &mut bytes)?;
        let (start, end) = (self.lead as usize, (self.lead + self.bytes) as usize);
        if let Some(at) = (0..start).chain(end..bytes.len()).find(|&i| bytes[i] != GUARD) {
            return Err(Failure::Wrong(format!(
                "wrote outside of the {what}: byte {at} is {:#04x}, and the span is {start}..{end}",
                bytes[at]
            )));
        }
        bytes.truncate(end);
        bytes.drain(..start);
        Ok(bytes)
    }
}

/// A row that is ready to run.
pub(crate) struct Staged {
    pub(crate) call: Call<Device>,
    pub(crate) expected: Expected,
    /// By slot. In place an input is the output too.
    blocks: Vec<(Slot, Block)>,
    in_place: bool,
}

/// The block of a slot, or of the input that stands for it.
fn block(blocks: &[(Slot, Block)], slot: Slot) -> Option<&Block> {
    let of = |slot| blocks.iter().find_map(|(own, block)| (*own == slot).then_some(block));
    of(slot).or_else(|| of(slot.replaces()?))
}

impl Staged {
    pub(crate) fn new(backend: &Device, row: &Row) -> trifold_core::Result<Staged> {
        Self::prepared(backend, row, |spans, tuning| {
            poisoned_call(backend, &row.request, spans, row.options, tuning, row.poison())
        })
    }

    /// With the call that is made for the row's spans.
    pub(crate) fn prepared(
        backend: &Device,
        row: &Row,
        prepare: impl FnOnce(&Spans<Device>, &Tuning) -> trifold_core::Result<Call<Device>>,
    ) -> trifold_core::Result<Staged> {
        let (inputs, in_place) = (row.input(0), row.placement.in_place());
        let mut blocks = vec![];
        let operands = row.request.operands();
        let has = |slot| operands.iter().any(|operand| operand.slot == slot);
        for operand in &operands {
            // In place an output is where its input is, if it has one: a total has none.
            if !in_place || operand.slot.replaces().is_none_or(|input| !has(input)) {
                let lead = row.placement.offset(operand.slot) * u64::from(operand.element.bytes());
                let content = inputs.of(operand.slot);
                blocks.push((operand.slot, Block::new(backend, lead, operand.bytes(), content)?));
            }
        }
        let no_block = |slot| Error::Invalid(format!("a row has nothing in {slot:?}"));
        let span = |slot| block(&blocks, slot).ok_or_else(|| no_block(slot))?.span();
        let spans = SpansOf::of(&row.request, |operand| span(operand.slot))?;
        let tuning = row.tiles.tuning(backend.tuning(), backend.caps())?;
        let call = prepare(&spans, &tuning)?;
        let expected = oracle::expect(&row.request, inputs.told());
        Ok(Staged { call, expected, blocks, in_place })
    }

    /// Gives the next run an input of its own, of as many elements as the row has.
    pub(crate) fn renew(&mut self, row: &Row, run: u32, backend: &Device) -> trifold_core::Result<()> {
        let inputs = row.input(run);
        self.expected = oracle::expect(&row.request, inputs.told());
        for (slot, block) in &mut self.blocks {
            if let Some(content) = inputs.of(*slot) {
                block.fill(content);
                block.reset(backend)?;
            }
        }
        Ok(())
    }

    /// Poisons the outputs, or brings the input back if that is the output.
    pub(crate) fn reset(&self, backend: &Device) -> trifold_core::Result<()> {
        let written = self.blocks.iter().filter(|(slot, _)| slot.is_output() || self.is_replaced(*slot));
        written.map(|(_, block)| block).try_for_each(|block| block.reset(backend))
    }

    /// What the last run wrote, and whether it wrote nothing else.
    pub(crate) fn results(&self, backend: &Device) -> Result<Given, Failure> {
        let has = |slot| self.call.plan().operands().iter().any(|operand| operand.slot == slot);
        let read = |slot: Slot| {
            let block = block(&self.blocks, slot).filter(|_| has(slot));
            block.map(|block| block.read(backend, slot.noun())).transpose()
        };
        Ok(Given {
            output: read(Slot::Output)?.unwrap_or_default(),
            values: read(Slot::OutputValues)?,
            rest: read(Slot::Rest)?,
            count: read(Slot::Count)?,
        })
    }

    /// Holds the last run to the oracle.
    pub(crate) fn check(&self, backend: &Device) -> Result<Given, Failure> {
        let mut results = self.results(backend)?;
        if self.in_place {
            self.check_behind(&mut results)?;
        }
        self.expected.check(&results, self.call.plan().depth(), STALE).map_err(Failure::Wrong)?;
        Ok(results)
    }

    /// Fails if what lies behind the elements written is not the input's any more where that is the output. Leaves it out of the results.
    fn check_behind(&self, results: &mut Given) -> Result<(), Failure> {
        let outputs = [
            (Slot::Output, Some(&self.expected.output), Some(&mut results.output)),
            (Slot::OutputValues, self.expected.values.as_ref(), results.values.as_mut()),
        ];
        for (slot, want, got) in outputs {
            let (Some(want), Some(got)) = (want, got) else { continue };
            self.cut(slot, got, want.bytes(), "behind the last of its elements")?;
        }
        Ok(())
    }

    /// Leaves out of an output's bytes what lies past those that a run writes. Fails if that is not what it was before the run.
    fn cut(&self, slot: Slot, got: &mut Vec<u8>, written: usize, past: &str) -> Result<(), Failure> {
        let Some(block) = block(&self.blocks, slot) else { return Ok(()) };
        let (written, lead) = (written.min(got.len()), block.lead as usize);
        if got[written..] != block.image[lead + written..lead + got.len()] {
            return Err(Failure::Wrong(format!("wrote to the {} {past}", slot.noun())));
        }
        got.truncate(written);
        Ok(())
    }

    /// Holds the last run to the oracle, of a request for the first elements of the spans.
    pub(crate) fn check_first(&self, backend: &Device, request: &Request) -> Result<(), Failure> {
        let mut results = self.results(backend)?;
        for operand in request.operands().iter().filter(|operand| operand.slot.is_output()) {
            let got = match operand.slot {
                Slot::Output => Some(&mut results.output),
                Slot::OutputValues => results.values.as_mut(),
                Slot::Rest => results.rest.as_mut(),
                _ => None,
            };
            let Some(got) = got else { continue };
            self.cut(operand.slot, got, operand.bytes() as usize, "past the run's elements")?;
        }
        if self.in_place {
            self.check_behind(&mut results)?;
        }
        self.expected.check(&results, self.call.plan().depth(), STALE).map_err(Failure::Wrong)
    }

    /// Whether an output is in the place of this input.
    fn is_replaced(&self, slot: Slot) -> bool {
        let mut operands = self.call.plan().operands().iter();
        self.in_place && operands.any(|operand| operand.slot.replaces() == Some(slot))
    }

    /// Fails if an input that is no output was written to.
    pub(crate) fn check_inputs(&self, backend: &Device) -> Result<(), Failure> {
        for (slot, block) in self.blocks.iter().filter(|(slot, _)| !slot.is_output() && !self.is_replaced(*slot)) {
            let bytes = block.read(backend, slot.noun())?;
            let (start, end) = (block.lead as usize, (block.lead + block.bytes) as usize);
            if bytes != block.image[start..end] {
                return Err(Failure::Wrong(format!("the {} was written to", slot.noun())));
            }
        }
        Ok(())
    }
}

/// Runs a row as often as it says, with the same scratch, and checks every run. But for look-back the bits must not change.
pub(crate) fn check_row(backend: &Device, row: &Row) -> Result<(), Failure> {
    let mut staged = Staged::new(backend, row)?;
    let planned = staged.call.plan().algorithm();
    if let Some(asked) = row.options.algorithm.filter(|asked| *asked != planned) {
        return Err(Failure::Wrong(format!("{asked} was asked for, and {planned} was planned")));
    }
    let plain = Options::default().with(|options| options.algorithm = row.options.algorithm);
    if row.options != plain && staged.call.plan().waiting_tiles() == 0 {
        let algorithm = staged.call.plan().algorithm();
        return Err(Error::Unsupported(format!(
            "no tile of {algorithm} waits for another: there is no fault to make, and no wait to leave unbounded"
        ))
        .into());
    }
    // What look-back combines depends on how far other tiles are.
    let steady = !staged.call.plan().follows_arrival();
    let mut first: Option<Given> = None;
    for run in 0..row.runs {
        if run > 0 {
            if row.keeps_scratch {
                staged.renew(row, run, backend)?;
            }
            staged.reset(backend)?;
        }
        staged.call.run()?;
        let results = staged.check(backend).map_err(|failure| match failure {
            Failure::Wrong(message) => {
                Failure::Wrong(format!("run {run} ({}): {message}", staged.call.plan().algorithm()))
            }
            error => error,
        })?;
        let before = first.get_or_insert_with(|| results.clone());
        if steady && !row.keeps_scratch && *before != results {
            return Err(Failure::Wrong(format!(
                "run {run} ({}) gave other bits than run 0",
                staged.call.plan().algorithm()
            )));
        }
    }
    staged.check_inputs(backend)
}

/// A call whose scratch is full of a byte before it runs, or is the call's own.
pub(crate) fn poisoned_call(
    backend: &Device,
    request: &Request,
    spans: &Spans<Device>,
    options: Options,
    tuning: &Tuning,
    poison: Option<u8>,
) -> trifold_core::Result<Call<Device>> {
    let plan = planner::plan(request, spans.layout_for(backend, request)?, options, backend.caps(), tuning)?;
    let bytes = plan.scratch_bytes();
    let called = block_on(Prepared::of_plan(backend, plan)).and_then(|prepared| match poison {
        Some(byte) => {
            let scratch = backend.allocate(bytes)?;
            backend.write(&scratch, &vec![byte; bytes as usize])?;
            prepared.bind_with_scratch(spans, &scratch)
        }
        None => prepared.bind(spans),
    });
    called.map_err(planned)
}

/// An error behind planning. The planner knows what a device can do: what it plans is not to be ignored.
pub(crate) fn planned(error: Error) -> Error {
    match error {
        Error::Unsupported(why) => Error::Invalid(format!("planned, and then unsupported: {why}")),
        other => other,
    }
}
