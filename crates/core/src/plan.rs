//! Plans: what a device is to do, as plain data.

use std::sync::Arc;

use crate::algorithm::Algorithm;
use crate::kernel::{read, write};
use crate::leaves::{LEAVES, MAPPED_OUTPUT, OUTPUT, ViewOf};
use crate::primitive::Operand;
use crate::scratch::Scratch;
use crate::{Argument, Caps, Captures, ElementType, Kernel, KeyImage, MAX_LEAVES, MapText, Op, Selector, Then};

/// Which of a call's spans, or the plan's scratch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The input elements or keys.
    Input,
    /// The output elements or keys.
    Output,
    /// The values carried along by a sort.
    InputValues,
    /// Where the values go.
    OutputValues,
    /// Where segments begin, and where the last one ends.
    Offsets,
    /// Where the elements go that a partition does not keep.
    Rest,
    /// How many elements were written: one `u32`.
    Count,
    /// How many elements there are to read, where that is on the device: one `u32`.
    Length,
    /// Memory that a view reads, by its number among the call's.
    Leaf(u8),
    /// Working memory, from the plan or from the caller.
    Scratch,
}

/// What errors call the memory that views read.
const LEAF_NOUNS: [&str; MAX_LEAVES] = [
    "view's 1st memory",
    "view's 2nd memory",
    "view's 3rd memory",
    "view's 4th memory",
    "view's 5th memory",
    "view's 6th memory",
    "view's 7th memory",
    "view's 8th memory",
];

/// A range of a slot, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    /// The slot.
    pub slot: Slot,
    /// Where the range starts within it.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

impl Slot {
    /// Those that a caller binds, inputs before what may replace them.
    pub(crate) const OF_CALLS: [Slot; 8 + MAX_LEAVES] = {
        let [a, b, c, d, e, f, g, h] = Self::LEAVES;
        use Slot::*;
        [a, b, c, d, e, f, g, h, Input, Output, InputValues, OutputValues, Offsets, Rest, Count, Length]
    };

    /// Those of views.
    const LEAVES: [Slot; MAX_LEAVES] = {
        use Slot::Leaf;
        [Leaf(0), Leaf(1), Leaf(2), Leaf(3), Leaf(4), Leaf(5), Leaf(6), Leaf(7)]
    };

    /// Whether a call writes it.
    pub fn is_output(self) -> bool {
        !matches!(self, Slot::Input | Slot::InputValues | Slot::Offsets | Slot::Length | Slot::Leaf(_))
    }

    /// The input whose memory it may be, where a call works in place.
    pub fn replaces(self) -> Option<Slot> {
        match self {
            Slot::Output => Some(Slot::Input),
            Slot::OutputValues => Some(Slot::InputValues),
            _ => None,
        }
    }

    /// Its name in errors.
    pub fn noun(self) -> &'static str {
        match self {
            Slot::Input => "input",
            Slot::Output => "output",
            Slot::InputValues => "input values",
            Slot::OutputValues => "output values",
            Slot::Offsets => "offsets",
            Slot::Rest => "rest",
            Slot::Count => "count",
            Slot::Length => "length",
            Slot::Leaf(leaf) => LEAF_NOUNS[usize::from(leaf) % MAX_LEAVES],
            Slot::Scratch => "scratch",
        }
    }
}

