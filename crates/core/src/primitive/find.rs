//! Selections that write something else than what they ask: where the elements are, or the values beside them.

use std::borrow::Cow;

use super::mapped::counted_output;
use super::select::{Keeps, UpperHalf};
use super::{Asked, Form, Varies};
use crate::results::{Results, length, results};
use crate::types::{bf16, f16};
use crate::{
    Backend, Buffer, Compacted, Device, Element, Placed, Predicate, Rest, Result, Scalar, SelectRequest, Selector,
    Slot, SpansOf, View, block_on, for_computed, for_held,
};

/// The places of the upper half.
pub static FIND_ALL: Form = Form {
    varies: Varies::Kept,
    ..Form::new("find_all", "Places of selected {}", |&Asked { scalar, n, .. }| {
        let selector = UpperHalf::of(scalar)?;
        Some(SelectRequest { selector, n, rest: Rest::Dropped, keeps: Keeps::Indices }.into())
    })
};

/// The words beside the flags of the upper half.
pub static SELECT_FLAGGED: Form = Form {
    varies: Varies::Kept,
    ..Form::new("select_flagged", "Select of u32 by {} flags", |&Asked { scalar, n, .. }| {
        let (selector, keeps) = (UpperHalf::of(scalar)?, Keeps::Values(Scalar::U32.into()));
        Some(SelectRequest { selector, n, rest: Rest::Dropped, keeps }.into())
    })
};

/// Holds for all numbers but 0 and -0: for a NaN too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NonZero;

macro_rules! non_zero {
    ($($T:ident $zero:expr, $wgsl:literal;)*) => {
        $(impl Predicate<$T> for NonZero {
            fn name(&self) -> Cow<'static, str> {
                "non_zero".into()
            }
            fn text(&self) -> Cow<'static, str> {
                concat!("fn keep(v: T) -> bool { return ", $wgsl, "; }").into()
            }
            fn keep(&self, v: $T) -> bool {
                v != $zero
            }
        })*
    };
}

// By floats' bits: a device may take subnormal ones for 0.
non_zero! {
    u8 0, "v != 0u";
    u16 0, "v != 0u";
    u32 0, "v != 0u";
    u64 0, "v != 0lu";
    i8 0, "v != 0i";
    i16 0, "v != 0i";
    i32 0, "v != 0i";
    i64 0, "v != 0li";
    f16 f16::ZERO, "(bitcast<u32>(v) << 1u) != 0u";
    bf16 bf16::ZERO, "(bitcast<u32>(v) << 1u) != 0u";
    f32 0.0, "(bitcast<u32>(v) << 1u) != 0u";
    f64 0.0, "(bitcast<u64>(v) << 1u) != 0lu";
}

impl NonZero {
    /// As data, of elements of this type; `None` for those of 128 bits.
    pub fn of(scalar: Scalar) -> Option<Selector> {
        let held = for_held!(scalar, T => Selector::of::<T, _>(NonZero));
        held.or_else(|| for_computed!(scalar, T => Selector::of::<T, _>(NonZero)))
    }
}

/// A [`find_all`](crate::Select::find_all) or a [`select_flagged`](crate::Select::select_flagged) whose results have no place yet.
/// It asks elements of type `A`, and writes some of type `T`.
///
/// ```
/// # use trifold_core::{block_on, Select, Transfer, UpperHalf};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[0.9f32, 0.1, 0.5, 0.8])?;
/// assert_eq!(gpu.find_all(&x, UpperHalf).read()?, [0, 2, 3]);
/// assert_eq!(block_on(gpu.find_all(&x, UpperHalf).read_async())?, [0, 2, 3]);
///
/// // To new memory on the device, with their number.
/// let places = gpu.find_all(&x, UpperHalf).compact()?;
/// assert_eq!(places.count().read()?, [3]);
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.find_all(&x, UpperHalf).len_on_device(&n).read()?, [0]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), compact() or read()"]
pub struct FindCall<A, T, B: Backend = Device> {
    device: B,
    asked: View<A, B>,
    /// Of those that are kept these are written, or else their indices.
    values: Option<View<T, B>>,
    selector: Selector,
    count: Option<Buffer<u32, B>>,
}

impl<A: Element, T: Element, B: Backend> FindCall<A, T, B> {
    pub(crate) fn of(device: B, asked: View<A, B>, values: Option<View<T, B>>, selector: Selector) -> Self {
        FindCall { device, asked, values, selector, count: None }
    }

    /// Writes how many there are to this one `u32`.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, places, n) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.find_all(&x, UpperHalf).count_to(&n).to(&places).run()?;
    /// assert_eq!(n.read()?, [2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count_to(self, count: &Buffer<u32, B>) -> Self {
        FindCall { count: Some(count.clone()), ..self }
    }

    /// To a buffer of as many elements as are asked. What lies past those that are kept stays as it is.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, places) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.upload(&[7u32; 3])?);
    /// gpu.find_all(&x, UpperHalf).to(&places).run()?;
    /// assert_eq!(places.read()?, [0, 2, 7]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let keeps = if self.values.is_some() { Keeps::Values(T::TYPE) } else { Keeps::Indices };
        let request = SelectRequest { selector: self.selector, n: self.asked.n(), rest: Rest::Dropped, keeps };
        let spans = SpansOf {
            input_values: self.values.as_ref().and_then(View::memory).cloned(),
            count: self.count.map(|count| count.span().clone()),
            ..self.asked.spans_to(output.span())
        };
        let placed = Placed::new(self.device, request, spans).reads(Slot::Input, &self.asked);
        match &self.values {
            Some(values) => placed.reads(Slot::InputValues, values),
            None => placed,
        }
    }
}

length!(FindCall<A: Element, T: Element>, asked);
counted_output!(FindCall<A: Element, T: Element>, T, asked);
