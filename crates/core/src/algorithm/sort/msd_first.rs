//! A partition by the most significant digit, and each of its buckets by the other places in one workgroup.

use super::segments::{Buckets, WorkgroupTile};
use super::{DIGIT_BITS, DIGITS, Location, ONESWEEP, SortTask, buckets_fit, hybrid, sort};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, offset};
use crate::scratch::Scratch;
use crate::{Kernel, Launch, Param, Result, SortRequest, Step};

pub(super) static LARGE_BUCKET: Kernel = kernel!(
    "sort/large_bucket",
    "sort_large_bucket",
    &[
        write("temp", "StoredKey"),
        write("output", "StoredKey"),
        write("temp_values", "StoredValue").optional(),
        write("output_values", "StoredValue").optional(),
        read("counts", "u32"),
    ],
    &["n", "end_place", "buckets_at", "sorted", "output_offset", "output_values_offset"],
);

/// Two passes where a workgroup holds each bucket; larger buckets are counted and scattered by each other digit.
pub static MSD_FIRST: Algorithm = Algorithm {
    needs: Needs::SUBGROUPS,
    is_reference: true,
    tiles_wait: true,
    ..sort("msd_first", "sort-msd-first.md", plan, |r, _| match r.places(8) {
        _ if buckets_fit(r.n) => r.moved(1, 2),
        places => r.moved(places, places),
    })
};

/// Keys of an invocation that goes through a bucket of more than a tile.
const LARGE_KEYS: u32 = 8;

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let (job, mut scratch) = (SortTask::of(planner, request, DIGIT_BITS)?, Scratch::default());
    let shape = hybrid::shape(planner, &job);
    let last = job.bucket_place();
    let mut partition = planner.partition(&job, last, u32::MAX, &mut scratch)?;
    let (from, buckets) = (partition.temp, Buckets::of(&job, partition.counts));
    let local = planner.local(&job, shape, last, from, job.output, Some(buckets))?;
    let large = large(planner, &job, shape, last, from, job.output, buckets)?;
    partition.steps.extend([local, large].map(Step::Launch));
    Ok(Work::new(scratch, partition.steps))
}

/// `sort/large_bucket` by the places before `end_place`, on each bucket that `sort/one_workgroup` of a shape left as it was.
fn large(
    planner: &Planner<'_>,
    job: &SortTask,
    sorted: WorkgroupTile,
    end_place: u32,
    from: Location,
    to: Location,
    buckets: Buckets,
) -> Result<Launch> {
    let shape = WorkgroupTile { keys: sorted.keys.min(LARGE_KEYS), resident: 1, ..sorted };
    let (n, workgroup) = (u64::from(job.n), u64::from(shape.workgroup));
    let subgroups = workgroup / u64::from(planner.narrowest_subgroup());
    // Of a tile: its counts are cleared, added up and made places, each digit's by all subgroups, whose sums are scanned.
    let each = u64::from(DIGITS).div_ceil(workgroup);
    let of_tile = each * (5 + 3 * subgroups) + subgroups + 8;
    let turns = n.div_ceil(u64::from(shape.tile())) * of_tile + n.div_ceil(workgroup);
    planner.check_turns(&MSD_FIRST, u64::from(end_place) * turns, "one bucket may have all keys", &ONESWEEP)?;
    let bytes = |narrowest| shape.workgroup / narrowest * DIGITS * 4;
    let mut bindings = vec![("temp", from.keys), ("output", to.keys)];
    let mut params = vec![
        ("n", Param::ELEMENTS),
        ("end_place", Param::Word(end_place)),
        ("buckets_at", Param::Word(buckets.at)),
        ("sorted", Param::Word(sorted.tile())),
        ("output_offset", offset("output", to.keys, job.image.bytes)),
    ];
    if let (Some(from), Some(to)) = (from.values, to.values) {
        bindings.extend([("temp_values", from), ("output_values", to)]);
        params.push(("output_values_offset", offset("output_values", to, job.value_unit)));
    }
    bindings.push(("counts", buckets.counts));
    let kernel = planner.local_key(&LARGE_BUCKET, job, shape, bytes, &["sort/segment_bucket"], "sort/swap_values")?;
    Ok(Launch { kernel, groups: DIGITS, bindings, params, initial: None })
}
