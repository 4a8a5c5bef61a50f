//! A tree's sums from its leaves up, and what lies before each node from its root down. Blelloch, "Prefix Sums and Their Applications",
//! 1990.

use super::passes::levels;
use super::{ScanTask, rung};
use crate::algorithm::{Algorithm, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, offset};
use crate::scratch::Scratch;
use crate::{Kernel, Launch, Param, Result, ScanKind, ScanRequest, Step};

pub(super) static KERNEL: Kernel = kernel!(
    "literature/scan/blelloch",
    "scan_blelloch",
    &[read("input", "T"), write("tree", "T")],
    &["n", "distance", "nodes", "input_offset", "tree_offset"],
)
.with_initial();

/// Each of the tree's n nodes is two reads and a write upwards, two and two downwards; an inclusive scan adds each element afterwards.
pub static BLELLOCH: Algorithm = rung("blelloch", "scan-blelloch.md", plan, |r, _| match r.kind {
    ScanKind::Exclusive => 7 * r.bytes(),
    ScanKind::Inclusive => 10 * r.bytes(),
});

fn plan(planner: &Planner<'_>, request: &ScanRequest) -> Result<Work> {
    let (job, mut scratch) = (ScanTask::of(request), Scratch::default());
    // An inclusive scan is made of the exclusive one and the input, which must still be there.
    let tree =
        if job.exclusive { job.output } else { scratch.take(u64::from(job.n) * u64::from(job.op.element().bytes())) };
    let unit = job.op.element().bytes();
    let step = |name: u32, distance: u32, nodes: u32| {
        Step::Launch(Launch {
            kernel: planner.step_key(&KERNEL, job.op, vec![("STEP", name)]),
            groups: nodes.div_ceil(planner.step_workgroup()),
            bindings: vec![("input", job.input), ("tree", tree)],
            params: vec![
                ("n", Param::Word(job.n)),
                ("distance", Param::Word(distance)),
                ("nodes", Param::Word(nodes)),
                ("input_offset", offset("input", job.input, unit)),
                ("tree_offset", offset("tree", tree, unit)),
            ],
            initial: Some(job.start.clone()),
        })
    };
    let (leaves, up, clear, down) = (0, 1, 2, 3);
    let levels: Vec<u32> = (0..levels(job.n)).map(|level| 1 << level).collect();
    // Nodes whose right child has an element.
    let nodes = |distance: u32| (job.n - distance).div_ceil(distance.saturating_mul(2));
    let mut steps = vec![step(leaves, 1, job.n.div_ceil(2))];
    steps.extend(levels.iter().skip(1).map(|&distance| step(up, distance, nodes(distance))));
    steps.push(step(clear, 1, 1));
    steps.extend(levels.iter().rev().map(|&distance| step(down, distance, nodes(distance))));
    if !job.exclusive {
        steps.push(planner.add_carry(&job, job.input, tree, 1));
    }
    Ok(Work::new(scratch, steps).depth(2 * levels.len() as u64 + 2))
}
