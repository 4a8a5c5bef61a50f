//! Scans: by look-back in one pass, by several launches, and the literature's.

mod blelloch;
mod blelloch_blocked;
mod chained_scan;
mod hillis_steele;
mod hillis_steele_shared;
pub(crate) mod lookahead;
pub(crate) mod lookback;
mod lookback_fenced;
pub(crate) mod lookback_pipelined;
mod lookback_serial;
mod one_pass;
mod parallel;
pub(crate) mod passes;
mod reduce_then_scan;
mod reduce_then_scan_recursive;
mod scan_then_propagate;
mod sequential;
mod subgroup_blocked;

pub use blelloch::BLELLOCH;
pub use blelloch_blocked::BLELLOCH_BLOCKED;
pub use chained_scan::CHAINED_SCAN;
pub use hillis_steele::HILLIS_STEELE;
pub use hillis_steele_shared::HILLIS_STEELE_SHARED;
pub use lookahead::LOOKAHEAD;
pub use lookback::LOOKBACK;
pub use lookback_fenced::LOOKBACK_FENCED;
pub use lookback_pipelined::LOOKBACK_PIPELINED;
pub use lookback_serial::LOOKBACK_SERIAL;
pub use parallel::PARALLEL;
pub use reduce_then_scan::REDUCE_THEN_SCAN;
pub use reduce_then_scan_recursive::REDUCE_THEN_SCAN_RECURSIVE;
pub use scan_then_propagate::SCAN_THEN_PROPAGATE;
pub use sequential::SEQUENTIAL;
pub use subgroup_blocked::SUBGROUP_BLOCKED;

use super::{Algorithm, InPlace, Needs, Of, Row, Work};
use crate::planner::{Pack, Planner, whole, words_of};
use crate::tuning::numbers;
use crate::{ElementType, Kernel, Launch, Op, Param, Region, Result, ScanKind, ScanRequest, Slot};

numbers! {
    /// Tiles of scans, some of whose numbers selections and reductions by key share.
    pub struct ScanTiles by l {
        /// Invocations of a scan's workgroup.
        workgroup "scan_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Invocations of a look-back scan's workgroup where elements are of one word and tiles are many. The same
        /// number serves where the smallest tiles are too many for a subgroup to look back at at once.
        workgroup_many "scan_workgroup_many": Halved up to 1024 => 256.min(l.workgroup),
        /// Tiles are many from so many elements on, for each invocation of such a workgroup on each compute unit.
        many_each "scan_many_each": Count up to 1 << 16 => 3,
        /// 32-bit words that an invocation of a scan, a selection or a reduction by key holds at most.
        // Every row of an emulated subgroup is barriers to compile and to run.
        words "scan_words": Count up to 64 => if l.emulated { 8 } else { 32 },
    }
}

/// Those of the primitive: the planner's choices, then the literature's in the order of its ideas.
pub(crate) static ALL: &[&Algorithm] = &[
    &PARALLEL,
    &SEQUENTIAL,
    &LOOKBACK,
    &LOOKBACK_PIPELINED,
    &LOOKAHEAD,
    &REDUCE_THEN_SCAN,
    &HILLIS_STEELE,
    &HILLIS_STEELE_SHARED,
    &BLELLOCH,
    &BLELLOCH_BLOCKED,
    &SUBGROUP_BLOCKED,
    &REDUCE_THEN_SCAN_RECURSIVE,
    &SCAN_THEN_PROPAGATE,
    &CHAINED_SCAN,
    &LOOKBACK_SERIAL,
    &LOOKBACK_FENCED,
];

/// What they launch.
pub(crate) static KERNELS: &[&Kernel] = &[
    &lookback::KERNEL,
    &lookback_fenced::KERNEL,
    &lookahead::KERNEL,
    &lookback_pipelined::KERNEL,
    &passes::TILE_BLOCK,
    &passes::TILE_SUBGROUP,
    &passes::SPINE,
    &passes::ADD_CARRY,
    &hillis_steele::KERNEL,
    &blelloch::KERNEL,
    &parallel::KERNEL,
];

