//! The types that scan, reduce and sort work on, as Rust types and as data.

use std::borrow::Cow;

use crate::{Error, Number, Order, Result, Scalar};

/// A field of an element struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Field {
    /// The field's name, an identifier in Rust, WGSL and C.
    pub name: &'static str,
    /// Its type.
    pub scalar: Scalar,
    /// Its offset in the Rust struct, in bytes.
    pub offset: u32,
    /// In which order it is compared where the struct is a key; `None` if it only moves with the key.
    pub key: Option<Order>,
}

/// An element type as data: a scalar, or a `#[repr(C)]` struct of scalars.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A scalar.
    Scalar(Scalar),
    /// A struct of scalars.
    Struct {
        /// The struct's name, an identifier.
        name: &'static str,
        /// Its fields, in order.
        fields: Cow<'static, [Field]>,
        /// Its size in Rust, in bytes.
        bytes: u32,
    },
}

impl From<Scalar> for ElementType {
    fn from(scalar: Scalar) -> ElementType {
        ElementType::Scalar(scalar)
    }
}

impl ElementType {
    /// The type's name.
    pub fn name(&self) -> &'static str {
        match self {
            ElementType::Scalar(s) => s.name(),
            ElementType::Struct { name, .. } => name,
        }
    }

    /// Its size, in bytes.
    pub fn bytes(&self) -> u32 {
        match self {
            ElementType::Scalar(s) => s.bytes(),
            ElementType::Struct { bytes, .. } => *bytes,
        }
    }

    /// What kernels need its address to be a multiple of, in bytes: a scalar of it, or what they move it by.
    pub fn align(&self) -> u32 {
        self.scalars().map(Scalar::bytes).max().unwrap_or(4).max(self.unit())
    }

    /// How many 32-bit words hold one, where kernels move elements by words: a part of a word takes a whole one.
    pub fn words(&self) -> u32 {
        self.bytes().div_ceil(4)
    }

    /// Bytes of the parts by which kernels move elements: a word, or less of elements that are not whole words.
    pub fn unit(&self) -> u32 {
        1 << self.bytes().trailing_zeros().min(2)
    }

    /// The type that kernels hold one in: of a scalar that is not a whole word, the one of 32 bits of its kind.
    pub fn held(&self) -> ElementType {
        match self {
            ElementType::Scalar(scalar) => scalar.held().into(),
            ElementType::Struct { .. } => self.clone(),
        }
    }

    /// The scalars it is made of.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + '_ {
        let (one, many) = match self {
            ElementType::Scalar(s) => (Some(*s), &[][..]),
            ElementType::Struct { fields, .. } => (None, &fields[..]),
        };
        one.into_iter().chain(many.iter().map(|f| f.scalar))
    }

    /// Fails if it is a struct whose fields are not all of its bytes: kernels move elements by their words. Those that
    /// [`element!`](crate::element!) declares are.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what the fields have.
    pub fn check(&self) -> Result<()> {
        let bytes: u64 = self.scalars().map(|scalar| u64::from(scalar.bytes())).sum();
        if bytes == u64::from(self.bytes()) && bytes > 0 {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "the element {} of {} bytes has fields of {bytes}; it must have fields, and no byte besides them",
            self.name(),
            self.bytes()
        )))
    }

    /// Whether this is a scalar of four bytes, which every device moves in one instruction.
    pub fn is_word(&self) -> bool {
        matches!(self, ElementType::Scalar(s) if s.bytes() == 4)
    }
}

/// A type that buffers hold and sorts move.
///
/// Every [`Scalar`] is an element. A struct of scalars becomes one with [`element!`](crate::element!). Scans and reductions
/// compute with elements of 32 and 64 bits, and with structs of them.
///
/// ```
/// # use trifold_core::{Element, Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// trifold_core::element! { struct Point { x: f32, y: f32 } }
///
/// let (keys, points) = (gpu.upload(&[2u32, 1])?, gpu.upload(&[Point { x: 0.0, y: 1.0 }, Point { x: 2.0, y: 3.0 }])?);
/// let (_, sorted) = gpu.sort(&keys).with(&points).read()?;
/// assert_eq!(sorted[0], Point { x: 2.0, y: 3.0 });
/// # Ok::<(), trifold_core::Error>(())
/// ```
///
/// # Safety
/// `TYPE` must describe `Self` exactly: its size, and every field's type and offset, with no padding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of a buffer",
    note = "scalars are, and structs that `element!` declares"
)]
pub unsafe trait Element: bytemuck::Pod + Send + Sync + PartialEq + std::fmt::Debug {
    /// The type as data.
    const TYPE: ElementType;
}

/// A type that sort orders: a scalar, or a struct whose fields with `#[key]` say the order.
///
/// Integers are ordered by value, floats by IEEE 754 `totalOrder`.
///
/// That order, which `f32::total_cmp` has too, is -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
///
/// ```
/// # use trifold_core::{Key, Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let keys = gpu.upload(&[f64::INFINITY, -0.0, 0.0, -3.5])?;
/// let sorted = gpu.sort(&keys).read()?;
/// assert_eq!(sorted, [-3.5, -0.0, 0.0, f64::INFINITY]);
/// assert!(sorted[1].is_sign_negative());
/// # Ok::<(), trifold_core::Error>(())
/// ```
///
/// [`element!`](crate::element!) makes a struct a key. One without a field that orders it is none:
///
/// ```compile_fail,E0277
/// # use trifold_core::{Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new().unwrap();
/// trifold_core::element! { struct Point { x: f32, y: f32 } }
/// let points = gpu.upload(&[Point { x: 1.0, y: 2.0 }]).unwrap();
/// let sorted = gpu.sort(&points).read();
/// ```
///
/// And a field that is no scalar has no order:
///
/// ```compile_fail,E0277
/// trifold_core::element! { struct Line { #[key] ends: [f32; 2], id: u32 } }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key",
    note = "scalars are, and structs that `element!` declares with `#[key]` on the fields that order them"
)]
pub trait Key: Element {}

