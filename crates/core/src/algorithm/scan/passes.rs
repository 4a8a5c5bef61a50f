//! Scans of several launches, none of whose workgroups waits for another: those that go by tiles, and those that step through
//! global memory.

use super::{ScanTask, write_total};
use crate::kernel::{kernel, read, write};
use crate::planner::{PACKS, Planner, offset};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{Kernel, KernelKey, Launch, Op, Param, Region, Result, Step};

numbers! {
    /// Numbers of the literature's scans by tiles in workgroup memory.
    pub struct Blocked by l {
        /// Invocations of a workgroup of the literature's scans by tiles in workgroup memory.
        workgroup "blocked_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Elements an invocation of it takes.
        items "blocked_items": Count up to 16 => 2,
        /// Elements left out after every 32 in workgroup memory, where a tree is scanned: 0 or 1.
        padding "blocked_padding": Optional up to 1 => 1,
    }
}

numbers! {
    /// Numbers of scans of several launches.
    pub struct ScanPasses by l {
        /// 32-bit words an invocation of a scan of several launches holds at most.
        // Without subgroups a tile's rows are barriers too.
        words "scan_passes_words": Count up to 64 => if l.emulated || !l.has_subgroups { 8 } else { 16 },
        /// Runs of tiles for each compute unit in a scan of several launches.
        // A run waits for memory tile after tile: more of them than are held at a time fill the gaps.
        runs "scan_runs": Count up to 1024 => 8 * l.groups_per_unit,
    }
}

pub(super) static TILE_BLOCK: Kernel = kernel!(
    "scan/tile_block",
    "scan_tile_block",
    &[read("input", "Pack"), write("output", "Pack"), write("sums", "T"), write("output_total", "T").optional()],
    &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset", "total_offset"],
)
.with_initial();

pub(super) static TILE_SUBGROUP: Kernel = kernel!(
    "scan/tile_subgroup",
    "scan_tile_subgroup",
    &[read("input", "Pack"), write("output", "Pack"), write("sums", "T"), write("output_total", "T").optional()],
    &["n", "tiles", "groups", "tiles_each", "input_offset", "output_offset", "total_offset"],
)
.with_initial();

pub(crate) static SPINE: Kernel = kernel!("scan/spine", "scan_spine", &[write("sums", "T")], &["count"]).with_initial();

pub(super) static ADD_CARRY: Kernel = kernel!(
    "literature/scan/add_carry",
    "scan_add_carry",
    &[read("input", "T"), write("output", "T"), read("sums", "T")],
    &["n", "input_offset", "output_offset"],
);

/// How a workgroup folds and scans a tile.
#[derive(Clone)]
pub(crate) struct TileBody {
    kernel: &'static Kernel,
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
    /// Bytes of a pack.
    unit: u32,
    pub(super) elements: u32,
}

/// A launch's task: the constants of `scan/tile_block`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Sum,
    Local,
    From,
}

/// Runs of tiles, one a workgroup.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    pub(super) groups: u32,
}

/// Elements of an invocation in a step through global memory: loads enough for memory.
pub(super) const STEP_ROWS: u32 = 4;
/// The sums that one workgroup scans at a time without a loop.
const SPINE_ITEMS: u32 = 8;

/// log2 n, rounded up.
pub(super) fn levels(n: u32) -> u32 {
    u32::BITS - n.saturating_sub(1).leading_zeros()
}

impl Runs {
    pub(super) fn of(n: u32, tile: u32, each: u32) -> Runs {
        let tiles = n.div_ceil(tile);
        Runs { groups: tiles.div_ceil(each) }
    }

    /// As many groups as given, or fewer.
    pub(super) fn fixed(n: u32, tile: u32, groups: u32) -> Runs {
        let tiles = n.div_ceil(tile);
        Runs::of(n, tile, tiles.div_ceil(groups.max(1)).max(1))
    }
}

impl TileBody {
    fn workgroup(&self) -> u32 {
        let workgroup = self.constants.iter().find(|(name, _)| *name == "WORKGROUP");
        workgroup.map_or(1, |&(_, invocations)| invocations)
    }

    /// The longest chain in a tile: a lane's elements, a subgroup's or a tree's, and the subgroups' sums one after the other.
    pub(super) fn depth(&self) -> u64 {
        u64::from(self.elements / self.workgroup()) + 80
    }

    /// The longest chain of tiles of tiles of `n` elements.
    pub(super) fn depth_of_all(&self, n: u32) -> u64 {
        let levels = u64::from(levels(n)).div_ceil(u64::from(self.elements.ilog2()));
        levels * (self.depth() + 1) + self.depth()
    }
}

