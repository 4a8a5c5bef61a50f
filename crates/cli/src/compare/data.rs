//! A row's buffers, what they hold before a call, and whether they hold the right result after it.

use trifold::backend::{Span, Spans, SpansOf};
use trifold::plan::{Builtin, CopyRequest, Form, Options, Request, Slot};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Call, Device, Error, Result};
use trifold_conformance::Distribution;
use trifold_conformance::oracle::{self, Expected, Given};

use super::rows::Job;
use crate::elements::{Elements, Shape};
use crate::memory::{allocate, first, upload};

/// What a result is spoiled with: no float below one, no position, and no other result but by rare chance.
pub const STALE: u8 = 0x5e;
/// Bytes of it that are written at a time.
const PIECE: usize = 64 << 20;

/// Of uniform inputs every seed is as good as any.
const SEED: u64 = 0x7472_6966_6f6c_6421;

/// The buffers of one type, size and input, and what they hold.
pub struct Data {
    scalar: Scalar,
    n: u64,
    distribution: Distribution,
    shape: Shape,
    input: Elements,
    input_buffer: Span<Device>,
    output_buffer: Span<Device>,
    /// Of sorts of pairs and of what is by key.
    values: Option<(Elements, Span<Device>)>,
    output_values: Option<Span<Device>>,
    /// Of partitions.
    rest: Option<Span<Device>>,
    /// How many were kept, or how many runs there are.
    count: Span<Device>,
    /// What a primitive with an operator must give.
    expected: Option<(&'static Form, Option<Builtin>, Expected)>,
    /// The speed of this device's copy.
    pub copy_gb_s: Option<f64>,
}

/// Puts what is no result where the results go: one that was left over from another row, and an input that is sorted
/// already, must not pass for what this row's call wrote.
pub fn spoil(backend: &Device, spans: &Spans<Device>) -> Result<()> {
    let outputs = [Some(&spans.output), spans.output_values.as_ref(), spans.rest.as_ref(), spans.count.as_ref()];
    // In pieces: the host's memory for all of a large span would take longer than to write it.
    let stale = vec![STALE; PIECE.min(outputs.iter().flatten().map(|span| span.bytes()).max().unwrap_or(0) as usize)];
    for span in outputs.into_iter().flatten() {
        for offset in (0..span.bytes()).step_by(PIECE) {
            let bytes = (span.bytes() - offset).min(PIECE as u64);
            backend.write(&span.slice(offset, bytes)?, &stale[..bytes as usize])?;
        }
    }
    backend.synchronize()
}

impl Data {
    /// What the job needs, kept from the row before if that was of the same type, size and input.
    pub fn prepare<'d>(
        kept: &'d mut Option<Data>,
        backend: &Device,
        job: &Job,
        request: &Request,
    ) -> Result<&'d mut Data> {
        let (distribution, shape) = (job.conditions.input, job.shape());
        let is_same = |d: &Data| (d.scalar, d.n, d.distribution, d.shape) == (job.scalar, job.n, distribution, shape);
        let mut data = match kept.take().filter(is_same) {
            Some(data) => data,
            None => {
                let input = Elements::shaped(distribution, shape, job.scalar, job.n, SEED);
                Data {
                    scalar: job.scalar,
                    n: job.n,
                    distribution,
                    shape,
                    input_buffer: upload(backend, input.as_bytes())?,
                    output_buffer: allocate(backend, input.as_bytes().len())?,
                    input,
                    values: None,
                    output_values: None,
                    rest: None,
                    count: allocate(backend, 4)?,
                    expected: None,
                    copy_gb_s: None,
                }
            }
        };
        for operand in request.operands() {
            let bytes = operand.bytes() as usize;
            match operand.slot {
                // The shape tells values that are combined from those that keys carry.
                Slot::InputValues if data.values.is_none() => {
                    let host = match request.op() {
                        Some(_) => Elements::of(Distribution::Uniform, job.scalar, job.n, !SEED),
                        None => Elements::indices(job.n),
                    };
                    let buffer = upload(backend, host.as_bytes())?;
                    data.values = Some((host, buffer));
                }
                // The row before may have had narrower ones: run lengths are u32, whatever the totals are.
                Slot::OutputValues if data.output_values.as_ref().is_none_or(|kept| kept.bytes() < operand.bytes()) => {
                    data.output_values = Some(allocate(backend, bytes)?)
                }
                Slot::Rest if data.rest.is_none() => data.rest = Some(allocate(backend, bytes)?),
                _ => {}
            }
        }
        data.expect(job, request);
        Ok(kept.insert(data))
    }

    /// Asks the oracle, unless the row before was of the same primitive and operator.
    fn expect(&mut self, job: &Job, request: &Request) {
        let asked = (job.primitive, job.operator);
        if self.expected.as_ref().is_none_or(|(primitive, operator, _)| (*primitive, *operator) != asked) {
            // Large inputs leave no room for two.
            self.expected = None;
            let values = self.values.as_ref().map(|(host, _)| host.as_bytes());
            self.expected = Some((asked.0, asked.1, oracle::expect(request, self.input.as_bytes(), values)));
        }
    }

    /// The spans of a request.
    pub fn spans(&self, request: &Request) -> Result<Spans<Device>> {
        SpansOf::of(request, |operand| {
            let buffer = match operand.slot {
                Slot::Input => Some(&self.input_buffer),
                Slot::InputValues => self.values.as_ref().map(|(_, buffer)| buffer),
                Slot::OutputValues => self.output_values.as_ref(),
                Slot::Rest => self.rest.as_ref(),
                Slot::Count => Some(&self.count),
                Slot::Output | Slot::Length | Slot::Scratch => Some(&self.output_buffer),
            };
            let missing = || Error::Invalid(format!("no buffer was made for the {}", operand.slot.noun()));
            first(buffer.ok_or_else(missing)?, operand.bytes() as usize)
        })
    }

    /// How many elements are to be kept, or how many runs there are.
    pub fn outputs(&self) -> Option<u64> {
        self.expected.as_ref().and_then(|(.., expected)| expected.count).map(u64::from)
    }

    /// A copy of the input.
    pub fn copy_call(&self, backend: &Device) -> Result<Call<Device>> {
        let copy = Request::Copy(CopyRequest { element: ElementType::Scalar(self.scalar), n: self.n });
        Call::new(backend, &copy, &self.spans(&copy)?, Options::default())
    }

    /// The bytes that it moves.
    pub fn copy_bytes(&self) -> u64 {
        2 * self.input.as_bytes().len() as u64
    }

    /// What is wrong with what a call left in its spans. Its chains of combines are at most `depth` long.
    pub fn check(
        &self,
        backend: &Device,
        spans: &Spans<Device>,
        depth: u64,
    ) -> Result<std::result::Result<(), String>> {
        let given = Given::read(backend, spans)?;
        let unknown = || Err("the oracle was not asked".into());
        Ok(self.expected.as_ref().map_or_else(unknown, |(.., expected)| expected.check(&given, depth, STALE)))
    }
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use trifold::plan::forms;

    use super::*;
    use crate::args::INPUTS;
    use crate::compare::Conditions;
    use crate::compare::measure::request;

    #[test]
    fn a_call_that_writes_nothing_is_not_verified() {
        let cpu = Device::of(trifold::cpu::Cpu::new().unwrap());
        let mut kept = None;
        for input in INPUTS {
            for primitive in Form::all() {
                for n in [1, 1000] {
                    let conditions = Conditions { input, ..Conditions::default() };
                    let job = Job { primitive, scalar: Scalar::U32, operator: None, algorithm: None, n, conditions };
                    let request = request(&job).unwrap();
                    let data = Data::prepare(&mut kept, &cpu, &job, &request).unwrap();
                    let spans = data.spans(&request).unwrap();
                    // The input itself is what a sort of sorted keys should write.
                    cpu.write(&data.output_buffer.slice(0, 4 * n).unwrap(), data.input.as_bytes()).unwrap();
                    spoil(&cpu, &spans).unwrap();
                    assert!(data.check(&cpu, &spans, 1).unwrap().is_err(), "{job:?}");
                }
            }
        }
    }

    #[test]
    fn kept_buffers_serve_whatever_row_comes_next() {
        let cpu = Device::of(trifold::cpu::Cpu::new().unwrap());
        for scalar in Scalar::ALL {
            let mut kept = None;
            for primitive in Form::all().collect::<Vec<_>>().into_iter().rev() {
                let conditions = Conditions::default();
                let job = Job { primitive, scalar, operator: None, algorithm: None, n: 1000, conditions };
                let request = request(&job).unwrap();
                let data = Data::prepare(&mut kept, &cpu, &job, &request).unwrap();
                let spans = data.spans(&request).unwrap();
                spoil(&cpu, &spans).unwrap();
                Call::new(&cpu, &request, &spans, Options::default())
                    .and_then(|call| call.run())
                    .unwrap_or_else(|error| panic!("{job:?}: {error}"));
                assert_eq!(data.check(&cpu, &spans, 1000).unwrap(), Ok(()), "{job:?}");
            }
        }
    }

    #[test]
    fn the_predicate_keeps_what_is_asked_of_every_type() {
        for scalar in Scalar::ALL {
            for (share, n) in [(0.0, 1000), (0.1, 50_000), (0.5, 50_000), (1.0, 1000)] {
                let input = Elements::shaped(Distribution::Uniform, Shape::Kept(share), scalar, n, 1);
                let select = forms::SELECT_IF.request(scalar, Builtin::Sum, n).unwrap();
                let kept = oracle::expect(&select, input.as_bytes(), None).count.unwrap();
                let kept = f64::from(kept) / n as f64;
                assert!((kept - share).abs() < 0.01, "{kept} of {share} {scalar:?}");
            }
        }
    }
}
