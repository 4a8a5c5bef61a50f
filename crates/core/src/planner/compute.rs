//! The plan of a kernel that does nothing but arithmetic: an experiment, which no request leads to.

use super::{Planner, check_count, whole};
use crate::algorithm::{Algorithm, Of, Work};
use crate::kernel::{kernel, write};
use crate::primitive::Operand;
use crate::{
    Caps, ElementType, Error, Kernel, KernelKey, Language, Launch, Layout, Options, Param, Plan, Result, Scalar, Slot,
    Step, Tuning,
};

/// Its kernel.
pub(crate) static KERNEL: Kernel = kernel!(
    "experiment/compute_bound",
    "experiment_compute_bound",
    &[write("output", "f32")],
    &["n", "turns", "output_offset"],
);

/// The experiment's own.
static COMPUTE_BOUND: Algorithm = Algorithm::new("compute_bound", "", Of::Nothing);

/// Plans `experiment/compute_bound`: `n` threads, in workgroups of `workgroup`, take `turns` turns of arithmetic each and
/// store one f32. Only the output is used; bind it by [`Prepared::of_plan`](crate::Prepared::of_plan).
///
/// With the work the same, the time says how many threads of a workgroup run in step: a workgroup of fewer leaves the rest of
/// its subgroup idle.
///
/// # Errors
/// [`Error::Unsupported`] for workgroups that the device does not have, the CPU backend among them; [`Error::Invalid`] for
/// an empty workgroup and more threads than a call may have.
pub fn compute_bound(n: u64, turns: u32, workgroup: u32, caps: &Caps) -> Result<Plan> {
    let n = check_count(n)?;
    if caps.language == Language::Host {
        return Err(Error::Unsupported(format!("{} runs threads, not workgroups; use another backend", caps.backend)));
    }
    if workgroup == 0 {
        return Err(Error::Invalid("a workgroup of no threads; it has at least 1".into()));
    }
    if workgroup > caps.max_workgroup {
        return Err(Error::Unsupported(format!(
            "a workgroup of {workgroup} on {} ({}); the most is {}",
            caps.device, caps.backend, caps.max_workgroup
        )));
    }
    let bytes = 4 * u64::from(n);
    let launch = Launch {
        kernel: KernelKey::new(&KERNEL, vec![], vec![("WORKGROUP", workgroup)]),
        groups: n.div_ceil(workgroup),
        bindings: vec![("output", whole(Slot::Output, bytes))],
        params: vec![
            ("n", Param::Word(n)),
            ("turns", Param::Word(turns)),
            ("output_offset", Param::Offset { binding: "output", unit: 4 }),
        ],
        initial: None,
    };
    let (layout, options) = (Layout::default(), Options::default());
    let planner = Planner { layout, options, caps, tuning: &Tuning::of(caps), views: &[], then: None };
    let steps = if n == 0 { vec![] } else { vec![Step::Launch(launch)] };
    let output = Operand::new(Slot::Output, &ElementType::Scalar(Scalar::F32), n.into());
    planner.finish(&COMPUTE_BOUND, n, vec![output], Work::new(Default::default(), steps))
}
