//! What the calls of a job are given and what they must give, made once for all devices.

use std::cell::RefCell;
use std::rc::Rc;

use trifold::plan::{Request, Slot, forms};
use trifold::types::Scalar;
use trifold_conformance::Distribution;
use trifold_conformance::oracle::{self, Expected};

use super::rows::Job;
use crate::elements::{Elements, Lengths, Shape};

/// Of uniform inputs every seed is as good as any.
const SEED: u64 = 0x7472_6966_6f6c_6421;

/// What an input is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    scalar: Scalar,
    n: u64,
    distribution: Distribution,
    shape: Shape,
    segments: Option<Lengths>,
}

impl Source {
    pub fn of(job: &Job) -> Source {
        let segments = job.primitive.varies.has_segments().then_some(job.conditions.segments);
        Source { scalar: job.scalar, n: job.n, distribution: job.conditions.input, shape: job.shape(), segments }
    }

    /// Of its copy, to which it is the same how elements repeat.
    pub fn of_copy(job: &Job) -> Source {
        Source { shape: Shape::Plain, segments: None, ..Source::of(job) }
    }
}

/// A job's data on the host.
pub struct Case {
    source: Source,
    request: Request,
    pub input: Rc<Elements>,
    /// Of sorts of pairs and of what is by key.
    pub values: Option<Elements>,
    /// Of segments.
    pub offsets: Option<Elements>,
    pub expected: Expected,
}

/// The last case, which the next device's row is of too.
#[derive(Default)]
pub struct Inputs {
    last: RefCell<Option<Rc<Case>>>,
}

impl Inputs {
    /// The job's case. Asking for another one frees the last, since large inputs leave no room for two.
    pub fn of(&self, job: &Job, request: &Request) -> Rc<Case> {
        let source = Source::of(job);
        let last = self.last.take();
        if let Some(case) = last.as_ref().filter(|case| case.source == source && case.request == *request) {
            return self.keep(Rc::clone(case));
        }
        let input = last.filter(|case| case.source == source).map(|case| Rc::clone(&case.input));
        let make = || Rc::new(Elements::shaped(source.distribution, source.shape, job.scalar, job.n, SEED));
        let input = input.unwrap_or_else(make);
        let is_second = |slot| matches!(slot, Slot::InputValues | Slot::Leaf(1));
        let values = request.operands().into_iter().find(|operand| is_second(operand.slot));
        // What is computed with; other values are only moved.
        let is_computed = request.op().is_some() || job.primitive == &forms::WEIGHTED_HISTOGRAM;
        let values = values.map(|values| match is_computed {
            // What is searched.
            _ if job.primitive == &forms::HISTOGRAM_BY_EDGES => {
                Elements::of(Distribution::Sorted, job.scalar, values.len, !SEED)
            }
            // Of a scan by key these are the keys.
            true if job.primitive == &forms::SCAN_BY_KEY => {
                Elements::shaped(Distribution::Uniform, job.shape(), job.scalar, job.n, !SEED)
            }
            true => Elements::of(Distribution::Uniform, job.scalar, job.n, !SEED),
            false => Elements::indices(job.n, values.element.bytes()),
        });
        let second = values.as_ref().map(Elements::as_bytes);
        let has_offsets = request.operands().iter().any(|operand| operand.slot == Slot::Offsets);
        let offsets = has_offsets.then(|| Elements::offsets(job.conditions.segments, job.n));
        let told = oracle::Inputs::new(input.as_bytes(), second);
        let told = oracle::Inputs { offsets: offsets.as_ref().map(Elements::as_bytes), ..told };
        let expected = match request.views() {
            [] => oracle::expect(request, told),
            [viewed, ..] => {
                let mut leaves: Vec<&[u8]> = [Some(input.as_bytes()), second].into_iter().flatten().collect();
                // What no leaf has lies beside the view.
                let beside = leaves.split_off(viewed.view.leaves().len()).pop();
                let made = oracle::made(&viewed.view, request.n(), &leaves);
                oracle::expect(request, oracle::Inputs::new(&made, beside))
            }
        };
        self.keep(Rc::new(Case { source, request: request.clone(), input, values, offsets, expected }))
    }

    fn keep(&self, case: Rc<Case>) -> Rc<Case> {
        self.last.replace(Some(Rc::clone(&case)));
        case
    }
}
