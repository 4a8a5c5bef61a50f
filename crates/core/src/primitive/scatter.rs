//! Scatter.

use super::{Asked, Form, Label, Operand, Primitive};
use crate::results::length;
use crate::{
    Backend, Buffer, Device, Element, ElementType, Error, MAX_ELEMENTS, Placed, Result, Scalar, Slot, Spans, View,
};

/// Values that go to the places which indices say.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScatterRequest {
    /// The values' type.
    pub element: ElementType,
    /// How many there are, and indices.
    pub n: u64,
    /// How many places there are.
    pub room: u64,
}

/// Scatters.
pub static SCATTER: Form = Form::new("scatter", "scatter of {}", |&Asked { scalar, n, .. }| {
    Some(ScatterRequest { element: ElementType::Scalar(scalar), n, room: n }.into())
});

impl ScatterRequest {
    /// Of so many values each, its index, and its place.
    pub(crate) fn bytes(&self) -> u64 {
        self.n.saturating_mul(2 * u64::from(self.element.bytes()) + 4)
    }
}

impl Primitive for ScatterRequest {
    fn form(&self) -> &'static Form {
        &SCATTER
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let mut label = Label::new(&[Some(&self.element)], "-", &[]);
        label.more.push(format!("room={}", self.room).into());
        label
    }

    fn operands(&self) -> Vec<Operand> {
        vec![
            Operand::moved(Slot::Input, &self.element, self.n),
            Operand::moved(Slot::Output, &self.element, self.room),
            Operand::new(Slot::InputValues, &ElementType::Scalar(Scalar::U32), self.n),
        ]
    }

    fn bytes_moved_by(&self, _: u64) -> u64 {
        self.bytes()
    }

    fn check(&self) -> Result<()> {
        let room = self.room;
        if room > MAX_ELEMENTS {
            return Err(Error::Invalid(format!(
                "a scatter to {room} places; the most is {MAX_ELEMENTS}: give it a slice of them"
            )));
        }
        Ok(())
    }

    fn apart(&self) -> Option<&'static str> {
        Some("a scatter onto its values, which are still read by then; give it two spans")
    }
}

/// A scatter whose result has no place yet.
///
/// ```
/// # use trifold_core::Transfer;
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (values, places) = (gpu.upload(&[10u32, 20, 30])?, gpu.upload(&[2u32, 0, 9])?);
/// let out = gpu.upload(&[7u32; 4])?;
/// gpu.scatter(&values, &places).to(&out).run()?;
/// // 9 is no place of four.
/// assert_eq!(out.read()?, [20, 7, 10, 7]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out)"]
pub struct ScatterCall<T, B: Backend = Device> {
    device: B,
    values: View<T, B>,
    indices: View<u32, B>,
}

impl<T: Element, B: Backend> ScatterCall<T, B> {
    pub(crate) fn new(device: &B, values: View<T, B>, indices: View<u32, B>) -> Self {
        ScatterCall { device: device.clone(), values: values.beside(&indices, ["values", "indices"]), indices }
    }

    /// To the elements of a buffer. Those that no index names stay as they are.
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let ScatterCall { device, values, indices } = self;
        let request = ScatterRequest { element: T::TYPE, n: values.n(), room: output.len() as u64 };
        let spans = Spans { input_values: indices.memory().cloned(), ..values.spans_to(output.span()) };
        let placed = Placed::new(device, request, spans);
        placed.reads(Slot::Input, &values).reads(Slot::InputValues, &indices)
    }
}

length!(ScatterCall<T: Element>, values);
