//! The scalars that elements are made of: a row each, and all that follows from the rows.

use std::cmp::Ordering;
use std::fmt::{Display, LowerExp};
use std::str::FromStr;

use half::{bf16, f16};

use crate::{Caps, Element, ElementType, Key, Language};

/// The Rust types of the scalars, for macros.
pub mod types {
    pub use core::primitive::{f32, f64, i8, i16, i32, i64, i128, u8, u16, u32, u64, u128};
    pub use half::{bf16, f16};
}

/// The scalars. `scalars!(m, first)` is `m! { first (row) (row) … }`.
#[doc(hidden)]
#[macro_export]
macro_rules! scalars {
    ($($callback:tt)::+ $(, $($first:tt)*)?) => {
        $($callback)::+! {
            $($($first)*)?
            // Name, type in Rust, kind, whether kernels compute with it (Held: as the 32-bit type that holds it), its vectors in OpenCL C and in CUDA C, .npy, what of
            // `Caps` a device needs. (The words of a 64-bit float are reached through a 64-bit integer.)
            ("32-bit unsigned integer." U32 u32 Unsigned Computed "uint" "uint" "<u4" [])
            ("32-bit signed integer." I32 i32 Signed Computed "int" "int" "<i4" [])
            ("32-bit IEEE float." F32 f32 Float Computed "float" "float" "<f4" [])
            ("64-bit unsigned integer." U64 u64 Unsigned Computed "ulong" "ulonglong" "<u8" [int64])
            ("64-bit signed integer." I64 i64 Signed Computed "long" "longlong" "<i8" [int64])
            ("64-bit IEEE float." F64 f64 Float Computed "double" "double" "<f8" [float64 int64])
            ("8-bit unsigned integer." U8 u8 Unsigned Held "" "" "|u1" [])
            ("8-bit signed integer." I8 i8 Signed Held "" "" "|i1" [])
            ("16-bit unsigned integer." U16 u16 Unsigned Held "" "" "<u2" [])
            ("16-bit signed integer." I16 i16 Signed Held "" "" "<i2" [])
            ("16-bit IEEE float." F16 f16 Float Held "" "" "<f2" [])
            ("32-bit IEEE float without its lower 16 bits." BF16 bf16 Float Held "" "" "" [])
            ("128-bit unsigned integer." U128 u128 Unsigned Moved "" "" "" [])
            ("128-bit signed integer." I128 i128 Signed Moved "" "" "" [])
        }
    };
}

/// Runs an expression in which a name stands for the Rust type of a scalar, a [`Number`](crate::Number): one expression for
/// all, or one for integers and one for floats.
///
/// ```
/// use trifold_core::{Scalar, for_scalar};
/// let greatest = |scalar: Scalar| for_scalar!(scalar, T => T::MAX.to_string());
/// assert_eq!(greatest(Scalar::I32), "2147483647");
/// let digits = |scalar: Scalar| for_scalar!(scalar, integer T => T::BITS, float T => T::MANTISSA_DIGITS);
/// assert_eq!((digits(Scalar::U64), digits(Scalar::F32)), (64, 24));
/// ```
#[macro_export]
macro_rules! for_scalar {
    (@match $scalar:expr, $integer:tt $float:tt $(($doc:literal $Name:ident $ty:ident $Kind:ident $($_:tt)*))*) => {
        match $scalar {
            $($crate::Scalar::$Name => $crate::for_scalar!(@$Kind $ty $integer $float),)*
        }
    };
    (@Float $ty:ident $_:tt ($T:ident $body:expr)) => {{
        type $T = $crate::types::$ty;
        $body
    }};
    (@$Integer:ident $ty:ident ($T:ident $body:expr) $_:tt) => {{
        type $T = $crate::types::$ty;
        $body
    }};
    ($scalar:expr, $T:ident => $body:expr) => {
        $crate::for_scalar!($scalar, integer $T => $body, float $T => $body)
    };
    ($scalar:expr, integer $I:ident => $integer:expr, float $F:ident => $float:expr) => {
        $crate::scalars!($crate::for_scalar, @match $scalar, ($I $integer) ($F $float))
    };
}

