//! Numbers of plans that any algorithm needs: how many invocations, words and workgroups, and what a kernel is told of them.

use std::fmt::Display;

use super::Planner;
use crate::algorithm::Algorithm;
use crate::primitive::Primitive;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{
    DeviceKind, ElementType, Error, KernelKey, Language, Launch, Op, Param, Region, Result, Slot, Step, SubgroupSource,
    Viewed, leaf_unit,
};

numbers! {
    /// What is said of every tile.
    pub struct Words by l {
        /// 32-bit words that one of these or of a reduction holds at least, if it may hold as many.
        least "words_least": Count up to 64 => 8,
    }
}

/// Workgroup memory for tickets, prefixes and the like, beside a tile's elements.
pub(crate) const BESIDE: u32 = 512;
/// Invocations that NVIDIA's OpenCL runs at most in workgroups whose size a kernel does not require.
const UNREQUIRED: u32 = 256;

/// How a kernel moves elements: sixteen bytes at a time where the spans allow it.
pub(crate) struct Pack {
    pub(crate) elements: u32,
    pub(crate) bytes: u32,
}

impl Pack {
    /// What its kernels are told: the elements of a pack.
    pub(crate) fn constant(&self) -> (&'static str, u32) {
        ("PACK", self.elements)
    }
}

/// The blocks by which packs are loaded, stored, and folded.
pub(crate) const PACKS: [&str; 3] = ["element/load", "element/store", "element/fold"];

/// After so many turns Mesa's processors end an invocation's loops.
const MOST_TURNS: u64 = 65535;

