//! Views: what primitives read, memory or what maps make of it, element by element and without a copy.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::items::{self, HostMap, HostView, Items};
use crate::op::own_name;
use crate::primitive::Operand;
use crate::{Backend, Buffer, Captures, Compacted, Device, Element, ElementType, Request, Scalar, Slot, Span, Spans};

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
    fn of<V: Value, M: Map<V>>(map: &M) -> MapText {
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
    /// The map.
    pub map: Arc<MapText>,
    host: Arc<dyn HostMap>,
}

impl Then {
    pub(crate) fn of<T: Element, M: Map<T>>(map: M) -> Then {
        Then { map: Arc::new(MapText::of::<T, M>(&map)), host: items::of_elements(map) }
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

/// How the element at a place of a view comes about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// From memory: the element at that place of one of the view's leaves.
    Leaf(u8, ElementType),
    /// It is the place itself, a `u32`.
    Place,
    /// From others, by a map.
    Mapped(Arc<MapText>, Vec<Node>),
    /// From another place of `source`, which `index` gives: at most the last of its elements, whose number is one of the
    /// view's.
    Gathered {
        /// What is read at that place.
        source: Box<Node>,
        /// The place.
        index: Box<Node>,
        /// Which of the view's lengths `source` has.
        length: u8,
    },
}

impl Node {
    /// What it gives.
    pub fn element(&self) -> ElementType {
        match self {
            Node::Leaf(_, element) => element.clone(),
            Node::Place => Scalar::U32.into(),
            Node::Mapped(map, _) => map.output.clone(),
            Node::Gathered { source, .. } => source.element(),
        }
    }

    /// The same of leaves and lengths that come behind so many others.
    fn behind(&self, leaves: u8, lengths: u8) -> Node {
        let behind = |node: &Node| node.behind(leaves, lengths);
        match self {
            Node::Leaf(leaf, element) => Node::Leaf(leaf + leaves, element.clone()),
            Node::Place => Node::Place,
            Node::Mapped(map, of) => Node::Mapped(map.clone(), of.iter().map(behind).collect()),
            Node::Gathered { source, index, length } => Node::Gathered {
                source: Box::new(behind(source)),
                index: Box::new(behind(index)),
                length: length + lengths,
            },
        }
    }

    /// The maps, each before those that it reads, and an index's before its source's.
    pub fn maps(&self) -> Vec<&Arc<MapText>> {
        match self {
            Node::Leaf(..) | Node::Place => vec![],
            Node::Mapped(map, of) => [map].into_iter().chain(of.iter().flat_map(Node::maps)).collect(),
            Node::Gathered { source, index, .. } => [index.maps(), source.maps()].concat(),
        }
    }

    /// The types of all values on the way.
    pub fn elements(&self) -> Vec<ElementType> {
        let below = match self {
            Node::Leaf(..) | Node::Place => vec![],
            Node::Mapped(_, of) => of.iter().flat_map(Node::elements).collect(),
            Node::Gathered { source, index, .. } => [source.elements(), index.elements()].concat(),
        };
        [vec![self.element()], below].concat()
    }
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Node::Leaf(_, element) => f.write_str(element.name()),
            Node::Place => f.write_str("iota"),
            Node::Mapped(map, of) => {
                let of: Vec<_> = of.iter().map(Node::to_string).collect();
                write!(f, "{}({})", map.name, of.join(","))
            }
            Node::Gathered { source, index, .. } => write!(f, "{source}[{index}]"),
        }
    }
}

/// Memory that a view reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The type of its elements.
    pub element: ElementType,
    /// Whether it has an element for each of the view's. Others are read at the places that an index gives.
    pub straight: bool,
}

/// A view erased to data.
#[derive(Clone)]
pub struct ViewData {
    /// How an element comes about.
    pub node: Node,
    /// The memory.
    pub leaves: Vec<Leaf>,
    /// How many elements each leaf has that is not straight, by the leaves' order.
    pub(crate) leaf_lengths: Vec<u64>,
    /// The lengths that gathers are clamped to.
    pub(crate) lengths: Vec<u64>,
    host: Arc<dyn HostView>,
}