/// Bytes that an algorithm moves for a request.
type Traffic = fn(&ScanRequest, u64) -> u64;
type Plan = fn(&Planner<'_>, &ScanRequest) -> Result<Work>;

const fn scan(name: &'static str, page: &'static str, plan: Plan, traffic: Traffic) -> Algorithm {
    Algorithm::new(name, page, Of::Scan(Row { plan, traffic: Some(traffic) }))
}

/// One of the literature's, of several launches.
const fn rung(name: &'static str, page: &'static str, plan: Plan, traffic: Traffic) -> Algorithm {
    Algorithm { is_reference: true, ..scan(name, page, plan, traffic) }
}

/// A scan of one launch, whose tiles wait for those before them: each element once in and once out.
const fn waiting(name: &'static str, page: &'static str, plan: Plan) -> Algorithm {
    Algorithm {
        needs: Needs { in_place: InPlace::WithProgress, ..Needs::SUBGROUPS },
        tiles_wait: true,
        follows_arrival: true,
        ..scan(name, page, plan, |r, _| 2 * r.bytes())
    }
}

/// What is to be scanned, from where to where. Output and input may be the same.
#[derive(Clone)]
pub(crate) struct ScanTask<'a> {
    pub(crate) op: &'a Op,
    pub(crate) n: u32,
    /// What `n` is for a run of other elements.
    pub(crate) size: Param,
    pub(crate) exclusive: bool,
    /// The element that the scan starts from.
    pub(crate) start: Vec<u8>,
    pub(crate) input: Region,
    pub(crate) output: Region,
    /// Where the total goes, if it is wanted.
    pub(crate) total: Option<Region>,
}

impl<'a> ScanTask<'a> {
    fn of(request: &'a ScanRequest) -> ScanTask<'a> {
        let ScanRequest { op, n, kind, initial, total } = request;
        ScanTask {
            op,
            n: *n as u32,
            size: Param::ELEMENTS,
            exclusive: *kind == ScanKind::Exclusive,
            start: initial.clone().unwrap_or_else(|| op.identity().to_vec()),
            input: whole(Slot::Input, request.bytes()),
            output: whole(Slot::Output, request.bytes()),
            total: total.then(|| whole(Slot::OutputValues, op.element().bytes().into())),
        }
    }

    /// The scan of tiles' sums.
    fn of_sums(&self, sums: Region, count: u32) -> ScanTask<'a> {
        ScanTask {
            n: count,
            size: Param::Word(count),
            exclusive: true,
            input: sums,
            output: sums,
            total: None,
            ..self.clone()
        }
    }
}

/// Has a launch write the total.
fn write_total(launch: &mut Launch, total: Region, element: &ElementType) {
    launch.kernel.constants.push(("TOTAL", 1));
    launch.bindings.push(("output_total", total));
    launch.params.push(("total_offset", Param::Offset { binding: "output_total", unit: element.bytes() }));
}

/// How large a tile is.
struct ScanTile {
    pack: Pack,
    workgroup: u32,
    elements: u32,
    constants: Vec<(&'static str, u32)>,
}

impl Planner<'_> {
    /// A scan's tile of about `words` 32-bit words an invocation, at most as tuned.
    fn scan_tile(&self, op: &Op, n: u32, words: u32, workgroup: u32) -> ScanTile {
        let pack = self.pack(op.element());
        let all = words_of(n, op.element());
        let mut words = self.words(words.min(self.tuning.scan.words), all, workgroup);
        // Elements of several words have fewer to a tile, and more tiles then keep more loads in flight: four a compute unit.
        if op.element().words() > 1 {
            words = words.min(self.words(words, all / 4, workgroup).max(16));
        }
        let rows = (words / (pack.bytes / 4)).clamp(1, 16);
        // The block scans hold two elements an invocation in workgroup memory.
        let workgroup = self.workgroup_within_half(workgroup, op.element());
        let elements = workgroup * rows * pack.elements;
        ScanTile {
            workgroup,
            elements,
            constants: vec![("WORKGROUP", workgroup), ("ROWS", rows), pack.constant()],
            pack,
        }
    }
}