/// As [`for_scalar!`](crate::for_scalar!), of the scalars that kernels compute with; `None` for the others.
///
/// ```
/// use trifold_core::{Scalar, for_computed};
/// let name = |scalar: Scalar| for_computed!(scalar, T => std::any::type_name::<T>());
/// assert_eq!((name(Scalar::F32), name(Scalar::F16)), (Some("f32"), None));
/// ```
#[macro_export]
macro_rules! for_computed {
    (@match $scalar:expr, $integer:tt $float:tt $(($doc:literal $Name:ident $ty:ident $Kind:ident $Use:ident $($_:tt)*))*) => {
        match $scalar {
            $($crate::Scalar::$Name => $crate::for_computed!(@$Use $Kind $ty $integer $float),)*
        }
    };
    (@Computed $Kind:ident $ty:ident $integer:tt $float:tt) => {
        Some($crate::for_scalar!(@$Kind $ty $integer $float))
    };
    (@$Other:ident $Kind:ident $ty:ident $integer:tt $float:tt) => {
        None
    };
    ($scalar:expr, $T:ident => $body:expr) => {
        $crate::for_computed!($scalar, integer $T => $body, float $T => $body)
    };
    ($scalar:expr, integer $I:ident => $integer:expr, float $F:ident => $float:expr) => {
        $crate::scalars!($crate::for_computed, @match $scalar, ($I $integer) ($F $float))
    };
}

/// As [`for_scalar!`](crate::for_scalar!), of the scalars of less than 32 bits, which kernels compute with as
/// [the ones that hold them](crate::Scalar::held); `None` for the others.
///
/// ```
/// use trifold_core::{Scalar, for_held};
/// let name = |scalar: Scalar| for_held!(scalar, T => std::any::type_name::<T>());
/// assert_eq!((name(Scalar::U8), name(Scalar::U32)), (Some("u8"), None));
/// ```
#[macro_export]
macro_rules! for_held {
    (@match $scalar:expr, $T:ident $body:tt $(($doc:literal $Name:ident $ty:ident $Kind:ident $Use:ident $($_:tt)*))*) => {
        match $scalar {
            $($crate::Scalar::$Name => $crate::for_held!(@$Use $ty $T $body),)*
        }
    };
    (@Held $ty:ident $T:ident ($body:expr)) => {{
        type $T = $crate::types::$ty;
        Some($body)
    }};
    (@$Other:ident $ty:ident $T:ident $body:tt) => {
        None
    };
    ($scalar:expr, $T:ident => $body:expr) => {
        $crate::scalars!($crate::for_held, @match $scalar, $T ($body))
    };
}

/// What the values of a scalar are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// Integers from 0 up.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// IEEE floats.
    Float,
}

/// A Rust type that is a scalar: what code has of it that is the same for all. [`for_scalar!`](crate::for_scalar!) names the
/// type of a [`Scalar`].
pub trait Number: Key + PartialOrd + Display + LowerExp + FromStr {
    /// The scalar as data.
    const SCALAR: Scalar;

    /// How many binary digits it is exact to: the bits of an integer, those of a float's significand with the implied one.
    const PRECISION: u32;

    /// The bits, in the lowest ones.
    fn bits(self) -> u128;

    /// The number of these bits. Those that it has no room for are left out.
    fn of_bits(bits: u128) -> Self;

    /// As a float, rounded.
    fn to_f64(self) -> f64;

    /// Of a float, rounded: integers towards zero.
    fn of_f64(value: f64) -> Self;

    /// The order that sort gives it.
    fn order(&self, other: &Self) -> Ordering;

    /// An unsigned integer of its width that is ordered as sort orders the numbers.
    fn rank(self) -> u128 {
        let (bits, sign) = (self.bits(), sign::<Self>());
        match Self::SCALAR.kind() {
            ScalarKind::Unsigned => bits,
            ScalarKind::Signed => bits ^ sign,
            ScalarKind::Float if bits & sign == 0 => bits | sign,
            ScalarKind::Float => !bits & (sign | (sign - 1)),
        }
    }

    /// The number of a rank.
    fn of_rank(rank: u128) -> Self {
        let sign = sign::<Self>();
        Self::of_bits(match Self::SCALAR.kind() {
            ScalarKind::Unsigned => rank,
            ScalarKind::Signed => rank ^ sign,
            ScalarKind::Float if rank & sign == 0 => !rank,
            ScalarKind::Float => rank ^ sign,
        })
    }
}

/// The highest bit.
const fn sign<T>() -> u128 {
    1 << (8 * size_of::<T>() - 1)
}

