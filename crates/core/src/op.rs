//! Associative operators: as a trait for callers, and erased to data for planning and execution.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::{Element, ElementType, Scalar, for_scalar, scalars};

/// An associative operator over `T` with an identity element.
///
/// `WGSL` defines `fn combine(a: T, b: T) -> T`, and any functions it calls, with `T` standing for the element type;
/// an element struct is in scope under its own name too. That text is what every GPU runs, in all three kernel
/// languages. `combine` is the same function in Rust: the CPU backend's code, and the oracle that tests hold the
/// GPUs to.
///
/// The text may use any name that WGSL allows: what it declares is renamed where it stands in a kernel. Division by zero,
/// shifts, indices and conversions of floats mean the same through every API; the crate `trifold-lang` lists what.
///
/// ```
/// use trifold_core::Monoid;
/// /// x -> a*x + b, composed from left to right. Not commutative.
/// struct Compose;
/// trifold_core::element! { struct Affine { a: u32, b: u32 } }
/// impl Monoid<Affine> for Compose {
///     const NAME: &'static str = "compose";
///     const WGSL: &'static str = "fn combine(l: T, r: T) -> T { return T(l.a * r.a, l.b * r.a + r.b); }";
///     const IDENTITY: Affine = Affine { a: 1, b: 0 };
///     const COMMUTATIVE: bool = false;
///     fn combine(l: Affine, r: Affine) -> Affine {
///         Affine { a: l.a.wrapping_mul(r.a), b: l.b.wrapping_mul(r.a).wrapping_add(r.b) }
///     }
/// }
/// ```
pub trait Monoid<T: Element>: 'static {
    /// The operator's name, for reports and errors.
    const NAME: &'static str;
    /// `fn combine(a: T, b: T) -> T` in WGSL.
    const WGSL: &'static str;
    /// `combine(IDENTITY, x) == x == combine(x, IDENTITY)`.
    const IDENTITY: T;
    /// Whether `combine(a, b) == combine(b, a)`; lets reduce read in any order.
    const COMMUTATIVE: bool;
    /// The operator in Rust.
    fn combine(a: T, b: T) -> T;
}

/// How the CPU runs an operator: loops over whole chunks, one copy per operator and element type.
///
/// All pointers are to elements of the operator's type and must be aligned for it.
#[derive(Clone, Copy)]
pub struct HostOp {
    /// Folds `n` elements at `input` into `*accumulator`: from left to right, or for an operator that commutes in
    /// another fixed order.
    pub fold: unsafe fn(input: *const u8, n: usize, accumulator: *mut u8),
    /// Scans `n` elements from `input` to `output` (which may be the same), starting from `*carry` and leaving the
    /// total there. The flag chooses an exclusive scan.
    pub scan: unsafe fn(input: *const u8, output: *mut u8, n: usize, carry: *mut u8, exclusive: bool),
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
    host: HostOp,
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

// The host loops follow from the text's author, not from the text; a kernel depends on the text alone.
impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.element, &self.wgsl, &self.identity, self.commutative)
            == (&other.name, &other.element, &other.wgsl, &other.identity, other.commutative)
    }
}
impl Eq for Op {}
impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.element, &self.wgsl, &self.identity, self.commutative).hash(state);
    }
}

