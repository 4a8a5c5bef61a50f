//! What one writes over and over with a reduction and a map: extremes and where they stand, means, products.

use std::borrow::Cow;

use crate::wgsl::renamed;
use crate::{
    ArgCall, Captures, Element, ElementType, Field, IntoInput, Map, Max, Min, Monoid, Number, Predicate, Rank, Reduce,
    ReduceCall, ReduceThenCall, Scalar, Sum, View, ViewData, bytemuck, element, for_computed, for_held,
};

/// The least and the greatest of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct MinMax<T> {
    /// The least.
    pub min: T,
    /// The greatest.
    pub max: T,
}

// SAFETY: two fields of one type leave no padding, and all bits of a Number are valid.
unsafe impl<T: Number> bytemuck::Zeroable for MinMax<T> {}
// SAFETY: as above.
unsafe impl<T: Number> bytemuck::Pod for MinMax<T> {}

impl<T: Number> MinMax<T> {
    const FIELDS: &'static [Field] = &[
        Field { name: "least", scalar: T::SCALAR, offset: 0, key: None },
        Field { name: "greatest", scalar: T::SCALAR, offset: size_of::<T>() as u32, key: None },
    ];
}

// SAFETY: repr(C), of the two fields that the type says.
unsafe impl<T: Number> Element for MinMax<T> {
    const TYPE: ElementType =
        ElementType::Struct { name: "MinMax", fields: Cow::Borrowed(Self::FIELDS), bytes: 2 * size_of::<T>() as u32 };
}

/// A number as the least and the greatest of itself.
#[derive(Clone)]
struct Both;

impl<T: Number> Map<T> for Both {
    type Output = MinMax<T>;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return U(a, a); }".into()
    }
    fn map(&self, v: T) -> MinMax<T> {
        MinMax { min: v, max: v }
    }
}

/// [`Min`] and [`Max`] at once.
#[derive(Clone)]
struct MinAndMax;

impl<T: Number> Monoid<MinMax<T>> for MinAndMax
where
    Min: Monoid<T>,
    Max: Monoid<T>,
{
    fn name(&self) -> Cow<'static, str> {
        "min_max".into()
    }
    fn text(&self) -> Cow<'static, str> {
        let own = |text: &str, name| renamed(&renamed(text, "T", "Number"), "combine", name);
        let (min, max) = (own(&Monoid::<T>::text(&Min), "least_of"), own(&Monoid::<T>::text(&Max), "greatest_of"));
        format!(
            "alias Number = {};\n{min}\n{max}\nfn combine(a: T, b: T) -> T {{\n  \
             return T(least_of(a.least, b.least), greatest_of(a.greatest, b.greatest));\n}}",
            T::SCALAR.name()
        )
        .into()
    }
    fn identity(&self) -> MinMax<T> {
        MinMax { min: Monoid::<T>::identity(&Min), max: Monoid::<T>::identity(&Max) }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: MinMax<T>, b: MinMax<T>) -> MinMax<T> {
        MinMax { min: Min.combine(a.min, b.min), max: Max.combine(a.max, b.max) }
    }
}

/// The product of two numbers.
#[derive(Clone)]
struct Times;

/// The product of a number and itself.
#[derive(Clone)]
struct Square;

impl<T: Number> Map<(T, T)> for Times
where
    crate::Product: Monoid<T>,
{
    type Output = T;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A, b: B) -> U { return a * b; }".into()
    }
    fn map(&self, (a, b): (T, T)) -> T {
        crate::Product.combine(a, b)
    }
}

impl<T: Number> Map<T> for Square
where
    crate::Product: Monoid<T>,
{
    type Output = T;
    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a * a; }".into()
    }
    fn map(&self, a: T) -> T {
        crate::Product.combine(a, a)
    }
}

/// 1 where a predicate holds, else 0.
#[derive(Clone)]
struct Counted<P>(P);