impl ViewData {
    /// Memory mapped, element by element.
    pub fn mapped<T: Element, M: Map<T>>(map: M) -> ViewData {
        let leaf = |i| Node::Leaf(i, T::TYPE);
        ViewData {
            node: Node::Mapped(Arc::new(MapText::of::<T, M>(&map)), vec![leaf(0)]),
            leaves: vec![Leaf { element: T::TYPE, straight: true }],
            leaf_lengths: vec![],
            lengths: vec![],
            host: items::erased(Arc::new(items::Mapped { of: Arc::new(items::Memory), map })),
        }
    }

    /// Memory mapped, each element with its place.
    pub fn mapped_indexed<T: Element, M: Map<(u32, T)>>(map: M) -> ViewData {
        let pairs = items::Zipped { a: Arc::new(items::Places), b: Arc::new(items::Memory), leaves: 0 };
        ViewData {
            node: Node::Mapped(Arc::new(MapText::of::<(u32, T), M>(&map)), vec![Node::Place, Node::Leaf(0, T::TYPE)]),
            leaves: vec![Leaf { element: T::TYPE, straight: true }],
            leaf_lengths: vec![],
            lengths: vec![],
            host: items::erased(Arc::new(items::Mapped { of: Arc::new(pairs), map })),
        }
    }

    /// Two of a type, mapped pair by pair.
    pub fn mapped_pairs<T: Element, M: Map<(T, T)>>(map: M) -> ViewData {
        let pairs = items::Zipped { a: Arc::new(items::Memory), b: Arc::new(items::Memory), leaves: 1 };
        let nodes = [0, 1].map(|i| Node::Leaf(i, T::TYPE));
        ViewData {
            node: Node::Mapped(Arc::new(MapText::of::<(T, T), M>(&map)), nodes.into()),
            leaves: vec![Leaf { element: T::TYPE, straight: true }; 2],
            leaf_lengths: vec![],
            lengths: vec![],
            host: items::erased(Arc::new(items::Mapped { of: Arc::new(pairs), map })),
        }
    }

    /// As a call's input.
    pub(crate) fn into_request(self, request: impl Into<Request>) -> Request {
        request.into().viewing(Viewed { slot: Slot::Input, first: 0, view: self })
    }

    /// The view on the CPU.
    pub fn host(&self) -> &Arc<dyn HostView> {
        &self.host
    }

    /// How many elements each leaf has, of a view of `n`.
    pub fn lengths_of_leaves(&self, n: u64) -> Vec<u64> {
        let mut lengths = self.leaf_lengths.iter();
        let length = |leaf: &Leaf| if leaf.straight { n } else { *lengths.next().unwrap_or(&0) };
        self.leaves.iter().map(length).collect()
    }

    /// The numbers that its maps and gathers take: no part of a kernel.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u8> {
        let captures = self.node.maps().into_iter().flat_map(|map| map.captures.bytes().to_vec()).collect::<Vec<_>>();
        let lengths = self.lengths.iter().chain(&self.leaf_lengths).flat_map(|length| length.to_le_bytes());
        captures.into_iter().chain(lengths.collect::<Vec<_>>())
    }

    fn key(&self) -> impl PartialEq + Hash {
        (&self.node, &self.leaves)
    }
}
impl std::fmt::Debug for ViewData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.node)
    }
}
// As of operators: numbers are not compared, and the host's part follows from the texts' authors.
impl PartialEq for ViewData {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for ViewData {}
impl Hash for ViewData {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// What a primitive reads: memory, or what maps make of it as it is read. All elements there are, or as many as the
/// device's memory says.
///
/// [`Buffer::mapped`] and its siblings make views. Nothing is computed, copied or checked before a call runs.
///
/// ```
/// # use trifold_core::{iota, Reduce, Sort, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, order) = (gpu.upload(&[30u32, 10, 20])?, gpu.upload(&[1u32, 2, 0])?);
/// assert_eq!(gpu.copy(x.gathered(&order)).read()?, [10, 20, 30]);
/// assert_eq!(gpu.reduce(iota(5), Sum).value()?, 10);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub struct View<V, B: Backend = Device> {
    source: Source<V, B>,
    n: u64,
    /// Where it says how many of them there are.
    length: Option<Buffer<u32, B>>,
    /// Whether what lies beside it has another.
    is_torn: bool,
    /// Why it cannot be read.
    refusal: Option<String>,
}

enum Source<V, B: Backend> {
    Memory(Span<B>),
    Made(Arc<Made<V, B>>),
}

/// What a view is made of.
struct Made<V, B: Backend> {
    /// One for each element of a value.
    nodes: Vec<Node>,
    leaves: Vec<(Leaf, u64, Span<B>)>,
    lengths: Vec<u64>,
    items: Arc<dyn Items<V>>,
}

impl<V, B: Backend> Clone for Source<V, B> {
    fn clone(&self) -> Self {
        match self {
            Source::Memory(span) => Source::Memory(span.clone()),
            Source::Made(made) => Source::Made(made.clone()),
        }
    }
}

impl<V, B: Backend> Clone for View<V, B> {
    fn clone(&self) -> Self {
        let View { source, n, length, is_torn, refusal } = self;
        View { source: source.clone(), n: *n, length: length.clone(), is_torn: *is_torn, refusal: refusal.clone() }
    }
}

/// The numbers from 0 up to `n`, without memory.
///
/// ```
/// # use trifold_core::{iota, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// assert_eq!(gpu.copy(iota(4)).read()?, [0, 1, 2, 3]);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub fn iota<B: Backend>(n: usize) -> View<u32, B> {
    let made = Made { nodes: vec![Node::Place], leaves: vec![], lengths: vec![], items: Arc::new(items::Places) };
    View { source: Source::Made(Arc::new(made)), n: n as u64, length: None, is_torn: false, refusal: None }
}

