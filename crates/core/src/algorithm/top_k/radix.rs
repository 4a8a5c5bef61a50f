//! A radix selection of each segment, and a sort of what is found: for more keys of a segment than a workgroup has room for.

use super::{Ordered, TopKTask};
use crate::algorithm::Work;
use crate::primitive::top_k::Wanted;
use crate::scratch::Scratch;
use crate::{Result, Segments, Step};

/// The last key that is wanted of each segment, the indices of those up to it, and these in order.
pub(super) fn plan(task: &TopKTask<'_>) -> Result<Work> {
    let request = task.request;
    let (slots, each) = (request.taken(), request.taken_each() as u32);
    let mut scratch = Scratch::default();
    let bounds = task.bounds_of_any_length(&mut scratch);
    let chosen = scratch.take(4 * slots);
    // Behind what is chosen of a short segment stands nothing.
    let mut steps = vec![Step::Fill { region: chosen, value: u32::MAX, once: false }];
    for bounds in &bounds {
        steps.push(bounds.clear());
        // No number of keys that were found is enough.
        steps.extend(task.digits(bounds, 0, task.index_places()));
        steps.push(task.filter(bounds, chosen, each, false));
    }
    if request.wanted == Wanted::Last {
        steps.push(task.give(&Ordered::at(chosen)));
        return Ok(Work::new(scratch, steps));
    }
    let (by_index, sorts) = task.in_place(chosen, each, &mut scratch)?;
    steps.extend(sorts);
    if !request.sorted {
        steps.push(task.give(&Ordered::at(by_index)));
        return Ok(Work::new(scratch, steps));
    }
    let of_each = Some(Segments::Rows(each.into()));
    let (ordered, sorts) = task.in_order(by_index, slots, of_each, &mut scratch)?;
    steps.extend(sorts);
    steps.push(task.give(&ordered));
    Ok(Work::new(scratch, steps))
}
