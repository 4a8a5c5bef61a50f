//! The CPU backend's selection: chunks on all threads.

use super::SelectTask;
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::Planner;
use crate::{Kernel, KernelKey, Result, SelectRequest, Step};

pub(super) static KERNEL: Kernel = Kernel::host("select/parallel");

/// On all of the processor's threads: each element is read to be counted, and again to be placed.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    ..Algorithm::new("parallel", "", Of::Select(Row { plan, traffic: Some(|r, kept| r.bytes_moved(2, kept)) }))
};

fn plan(planner: &Planner<'_>, request: &SelectRequest) -> Result<Work> {
    let job = SelectTask::new(planner, request, 1);
    let kernel = KernelKey { constants: vec![job.rest()], ..job.key(&KERNEL, vec![], vec![]) };
    Ok(Work::new(Default::default(), vec![Step::Launch(job.launch(kernel, 1, &job.arguments()))]))
}
