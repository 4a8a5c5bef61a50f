//! The reduce ladder of the literature: each rung launches one kernel on the elements, then on its workgroups' sums, until
//! one is left. docs/algorithms has a page for each.

use super::{Planner, Scratch, offset, whole};
use crate::plan::PlannedSpan;
use crate::{Caps, Error, KernelKey, Launch, Op, Param, Plan, Region, Result, Slot, Step};

/// A rung: an algorithm of one kernel.
pub(super) struct Rung {
    pub(super) name: &'static str,
    kernel: &'static str,
    share: Share,
    /// Whether it combines the elements in their order, so that the operator need not commute.
    in_order: bool,
    /// Whether its kernel works with subgroups.
    subgroups: bool,
}

/// Elements that an invocation of those that stride loads at a time: loads enough for memory.
const STRIDE_ROWS: u32 = 8;

/// What of the elements falls to an invocation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    /// So many.
    Elements(u32),
    /// As many as it takes for no more workgroups than the device holds at once.
    Stride,
}

const fn rung(name: &'static str, kernel: &'static str, share: Share) -> Rung {
    Rung { name, kernel, share, in_order: false, subgroups: false }
}

/// From the bottom up.
const RUNGS: [Rung; 8] = [
    Rung { in_order: true, ..rung("interleaved_modulo", "reduce/interleaved_modulo", Share::Elements(1)) },
    Rung { in_order: true, ..rung("interleaved_strided", "reduce/interleaved_strided", Share::Elements(1)) },
    rung("sequential", "reduce/sequential", Share::Elements(1)),
    rung("first_add_on_load", "reduce/first_add_on_load", Share::Elements(2)),
    Rung { subgroups: true, ..rung("unroll_last_subgroup", "reduce/unroll_last_subgroup", Share::Elements(2)) },
    Rung { subgroups: true, ..rung("unrolled", "reduce/unrolled", Share::Elements(2)) },
    rung("grid_stride", "reduce/grid_stride", Share::Stride),
    Rung { subgroups: true, ..rung("subgroup", "reduce/subgroup", Share::Stride) },
];

/// The rung of that name.
pub(super) fn find(name: &str) -> Option<&'static Rung> {
    RUNGS.iter().find(|rung| rung.name == name)
}

/// The rungs that a device can run with an operator.
pub(super) fn names(op: &Op, caps: &Caps) -> impl Iterator<Item = &'static str> {
    RUNGS.iter().filter(|rung| rung.check(op, caps).is_ok()).map(|rung| rung.name)
}

impl Rung {
    /// Fails with the reason if the operator or the device does not allow it.
    pub(super) fn check(&self, op: &Op, caps: &Caps) -> Result<()> {
        let (name, device) = (self.name, &caps.device);
        if !self.in_order && !op.commutative {
            return Err(Error::Unsupported(format!(
                "reduce by `{name}` with `{}`, which does not commute: {name} combines elements out of their order; \
                 single_pass, interleaved_modulo and interleaved_strided keep it",
                op.name
            )));
        }
        if self.subgroups && caps.subgroups.is_none() {
            return Err(Error::Unsupported(format!(
                "reduce by `{name}` on {device} ({}), which has no subgroups; single_pass, sequential, first_add_on_load and \
                 grid_stride need none",
                caps.backend
            )));
        }
        Ok(())
    }
}

impl Planner<'_> {
    pub(super) fn reduce_by_rung(
        &self,
        rung: &Rung,
        op: &Op,
        n: u32,
        start: Vec<u8>,
        spans: Vec<PlannedSpan>,
    ) -> Result<Plan> {
        let element = u64::from(op.element().bytes());
        let workgroup = self.workgroup_within_half(self.tuning.reduce_workgroup, op.element());
        let kernel = self.rung_kernel(rung, op, workgroup)?;
        let groups = self.rung_groups(rung, n, workgroup);
        let mut scratch = Scratch::default();
        // The sums of all launches but the last lie in two regions by turns; the first two are the largest.
        let partial = groups.iter().filter(|&&groups| groups > 1).take(2);
        let regions: Vec<Region> = partial.map(|&groups| scratch.take(u64::from(groups) * element)).collect();
        let (mut steps, mut depth) = (vec![], 0);
        let (mut left, mut from) = (n, spans[0].whole());
        for (i, &groups) in groups.iter().enumerate() {
            let to = match groups {
                1 => whole(Slot::Output, element),
                _ => Region { bytes: u64::from(groups) * element, ..regions[i % 2] },
            };
            let initial = if groups == 1 { start.clone() } else { op.identity().to_vec() };
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
        self.finish(rung.name, scratch, steps, spans, depth)
    }

    fn rung_kernel(&self, rung: &Rung, op: &Op, workgroup: u32) -> Result<KernelKey> {
        let mut parts = vec!["block/pack1"];
        let mut constants = vec![("WORKGROUP", workgroup)];
        if rung.share == Share::Stride {
            constants.push(("ROWS", STRIDE_ROWS));
        }
        if rung.subgroups {
            parts.extend([self.subgroup_scan_part(op), "block/subgroup_fold"]);
            constants.extend(self.subgroup_constants(workgroup)?);
        }
        Ok(KernelKey {
            name: rung.kernel,
            parts,
            constants,
            element: Some(op.element().clone()),
            op: Some(op.clone()),
            selector: None,
        })
    }

    /// The workgroups of each launch; the last has one.
    fn rung_groups(&self, rung: &Rung, n: u32, workgroup: u32) -> Vec<u32> {
        let most = self.resident(self.tuning.groups_per_unit);
        let mut groups: Vec<u32> = vec![];
        let mut left = n;
        while groups.is_empty() || left > 1 {
            left = match rung.share {
                Share::Elements(each) => left.div_ceil(workgroup * each),
                Share::Stride if groups.is_empty() => left.div_ceil(workgroup * STRIDE_ROWS).min(most).min(4096),
                Share::Stride => 1,
            };
            groups.push(left);
        }
        groups
    }
}
