//! Reverse.

use super::{Form, Label, Operand, Primitive};
use crate::calls::{count, run_once};
use crate::{Backend, Element, ElementType, Layout, Options, Prepared, Result, Slot, Span, Spans, block_on};

/// The elements from the last to the first.
#[derive(Debug, Clone)]
pub struct ReverseRequest {
    /// The element type.
    pub element: ElementType,
    /// How many.
    pub n: u64,
}

/// Reversals.
pub static REVERSE: Form =
    Form::new("reverse", |scalar, _, n| ReverseRequest { element: ElementType::Scalar(scalar), n }.into());

impl ReverseRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.element.bytes().into())
    }
}

impl Primitive for ReverseRequest {
    fn form(&self) -> &'static Form {
        &REVERSE
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        Label::new(&[Some(&self.element)], "-", &[])
    }

    fn operands(&self) -> Vec<Operand> {
        [Slot::Input, Slot::Output].map(|slot| Operand::new(slot, &self.element, self.n)).into()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes().saturating_mul(2)
    }

    fn apart(&self) -> Option<&'static str> {
        Some("a reversal in place: what is overwritten is still to be read; give it two spans")
    }
}

/// Reversal: `output[i] = input[n - 1 - i]`. Reads and writes each element once.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) for an output that is the input.
pub trait Reverse: Backend {
    /// Plans and compiles a reversal of `n` elements.
    fn prepare_reverse<T: Element>(&self, n: u64, layout: Layout) -> Result<Prepared<Self>> {
        let request = ReverseRequest { element: T::TYPE, n }.into();
        block_on(Prepared::new(self, &request, layout, Options::default()))
    }

    /// Writes the elements of the input to the output, from the last to the first.
    fn reverse<T: Element>(&self, input: &Span<'_, Self>, output: &Span<'_, Self>) -> Result<()> {
        let request = ReverseRequest { element: T::TYPE, n: count::<T>(input.bytes())? };
        run_once(self, &request.into(), &Spans::new(input, output))
    }
}
impl<B: Backend> Reverse for B {}
