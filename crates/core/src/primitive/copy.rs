//! Copy.

use super::{Form, Label, Operand, Primitive};
use crate::{ElementType, Slot};

/// A copy: the ceiling that the others are measured against.
#[derive(Debug, Clone)]
pub struct CopyRequest {
    /// The element type.
    pub element: ElementType,
    /// How many.
    pub n: u64,
}

/// Copies.
pub static COPY: Form =
    Form::new("copy", |scalar, _, n| CopyRequest { element: ElementType::Scalar(scalar), n }.into());

impl CopyRequest {
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(self.element.bytes().into())
    }
}

impl Primitive for CopyRequest {
    fn form(&self) -> &'static Form {
        &COPY
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        Label::new(&[Some(&self.element)], "-", &[])
    }

    fn operands(&self) -> Vec<Operand> {
        [Slot::Input, Slot::Output].map(|slot| Operand::moved(slot, &self.element, self.n)).into()
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes().saturating_mul(2)
    }

    fn apart(&self) -> Option<&'static str> {
        Some("a copy onto itself; give it two spans")
    }
}
