//! Reverse.

use rayon::ThreadPool;
use trifold_core::{Error, KernelKey, Request, Result};

use crate::memory::{Access, Region};
use crate::oracle::{Expected, Output};
use crate::step::{Arguments, Work};

struct ReverseStep {
    n: usize,
    size: usize,
    input: Region,
    output: Region,
}

pub(crate) fn bind(key: &KernelKey, arguments: &Arguments<'_, '_>, _: Option<&[u8]>) -> Result<Box<dyn Work>> {
    let element = key.element.as_ref();
    let element = element.ok_or_else(|| Error::Invalid(format!("{} without an element", key.name())))?;
    let (n, size, align) = (arguments.count()?, element.bytes() as usize, element.align() as usize);
    let (input, output) = (arguments.array("input", n, size, align)?, arguments.array("output", n, size, align)?);
    input.check_apart(&output)?;
    Ok(Box::new(ReverseStep { n, size, input, output }))
}

impl Work for ReverseStep {
    fn run(&self, _: &ThreadPool) -> Result<()> {
        let _access = Access::to(&[&self.input], &[&self.output])?;
        for i in 0..self.n {
            // SAFETY: both hold `n` elements of `size` bytes, `bind` found them apart, and `_access` covers both.
            unsafe {
                let from = self.input.start().add(i * self.size);
                self.output.start().add((self.n - 1 - i) * self.size).copy_from_nonoverlapping(from, self.size);
            }
        }
        Ok(())
    }
}

/// What a reversal must give.
pub(crate) fn expect(request: &Request, input: &[u8], _: Option<&[u8]>) -> Option<Expected> {
    let Request::Reverse(r) = request else { return None };
    let elements = input.rchunks_exact(r.element.bytes() as usize);
    Some(Expected::of(Output::exact(&r.element, elements.flatten().copied().collect())))
}
