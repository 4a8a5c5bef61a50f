//! The CPU backend's sort, another crate's.

use super::{DIGIT_BITS, SortTask};
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::Planner;
use crate::{Kernel, Launch, Param, Result, SortRequest, Step};

pub(super) static KERNEL: Kernel = Kernel::host("sort/parallel");

/// On all of the processor's threads.
pub static PARALLEL: Algorithm =
    Algorithm { needs: Needs::THREADS, ..Algorithm::new("parallel", "", Of::Sort(Row { plan, traffic: None })) };

fn plan(_: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let job = SortTask::of(request, DIGIT_BITS)?;
    let keys = [("input", job.input.keys), ("output", job.output.keys)];
    let values = [("input_values", job.input.values), ("output_values", job.output.values)];
    let values = values.into_iter().filter_map(|(name, region)| Some((name, region?)));
    let launch = Launch {
        kernel: job.kernel(&KERNEL, vec![], &[]),
        groups: 1,
        bindings: keys.into_iter().chain(values).collect(),
        params: vec![("n", Param::ELEMENTS)],
        initial: None,
    };
    Ok(Work::new(Default::default(), vec![Step::Launch(launch)]))
}
