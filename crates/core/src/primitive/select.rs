//! Selection: the elements that a predicate keeps, written densely and in their order.

use std::borrow::Cow;
use std::hash::Hash;

pub use super::find::{FIND_ALL, SELECT_FLAGGED};
use super::find::{FindCall, NonZero};
use super::mapped::counted_output;
use super::selector::{Asks, Predicate, Selector};
pub use super::unique::{UNIQUE, UNIQUE_BY_KEY};
use super::{Asked, Form, Label, Operand, PartitionByCall, Primitive, Varies, Written};
use crate::algorithm::Algorithm;
use crate::results::{Results, length, new_count, results};
use crate::types::{bf16, f16};
use crate::{
    Backend, Buffer, Caps, Compacted, Device, Element, ElementType, Error, IntoInput, KernelKey, Language, Param,
    Placed, Request, Result, Scalar, Slot, Spans, SpansOf, Transfer, View, block_on, for_computed, for_held,
};

/// What becomes of the elements that the predicate does not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rest {
    /// They are left out.
    Dropped,
    /// They go to a span of their own ([`Slot::Rest`](crate::Slot::Rest)), in their order: still one pass.
    Apart,
    /// They follow the ones that are kept, in their order: three launches.
    Behind,
}

impl Rest {
    /// What `SELECT_REST`, a kernel's constant, says of it.
    pub(crate) fn code(self) -> u32 {
        match self {
            Rest::Dropped => 0,
            Rest::Apart => 1,
            Rest::Behind => 2,
        }
    }

    /// What a kernel of this key does with them, if it selects.
    pub fn of(key: &KernelKey) -> Option<Rest> {
        let code = key.constant("SELECT_REST")?;
        [Rest::Dropped, Rest::Apart, Rest::Behind].into_iter().find(|rest| rest.code() == code)
    }
}

/// What a selection writes of the elements that it keeps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Keeps {
    /// The elements.
    Items,
    /// Where they are, each a `u32`.
    Indices,
    /// The values beside them, of this type. They themselves are flags.
    Values(ElementType),
    /// The elements, and the values of this type beside them. What is not kept is left out.
    Pairs(ElementType),
}

impl Keeps {
    /// The values' type, where there are some.
    pub fn value(&self) -> Option<&ElementType> {
        match self {
            Keeps::Items | Keeps::Indices => None,
            Keeps::Values(value) | Keeps::Pairs(value) => Some(value),
        }
    }

    /// What goes to the output for each of these elements.
    pub fn output<'a>(&'a self, element: &'a ElementType) -> &'a ElementType {
        match self {
            Keeps::Items | Keeps::Pairs(_) => element,
            Keeps::Indices => &ElementType::Scalar(Scalar::U32),
            Keeps::Values(value) => value,
        }
    }

    /// What `SELECT_KEEPS`, a kernel's constant, says of it.
    pub(crate) fn code(&self) -> u32 {
        match self {
            Keeps::Items => 0,
            Keeps::Indices => 1,
            Keeps::Values(_) => 2,
            Keeps::Pairs(_) => 3,
        }
    }
}

/// A selection: `select_if`, with the rest `partition_if`, and their like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectRequest {
    /// What says which elements are kept.
    pub selector: Selector,
    /// How many elements.
    pub n: u64,
    /// What becomes of those that are not kept.
    pub rest: Rest,
    /// What is written of those that are.
    pub keeps: Keeps,
}

/// Keeps the upper half of a type's values, and of the floats over [0, 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpperHalf;

macro_rules! upper_half {
    ($($T:ident, $middle:expr, $wgsl:literal;)*) => {
        $(impl Predicate<$T> for UpperHalf {
            fn name(&self) -> Cow<'static, str> {
                "upper_half".into()
            }
            fn text(&self) -> Cow<'static, str> {
                concat!("fn keep(v: T) -> bool { return ", $wgsl, "; }").into()
            }
            fn keep(&self, v: $T) -> bool {
                v >= $middle
            }
        })*
    };
}

upper_half! {
    u32, 1 << 31, "v >= 0x80000000u";
    i32, 0, "v >= 0i";
    f32, 0.5, "v >= 0.5f";
    u64, 1 << 63, "(v >> 63u) != 0lu";
    i64, 0, "v >= 0li";
    f64, 0.5, "v >= 0.5lf";
    u8, 1 << 7, "v >= 128u";
    i8, 0, "v >= 0i";
    u16, 1 << 15, "v >= 0x8000u";
    i16, 0, "v >= 0i";
    f16, f16::from_f32_const(0.5), "v >= 0.5f";
    bf16, bf16::from_f32_const(0.5), "v >= 0.5f";
}