/// Which kernel, with everything its text depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelKey {
    /// The kernel that is assembled.
    pub kernel: &'static Kernel,
    /// The block files it is assembled with, in order.
    pub parts: Vec<&'static str>,
    /// The constants of its header.
    pub constants: Vec<(&'static str, u32)>,
    /// The element type, where it has one.
    pub element: Option<ElementType>,
    /// The operator, where it has one.
    pub op: Option<Op>,
    /// The arguments that its launches have.
    pub arguments: Vec<&'static str>,
    /// How its keys are ordered, where it orders keys.
    pub image: Option<KeyImage>,
    /// The predicate, where it has one. The elements that it is asked of are the kernel's `Item`, beside the element type.
    pub selector: Option<Selector>,
    /// What stands for some of its arguments, where these are no memory.
    pub views: Vec<ViewOf>,
    /// What maps its output.
    pub then: Option<Then>,
    /// The parameters that the kernel computes itself, from how many elements a word of the device's memory says there are.
    pub sizes: Vec<(&'static str, Size)>,
}

impl KernelKey {
    /// A kernel without element, operator or predicate.
    pub fn new(kernel: &'static Kernel, parts: Vec<&'static str>, constants: Vec<(&'static str, u32)>) -> KernelKey {
        KernelKey {
            kernel,
            parts,
            constants,
            arguments: vec![],
            element: None,
            op: None,
            image: None,
            selector: None,
            views: vec![],
            then: None,
            sizes: vec![],
        }
    }

    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.kernel.name
    }

    /// Of an operator and its elements.
    pub(crate) fn by(self, op: &Op) -> KernelKey {
        KernelKey { element: Some(op.element().clone()), op: Some(op.clone()), ..self }
    }

    /// The numbers that texts of the caller's read: parameters of a launch, and no part of the compiled kernel.
    pub fn captured(&self) -> Vec<Captured<'_>> {
        let own = [self.op.as_ref().map(Op::captures), self.selector.as_ref().map(Selector::captures)];
        let own = own.into_iter().flatten().map(|captures| Captured {
            field: "captures".into(),
            of: "Captures".into(),
            captures,
        });
        let maps = self.maps().into_iter().enumerate().map(|(i, map)| Captured {
            field: format!("map{i}_captures"),
            of: format!("Map{i}Captures"),
            captures: &map.captures,
        });
        own.chain(maps).filter(|captured| captured.captures.element().is_some()).collect()
    }

    /// The maps of its views, one after the other, and that of its output: a map's number is its place here.
    pub fn maps(&self) -> Vec<&MapText> {
        self.views
            .iter()
            .flat_map(|of| of.view.node.maps())
            .chain(self.then.as_ref().map(|then| &then.map))
            .map(|map| &**map)
            .collect()
    }

    /// The view that stands for an argument, if one does.
    pub fn view(&self, argument: &str) -> Option<&ViewOf> {
        self.views.iter().find(|of| of.argument == argument)
    }

    /// The kernel's arguments in order, where views have those that they read. Behind its own comes the length, where it
    /// computes parameters from that.
    pub fn taken(&self) -> Vec<Argument> {
        let length = (!self.sizes.is_empty()).then(|| read(LENGTH, "u32"));
        let memory = self.kernel.arguments.iter().flat_map(|argument| match self.view(argument.name) {
            Some(of) => of.leaves().map(|leaf| read(LEAVES[leaf].name, LEAVES[leaf].of)).collect(),
            None if self.then.is_some() && argument.name == OUTPUT => vec![write(MAPPED_OUTPUT, "MappedOutput")],
            None => vec![*argument],
        });
        memory.chain(length).collect()
    }

    /// The parameters' names in order: behind the kernel's own those of views, and those by which it finds the length, and the
    /// most that counts.
    pub fn words(&self) -> Vec<&'static str> {
        let leaves = self.views.iter().flat_map(|of| of.leaves().map(|leaf| LEAVES[leaf].offset));
        let lengths = self.views.iter().flat_map(|of| of.lengths().map(|length| LEAVES[length].length));
        let more = if self.sizes.is_empty() { &[][..] } else { &[LENGTH_OFFSET, CAPACITY] };
        self.kernel.params.iter().copied().chain(leaves).chain(lengths).chain(more.iter().copied()).collect()
    }

    /// The value of a constant.
    pub fn constant(&self, name: &str) -> Option<u32> {
        self.constants.iter().find(|(n, _)| *n == name).map(|&(_, v)| v)
    }

    /// Whether its tiles wait for each other: those that do can be made to misbehave.
    pub(crate) fn waits(&self) -> bool {
        self.constant("FAULT").is_some()
    }
}

