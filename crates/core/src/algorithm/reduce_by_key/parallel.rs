//! The CPU backend's reduction by key: chunks on all threads.

use super::ReduceByKeyTask;
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::{Planner, arguments};
use crate::{Kernel, KernelKey, ReduceByKeyRequest, Result, Slot, Step};

pub(super) static KERNEL: Kernel = Kernel::host("reduce_by_key/parallel");

/// On all of the processor's threads, in one pass.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::ReduceByKey(Row { plan, traffic: Some(|r, runs| r.bytes_moved(1, runs)) }))
};

fn plan(planner: &Planner<'_>, request: &ReduceByKeyRequest) -> Result<Work> {
    let job = ReduceByKeyTask::new(planner, request, planner.tuning.reduce_by_key.passes_words)?;
    let kernel = KernelKey::new(&KERNEL, vec![], vec![("KEY_BYTES", request.key.bytes())]).by(&request.total());
    let launch = job.launch(kernel, 1, &arguments(request));
    Ok(Work::new(Default::default(), vec![Step::Launch(launch)]).depth(job.depth()))
}