impl UpperHalf {
    /// Of a type's values; `None` for scalars of 128 bits.
    pub fn of(scalar: Scalar) -> Option<Selector> {
        let held = for_held!(scalar, T => Selector::of::<T, _>(UpperHalf));
        held.or_else(|| for_computed!(scalar, T => Selector::of::<T, _>(UpperHalf)))
    }
}

fn upper_half(scalar: Scalar, rest: Rest, n: u64) -> Option<Request> {
    Some(SelectRequest { selector: UpperHalf::of(scalar)?, n, rest, keeps: Keeps::Items }.into())
}

/// Selections of the upper half.
pub static SELECT: Form = Form {
    varies: Varies::Kept,
    ..Form::new("select_if", "Select of {}", |&Asked { scalar, n, .. }| upper_half(scalar, Rest::Dropped, n))
};

/// Partitions into the upper half and the rest.
pub static PARTITION: Form = Form {
    varies: Varies::Kept,
    ..Form::new("partition_if", "Partition of {}", |&Asked { scalar, n, .. }| upper_half(scalar, Rest::Apart, n))
};

impl SelectRequest {
    /// What is moved where the inputs are read in so many passes, and so many outputs are written.
    pub(crate) fn bytes_moved(&self, passes: u64, kept: u64) -> u64 {
        // Values are read as they are written.
        let values = self.keeps.value().map_or(0, |value| u64::from(value.bytes())).saturating_mul(self.outputs(kept));
        let moved = self.bytes_read().saturating_mul(passes).saturating_add(self.bytes_written(kept));
        moved.saturating_add(values)
    }

    /// The type of what goes to the output.
    pub(crate) fn output(&self) -> &ElementType {
        self.keeps.output(self.selector.element())
    }

    /// What one pass reads, the values left out.
    fn bytes_read(&self) -> u64 {
        self.n.saturating_mul(u64::from(self.selector.element().bytes()))
    }

    /// What is written where so many elements are kept, the count left out.
    fn bytes_written(&self, kept: u64) -> u64 {
        let pairs = if let Keeps::Pairs(value) = &self.keeps { value.bytes() } else { 0 };
        self.outputs(kept).saturating_mul(u64::from(self.output().bytes() + pairs))
    }

    /// How many elements are written where so many are kept.
    fn outputs(&self, kept: u64) -> u64 {
        if self.rest == Rest::Dropped { kept } else { self.n }
    }
}

