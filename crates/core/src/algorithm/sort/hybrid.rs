//! The counts decide on the device: a partition by the most significant digit and a workgroup for each bucket, if all of them fit, else
//! Onesweep's passes. Each launch that the decision leaves out ends at once.

use super::segments::{Buckets, WorkgroupTile};
use super::{DIGIT_BITS, DIGITS, SortTask, buckets_fit, one_tile, sort};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::planner::Planner;
use crate::primitive::sort::SORT;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{Result, Scalar, Slot, SortRequest, Step};

numbers! {
    /// Numbers of the workgroups that sort buckets.
    pub struct BucketTiles by l {
        /// Invocations of a workgroup that sorts a bucket of a sort from the most significant digit.
        workgroup "bucket_workgroup": Workgroup up to 1024 => l.ranking,
        /// Keys an invocation of it takes at most.
        keys "bucket_keys": Count up to 32 => if l.emulated { 4 } else { 16 },
        /// Workgroups of it that a compute unit should hold at once.
        resident "bucket_resident": Optional up to 16 => 2,
    }
}

/// The planner's choice between few keys and many on GPUs.
pub static HYBRID: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    needs: Needs::SUBGROUPS,
    tiles_wait: true,
    candidates: || CANDIDATES,
    ..sort(
        "hybrid",
        "sort-hybrid.md",
        plan,
        |r, _| if buckets_fit(r.n) { r.moved(1, 2) } else { r.moved(1, r.places(8)) },
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(
    &SORT,
    Scalar::U32,
    &HYBRID,
    &[
        ("bucket_workgroup", &[128, 256, 512]),
        ("bucket_keys", &[16, 20, 24, 28, 32]),
        ("bucket_resident", &[0, 2, 3, 4]),
    ],
)
.of(1 << 20)];

/// Whether keys that are spread well are sorted faster by their buckets: where those are likely to fit a workgroup each. Floats
/// are seldom spread well over their first digit, a sign and seven bits of exponent.
pub(crate) fn is_fastest(planner: &Planner<'_>, job: &SortTask) -> bool {
    let bucket = shape(planner, job);
    let first = job.image.fields.last().map(|field| field.scalar);
    planner.sorts_within_workgroups()
        && planner.fits(job, bucket, 1)
        && job.places > 2
        && first.is_some_and(|scalar| !scalar.is_float())
        && job.n > one_tile::shape(planner, job).tile()
        && likely_bucket(job.n) <= bucket.tile()
}

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job =
        SortTask::of(planner, request, DIGIT_BITS)?.evened(planner.layout.in_place).with_output(request, &mut scratch);
    let shape = shape(planner, &job);
    let mut partition = planner.partition(&job, 0, shape.tile(), &mut scratch)?;
    let (last, buckets) = (job.bucket_place(), Buckets::of(&job, partition.counts));
    let local = planner.local(&job, shape, last, partition.temp, job.output, Some(buckets))?;
    partition.steps.push(Step::Launch(local));
    Ok(Work::new(scratch, partition.steps))
}

/// What sorts a bucket of so many keys that are spread well, if it fits.
pub(super) fn shape(planner: &Planner<'_>, job: &SortTask) -> WorkgroupTile {
    let t = planner.tuning;
    let most = WorkgroupTile { workgroup: t.buckets.workgroup, keys: t.buckets.keys, resident: t.buckets.resident };
    planner.shape_for(likely_bucket(job.n), planner.fitting(job, most, 1))
}

/// The most keys that a bucket of `n` uniform keys is likely to have: by chance they differ in size.
fn likely_bucket(n: u32) -> u32 {
    n / DIGITS + n / DIGITS / 4 + 64
}
