//! Scan.

use rayon::ThreadPool;
use trifold_core::{KernelKey, Request, Result, ScanKind};

use crate::chain::{self, Elements};
use crate::memory::{Access, Region};
use crate::oracle::{self, Aligned, Expected, Inputs, Output, Precise, scan_in_place, totals};
use crate::step::{Arguments, Work};
use crate::view::Input;

#[derive(Clone)]
struct ScanStep {
    elements: Elements,
    exclusive: bool,
    sequential: bool,
    input: Input,
    output: Region,
    /// Of one element, if the total is wanted.
    total: Option<Region>,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_>, initial: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let (elements, input, output) = chain::bind(key, arguments, initial, None)?;
    let is = |name| key.constant(name) == Some(1);
    let alignment = key.op.as_ref().map_or(8, |op| op.element().align() as usize);
    let has_total = arguments.region("output_total").is_ok();
    let total = has_total.then(|| arguments.array("output_total", 1, elements.size, alignment)).transpose()?;
    if let Some(total) = &total {
        input.check_apart(total)?;
        output.check_apart(total)?;
    }
    Ok(Box::new(ScanStep { elements, exclusive: is("EXCLUSIVE"), sequential: is("SEQUENTIAL"), input, output, total }))
}

impl Work for ScanStep {
    fn run(&self, pool: &ThreadPool) -> Result<()> {
        let ScanStep { elements, exclusive, sequential, input, output, total } = self;
        let outputs: Vec<&Region> = [output].into_iter().chain(total).collect();
        let _access = Access::to(&input.regions(), &outputs)?;
        // SAFETY: `chain::bind` checked alignment, sizes and that the regions are equal or apart; `_access` covers both. The total is one
        // element, apart from them.
        unsafe {
            let mut sum = match sequential {
                true => chain::scan_sequentially(elements, input, output.start(), *exclusive),
                false => chain::scan(pool, elements, input, output.start(), *exclusive),
            };
            if let Some(total) = total {
                total.start().copy_from_nonoverlapping(sum.start(), elements.size);
            }
        }
        Ok(())
    }

    fn resized(&self, n: usize) -> Box<dyn Work> {
        Box::new(ScanStep { elements: Elements { n, ..self.elements.clone() }, ..self.clone() })
    }
}

/// What a scan must give.
pub(crate) fn expect(request: &Request, Inputs { input, .. }: Inputs<'_>) -> Option<Expected> {
    let Request::Scan(r) = request else { return None };
    let (op, start) = (&r.op, r.initial.as_deref().unwrap_or(r.op.identity()));
    let exclusive = r.kind == ScanKind::Exclusive;
    let elements = match Precise::of(op, start) {
        Some(running) => running.scan(input, exclusive),
        None => {
            let (mut elements, mut running) = (Aligned::of(input), Aligned::of(start));
            scan_in_place(op, &mut elements.bytes()[..input.len()], &mut running.bytes()[..start.len()], exclusive);
            oracle::Elements::Made(elements.bytes()[..input.len()].to_vec())
        }
    };
    let values = r.total.then(|| totals(op, start, input, &[0]));
    Some(Expected { values, ..Expected::of(Output { element: op.element().clone(), elements }) })
}