impl<T: Element, P: Predicate<T>> Map<T> for Counted<P> {
    type Output = u32;
    fn name(&self) -> Cow<'static, str> {
        format!("count of {}", self.0.name()).into()
    }
    fn text(&self) -> Cow<'static, str> {
        format!("alias T = A;\n{}\nfn map(a: A) -> U {{ return select(0u, 1u, keep(a)); }}", self.0.text()).into()
    }
    fn map(&self, v: T) -> u32 {
        u32::from(self.0.keep(v))
    }
    fn captures(&self) -> Captures {
        self.0.captures()
    }
}

/// A number of fewer than 32 bits as one that kernels compute with, squared.
#[derive(Clone)]
struct WideSquare;

macro_rules! wide_squares {
    ($($T:ident as $Wide:ident $name:ident;)*) => {
        $(impl Map<crate::types::$T> for WideSquare {
            type Output = $Wide;
            fn name(&self) -> Cow<'static, str> {
                "Square".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return a * a; }".into()
            }
            fn map(&self, a: crate::types::$T) -> $Wide {
                let wide = $Wide::from(a);
                crate::Product.combine(wide, wide)
            }
        })*
    };
}
wide_squares! {
    u8 as u32 wide;
    u16 as u32 wide;
    i8 as i32 wide;
    i16 as i32 wide;
    f16 as f32 wide;
    bf16 as f32 wide;
}

/// Numbers' squares.
pub(crate) fn squares(scalar: Scalar) -> Option<ViewData> {
    let held = for_held!(scalar, T => ViewData::mapped::<T, _>(WideSquare));
    held.or_else(|| for_computed!(scalar, T => ViewData::mapped::<T, _>(Square)))
}

/// The products of two numbers each.
pub(crate) fn products(scalar: Scalar) -> Option<ViewData> {
    for_computed!(scalar, T => ViewData::mapped_pairs::<T, _>(Times))
}

/// A float that means and variances are of.
pub trait Float: Number {
    /// A sum, and of how many.
    #[doc(hidden)]
    type Total: Element;
    /// A mean, the sum of squared distances from it, and of how many.
    #[doc(hidden)]
    type Moments: Element;

    #[doc(hidden)]
    fn mean<B: Reduce>(device: &B, x: View<Self, B>) -> ReduceThenCall<Self::Total, Self, B>;
    #[doc(hidden)]
    fn variance<B: Reduce>(device: &B, x: View<Self, B>) -> ReduceThenCall<Self::Moments, Self, B>;
    #[doc(hidden)]
    fn norm<B: Reduce>(device: &B, x: View<Self, B>) -> ReduceThenCall<Self, Self, B>;
}

