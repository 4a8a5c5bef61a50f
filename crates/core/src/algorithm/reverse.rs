//! Reversals.

use super::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, whole};
use crate::primitive::ReverseRequest;
use crate::scratch::Scratch;
use crate::{Kernel, KernelKey, Launch, Param, Result, Slot, Step};

static KERNEL: Kernel = kernel!(
    "reverse/reverse",
    "reverse",
    &[read("input", "T"), write("output", "T")],
    &["n", "input_offset", "output_offset"]
);
static HOST: Kernel = Kernel::host("reverse/parallel");

/// An element an invocation.
pub static REVERSE: Algorithm =
    Algorithm::new("reverse", "reverse.md", Of::Reverse(Row { plan, traffic: Some(|r, _| 2 * r.bytes()) }));

/// On all of the processor's threads.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    ..Algorithm::new("parallel", "", Of::Reverse(Row { plan: on_threads, traffic: Some(|r, _| 2 * r.bytes()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&PARALLEL, &REVERSE];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[&KERNEL, &HOST];

fn plan(planner: &Planner<'_>, request: &ReverseRequest) -> Result<Work> {
    let workgroup = 256.min(planner.caps.max_workgroup);
    let key = KernelKey::new(&KERNEL, vec![], vec![("WORKGROUP", workgroup)]);
    Ok(launch(key, (request.n as u32).div_ceil(workgroup), request))
}

fn on_threads(_: &Planner<'_>, request: &ReverseRequest) -> Result<Work> {
    Ok(launch(KernelKey::new(&HOST, vec![], vec![]), 1, request))
}

fn launch(key: KernelKey, groups: u32, request: &ReverseRequest) -> Work {
    let (element, unit) = (request.element.clone(), request.element.bytes());
    let offset = |binding| Param::Offset { binding, unit };
    let launch = Launch {
        kernel: KernelKey { element: Some(element), ..key },
        groups,
        bindings: vec![
            ("input", whole(Slot::Input, request.bytes())),
            ("output", whole(Slot::Output, request.bytes())),
        ],
        params: vec![
            ("n", Param::Word(request.n as u32)),
            ("input_offset", offset("input")),
            ("output_offset", offset("output")),
        ],
        initial: None,
    };
    Work::new(Scratch::default(), vec![Step::Launch(launch)])
}