impl Planner<'_> {
    /// The fastest tile that the device has.
    pub(crate) fn fast_tile(&self, op: &Op, n: u32) -> Result<TileBody> {
        let by_subgroups = self.caps.subgroups.is_some() && !self.caps.emulates_subgroups();
        let tile = self.scan_tile(op, n, self.tuning.scan_passes.words, self.tuning.scan.workgroup);
        let (kernel, parts, more) = if by_subgroups {
            (
                &TILE_SUBGROUP,
                vec![self.subgroup_scan_of(op), "scan/tile_rows"],
                self.subgroup_constants(tile.workgroup)?,
            )
        } else {
            (&TILE_BLOCK, vec!["workgroup/scan"], vec![])
        };
        Ok(TileBody {
            kernel,
            parts: [&PACKS[..], &parts].concat(),
            constants: [tile.constants, more].concat(),
            unit: tile.pack.bytes,
            elements: tile.elements,
        })
    }

    /// A tile of the literature's: a few elements an invocation, by this kernel with these blocks and what those are told.
    pub(super) fn blocked_tile(
        &self,
        op: &Op,
        kernel: &'static Kernel,
        blocks: &[&'static str],
        more: &[(&'static str, u32)],
    ) -> TileBody {
        let (workgroup, items) = (self.blocked_workgroup(op), self.tuning.blocked.items);
        let constants = [&[("WORKGROUP", workgroup), ("ROWS", items), ("PACK", 1)], more].concat();
        let parts = [&PACKS[..], blocks].concat();
        TileBody { kernel, parts, constants, unit: op.element().bytes(), elements: workgroup * items }
    }

    /// The invocations that scan it.
    pub(super) fn blocked_workgroup(&self, op: &Op) -> u32 {
        self.workgroup_within_half(self.tuning.blocked.workgroup, op.element())
    }

    /// Sums of a fixed number of runs of tiles, their scan by one workgroup, and the scans of the runs. Reads the input twice.
    pub(crate) fn reduce_then_scan(&self, job: &ScanTask, body: &TileBody, scratch: &mut Scratch) -> Vec<Step> {
        let groups = self.resident(self.tuning.scan_passes.runs);
        let runs = Runs::fixed(job.n, body.elements, groups);
        let sums = self.sums(job, runs, scratch);
        if runs.groups == 1 {
            return vec![self.tiles(job, body, Task::Local, runs, sums)];
        }
        let spine = self.spine(job, sums, runs.groups);
        vec![self.tiles(job, body, Task::Sum, runs, sums), spine, self.tiles(job, body, Task::From, runs, sums)]
    }

    /// What each of `sums` covers `tile` elements of, combined with them.
    pub(super) fn add_carry(&self, job: &ScanTask, input: Region, sums: Region, tile: u32) -> Step {
        let unit = job.op.element().bytes();
        Step::Launch(Launch {
            kernel: self.step_key(&ADD_CARRY, job.op, vec![("ROWS", STEP_ROWS), ("TILE", tile)]),
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

    pub(super) fn tiles(&self, job: &ScanTask, body: &TileBody, task: Task, runs: Runs, sums: Region) -> Step {
        let exclusive = u32::from(job.exclusive && task != Task::Sum);
        let tiles = job.size.in_parts(body.elements);
        let mut constants = body.constants.clone();
        constants.extend([("EXCLUSIVE", exclusive), ("TASK", task as u32)]);
        let mut launch = Launch {
            kernel: KernelKey::new(body.kernel, body.parts.clone(), constants).by(job.op),
            groups: runs.groups,
            bindings: vec![("input", job.input), ("output", job.output), ("sums", sums)],
            params: vec![
                ("n", job.size),
                ("tiles", tiles),
                ("groups", Param::Word(runs.groups)),
                ("tiles_each", tiles.in_parts(runs.groups)),
                ("input_offset", offset("input", job.input, body.unit)),
                ("output_offset", offset("output", job.output, body.unit)),
            ],
            initial: Some(job.start.clone()),
        };
        // Known to the last workgroup of those that scan from what lies before them, or to one that is alone.
        let ends = task == Task::From || task == Task::Local && runs.groups == 1;
        if let Some(total) = job.total.filter(|_| ends) {
            write_total(&mut launch, total, job.op.element());
        }
        Step::Launch(launch)
    }

    /// One workgroup scans the sums in place.
    fn spine(&self, job: &ScanTask, sums: Region, count: u32) -> Step {
        let mut workgroup = self.workgroup_within_half(self.tuning.scan.workgroup, job.op.element());
        while workgroup > self.narrowest_workgroup() && count <= workgroup / 2 * SPINE_ITEMS {
            workgroup /= 2;
        }
        Step::Launch(Launch {
            kernel: KernelKey::new(&SPINE, vec!["workgroup/scan"], vec![("WORKGROUP", workgroup)]).by(job.op),
            groups: 1,
            bindings: vec![("sums", sums)],
            params: vec![("count", Param::Word(count))],
            initial: Some(job.start.clone()),
        })
    }

    pub(super) fn sums(&self, job: &ScanTask, runs: Runs, scratch: &mut Scratch) -> Region {
        scratch.take(u64::from(runs.groups) * u64::from(job.op.element().bytes()))
    }

    pub(super) fn step_key(&self, kernel: &'static Kernel, op: &Op, more: Vec<(&'static str, u32)>) -> KernelKey {
        KernelKey::new(kernel, vec![], [vec![("WORKGROUP", self.step_workgroup())], more].concat()).by(op)
    }

    /// Invocations of a workgroup whose invocations take an element or a node each.
    pub(super) fn step_workgroup(&self) -> u32 {
        256.min(self.caps.max_workgroup)
    }
}