macro_rules! floats {
    ($($T:ident $count:ident $Total:ident $Moments:ident $one:literal;)*) => {
        $(element! {
            /// A sum of floats, and of how many.
            pub struct $Total { sum: $T, count: $count }
        }

        element! {
            /// Of some floats the first, how far their mean is beyond it, the sum of their squared distances from the
            /// mean, and how many there are. Numbers that lie close together lose no digits to what they have in common.
            pub struct $Moments { first: $T, beyond: $T, squares: $T, count: $T }
        }

        impl Float for $T {
            type Total = $Total;
            type Moments = $Moments;

            fn mean<B: Reduce>(device: &B, x: View<$T, B>) -> ReduceThenCall<$Total, $T, B> {
                device.reduce(x.mapped(ToTotal), Totals).then(Mean)
            }
            fn variance<B: Reduce>(device: &B, x: View<$T, B>) -> ReduceThenCall<$Moments, $T, B> {
                device.reduce(x.mapped(ToMoments), MergedMoments).then(Variance)
            }
            fn norm<B: Reduce>(device: &B, x: View<$T, B>) -> ReduceThenCall<$T, $T, B> {
                device.reduce(x.mapped(Square), Sum).then(Root)
            }
        }

        impl Map<$T> for ToTotal {
            type Output = $Total;
            fn text(&self) -> Cow<'static, str> {
                concat!("fn map(a: A) -> U { return U(a, ", $one, "); }").into()
            }
            fn map(&self, sum: $T) -> $Total {
                $Total { sum, count: 1 }
            }
        }

        impl Monoid<$Total> for Totals {
            fn name(&self) -> Cow<'static, str> {
                "total".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn combine(a: T, b: T) -> T { return T(a.sum + b.sum, a.count + b.count); }".into()
            }
            fn identity(&self) -> $Total {
                $Total { sum: 0.0, count: 0 }
            }
            fn commutes(&self) -> bool {
                true
            }
            fn combine(&self, a: $Total, b: $Total) -> $Total {
                $Total { sum: a.sum + b.sum, count: a.count + b.count }
            }
        }

        impl Map<$Total> for Mean {
            type Output = $T;
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return a.sum / U(a.count); }".into()
            }
            fn map(&self, total: $Total) -> $T {
                total.sum / total.count as $T
            }
        }

        impl Map<$T> for ToMoments {
            type Output = $Moments;
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return U(a, 0.0, 0.0, 1.0); }".into()
            }
            fn map(&self, first: $T) -> $Moments {
                $Moments { first, beyond: 0.0, squares: 0.0, count: 1.0 }
            }
        }

        impl Monoid<$Moments> for MergedMoments {
            fn name(&self) -> Cow<'static, str> {
                "moments".into()
            }
            fn text(&self) -> Cow<'static, str> {
                "fn combine(a: T, b: T) -> T {\n  \
                   if (a.count == 0.0) { return b; }\n  if (b.count == 0.0) { return a; }\n  \
                   let count = a.count + b.count;\n  let share = b.count / count;\n  \
                   let apart = (b.first - a.first) + (b.beyond - a.beyond);\n  \
                   let squares = a.squares + b.squares + apart * apart * a.count * share;\n  \
                   return T(a.first, a.beyond + apart * share, squares, count);\n}"
                    .into()
            }
            fn identity(&self) -> $Moments {
                $Moments { first: 0.0, beyond: 0.0, squares: 0.0, count: 0.0 }
            }
            fn commutes(&self) -> bool {
                true
            }
            fn combine(&self, a: $Moments, b: $Moments) -> $Moments {
                if a.count == 0.0 {
                    return b;
                }
                if b.count == 0.0 {
                    return a;
                }
                let count = a.count + b.count;
                let (share, apart) = (b.count / count, (b.first - a.first) + (b.beyond - a.beyond));
                let squares = a.squares + b.squares + apart * apart * a.count * share;
                $Moments { first: a.first, beyond: a.beyond + apart * share, squares, count }
            }
        }

        impl Map<$Moments> for Variance {
            type Output = $T;
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return a.squares / a.count; }".into()
            }
            fn map(&self, moments: $Moments) -> $T {
                moments.squares / moments.count
            }
        }

        impl Map<$T> for Root {
            type Output = $T;
            fn text(&self) -> Cow<'static, str> {
                "fn map(a: A) -> U { return sqrt(a); }".into()
            }
            fn map(&self, a: $T) -> $T {
                a.sqrt()
            }
        })*
    };
}

/// A number as the total of itself.
#[derive(Clone)]
struct ToTotal;
/// The sum of totals.
#[derive(Clone)]
struct Totals;
/// The mean of a total.
#[derive(Clone)]
struct Mean;
/// A number as the moments of itself.
#[derive(Clone)]
struct ToMoments;
/// The moments of both. Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
#[derive(Clone)]
struct MergedMoments;
/// The variance of moments.
#[derive(Clone)]
struct Variance;
/// The square root.
#[derive(Clone)]
struct Root;

floats! {
    f32 u32 Total32 Moments32 "1u";
    f64 u64 Total64 Moments64 "1lu";
}

