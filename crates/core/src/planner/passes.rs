//! Scans of several launches, none of whose workgroups waits for another: those that go by tiles, and those that step through
//! global memory.

use super::{Planner, Scratch, offset, without_steps};
use crate::{KernelKey, Language, Launch, Op, Param, Region, Result, Step};

/// What is to be scanned, from where to where. Output and input may be the same.
#[derive(Clone)]
pub(super) struct Job<'a> {
    pub(super) op: &'a Op,
    pub(super) n: u32,
    pub(super) exclusive: bool,
    /// The element that the scan starts from.
    pub(super) start: Vec<u8>,
    pub(super) input: Region,
    pub(super) output: Region,
}

/// How a workgroup folds and scans a tile.
#[derive(Clone)]
pub(super) struct TileBody {
    kernel: &'static str,
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
    /// Bytes of a pack.
    unit: u32,
    elements: u32,
}

/// A launch's task: the constants of `scan/tile_block`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Sum,
    Local,
    From,
}

/// Runs of tiles, one a workgroup.
#[derive(Clone, Copy)]
struct Runs {
    tiles: u32,
    each: u32,
    groups: u32,
}

/// Elements of an invocation in a step through global memory: loads enough for memory.
const STEP_ROWS: u32 = 4;
/// The sums that one workgroup scans at a time without a loop.
const SPINE_ITEMS: u32 = 8;

/// log2 n, rounded up.
fn levels(n: u32) -> u32 {
    u32::BITS - n.saturating_sub(1).leading_zeros()
}

impl Runs {
    fn of(n: u32, tile: u32, each: u32) -> Runs {
        let tiles = n.div_ceil(tile);
        Runs { tiles, each, groups: tiles.div_ceil(each) }
    }

    /// As many groups as given, or fewer.
    fn fixed(n: u32, tile: u32, groups: u32) -> Runs {
        let tiles = n.div_ceil(tile);
        Runs::of(n, tile, tiles.div_ceil(groups.max(1)).max(1))
    }
}

impl TileBody {
    fn workgroup(&self) -> u32 {
        let workgroup = self.constants.iter().find(|(name, _)| *name == "WORKGROUP");
        workgroup.map_or(1, |&(_, invocations)| invocations)
    }
}

