//! The CPU backend's sort. Pairs with values of whole words take scratch: twice as many words, of 8 bytes at least, each of a key
//! and a value or its index. Keys alone that some of their bits order take twice as many keys.

use super::merge_sort::tell_segments;
use super::{DIGIT_BITS, SortTask};
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::Planner;
use crate::scratch::Scratch;
use crate::{Kernel, Launch, Param, Result, Slot, SortRequest, Step};

pub(super) static KERNEL: Kernel = Kernel::host("sort/parallel");

/// On all of the processor's threads.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::Sort(Row { plan, traffic: None }))
};

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SortTask::of(planner, request, DIGIT_BITS)?.with_output(request, &mut scratch);
    let keys = [("input", job.input.keys), ("output", job.output.keys)];
    let values = [("input_values", job.input.values), ("output_values", job.output.values)];
    let values = values.into_iter().filter_map(|(name, region)| Some((name, region?)));
    let word = job.word_bytes().map(|bytes| (bytes, ["words", "spare"]));
    let words = word.into_iter().flat_map(|(bytes, names)| names.map(|name| (name, request.n * bytes)));
    let words: Vec<_> = words.map(|(name, bytes)| (name, scratch.take(bytes))).collect();
    let mut launch = Launch {
        kernel: job.kernel(&KERNEL, vec![], &[]),
        groups: 1,
        bindings: keys.into_iter().chain(values).chain(words).collect(),
        params: vec![("n", Param::ELEMENTS)],
        initial: None,
    };
    if let Some(segments) = &request.segments {
        tell_segments(segments, &mut launch);
    }
    Ok(Work::new(scratch, vec![Step::Launch(launch)]))
}
