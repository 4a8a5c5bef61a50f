//! Maps: functions of values, as a trait for callers, and erased to data.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::items::{self, HostMap};
use crate::op::own_name;
use crate::{Captures, Element, ElementType, ViewData};

/// What a register holds: an element, or a pair of values, which zipped views have.
pub trait Value: Copy + Send + Sync + 'static {
    /// The elements that it is made of, in order.
    #[doc(hidden)]
    fn elements() -> Vec<ElementType>;
}

impl<T: Element> Value for T {
    fn elements() -> Vec<ElementType> {
        vec![T::TYPE]
    }
}

impl<A: Value, B: Value> Value for (A, B) {
    fn elements() -> Vec<ElementType> {
        [A::elements(), B::elements()].concat()
    }
}

/// A function of a value, for views. A value of it is what calls take.
///
/// Its text defines `fn map(a: A) -> U` in WGSL, and any functions that it calls. `A` stands for the type of what is
/// mapped, and `U` for that of the result. Of zipped views there are several arguments: `fn map(a: A, b: B) -> U`, up to
/// `H`. Element structs are in scope under their own names too. Every GPU runs that text, in all three kernel languages.
///
/// Scalars that kernels do not compute with stand in the text as wider ones: 8 and 16-bit integers as `u32` or `i32`,
/// `f16` and `bf16` as `f32`. A result is rounded to such a float (to nearest, ties to even), and of an integer the lower
/// bits are kept.
///
/// `map` is the same function in Rust. The CPU backend runs it, and tests compare GPUs with it.
///
/// ```
/// use std::borrow::Cow;
/// use trifold_core::{Captures, Map, Reduce, Sum, Transfer};
///
/// trifold_core::element! { struct Scaled { by: f32 } }
///
/// impl Map<u8> for Scaled {
///     type Output = f32;
///     fn text(&self) -> Cow<'static, str> {
///         "fn map(a: A) -> U { return f32(a) * captures.by; }".into()
///     }
///     fn map(&self, a: u8) -> f32 {
///         f32::from(a) * self.by
///     }
///     fn captures(&self) -> Captures {
///         Captures::of(self)
///     }
/// }
///
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let bytes = gpu.upload(&[1u8, 2, 250])?;
/// assert_eq!(gpu.reduce(bytes.mapped(Scaled { by: 0.5 }), Sum).value()?, 126.5);
/// # Ok::<(), trifold_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no map of `{V}`",
    note = "a map is a type with a text in WGSL and a twin in Rust; closures are none, since a GPU cannot run them"
)]
pub trait Map<V: Value>: Clone + Send + Sync + 'static {
    /// What it gives.
    type Output: Element;

    /// The map's name, for reports and errors.
    fn name(&self) -> Cow<'static, str> {
        own_name::<Self>().into()
    }
    /// `fn map(a: A) -> U` in WGSL.
    fn text(&self) -> Cow<'static, str>;
    /// The map in Rust.
    fn map(&self, v: V) -> Self::Output;
    /// The numbers that the text reads as `captures`.
    fn captures(&self) -> Captures {
        Captures::default()
    }
}

/// A map erased to data, without its Rust.
#[derive(Debug, Clone)]
pub struct MapText {
    /// The map's name.
    pub name: Cow<'static, str>,
    /// The types of its arguments.
    pub inputs: Vec<ElementType>,
    /// What it gives.
    pub output: ElementType,
    /// Its WGSL text.
    pub wgsl: Cow<'static, str>,
    /// The numbers that it reads, which are no part of a kernel.
    pub captures: Captures,
}

impl MapText {
    pub(crate) fn of<V: Value, M: Map<V>>(map: &M) -> MapText {
        MapText {
            name: map.name(),
            inputs: V::elements(),
            output: M::Output::TYPE,
            wgsl: map.text(),
            captures: map.captures(),
        }
    }

    fn key(&self) -> impl PartialEq + Hash {
        (&self.name, &self.inputs, &self.output, &self.wgsl, self.captures.element())
    }
}
impl PartialEq for MapText {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for MapText {}
impl Hash for MapText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// A map of what a call gives, erased to data.
#[derive(Clone)]
pub struct Then {
    pub(crate) map: Arc<MapText>,
    host: Arc<dyn HostMap>,
    /// As a view of what was written.
    pub(crate) view: ViewData,
}

impl Then {
    pub(crate) fn of<T: Element, M: Map<T>>(map: M) -> Then {
        let view = ViewData::mapped::<T, M>(map.clone());
        Then { map: Arc::new(MapText::of::<T, M>(&map)), host: items::of_elements(map), view }
    }

    /// The words of what it gives of one element's words.
    pub(crate) fn of_one(&self, words: &[u32]) -> Vec<u32> {
        // Memory that any element may lie in.
        let room = |words: usize| vec![0u128; words.div_ceil(4).max(1)];
        let (mut from, count) = (room(words.len()), self.map.output.words() as usize);
        let mut to = room(count);
        bytemuck::cast_slice_mut::<u128, u32>(&mut from)[..words.len()].copy_from_slice(words);
        // SAFETY: the words are an element's that the map is of, and `to` has room for what it gives; both are aligned for any.
        unsafe { self.host.apply(from.as_ptr().cast(), 1, to.as_mut_ptr().cast()) };
        bytemuck::cast_slice::<u128, u32>(&to)[..count].to_vec()
    }

    /// The map.
    pub fn map(&self) -> &MapText {
        &self.map
    }

    /// The map on the CPU.
    pub fn host(&self) -> &Arc<dyn HostMap> {
        &self.host
    }
}
impl std::fmt::Debug for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.map.name)
    }
}
impl PartialEq for Then {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}
impl Eq for Then {}
impl Hash for Then {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.map.hash(state);
    }
}