/// The numbers that a text of the caller's reads.
#[derive(Debug, Clone)]
pub struct Captured<'a> {
    /// The parameter that has them.
    pub field: String,
    /// Its type.
    pub of: String,
    /// The numbers.
    pub captures: &'a Captures,
}

/// A number that follows from how many elements a run has: the elements themselves, and what was made of them step by step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size([Option<SizeStep>; 4]);

/// A step on the way from the elements to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SizeStep {
    /// So many parts, the last of which may be smaller.
    Parts(u32),
    /// So many of each.
    Times(u32),
    /// So many more.
    Plus(u32),
    /// What lies behind so many, and at most this.
    Window(u32, u32),
}

impl SizeStep {
    fn of(self, size: u32) -> u32 {
        match self {
            SizeStep::Parts(of) => size.div_ceil(of),
            SizeStep::Times(factor) => size.saturating_mul(factor),
            SizeStep::Plus(more) => size.saturating_add(more),
            SizeStep::Window(first, most) => size.saturating_sub(first).min(most),
        }
    }
}

impl Size {
    /// The number for so many elements.
    pub fn of(&self, n: u32) -> u32 {
        self.steps().fold(n, |size, step| step.of(size))
    }

    /// How it follows, step by step.
    pub fn steps(&self) -> impl Iterator<Item = SizeStep> {
        self.0.into_iter().flatten()
    }
}

impl std::fmt::Debug for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("n")?;
        self.steps().try_for_each(|step| write!(f, " {step:?}"))
    }
}

/// A kernel's run-time parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// A number known to the plan.
    Word(u32),
    /// A number that follows from how many elements the run has.
    Size(Size),
    /// Where a binding's span starts, in units of `unit` bytes, beyond where the backend could bind it.
    Offset {
        /// The binding.
        binding: &'static str,
        /// The unit, in bytes.
        unit: u32,
    },
}

impl Param {
    /// The elements of a run.
    pub(crate) const ELEMENTS: Param = Param::Size(Size([None; 4]));

    fn then(self, step: SizeStep) -> Param {
        match self {
            Param::Word(word) => Param::Word(step.of(word)),
            Param::Size(Size(mut steps)) => {
                let free = steps.iter_mut().find(|step| step.is_none());
                *free.expect("no number takes more steps") = Some(step);
                Param::Size(Size(steps))
            }
            Param::Offset { .. } => self,
        }
    }

    /// How many parts of so many there are.
    pub(crate) fn in_parts(self, of: u32) -> Param {
        self.then(SizeStep::Parts(of.max(1)))
    }

    pub(crate) fn times(self, factor: u32) -> Param {
        self.then(SizeStep::Times(factor))
    }

    pub(crate) fn plus(self, more: u32) -> Param {
        self.then(SizeStep::Plus(more))
    }

    /// How many there are behind so many, and at most this.
    pub(crate) fn window(self, first: u32, most: u32) -> Param {
        self.then(SizeStep::Window(first, most))
    }

    /// The number, of a run of so many elements, if it is one.
    pub fn number(&self, n: u32) -> Option<u32> {
        match self {
            Param::Word(word) => Some(*word),
            Param::Size(size) => Some(size.of(n)),
            Param::Offset { .. } => None,
        }
    }
}