impl Planner<'_> {
    /// Words for an invocation of a workgroup: as many as tuned, on a GPU fewer for so few elements that compute units
    /// would stand idle. A power of two, so that few kernels are compiled.
    pub(crate) fn words(&self, tuned: u32, words: u64, workgroup: u32) -> u32 {
        if self.caps.kind == DeviceKind::Cpu {
            return tuned;
        }
        let invocations = u64::from(self.caps.compute_units.max(1)) * u64::from(workgroup);
        let each = words.div_ceil(invocations).min(u64::from(tuned)) as u32;
        each.next_power_of_two().max(self.tuning.words.least).min(tuned)
    }

    /// The constant that says how many workgroups of a kernel a compute unit should hold at once, which bounds its
    /// registers. In CUDA 0 is no bound. NVIDIA's OpenCL bounds only kernels that do not require their workgroups'
    /// size, which have at most [`UNREQUIRED`] invocations.
    pub(crate) fn registers_for(&self, workgroup: u32, resident: u32) -> Option<(&'static str, u32)> {
        let is_told = self.caps.subgroups.is_some_and(|s| s.source == SubgroupSource::InlinePtx);
        let is_bound = self.caps.language == Language::CudaC || is_told && resident > 1 && workgroup <= UNREQUIRED;
        is_bound.then_some(("RESIDENT", resident))
    }

    /// So many workgroups for each of the device's compute units.
    pub(crate) fn resident(&self, each: u32) -> u32 {
        self.caps.compute_units.max(1).saturating_mul(each)
    }

    /// Workgroups that stay for several tiles: so many for each compute unit, or one a tile. Mesa's processors end long loops.
    pub(crate) fn staying(&self, tiles: u32, each: u32) -> u32 {
        self.staying_of(1, tiles, each)
    }

    /// The same for each of so many segments.
    pub(crate) fn staying_of(&self, segments: u32, tiles: u32, each: u32) -> u32 {
        let least = tiles.div_ceil(self.most_tiles());
        tiles.min(self.resident(each).div_ceil(segments.max(1)).max(least)).clamp(1, 65535)
    }

    /// The most tiles that a workgroup stays for.
    pub(crate) fn most_tiles(&self) -> u32 {
        if self.ends_loops() { 1 << 11 } else { u32::MAX }
    }

    /// How many workgroups take tiles of so many turns each at least, where loops are ended.
    pub(crate) fn least_groups(&self, tiles: u32, turns: u32) -> u32 {
        if self.ends_loops() { tiles.div_ceil((MOST_TURNS as u32 / turns.max(1)).max(1)) } else { 1 }
    }

    /// Workgroups that take slots by turns, of which few may have something to do. Mesa's processors end long loops: there each has one.
    pub(crate) fn taking_turns(&self, slots: u32, each: u32) -> u32 {
        if self.ends_loops() { slots } else { self.staying(slots, each) }
    }

    /// A workgroup that halves until its elements take no more than half of the workgroup memory.
    pub(crate) fn workgroup_within_half(&self, mut workgroup: u32, element: &ElementType) -> u32 {
        while workgroup > self.narrowest_workgroup() && workgroup * element.bytes() > self.caps.shared_bytes / 2 {
            workgroup /= 2;
        }
        workgroup
    }

    /// Workgroups are whole subgroups, however wide the device makes those.
    pub(crate) fn widest_subgroup(&self) -> u32 {
        self.caps.subgroups.map_or(1, |s| s.max)
    }

    /// Counts are kept for as many subgroups as there may be.
    pub(crate) fn narrowest_subgroup(&self) -> u32 {
        self.caps.subgroups.map_or(32, |s| s.min).max(1)
    }

    /// The narrowest workgroup that one which ranks keys by subgroups is halved to.
    pub(crate) fn narrowest_ranking(&self) -> u32 {
        (4 * self.narrowest_subgroup()).max(self.widest_subgroup())
    }

    /// What a workgroup that ranks keys may have: in CUDA more, if it asks for it.
    pub(crate) fn ranking_room(&self) -> u32 {
        self.caps.shared_bytes.max(self.caps.bulk_shared_bytes)
    }

    /// The narrowest workgroup that another is halved to.
    pub(crate) fn narrowest_workgroup(&self) -> u32 {
        self.widest_subgroup().max(32)
    }

    /// So many invocations, or as many as the device has in a workgroup, of whole subgroups.
    pub(crate) fn workgroup_of(&self, most: u32) -> u32 {
        let widest = self.widest_subgroup();
        (most.min(self.caps.max_workgroup) / widest * widest).max(widest)
    }

    /// As often as a kernel may poll: Mesa's processors end a loop after 65535 turns, as if it were done.
    pub(crate) fn polls(&self, times: u32) -> u32 {
        let polls = times.saturating_mul(self.tuning.chain.spin_limit);
        if self.caps.kind == DeviceKind::Cpu { polls.min(1 << 12) } else { polls }
    }

    /// Whether it is one of Mesa's processors, which promise no progress and end loops that turn too often.
    pub(crate) fn ends_loops(&self) -> bool {
        self.caps.kind == DeviceKind::Cpu && !self.caps.forward_progress
    }

    /// Refuses a kernel whose loops may turn too often for Mesa's processors. These end an
    /// invocation's loops, as if they were done, after 65535 turns of all of them together. The turns of an operator's
    /// own loops are not known.
    pub(crate) fn check_turns(
        &self,
        algorithm: &Algorithm,
        turns: u64,
        because: &str,
        instead: impl Display,
    ) -> Result<()> {
        if !self.ends_loops() || turns <= MOST_TURNS {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{algorithm} of so many on {}: {because}, about {turns} turns of its loops, and Mesa's processors end loops after \
             {MOST_TURNS}; use {instead}",
            self.caps.device
        )))
    }

    /// About half of a workgroup, of whole subgroups.
    pub(crate) fn halved(&self, workgroup: u32) -> u32 {
        (workgroup / 2).next_multiple_of(self.widest_subgroup())
    }

    /// Whether what is loaded at once of a view has few bytes: the more loads must be on their way.
    pub(crate) fn loads_little(&self, pack: &Pack) -> bool {
        let of_view = |viewed: &Viewed| {
            let straight = viewed.view.leaves.iter().filter(|leaf| leaf.straight);
            straight.map(|leaf| leaf_unit(leaf, pack.elements)).sum::<u32>()
        };
        self.views.iter().any(|viewed| viewed.slot == Slot::Input && 2 * of_view(viewed) <= pack.bytes)
    }

    pub(crate) fn pack(&self, element: &ElementType) -> Pack {
        let bytes = element.bytes();
        let is_wide = self.layout.wide && matches!(element, ElementType::Scalar(_));
        let elements = if is_wide { 16 / bytes } else { 1 };
        Pack { elements, bytes: elements * bytes }
    }

    /// The block by which a subgroup scans: by the device's own instruction where that has the operator.
    pub(crate) fn subgroup_scan_of(&self, op: &Op) -> &'static str {
        let native_sum = self.caps.language == Language::Wgsl && op.is_word_sum();
        if native_sum { "workgroup/subgroup_scan_native" } else { self.subgroup_scan_part(op) }
    }

    /// The block by which a subgroup scans with any operator.
    pub(crate) fn subgroup_scan_part(&self, op: &Op) -> &'static str {
        match op.element().is_word() && self.caps.language != Language::OpenClC {
            true => "workgroup/subgroup_scan",
            // As much workgroup memory as the elements are: little beside the 16 KiB that any device has.
            false if self.caps.emulates_subgroups() && op.element().words() <= 8 => "workgroup/subgroup_scan_staged",
            false => "workgroup/subgroup_scan_words",
        }
    }

    /// The parts and constants through which a kernel reaches subgroups.
    pub(crate) fn subgroup_constants(&self, workgroup: u32) -> Result<Vec<(&'static str, u32)>> {
        let Some(s) = self.caps.subgroups else {
            return Err(Error::Unsupported(format!(
                "{} ({}) has no subgroups; use reduce_then_scan or upsweep_downsweep",
                self.caps.device, self.caps.backend
            )));
        };
        // Those that are emulated are as narrow as their workgroup.
        let whole = if s.source == SubgroupSource::Emulated { s.max.min(workgroup) } else { s.max };
        if !workgroup.is_multiple_of(whole) {
            return Err(Error::Invalid(format!(
                "a workgroup of {workgroup} on {} ({}), whose subgroups are up to {} wide; tune it to a multiple of that",
                self.caps.device, self.caps.backend, s.max
            )));
        }
        let max = s.max.min(workgroup);
        let min = s.min.min(workgroup);
        Ok(vec![("SUBGROUP_MIN", min), ("SUBGROUP_MAX", max), ("MAX_SUBGROUPS", workgroup / min)])
    }

    pub(crate) fn fault_constants(&self) -> [(&'static str, u32); 2] {
        use crate::Fault;
        let (kind, every) = match self.options.fault {
            Fault::None => (0, 1),
            Fault::Silent(every) => (1, every.max(1)),
            Fault::Late(every) => (2, every.max(1)),
        };
        [("FAULT", kind), ("FAULT_EVERY", every)]
    }
}