impl Planner<'_> {
    /// A scan's steps by an algorithm of several launches, and the longest chain of its combines.
    pub(super) fn passes(&self, algorithm: &str, job: &Job, scratch: &mut Scratch) -> Result<(Vec<Step>, u64)> {
        let levels = u64::from(levels(job.n));
        let body = match algorithm {
            "hillis_steele" => return Ok((self.hillis_steele(job, scratch), levels + 1)),
            "blelloch" => return Ok((self.blelloch(job, scratch), 2 * levels + 2)),
            "hillis_steele_shared" => self.blocked_tile(job.op, Some("block/scan"))?,
            "blelloch_blocked" => self.blocked_tile(job.op, Some("block/scan_blelloch"))?,
            "subgroup_blocked" => self.blocked_tile(job.op, None)?,
            "reduce_then_scan" | "reduce_then_scan_recursive" | "scan_then_propagate" => {
                self.fast_tile(job.op, job.n)?
            }
            other => return Err(without_steps(other)),
        };
        // A lane's elements, a subgroup's or a tree's, and the subgroups' sums one after the other.
        let in_tile = u64::from(body.elements / body.workgroup()) + 80;
        let all_levels = levels.div_ceil(u64::from(body.elements.ilog2())) * (in_tile + 1);
        Ok(match algorithm {
            "reduce_then_scan" => {
                let tiles = u64::from(job.n.div_ceil(body.elements));
                (self.reduce_then_scan(job, &body, scratch), tiles + 1 + in_tile)
            }
            "reduce_then_scan_recursive" => {
                (self.reduce_then_scan_recursive(job, &body, scratch), all_levels + in_tile)
            }
            _ => (self.scan_then_propagate(job, &body, scratch), all_levels + in_tile),
        })
    }

    /// The fastest tile that the device has.
    pub(super) fn fast_tile(&self, op: &Op, n: u32) -> Result<TileBody> {
        let by_subgroups = self.caps.subgroups.is_some() && !self.caps.emulates_subgroups();
        let tile = self.scan_tile(op, n, self.tuning.scan_passes_words, self.tuning.scan_workgroup);
        let packs = vec![tile.pack.load, tile.pack.store, tile.pack.fold];
        let (kernel, parts, more) = if by_subgroups {
            ("scan/tile_subgroup", vec![self.subgroup_scan_of(op)], self.subgroup_constants(tile.workgroup)?)
        } else {
            ("scan/tile_block", vec!["block/scan"], vec![])
        };
        Ok(TileBody {
            kernel,
            parts: [packs, parts].concat(),
            constants: [tile.constants, more].concat(),
            unit: tile.unit,
            elements: tile.elements,
        })
    }

    /// A tile of the literature's: a few elements an invocation, scanned by this part, or by subgroups.
    fn blocked_tile(&self, op: &Op, part: Option<&'static str>) -> Result<TileBody> {
        let bytes = op.element().bytes();
        let items = self.tuning.blocked_items;
        let workgroup = self.workgroup_within_half(self.tuning.blocked_workgroup, op.element());
        let mut constants = vec![("WORKGROUP", workgroup), ("ROWS", items)];
        let packs = vec!["block/pack1", "block/store1", "block/fold1"];
        let (kernel, part) = match part {
            Some(part) => ("scan/tile_block", part),
            None => ("scan/tile_subgroup", self.subgroup_scan_of(op)),
        };
        match part {
            "block/scan" => {}
            "block/scan_blelloch" => constants.push(("PADDING", self.tuning.blocked_padding)),
            _ => constants.extend(self.subgroup_constants(workgroup)?),
        }
        let parts = [packs, vec![part]].concat();
        Ok(TileBody { kernel, parts, constants, unit: bytes, elements: workgroup * items })
    }

    /// Sums of a fixed number of runs of tiles, their scan by one workgroup, and the scans of the runs. Reads the input twice.
    pub(super) fn reduce_then_scan(&self, job: &Job, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
        let groups = self.resident(self.tuning.scan_runs);
        let runs = Runs::fixed(job.n, body.elements, groups);
        let sums = self.sums(job, runs, scratch);
        if runs.groups == 1 {
            return vec![self.tiles(job, body, Task::Local, runs, sums)];
        }
        let spine = self.spine(job, sums, runs.groups);
        vec![self.tiles(job, body, Task::Sum, runs, sums), spine, self.tiles(job, body, Task::From, runs, sums)]
    }

    /// The same by single tiles, whose sums are scanned in the same way, until one workgroup can do it at once.
    fn reduce_then_scan_recursive(&self, job: &Job, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
        let runs = Runs::of(job.n, body.elements, 1);
        let sums = self.sums(job, runs, scratch);
        if runs.groups == 1 {
            return vec![self.tiles(job, body, Task::Local, runs, sums)];
        }
        let mut steps = vec![self.tiles(job, body, Task::Sum, runs, sums)];
        steps.extend(self.reduce_then_scan_recursive(&job.of_sums(sums, runs.groups), body, scratch));
        steps.push(self.tiles(job, body, Task::From, runs, sums));
        steps
    }

    /// Scans of single tiles, the scan of their sums in the same way, and what lies before a tile combined with all of it. Reads
    /// and writes each element twice.
    fn scan_then_propagate(&self, job: &Job, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
        let runs = Runs::of(job.n, body.elements, 1);
        let sums = self.sums(job, runs, scratch);
        let mut steps = vec![self.tiles(job, body, Task::Local, runs, sums)];
        if runs.groups > 1 {
            steps.extend(self.scan_then_propagate(&job.of_sums(sums, runs.groups), body, scratch));
            steps.push(self.add_carry(job, job.output, sums, body.elements));
        }
        steps
    }

    /// log2 n steps from one buffer to another.
    fn hillis_steele(&self, job: &Job, scratch: &mut Scratch) -> Vec<Step> {
        let temp = scratch.take(u64::from(job.n) * u64::from(job.op.element().bytes()));
        let mut count = levels(job.n).max(1);
        // The last step writes the output, and the first one must not write what it reads: one step more moves no element.
        if self.layout.in_place && count % 2 == 1 {
            count += 1;
        }
        let target = |step: u32| if (count - 1 - step).is_multiple_of(2) { job.output } else { temp };
        let unit = job.op.element().bytes();
        let launch = |step: u32| {
            let first = step == 0;
            let (from, to) = (if first { job.input } else { target(step - 1) }, target(step));
            Launch {
                kernel: self.step_key(
                    "scan/hillis_steele",
                    job.op,
                    vec![
                        ("ROWS", STEP_ROWS),
                        ("FIRST", u32::from(first)),
                        ("EXCLUSIVE", u32::from(first && job.exclusive)),
                    ],
                ),
                groups: job.n.div_ceil(self.step_workgroup() * STEP_ROWS),
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
        (0..count).map(|step| Step::Launch(launch(step))).collect()
    }

    /// A tree's sums from its leaves up, and what lies before each node from its root down.
    fn blelloch(&self, job: &Job, scratch: &mut Scratch) -> Vec<Step> {
        // An inclusive scan is made of the exclusive one and the input, which must still be there.
        let tree = if job.exclusive {
            job.output
        } else {
            scratch.take(u64::from(job.n) * u64::from(job.op.element().bytes()))
        };
        let unit = job.op.element().bytes();
        let step = |name: u32, distance: u32, nodes: u32| {
            Step::Launch(Launch {
                kernel: self.step_key("scan/blelloch", job.op, vec![("STEP", name)]),
                groups: nodes.div_ceil(self.step_workgroup()),
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
            steps.push(self.add_carry(job, job.input, tree, 1));
        }
        steps
    }

    /// What each of `sums` covers `tile` elements of, combined with them.
    fn add_carry(&self, job: &Job, input: Region, sums: Region, tile: u32) -> Step {
        let unit = job.op.element().bytes();
        Step::Launch(Launch {
            kernel: self.step_key("scan/add_carry", job.op, vec![("ROWS", STEP_ROWS), ("TILE", tile)]),
            groups: job.n.div_ceil(self.step_workgroup() * STEP_ROWS),
            bindings: vec![("input", input), ("output", job.output), ("sums", sums)],
            params: vec![
                ("n", Param::Word(job.n)),
                ("input_offset", offset("input", input, unit)),
                ("output_offset", offset("output", job.output, unit)),
            ],
            initial: None,
        })
    }

    fn tiles(&self, job: &Job, body: &TileBody, task: Task, runs: Runs, sums: Region) -> Step {
        let exclusive = u32::from(job.exclusive && task != Task::Sum);
        let mut constants = body.constants.clone();
        constants.extend([("EXCLUSIVE", exclusive), ("TASK", task as u32)]);
        Step::Launch(Launch {
            kernel: KernelKey {
                name: body.kernel,
                parts: body.parts.clone(),
                constants,
                element: Some(job.op.element().clone()),
                op: Some(job.op.clone()),
                selector: None,
            },
            groups: runs.groups,
            bindings: vec![("input", job.input), ("output", job.output), ("sums", sums)],
            params: vec![
                ("n", Param::Word(job.n)),
                ("tiles", Param::Word(runs.tiles)),
                ("groups", Param::Word(runs.groups)),
                ("tiles_each", Param::Word(runs.each)),
                ("input_offset", offset("input", job.input, body.unit)),
                ("output_offset", offset("output", job.output, body.unit)),
            ],
            initial: Some(job.start.clone()),
        })
    }

    /// One workgroup scans the sums in place.
    fn spine(&self, job: &Job, sums: Region, count: u32) -> Step {
        let mut workgroup = self.workgroup_within_half(self.tuning.scan_workgroup, job.op.element());
        while workgroup > self.narrowest_workgroup() && count <= workgroup / 2 * SPINE_ITEMS {
            workgroup /= 2;
        }
        Step::Launch(Launch {
            kernel: KernelKey {
                name: "scan/spine",
                parts: vec!["block/scan"],
                constants: vec![("WORKGROUP", workgroup)],
                element: Some(job.op.element().clone()),
                op: Some(job.op.clone()),
                selector: None,
            },
            groups: 1,
            bindings: vec![("sums", sums)],
            params: vec![("count", Param::Word(count))],
            initial: Some(job.start.clone()),
        })
    }

    fn sums(&self, job: &Job, runs: Runs, scratch: &mut Scratch) -> Region {
        scratch.take(u64::from(runs.groups) * u64::from(job.op.element().bytes()))
    }

    fn step_key(&self, name: &'static str, op: &Op, more: Vec<(&'static str, u32)>) -> KernelKey {
        KernelKey {
            name,
            parts: vec![],
            constants: [vec![("WORKGROUP", self.step_workgroup())], more].concat(),
            element: Some(op.element().clone()),
            op: Some(op.clone()),
            selector: None,
        }
    }

    /// Invocations of a workgroup whose invocations take an element or a node each.
    fn step_workgroup(&self) -> u32 {
        256.min(self.caps.max_workgroup)
    }

    pub(super) fn subgroup_scan_of(&self, op: &Op) -> &'static str {
        let native_sum = self.caps.language == Language::Wgsl && op.is_word_sum();
        if native_sum { "block/subgroup_scan_native" } else { self.subgroup_scan_part(op) }
    }
}

impl<'a> Job<'a> {
    /// The scan of tiles' sums.
    fn of_sums(&self, sums: Region, count: u32) -> Job<'a> {
        Job { n: count, exclusive: true, input: sums, output: sums, ..self.clone() }
    }
}
