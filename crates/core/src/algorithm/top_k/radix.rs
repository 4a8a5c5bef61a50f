//! A radix selection of each segment, and a sort of what is found: for more keys of a segment than a workgroup has room for.

use super::TopKTask;
use crate::algorithm::Work;
use crate::primitive::top_k::Wanted;
use crate::scratch::Scratch;
use crate::{ElementType, Result, Scalar, Segments, Slot, SortRequest, Step};

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
        steps.push(task.give(chosen, None));
        return Ok(Work::new(scratch, steps));
    }
    let (by_index, sorts) = task.in_place(chosen, each, &mut scratch)?;
    steps.extend(sorts);
    if !request.sorted {
        steps.push(task.give(by_index, None));
        return Ok(Work::new(scratch, steps));
    }
    let keys = scratch.take(slots * u64::from(task.image.bytes));
    let ordered = scratch.take(4 * slots);
    steps.push(task.load_keys(by_index, slots as u32, keys));
    let by_key =
        SortRequest::new(request.key.clone(), slots).in_order(request.order).with(ElementType::from(Scalar::U32));
    let by_key = by_key.without_keys().of_segments(Segments::Rows(each.into()));
    let spans = [(Slot::Input, keys), (Slot::InputValues, by_index), (Slot::Output, ordered)];
    steps.extend(task.sort_scratch(&by_key, &spans, &mut scratch)?);
    steps.push(task.give(ordered, None));
    Ok(Work::new(scratch, steps))
}
