//! Associative operators: as a trait for callers, and erased to data for planning and execution.

use std::any::type_name;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::host::Loops;
use crate::{Element, ElementType, Scalar, for_computed, scalars};

/// An associative operator over `T` with an identity element. A value of it is what calls take.
///
/// Its text defines `fn combine(a: T, b: T) -> T` in WGSL, and any functions that it calls. `T` stands for the element
/// type; an element struct is in scope under its own name too. Every GPU runs that text, in all three kernel languages.
///
/// `combine` is the same function in Rust. The CPU backend runs it, and tests compare GPUs with it.
///
/// The text may use any name that WGSL allows: what it declares is renamed where it stands in a kernel. Division by
/// zero, shifts, indices and conversions of floats mean the same through every API. The crate `trifold-lang` lists
/// these meanings.
///
/// ```
/// use std::borrow::Cow;
/// use trifold_core::{Monoid, Scan, Transfer};
///
/// trifold_core::element! { struct Affine { a: u32, b: u32 } }
///
/// /// x -> a*x + b, composed from left to right. It does not commute.
/// #[derive(Clone)]
/// struct Compose;
///
/// impl Monoid<Affine> for Compose {
///     fn text(&self) -> Cow<'static, str> {
///         "fn combine(l: T, r: T) -> T { return T(l.a * r.a, l.b * r.a + r.b); }".into()
///     }
///     fn identity(&self) -> Affine {
///         Affine { a: 1, b: 0 }
///     }
///     fn combine(&self, l: Affine, r: Affine) -> Affine {
///         Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
///     }
/// }
///
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let functions = gpu.upload(&[Affine { a: 2, b: 1 }, Affine { a: 3, b: 0 }])?;
/// // First 2x + 1, then three times that.
/// assert_eq!(gpu.inclusive_scan(&functions, Compose).read()?[1], Affine { a: 6, b: 3 });
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator over `{T}`",
    note = "an operator is a type with a text in WGSL and a twin in Rust; closures are none, since a GPU cannot run them"
)]
pub trait Monoid<T: Element>: Clone + Send + Sync + 'static {
    /// The operator's name, for reports and errors.
    fn name(&self) -> Cow<'static, str> {
        own_name::<Self>().into()
    }
    /// `fn combine(a: T, b: T) -> T` in WGSL.
    fn text(&self) -> Cow<'static, str>;
    /// `combine(identity, x) == x == combine(x, identity)`.
    fn identity(&self) -> T;
    /// The operator in Rust.
    fn combine(&self, a: T, b: T) -> T;
    /// Whether `combine(a, b) == combine(b, a)` for all elements, which lets a reduction read in any order. If this
    /// says no of an operator that does commute, only speed is lost.
    fn commutes(&self) -> bool {
        false
    }
    /// The numbers that the text reads as `captures`.
    fn captures(&self) -> Captures {
        Captures::default()
    }
}

/// A type's name without its path.
pub(crate) fn own_name<T>() -> &'static str {
    let name = type_name::<T>();
    let end = name.find('<').unwrap_or(name.len());
    name[..end].rsplit("::").next().unwrap_or(name)
}

/// The numbers of an operator's, predicate's or map's value.
///
/// Its text reads them as the struct `captures`. Kernels get them as parameters, so values of other numbers run the
/// same kernel.
///
/// [`Predicate`](crate::Predicate) has an example of a text that reads them.
///
/// ```
/// # use trifold_core::{Captures, Element};
/// trifold_core::element! { struct Clamp { low: f32, high: f32 } }
///
/// let captures = Captures::of(&Clamp { low: 0.25, high: 4.0 });
/// assert_eq!(captures.element(), Some(&Clamp::TYPE));
/// assert_eq!(captures.bytes().len(), 8);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captures {
    element: Option<ElementType>,
    bytes: Vec<u8>,
}

impl Captures {
    /// The fields of a struct that [`element!`](crate::element!) declares: the value itself, usually.
    pub fn of<T: Element>(value: &T) -> Captures {
        Captures { element: Some(T::TYPE), bytes: bytemuck::bytes_of(value).to_vec() }
    }

    /// The type of the struct, if there are numbers.
    pub fn element(&self) -> Option<&ElementType> {
        self.element.as_ref()
    }

