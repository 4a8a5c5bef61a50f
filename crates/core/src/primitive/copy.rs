//! Copy.

use super::{Asked, Form, Label, Operand, Primitive};
use crate::results::{Whole, length, unknown_length, whole_results};
use crate::{
    Backend, Buffer, Compacted, Device, Element, ElementType, Placed, Result, Slot, Transfer, View, adjacent, block_on,
    summary,
};

/// A copy: the ceiling that the others are measured against.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CopyRequest {
    /// The element type.
    pub element: ElementType,
    /// How many.
    pub n: u64,
}

/// Copies.
pub static COPY: Form = Form::new("copy", "Copy of {}", |&Asked { scalar, n, .. }| {
    Some(CopyRequest { element: ElementType::Scalar(scalar), n }.into())
});

/// Copies of what a map gives: of each number its square.
pub static TRANSFORM: Form = Form::new("transform", "transform of {}", |&Asked { scalar, n, .. }| {
    let view = summary::squares(scalar)?;
    let request = CopyRequest { element: view.node.element(), n };
    Some(view.into_request(request))
});

/// Copies of what neighbours differ by.
pub static ADJACENT_DIFFERENCE: Form =
    Form::new("adjacent_difference", "adjacent_difference of {}", |&Asked { scalar, n, .. }| {
        let view = adjacent::differences(scalar, n)?;
        Some(view.into_request(CopyRequest { element: scalar.into(), n }))
    });

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

/// A copy whose result has no place yet.
///
/// ```
/// # use trifold_core::{block_on, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[3u32, 1, 4])?;
/// assert_eq!(gpu.copy(&x).collect()?.read()?, [3, 1, 4]);
/// assert_eq!(gpu.copy(x.slice(1..)?).read()?, [1, 4]);
/// assert_eq!(block_on(gpu.copy(&x).read_async())?, [3, 1, 4]);
///
/// // As many elements as a word on the device says. Their number goes along.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.copy(&x).len_on_device(&n).compact()?.read()?, [3, 1]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), collect() or read()"]
pub struct CopyCall<T, B: Backend = Device> {
    device: B,
    input: View<T, B>,
}

impl<T: Element, B: Backend> CopyCall<T, B> {
    pub(crate) fn new(device: &B, input: View<T, B>) -> Self {
        CopyCall { device: device.clone(), input }
    }

    /// To a buffer of as many elements.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[0u32; 4])?);
    /// gpu.copy(&x).to(&y.slice(1..)?).run()?;
    /// assert_eq!(y.read()?, [0, 3, 1, 4]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let request = CopyRequest { element: T::TYPE, n: self.input.n() };
        let spans = self.input.spans_to(output.span());
        Placed::new(self.device, request, spans).reads(Slot::Input, &self.input)
    }
}

whole_results! {
    CopyCall<T: Element>, input -> Buffer<T, B>, Compacted<T, B>, Vec<T>; |call| {
        let output = call.device.alloc(call.input.len())?;
        call.to(&output).run_async().await?;
        output
    }
}
