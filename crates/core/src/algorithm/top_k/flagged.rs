//! Keys up to a bound by a flag for each key and a selection: their indices are in order at once, however many they are.

use super::{Ordered, TopKTask};
use crate::algorithm::Work;
use crate::algorithm::within::Within;
use crate::primitive::select::{Keeps, Rest};
use crate::scratch::Scratch;
use crate::{NonZero, Region, Result, SelectRequest, Selector, Slot, Step};

/// A radix selection: the last key that is wanted, and the indices of those up to it. Nothing is sorted.
pub(super) fn plan(task: &TopKTask<'_>) -> Result<Work> {
    let mut scratch = Scratch::default();
    let bounds = task.bounds(&mut scratch);
    let flags = task.room_for_flags(&mut scratch);
    let mut steps = vec![bounds.clear()];
    // No number of keys that were found is enough.
    steps.extend(task.digits(&bounds, 0, task.index_places()));
    steps.push(task.flags(&bounds, flags, false));
    let (chosen, selected) = task.flagged(flags, task.request.taken_each() as u32, &mut scratch)?;
    steps.extend(selected);
    // As many as are wanted, or as many as there are.
    steps.push(task.give(&Ordered::at(chosen)));
    Ok(Work::new(scratch, steps))
}

impl TopKTask<'_> {
    /// The indices of flagged keys, as they stand in the input. There is room for so many.
    pub(super) fn flagged(&self, flags: Region, room: u32, scratch: &mut Scratch) -> Result<(Region, Vec<Step>)> {
        let n = self.request.n;
        // A selection may keep all. This one keeps no more than there is room for: so the bound is.
        let places = scratch.take(4 * u64::from(room));
        let count = scratch.take(4);
        let flagged =
            SelectRequest { selector: Selector::of::<u8, _>(NonZero), n, rest: Rest::Dropped, keeps: Keeps::Indices };
        let slots = [(Slot::Input, flags), (Slot::Output, places), (Slot::Count, count)];
        // A run may have fewer keys: as many flags are asked.
        Ok((places, self.in_scratch(flagged, &Within { slots: &slots, n: None }, scratch)?))
    }
}