/// What kernels do with a scalar.
enum Use {
    Computed,
    Held,
    Moved,
}

/// A float that is rounded from a longer one.
trait Rounded {
    fn rounded(value: f64) -> Self;
}

macro_rules! rounded {
    ($($ty:ident $value:ident => $rounded:expr;)*) => {
        $(impl Rounded for $ty {
            #[inline]
            fn rounded($value: f64) -> $ty {
                $rounded
            }
        })*
    };
}
rounded! {
    f64 value => value;
    f32 value => value as f32;
    f16 value => f16::from_f64(value);
    bf16 value => bf16::from_f64(value);
}

macro_rules! define {
    ($((
        $doc:literal $Name:ident $ty:ident $Kind:ident $Use:ident $opencl:literal $cuda:literal $npy:literal [$($need:ident)*]
    ))*) => {
        /// A scalar type. Kernels compute with those of 4 and 8 bytes, and move and compare the others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scalar {
            $(#[doc = $doc] $Name,)*
        }

        impl Scalar {
            /// Every scalar, in a fixed order.
            pub const ALL: [Scalar; [$(Scalar::$Name),*].len()] = [$(Scalar::$Name),*];

            /// Size and alignment, in bytes.
            pub const fn bytes(self) -> u32 {
                match self { $(Scalar::$Name => size_of::<$ty>() as u32,)* }
            }

            /// Those that operators and predicates can be of.
            pub fn computed() -> impl Iterator<Item = Scalar> + Clone {
                Scalar::ALL.into_iter().filter(|scalar| scalar.is_computed())
            }

            /// Whether kernels compute with it. The others they move, and compare as keys.
            pub const fn is_computed(self) -> bool {
                match self { $(Scalar::$Name => matches!(Use::$Use, Use::Computed),)* }
            }

            /// The name in Rust. Of those that kernels compute with also the name in WGSL, and in the texts of the other languages,
            /// which define it.
            pub const fn name(self) -> &'static str {
                match self { $(Scalar::$Name => stringify!($ty),)* }
            }

            /// What its values are.
            pub const fn kind(self) -> ScalarKind {
                match self { $(Scalar::$Name => ScalarKind::$Kind,)* }
            }

            /// What a language's vectors of it begin with: `ulong2` in OpenCL C is `ulonglong2` in CUDA C.
            pub const fn vector_name(self, language: Language) -> &'static str {
                match (self, language) {
                    $((Scalar::$Name, Language::OpenClC) => $opencl, (Scalar::$Name, Language::CudaC) => $cuda,)*
                    _ => self.name(),
                }
            }

            /// What NumPy calls it in a `.npy` file, if it does.
            pub const fn npy(self) -> Option<&'static str> {
                match self { $(Scalar::$Name => if $npy.is_empty() { None } else { Some($npy) },)* }
            }

            /// Whether a device has it.
            pub(crate) fn is_of(self, caps: &Caps) -> bool {
                match self { $(Scalar::$Name => true $(&& caps.$need)*,)* }
            }
        }

        $(
            // SAFETY: the scalar names this very primitive, whose size and alignment `Scalar::bytes` gives.
            unsafe impl Element for $ty {
                const TYPE: ElementType = ElementType::Scalar(Scalar::$Name);
            }
            impl Key for $ty {}
            impl Number for $ty {
                const SCALAR: Scalar = Scalar::$Name;
                define!(@$Kind $ty);
            }
        )*
    };
    (@Float $ty:ident) => {
        const PRECISION: u32 = $ty::MANTISSA_DIGITS;

        #[inline]
        fn bits(self) -> u128 {
            self.to_bits().into()
        }

        #[inline]
        fn of_bits(bits: u128) -> $ty {
            $ty::from_bits(bits as _)
        }

        #[inline]
        fn order(&self, other: &$ty) -> Ordering {
            self.total_cmp(other)
        }

        #[inline]
        fn to_f64(self) -> f64 {
            self.into()
        }

        #[inline]
        fn of_f64(value: f64) -> $ty {
            Rounded::rounded(value)
        }
    };
    (@$Integer:ident $ty:ident) => {
        const PRECISION: u32 = $ty::BITS;

        #[inline]
        fn bits(self) -> u128 {
            self as u128 & (u128::MAX >> (128 - $ty::BITS))
        }

        #[inline]
        fn of_bits(bits: u128) -> $ty {
            bits as $ty
        }

        #[inline]
        fn order(&self, other: &$ty) -> Ordering {
            self.cmp(other)
        }

        #[inline]
        fn to_f64(self) -> f64 {
            self as f64
        }

        #[inline]
        fn of_f64(value: f64) -> $ty {
            value as $ty
        }
    };
}
scalars!(define);