/// Where a binding's elements or packs of so many bytes begin: a caller's span begins at any element, a region of scratch where it
/// can be bound.
pub(crate) fn offset(binding: &'static str, region: Region, unit: u32) -> Param {
    match region.slot {
        Slot::Scratch => Param::Word(0),
        _ => Param::Offset { binding, unit },
    }
}

/// What a launch is told of offsets of so many segments: how many words each has, where they are, and where they begin there.
#[expect(clippy::type_complexity, reason = "a constant, a binding and a parameter, as launches have them")]
pub(crate) fn offsets_told(
    of: &ElementType,
    count: u64,
) -> ((&'static str, u32), (&'static str, Region), (&'static str, Param)) {
    let region = whole(Slot::Offsets, count.saturating_add(1).saturating_mul(of.bytes().into()));
    (("OFFSET_WORDS", of.bytes() / 4), ("offsets", region), ("offsets_offset", offset("offsets", region, 4)))
}

/// A launch that leaves its scratch as it wants to find it, and the fill for when that is not known to be clean.
pub(crate) fn clean_once(scratch: &Scratch, launch: Launch) -> Vec<Step> {
    let all = Region { slot: Slot::Scratch, offset: 0, bytes: scratch.bytes() };
    vec![Step::Fill { region: all, value: 0, once: true }, Step::Launch(launch)]
}

/// Whether a step takes 16 bytes of a span at a time: by packs of several elements, by vectors of values, or by the hardware's copies of tiles.
pub(crate) fn is_wide(step: &Step) -> bool {
    let Step::Launch(launch) = step else { return false };
    let Launch { kernel, bindings, .. } = launch;
    let packs = kernel.constant("PACK").is_some_and(|elements| elements > 1)
        || kernel.constant("VALUE_UNIT").is_some_and(|bytes| bytes > 4);
    let theirs = bindings.iter().any(|(_, region)| !matches!(region.slot, Slot::Scratch | Slot::Length));
    theirs && (packs || kernel.parts.contains(&"scan/bulk_copy"))
}

/// An argument that a kernel reaches from an offset of its own on.
#[derive(Clone, Copy)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    /// The offset's name.
    pub(crate) offset: &'static str,
    pub(crate) region: Region,
    /// What the offset counts, in bytes.
    pub(crate) unit: u32,
}

/// A request's operands as a kernel's arguments, which count the parts that elements are moved by.
pub(crate) fn arguments(request: &impl Primitive) -> Vec<Argument> {
    let named = request.operands().into_iter().map(|operand| {
        let (name, offset) = match operand.slot {
            Slot::Input => ("input", "input_offset"),
            Slot::Output => ("output", "output_offset"),
            Slot::InputValues | Slot::Offsets => ("input_values", "input_values_offset"),
            Slot::OutputValues => ("output_values", "output_values_offset"),
            _ => ("output_count", "output_count_offset"),
        };
        Argument { name, offset, region: whole(operand.slot, operand.bytes()), unit: operand.element.unit() }
    });
    named.collect()
}

/// A launch over elements in tiles of so many, of a kernel with these arguments.
pub(crate) fn tile_launch(kernel: KernelKey, groups: u32, tile: u32, arguments: &[Argument]) -> Launch {
    let tiles = Param::ELEMENTS.in_parts(tile);
    let sizes = [("n", Param::ELEMENTS), ("tiles", tiles)];
    let offsets = arguments.iter().map(|a| (a.offset, Param::Offset { binding: a.name, unit: a.unit }));
    let bindings = arguments.iter().map(|a| (a.name, a.region)).collect();
    Launch { kernel, groups, bindings, params: sizes.into_iter().chain(offsets).collect(), initial: None }
}

/// The 32-bit words of so many elements, by which numbers say from where on they hold.
pub(crate) fn words_of(n: impl Into<u64>, element: &ElementType) -> u64 {
    n.into() * u64::from(element.words())
}

/// Whether that is as many as a number says that something begins with, `u32::MAX` for never.
pub(crate) fn reaches(words: u64, from: u32) -> bool {
    from < u32::MAX && words >= u64::from(from)
}

pub(crate) fn whole(slot: Slot, bytes: u64) -> Region {
    Region { slot, offset: 0, bytes }
}