/// One kernel launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The kernel.
    pub kernel: KernelKey,
    /// How many workgroups.
    pub groups: u32,
    /// What each argument is bound to.
    pub bindings: Vec<(&'static str, Region)>,
    /// The parameters.
    pub params: Vec<(&'static str, Param)>,
    /// The bytes of the element that a scan or reduce starts from.
    pub initial: Option<Vec<u8>>,
}

/// The argument by which a kernel reads how many elements there are.
pub const LENGTH: &str = "length_at";
/// Where it lies in that argument, in words.
pub const LENGTH_OFFSET: &str = "length_offset";
/// The most elements that count.
pub const CAPACITY: &str = "capacity";

impl Launch {
    /// Has the kernel itself compute the parameters that follow from how many elements there are, if it does not yet.
    pub(crate) fn reads_length(&mut self, length: Region) {
        if !self.kernel.sizes.is_empty() {
            return;
        }
        let sizes = self.params.iter().filter_map(|(name, param)| match param {
            Param::Size(size) => Some((*name, *size)),
            _ => None,
        });
        self.kernel.sizes = sizes.collect();
        if !self.kernel.sizes.is_empty() {
            self.bindings.push((LENGTH, length));
            self.params.push((LENGTH_OFFSET, Param::Offset { binding: LENGTH, unit: 4 }));
            self.params.push((CAPACITY, Param::ELEMENTS));
        }
    }
}

#[allow(clippy::large_enum_variant, reason = "a plan has a handful of steps, and most are launches")]
/// One step of a plan. Steps run in order, each seeing what the ones before it wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Fill a region with a 32-bit word.
    Fill {
        /// Where.
        region: Region,
        /// With what.
        value: u32,
        /// If true, only scratch that is not known to be clean needs it: the kernels leave the region as they found it.
        once: bool,
    },
    /// Copy a region to another of the same size.
    Copy {
        /// From where.
        from: Region,
        /// To where.
        to: Region,
        /// The bytes that are copied for each element of a run.
        each: u32,
    },
    /// From here on the run has as many elements as this word says, and no more than it was planned for: where kernels do not read it
    /// themselves ([`KernelKey::sizes`]).
    Length(Region),
    /// Launch a kernel.
    Launch(Launch),
}

/// What a device is to do for one call. The planner makes it and nobody changes it: kernels trust its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(crate) algorithm: &'static Algorithm,
    /// How many elements it was made for. A run may have fewer.
    pub(crate) n: u32,
    pub(crate) scratch: Scratch,
    pub(crate) steps: Vec<Step>,
    /// The spans it was made for.
    pub(crate) operands: Vec<Operand>,
    pub(crate) wide: bool,
    pub(crate) in_place: bool,
    pub(crate) depth: u64,
    pub(crate) follows_arrival: bool,
    /// The device that it was made for.
    pub(crate) caps: Arc<Caps>,
}

impl Plan {
    /// How many elements it was made for.
    pub fn n(&self) -> u64 {
        self.n.into()
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The spans that it was made for.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
    }

    /// Working memory it needs, in bytes.
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch.bytes()
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it needs spans that start at multiples of 16 bytes, with room to the next multiple at their ends.
    pub fn wide(&self) -> bool {
        self.wide
    }

    /// Whether how many elements a run has is on the device.
    pub fn reads_length(&self) -> bool {
        self.operands.iter().any(|operand| operand.slot == Slot::Length)
    }

    /// Whether it was made for an output that is the input.
    pub fn in_place(&self) -> bool {
        self.in_place
    }

    /// The longest chain of combines from an input to a result: what bounds a float sum's rounding.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// How many kernels it launches.
    pub fn launches(&self) -> usize {
        self.launched().count()
    }

    /// The most tiles of one launch that wait for each other, 0 where none does: only those can be blocked by a
    /// [`Fault`](crate::Fault), and only those are concerned by [`Waiting`](crate::Waiting).
    pub fn waiting_tiles(&self) -> u32 {
        let tiles = |launch: &Launch| {
            let tiles = launch.params.iter().find(|(name, _)| *name == "tiles");
            tiles.and_then(|(_, tiles)| tiles.number(self.n)).unwrap_or(launch.groups)
        };
        self.launched().filter(|launch| launch.kernel.waits()).map(tiles).max().unwrap_or(0)
    }

    /// Whether what it combines depends on which tiles come first, so that the last bits of a float's result may change from run to run.
    pub fn follows_arrival(&self) -> bool {
        self.follows_arrival
    }

    /// The kernels it launches, in order.
    pub fn launched(&self) -> impl Iterator<Item = &Launch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            _ => None,
        })
    }
}
