//! Keys that are counted, and written by their counts. Seward, "Information sorting in the application of electronic digital computers
//! to business operations", 1954.

use super::{DIGIT_BITS, DIGITS, SortTask, digits_each, sort};
use crate::algorithm::within::Within;
use crate::algorithm::{Algorithm, Needs, Work, histogram};
use crate::kernel::{atomic, kernel, write};
use crate::planner::{Planner, offset};
use crate::primitive::histogram::{AsBin, HistogramRequest};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{Kernel, Language, Launch, Operand, Param, Result, Slot, SortRequest, Step, ViewData, Viewed};

numbers! {
    /// Numbers of a sort by counts.
    pub struct CountingSort by l {
        /// Invocations of a workgroup that writes keys.
        workgroup "fill_workgroup": Workgroup up to 1024 => 256.min(l.workgroup),
        /// Workgroups of it for each compute unit.
        groups_each "fill_groups_each": Count up to 64 => l.groups_per_unit,
    }
}

pub(super) static FILL: Kernel = kernel!(
    "sort/fill",
    "sort_fill",
    &[atomic("counts", "u32"), write("output", "StoredKey")],
    &["n", "groups", "output_offset"],
);

/// The planner's choice for many keys of eight bits on their own: reads and writes each once, and moves none.
pub static COUNTING_SORT: Algorithm = Algorithm {
    views: &[],
    needs: Needs::SUBGROUPS,
    reads: 1,
    ..sort("counting_sort", "sort-counting-sort.md", plan, |r, _| r.moved(0, 1))
};

/// Why not these keys.
pub(crate) fn refusal(request: &SortRequest) -> Option<&'static str> {
    let is_of_a_digit = request.image().is_ok_and(|image| image.bytes == 1 && image.width() == DIGIT_BITS);
    let is_alone = request.value.is_none() && request.segments.is_none();
    (!is_of_a_digit || !is_alone)
        .then_some("it writes keys by their counts: those of eight bits, all compared, without values")
}

/// Whether it can sort these keys here.
pub(crate) fn takes(planner: &Planner<'_>, request: &SortRequest) -> bool {
    refusal(request).is_none() && planner.views.is_empty() && histogram::fits(planner, &byte_counts(request))
}

/// How many keys there are of each.
fn byte_counts(request: &SortRequest) -> HistogramRequest {
    HistogramRequest { bins: DIGITS.into(), n: request.n, weight: None }
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let job = SortTask::of(planner, request, DIGIT_BITS)?;
    let mut scratch = Scratch::default();
    // The counts, and the arrivals of those that read them.
    let counts = scratch.keep(u64::from(DIGITS + 1) * 4);
    let bytes = Viewed { slot: Slot::Input, first: 0, view: ViewData::mapped::<u8, _>(AsBin) };
    let mut count = histogram::shared_launch(planner, &byte_counts(request))?;
    let keys = Operand { slot: Slot::Leaf(0), ..Operand::keys(Slot::Input, &request.key, request.n) };
    count.reads_view(&bytes, &[keys], planner.caps.language)?;
    let slots = [(Slot::Leaf(0), job.input.keys), (Slot::Output, counts)];
    let counting = Work::new(Scratch::default(), vec![Step::Launch(count)]);
    let mut steps = vec![Step::Fill { region: counts, value: 0, once: true }];
    steps.extend(counting.within(&Within { slots: &slots, n: None }, &mut scratch));
    let workgroup = planner.workgroup_of(planner.tuning.counting_sort.workgroup);
    // What an invocation writes at once: WGSL stores words.
    let unit = if planner.caps.language == Language::Wgsl { 4 } else { 16 };
    let groups = planner.staying(job.n.div_ceil(workgroup * unit), planner.tuning.counting_sort.groups_each);
    let constants = [("WORKGROUP", workgroup), ("DIGITS_EACH", digits_each(workgroup))];
    let constants = [&constants[..], &planner.subgroup_constants(workgroup)?].concat();
    steps.push(Step::Launch(Launch {
        kernel: job.kernel(&FILL, vec!["workgroup/digit_scan"], &constants),
        groups,
        bindings: vec![("counts", counts), ("output", job.output.keys)],
        params: vec![
            ("n", Param::ELEMENTS),
            ("groups", Param::Word(groups)),
            ("output_offset", offset("output", job.output.keys, job.image.bytes)),
        ],
        initial: None,
    }));
    Ok(Work::new(scratch, steps))
}
