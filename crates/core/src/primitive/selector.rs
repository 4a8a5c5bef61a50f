//! What says which elements a selection keeps: a predicate of the caller's, erased to data, and the processor's loops of it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::host::Loops;
use crate::op::own_name;
use crate::{Captures, Element, ElementType};

/// Which elements of type `T` to keep. A value of it is what calls take.
///
/// Its text defines `fn keep(v: T) -> bool` in WGSL, and any functions that it calls. `T` stands for the element type;
/// an element struct is in scope under its own name too. Of numbers of 8 and 16 bits `T` is the 32-bit type of their kind:
/// `u32`, `i32` or `f32`. Every GPU runs that text, in all three kernel languages.
///
/// `keep` is the same function in Rust. The CPU backend runs it, and tests compare GPUs with it.
///
/// The captures of a value are parameters of its kernels. So `Above { limit: 0.5 }` and `Above { limit: 0.7 }` run the
/// same kernel:
///
/// ```
/// use std::borrow::Cow;
/// use trifold_core::{Captures, Predicate, Select, Transfer};
///
/// trifold_core::element! { struct Above { limit: f32 } }
///
/// impl Predicate<f32> for Above {
///     fn text(&self) -> Cow<'static, str> {
///         "fn keep(v: T) -> bool { return v > captures.limit; }".into()
///     }
///     fn keep(&self, v: f32) -> bool {
///         v > self.limit
///     }
///     fn captures(&self) -> Captures {
///         Captures::of(self)
///     }
/// }
///
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let x = gpu.upload(&[0.4f32, 0.6, 0.8])?;
/// assert_eq!(gpu.select(&x, Above { limit: 0.5 }).read()?, [0.6, 0.8]);
/// assert_eq!(gpu.select(&x, Above { limit: 0.7 }).read()?, [0.8]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no predicate of `{T}`",
    note = "a predicate is a type with a text in WGSL and a twin in Rust; closures are none, since a GPU cannot run them"
)]
pub trait Predicate<T: Element>: Clone + Send + Sync + 'static {
    /// The predicate's name, for reports and errors.
    fn name(&self) -> Cow<'static, str> {
        own_name::<Self>().into()
    }
    /// `fn keep(v: T) -> bool` in WGSL.
    fn text(&self) -> Cow<'static, str>;
    /// The predicate in Rust.
    fn keep(&self, v: T) -> bool;
    /// The numbers that the text reads as `captures`.
    fn captures(&self) -> Captures {
        Captures::default()
    }
}

/// How the CPU selects: loops over whole blocks of elements, one copy for each predicate and element type.
///
/// All pointers are to elements of the selector's type and must be aligned for it.
pub trait HostSelector: Send + Sync {
    /// How many of a block's elements are kept.
    ///
    /// # Safety
    /// There are [`Block::n`] readable elements at its start, and one before them if it says so.
    unsafe fn count(&self, block: Block) -> usize;

    /// Writes the block's kept elements to `kept`, and the others to `rest` unless that is null. Says how many are kept.
    /// It asks of each element once, in order. What it leaves in the room behind them is anything.
    ///
    /// # Safety
    /// As of [`HostSelector::count`]. There is room for as many elements, apart from them and from each other, at `kept`
    /// and, unless that is null, at `rest`.
    unsafe fn split(&self, block: Block, kept: *mut u8, rest: *mut u8) -> usize;

    /// As [`HostSelector::split`], but it writes where the elements are in the block.
    ///
    /// # Safety
    /// As there, of room for as many words.
    unsafe fn places(&self, block: Block, kept: *mut u32, rest: *mut u32) -> usize;
}

/// Elements that lie together.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The first.
    pub start: *const u8,
    /// How many.
    pub n: usize,
    /// Whether an element lies right before the first.
    pub follows: bool,
}

/// A predicate erased to data, with its element type.
#[derive(Clone)]
pub struct Selector {
    /// The predicate's name.
    pub name: Cow<'static, str>,
    // Private, since the loops below work on elements of this type.
    element: ElementType,
    /// Its WGSL text; empty where it asks neighbours.
    pub wgsl: Cow<'static, str>,
    asks: Asks,
    captures: Captures,
    host: Arc<dyn HostSelector>,
}

/// What a selection keeps an element by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asks {
    /// What the text says of the element.
    Predicate,
    /// Whether its bits are not those of the element before it.
    Neighbours,
}

impl std::fmt::Debug for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}<{}>", self.name, self.element.name())
    }
}

// The host loops follow from the text's author, not from the text; a kernel depends on the text alone, and takes captures as parameters.
impl Selector {
    fn key(&self) -> impl PartialEq + Hash {
        (&self.name, &self.element, self.asks, &self.wgsl, self.captures.element())
    }
}
impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Selector {}
impl Hash for Selector {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Selector {
    /// Erases a predicate over `T`.
    pub fn of<T: Element, P: Predicate<T>>(predicate: P) -> Selector {
        Selector {
            wgsl: predicate.text(),
            captures: predicate.captures(),
            ..Selector::asking(
                Asks::Predicate,
                predicate.name(),
                T::TYPE,
                Arc::new(Loops::<T, P>::of(predicate.clone())),
            )
        }
    }

    pub(crate) fn asking(
        asks: Asks,
        name: impl Into<Cow<'static, str>>,
        element: ElementType,
        host: Arc<dyn HostSelector>,
    ) -> Selector {
        Selector { name: name.into(), element, wgsl: "".into(), asks, captures: Captures::default(), host }
    }

    /// A predicate from its parts, for those that are made at run time.
    ///
    /// # Safety
    /// The loops of `host` must be over elements of the type `element`.
    pub unsafe fn from_parts(
        name: impl Into<Cow<'static, str>>,
        element: ElementType,
        wgsl: impl Into<Cow<'static, str>>,
        host: Arc<dyn HostSelector>,
    ) -> Selector {
        Selector { wgsl: wgsl.into(), ..Selector::asking(Asks::Predicate, name, element, host) }
    }

    /// The element type.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// What it keeps an element by.
    pub fn asks(&self) -> Asks {
        self.asks
    }

    /// The numbers that its text reads.
    pub fn captures(&self) -> &Captures {
        &self.captures
    }

    /// Its loops on the CPU.
    pub fn host(&self) -> &Arc<dyn HostSelector> {
        &self.host
    }
}
