//! Selection: the elements that a predicate keeps, written densely and in their order.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::{Form, Label, Operand, Primitive, Writes};
use crate::algorithm::Algorithm;
use crate::calls::{count, run_once};
use crate::{
    Backend, Element, ElementType, KernelKey, Layout, Options, Prepared, Request, Result, Scalar, Slot, Span, Spans,
    block_on, for_scalar,
};

/// Which elements of type `T` to keep.
///
/// `WGSL` defines `fn keep(v: T) -> bool`, and any functions it calls, with `T` standing for the element type; an element
/// struct is in scope under its own name too. That text is what every GPU runs, in all three kernel languages. `keep` is the
/// same function in Rust: the CPU backend's code, and the oracle that tests hold the GPUs to.
///
/// ```
/// use trifold_core::Predicate;
/// struct Odd;
/// impl Predicate<u32> for Odd {
///     const NAME: &'static str = "odd";
///     const WGSL: &'static str = "fn keep(v: T) -> bool { return (v & 1u) == 1u; }";
///     fn keep(v: u32) -> bool {
///         v & 1 == 1
///     }
/// }
/// ```
pub trait Predicate<T: Element>: 'static {
    /// The predicate's name, for reports and errors.
    const NAME: &'static str;
    /// `fn keep(v: T) -> bool` in WGSL.
    const WGSL: &'static str;
    /// The predicate in Rust.
    fn keep(v: T) -> bool;
}

/// How the CPU runs a predicate: loops over whole chunks, one copy per predicate and element type.
///
/// All pointers are to elements of the predicate's type and must be aligned for it.
#[derive(Clone, Copy)]
pub struct HostSelector {
    /// How many of `n` elements at `input` are kept.
    pub count: unsafe fn(input: *const u8, n: usize) -> usize,
    /// Writes the elements of `n` at `input` that are kept to `kept`, and the others to `rest` unless that is null: no more than
    /// `count` to the one and `n - count` to the other, whatever the predicate says.
    pub split: unsafe fn(input: *const u8, n: usize, count: usize, kept: *mut u8, rest: *mut u8),
}

/// A predicate erased to data, with its element type.
#[derive(Clone)]
pub struct Selector {
    /// The predicate's name.
    pub name: Cow<'static, str>,
    // Private, since the loops below work on elements of this type.
    element: ElementType,
    /// Its WGSL text.
    pub wgsl: Cow<'static, str>,
    host: HostSelector,
}

impl std::fmt::Debug for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}<{}>", self.name, self.element.name())
    }
}

// The host loops follow from the text's author, not from the text; a kernel depends on the text alone.
impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.element, &self.wgsl) == (&other.name, &other.element, &other.wgsl)
    }
}
impl Eq for Selector {}
impl Hash for Selector {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.element, &self.wgsl).hash(state);
    }
}

impl Selector {
    /// Erases the predicate `P` over `T`.
    pub fn of<T: Element, P: Predicate<T>>() -> Selector {
        Selector {
            name: Cow::Borrowed(P::NAME),
            element: T::TYPE,
            wgsl: Cow::Borrowed(P::WGSL),
            host: HostSelector { count: host_count::<T, P>, split: host_split::<T, P> },
        }
    }

    /// A predicate from its parts, for those that are made at run time.
    ///
    /// # Safety
    /// The loops of `host` must be over elements of the type `element`.
    pub unsafe fn from_parts(
        name: impl Into<Cow<'static, str>>,
        element: ElementType,
        wgsl: impl Into<Cow<'static, str>>,
        host: HostSelector,
    ) -> Selector {
        Selector { name: name.into(), element, wgsl: wgsl.into(), host }
    }

    /// The element type.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// Its loops on the CPU.
    pub fn host(&self) -> HostSelector {
        self.host
    }
}

/// # Safety
/// As [`HostSelector::count`]: `n` readable, aligned elements of T at `input`.
unsafe fn host_count<T: Element, P: Predicate<T>>(input: *const u8, n: usize) -> usize {
    // SAFETY: the caller's promise.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<T>(), n) };
    input.iter().map(|&v| usize::from(P::keep(v))).sum()
}