impl<T: Element, B: Backend> View<T, B> {
    pub(crate) fn of_memory(span: &Span<B>) -> Self {
        let n = span.bytes() / size_of::<T>() as u64;
        View { source: Source::Memory(span.clone()), n, length: None, is_torn: false, refusal: None }
    }

    /// The memory, if it is no more than that.
    pub(crate) fn memory(&self) -> Option<&Span<B>> {
        match &self.source {
            Source::Memory(span) => Some(span),
            Source::Made(_) => None,
        }
    }

    /// The spans of a call from this to an output. [`Placed::reads`](crate::Placed) adds what a view reads.
    pub(crate) fn spans_to(&self, output: &Span<B>) -> Spans<B> {
        let length = self.length.as_ref().map(|length| length.span().clone());
        Spans { input: self.memory().cloned(), length, ..Spans::to(output) }
    }

    /// The spans of a call that works in place, or why there are none.
    pub(crate) fn spans_in_place(&self) -> Result<Spans<B>, String> {
        match (self.refusal(), self.memory()) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(span)) => Ok(self.spans_to(span)),
            (None, None) => Err("a view has no memory to work in place; use to(&out)".into()),
        }
    }

    /// As data, and the memory that it reads, if it is more than memory.
    pub(crate) fn data(&self) -> Option<(ViewData, Vec<Span<B>>)> {
        let Source::Made(made) = &self.source else { return None };
        let leaf_lengths = made.leaves.iter().filter(|(leaf, ..)| !leaf.straight).map(|(_, length, _)| *length);
        let data = ViewData {
            node: made.nodes[0].clone(),
            leaves: made.leaves.iter().map(|(leaf, ..)| leaf.clone()).collect(),
            leaf_lengths: leaf_lengths.collect(),
            lengths: made.lengths.clone(),
            host: items::erased(made.items.clone()),
        };
        Some((data, made.leaves.iter().map(|(.., span)| span.clone()).collect()))
    }
}

