//! Views as data: how their elements come about, and requests of them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::items::{self, HostView};
use crate::primitive::{Operand, Written};
use crate::{Algorithm, Element, ElementType, Error, Map, MapText, Request, Result, Scalar, Slot, Then};

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
    /// It is the number of elements at the start of `sorted` that are before `of`: a `u32`, found by halves.
    Bound {
        /// What is searched: all elements that are before one stand in front of those that are not.
        sorted: Box<Node>,
        /// What is searched for.
        of: Box<Node>,
        /// Whether an element of `sorted` is before one that is searched for: a map of both to 0 or 1.
        before: Arc<MapText>,
        /// Which of the view's lengths `sorted` has.
        length: u8,
    },
}

impl Node {
    /// What it gives.
    pub fn element(&self) -> ElementType {
        match self {
            Node::Leaf(_, element) => element.clone(),
            Node::Place | Node::Bound { .. } => Scalar::U32.into(),
            Node::Mapped(map, _) => map.output.clone(),
            Node::Gathered { source, .. } => source.element(),
        }
    }

    /// The same of leaves and lengths that come behind so many others.
    pub(crate) fn behind(&self, leaves: u8, lengths: u8) -> Node {
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
            Node::Bound { sorted, of, before, length } => Node::Bound {
                sorted: Box::new(behind(sorted)),
                of: Box::new(behind(of)),
                before: before.clone(),
                length: length + lengths,
            },
        }
    }

    /// The maps, each before those that it reads, an index's before its source's, and a search's before what it is for.
    pub fn maps(&self) -> Vec<&Arc<MapText>> {
        match self {
            Node::Leaf(..) | Node::Place => vec![],
            Node::Mapped(map, of) => [map].into_iter().chain(of.iter().flat_map(Node::maps)).collect(),
            Node::Gathered { source, index, .. } => [index.maps(), source.maps()].concat(),
            Node::Bound { sorted, of, before, .. } => [vec![before], of.maps(), sorted.maps()].concat(),
        }
    }

    /// The types of all values on the way.
    pub fn elements(&self) -> Vec<ElementType> {
        let below = match self {
            Node::Leaf(..) | Node::Place => vec![],
            Node::Mapped(_, of) => of.iter().flat_map(Node::elements).collect(),
            Node::Gathered { source, index, .. } => [source.elements(), index.elements()].concat(),
            Node::Bound { sorted, of, .. } => [sorted.elements(), of.elements()].concat(),
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
            Node::Bound { sorted, of, before, .. } => write!(f, "{}({sorted},{of})", before.name),
        }
    }
}

/// Memory that a view reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The type of its elements.
    pub element: ElementType,
    /// Whether it has an element for each of the view's. Others are read at the places that an index gives, or searched.
    pub straight: bool,
}

/// A view erased to data.
#[derive(Clone)]
pub struct ViewData {
    pub(crate) node: Node,
    pub(crate) leaves: Vec<Leaf>,
    /// How many elements each leaf has that is not straight, by the leaves' order.
    pub(crate) leaf_lengths: Vec<u64>,
    /// The lengths of what is gathered from and searched.
    pub(crate) lengths: Vec<u64>,
    pub(crate) host: Arc<dyn HostView>,
}

impl ViewData {
    /// How an element comes about.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The memory.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

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

    /// Memory searched in other memory of so many elements in order, and what a map gives of how many are before each.
    pub(crate) fn searched<T: Element, S: Map<(T, T), Output = u32>, M: Map<u32>>(
        n: u64,
        before: S,
        map: M,
    ) -> ViewData {
        let leaf = |i| Box::new(Node::Leaf(i, T::TYPE));
        let text = Arc::new(MapText::of::<(T, T), S>(&before));
        let bound = Node::Bound { sorted: leaf(1), of: leaf(0), before: text, length: 0 };
        let (sorted, of) = (Arc::new(items::Memory), Arc::new(items::Memory));
        let bounds = items::Bounds::<T, S> { sorted, of, leaves: 1, n: n as usize, before };
        let leaf = |straight| Leaf { element: T::TYPE, straight };
        ViewData {
            node: Node::Mapped(Arc::new(MapText::of::<u32, M>(&map)), vec![bound]),
            leaves: vec![leaf(true), leaf(false)],
            leaf_lengths: vec![n],
            lengths: vec![n],
            host: items::erased(Arc::new(items::Mapped { of: Arc::new(bounds), map })),
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

    /// The numbers that its maps, gathers and searches take: no part of a kernel.
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

    /// Fails if something stands for elements of another type: backends size and read memory by the slot's type.
    pub(crate) fn check(&self) -> Result<()> {
        let operands = self.request.operands();
        let element = |slot: Slot| operands.iter().find(|operand| operand.slot == slot).map(|operand| &operand.element);
        let primitive = self.request.primitive();
        for Viewed { slot, view, .. } in &self.views {
            let (noun, made) = (slot.noun(), view.node.element());
            match element(*slot) {
                Some(own) if *own == made => {}
                Some(own) => {
                    let (own, made) = (own.name(), made.name());
                    return Err(Error::Invalid(format!(
                        "a view of {made} for the {noun} of {primitive}, which are {own}"
                    )));
                }
                None => return Err(Error::Invalid(format!("a view for the {noun} of {primitive}, which has none"))),
            }
        }
        match (&self.then, element(Slot::Output)) {
            (Some(then), Some(own)) if then.map.inputs != [own.clone()] => {
                let (map, own, inputs) = (&then.map.name, own.name(), &then.map.inputs);
                Err(Error::Invalid(format!("{primitive} gives {own}, and `{map}` behind it takes {inputs:?}")))
            }
            _ => Ok(()),
        }
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

    /// The bytes that a launch behind an algorithm moves, which maps so many outputs where the call counts them.
    pub(crate) fn moved_behind(&self, algorithm: &Algorithm, outputs: u64) -> u64 {
        let Some(then) = self.then.as_ref().filter(|_| !algorithm.maps_output) else { return 0 };
        let operands = self.request.operands();
        let output = operands.iter().find(|operand| operand.slot == Slot::Output);
        let counted = self.request.asked().written() == Some(Written::Counted);
        let moved = |own: &Operand| {
            let each = u64::from(own.element.bytes()) + u64::from(then.map.output.bytes());
            each.saturating_mul(if counted { outputs } else { own.len })
        };
        output.map_or(0, moved)
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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::{Keeps, Rest, SelectRequest, Selector, algorithm};

    /// The lower half of a word.
    #[derive(Clone)]
    struct Lower;

    impl Map<u64> for Lower {
        type Output = u32;
        fn text(&self) -> Cow<'static, str> {
            "fn map(a: A) -> U { return u32(a); }".into()
        }
        fn map(&self, a: u64) -> u32 {
            a as u32
        }
    }

    #[test]
    fn a_map_behind_a_selection_moves_what_is_kept() {
        let (selector, rest, keeps) = (Selector::first_of_run::<u64>(), Rest::Dropped, Keeps::Items);
        let unique = Request::Select(SelectRequest { selector, n: 10, rest, keeps });
        let mapped = unique.clone().then(Then::of::<u64, Lower>(Lower));
        let moved = |request: &Request| request.moved_by(&algorithm::select::LOOKBACK, 3).unwrap();
        assert_eq!(moved(&mapped) - moved(&unique), 3 * (8 + 4));
    }
}
