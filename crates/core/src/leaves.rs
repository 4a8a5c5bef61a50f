//! How plans' kernels read views and map their output: what stands for their arguments, and by what names.

use crate::plan::{Launch, Param, Region, Slot};
use crate::primitive::Operand;
use crate::{ElementType, Error, Language, Leaf, MAX_ELEMENTS, MAX_LEAVES, Result, Then, ViewData, Viewed};

/// What kernels call what a view reads.
#[derive(Debug, Clone, Copy)]
pub struct LeafNames {
    /// The argument.
    pub name: &'static str,
    /// The type of its elements.
    pub of: &'static str,
    /// The parameter that says where it begins.
    pub offset: &'static str,
    /// The parameter that has the length of what a gather or a search of this number reads.
    pub length: &'static str,
}

macro_rules! leaf_names {
    ($($i:literal)*) => {
        [$(LeafNames {
            name: concat!("leaf", $i),
            of: concat!("Leaf", $i),
            offset: concat!("leaf", $i, "_offset"),
            length: concat!("reached", $i, "_length"),
        }),*]
    };
}

/// What kernels call the leaves of views, by their numbers in the call.
pub static LEAVES: [LeafNames; MAX_LEAVES] = leaf_names!(0 1 2 3 4 5 6 7);

/// A view that stands for a kernel's argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ViewOf {
    /// The argument.
    pub argument: &'static str,
    /// The leaves of the call's other views before its own. Lengths of what is reached are counted from there on too.
    pub first: u8,
    /// The view.
    pub view: ViewData,
}

impl ViewOf {
    /// The numbers of its leaves in the call.
    pub fn leaves(&self) -> std::ops::Range<usize> {
        usize::from(self.first)..usize::from(self.first) + self.view.leaves.len()
    }

    /// The numbers of its lengths in the call: each gather and each search has a leaf of its own.
    pub fn lengths(&self) -> std::ops::Range<usize> {
        usize::from(self.first)..usize::from(self.first) + self.view.lengths.len()
    }
}

/// The argument whose elements a call's last map makes of the kernel's.
pub(crate) const OUTPUT: &str = "output";
/// What stands for that argument then.
pub const MAPPED_OUTPUT: &str = "mapped_output";

/// How many bytes of a mapped output a kernel writes at once that takes so many elements.
pub fn mapped_unit(element: &ElementType, pack: u32) -> u32 {
    leaf_unit(&Leaf { element: element.clone(), straight: true }, pack)
}

/// How many bytes of a leaf a kernel takes at once that takes so many elements: all of them where a vector of 16 bytes has room, else
/// one.
pub fn leaf_unit(leaf: &Leaf, pack: u32) -> u32 {
    let bytes = leaf.element.bytes();
    let whole = leaf.straight && matches!(leaf.element, ElementType::Scalar(_)) && bytes * pack <= 16;
    if whole { bytes * pack } else { bytes }
}

impl Launch {
    /// Has the kernel map what it writes to the call's output.
    pub(crate) fn maps_output(&mut self, then: &Then, operands: &[Operand]) {
        let output = |(name, region): &(&str, Region)| *name == OUTPUT && region.slot == Slot::Output;
        let Some(at) = self.bindings.iter().position(output) else { return };
        let bytes = operands.iter().find(|operand| operand.slot == Slot::Output).map_or(0, Operand::bytes);
        self.bindings[at] = (MAPPED_OUTPUT, Region { slot: Slot::Output, offset: 0, bytes });
        let taken = self.kernel.kernel.arguments.iter().find(|argument| argument.name == OUTPUT);
        let pack = match taken {
            Some(argument) if argument.of == "Pack" => self.kernel.constant("PACK").unwrap_or(1),
            _ => 1,
        };
        let to = Param::Offset { binding: MAPPED_OUTPUT, unit: mapped_unit(&then.map.output, pack) };
        for (_, param) in &mut self.params {
            if matches!(param, Param::Offset { binding: OUTPUT, .. }) {
                *param = to;
            }
        }
        self.kernel.then = Some(then.clone());
    }

    /// Has a view stand for the memory of a slot: the kernel reads the view's leaves instead.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a part of the slot: leaves are bound whole.
    pub(crate) fn reads_view(&mut self, viewed: &Viewed, operands: &[Operand], language: Language) -> Result<()> {
        let Some(at) = self.bindings.iter().position(|(_, region)| region.slot == viewed.slot) else { return Ok(()) };
        let (argument, region) = self.bindings.remove(at);
        if region.offset != 0 {
            let (kernel, offset, noun) = (self.kernel.name(), region.offset, viewed.slot.noun());
            return Err(Error::Invalid(format!(
                "{kernel} reads its {noun} from byte {offset} on, and a view is read whole"
            )));
        }
        for (_, param) in &mut self.params {
            if matches!(param, Param::Offset { binding, .. } if *binding == argument) {
                *param = Param::Word(0);
            }
        }
        let of = ViewOf { argument, first: viewed.first, view: viewed.view.clone() };
        let pack = self.kernel.constant("PACK").unwrap_or(1);
        for (leaf, number) in of.view.leaves.iter().zip(of.leaves()) {
            let LeafNames { name, offset, .. } = LEAVES[number];
            let slot = Slot::Leaf(number as u8);
            let bytes = operands.iter().find(|operand| operand.slot == slot).map_or(0, Operand::bytes);
            self.bindings.push((name, Region { slot, offset: 0, bytes }));
            // WGSL has no memory of less than words: parts of these are counted one by one.
            let is_part = language == Language::Wgsl && leaf.element.bytes() < 4;
            let unit = if is_part { leaf.element.bytes() } else { leaf_unit(leaf, pack) };
            self.params.push((offset, Param::Offset { binding: name, unit }));
        }
        for (number, &length) in of.lengths().zip(&of.view.lengths) {
            if length > MAX_ELEMENTS {
                return Err(Error::Invalid(format!(
                    "a view that gathers from {length} elements, or searches them; the most is {MAX_ELEMENTS}: give it a slice"
                )));
            }
            self.params.push((LEAVES[number].length, Param::Word(length as u32)));
        }
        self.kernel.views.push(of);
        Ok(())
    }
}