/// # Safety
/// As [`HostSelector::split`]: `n` readable, aligned elements of T at `input`, and room, apart from them, for `count` elements
/// at `kept` and, unless that is null, for `n - count` at `rest`.
unsafe fn host_split<T: Element, P: Predicate<T>>(
    input: *const u8,
    n: usize,
    count: usize,
    kept: *mut u8,
    rest: *mut u8,
) {
    // SAFETY: the caller's promise.
    let input = unsafe { std::slice::from_raw_parts(input.cast::<T>(), n) };
    let mut kept = (kept.cast::<T>(), count);
    let mut rest = (rest.cast::<T>(), if rest.is_null() { 0 } else { n.saturating_sub(count) });
    for &v in input {
        let (next, room) = if P::keep(v) { &mut kept } else { &mut rest };
        if *room > 0 {
            // SAFETY: there is room for one more.
            unsafe {
                next.write(v);
                *next = next.add(1);
            }
            *room -= 1;
        }
    }
}

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

/// A selection: `select_if`, or with the rest `partition_if`.
#[derive(Debug, Clone)]
pub struct SelectRequest {
    /// The predicate.
    pub selector: Selector,
    /// How many elements.
    pub n: u64,
    /// What becomes of those that are not kept.
    pub rest: Rest,
}

/// Keeps the upper half of a type's values, and of the floats over [0, 1).
pub struct UpperHalf;

