//! All keys in one workgroup, whose runs are merged in pairs.

use super::segments::{SEGMENTS, WorkgroupTile, segments};
use super::{DIGIT_BITS, LARGEST_TILE, SortTask, sort};
use crate::algorithm::{Algorithm, Work};
use crate::kernel::kernel;
use crate::planner::Planner;
use crate::primitive::sort::SORT;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{DeviceKind, Kernel, KernelKey, Language, Result, Scalar, Slot, SortRequest, Step};

numbers! {
    /// Numbers of a sort by one workgroup that merges.
    pub struct MergeTile by l {
        /// Invocations of a workgroup that merges all keys by itself.
        workgroup "merge_workgroup": Halved up to 1024 => 512.min(l.workgroup),
        /// Keys an invocation of it takes at most: odd, so that lanes keep off each other's banks.
        keys "merge_keys": Count up to 31 => if l.emulated { 3 } else { 9 },
        /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
        least "merge_least": Count up to 31 => 5,
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "sort/merge",
    "sort_merge",
    SEGMENTS,
    &["n", "buckets_at", "source_offset", "target_offset", "source_values_offset", "target_values_offset"],
);

/// The planner's choice for few 64-bit keys on GPUs, and for few keys without subgroups.
pub static MERGE_TILE: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    reads: 1,
    most: LARGEST_TILE,
    variant_of: Some(&super::ONE_TILE),
    candidates: || CANDIDATES,
    ..sort("merge_tile", "sort-merge-tile.md", plan, |r, _| r.moved(0, 1))
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(&SORT, Scalar::U64, &MERGE_TILE, &[("merge_workgroup", &[256, 512, 1024]), ("merge_keys", &[5, 9, 17])])
        .of(1 << 12),
    tuned(&SORT, Scalar::U64, &MERGE_TILE, &[("merge_least", &[3, 5, 9])]).of(1 << 10),
    tuned(&SORT, Scalar::U32, &MERGE_TILE, &[("merge_most", &[1 << 10, 1 << 12])]).of(1 << 12).choice(),
    tuned(&SORT, Scalar::U32, &MERGE_TILE, &[("merge_most", &[0, 1 << 10])]).of(1 << 10).choice(),
    tuned(&SORT, Scalar::U64, &MERGE_TILE, &[("merge_most64", &[1 << 11, 1 << 12])]).of(1 << 12).choice(),
    tuned(&SORT, Scalar::U64, &MERGE_TILE, &[("merge_most64", &[0, 1 << 11])]).of(1 << 11).choice(),
];

/// Whether one workgroup should merge as many keys: without subgroups always, since all else is many launches.
pub(crate) fn is_fastest(planner: &Planner<'_>, job: &SortTask) -> bool {
    let t = planner.tuning;
    let most = match planner.caps.subgroups {
        None => u32::MAX,
        Some(_) if job.image.words() > 1 => t.sort_choice.merge_most64,
        Some(_) => t.sort_choice.merge_most,
    };
    let is_gpu = planner.caps.language != Language::Host && planner.caps.kind != DeviceKind::Cpu;
    is_gpu && job.n <= most.min(shape(planner, job).tile())
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SortTask::of(planner, request, DIGIT_BITS)?.with_output(request, &mut scratch);
    let most = shape(planner, &job);
    if job.n > most.tile() {
        return Err(planner.is_more_than_a_tile(&MERGE_TILE, &job, most));
    }
    let kernel = key(planner, &job, shape_for(planner, job.n, most));
    let launch = segments(kernel, &job, job.input, job.output, None);
    Ok(Work::new(scratch, vec![Step::Launch(launch)]))
}

/// The largest tile: a power of two of invocations, whose runs are merged in pairs, of an odd number of keys, which
/// keeps them off each other's banks.
fn shape(planner: &Planner<'_>, job: &SortTask) -> WorkgroupTile {
    let numbers = &planner.tuning.merge_tile;
    fitting(planner, job, WorkgroupTile { workgroup: numbers.workgroup, keys: odd(numbers.keys), resident: 1 })
}

/// The same or a smaller shape, whose keys workgroup memory holds.
pub(super) fn fitting(planner: &Planner<'_>, job: &SortTask, mut shape: WorkgroupTile) -> WorkgroupTile {
    let fits = |shape| shared_bytes(job, shape) + 64 <= planner.ranking_room();
    while (!fits(shape) || u64::from(shape.tile()) > LARGEST_TILE) && shape.tile() > 1 {
        if shape.keys > 1 {
            shape.keys -= 2;
        } else {
            shape.workgroup /= 2;
        }
    }
    shape
}

/// A shape that does little work for keys that are not there.
fn shape_for(planner: &Planner<'_>, n: u32, most: WorkgroupTile) -> WorkgroupTile {
    let least = planner.tuning.merge_tile.least.min(most.keys);
    let keys = (n.div_ceil(most.workgroup).max(least) | 1).min(most.keys);
    let mut workgroup = most.workgroup;
    while workgroup / 2 * keys >= n && workgroup > planner.narrowest_workgroup() {
        workgroup /= 2;
    }
    WorkgroupTile { workgroup, keys, resident: 1 }
}

fn key(planner: &Planner<'_>, job: &SortTask, shape: WorkgroupTile) -> KernelKey {
    let mut constants = vec![
        ("WORKGROUP", shape.workgroup),
        ("ITEMS", shape.keys),
        ("NEIGHBOURS", shape.keys / 2),
        job.source_values(job.input),
    ];
    constants.extend(planner.registers_for(shape.workgroup, shape.resident));
    if planner.caps.language == Language::CudaC {
        constants.push(("DYNAMIC_BYTES", shared_bytes(job, shape)));
    }
    constants.extend(planner.aliasing(true));
    let parts =
        ["sort/exchange", "sort/own", "sort/segment_whole"].into_iter().chain(job.with_values("sort/place_values"));
    job.kernel(&KERNEL, parts.collect(), &constants)
}

/// Workgroup memory for the words of a tile that move, and for a place behind it.
pub(super) fn shared_bytes(job: &SortTask, shape: WorkgroupTile) -> u32 {
    job.moved_words() * (shape.tile() + 1) * 4
}

/// The largest odd number up to this one, which is at least 1.
pub(super) fn odd(number: u32) -> u32 {
    number - u32::from(number.is_multiple_of(2))
}
