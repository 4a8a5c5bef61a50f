//! All keys in one workgroup, place by place.

use super::segments::WorkgroupTile;
use super::{DIGIT_BITS, LARGEST_TILE, SortTask, sort};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::planner::Planner;
use crate::primitive::sort::{SORT, SORT_WITH_VALUES};
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Result, Scalar, Slot, SortRequest, Step};

numbers! {
    /// Numbers of a sort by one workgroup.
    pub struct OneTile by l {
        /// Invocations of a workgroup that sorts all keys by itself.
        workgroup "tile_workgroup": Workgroup up to 1024 => l.ranking,
        /// 32-bit keys without values an invocation of it takes at most: more keys than a workgroup's are sorted otherwise.
        keys "tile_keys": Count up to 16 => if l.emulated { 4 } else { 8 },
        /// 32-bit keys with values an invocation of it takes at most.
        pairs "tile_pairs": Count up to 16 => if l.emulated { 4 } else { 8 },
        /// 64-bit keys an invocation of it takes at most.
        keys64 "tile_keys64": Count up to 16 => if l.emulated { 4 } else { 8 },
        /// Keys an invocation of it takes at least: of fewer keys the workgroup is smaller.
        least "tile_least": Count up to 16 => 2,
    }
}

/// The planner's choice for few keys on GPUs: reads and writes each once.
pub static ONE_TILE: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    needs: Needs::SUBGROUPS,
    reads: 1,
    most: LARGEST_TILE,
    candidates: || CANDIDATES,
    ..sort("one_tile", "sort-one-tile.md", plan, |r, _| r.moved(0, 1))
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    // First the shape that a full tile wants, then how few keys an invocation should take.
    tuned(&SORT, Scalar::U32, &ONE_TILE, &[("tile_workgroup", &[256, 512, 1024])]).of(1 << 12),
    tuned(&SORT, Scalar::U32, &ONE_TILE, &[("tile_least", &[1, 2, 4])]).of(1 << 10),
    // How many keys one tile is still the faster for, and how many of them merged: the most first, since what was kept is asked no more.
    tuned(&SORT, Scalar::U32, &ONE_TILE, &[("tile_keys", &[8, 16])]).of(1 << 12).choice(),
    tuned(&SORT, Scalar::U32, &ONE_TILE, &[("tile_keys", &[8, 16])]).of(1 << 13).choice(),
    tuned(&SORT, Scalar::U64, &ONE_TILE, &[("tile_keys64", &[8, 16])]).of(1 << 12).choice(),
    tuned(&SORT_WITH_VALUES, Scalar::U32, &ONE_TILE, &[("tile_pairs", &[8, 16])]).of(1 << 12).choice(),
];

/// Whether one workgroup should sort as many keys.
pub(crate) fn is_fastest(planner: &Planner<'_>, job: &SortTask) -> bool {
    let shape = shape(planner, job);
    planner.sorts_within_workgroups() && planner.fits(job, shape, 1) && job.n <= shape.tile()
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SortTask::of(planner, request, DIGIT_BITS)?.with_output(request, &mut scratch);
    let most = shape(planner, &job);
    if job.n > most.tile() {
        return Err(planner.is_more_than_a_tile(&ONE_TILE, &job, most));
    }
    let shape = planner.shape_for(job.n, most);
    let launch = planner.local(&job, shape, job.places, job.input, job.output, None)?;
    Ok(Work::new(scratch, vec![Step::Launch(launch)]))
}

/// The largest tile.
pub(super) fn shape(planner: &Planner<'_>, job: &SortTask) -> WorkgroupTile {
    let t = planner.tuning;
    let keys = match (job.image.words(), job.value_bytes) {
        (1, 0) => t.one_tile.keys,
        (1, _) => t.one_tile.pairs,
        _ => t.one_tile.keys64,
    };
    planner.fitting(job, WorkgroupTile { workgroup: t.one_tile.workgroup, keys, resident: 1 }, 1)
}