macro_rules! upper_half {
    ($($T:ident, $middle:expr, $wgsl:literal;)*) => {
        $(impl Predicate<$T> for UpperHalf {
            const NAME: &'static str = "upper_half";
            const WGSL: &'static str = concat!("fn keep(v: T) -> bool { return ", $wgsl, "; }");
            fn keep(v: $T) -> bool {
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
}

fn upper_half(scalar: Scalar, rest: Rest, n: u64) -> Request {
    for_scalar!(scalar, T => SelectRequest::of::<T, UpperHalf>(n, rest))
}

/// Selections of the upper half.
pub static SELECT_IF: Form =
    Form { writes: Writes::Kept, ..Form::new("select_if", |scalar, _, n| upper_half(scalar, Rest::Dropped, n)) };

/// Partitions into the upper half and the rest.
pub static PARTITION_IF: Form =
    Form { writes: Writes::Kept, ..Form::new("partition_if", |scalar, _, n| upper_half(scalar, Rest::Apart, n)) };

impl SelectRequest {
    fn of<T: Element, P: Predicate<T>>(n: u64, rest: Rest) -> Request {
        SelectRequest { selector: Selector::of::<T, P>(), n, rest }.into()
    }

    /// What is moved where the inputs are read in so many passes, and so many outputs are written.
    pub(crate) fn bytes_moved(&self, passes: u64, kept: u64) -> u64 {
        self.bytes_read().saturating_mul(passes).saturating_add(self.bytes_written(kept))
    }

    /// What one pass reads.
    fn bytes_read(&self) -> u64 {
        self.n.saturating_mul(u64::from(self.selector.element().bytes()))
    }

    /// What is written where so many elements are kept, the count left out.
    fn bytes_written(&self, kept: u64) -> u64 {
        let written = if self.rest == Rest::Dropped { kept } else { self.n };
        written.saturating_mul(u64::from(self.selector.element().bytes()))
    }
}

impl Primitive for SelectRequest {
    fn form(&self) -> &'static Form {
        if self.rest == Rest::Dropped { &SELECT_IF } else { &PARTITION_IF }
    }

    fn n(&self) -> u64 {
        self.n
    }

    fn label(&self) -> Label {
        let behind = (self.rest == Rest::Behind).then_some("behind");
        Label::new(&[Some(self.selector.element())], &*self.selector.name, &[behind])
    }

    fn operands(&self) -> Vec<Operand> {
        let rest = (self.rest == Rest::Apart).then_some(Slot::Rest);
        let slots = [Slot::Input, Slot::Output].into_iter().chain(rest);
        let elements = slots.map(|slot| Operand::new(slot, self.selector.element(), self.n));
        elements.chain([Operand::count()]).collect()
    }

    fn selector(&self) -> Option<&Selector> {
        Some(&self.selector)
    }

    fn bytes_moved_by(&self, outputs: u64) -> u64 {
        self.bytes_moved(1, outputs)
    }

    fn apart(&self) -> Option<&'static str> {
        Some(
            "a selection in place: where elements go depends on all before them, which may be overwritten by then; give \
             it two spans",
        )
    }

    fn refuses(&self, algorithm: &Algorithm) -> Option<&'static str> {
        let is_behind = self.rest == Rest::Behind && algorithm.tiles_wait;
        is_behind.then_some("where the rest begins in a span of both is known only after a pass")
    }
}

/// Selection and partition by a predicate; both are stable, the elements that are not kept too.
///
/// One look-back pass reads each element once and writes it at most once: the count of kept elements is scanned over the
/// tiles as a prefix sum is. (Devices without subgroups count first, and read twice.) A partition is that one pass where the rest has a
/// span of its own; see [`Select::partition_if`]. How many there are is written as one `u32` to a span of the caller's; it stays on
/// the device, and can be read like any other. Outputs are as long as the input; what lies past the elements written keeps what it
/// held. Nothing works in place: where elements go depends on all before them, which other tiles may not have read yet. Scratch is a
/// state of 8 bytes a tile (16 without 64-bit atomics), and a counter; [`scratch_bytes`](crate::scratch_bytes) has it to the byte.
///
/// # Errors
/// As of [`Scan`](crate::Scan), and [`Error::Invalid`](crate::Error::Invalid) for outputs that are the input.
pub trait Select: Backend {
    /// Plans and compiles a selection from `n` elements. Bind spans with a count ([`Spans::with_count`]), and for
    /// [`Rest::Apart`] with a rest ([`Spans::with_rest`]).
    fn prepare_select<T: Element, P: Predicate<T>>(
        &self,
        n: u64,
        rest: Rest,
        layout: Layout,
    ) -> Result<Prepared<Self>> {
        block_on(Prepared::new(self, &SelectRequest::of::<T, P>(n, rest), layout, Options::default()))
    }

    /// Writes the elements for which the predicate holds to the output, in their order, and how many those are to `count_of_kept`.
    fn select_if<T: Element, P: Predicate<T>>(
        &self,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
        count_of_kept: &Span<'_, Self>,
    ) -> Result<()> {
        let request = SelectRequest::of::<T, P>(count::<T>(input.bytes())?, Rest::Dropped);
        run_once(self, &request, &Spans::new(input, output).with_count(count_of_kept))
    }

    /// As [`Select::select_if`], and writes the other elements, in their order, to `rest`: in the same one pass, which moves 2 n
    /// elements. `rest` has room for as many elements as the input too; its first n - count are written.
    ///
    /// Without a span for the rest they follow the kept ones in the output, in their order. Where they begin is known only
    /// after all elements have been seen, so that is three launches (count, scan of the counts, place), which read the input twice: 3 n.
    /// CUB's `DevicePartition::If` writes one span in one pass, since it puts the rest at the end in reverse order, which this does
    /// not: whoever can give two spans has both parts in order in one pass.
    fn partition_if<T: Element, P: Predicate<T>>(
        &self,
        input: &Span<'_, Self>,
        output: &Span<'_, Self>,
        rest: Option<&Span<'_, Self>>,
        count_of_kept: &Span<'_, Self>,
    ) -> Result<()> {
        let spans = Spans::new(input, output).with_count(count_of_kept);
        let (kind, spans) = match rest {
            Some(rest) => (Rest::Apart, spans.with_rest(rest)),
            None => (Rest::Behind, spans),
        };
        run_once(self, &SelectRequest::of::<T, P>(count::<T>(input.bytes())?, kind), &spans)
    }
}
impl<B: Backend> Select for B {}
