//! Views: what primitives read, memory or what maps make of it, element by element and without a copy.

use std::sync::Arc;

use crate::items::{self, Items};
use crate::{
    Backend, Buffer, Compacted, Device, Difference, Element, Error, Leaf, Map, MapText, Node, Reduce, Span, Spans,
    Value, ViewData, adjacent, rank,
};

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
    /// Why that is not known, where two words say it.
    torn: Option<String>,
    /// Why it cannot be read.
    refusal: Option<String>,
    /// Why it cannot be read to its end beside what a call reads with it.
    unlike: Option<String>,
    /// What must hold of it, for [`View::checked`].
    checks: Vec<Check<B>>,
}

/// Numbers that must be less than one, and what it means if one is not.
pub(crate) struct Check<B: Backend> {
    pub(crate) of: Arc<View<u32, B>>,
    pub(crate) below: u64,
    /// Of the place of the first that is not, of the number, and of `below`.
    pub(crate) why: fn(u32, u32, u64) -> String,
}

impl<B: Backend> Clone for Check<B> {
    fn clone(&self) -> Self {
        Check { of: self.of.clone(), below: self.below, why: self.why }
    }
}

/// What a call reads of a view.
pub(crate) struct Erased<B: Backend> {
    /// How many elements there are.
    pub(crate) n: u64,
    /// Why it cannot be read.
    pub(crate) refusal: Option<String>,
    /// Why it is not known how many elements of it count.
    pub(crate) torn: Option<String>,
    /// Why it cannot be read to its end beside what a call reads with it.
    pub(crate) unlike: Option<String>,
    /// How elements are made, and the memory of which, if it is more than memory.
    pub(crate) data: Option<(ViewData, Vec<Span<B>>)>,
}

enum Source<V, B: Backend> {
    Memory(Span<B>),
    Made(Arc<Made<V, B>>),
}

/// What a view is made of.
struct Made<V, B: Backend> {
    /// One for each element of a value.
    nodes: Vec<Node>,
    leaves: Leaves<B>,
    lengths: Vec<u64>,
    items: Arc<dyn Items<V>>,
}

/// The memory that a view reads: of each leaf how many elements there are, and where.
type Leaves<B> = Vec<(Leaf, u64, Span<B>)>;

impl<V, B: Backend> Made<V, B> {
    /// Its leaves and lengths, and behind them those of a source of `n` elements that is read at other places, with its length the last.
    fn reaching<U>(&self, source: &Made<U, B>, n: u64) -> (Leaves<B>, Vec<u64>) {
        let reached = source.leaves.iter().cloned().map(|(leaf, n, span)| (Leaf { straight: false, ..leaf }, n, span));
        let lengths = [&self.lengths[..], &source.lengths, &[n]].concat();
        (self.leaves.iter().cloned().chain(reached).collect(), lengths)
    }
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
        let View { source, n, length, torn, refusal, unlike, checks } = self;
        View {
            source: source.clone(),
            n: *n,
            length: length.clone(),
            torn: torn.clone(),
            refusal: refusal.clone(),
            unlike: unlike.clone(),
            checks: checks.clone(),
        }
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
    View::new(Source::Made(Arc::new(made)), n as u64)
}

impl<V, B: Backend> View<V, B> {
    fn new(source: Source<V, B>, n: u64) -> Self {
        View { source, n, length: None, torn: None, refusal: None, unlike: None, checks: vec![] }
    }
}