impl Primitive for SelectRequest {
    fn form(&self) -> &'static Form {
        match (&self.keeps, self.rest, self.selector.asks()) {
            (Keeps::Indices, ..) => &FIND_ALL,
            (Keeps::Values(_), ..) => &SELECT_FLAGGED,
            (Keeps::Pairs(_), ..) => &UNIQUE_BY_KEY,
            (_, Rest::Dropped, Asks::Neighbours) => &UNIQUE,
            (_, Rest::Dropped, Asks::Predicate) => &SELECT,
            _ => &PARTITION,
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn written(&self) -> Option<Written> {
        match self.rest {
            Rest::Dropped => Some(Written::Counted),
            Rest::Behind => Some(Written::Elements(Param::ELEMENTS)),
            // The rest would be mapped too.
            Rest::Apart => None,
        }
    }

    fn label(&self) -> Label {
        let behind = (self.rest == Rest::Behind).then_some("behind");
        let rest = (self.rest == Rest::Apart && self.keeps != Keeps::Items).then_some("apart");
        Label::new(&[Some(self.selector.element()), self.keeps.value()], &*self.selector.name, &[behind, rest])
    }

    fn operands(&self) -> Vec<Operand> {
        let output = |slot| match &self.keeps {
            Keeps::Values(value) => Operand::moved(slot, value, self.n),
            _ => Operand::new(slot, self.output(), self.n),
        };
        let values = |slot| self.keeps.value().map(|value| Operand::moved(slot, value, self.n));
        let mut operands = vec![Operand::new(Slot::Input, self.selector.element(), self.n), output(Slot::Output)];
        operands.extend((self.rest == Rest::Apart).then(|| output(Slot::Rest)));
        operands.extend(values(Slot::InputValues));
        operands.extend(values(Slot::OutputValues).filter(|_| matches!(self.keeps, Keeps::Pairs(_))));
        operands.push(Operand::count());
        operands
    }

    fn selector(&self) -> Option<&Selector> {
        Some(&self.selector)
    }

    fn bytes_moved_by(&self, outputs: u64) -> u64 {
        self.bytes_moved(1, outputs)
    }

    /// A tile writes behind what tiles before it keep. These have told how much that is, so they have read their elements. What
    /// neighbours ask, helpers read, values are or goes behind all others may still be read. And in WGSL a compiler takes two bindings
    /// for two memories: it may load an element again that was overwritten.
    fn copies_in_place(&self, algorithm: &Algorithm, caps: &Caps) -> bool {
        let is_dense = self.keeps == Keeps::Items && self.rest == Rest::Dropped;
        let own = is_dense && self.selector.asks() == Asks::Predicate;
        let in_order = algorithm.tiles_wait && caps.forward_progress && caps.language != Language::Wgsl;
        !(own && in_order)
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let is_behind = self.rest == Rest::Behind && algorithm.tiles_wait;
        is_behind.then_some("where the rest begins in a span of both is known only after a pass")
    }

    fn check(&self) -> Result<()> {
        match (&self.keeps, self.rest) {
            (Keeps::Pairs(_), Rest::Apart | Rest::Behind) => Err(Error::Invalid(
                "a partition of pairs: of keys with values only those that are kept are written; partition the indices and \
                 gather by them"
                    .into(),
            )),
            _ => Ok(()),
        }
    }
}

/// Selection and partition by a predicate. Both are stable, also for the elements that are not kept.
///
/// One look-back pass reads each element once and writes it at most once. It scans the tiles' counts of kept elements.
/// Devices without subgroups count first, and read twice. A partition takes that one pass if the rest has a span of its
/// own; see [`PartitionCall::to`].
///
/// The number of kept elements is written as one `u32` to a span of the caller's. It stays on the device, and can be
/// read like any other.
///
/// Outputs are as long as the input. What lies past the elements written keeps what it held.
///
/// In place a selection by a predicate moves what is kept to the front, in CUDA and OpenCL on devices that promise that all
/// workgroups make progress. Elsewhere, and in place of a partition or of unique, the input is copied first: a tile
/// might overwrite elements that others have not read yet.
///
/// Scratch is a counter, and a state of 8 bytes for each tile (16 without 64-bit atomics).
/// [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan).
pub trait Select: Backend {
    /// The elements for which the predicate holds, in their order.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.9f32, 0.1, 0.5])?;
    /// assert_eq!(gpu.select(&x, UpperHalf).read()?, [0.9, 0.5]);
    ///
    /// // The count stays on the device.
    /// let kept = gpu.select(&x, UpperHalf).compact()?;
    /// assert_eq!(kept.count().read()?, [2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn select<X: IntoInput<Self>, P: Predicate<X::Item>>(&self, x: X, predicate: P) -> SelectCall<X::Item, Self> {
        SelectCall::of(self.clone(), x.into_input(), Selector::of(predicate))
    }

    /// The elements for which the predicate holds, and the others, both in their order.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.9f32, 0.1, 0.5])?;
    /// assert_eq!(gpu.partition(&x, UpperHalf).to_one(&gpu.alloc(3)?).plan()?.launches(), 1);
    /// assert_eq!(gpu.partition(&x, UpperHalf).read()?, (vec![0.9, 0.5], vec![0.1]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn partition<X: IntoInput<Self>, P: Predicate<X::Item>>(&self, x: X, predicate: P) -> PartitionCall<X::Item, Self> {
        PartitionCall(self.select(x, predicate))
    }

    /// Where the elements are for which the predicate holds, in ascending order.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.9f32, 0.1, 0.5])?;
    /// assert_eq!(gpu.find_all(&x, UpperHalf).read()?, [0, 2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn find_all<X: IntoInput<Self>, P: Predicate<X::Item>>(&self, x: X, predicate: P) -> FindCall<X::Item, u32, Self> {
        FindCall::of(self.clone(), x.into_input(), None, Selector::of(predicate))
    }

    /// The elements whose flags are not 0, in their order. Flags are integers or floats: of these
    /// -0 is 0, and a NaN is not. Those of 8 bits cost least.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, flags) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.upload(&[1u8, 0, 1])?);
    /// assert_eq!(gpu.select_flagged(&x, &flags).read()?, [0.9, 0.5]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn select_flagged<X: IntoInput<Self>, F: IntoInput<Self>>(&self, x: X, flags: F) -> FindCall<F::Item, X::Item, Self>
    where
        NonZero: Predicate<F::Item>,
    {
        let values = x.into_input();
        let flags = flags.into_input().beside(&values, ["flags", "elements"]);
        FindCall::of(self.clone(), flags, Some(values), Selector::of::<F::Item, _>(NonZero))
    }

    /// The elements in so many parts: first those of class 0, then those of class 1, and so on. Within a part they keep their order. A class
    /// past the last counts as the last.
    ///
    /// Classes may be made by a map of the elements, as here. It is a sort by the classes' bits: up to 256 parts take one pass. That reads
    /// each class twice, and reads and writes each element once.
    ///
    /// ```
    /// # use trifold_core::{EvenBins, Select, Transfer};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.5f32, -1.0, 2.5, -0.25, 1.5])?;
    /// // Below 0, below 1, and others.
    /// let classes = x.mapped(EvenBins::over(-1.0, 2.0, 3));
    /// assert_eq!(gpu.partition_by(&x, classes, 3).read()?, [vec![-1.0, -0.25], vec![0.5], vec![2.5, 1.5]]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    fn partition_by<X, C>(&self, x: X, classes: C, parts: usize) -> PartitionByCall<X::Item, Self>
    where
        X: IntoInput<Self>,
        C: IntoInput<Self, Item = u32>,
    {
        PartitionByCall::of(self.clone(), x.into_input(), classes.into_input(), parts)
    }
}
impl<B: Backend> Select for B {}

