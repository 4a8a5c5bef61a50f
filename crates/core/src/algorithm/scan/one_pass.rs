//! Scans of one launch, whose tiles tell each other of themselves.

use super::{ScanTask, ScanTile, write_total};
use crate::algorithm::Work;
use crate::algorithm::chain::{TileState, tile_states};
use crate::planner::{PACKS, Planner, clean_once};
use crate::scratch::Scratch;
use crate::{Kernel, KernelKey, Launch, Param, Result};

/// What tells the scans of one launch apart.
pub(super) struct OnePass {
    pub(super) kernel: &'static Kernel,
    pub(super) parts: Vec<&'static str>,
    pub(super) constants: Vec<(&'static str, u32)>,
    /// Bytes of a tile's state.
    pub(super) state_bytes: u64,
    /// Whether the states' values have a buffer of their own.
    pub(super) values: bool,
    /// Bytes of a pack.
    pub(super) unit: u32,
    /// Elements of a tile.
    pub(super) tile: u32,
    pub(super) groups: u32,
    /// Whether the kernel is told how many workgroups there are, which stay and take tile after tile.
    pub(super) stays: bool,
    pub(super) depth: u64,
}

/// How tiles look back.
pub(super) struct LookBack {
    pub(super) kernel: &'static Kernel,
    pub(super) state: TileState,
    /// The blocks by which they do, the states' among them.
    pub(super) parts: Vec<&'static str>,
    pub(super) constants: Vec<(&'static str, u32)>,
    /// As often as a tile polls another's state before it helps.
    pub(super) patience: u32,
    /// Whether the states' values have a buffer of their own.
    pub(super) values: bool,
    /// The most workgroups, which stay and take tile after tile; a workgroup a tile if `None`.
    pub(super) groups: Option<u32>,
}

impl LookBack {
    pub(super) fn work(self, planner: &Planner<'_>, job: ScanTask<'_>, tile: ScanTile) -> Result<Work> {
        let tiles = job.n.div_ceil(tile.elements);
        let mut constants = tile.constants;
        constants.extend(planner.subgroup_constants(tile.workgroup)?);
        constants.extend(planner.fault_constants());
        constants.extend([
            ("EXCLUSIVE", u32::from(job.exclusive)),
            ("FALLBACK", u32::from(planner.waits_bounded() && !planner.layout.in_place)),
            ("SPIN_LIMIT", self.patience),
        ]);
        constants.extend(self.constants);
        let subgroup_scan = planner.subgroup_scan_of(job.op);
        let one = OnePass {
            kernel: self.kernel,
            parts: [&PACKS[..], &[subgroup_scan, "scan/tile_rows"], &self.parts].concat(),
            state_bytes: self.state.bytes,
            values: self.values,
            constants,
            unit: tile.pack.bytes,
            tile: tile.elements,
            groups: self.groups.map_or(tiles, |most| tiles.min(most)),
            stays: self.groups.is_some(),
            depth: u64::from(tiles + tile.elements / tile.workgroup + 64),
        };
        one.work(job)
    }
}

impl OnePass {
    pub(super) fn work(self, job: ScanTask<'_>) -> Result<Work> {
        let mut scratch = Scratch::default();
        let slots = job.n.div_ceil(self.tile);
        let mut bindings = vec![("input", job.input), ("output", job.output)];
        bindings.extend(tile_states(job.n, slots, self.groups, self.state_bytes, &mut scratch)?);
        if self.values {
            bindings.push(("values", scratch.take(2 * u64::from(slots) * u64::from(job.op.element().bytes()))));
        }
        let tiles = job.size.in_parts(self.tile);
        let mut params = vec![("n", job.size), ("tiles", tiles), ("slots", Param::Word(slots))];
        if self.stays {
            params.push(("groups", Param::Word(self.groups)));
        }
        params.extend([
            ("input_offset", Param::Offset { binding: "input", unit: self.unit }),
            ("output_offset", Param::Offset { binding: "output", unit: self.unit }),
        ]);
        let mut launch = Launch {
            kernel: KernelKey::new(self.kernel, self.parts, self.constants).by(job.op),
            groups: self.groups,
            bindings,
            params,
            initial: Some(job.start),
        };
        if let Some(total) = job.total {
            write_total(&mut launch, total, job.op.element());
        }
        let steps = clean_once(&scratch, launch);
        Ok(Work::new(scratch, steps).depth(self.depth))
    }
}

impl Planner<'_> {
    /// A large workgroup where its tiles are many, and of elements of one word: more registers would be too many.
    pub(super) fn one_pass_workgroup(&self, job: &ScanTask<'_>) -> u32 {
        let large = self.tuning.scan.workgroup_many;
        let units = u64::from(self.caps.compute_units) * u64::from(large);
        let is_many = u64::from(job.n) >= units.saturating_mul(self.tuning.scan.many_each.into());
        if job.op.element().is_word() && is_many { large } else { self.tuning.scan.workgroup }
    }

    /// The tile of a workgroup that takes one.
    pub(super) fn one_pass_tile(&self, job: &ScanTask<'_>) -> ScanTile {
        self.scan_tile(job.op, job.n, 32, self.one_pass_workgroup(job))
    }
}
