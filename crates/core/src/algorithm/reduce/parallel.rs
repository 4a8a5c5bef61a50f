//! The CPU backend's reduction: chunks on all threads.

use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::{Planner, whole};
use crate::{Kernel, KernelKey, Launch, Param, ReduceRequest, Result, Slot, Step};

pub(super) static KERNEL: Kernel = Kernel::host("reduce/parallel");

/// On all of the processor's threads.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    maps_output: true,
    ..Algorithm::new("parallel", "", Of::Reduce(Row { plan, traffic: Some(|r, _| r.bytes()) }))
};

fn plan(_: &Planner<'_>, request: &ReduceRequest) -> Result<Work> {
    let output = whole(Slot::Output, request.op.element().bytes().into());
    let launch = Launch {
        kernel: KernelKey::new(&KERNEL, vec![], vec![]).by(&request.op),
        groups: 1,
        bindings: vec![("input", whole(Slot::Input, request.bytes())), ("output", output)],
        params: vec![("n", Param::ELEMENTS)],
        initial: Some(request.start()),
    };
    Ok(Work::new(Default::default(), vec![Step::Launch(launch)]).depth(request.n))
}