impl Scalar {
    /// The scalar of that name.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// The scalar of a kind and a size: of the two floats of 16 bits IEEE's.
    pub fn of(kind: ScalarKind, bytes: u32) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| (s.kind(), s.bytes()) == (kind, bytes))
    }

    /// The unsigned integer of its size, which can hold its bits.
    pub fn unsigned(self) -> Scalar {
        // Each size has one.
        Scalar::of(ScalarKind::Unsigned, self.bytes()).unwrap_or(self)
    }

    /// The scalar as which texts of maps know it: of less than 32 bits the one of 32 that has all its numbers.
    pub fn held(self) -> Scalar {
        if self.bytes() < 4 { Scalar::of(self.kind(), 4).unwrap_or(self) } else { self }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), ScalarKind::Float)
    }

    /// A number's bytes as text that reads back as the same number.
    ///
    /// # Panics
    /// If they are not as many as one has.
    pub fn text(self, bytes: &[u8]) -> String {
        for_scalar!(self, T => format!("{:?}", bytemuck::pod_read_unaligned::<T>(bytes)))
    }

    /// A number's bytes as a float, rounded.
    ///
    /// # Panics
    /// If they are not as many as one has.
    pub fn to_f64(self, bytes: &[u8]) -> f64 {
        for_scalar!(self, T => bytemuck::pod_read_unaligned::<T>(bytes).to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_tell_scalars_apart() {
        for scalar in Scalar::ALL {
            assert_eq!(Scalar::from_name(scalar.name()), Some(scalar));
            if scalar != Scalar::BF16 {
                assert_eq!(Scalar::of(scalar.kind(), scalar.bytes()), Some(scalar));
            }
            assert_eq!((scalar.unsigned().kind(), scalar.unsigned().bytes()), (ScalarKind::Unsigned, scalar.bytes()));
            let letter = ['u', 'i', 'f'][scalar.kind() as usize];
            let order = if scalar.bytes() == 1 { '|' } else { '<' };
            assert!(scalar.npy().is_none_or(|npy| npy == format!("{order}{letter}{}", scalar.bytes())));
            assert!(scalar.name().ends_with(&format!("{letter}{}", 8 * scalar.bytes())));
        }
    }

    #[test]
    fn ranks_follow_the_order_and_lead_back() {
        fn check<T: Number>(ascending: &[T]) {
            assert!(ascending.windows(2).all(|w| w[0].rank() < w[1].rank() && w[0].order(&w[1]).is_lt()));
            assert!(ascending.iter().all(|x| T::of_rank(x.rank()).bits() == x.bits()));
            assert!(ascending.iter().all(|x| T::of_bits(x.bits()).rank() >> (8 * size_of::<T>() - 1) <= 1));
        }
        for scalar in Scalar::ALL {
            for_scalar!(
                scalar,
                integer T => check(&[T::MIN, T::MAX / 2, T::MAX - 1, T::MAX]),
                float T => check(&[
                    -T::NAN,
                    T::NEG_INFINITY,
                    T::of_f64(-1.0),
                    -T::of_bits(1),
                    T::of_f64(-0.0),
                    T::of_f64(0.0),
                    T::MIN_POSITIVE,
                    T::of_f64(1.0),
                    T::INFINITY,
                    T::NAN,
                ])
            );
        }
        check(&[i32::MIN, -1, 0, 1, i32::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
    }

    #[test]
    fn numbers_are_exact_to_their_digits() {
        for scalar in Scalar::ALL {
            for_scalar!(scalar, integer T => assert_eq!(T::of_bits(u128::MAX).bits().count_ones(), T::PRECISION), float T => {
                let odd = 2f64.powi(T::PRECISION as i32 - 1) + 1.0;
                assert_eq!((T::of_f64(odd).to_f64(), T::of_f64(2.0 * odd - 1.0).to_f64()), (odd, 2.0 * odd - 2.0));
            });
        }
    }
}
