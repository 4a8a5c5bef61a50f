//! A row's memory on a device: inputs among guards, poisoned outputs, a bound call, and the check of what it wrote.

use trifold_core::{
    AnyBackend, AnyBuffer, AnyCall, AnySpan, AnySpans, ElementType, Error, Options, Request, Rest, Tuning, planner,
};
use trifold_cpu::oracle::{self, Expected, Output};

use crate::case::Failure;
use crate::compare;
use crate::row::Row;

/// What unwritten memory around spans holds.
const GUARD: u8 = 0xcb;
/// What outputs hold before a run.
const STALE: u8 = 0x5e;
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
    element: ElementType,
    keeps_bits: bool,
    input: Block,
    /// `None` if the row works in place.
    output: Option<Block>,
    values: Option<(Block, Option<Block>, ElementType)>,
    rest: Option<Block>,
    count: Option<Block>,
}

/// What a run wrote.
pub(crate) struct Results {
    pub(crate) output: Vec<u8>,
    pub(crate) values: Option<Vec<u8>>,
    pub(crate) rest: Option<Vec<u8>>,
    pub(crate) count: Option<Vec<u8>>,
}

impl Staged {
    pub(crate) fn new(backend: &dyn AnyBackend, row: &Row) -> trifold_core::Result<Staged> {
        let element = row.element();
        let size = u64::from(element.bytes());
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
                let element = r.value.clone().unwrap_or(ElementType::Scalar(trifold_core::Scalar::U32));
                let size = u64::from(element.bytes());
                let from = Block::new(backend, offsets[2] * size, n * size, Some(carried))?;
                let to = match in_place {
                    true => None,
                    false => Some(Block::new(backend, offsets[3] * size, n * size, None)?),
                };
                Some((from, to, element))
            }
            (Some(carried), Request::ReduceByKey(r)) => {
                let element = r.total().element().clone();
                let size = u64::from(element.bytes());
                let from = Block::new(backend, offsets[2] * size, carried.len() as u64, Some(carried))?;
                let to = Block::new(backend, offsets[3] * size, n * size, None)?;
                Some((from, Some(to), element))
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
            output_values: values.as_ref().map(|(from, to, _)| to.as_ref().unwrap_or(from).span()),
            rest: rest.as_ref().map(Block::span),
            count: count.as_ref().map(Block::span),
            ..AnySpans::new(input.span(), output.as_ref().unwrap_or(&input).span())
        };
        let tuning = row.tiles.tuning(backend.tuning(), backend.caps())?;
        let call = poisoned_call(backend, &row.request, spans, row.options, &tuning, row.poison())?;
        let expected = oracle::expect(&row.request, &keys, carried.as_deref());
        let keeps_bits = row.keeps_bits();
        Ok(Staged { call, expected, element, keeps_bits, input, output, values, rest, count })
    }

    /// Gives the next run an input of its own.
    fn renew(&mut self, row: &Row, run: u32, backend: &dyn AnyBackend) -> trifold_core::Result<()> {
        let (keys, carried) = row.input(run);
        self.expected = oracle::expect(&row.request, &keys, carried.as_deref());
        self.input.fill(&keys);
        self.input.reset(backend)?;
        if let (Some((from, _, _)), Some(carried)) = (&mut self.values, &carried) {
            from.fill(carried);
            from.reset(backend)?;
        }
        Ok(())
    }

    /// Poisons the outputs, or brings the input back if that is the output.
    pub(crate) fn reset(&self, backend: &dyn AnyBackend) -> trifold_core::Result<()> {
        let values = self.values.iter().map(|(from, to, _)| to.as_ref().unwrap_or(from));
        let outputs = [self.output.as_ref().unwrap_or(&self.input)].into_iter().chain(values);
        outputs.chain(&self.rest).chain(&self.count).try_for_each(|block| block.reset(backend))
    }

    /// What the last run wrote, and whether it wrote nothing else.
    pub(crate) fn results(&self, backend: &dyn AnyBackend) -> Result<Results, Failure> {
        let output = self.output.as_ref().unwrap_or(&self.input).read(backend, "output")?;
        let values = match &self.values {
            Some((from, to, _)) => Some(to.as_ref().unwrap_or(from).read(backend, "output values")?),
            None => None,
        };
        let read = |block: &Option<Block>, what| block.as_ref().map(|block| block.read(backend, what)).transpose();
        Ok(Results { output, values, rest: read(&self.rest, "rest")?, count: read(&self.count, "count")? })
    }

    /// Holds the last run to the oracle.
    pub(crate) fn check(&self, backend: &dyn AnyBackend) -> Result<Results, Failure> {
        let results = self.results(backend)?;
        match &self.expected.output {
            Output::Exact(want) if self.count.is_some() => {
                compare::written(&self.element, want, &results.output, STALE)
            }
            Output::Exact(want) => compare::exact(&self.element, want, &results.output, !self.keeps_bits),
            Output::Near { values, scales, chained } => {
                let depth = if *chained { self.call.plan().depth() + 1 } else { 1 };
                compare::near(&self.element, values, scales, depth, &results.output)
            }
        }
        .map_err(|message| Failure::Wrong(format!("output: {message}")))?;
        if let (Some((_, _, element)), Some(want), Some(got)) = (&self.values, &self.expected.values, &results.values) {
            compare::exact(element, want, got, false)
                .map_err(|message| Failure::Wrong(format!("output values: {message}")))?;
        }
        if let (Some((_, _, element)), Some(want), Some(got)) = (&self.values, &self.expected.totals, &results.values) {
            self.check_totals(element, want, got).map_err(|message| Failure::Wrong(format!("totals: {message}")))?;
        }
        if let (Some(want), Some(got)) = (&self.expected.rest, &results.rest) {
            compare::written(&self.element, want, got, STALE)
                .map_err(|message| Failure::Wrong(format!("rest: {message}")))?;
        }
        if let (Some(want), Some(got)) = (self.expected.count, &results.count)
            && got[..] != want.to_le_bytes()
        {
            return Err(Failure::Wrong(format!("the count is {got:?}, not {want} as bytes")));
        }
        Ok(results)
    }

    fn check_totals(&self, element: &ElementType, want: &Output, got: &[u8]) -> Result<(), String> {
        match want {
            Output::Exact(want) => compare::written(element, want, got, STALE),
            Output::Near { values, scales, chained } => {
                let depth = if *chained { self.call.plan().depth() + 1 } else { 1 };
                let (first, others) =
                    got.split_at_checked(values.len() * element.bytes() as usize).unwrap_or((got, &[]));
                compare::near(element, values, scales, depth, first)?;
                compare::written(element, &[], others, STALE)
            }
        }
    }

    /// Fails if an input that is no output was written to.
    fn check_inputs(&self, backend: &dyn AnyBackend) -> Result<(), Failure> {
        let values = self.values.as_ref().filter(|(_, to, _)| to.is_some()).map(|(from, _, _)| from);
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