    /// The struct's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How the CPU runs an operator: loops over whole chunks, one copy per operator and element type.
///
/// All pointers are to elements of the operator's type and must be aligned for it.
pub trait HostOp: Send + Sync {
    /// Folds `n` elements at `input` into `*accumulator`: from left to right, or for an operator that commutes in
    /// another fixed order.
    ///
    /// # Safety
    /// There are `n` readable elements at `input`, and one at `accumulator`.
    unsafe fn fold(&self, input: *const u8, n: usize, accumulator: *mut u8);

    /// Folds runs of the elements at `input`, each for itself, in the order of [`HostOp::fold`]. A run is from one of the
    /// bounds to the next. Their totals are written to `totals`.
    ///
    /// # Safety
    /// The bounds ascend, there are as many readable elements at `input` as the last one says, and there is room for one
    /// total less than there are bounds.
    unsafe fn fold_runs(&self, input: *const u8, bounds: &[u32], totals: *mut u8);

    /// Scans `n` elements from `input` to `output` (which may be the same), starting from `*carry` and leaving the
    /// total there. The flag chooses an exclusive scan.
    ///
    /// # Safety
    /// There are `n` elements at `input` and `output`, and one at `carry`.
    unsafe fn scan(&self, input: *const u8, output: *mut u8, n: usize, carry: *mut u8, exclusive: bool);

    /// Scans runs of the elements at `input` to the same places at `output` (which may be the same), each from `*start` on. A
    /// run is from one of the bounds to the next. The flag chooses exclusive scans.
    ///
    /// # Safety
    /// The bounds ascend, there are as many elements at `input` and `output` as the last one says, and there is one at `start`.
    unsafe fn scan_runs(&self, input: *const u8, output: *mut u8, bounds: &[u32], start: *const u8, exclusive: bool);
}

/// An operator erased to data, with its element type.
#[derive(Clone)]
pub struct Op {
    /// The operator's name.
    pub name: Cow<'static, str>,
    // Private, with what follows from it: the loops below work on elements of this type.
    element: ElementType,
    /// Its WGSL text.
    pub wgsl: Cow<'static, str>,
    identity: Vec<u8>,
    /// Whether it commutes.
    pub commutative: bool,
    /// Which of the built-in operators it is, if [`Op::builtin`] made it.
    pub builtin: Option<Builtin>,
    captures: Captures,
    host: Arc<dyn HostOp>,
}

/// The built-in operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Wrapping addition; IEEE addition for floats.
    Sum,
    /// Wrapping multiplication; IEEE multiplication for floats.
    Product,
    /// The smaller; IEEE 754-2019 `minimum` for floats: NaN wins, -0 < +0.
    Min,
    /// The larger; IEEE 754-2019 `maximum` for floats: NaN wins, -0 < +0.
    Max,
    /// Bitwise and, of integers.
    And,
    /// Bitwise or, of integers.
    Or,
    /// Bitwise exclusive or, of integers.
    Xor,
}

impl Builtin {
    /// Every built-in operator.
    pub const ALL: [Builtin; 7] =
        [Builtin::Sum, Builtin::Product, Builtin::Min, Builtin::Max, Builtin::And, Builtin::Or, Builtin::Xor];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Builtin::Sum => "sum",
            Builtin::Product => "product",
            Builtin::Min => "min",
            Builtin::Max => "max",
            Builtin::And => "and",
            Builtin::Or => "or",
            Builtin::Xor => "xor",
        }
    }

    /// The operator of that name.
    pub fn from_name(name: &str) -> Option<Builtin> {
        Builtin::ALL.into_iter().find(|b| b.name() == name)
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}<{}>", self.name, self.element.name())
    }
}