/// A selection whose results have no place yet.
///
/// ```
/// # use trifold_core::{block_on, Select, Transfer, UpperHalf};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[0.9f32, 0.1, 0.5, 0.8])?;
/// assert_eq!(gpu.select(&x, UpperHalf).read()?, [0.9, 0.5, 0.8]);
/// assert_eq!(block_on(gpu.select(&x, UpperHalf).read_async())?, [0.9, 0.5, 0.8]);
///
/// // To new memory on the device, with their number.
/// let kept = gpu.select(&x, UpperHalf).compact()?;
/// assert_eq!(kept.count().read()?, [3]);
///
/// // Of as many elements as a word on the device says.
/// let n = gpu.upload(&[2u32])?;
/// assert_eq!(gpu.select(&x, UpperHalf).len_on_device(&n).read()?, [0.9]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to(&out), in_place(), compact() or read()"]
pub struct SelectCall<T, B: Backend = Device> {
    device: B,
    input: View<T, B>,
    selector: Selector,
    count: Option<Buffer<u32, B>>,
}

/// A partition whose results have no place yet.
///
/// ```
/// # use trifold_core::{Select, Transfer, UpperHalf};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[0.9f32, 0.1, 0.5, 0.8])?;
/// assert_eq!(gpu.partition(&x, UpperHalf).read()?, (vec![0.9, 0.5, 0.8], vec![0.1]));
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[must_use = "say where: to((&kept, &rest)), to_one(&out), in_place() or read()"]
pub struct PartitionCall<T, B: Backend = Device>(SelectCall<T, B>);

impl<T: Element, B: Backend> SelectCall<T, B> {
    pub(crate) fn of(device: B, input: View<T, B>, selector: Selector) -> Self {
        SelectCall { device, input, selector, count: None }
    }

    /// Writes how many elements are kept to this one `u32`.
    ///
    /// It may be a word of arguments for an indirect draw or dispatch.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, kept, n) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.select(&x, UpperHalf).count_to(&n).to(&kept).run()?;
    /// assert_eq!(n.read()?, [2]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count_to(self, count: &Buffer<u32, B>) -> Self {
        SelectCall { count: Some(count.clone()), ..self }
    }

    /// To a buffer of as many elements as are read. What lies past those that are kept stays as it is.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, kept) = (gpu.upload(&[0.9f32, 0.1, 0.5])?, gpu.upload(&[7.0f32; 3])?);
    /// gpu.select(&x, UpperHalf).to(&kept).run()?;
    /// assert_eq!(kept.read()?, [0.9, 0.5, 7.0]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = self.input.spans_to(output.span());
        self.placed(Rest::Dropped, Ok(spans))
    }

    /// To the front of where the input is. What lies past those that are kept stays as it is.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, n) = (gpu.upload(&[0.1f32, 0.9, 0.5])?, gpu.alloc(1)?);
    /// gpu.select(&x, UpperHalf).count_to(&n).in_place().run()?;
    /// assert_eq!((x.read()?, n.read()?), (vec![0.9, 0.5, 0.5], vec![2]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        let spans = self.input.spans_in_place();
        self.placed(Rest::Dropped, spans)
    }

    fn placed(self, rest: Rest, spans: std::result::Result<Spans<B>, String>) -> Placed<B> {
        let request = SelectRequest { selector: self.selector, n: self.input.n(), rest, keeps: Keeps::Items };
        let spans = spans.map(|spans| SpansOf { count: self.count.map(|count| count.span().clone()), ..spans });
        Placed::of(self.device, request, spans).reads(Slot::Input, &self.input)
    }
}