impl<V: Value, B: Backend> View<V, B> {
    /// How many elements, or at most, where that is on the device.
    ///
    /// ```
    /// # use trifold_core::{Compacted, IntoInput, Transfer, View};
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, n) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[2u32])?);
    /// let input = Compacted::new(x, n).into_input();
    /// assert_eq!(input.len(), 3);
    /// assert!(input.length().is_some());
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.n as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// As many elements as there are of this.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// Where it says how many elements there are, if that is on the device.
    pub fn length(&self) -> Option<&Buffer<u32, B>> {
        self.length.as_ref()
    }

    /// As many as there are of these beside it, if it does not say how many itself.
    pub(crate) fn beside<U>(mut self, other: &View<U, B>) -> Self {
        match (&self.length, &other.length) {
            (Some(own), Some(other)) => self.is_torn |= !own.span().is(other.span(), own.device()),
            (None, other) => self.length = other.clone(),
            (Some(_), None) => {}
        }
        self.is_torn |= other.is_torn;
        self.refusal = self.refusal.or_else(|| other.refusal.clone());
        self
    }

    /// Why a call cannot read it, if it cannot.
    pub(crate) fn refusal(&self) -> Option<String> {
        let torn = self.is_torn.then(|| {
            "keys and values whose numbers of elements are two words on the device; pass the values' room(), or say which counts by \
             len_on_device"
                .into()
        });
        self.refusal.clone().or(torn)
    }

    /// As many as this word says.
    pub(crate) fn counted_by(mut self, length: &Buffer<u32, B>) -> Self {
        self.length = Some(length.clone());
        self.is_torn = false;
        self
    }

    fn made(&self) -> Arc<Made<V, B>> {
        match &self.source {
            Source::Made(made) => made.clone(),
            Source::Memory(span) => {
                let element = V::elements().remove(0);
                let leaf = Leaf { element: element.clone(), straight: true };
                Arc::new(Made {
                    nodes: vec![Node::Leaf(0, element)],
                    leaves: vec![(leaf, self.n, span.clone())],
                    lengths: vec![],
                    items: Arc::new(items::Memory),
                })
            }
        }
    }

    fn with<U>(&self, made: Made<U, B>) -> View<U, B> {
        let source = Source::Made(Arc::new(made));
        View { source, n: self.n, length: self.length.clone(), is_torn: self.is_torn, refusal: self.refusal.clone() }
    }

    /// Each value as a map gives it.
    ///
    /// ```
    /// # use std::borrow::Cow;
    /// # use trifold_core::{Map, Reduce, Sum, Transfer};
    /// # #[derive(Clone)]
    /// # struct Times;
    /// # impl Map<(f32, u32)> for Times {
    /// #     type Output = f32;
    /// #     fn text(&self) -> Cow<'static, str> { "fn map(a: A, b: B) -> U { return a * f32(b); }".into() }
    /// #     fn map(&self, (a, b): (f32, u32)) -> f32 { a * b as f32 }
    /// # }
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, y) = (gpu.upload(&[0.5f32, 2.0])?, gpu.upload(&[4u32, 3])?);
    /// // `Times` is a `Map<(f32, u32)>` whose text is `fn map(a: A, b: B) -> U { return a * f32(b); }`.
    /// assert_eq!(gpu.reduce(x.zipped(&y).mapped(Times), Sum).value()?, 8.0);
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    pub fn mapped<M: Map<V>>(&self, map: M) -> View<M::Output, B> {
        let made = self.made();
        self.with(Made {
            nodes: vec![Node::Mapped(Arc::new(MapText::of::<V, M>(&map)), made.nodes.clone())],
            leaves: made.leaves.clone(),
            lengths: made.lengths.clone(),
            items: Arc::new(items::Mapped { of: made.items.clone(), map }),
        })
    }

    /// Each value as a map gives it of its place and itself.
    pub fn mapped_indexed<M: Map<(u32, V)>>(&self, map: M) -> View<M::Output, B> {
        let indexed = iota(self.len()).zip(self);
        View { refusal: self.refusal.clone(), ..indexed.mapped(map) }
    }

    /// Each value with that at its place of another of as many: a pair, to be mapped.
    pub fn zipped<Y: IntoInput<B>>(&self, other: Y) -> View<(V, Y::Item), B> {
        self.zip(&other.into_input())
    }

    fn zip<U: Value>(&self, other: &View<U, B>) -> View<(V, U), B> {
        let (own, others) = (self.made(), other.made());
        let (leaves, lengths) = (own.leaves.len() as u8, own.lengths.len() as u8);
        let behind = others.nodes.iter().map(|node| node.behind(leaves, lengths));
        let made = Made {
            nodes: own.nodes.iter().cloned().chain(behind).collect(),
            leaves: [&own.leaves[..], &others.leaves].concat(),
            lengths: [&own.lengths[..], &others.lengths].concat(),
            items: Arc::new(items::Zipped { a: own.items.clone(), b: others.items.clone(), leaves: own.leaves.len() }),
        };
        let mut view = self.clone().beside(other).with(made);
        if self.n != other.n && view.refusal.is_none() {
            view.refusal =
                Some(format!("views of {} and {} elements are zipped; bring as many of each", self.n, other.n));
        }
        view
    }

    /// The values at the places that an index gives, as many as there are of those. Of a place behind the last value it is
    /// the last one.
    ///
    /// If it says on the device how many values there are, that is not read: places count in all of its room.
    pub fn gathered<I: IntoInput<B, Item = u32>>(&self, index: I) -> View<V, B> {
        let index = index.into_input();
        let (own, at) = (self.made(), index.made());
        // The index comes first.
        let (leaves, lengths) = (at.leaves.len() as u8, at.lengths.len() as u8);
        let own_lengths = own.lengths.len() as u8;
        let gathered = own.nodes.iter().map(|node| Node::Gathered {
            source: Box::new(node.behind(leaves, lengths)),
            index: Box::new(at.nodes[0].clone()),
            length: lengths + own_lengths,
        });
        let reached = own.leaves.iter().cloned().map(|(leaf, n, span)| (Leaf { straight: false, ..leaf }, n, span));
        let made = Made {
            nodes: gathered.collect(),
            leaves: at.leaves.iter().cloned().chain(reached).collect(),
            lengths: [&at.lengths[..], &own.lengths, &[self.n]].concat(),
            items: Arc::new(items::Gathered {
                source: own.items.clone(),
                index: at.items.clone(),
                leaves: at.leaves.len(),
                last: self.n.saturating_sub(1) as usize,
            }),
        };
        let mut view = index.with(made);
        view.refusal = view.refusal.or_else(|| self.refusal.clone());
        if self.n == 0 && index.n > 0 {
            view.refusal = view.refusal.or(Some(format!("{} elements are gathered from none", index.n)));
        }
        view
    }
}

