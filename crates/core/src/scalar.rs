//! The scalars that elements are made of: a row each, and all that follows from the rows.

use std::cmp::Ordering;
use std::fmt::{Display, LowerExp};
use std::str::FromStr;

use crate::{Caps, Element, ElementType, Key, Language};

/// The scalars. `scalars!(m, first)` is `m! { first (row) (row) … }`.
#[doc(hidden)]
#[macro_export]
macro_rules! scalars {
    ($($callback:tt)::+ $(, $($first:tt)*)?) => {
        $($callback)::+! {
            $($($first)*)?
            // Rust and WGSL, kind, its vectors in OpenCL C and in CUDA C, .npy, what of `Caps` a device needs.
            // (The words of a 64-bit float are reached through a 64-bit integer.)
            ("32-bit unsigned integer." U32 u32 Unsigned "uint" "uint" "<u4" [])
            ("32-bit signed integer." I32 i32 Signed "int" "int" "<i4" [])
            ("32-bit IEEE float." F32 f32 Float "float" "float" "<f4" [])
            ("64-bit unsigned integer." U64 u64 Unsigned "ulong" "ulonglong" "<u8" [int64])
            ("64-bit signed integer." I64 i64 Signed "long" "longlong" "<i8" [int64])
            ("64-bit IEEE float." F64 f64 Float "double" "double" "<f8" [float64 int64])
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
        type $T = $ty;
        $body
    }};
    (@$Integer:ident $ty:ident ($T:ident $body:expr) $_:tt) => {{
        type $T = $ty;
        $body
    }};
    ($scalar:expr, $T:ident => $body:expr) => {
        $crate::for_scalar!($scalar, integer $T => $body, float $T => $body)
    };
    ($scalar:expr, integer $I:ident => $integer:expr, float $F:ident => $float:expr) => {
        $crate::scalars!($crate::for_scalar, @match $scalar, ($I $integer) ($F $float))
    };
}

/// What the values of a scalar are. Kernels know them by these numbers, as `KEY_KIND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// Integers from 0 up.
    Unsigned = 0,
    /// Integers in two's complement.
    Signed = 1,
    /// IEEE floats.
    Float = 2,
}

/// A Rust type that is a scalar: what code has of it that is the same for all. [`for_scalar!`](crate::for_scalar!) names the
/// type of a [`Scalar`].
pub trait Number: Key + PartialOrd + Display + LowerExp + FromStr {
    /// How many binary digits it is exact to: the bits of an integer, those of a float's significand with the implied one.
    const PRECISION: u32;

    /// The bits, in the lowest ones.
    fn bits(self) -> u64;

    /// The number of these bits. Those that it has no room for are left out.
    fn of_bits(bits: u64) -> Self;

    /// As a float, rounded.
    fn to_f64(self) -> f64;

    /// Of a float, rounded: integers towards zero.
    fn of_f64(value: f64) -> Self;

    /// The order that sort gives it.
    fn order(&self, other: &Self) -> Ordering;

    /// An unsigned integer of its width that is ordered as sort orders the numbers.
    fn rank(self) -> u64 {
        let (bits, sign) = (self.bits(), sign::<Self>());
        match Self::SCALAR.kind() {
            ScalarKind::Unsigned => bits,
            ScalarKind::Signed => bits ^ sign,
            ScalarKind::Float if bits & sign == 0 => bits | sign,
            ScalarKind::Float => !bits & (sign | (sign - 1)),
        }
    }

    /// The number of a rank.
    fn of_rank(rank: u64) -> Self {
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
const fn sign<T>() -> u64 {
    1 << (8 * size_of::<T>() - 1)
}

macro_rules! define {
    ($(($doc:literal $Name:ident $ty:ident $Kind:ident $opencl:literal $cuda:literal $npy:literal [$($need:ident)*]))*) => {
        /// A scalar type that all three kernel languages have.
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

            /// The name in Rust and in WGSL, which agree, and in the texts of the other languages, which define it.
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

            /// What NumPy calls it in a `.npy` file.
            pub const fn npy(self) -> &'static str {
                match self { $(Scalar::$Name => $npy,)* }
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
            impl Key for $ty {
                const SCALAR: Scalar = Scalar::$Name;
            }
            impl Number for $ty {
                define!(@$Kind $ty);

                #[inline]
                fn to_f64(self) -> f64 {
                    self as f64
                }

                #[inline]
                fn of_f64(value: f64) -> $ty {
                    value as $ty
                }
            }
        )*
    };
    (@Float $ty:ident) => {
        const PRECISION: u32 = $ty::MANTISSA_DIGITS;

        #[inline]
        fn bits(self) -> u64 {
            self.to_bits() as u64
        }

        #[inline]
        fn of_bits(bits: u64) -> $ty {
            $ty::from_bits(bits as _)
        }

        #[inline]
        fn order(&self, other: &$ty) -> Ordering {
            self.total_cmp(other)
        }
    };
    (@$Integer:ident $ty:ident) => {
        const PRECISION: u32 = $ty::BITS;

        #[inline]
        fn bits(self) -> u64 {
            self as u64 & (u64::MAX >> (64 - $ty::BITS))
        }

        #[inline]
        fn of_bits(bits: u64) -> $ty {
            bits as $ty
        }

        #[inline]
        fn order(&self, other: &$ty) -> Ordering {
            self.cmp(other)
        }
    };
}
scalars!(define);

impl Scalar {
    /// The scalar of that name.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// The scalar of a kind and a size.
    pub fn of(kind: ScalarKind, bytes: u32) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| (s.kind(), s.bytes()) == (kind, bytes))
    }

    /// The unsigned integer of its size, which can hold its bits.
    pub fn unsigned(self) -> Scalar {
        // Each size has one.
        Scalar::of(ScalarKind::Unsigned, self.bytes()).unwrap_or(self)
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
            assert_eq!(Scalar::of(scalar.kind(), scalar.bytes()), Some(scalar));
            assert_eq!((scalar.unsigned().kind(), scalar.unsigned().bytes()), (ScalarKind::Unsigned, scalar.bytes()));
            let letter = ['u', 'i', 'f'][scalar.kind() as usize];
            assert_eq!(scalar.npy(), format!("<{letter}{}", scalar.bytes()));
            assert_eq!(scalar.name(), format!("{letter}{}", 8 * scalar.bytes()));
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
                    -T::NAN, T::NEG_INFINITY, -1.0, -T::MIN_POSITIVE / 2.0, -0.0, 0.0, T::MIN_POSITIVE, 1.0, T::INFINITY, T::NAN
                ])
            );
        }
        check(&[i32::MIN, -1, 0, 1, i32::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
    }

    #[test]
    fn numbers_are_exact_to_their_digits() {
        for scalar in Scalar::ALL {
            for_scalar!(scalar, integer T => assert_eq!(T::of_bits(u64::MAX).bits() as u128 + 1, 1 << T::PRECISION), float T => {
                let odd = 2f64.powi(T::PRECISION as i32 - 1) + 1.0;
                assert_eq!((T::of_f64(odd).to_f64(), T::of_f64(2.0 * odd - 1.0).to_f64()), (odd, 2.0 * odd - 2.0));
            });
        }
    }
}