impl<T: Element, B: Backend> PartitionCall<T, B> {
    /// As [`SelectCall::len_on_device`].
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, n) = (gpu.upload(&[0.9f32, 0.1, 0.5, 0.8])?, gpu.upload(&[2u32])?);
    /// assert_eq!(gpu.partition(&x, UpperHalf).len_on_device(&n).read()?, (vec![0.9], vec![0.1]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn len_on_device(self, length: &Buffer<u32, B>) -> Self {
        PartitionCall(self.0.len_on_device(length))
    }

    /// Writes how many elements are kept to this one `u32`.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, both, n) = (gpu.upload(&[0.1f32, 0.9, 0.5])?, gpu.alloc(3)?, gpu.alloc(1)?);
    /// gpu.partition(&x, UpperHalf).count_to(&n).to_one(&both).run()?;
    /// assert_eq!((both.read()?, n.read()?), (vec![0.9, 0.5, 0.1], vec![2]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn count_to(self, count: &Buffer<u32, B>) -> Self {
        PartitionCall(self.0.count_to(count))
    }

    /// The kept elements to one buffer and the others to another, both of as many elements as are read. One pass, which moves 2n
    /// elements.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.1f32, 0.9, 0.5])?;
    /// let (kept, rest) = (gpu.alloc(3)?, gpu.alloc(3)?);
    /// gpu.partition(&x, UpperHalf).to((&kept, &rest)).run()?;
    /// assert_eq!(kept.slice(..2)?.read()?, [0.9, 0.5]);
    /// assert_eq!(rest.slice(..1)?.read()?, [0.1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to(self, (kept, rest): (&Buffer<T, B>, &Buffer<T, B>)) -> Placed<B> {
        let spans = self.0.input.spans_to(kept.span()).with_rest(rest.span());
        self.0.placed(Rest::Apart, Ok(spans))
    }

    /// The kept elements to a buffer's beginning, and the others behind them.
    ///
    /// Where the others begin is known only after all elements have been seen. So this takes three launches: count,
    /// scan of the counts, place. They read the input twice, and move 3n elements.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, both) = (gpu.upload(&[0.1f32, 0.9, 0.5])?, gpu.alloc(3)?);
    /// gpu.partition(&x, UpperHalf).to_one(&both).run()?;
    /// assert_eq!(both.read()?, [0.9, 0.5, 0.1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn to_one(self, output: &Buffer<T, B>) -> Placed<B> {
        let spans = self.0.input.spans_to(output.span());
        self.0.placed(Rest::Behind, Ok(spans))
    }

    /// As [`PartitionCall::to_one`], where the input is.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.1f32, 0.9, 0.5])?;
    /// gpu.partition(&x, UpperHalf).in_place().run()?;
    /// assert_eq!(x.read()?, [0.9, 0.5, 0.1]);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn in_place(self) -> Placed<B> {
        let spans = self.0.input.spans_in_place();
        self.0.placed(Rest::Behind, spans)
    }

    /// Runs the call, waits for its end, and reads the kept elements and the others.
    ///
    /// ```
    /// # use trifold_core::{Select, Transfer, UpperHalf};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let x = gpu.upload(&[0.1f32, 0.9, 0.5])?;
    /// assert_eq!(gpu.partition(&x, UpperHalf).read()?, (vec![0.9, 0.5], vec![0.1]));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub fn read(self) -> Result<(Vec<T>, Vec<T>)> {
        block_on(self.read_async())
    }

    /// As [`PartitionCall::read`], for programs that must not block.
    ///
    /// # Errors
    /// As of [`Scan`](crate::Scan).
    pub async fn read_async(self) -> Result<(Vec<T>, Vec<T>)> {
        let SelectCall { device, input, count, .. } = &self.0;
        let length = input.length().cloned();
        let (n, count) = (input.len(), count.clone().map_or_else(|| new_count(device), Ok)?);
        let (kept, rest) = (device.alloc(n)?, device.alloc(n)?);
        self.count_to(&count).to((&kept, &rest)).run_async().await?;
        let kept = Compacted::new(kept, count).read_async().await?;
        // As many as the device said, all the others are.
        let n = match length {
            Some(length) => Compacted::new(rest.clone(), length).len_async().await?,
            None => n,
        };
        let rest = rest.slice(..n - kept.len())?.read_async().await?;
        Ok((kept, rest))
    }
}

length!(SelectCall<T: Element>, input);
counted_output!(SelectCall<T: Element>, T, input);