impl<T: Element, B: Backend> View<T, B> {
    pub(crate) fn of_memory(span: &Span<B>) -> Self {
        let n = span.bytes() / size_of::<T>() as u64;
        View::new(Source::Memory(span.clone()), n)
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

    /// What a call reads of it, whatever its type.
    pub(crate) fn erased(&self) -> Erased<B> {
        let View { n, refusal, torn, unlike, .. } = self.clone();
        Erased { n, refusal, torn, unlike, data: self.data() }
    }

    /// As data, and the memory that it reads, if it is more than memory.
    fn data(&self) -> Option<(ViewData, Vec<Span<B>>)> {
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

    /// As many as there are of these beside it, if it does not say how many itself. The names are for the error where there are not as
    /// many of each. A call up to a capacity may bring more of one.
    pub(crate) fn beside<U>(mut self, other: &View<U, B>, [own_name, other_name]: [&str; 2]) -> Self {
        if self.n != other.n {
            let why = format!("{} {own_name} and {} {other_name}; bring as many of each", self.n, other.n);
            self.unlike = self.unlike.or(Some(why));
        }
        self.counted_with(other, &format!("{own_name} and {other_name}"))
    }

    /// As many as both say, and why that is not known where these are two words. The error names them.
    fn counted_with<U>(mut self, other: &View<U, B>, names: &str) -> Self {
        match (&self.length, &other.length) {
            (Some(own), Some(other)) if !own.span().is(other.span(), own.device()) => {
                self.torn = Some(format!(
                    "{names} whose numbers of elements are two words on the device; take the room() of one, or say which counts by \
                     len_on_device"
                ));
            }
            (None, other) => self.length = other.clone(),
            (Some(_), _) => {}
        }
        self.torn = self.torn.or_else(|| other.torn.clone());
        self.refusal = self.refusal.or_else(|| other.refusal.clone());
        self.unlike = self.unlike.or_else(|| other.unlike.clone());
        self
    }

    /// Why a call cannot read it, if it cannot.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.clone().or_else(|| self.torn.clone())
    }

    /// All that there is room for.
    pub(crate) fn uncounted(self) -> Self {
        View { length: None, torn: None, ..self }
    }

    /// As many as this word says.
    pub(crate) fn counted_by(mut self, length: &Buffer<u32, B>) -> Self {
        self.length = Some(length.clone());
        self.torn = None;
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
        View {
            source: Source::Made(Arc::new(made)),
            n: self.n,
            length: self.length.clone(),
            torn: self.torn.clone(),
            refusal: self.refusal.clone(),
            unlike: self.unlike.clone(),
            checks: self.checks.clone(),
        }
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
        let mut view = self.clone().counted_with(other, "zipped views").with(made);
        view.checks.extend(other.checks.iter().cloned());
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
        let (all_leaves, all_lengths) = at.reaching(&own, self.n);
        let made = Made {
            nodes: gathered.collect(),
            leaves: all_leaves,
            lengths: all_lengths,
            items: Arc::new(items::Gathered {
                source: own.items.clone(),
                index: at.items.clone(),
                leaves: at.leaves.len(),
                last: self.n.saturating_sub(1) as usize,
            }),
        };
        let mut view = index.with(made);
        view.refusal = view.refusal.or_else(|| self.refusal.clone());
        view.checks.extend(self.checks.iter().cloned());
        if self.n == 0 && index.n > 0 {
            view.refusal =
                view.refusal.or(Some(format!("{} elements are gathered from none; bring one at least", index.n)));
        }
        let why =
            |place, index, n| format!("index {place} is {index}, of {n} elements that are gathered from; bring less");
        view.checks.push(Check { of: Arc::new(index), below: self.n, why });
        view
    }

    /// Each value behind the one before it, from the same memory.
    pub(crate) fn neighbours(&self) -> View<(V, V), B> {
        let own = self.made();
        let behind = own.nodes.iter().map(|node| adjacent::before(node, own.lengths.len() as u8));
        self.with(Made {
            nodes: behind.chain(own.nodes.iter().cloned()).collect(),
            leaves: own.leaves.clone(),
            lengths: [&own.lengths[..], &[self.n]].concat(),
            items: Arc::new(items::Neighbours(own.items.clone())),
        })
    }

    /// Each value less the one before it.
    pub(crate) fn differences(&self) -> View<V, B>
    where
        Difference: Map<(u32, (V, V)), Output = V>,
    {
        let pairs = self.neighbours().made();
        self.with(Made {
            nodes: vec![adjacent::difference_node::<V>(&pairs.nodes)],
            leaves: pairs.leaves.clone(),
            lengths: pairs.lengths.clone(),
            items: Arc::new(adjacent::DifferenceItems(self.made().items.clone())),
        })
    }

    /// How many elements of another are before each of its own, as a map says, of which those are the first.
    pub(crate) fn bounds<M: Map<(V, V), Output = u32>>(&self, sorted: &View<V, B>, before: M) -> View<u32, B> {
        let (own, searched) = (self.made(), sorted.made());
        let (leaves, lengths) = (own.leaves.len() as u8, own.lengths.len() as u8);
        let (all_leaves, all_lengths) = own.reaching(&searched, sorted.n);
        let made = Made {
            nodes: vec![Node::Bound {
                sorted: Box::new(searched.nodes[0].behind(leaves, lengths)),
                of: Box::new(own.nodes[0].clone()),
                before: Arc::new(MapText::of::<(V, V), M>(&before)),
                length: lengths + searched.lengths.len() as u8,
            }],
            leaves: all_leaves,
            lengths: all_lengths,
            items: Arc::new(items::Bounds {
                sorted: searched.items.clone(),
                of: own.items.clone(),
                leaves: own.leaves.len(),
                n: sorted.n as usize,
                before,
            }),
        };
        let mut view = self.with(made);
        view.refusal = view.refusal.or_else(|| sorted.refusal.clone());
        if sorted.n == 0 && self.n > 0 {
            view.refusal = view
                .refusal
                .or(Some(format!("{} elements are searched for in none; bring one sorted element at least", self.n)));
        }
        view.checks.extend(sorted.checks.iter().cloned());
        view
    }

    /// The same, with one more thing that must hold of it.
    pub(crate) fn checking(mut self, check: Check<B>) -> Self {
        self.checks.push(check);
        self
    }
}

impl<V: Value, B: Reduce> View<V, B> {
    /// The same, if all indices of its gathers are of elements that are there, and what it searches is in order. Each
    /// index and what is searched is read once for that, and the host waits. What is written to them later is not seen.
    ///
    /// ```
    /// # use trifold_core::Transfer;
    /// # let gpu = trifold_cpu::Cpu::new()?;
    /// let (x, places) = (gpu.upload(&[30u32, 10, 20])?, gpu.upload(&[1u32, 2, 7])?);
    /// let why = x.gathered(&places).checked(&gpu).err().expect("7 is no place of three").to_string();
    /// assert!(why.contains("index 2 is 7, of 3 elements"));
    /// # Ok::<(), trifold_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the first index past the end or the first element out of order, and as of
    /// [`Scan`](crate::Scan).
    pub fn checked(self, device: &B) -> Result<Self, Error> {
        for Check { of, below, why } in &self.checks {
            let bad = rank::first_from(device, of, u32::try_from(*below).unwrap_or(u32::MAX))?;
            if let Some((place, number)) = bad {
                return Err(Error::Invalid(why(place, number, *below)));
            }
        }
        Ok(self)
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no input of a call on `{B}`",
    note = "inputs are buffers of the same backend, as `&x`, views of them and `Compacted` ones",
    note = "`gpu.upload(&data)` brings data of the host to a buffer"
)]
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
