//! A radix selection by one workgroup for each segment, and a sort of what is found: for more keys of a segment than a workgroup has room for.

use super::{RADIX, SEGMENT_NUMBERS, TopKTask, WORKGROUP_SELECT};
use crate::algorithm::Work;
use crate::primitive::top_k::Wanted;
use crate::scratch::Scratch;
use crate::{ElementType, Param, Result, Scalar, Slot, SortRequest};

/// Selects, then sorts by keys, then by segments: each of the two leaves equal ones as they stand.
pub(super) fn plan(task: &TopKTask<'_>) -> Result<Work> {
    let request = task.request;
    let (count, slots) = (request.count() as u32, request.taken() as u32);
    let gives_last = request.wanted == Wanted::Last;
    let places = u64::from(task.image.width().div_ceil(8) + task.index_places()) + 1;
    let turns = request.longest().div_ceil(task.planner.tuning.top_k.workgroup.into()).saturating_mul(places);
    let because = "a workgroup counts the digits of a segment alone";
    task.planner.check_turns(&WORKGROUP_SELECT, turns, because, "one segment after the other")?;
    let mut scratch = Scratch::default();
    let chosen = scratch.take(4 * u64::from(slots));
    let mut told = task.told_segments();
    let words = [("slots", Param::Word(count)), task.k()];
    told.bindings.extend([("input", task.keys()), ("chosen", chosen)]);
    told.constants.extend(task.counting(task.index_places()));
    told.constants.push(("GIVES_LAST", gives_last.into()));
    told.parts.push("top_k/digits");
    told.params.extend([("n", Param::ELEMENTS), task.input_offset()].into_iter().chain(words));
    let mut steps = vec![task.launch((&RADIX, &told.parts), &told.constants, count, told.bindings, told.params)];
    if gives_last || !request.sorted {
        steps.push(task.give(chosen, None));
        return Ok(Work::new(scratch, steps));
    }
    let [by_key, numbers, sorted, ordered] = [(); 4].map(|()| scratch.take(4 * u64::from(slots)));
    steps.extend(task.by_key(chosen, slots, by_key, &mut scratch)?);
    steps.push(task.launch(
        (&SEGMENT_NUMBERS, &[]),
        &[],
        task.groups(slots),
        vec![("places", by_key), ("numbers", numbers)],
        vec![("slots", Param::Word(slots)), task.k()],
    ));
    let by_segment = SortRequest::new(Scalar::U32.into(), slots.into()).with(ElementType::from(Scalar::U32));
    let by_segment = by_segment.by_bits(0..u32::BITS - count.leading_zeros());
    let inputs = [(Slot::Input, numbers), (Slot::InputValues, by_key)];
    let outputs = [(Slot::Output, sorted), (Slot::OutputValues, ordered)];
    steps.extend(task.sort_scratch(&by_segment, &[inputs, outputs].concat(), &mut scratch)?);
    steps.push(task.give(ordered, Some(chosen)));
    Ok(Work::new(scratch, steps))
}
