//! All elements at once, by doubling distances: log2 n steps from one buffer to another. Hillis and Steele, "Data Parallel Algorithms",
//! 1986.

use super::passes::{STEP_ROWS, levels};
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, offset};
use crate::scratch::Scratch;
use crate::{Kernel, Launch, Param, Result, ScanRequest, Step};

pub(super) static KERNEL: Kernel = kernel!(
    "literature/scan/hillis_steele",
    "scan_hillis_steele",
    &[read("input", "T"), write("output", "T")],
    &["n", "distance", "input_offset", "output_offset"],
)
.with_initial();

/// Reads and writes each element in each of its steps.
pub static HILLIS_STEELE: Algorithm = rung("hillis_steele", "scan-hillis-steele.md", plan, |r, _| {
    2 * u64::from(r.n.max(2).next_power_of_two().ilog2()) * r.bytes()
});

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let (job, mut scratch) = (ScanTask::of(request), Scratch::default());
    let temp = scratch.take(u64::from(job.n) * u64::from(job.op.element().bytes()));
    let mut count = levels(job.n).max(1);
    // The last step writes the output, and the first one must not write what it reads: one step more moves no element.
    if planner.layout.in_place && count % 2 == 1 {
        count += 1;
    }
    let target = |step: u32| if (count - 1 - step).is_multiple_of(2) { job.output } else { temp };
    let unit = job.op.element().bytes();
    let launch = |step: u32| {
        let first = step == 0;
        let (from, to) = (if first { job.input } else { target(step - 1) }, target(step));
        Launch {
            kernel: planner.step_key(
                &KERNEL,
                job.op,
                vec![
                    ("ROWS", STEP_ROWS),
                    ("FIRST", u32::from(first)),
                    ("EXCLUSIVE", u32::from(first && job.exclusive)),
                ],
            ),
            groups: job.n.div_ceil(planner.step_workgroup() * STEP_ROWS),
            bindings: vec![("input", from), ("output", to)],
            params: vec![
                ("n", Param::Word(job.n)),
                ("distance", Param::Word(1_u32.checked_shl(step).unwrap_or(u32::MAX))),
                ("input_offset", offset("input", from, unit)),
                ("output_offset", offset("output", to, unit)),
            ],
            initial: Some(job.start.clone()),
        }
    };
    let steps = (0..count).map(|step| Step::Launch(launch(step))).collect();
    Ok(Work::new(scratch, steps).depth(u64::from(levels(job.n)) + 1))
}