// The host loops follow from the text's author, not from the text; a kernel depends on the text alone, and takes captures as parameters.
impl Op {
    fn key(&self) -> impl PartialEq + Hash {
        let Op { name, element, wgsl, identity, commutative, captures, .. } = self;
        (name, element, wgsl, identity, commutative, captures.element())
    }
}
impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Op {}
impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Op {
    /// Erases an operator over `T`.
    pub fn of<T: Element, M: Monoid<T>>(op: M) -> Op {
        Op {
            name: op.name(),
            element: T::TYPE,
            wgsl: op.text(),
            identity: bytemuck::bytes_of(&op.identity()).to_vec(),
            commutative: op.commutes(),
            builtin: None,
            captures: op.captures(),
            host: Arc::new(Loops::<T, M>::of(op)),
        }
    }

    /// An operator from its parts, for those that are made at run time.
    ///
    /// # Safety
    /// The loops of `host` must be over elements of the type `element`, and `identity` be the bytes of one.
    pub unsafe fn from_parts(
        name: impl Into<Cow<'static, str>>,
        element: ElementType,
        wgsl: impl Into<Cow<'static, str>>,
        identity: Vec<u8>,
        commutative: bool,
        host: Arc<dyn HostOp>,
    ) -> Op {
        let captures = Captures::default();
        Op { name: name.into(), element, wgsl: wgsl.into(), identity, commutative, builtin: None, captures, host }
    }

    /// The element type.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// The identity's bytes.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// The numbers that its text reads.
    pub fn captures(&self) -> &Captures {
        &self.captures
    }

    /// As this one, of these numbers.
    pub(crate) fn with_captures(self, captures: Captures) -> Op {
        Op { captures, ..self }
    }

    /// Its loops on the CPU.
    pub fn host(&self) -> &Arc<dyn HostOp> {
        &self.host
    }

    /// A built-in operator over a scalar; `None` for the bitwise ones over floats, and for scalars that kernels do not compute with.
    pub fn builtin(which: Builtin, scalar: Scalar) -> Option<Op> {
        let mut op = for_computed!(scalar, T => match which {
            Builtin::Sum => Op::of::<T, _>(Sum),
            Builtin::Product => Op::of::<T, _>(Product),
            Builtin::Min => Op::of::<T, _>(Min),
            Builtin::Max => Op::of::<T, _>(Max),
            Builtin::And | Builtin::Or | Builtin::Xor => for_computed!(scalar, integer I => match which {
                Builtin::And => Some(Op::of::<I, _>(And)),
                Builtin::Or => Some(Op::of::<I, _>(Or)),
                _ => Some(Op::of::<I, _>(Xor)),
            }, float _F => None)??,
        })?;
        op.builtin = Some(which);
        Some(op)
    }

    /// The sum of 32-bit numbers from 0 up: of counts.
    pub(crate) fn sum_of_counts() -> Op {
        Op { builtin: Some(Builtin::Sum), ..Op::of::<u32, _>(Sum) }
    }

    /// Whether this is the built-in sum of a four-byte scalar: the one operator that subgroups scan natively.
    pub fn is_word_sum(&self) -> bool {
        self.element.is_word() && self.name == "sum" && self.wgsl == SUM_WGSL
    }
}

macro_rules! operator {
    ($(#[$doc:meta])* $name:ident, $label:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;
        impl $name {
            const LABEL: &'static str = $label;
        }
    };
}
operator!(/// Sum: wrapping for integers, IEEE for floats.
    Sum, "sum");
operator!(/// Product: wrapping for integers, IEEE for floats.
    Product, "product");
operator!(/// Minimum: IEEE 754-2019 `minimum` for floats, so NaN wins and -0 < +0.
    Min, "min");
operator!(/// Maximum: IEEE 754-2019 `maximum` for floats, so NaN wins and -0 < +0.
    Max, "max");
operator!(/// Bitwise and.
    And, "and");
operator!(/// Bitwise or.
    Or, "or");
operator!(/// Bitwise exclusive or.
    Xor, "xor");

const SUM_WGSL: &str = "fn combine(a: T, b: T) -> T { return a + b; }";

macro_rules! monoid {
    ($op:ident, $ty:ty, $identity:expr, $wgsl:expr, $combine:expr) => {
        impl Monoid<$ty> for $op {
            fn name(&self) -> Cow<'static, str> {
                $op::LABEL.into()
            }
            fn text(&self) -> Cow<'static, str> {
                Cow::Borrowed($wgsl)
            }
            fn identity(&self) -> $ty {
                $identity
            }
            fn commutes(&self) -> bool {
                true
            }
            #[inline(always)]
            fn combine(&self, a: $ty, b: $ty) -> $ty {
                const COMBINE: fn($ty, $ty) -> $ty = $combine;
                COMBINE(a, b)
            }
        }
    };
}

