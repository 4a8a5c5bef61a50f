//! Reduce: one launch; the last workgroup to arrive combines the partials in a fixed order. Or by a rung of the ladder.

use super::{Planner, Scratch, check_count, clean_once, reduce_ladder, whole, words_of};
use crate::plan::PlannedSpan;
use crate::{
    DeviceKind, KernelKey, Language, Launch, Op, Param, Plan, ReduceRequest, Region, Request, Result, Slot, Step,
    SubgroupSource,
};

impl Planner<'_> {
    pub(super) fn reduce(&self, request: &ReduceRequest) -> Result<Plan> {
        let ReduceRequest { op, n, initial } = request;
        let n = check_count(*n)?;
        self.caps.check_element(op.element())?;
        self.check_initial(op.element(), initial)?;
        let on_host = self.caps.language == Language::Host;
        let rung = self.options.algorithm.filter(|_| !on_host).and_then(reduce_ladder::find);
        if let Some(rung) = rung {
            rung.check(op, self.caps)?;
        }
        let algorithm = self.algorithm(&Request::Reduce(request.clone()))?;
        let element = u64::from(op.element().bytes());
        let spans = vec![
            PlannedSpan::new(Slot::Input, u64::from(n) * element, op.element().align()),
            PlannedSpan::of_one(Slot::Output, op.element()),
        ];
        let (input, output) = (spans[0].whole(), whole(Slot::Output, element));
        let start = initial.clone().unwrap_or_else(|| op.identity().to_vec());
        let mut scratch = Scratch::default();
        if n == 0 {
            let words = start.chunks_exact(4).enumerate().map(|(i, word)| Step::Fill {
                region: Region { slot: Slot::Output, offset: 4 * i as u64, bytes: 4 },
                value: u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
                once: false,
            });
            return self.finish(algorithm, scratch, words.collect(), spans, 0);
        }
        if on_host {
            let launch = Launch {
                kernel: KernelKey {
                    name: "reduce/parallel",
                    parts: vec![],
                    constants: vec![],
                    element: Some(op.element().clone()),
                    op: Some(op.clone()),
                    selector: None,
                },
                groups: 1,
                bindings: vec![("input", input), ("output", output)],
                params: vec![("n", Param::Word(n))],
                initial: Some(start),
            };
            return self.finish(algorithm, scratch, vec![Step::Launch(launch)], spans, u64::from(n));
        }
        if let Some(rung) = rung {
            return self.reduce_by_rung(rung, op, n, start, spans);
        }
        let pack = self.pack(op.element());
        let words = words_of(n, op.element());
        let mut workgroup = self.tuning.reduce_workgroup;
        let few = |workgroup| {
            u64::from(self.tuning.reduce_few_each) * u64::from(workgroup) * u64::from(self.caps.compute_units)
        };
        while workgroup > self.tuning.reduce_workgroup_few && words < few(workgroup) {
            workgroup /= 2;
        }
        let workgroup = self.workgroup_within_half(workgroup, op.element());
        // One workgroup is done before several have met.
        let alone = n.div_ceil(workgroup * pack.elements).next_power_of_two();
        let most = |words: u32, packs: u32| (words / (pack.bytes / 4)).clamp(1, packs);
        let rows = match alone <= most(self.tuning.reduce_alone_words, 32) && self.caps.kind != DeviceKind::Cpu {
            true => alone,
            false => most(self.words(self.tuning.reduce_words, words, workgroup), 16),
        };
        let tile = workgroup * rows * pack.elements;
        let tiles = n.div_ceil(tile);
        let groups = tiles.min(self.resident(self.tuning.groups_per_unit)).min(4096);
        // The kernel loads a workgroup's first tile unchecked: of two the first is whole.
        let ahead = self.tuning.reduce_ahead == 1 && op.commutative && tiles >= 2 * groups;
        let combine = self.combining(op, workgroup)?;
        let counter = scratch.take(4);
        let partials = scratch.take(u64::from(groups) * 2 * 4 * u64::from(op.element().words()));
        let launch = Launch {
            kernel: KernelKey {
                name: "reduce/single_pass",
                parts: [&[pack.load, pack.fold], &combine.parts[..], &[self.partials()]].concat(),
                constants: [
                    &[
                        ("WORKGROUP", workgroup),
                        ("ROWS", rows),
                        ("EXCLUSIVE", 0),
                        ("COMMUTATIVE", u32::from(op.commutative)),
                        ("AHEAD", u32::from(ahead)),
                    ],
                    &combine.constants[..],
                ]
                .concat(),
                element: Some(op.element().clone()),
                op: Some(op.clone()),
                selector: None,
            },
            groups,
            bindings: vec![("input", input), ("output", output), ("partials", partials), ("counter", counter)],
            params: vec![
                ("n", Param::Word(n)),
                ("tiles", Param::Word(tiles)),
                ("groups", Param::Word(groups)),
                ("input_offset", Param::Offset { binding: "input", unit: pack.bytes }),
                ("output_offset", Param::Offset { binding: "output", unit: op.element().bytes() }),
            ],
            initial: Some(start),
        };
        let steps = clean_once(&scratch, launch);
        let per_invocation = u64::from(tiles.div_ceil(groups)) * u64::from(rows) * u64::from(pack.elements);
        let depth = per_invocation + 2 * 16 + u64::from(groups.div_ceil(workgroup)) + 4;
        self.finish(algorithm, scratch, steps, spans, depth)
    }

    /// How a workgroup's partial is held.
    fn partials(&self) -> &'static str {
        if self.caps.atomics64 { "block/partials64" } else { "block/partials" }
    }

    /// By shuffles where they are cheaper than barriers.
    fn combining(&self, op: &Op, workgroup: u32) -> Result<Combining> {
        if !self.caps.subgroups.is_some_and(|s| s.source != SubgroupSource::Emulated) {
            return Ok(Combining { parts: vec!["block/reduce"], constants: vec![] });
        }
        let parts =
            vec![self.subgroup_scan_of(op), "block/subgroup_fold", "block/tile_totals", "block/reduce_subgroup"];
        Ok(Combining { parts, constants: self.subgroup_constants(workgroup)? })
    }
}

/// The blocks that combine a workgroup's elements, and their constants.
struct Combining {
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
}
