//! Reduce.

use rayon::ThreadPool;
use trifold_core::{KernelKey, Request, Result};

use crate::chain::{self, Elements};
use crate::memory::{Access, Region};
use crate::oracle::{Expected, Inputs, totals};
use crate::step::{Arguments, Work};
use crate::view::Input;

#[derive(Clone)]
struct ReduceStep {
    elements: Elements,
    input: Input,
    output: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, initial: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let (elements, input, output) = chain::bind(key, arguments, initial, Some(1))?;
    Ok(Box::new(ReduceStep { elements, input, output }))
}

impl Work for ReduceStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let _access = Access::to(&self.input.regions(), &[&self.output])?;
        // SAFETY: `chain::bind` checked alignment, sizes, room for one element, and that the regions are equal or apart;
        // `_access` covers both.
        unsafe { chain::reduce(pool, &self.elements, &self.input, self.output.start()) };
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(ReduceStep { elements: Elements { n, ..self.elements.clone() }, ..self.clone() })
    }
}

/// What a reduction must give.
pub(crate) fn expect(request: &Request, Inputs { input, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Reduce(r) = request else { return None };
    let start = r.initial.as_deref().unwrap_or(r.op.identity());
    Some(Expected::of(totals(&r.op, start, input, &[0])))
}
