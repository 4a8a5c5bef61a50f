//! The CPU backend's scans: chunks on all threads, each read to be summed and again to be scanned.

use super::{ScanTask, scan};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::{Kernel, KernelKey, Launch, Result, ScanRequest, Step};

pub(super) static KERNEL: Kernel = Kernel::host("scan/parallel");

/// On all of the processor's threads.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    maps_output: true,
    ..scan("parallel", "", |_, request| on_threads(request, false), |r, _| 2 * r.bytes())
};

/// On all threads, or on one.
pub(super) fn on_threads(request: &ScanRequest, sequential: bool) -> Result<Work> {
    let job = ScanTask::of(request);
    let constants = vec![("EXCLUSIVE", u32::from(job.exclusive)), ("SEQUENTIAL", u32::from(sequential))];
    let mut launch = Launch {
        kernel: KernelKey::new(&KERNEL, vec![], constants).by(job.op),
        groups: 1,
        bindings: vec![("input", job.input), ("output", job.output)],
        params: vec![("n", job.size)],
        initial: Some(job.start),
    };
    if let Some(total) = job.total {
        launch.bindings.push(("output_total", total));
    }
    Ok(Work::new(Default::default(), vec![Step::Launch(launch)]).depth(job.n.into()))
}
