//! Reduce.

use super::{Form, Label, Operand, Primitive};
use crate::calls::{count, run_once};
use crate::{
    Backend, Element, Layout, Monoid, Op, Options, Prepared, Region, Request, Result, Slot, Span, Spans, Step,
    block_on, bytemuck,
};

/// A reduction to one element.
#[derive(Debug, Clone)]
pub struct ReduceRequest {
    /// The operator.
    pub op: Op,
    /// How many elements.
    pub n: u64,
    /// The element to start from, as bytes; the operator's identity if `None`.
    pub initial: Option<Vec<u8>>,
}

impl Request {
    /// A reduction of `n` elements of `T` by `M`, from `initial` on (the operator's identity if `None`).
    pub fn reduce<T: Element, M: Monoid<T>>(initial: Option<T>, n: u64) -> Request {
        let initial = initial.map(|x| bytemuck::bytes_of(&x).to_vec());
        ReduceRequest { op: Op::of::<T, M>(), n, initial }.into()
    }
}

/// Reductions.
pub static REDUCE: Form =
    Form { has_operator: true, ..Form::new("reduce", |_, op, n| ReduceRequest { op, n, initial: None }.into()) };

impl ReduceRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.op.element().bytes().into())
    }

    /// The element that it starts from.
    pub(crate) fn start(&self) -> Vec<u8> {
        self.initial.clone().unwrap_or_else(|| self.op.identity().to_vec())
    }
}

impl Primitive for ReduceRequest {
    fn form(&self) -> &'static Form {
        &REDUCE
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        Label::new(&[Some(self.op.element())], &*self.op.name, &[self.initial.is_some().then_some("initial")])
    }

    fn operands(&self) -> Vec<Operand> {
        let element = self.op.element();
        vec![Operand::new(Slot::Input, element, self.n), Operand::one(Slot::Output, element)]
    }

    fn op(&self) -> Option<&Op> {
        Some(&self.op)
    }

    fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes()
    }

    fn of_nothing(&self) -> Vec<Step> {
        let start = self.start();
        let words = start.chunks_exact(4).enumerate().map(|(i, word)| Step::Fill {
            region: Region { slot: Slot::Output, offset: 4 * i as u64, bytes: 4 },
            value: u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
            once: false,
        });
        words.collect()
    }
}

/// Reduction of all elements to one.
///
/// Reads each element once, in one launch. The same input on the same device gives the same bits every time. Scratch is 8 bytes a
/// workgroup and word of an element, some hundreds to 4096 of them, and a counter; [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan).
pub trait Reduce: Backend {
    /// Plans and compiles a reduction of `n` elements, from `initial` on (the operator's identity if `None`).
    fn prepare_reduce<T: Element, M: Monoid<T>>(
        &self,
        initial: Option<T>,
        n: u64,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        let request = Request::reduce::<T, M>(initial, n);
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// `output[0] = input[0] + ... + input[n - 1]`, the identity if there are none.
    fn reduce<T: Element, M: Monoid<T>>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        run_once(self, &Request::reduce::<T, M>(None, count::<T>(input.bytes())?), &Spans::new(input, output))
    }
}