/// Reductions that bring their own operator: each reads its input once, and takes views.
///
/// # Errors
/// As of [`Scan`](crate::Scan).
pub trait Summary: Reduce {
    /// Where the least number stands, as [`sort`](crate::Sort::sort) orders them: of equal ones the first. It is
    /// [`NO_PLACE`](crate::NO_PLACE) if there are none.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3.0f32, -1.0, 4.0, -1.0])?;
    /// assert_eq!(gpu.arg_min(&x).value()?, 1);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn arg_min<T: Rank, X: IntoInput<Self, Item = T>>(&self, x: X) -> ArgCall<T, Self> {
        ArgCall::new(self, x.into_input(), false)
    }

    /// Where the greatest number stands, as [`Summary::arg_min`]: of equal ones the first.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3u8, 1, 4, 4])?;
    /// assert_eq!(gpu.arg_max(&x).value()?, 2);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn arg_max<T: Rank, X: IntoInput<Self, Item = T>>(&self, x: X) -> ArgCall<T, Self> {
        ArgCall::new(self, x.into_input(), true)
    }

    /// The least and the greatest number, as [`Min`] and [`Max`] have them: their identities if there are none.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3i32, -1, 4])?;
    /// let both = gpu.min_max(&x).value()?;
    /// assert_eq!((both.min, both.max), (-1, 4));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn min_max<T: Number, X: IntoInput<Self, Item = T>>(&self, x: X) -> ReduceCall<MinMax<T>, Self>
    where
        Min: Monoid<T>,
        Max: Monoid<T>,
    {
        self.reduce(x.into_input().mapped(Both), MinAndMax)
    }

    /// The mean; NaN if there are no numbers.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1.0f32, 2.0, 6.0])?;
    /// assert_eq!(gpu.mean(&x).value()?, 3.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn mean<T: Float, X: IntoInput<Self, Item = T>>(&self, x: X) -> ReduceThenCall<T::Total, T, Self> {
        T::mean(self, x.into_input())
    }

    /// The mean squared distance from the mean, in one read; NaN if there are no numbers.
    ///
    /// Parts are merged by their means and squares. A mean is kept as one of the numbers and the distance from it. So a mean that is large
    /// beside the distances costs few digits. Of `f32` numbers it counts up to 2^24 to the unit, and more rounded.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[1e6f32 + 1.0, 1e6 + 3.0])?;
    /// assert_eq!(gpu.variance(&x).value()?, 1.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn variance<T: Float, X: IntoInput<Self, Item = T>>(&self, x: X) -> ReduceThenCall<T::Moments, T, Self> {
        T::variance(self, x.into_input())
    }

    /// The sum of the products of as many numbers of two inputs. Integers wrap.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[1.0f32, 2.0, 3.0])?, gpu.upload(&[4.0f32, 0.5, 1.0])?);
    /// assert_eq!(gpu.dot(&x, &y).value()?, 8.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn dot<T: Number, X: IntoInput<Self, Item = T>, Y: IntoInput<Self, Item = T>>(
        &self,
        x: X,
        y: Y,
    ) -> ReduceCall<T, Self>
    where
        crate::Product: Monoid<T>,
        Sum: Monoid<T>,
    {
        self.reduce(x.into_input().zipped(y).mapped(Times), Sum)
    }

    /// The square root of the sum of the numbers' squares.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[3.0f64, 4.0])?;
    /// assert_eq!(gpu.norm(&x).value()?, 5.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn norm<T: Float, X: IntoInput<Self, Item = T>>(&self, x: X) -> ReduceThenCall<T, T, Self> {
        T::norm(self, x.into_input())
    }

    /// How many elements a predicate holds for.
    ///
    /// ```
    /// # use trifold_core::{Summary, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.7f32, 0.1, 0.9])?;
    /// assert_eq!(gpu.count_if(&x, UpperHalf).value()?, 2);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn count_if<X: IntoInput<Self>, P: Predicate<X::Item>>(&self, x: X, predicate: P) -> ReduceCall<u32, Self> {
        self.reduce(x.into_input().mapped(Counted(predicate)), Sum)
    }
}
impl<B: Reduce> Summary for B {}