/// Whatever a primitive can read.
///
/// A buffer, a part of one, a [`Compacted`], or a [`View`] of such:
///
/// ```
/// # use trifold_core::{Compacted, Reduce, Sum, Transfer};
/// # let gpu = trifold_cpu::Cpu::new()?;
/// let (x, n) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[2u32])?);
/// assert_eq!(gpu.reduce(&x, Sum).value()?, 8);
/// assert_eq!(gpu.reduce(x.slice(1..)?, Sum).value()?, 5);
/// assert_eq!(gpu.reduce(Compacted::new(x, n), Sum).value()?, 4);
/// # Ok::<(), trifold_core::Error>(())
/// ```
pub trait IntoInput<B: Backend> {
    /// The type of the elements.
    type Item: Element;

    /// What is read.
    fn into_input(self) -> View<Self::Item, B>;
}

impl<T: Element, B: Backend> IntoInput<B> for &Buffer<T, B> {
    type Item = T;

    fn into_input(self) -> View<T, B> {
        View::of_memory(self.span())
    }
}

impl<T: Element, B: Backend> IntoInput<B> for &Compacted<T, B> {
    type Item = T;

    fn into_input(self) -> View<T, B> {
        self.room().into_input().counted_by(self.count())
    }
}

impl<T: Element, B: Backend> IntoInput<B> for &View<T, B> {
    type Item = T;

    fn into_input(self) -> View<T, B> {
        self.clone()
    }
}

macro_rules! by_value {
    ($($Of:ident),*) => {
        $(impl<T: Element, B: Backend> IntoInput<B> for $Of<T, B> {
            type Item = T;

            fn into_input(self) -> View<T, B> {
                (&self).into_input()
            }
        })*
    };
}
by_value!(Buffer, Compacted, View);

