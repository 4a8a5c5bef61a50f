//! A radix selection of all keys, and a selection of where those are that come up to its bound: for more keys than a sample has room for.

use super::bounds::Bounds;
use super::{FLAGS, TopKTask};
use crate::algorithm::Work;
use crate::algorithm::within::Within;
use crate::primitive::select::{Keeps, Rest};
use crate::scratch::Scratch;
use crate::{NonZero, Param, Region, Result, SelectRequest, Selector, Slot, Step};

/// Keys whose flags are in a word, a byte each.
const FLAGS_EACH: u32 = 4;

/// The last key that is wanted, a flag for each key up to it, the places of these, and, if they are to be sorted, these in order.
pub(super) fn plan(task: &TopKTask<'_>) -> Result<Work> {
    let mut scratch = Scratch::default();
    let (chosen, mut steps) = task.chosen(&mut scratch)?;
    if !task.request.sorted {
        steps.push(task.give(chosen, None));
        return Ok(Work::new(scratch, steps));
    }
    let (ordered, sorts) = task.in_order(chosen, task.request.taken_each(), None, &mut scratch)?;
    steps.extend(sorts);
    steps.push(task.give(ordered, None));
    Ok(Work::new(scratch, steps))
}

impl TopKTask<'_> {
    /// The indices of the keys that are wanted, as they stand in the input. Where a run has fewer keys, none stand behind them.
    fn chosen(&self, scratch: &mut Scratch) -> Result<(Region, Vec<Step>)> {
        let n = self.request.n;
        let bounds = self.bounds(scratch);
        let flags = scratch.take(n.next_multiple_of(FLAGS_EACH.into()));
        // A selection may keep all. This one keeps as many as are wanted: of equal keys the bound says which.
        let places = scratch.take(4 * n);
        let count = scratch.take(4);
        let chosen = Region { bytes: 4 * self.request.taken_each(), ..places };
        let mut steps = vec![bounds.clear(), Step::Fill { region: chosen, value: u32::MAX, once: false }];
        // No number of keys that were found is enough.
        steps.extend(self.digits(&bounds, 0, self.index_places()));
        steps.push(self.flags(&bounds, flags));
        let flagged =
            SelectRequest { selector: Selector::of::<u8, _>(NonZero), n, rest: Rest::Dropped, keeps: Keeps::Indices };
        let slots = [(Slot::Input, flags), (Slot::Output, places), (Slot::Count, count)];
        // A run may have fewer keys: as many flags are asked.
        steps.extend(self.in_scratch(flagged, &Within { slots: &slots, n: None }, scratch)?);
        Ok((chosen, steps))
    }

    /// A byte for each key: whether it comes up to the bound.
    fn flags(&self, bounds: &Bounds, flags: Region) -> Step {
        self.launch(
            (&FLAGS, &["top_k/bound_words", "top_k/up_to"]),
            &[("FLAGS", FLAGS_EACH)],
            self.groups((flags.bytes / u64::from(FLAGS_EACH)) as u32),
            vec![("input", self.keys()), ("bound", bounds.region), ("flags", flags)],
            vec![("n", Param::ELEMENTS), self.input_offset()],
        )
    }
}