// Those of floats follow from their bits, below.
macro_rules! monoids {
    ($(($doc:literal $Name:ident $ty:ident $Kind:ident $Use:ident $($_:tt)*))*) => { $(monoids!(@$Use $Kind $ty);)* };
    (@Computed Float $ty:ident) => {};
    (@Computed $Integer:ident $ty:ident) => {
        monoid!(Sum, $ty, 0, SUM_WGSL, |a, b| a.wrapping_add(b));
        monoid!(Product, $ty, 1, "fn combine(a: T, b: T) -> T { return a * b; }", |a, b| a.wrapping_mul(b));
        monoid!(Min, $ty, $ty::MAX, "fn combine(a: T, b: T) -> T { return min(a, b); }", |a, b| a.min(b));
        monoid!(Max, $ty, $ty::MIN, "fn combine(a: T, b: T) -> T { return max(a, b); }", |a, b| a.max(b));
        monoid!(And, $ty, !0, "fn combine(a: T, b: T) -> T { return a & b; }", |a, b| a & b);
        monoid!(Or, $ty, 0, "fn combine(a: T, b: T) -> T { return a | b; }", |a, b| a | b);
        monoid!(Xor, $ty, 0, "fn combine(a: T, b: T) -> T { return a ^ b; }", |a, b| a ^ b);
    };
    (@$Other:ident $Kind:ident $ty:ident) => {};
}
scalars!(monoids);

// Compared as integers: compilers may assume that no NaN comes, and devices may take the floats below the smallest normal one
// for zero. Flipped below the sign where that is set, a float's bits are in its order, -0 before +0.
macro_rules! float_monoids {
    ($ty:ident, $bits:literal, $sign:literal, $magnitude:literal, $infinity:literal, $nan:literal) => {
        monoid!(Sum, $ty, 0.0, SUM_WGSL, |a, b| a + b);
        monoid!(Product, $ty, 1.0, "fn combine(a: T, b: T) -> T { return a * b; }", |a, b| a * b);
        monoid!(
            Min,
            $ty,
            $ty::INFINITY,
            float_monoids!(@wgsl $bits, $sign, $magnitude, $infinity, $nan, "<"),
            |a, b| {
                if a.is_nan() || b.is_nan() {
                    $ty::NAN
                } else if a == b {
                    $ty::from_bits(a.to_bits() | b.to_bits())
                } else if a < b {
                    a
                } else {
                    b
                }
            }
        );
        monoid!(
            Max,
            $ty,
            $ty::NEG_INFINITY,
            float_monoids!(@wgsl $bits, $sign, $magnitude, $infinity, $nan, ">"),
            |a, b| {
                if a.is_nan() || b.is_nan() {
                    $ty::NAN
                } else if a == b {
                    $ty::from_bits(a.to_bits() & b.to_bits())
                } else if a > b {
                    a
                } else {
                    b
                }
            }
        );
    };
    (@wgsl $bits:literal, $sign:literal, $magnitude:literal, $infinity:literal, $nan:literal, $before:literal) => {
        concat!(
            "fn combine(a: T, b: T) -> T {\n",
            "  let x = bitcast<", $bits, ">(a);\n",
            "  let y = bitcast<", $bits, ">(b);\n",
            "  if ((x & ", $magnitude, ") > ", $infinity, " || (y & ", $magnitude, ") > ", $infinity, ") {\n",
            "    var nan = ", $nan, ";\n",
            "    return bitcast<T>(nan);\n",
            "  }\n",
            "  let first = (x ^ ((x >> ", $sign, ") & ", $magnitude, ")) ", $before, " (y ^ ((y >> ", $sign, ") & ", $magnitude, "));\n",
            "  return bitcast<T>(select(y, x, first));\n",
            "}"
        )
    };
}
float_monoids!(f32, "i32", "31u", "0x7fffffffi", "0x7f800000i", "0x7fc00000i");
float_monoids!(f64, "i64", "63u", "0x7fffffffffffffffli", "0x7ff0000000000000li", "0x7ff8000000000000li");
