//! A row's memory on a device: inputs among guards, poisoned outputs, a bound call, and the check of what it wrote.

use trifold_core::{
    AnyBackend, AnyBuffer, AnyCall, AnySpan, AnySpans, ElementType, Error, Options, Request, Rest, Tuning, planner,
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
    buffer: AnyBuffer,
    lead: u64,
    bytes: u64,
    image: Vec<u8>,
}

impl Block {
    fn new(backend: &dyn AnyBackend, lead: u64, bytes: u64, content: Option<&[u8]>) -> trifold_core::Result<Block> {
        let whole = (lead + bytes + AFTER).next_multiple_of(16);
        let mut image = vec![GUARD; whole as usize];
        let inside = &mut image[lead as usize..(lead + bytes) as usize];
        match content {
            Some(content) => inside.copy_from_slice(content),
            None => inside.fill(STALE),
        }
        let block = Block { buffer: backend.alloc(whole)?, lead, bytes, image };
        block.reset(backend)?;
        Ok(block)
    }

    fn fill(&mut self, content: &[u8]) {
        self.image[self.lead as usize..(self.lead + self.bytes) as usize].copy_from_slice(content);
    }

    fn span(&self) -> AnySpan<'_> {
        AnySpan { buffer: &self.buffer, offset: self.lead, bytes: self.bytes }
    }

    fn reset(&self, backend: &dyn AnyBackend) -> trifold_core::Result<()> {
        backend.write(AnySpan::whole(&self.buffer), &self.image)
    }

    /// The span's bytes, if the guards are unharmed.
    fn read(&self, backend: &dyn AnyBackend, what: &str) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; self.image.len()];
        backend.read(AnySpan::whole(&self.buffer), &mut bytes)?;
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
    pub(crate) call: AnyCall,
    pub(crate) expected: Expected,
    input: Block,
    /// `None` if the row works in place.
    output: Option<Block>,
    values: Option<(Block, Option<Block>)>,
    rest: Option<Block>,
    count: Option<Block>,
}

impl Staged {
    pub(crate) fn new(backend: &dyn AnyBackend, row: &Row) -> trifold_core::Result<Staged> {
        let size = u64::from(row.element().bytes());
        let n = row.request.n();
        let offsets = row.placement.offsets();
        let (keys, carried) = row.input(0);
        let in_place = row.placement.in_place();
        let output_bytes = if matches!(row.request, Request::Reduce(_)) { size } else { n * size };
        let input = Block::new(backend, offsets[0] * size, n * size, Some(&keys))?;
        let output = match in_place {
            true => None,
            false => Some(Block::new(backend, offsets[1] * size, output_bytes, None)?),
        };
        let values = match (&carried, &row.request) {
            (Some(carried), Request::Sort(r)) => {
                let size = u64::from(r.value.as_ref().map_or(4, ElementType::bytes));
                let from = Block::new(backend, offsets[2] * size, n * size, Some(carried))?;
                let to = match in_place {
                    true => None,
                    false => Some(Block::new(backend, offsets[3] * size, n * size, None)?),
                };
                Some((from, to))
            }
            (Some(carried), Request::ReduceByKey(r)) => {
                let size = u64::from(r.total().element().bytes());
                let from = Block::new(backend, offsets[2] * size, carried.len() as u64, Some(carried))?;
                let to = Block::new(backend, offsets[3] * size, n * size, None)?;
                Some((from, Some(to)))
            }
            _ => None,
        };
        let (rest, count) = match &row.request {
            Request::Select(r) => {
                let apart = r.rest == Rest::Apart;
                let rest = apart.then(|| Block::new(backend, offsets[2] * size, n * size, None)).transpose()?;
                (rest, Some(Block::new(backend, offsets[3] * 4, 4, None)?))
            }
            Request::ReduceByKey(_) => (None, Some(Block::new(backend, offsets[2] * 4, 4, None)?)),
            _ => (None, None),
        };
        let spans = AnySpans {
            input_values: values.as_ref().map(|(from, ..)| from.span()),
            output_values: values.as_ref().map(|(from, to)| to.as_ref().unwrap_or(from).span()),
            rest: rest.as_ref().map(Block::span),
            count: count.as_ref().map(Block::span),
            ..AnySpans::new(input.span(), output.as_ref().unwrap_or(&input).span())
        };
        let tuning = row.tiles.tuning(backend.tuning(), backend.caps())?;
        let call = poisoned_call(backend, &row.request, spans, row.options, &tuning, row.poison())?;
        let expected = oracle::expect(&row.request, &keys, carried.as_deref());
        Ok(Staged { call, expected, input, output, values, rest, count })
    }

