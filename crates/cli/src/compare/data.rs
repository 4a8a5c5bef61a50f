//! A row's buffers, what they hold before a call, and whether they hold the right result after it.

use std::rc::Rc;

use trifold::backend::{Spans, SpansOf};
use trifold::plan::{CopyRequest, Options, Request, Slot};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Call, Device, Error, Result};
use trifold_conformance::oracle::Given;

use super::inputs::Case;
use crate::memory::{allocate, first, upload};

/// What a result is spoiled with: no float below one, no position, and no other result but by rare chance.
pub const STALE: u8 = 0x5e;
/// Bytes of it that are written at a time.
const PIECE: usize = 64 << 20;

/// A row's case, and its buffers on a device.
pub struct Data {
    case: Rc<Case>,
    pub spans: Spans<Device>,
}

/// Puts what is no result where the results go. Else one that was left over from another row could pass for what this row's call
/// wrote, and so could an input that is sorted already.
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
    /// Inputs that hold what the case says, and outputs that hold anything.
    pub fn new(backend: &Device, case: Rc<Case>, request: &Request) -> Result<Data> {
        let spans = SpansOf::of(request, |operand| {
            match operand.slot {
                Slot::Input | Slot::Leaf(0) => upload(backend, case.input.as_bytes()),
                Slot::InputValues | Slot::Offsets | Slot::Leaf(_) => {
                    let given = if operand.slot == Slot::Offsets { &case.offsets } else { &case.values };
                    let missing = || Error::Invalid(format!("the case has no {}", operand.slot.noun()));
                    upload(backend, given.as_ref().ok_or_else(missing)?.as_bytes())
                }
                _ => allocate(backend, operand.bytes() as usize),
            }
            .and_then(|span| first(&span, operand.bytes() as usize))
        })?;
        Ok(Data { case, spans })
    }

    /// How many elements are to be kept, or how many runs there are.
    pub fn outputs(&self) -> Option<u64> {
        self.case.expected.count.map(u64::from)
    }

    /// A copy of the input.
    pub fn copy_call(&self, backend: &Device, scalar: Scalar, n: u64) -> Result<Call<Device>> {
        let copy = Request::Copy(CopyRequest { element: ElementType::Scalar(scalar), n });
        let bytes = self.case.input.as_bytes().len();
        let to = first(&allocate(backend, bytes)?, bytes)?;
        // A view's bytes are not copied: as many of any memory are.
        let from = match &self.spans.input {
            Some(input) => input.clone(),
            None => first(&allocate(backend, bytes)?, bytes)?,
        };
        Call::new(backend, &copy, &Spans::new(&from, &to), Options::default())
    }

    /// The bytes that it moves.
    pub fn copy_bytes(&self) -> u64 {
        2 * self.case.input.as_bytes().len() as u64
    }

    /// What is wrong with what a call left in the spans. Its chains of combines are at most `depth` long.
    pub fn check(&self, backend: &Device, depth: u64) -> Result<std::result::Result<(), String>> {
        let given = Given::read(backend, &self.spans)?;
        Ok(self.case.expected.check(&given, depth, STALE))
    }
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use trifold::plan::{Builtin, Form, Layout, forms};
    use trifold::{Backend as _, plan};
    use trifold_conformance::{Distribution, oracle};

    use super::*;
    use crate::args::INPUTS;
    use crate::compare::inputs::Inputs;
    use crate::compare::measure::request;
    use crate::compare::{Conditions, Job};
    use crate::elements::{Elements, Shape};

    #[test]
    fn a_call_that_writes_nothing_is_not_verified() {
        let cpu = Device::of(trifold::cpu::Cpu::new().unwrap());
        let inputs = Inputs::default();
        for input in INPUTS {
            for primitive in Form::all() {
                for n in [1, 1000] {
                    let conditions = Conditions { input, ..Conditions::default() };
                    let job = Job { primitive, scalar: Scalar::U32, operator: None, algorithm: None, n, conditions };
                    let request = request(&job).unwrap();
                    let data = Data::new(&cpu, inputs.of(&job, &request), &request).unwrap();
                    // The input itself is what a sort of sorted keys should write.
                    let output = &data.spans.output;
                    let bytes = output.bytes().min(4 * n);
                    cpu.write(&output.slice(0, bytes).unwrap(), &data.case.input.as_bytes()[..bytes as usize]).unwrap();
                    spoil(&cpu, &data.spans).unwrap();
                    assert!(data.check(&cpu, 1).unwrap().is_err(), "{job:?}");
                }
            }
        }
    }

    #[test]
    fn kept_inputs_serve_whatever_row_comes_next() {
        let cpu = Device::of(trifold::cpu::Cpu::new().unwrap());
        let inputs = Inputs::default();
        for scalar in Scalar::ALL {
            let offers = |form: &&Form| {
                let request = form.request(scalar, Builtin::Sum, 1000);
                request.is_ok_and(|request| {
                    plan::plan(&request, Layout::default(), Options::default(), cpu.caps(), &cpu.tuning()).is_ok()
                })
            };
            let forms: Vec<_> = Form::all().filter(offers).collect();
            // Each twice: as another device's row, and behind whatever other.
            for &primitive in forms.iter().rev().flat_map(|form| [form, form]).chain(&forms) {
                let job = Job { operator: None, ..Job::usual(primitive, scalar, 1000) };
                let request = request(&job).unwrap();
                let data = Data::new(&cpu, inputs.of(&job, &request), &request).unwrap();
                spoil(&cpu, &data.spans).unwrap();
                Call::new(&cpu, &request, &data.spans, Options::default())
                    .and_then(|call| call.run())
                    .unwrap_or_else(|error| panic!("{job:?}: {error}"));
                assert_eq!(data.check(&cpu, 1000).unwrap(), Ok(()), "{job:?}");
            }
        }
    }

    #[test]
    fn the_predicate_keeps_what_is_asked_of_every_type() {
        for scalar in Scalar::computed() {
            for (share, n) in [(0.0, 1000), (0.1, 50_000), (0.5, 50_000), (1.0, 1000)] {
                let input = Elements::shaped(Distribution::Uniform, Shape::Kept(share), scalar, n, 1);
                let select = forms::SELECT.request(scalar, Builtin::Sum, n).unwrap();
                let kept = oracle::expect(&select, oracle::Inputs::new(input.as_bytes(), None)).count.unwrap();
                let kept = f64::from(kept) / n as f64;
                assert!((kept - share).abs() < 0.01, "{kept} of {share} {scalar:?}");
            }
        }
    }
}