/// The scalar that a Rust type is; what [`element!`](crate::element!) asks of a field's type.
pub const fn scalar_of<T: Number>() -> Scalar {
    T::SCALAR
}

/// Declares a `#[repr(C)]` struct of scalars as an element.
///
/// ```
/// trifold_core::element! {
///     /// A closed interval.
///     pub struct Interval {
///         pub low: f32,
///         pub high: f32,
///     }
/// }
/// # use trifold_core::{Element, Transfer};
/// assert_eq!(Interval::TYPE.bytes(), 8);
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let intervals = gpu.upload(&[Interval { low: 0.0, high: 1.0 }])?;
/// assert_eq!(intervals.read()?[0].high, 1.0);
/// # Ok::<(), trifold_core::Error>(())
/// ```
///
/// A struct whose fields leave padding does not compile: its bytes would not all be defined.
///
/// Fields with `#[key]` or `#[key(descending)]` make the struct a [`Key`]: the first of them decides, then the next, and
/// so on. The other fields move with the key. Equal keys keep their order.
///
/// ```
/// trifold_core::element! {
///     struct Event {
///         #[key]
///         day: u32,
///         #[key(descending)]
///         priority: f32,
///         id: u32,
///     }
/// }
/// # use trifold_core::{Sort, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let event = |day, priority, id| Event { day, priority, id };
/// let events = gpu.upload(&[event(2, 0.5, 1), event(1, 0.5, 2), event(1, 0.9, 3)])?;
/// let sorted = gpu.sort(&events).read()?;
/// assert_eq!(sorted.iter().map(|event| event.id).collect::<Vec<_>>(), [3, 2, 1]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[macro_export]
macro_rules! element {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* }) => {
        $crate::element! { @attributes [$(#[$meta])* $vis struct $name] [] [] [] [] $($fields)* }
    };
    // A field's attributes, one after the other. In brackets: the struct's head, the fields so far, whether a field so far is a key, and
    // of the next field the attributes and its order as a key.
    (@attributes $head:tt $done:tt $keys:tt $attributes:tt [] #[key] $($rest:tt)*) => {
        $crate::element! { @attributes $head $done [key] $attributes [Ascending] $($rest)* }
    };
    (@attributes $head:tt $done:tt $keys:tt $attributes:tt [] #[key(descending)] $($rest:tt)*) => {
        $crate::element! { @attributes $head $done [key] $attributes [Descending] $($rest)* }
    };
    (@attributes $head:tt $done:tt $keys:tt [$($attribute:tt)*] $order:tt #[$next:meta] $($rest:tt)*) => {
        $crate::element! { @attributes $head $done $keys [$($attribute)* #[$next]] $order $($rest)* }
    };
    (@attributes $head:tt [$($done:tt)*] $keys:tt $attributes:tt $order:tt $vis:vis $field:ident : $ty:ty $(, $($rest:tt)*)?) => {
        $crate::element! { @attributes $head [$($done)* { $attributes $order $vis $field $ty }] $keys [] [] $($($rest)*)? }
    };
    (@attributes $head:tt $done:tt [$($key:ident)?] [] []) => {
        $crate::element! { @struct $head $done }
        $($crate::element! { @$key $head })?
    };
    (@key [$(#[$meta:meta])* $vis:vis struct $name:ident]) => {
        impl $crate::Key for $name {}
    };
    (@order) => { ::core::option::Option::None };
    (@order $Order:ident) => { ::core::option::Option::Some($crate::Order::$Order) };
    (@struct
        [$(#[$meta:meta])* $vis:vis struct $name:ident]
        [$({ [$(#[$fmeta:meta])*] [$($Order:ident)?] $fvis:vis $field:ident $ty:ty })*]
    ) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq)]
        $vis struct $name { $($(#[$fmeta])* $fvis $field: $ty),* }

        // SAFETY: repr(C), every field is a Number and so Pod, and the assertion below leaves no padding.
        unsafe impl $crate::bytemuck::Zeroable for $name {}
        // SAFETY: as above.
        unsafe impl $crate::bytemuck::Pod for $name {}
        // SAFETY: the fields, their offsets and the size are taken from the struct itself.
        unsafe impl $crate::Element for $name {
            const TYPE: $crate::ElementType = {
                assert!(
                    0 $(+ ::core::mem::size_of::<$ty>())* == ::core::mem::size_of::<$name>(),
                    "an element struct must have no padding: order its fields from large to small, or add a field"
                );
                assert!(::core::mem::size_of::<$name>() > 0, "an element struct must have a field");
                $crate::ElementType::Struct {
                    name: ::core::stringify!($name),
                    fields: ::std::borrow::Cow::Borrowed(&[$($crate::Field {
                        name: ::core::stringify!($field),
                        scalar: $crate::scalar_of::<$ty>(),
                        offset: ::core::mem::offset_of!($name, $field) as u32,
                        key: $crate::element!(@order $($Order)?),
                    }),*]),
                    bytes: ::core::mem::size_of::<$name>() as u32,
                }
            };
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_word_takes_a_whole_one() {
        let words = |bytes| ElementType::Struct { name: "Packed", fields: Cow::Borrowed(&[]), bytes }.words();
        assert_eq!([1, 2, 4, 6, 8, 12].map(words), [1, 1, 1, 2, 2, 3]);
    }
}