    /// Gives the next run an input of its own.
    fn renew(&mut self, row: &Row, run: u32, backend: &dyn AnyBackend) -> trifold_core::Result<()> {
        let (keys, carried) = row.input(run);
        self.expected = oracle::expect(&row.request, &keys, carried.as_deref());
        self.input.fill(&keys);
        self.input.reset(backend)?;
        if let (Some((from, _)), Some(carried)) = (&mut self.values, &carried) {
            from.fill(carried);
            from.reset(backend)?;
        }
        Ok(())
    }

    /// Poisons the outputs, or brings the input back if that is the output.
    pub(crate) fn reset(&self, backend: &dyn AnyBackend) -> trifold_core::Result<()> {
        let values = self.values.iter().map(|(from, to)| to.as_ref().unwrap_or(from));
        let outputs = [self.output.as_ref().unwrap_or(&self.input)].into_iter().chain(values);
        outputs.chain(&self.rest).chain(&self.count).try_for_each(|block| block.reset(backend))
    }

    /// What the last run wrote, and whether it wrote nothing else.
    pub(crate) fn results(&self, backend: &dyn AnyBackend) -> Result<Given, Failure> {
        let read = |block: Option<&Block>, what| block.map(|block| block.read(backend, what)).transpose();
        Ok(Given {
            output: self.output.as_ref().unwrap_or(&self.input).read(backend, "output")?,
            values: read(self.values.as_ref().map(|(from, to)| to.as_ref().unwrap_or(from)), "output values")?,
            rest: read(self.rest.as_ref(), "rest")?,
            count: read(self.count.as_ref(), "count")?,
        })
    }

    /// Holds the last run to the oracle.
    pub(crate) fn check(&self, backend: &dyn AnyBackend) -> Result<Given, Failure> {
        let results = self.results(backend)?;
        self.expected.check(&results, self.call.plan().depth(), STALE).map_err(Failure::Wrong)?;
        Ok(results)
    }

    /// Fails if an input that is no output was written to.
    fn check_inputs(&self, backend: &dyn AnyBackend) -> Result<(), Failure> {
        let values = self.values.as_ref().filter(|(_, to)| to.is_some()).map(|(from, _)| from);
        for (what, block) in [("input", self.output.as_ref().map(|_| &self.input)), ("input values", values)] {
            let Some(block) = block else { continue };
            let bytes = block.read(backend, what)?;
            let (start, end) = (block.lead as usize, (block.lead + block.bytes) as usize);
            if bytes != block.image[start..end] {
                return Err(Failure::Wrong(format!("the {what} was written to")));
            }
        }
        Ok(())
    }
}

/// Runs a row as often as it says, with the same scratch, and checks every run. But for look-back the bits must not change.
pub(crate) fn check_row(backend: &dyn AnyBackend, row: &Row) -> Result<(), Failure> {
    let mut staged = Staged::new(backend, row)?;
    let planned = staged.call.plan().algorithm();
    if let Some(asked) = row.options.algorithm.filter(|asked| *asked != planned) {
        return Err(Failure::Wrong(format!("{asked} was asked for, and {planned} was planned")));
    }
    let plain = Options { algorithm: row.options.algorithm, ..Options::default() };
    if row.options != plain && staged.call.plan().waiting_tiles() == 0 {
        let algorithm = staged.call.plan().algorithm();
        return Err(Error::Unsupported(format!(
            "no tile of {algorithm} waits for another: there is no fault to make, and no wait to leave unbounded"
        ))
        .into());
    }
    // What look-back combines depends on how far other tiles are.
    let steady = !staged.call.plan().follows_arrival();
    let mut first: Option<Vec<u8>> = None;
    for run in 0..row.runs {
        if run > 0 {
            if row.keeps_scratch {
                staged.renew(row, run, backend)?;
            }
            staged.reset(backend)?;
        }
        backend.run(&staged.call)?;
        let results = staged.check(backend).map_err(|failure| match failure {
            Failure::Wrong(message) => {
                Failure::Wrong(format!("run {run} ({}): {message}", staged.call.plan().algorithm()))
            }
            error => error,
        })?;
        let before = first.get_or_insert_with(|| results.output.clone());
        if steady && !row.keeps_scratch && *before != results.output {
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
    backend: &dyn AnyBackend,
    request: &Request,
    spans: AnySpans<'_>,
    options: Options,
    tuning: &Tuning,
    poison: Option<u8>,
) -> trifold_core::Result<AnyCall> {
    let plan = planner::plan(request, backend.layout_for(spans, request)?, options, backend.caps(), tuning)?;
    let bytes = plan.scratch_bytes();
    let called = match poison {
        Some(byte) => {
            let scratch = backend.upload(&vec![byte; bytes as usize])?;
            backend.call_plan(plan, spans, Some(AnySpan::whole(&scratch)))
        }
        None => backend.call_plan(plan, spans, None),
    };
    called.map_err(|error| match error {
        // The planner knows what a device can do: what it plans is not to be ignored.
        Error::Unsupported(why) => Error::Invalid(format!("planned, and then unsupported: {why}")),
        other => other,
    })
}