impl Op {
    /// Erases the operator `M` over `T`.
    pub fn of<T: Element, M: Monoid<T>>() -> Op {
        Op {
            name: Cow::Borrowed(M::NAME),
            element: T::TYPE,
            wgsl: Cow::Borrowed(M::WGSL),
            identity: bytemuck::bytes_of(&M::IDENTITY).to_vec(),
            commutative: M::COMMUTATIVE,
            builtin: None,
            host: HostOp { fold: host_fold::<T, M>, scan: host_scan::<T, M> },
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
        host: HostOp,
    ) -> Op {
        Op { name: name.into(), element, wgsl: wgsl.into(), identity, commutative, builtin: None, host }
    }

    /// The element type.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// The identity's bytes.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// Its loops on the CPU.
    pub fn host(&self) -> HostOp {
        self.host
    }

    /// A built-in operator over a scalar; `None` for the bitwise ones over floats.
    pub fn builtin(which: Builtin, scalar: Scalar) -> Option<Op> {
        let mut op = for_scalar!(scalar, T => match which {
            Builtin::Sum => Op::of::<T, Sum>(),
            Builtin::Product => Op::of::<T, Product>(),
            Builtin::Min => Op::of::<T, Min>(),
            Builtin::Max => Op::of::<T, Max>(),
            Builtin::And | Builtin::Or | Builtin::Xor => for_scalar!(scalar, integer I => match which {
                Builtin::And => Op::of::<I, And>(),
                Builtin::Or => Op::of::<I, Or>(),
                _ => Op::of::<I, Xor>(),
            }, float _F => return None),
        });
        op.builtin = Some(which);
        Some(op)
    }

    /// The sum, which every scalar has.
    pub fn sum(scalar: crate::Scalar) -> Op {
        Op::builtin(Builtin::Sum, scalar).expect("every scalar has a sum")
    }

    /// Whether this is the built-in sum of a four-byte scalar: the one operator that subgroups scan natively.
    pub fn is_word_sum(&self) -> bool {
        self.element.is_word() && self.name == "sum" && self.wgsl == SUM_WGSL
    }
}

/// # Safety
/// As [`HostOp::fold`].
unsafe fn host_fold<T: Element, M: Monoid<T>>(input: *const u8, n: usize, accumulator: *mut u8) {
    // SAFETY: the caller gives `n` readable, aligned elements of T, and one at `accumulator`.
    let (input, accumulator) =
        unsafe { (std::slice::from_raw_parts(input.cast::<T>(), n), &mut *accumulator.cast::<T>()) };
    // Eight chains where the order is free: one chain of a commutative operator waits on its own latency.
    if M::COMMUTATIVE {
        let mut lanes = [M::IDENTITY; 8];
        let mut chunks = input.chunks_exact(8);
        for chunk in &mut chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = M::combine(*lane, x);
            }
        }
        let rest = chunks.remainder().iter().fold(M::IDENTITY, |a, &x| M::combine(a, x));
        let total = lanes.into_iter().fold(rest, M::combine);
        *accumulator = M::combine(*accumulator, total);
    } else {
        *accumulator = input.iter().fold(*accumulator, |a, &x| M::combine(a, x));
    }
}

/// # Safety
/// As [`HostOp::scan`].
unsafe fn host_scan<T: Element, M: Monoid<T>>(
    input: *const u8,
    output: *mut u8,
    n: usize,
    carry: *mut u8,
    exclusive: bool,
) {
    let (input, output, carry) = (input.cast::<T>(), output.cast::<T>(), carry.cast::<T>());
    // SAFETY: the caller gives `n` aligned elements at each pointer; each is read before its place is written, so
    // input and output may be the same memory.
    unsafe {
        let mut running = *carry;
        for i in 0..n {
            let x = *input.add(i);
            let next = M::combine(running, x);
            *output.add(i) = if exclusive { running } else { next };
            running = next;
        }
        *carry = running;
    }
}

macro_rules! operator {
    ($(#[$doc:meta])* $name:ident, $label:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name(PhantomData<()>);
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
            const NAME: &'static str = $op::LABEL;
            const WGSL: &'static str = $wgsl;
            const IDENTITY: $ty = $identity;
            const COMMUTATIVE: bool = true;
            #[inline(always)]
            fn combine(a: $ty, b: $ty) -> $ty {
                const COMBINE: fn($ty, $ty) -> $ty = $combine;
                COMBINE(a, b)
            }
        }
    };
}

// Those of floats follow from their bits, below.
macro_rules! monoids {
    ($(($doc:literal $Name:ident $ty:ident $Kind:ident $($_:tt)*))*) => { $(monoids!(@$Kind $ty);)* };
    (@Float $ty:ident) => {};
    (@$Integer:ident $ty:ident) => {
        monoid!(Sum, $ty, 0, SUM_WGSL, |a, b| a.wrapping_add(b));
        monoid!(Product, $ty, 1, "fn combine(a: T, b: T) -> T { return a * b; }", |a, b| a.wrapping_mul(b));
        monoid!(Min, $ty, $ty::MAX, "fn combine(a: T, b: T) -> T { return min(a, b); }", |a, b| a.min(b));
        monoid!(Max, $ty, $ty::MIN, "fn combine(a: T, b: T) -> T { return max(a, b); }", |a, b| a.max(b));
        monoid!(And, $ty, !0, "fn combine(a: T, b: T) -> T { return a & b; }", |a, b| a & b);
        monoid!(Or, $ty, 0, "fn combine(a: T, b: T) -> T { return a | b; }", |a, b| a | b);
        monoid!(Xor, $ty, 0, "fn combine(a: T, b: T) -> T { return a ^ b; }", |a, b| a ^ b);
    };
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
