//! Work within work: a plan's steps as a part of another plan's.

use super::Work;
use crate::scratch::Scratch;
use crate::{Launch, Param, Region, Slot, Step};

/// What the slots of a plan are within another, and how many elements it has there.
pub(crate) struct Within<'a> {
    /// The memory that stands for a slot, which may have less than the slot, but what is written; it stays the call's own where none does.
    pub(crate) slots: &'a [(Slot, Region)],
    /// How many elements it has, where that does not follow from a run.
    pub(crate) n: Option<u32>,
}

impl Work {
    /// Its steps, with scratch of their own in the whole's.
    pub(crate) fn within(self, within: &Within<'_>, scratch: &mut Scratch) -> Vec<Step> {
        let base = scratch.append(&self.scratch);
        let place = |region: Region| match within.slots.iter().find(|(slot, _)| *slot == region.slot) {
            _ if region.slot == Slot::Scratch => Region { offset: base + region.offset, ..region },
            Some((_, to)) => {
                let bytes = region.bytes.min(to.bytes.saturating_sub(region.offset));
                Region { slot: to.slot, offset: to.offset + region.offset, bytes }
            }
            None => region,
        };
        let step = |step| match step {
            Step::Fill { region, value, once } => Step::Fill { region: place(region), value, once },
            Step::Copy { from, to, each } => Step::Copy { from: place(from), to: place(to), each },
            Step::Length(region) => Step::Length(place(region)),
            Step::Launch(mut launch) => {
                launch.bindings.iter_mut().for_each(|(_, region)| *region = place(*region));
                launch.settle(within.n);
                Step::Launch(launch)
            }
        };
        self.steps.into_iter().map(step).collect()
    }
}

impl Launch {
    /// Has parameters be numbers that a run does not decide: those of so many elements, and offsets in scratch, whose regions are bound
    /// where they begin.
    fn settle(&mut self, n: Option<u32>) {
        let Launch { bindings, params, .. } = self;
        let in_scratch = |name: &str| bindings.iter().any(|(own, at)| *own == name && at.slot == Slot::Scratch);
        for (_, param) in params {
            match (&param, n) {
                (Param::Offset { binding, .. }, _) if in_scratch(binding) => *param = Param::Word(0),
                (Param::Size(size), Some(n)) => *param = Param::Word(size.of(n)),
                _ => {}
            }
        }
    }
}