macro_rules! views {
    ($($Of:ident),*) => {
        $(impl<T: Element, B: Backend> $Of<T, B> {
            /// As [`View::mapped`].
            ///
            /// ```
            /// # use std::borrow::Cow;
            /// # use trifold_core::{Map, Scan, Sum, Transfer};
            /// #[derive(Clone)]
            /// struct Square;
            ///
            /// impl Map<u32> for Square {
            ///     type Output = u32;
            ///     fn text(&self) -> Cow<'static, str> {
            ///         "fn map(a: A) -> U { return a * a; }".into()
            ///     }
            ///     fn map(&self, a: u32) -> u32 {
            ///         a.wrapping_mul(a)
            ///     }
            /// }
            ///
            /// # let gpu = trifold_cpu::Cpu::new()?;
            /// let x = gpu.upload(&[3u32, 1, 4])?;
            /// assert_eq!(gpu.inclusive_scan(x.mapped(Square), Sum).read()?, [9, 10, 26]);
            /// # Ok::<(), trifold_core::Error>(())
            /// ```
            pub fn mapped<M: Map<T>>(&self, map: M) -> View<M::Output, B> {
                self.into_input().mapped(map)
            }

            /// As [`View::mapped_indexed`].
            pub fn mapped_indexed<M: Map<(u32, T)>>(&self, map: M) -> View<M::Output, B> {
                self.into_input().mapped_indexed(map)
            }

            /// As [`View::zipped`].
            pub fn zipped<Y: IntoInput<B>>(&self, other: Y) -> View<(T, Y::Item), B> {
                self.into_input().zipped(other)
            }

            /// As [`View::gathered`].
            ///
            /// ```
            /// # use trifold_core::Transfer;
            /// # let gpu = trifold_cpu::Cpu::new()?;
            /// let (x, places) = (gpu.upload(&[3u32, 1, 4])?, gpu.upload(&[2u32, 0, 7, 2])?);
            /// assert_eq!(gpu.copy(x.gathered(&places)).read()?, [4, 3, 4, 4]);
            /// # Ok::<(), trifold_core::Error>(())
            /// ```
            pub fn gathered<I: IntoInput<B, Item = u32>>(&self, index: I) -> View<T, B> {
                self.into_input().gathered(index)
            }
        })*
    };
}
views!(Buffer, Compacted);

/// The most spans that the views of a call read.
pub const MAX_LEAVES: usize = 8;

/// A view in a call: of which slot, and how many leaves other views of the call have before its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Viewed {
    /// The slot, which has no memory of its own.
    pub slot: Slot,
    /// The leaves of others before its own.
    pub first: u8,
    /// What stands there.
    pub view: ViewData,
}

/// A request whose inputs are views.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ViewedRequest {
    /// What is asked, of memory.
    pub request: Request,
    /// What stands there instead.
    pub views: Vec<Viewed>,
    /// What is made of its output.
    pub then: Option<Then>,
}

impl ViewedRequest {
    pub(crate) fn with_n(&self, n: u64) -> Request {
        Request::Viewed(Box::new(ViewedRequest { request: self.request.with_n(n), ..self.clone() }))
    }

    /// The spans of a call: in the places of views the memory that these read.
    pub(crate) fn operands(&self) -> Vec<Operand> {
        let operands = self.request.operands().into_iter();
        let all = operands.flat_map(|operand| match self.views.iter().find(|viewed| viewed.slot == operand.slot) {
            Some(viewed) => viewed.operands(operand.len),
            None => vec![self.mapped(operand)],
        });
        all.collect()
    }

    /// The output is what the last map gives.
    fn mapped(&self, operand: Operand) -> Operand {
        match &self.then {
            Some(then) if operand.slot == Slot::Output => {
                let element = then.map.output.clone();
                Operand { align: element.align(), element, ..operand }
            }
            _ => operand,
        }
    }

    /// The bytes that are moved where so many are of memory alone, and inputs are read so often.
    pub(crate) fn instead(&self, moved: u64, reads: u64) -> u64 {
        self.views.iter().fold(moved, |moved, viewed| {
            let n = self.request.n();
            let memory = n.saturating_mul(viewed.view.node.element().bytes().into());
            // A gather reads an element for each place.
            let leaves = viewed.view.leaves.iter().map(|leaf| n.saturating_mul(leaf.element.bytes().into()));
            let leaves = leaves.fold(0u64, u64::saturating_add);
            moved.saturating_sub(reads.saturating_mul(memory)).saturating_add(reads.saturating_mul(leaves))
        })
    }
}

impl Viewed {
    /// What it reads, of so many elements.
    fn operands(&self, n: u64) -> Vec<Operand> {
        let leaves = self.view.leaves.iter().zip(self.view.lengths_of_leaves(n)).zip(self.first..);
        let operand = |((leaf, length), number): ((&Leaf, u64), u8)| Operand {
            packed: leaf.straight,
            ..Operand::new(Slot::Leaf(number), &leaf.element, length)
        };
        leaves.map(operand).collect()
    }
}
