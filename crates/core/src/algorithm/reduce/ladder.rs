//! What the rungs of the literature's ladder share: each launches one kernel on the elements, then on its workgroups' sums, until
//! one is left. Harris, "Optimizing Parallel Reduction in CUDA", 2007.

use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, offset, whole};
use crate::scratch::Scratch;
use crate::{Kernel, KernelKey, Launch, Op, Param, ReduceRequest, Region, Result, Slot, Step};

/// Elements that an invocation of those that stride loads at a time: loads enough for memory.
const STRIDE_ROWS: u32 = 8;

/// What of the elements falls to an invocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// So many.
    Elements(u32),
    /// As many as it takes for no more workgroups than the device holds at once.
    Stride,
}

/// An algorithm of one kernel.
pub(super) struct Rung {
    pub(super) kernel: &'static Kernel,
    pub(super) share: Share,
    /// Whether its kernel works with subgroups.
    pub(super) subgroups: bool,
}

/// A rung's kernel.
pub(super) const fn kernel(name: &'static str, entry_point: &'static str) -> Kernel {
    let params = &["n", "groups", "input_offset", "output_offset"];
    kernel!(name, entry_point, &[read("input", "Pack"), write("output", "T")], params).with_initial()
}

/// A rung that combines elements out of their order.
pub(super) const fn rung(
    name: &'static str,
    page: &'static str,
    plan: fn(&Planner<'_>, &ReduceRequest) -> Result<Work>,
) -> Algorithm {
    Algorithm {
        needs: Needs { commuting: true, ..Needs::WORKGROUPS },
        is_reference: true,
        ..Algorithm::new(name, page, Of::Reduce(Row { plan, traffic: Some(|r, _| r.bytes()) }))
    }
}

impl Rung {
    pub(super) fn work(&self, planner: &Planner<'_>, request: &ReduceRequest) -> Result<Work> {
        let (op, n) = (&request.op, request.n as u32);
        let element = u64::from(op.element().bytes());
        let workgroup = planner.workgroup_within_half(planner.tuning.reduce.workgroup, op.element());
        let kernel = self.kernel(planner, op, workgroup)?;
        let groups = self.groups(planner, n, workgroup);
        let mut scratch = Scratch::default();
        // The sums of all launches but the last lie in two regions by turns; the first two are the largest.
        let partial = groups.iter().filter(|&&groups| groups > 1).take(2);
        let regions: Vec<Region> = partial.map(|&groups| scratch.take(u64::from(groups) * element)).collect();
        let (mut steps, mut depth) = (vec![], 0);
        let (mut left, mut from) = (n, whole(Slot::Input, request.bytes()));
        for (i, &groups) in groups.iter().enumerate() {
            let to = match groups {
                1 => whole(Slot::Output, element),
                _ => Region { bytes: u64::from(groups) * element, ..regions[i % 2] },
            };
            let initial = if groups == 1 { request.start() } else { op.identity().to_vec() };
            steps.push(Step::Launch(Launch {
                kernel: kernel.clone(),
                groups,
                bindings: vec![("input", from), ("output", to)],
                params: vec![
                    ("n", Param::Word(left)),
                    ("groups", Param::Word(groups)),
                    ("input_offset", offset("input", from, op.element().bytes())),
                    ("output_offset", offset("output", to, op.element().bytes())),
                ],
                initial: Some(initial),
            }));
            // An invocation's elements, the tree, and the element that a launch starts from.
            let each = left.div_ceil(workgroup).div_ceil(groups);
            let tree = workgroup.ilog2() + kernel.constant("MAX_SUBGROUPS").unwrap_or(0);
            depth += u64::from(each + tree + 1);
            (left, from) = (groups, to);
        }
        Ok(Work::new(scratch, steps).depth(depth))
    }

    fn kernel(&self, planner: &Planner<'_>, op: &Op, workgroup: u32) -> Result<KernelKey> {
        let mut parts = vec!["element/load"];
        let mut constants = vec![("WORKGROUP", workgroup), ("PACK", 1)];
        if self.share == Share::Stride {
            constants.push(("ROWS", STRIDE_ROWS));
        }
        if self.subgroups {
            parts.extend([planner.subgroup_scan_part(op), "workgroup/subgroup_fold"]);
            constants.extend(planner.subgroup_constants(workgroup)?);
        }
        Ok(KernelKey::new(self.kernel, parts, constants).by(op))
    }

    /// The workgroups of each launch; the last has one.
    fn groups(&self, planner: &Planner<'_>, n: u32, workgroup: u32) -> Vec<u32> {
        let most = planner.resident(planner.tuning.reduce.groups_per_unit);
        let mut groups: Vec<u32> = vec![];
        let mut left = n;
        while groups.is_empty() || left > 1 {
            left = match self.share {
                Share::Elements(each) => left.div_ceil(workgroup * each),
                Share::Stride if groups.is_empty() => left.div_ceil(workgroup * STRIDE_ROWS).min(most).min(4096),
                Share::Stride => 1,
            };
            groups.push(left);
        }
        groups
    }
}
