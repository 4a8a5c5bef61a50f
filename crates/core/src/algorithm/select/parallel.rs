//! The CPU backend's selection: chunks on all threads.

use super::SelectTask;
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::Planner;
use crate::{Kernel, KernelKey, Rest, Result, SelectRequest, Slot, Step};

pub(super) static KERNEL: Kernel = Kernel::host("select/parallel");

/// On all of the processor's threads, in one pass. Where the rest goes behind, another counts first.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::Select(Row { plan, traffic: Some(traffic) }))
};

fn traffic(request: &SelectRequest, kept: u64) -> u64 {
    request.bytes_moved(if request.rest == Rest::Behind { 2 } else { 1 }, kept)
}

fn plan(planner: &Planner<'_>, request: &SelectRequest) -> Result<Work> {
    let job = SelectTask::new(planner, request, 1);
    let value = request.keeps.value().map(|value| ("VALUE_BYTES", value.bytes()));
    let constants = [job.rest(), ("SELECT_KEEPS", request.keeps.code())].into_iter().chain(value).collect();
    let kernel = KernelKey { constants, ..job.key(&KERNEL, vec![], vec![]) };
    Ok(Work::new(Default::default(), vec![Step::Launch(job.launch(kernel, 1, &job.arguments()))]))
}
