//! Sorts whose keys are brought in order within workgroups: of one tile, or of buckets by the most significant digit.

use super::sort::{DIGITS, Job, Partition, digits_each};
use super::{Planner, Scratch, offset};
use crate::plan::PlannedSpan;
use crate::{DeviceKind, Error, KernelKey, Language, Launch, Param, Plan, Region, Result, Scalar, SortRequest, Step};

/// No device was tuned to a larger tile.
pub(super) const LARGEST_TILE: u64 = 16 << 10;
/// Keys of an invocation that goes through a bucket of more than a tile.
const LARGE_KEYS: u32 = 8;

/// What one workgroup sorts.
#[derive(Clone, Copy)]
struct Shape {
    workgroup: u32,
    /// Of an invocation.
    keys: u32,
    /// Workgroups that a compute unit should hold at once.
    resident: u32,
}

impl Shape {
    fn tile(self) -> u32 {
        self.workgroup * self.keys
    }
}

/// Where keys and values lie.
#[derive(Clone, Copy)]
struct Place {
    keys: Region,
    values: Option<Region>,
}

/// The buckets of a partition.
#[derive(Clone, Copy)]
struct Buckets {
    /// Where each begins, from `at` on.
    counts: Region,
    at: u32,
}

impl Planner<'_> {
    /// Whether one workgroup should sort as many keys.
    pub(super) fn prefers_one_tile(&self, job: &Job) -> bool {
        let shape = self.one_tile_shape(job);
        self.sorts_within_workgroups() && self.fits(job, shape) && job.n <= shape.tile()
    }

    /// One workgroup sorts all keys, if they are no more than its tile.
    pub(super) fn one_tile(&self, job: &Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let most = self.one_tile_shape(job);
        if job.n > most.tile() {
            return Err(self.is_more_than_a_tile("one_tile", job, most));
        }
        let shape = self.shape_for(job.n, most);
        let launch = self.local(job, shape, job.places, place(&spans, 0), place(&spans, 1), None)?;
        self.finish("one_tile", Scratch::default(), vec![Step::Launch(launch)], spans, 0)
    }

    /// Whether one workgroup should merge as many keys: without subgroups always, since all else is many launches.
    pub(super) fn prefers_merging(&self, job: &Job) -> bool {
        let t = self.tuning;
        let most = match self.caps.subgroups {
            None => u32::MAX,
            Some(_) if job.key_bytes == 8 => t.merge_most64,
            Some(_) => t.merge_most,
        };
        let is_gpu = self.caps.language != Language::Host && self.caps.kind != DeviceKind::Cpu;
        is_gpu && job.n <= most.min(self.merge_shape(job).tile())
    }

    /// One workgroup merges all keys, if they are no more than its tile.
    pub(super) fn merge_tile(&self, job: &Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let most = self.merge_shape(job);
        if job.n > most.tile() {
            return Err(self.is_more_than_a_tile("merge_tile", job, most));
        }
        let shape = self.merge_shape_for(job.n, most);
        let kernel = self.merge_key(job, shape);
        let launch = segments(kernel, job, place(&spans, 0), place(&spans, 1), None);
        self.finish("merge_tile", Scratch::default(), vec![Step::Launch(launch)], spans, 0)
    }

    /// A partition by the most significant digit, and each of its buckets by the other places, in one workgroup.
    pub(super) fn msd_first(&self, job: &Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let shape = self.bucket_shape(job);
        self.by_buckets("msd_first", job, shape, job.places - 1, u32::MAX, spans)
    }

    /// The histogram decides on the device: a partition by the most significant digit and a workgroup for each bucket, if all of
    /// them fit, else Onesweep's passes. Each launch that the decision leaves out ends at once.
    pub(super) fn hybrid(&self, job: &Job, spans: Vec<PlannedSpan>) -> Result<Plan> {
        let shape = self.bucket_shape(job);
        self.by_buckets("hybrid", job, shape, 0, shape.tile(), spans)
    }

    /// A partition as [`Planner::partition`] makes it, then a workgroup for each bucket, and for those larger than its tile if the
    /// partition may leave such.
    fn by_buckets(
        &self,
        algorithm: &'static str,
        job: &Job,
        shape: Shape,
        first_place: u32,
        bucket_tile: u32,
        spans: Vec<PlannedSpan>,
    ) -> Result<Plan> {
        let mut scratch = Scratch::default();
        let last = job.places - 1;
        let Partition { mut steps, counts, temp, temp_values } =
            self.partition(job, first_place, bucket_tile, &spans, &mut scratch)?;
        let buckets = Buckets { counts, at: last * DIGITS };
        let from = Place { keys: temp, values: (job.value_bytes > 0).then_some(temp_values) };
        let to = place(&spans, 1);
        steps.push(Step::Launch(self.local(job, shape, last, from, to, Some(buckets))?));
        if bucket_tile > shape.tile() {
            steps.push(Step::Launch(self.large(job, shape, last, from, to, buckets)?));
        }
        self.finish(algorithm, scratch, steps, spans, 0)
    }

    /// Whether keys that are spread well are sorted faster by their buckets: where those are likely to fit a workgroup each. Floats
    /// are seldom spread well over their first digit, a sign and seven bits of exponent.
    pub(super) fn prefers_buckets(&self, request: &SortRequest, job: &Job) -> bool {
        let float = matches!(request.key, Scalar::F32 | Scalar::F64);
        let bucket = self.bucket_shape(job);
        self.sorts_within_workgroups()
            && self.fits(job, bucket)
            && !float
            && job.n > self.one_tile_shape(job).tile()
            && likely_bucket(job.n) <= bucket.tile()
    }

    fn is_more_than_a_tile(&self, algorithm: &str, job: &Job, most: Shape) -> Error {
        let (tile, n, device, backend) = (most.tile(), job.n, &self.caps.device, self.caps.backend);
        let other = if self.caps.subgroups.is_some() { "onesweep" } else { "upsweep_downsweep" };
        Error::Unsupported(format!(
            "{algorithm} sorts at most {tile} such keys on {device} ({backend}), as many as its workgroup holds, and there are {n}; use {other}"
        ))
    }

    /// Software devices have no wave to fill, and ranks need subgroups.
    fn sorts_within_workgroups(&self) -> bool {
        self.caps.language != Language::Host && self.caps.kind != DeviceKind::Cpu && self.caps.subgroups.is_some()
    }

    /// What sorts a bucket of so many keys that are spread well, if it fits.
    fn bucket_shape(&self, job: &Job) -> Shape {
        let t = self.tuning;
        let most = Shape { workgroup: t.bucket_workgroup, keys: t.bucket_keys, resident: t.bucket_resident };
        self.shape_for(likely_bucket(job.n), self.fitting(job, most))
    }

    /// The largest tile of `one_tile`.
    fn one_tile_shape(&self, job: &Job) -> Shape {
        let t = self.tuning;
        let keys = match (job.key_bytes, job.value_bytes) {
            (4, 0) => t.tile_keys,
            (4, _) => t.tile_pairs,
            _ => t.tile_keys64,
        };
        self.fitting(job, Shape { workgroup: t.tile_workgroup, keys, resident: 1 })
    }

    /// A shape that does little work for keys that are not there, rounded so that few kernels are compiled.
    fn shape_for(&self, n: u32, most: Shape) -> Shape {
        let Shape { mut workgroup, keys: most, resident } = most;
        let least = self.tuning.tile_least.min(most);
        let each = n.div_ceil(workgroup);
        let rounded = if each > 8 { each.next_multiple_of(4) } else { each.next_power_of_two() };
        let keys = rounded.clamp(least, most);
        let subgroup = self.caps.subgroups.map_or(32, |s| s.max);
        while workgroup / 2 * keys >= n && workgroup >= 128 && (workgroup / 2).is_multiple_of(subgroup.max(32)) {
            workgroup /= 2;
        }
        Shape { workgroup, keys, resident }
    }

    /// The largest tile of `merge_tile`: a power of two of invocations, whose runs are merged in pairs, of an odd number of keys, which
    /// keeps them off each other's banks.
    fn merge_shape(&self, job: &Job) -> Shape {
        let mut shape =
            Shape { workgroup: self.tuning.merge_workgroup, keys: odd(self.tuning.merge_keys), resident: 1 };
        let fits = |shape| merge_shared_bytes(job, shape) + 64 <= self.ranking_room();
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
    fn merge_shape_for(&self, n: u32, most: Shape) -> Shape {
        let least = self.tuning.merge_least.min(most.keys);
        let keys = (n.div_ceil(most.workgroup).max(least) | 1).min(most.keys);
        let mut workgroup = most.workgroup;
        while workgroup / 2 * keys >= n && workgroup > self.narrowest_workgroup() {
            workgroup /= 2;
        }
        Shape { workgroup, keys, resident: 1 }
    }

    fn merge_key(&self, job: &Job, shape: Shape) -> KernelKey {
        let mut constants = job.constants.clone();
        constants.extend([("WORKGROUP", shape.workgroup), ("ITEMS", shape.keys), ("NEIGHBOURS", shape.keys / 2)]);
        constants.extend(self.registers_for(shape.workgroup, shape.resident));
        if self.caps.language == Language::CudaC {
            constants.push(("DYNAMIC_BYTES", merge_shared_bytes(job, shape)));
        }
        constants.extend(self.aliasing(true));
        let parts = vec![job.key_part, "block/segment_whole", place_part(job)];
        KernelKey { name: "sort/merge", parts, constants, element: None, op: None, selector: None }
    }

    /// Whether workgroup memory holds a shape's counts and keys.
    fn fits(&self, job: &Job, shape: Shape) -> bool {
        // The digits' counts, the subgroups' sums, a few words, and an emulated subgroup's word an invocation.
        let more = DIGITS * 4 + 1024 + shape.workgroup * 4;
        local_shared_bytes(job, shape, self.narrowest_subgroup()) + more <= self.ranking_room()
    }

    /// The same or a smaller shape, which fits if any does.
    fn fitting(&self, job: &Job, mut shape: Shape) -> Shape {
        let least = self.narrowest_ranking();
        while !self.fits(job, shape) && (shape.keys > 2 || shape.workgroup > least) {
            if shape.keys > 2 {
                shape.keys -= 1;
            } else {
                shape.workgroup = self.halved(shape.workgroup);
            }
        }
        shape
    }

    /// `sort/local` by the places before `end_place`, on all keys or on each bucket.
    fn local(
        &self,
        job: &Job,
        shape: Shape,
        end_place: u32,
        from: Place,
        to: Place,
        buckets: Option<Buckets>,
    ) -> Result<Launch> {
        if !self.fits(job, shape) {
            return Err(self.lacks_room());
        }
        let bytes = |narrowest| local_shared_bytes(job, shape, narrowest);
        let segment = if buckets.is_some() { "block/segment_bucket" } else { "block/segment_whole" };
        let mut kernel = self.local_key("sort/local", job, shape, bytes, segment, place_part(job))?;
        kernel.constants.extend(self.aliasing(buckets.is_none()));
        let mut launch = segments(kernel, job, from, to, buckets);
        launch.params.push(("end_place", Param::Word(end_place)));
        Ok(launch)
    }

    /// Whether a kernel reads and stores the same memory, which WGSL's has to know: its two bindings may be taken for memory apart.
    fn aliasing(&self, is_whole: bool) -> Option<(&'static str, u32)> {
        (self.caps.language == Language::Wgsl).then_some(("IN_PLACE", u32::from(is_whole && self.layout.in_place)))
    }

    /// `sort/large` by the places before `end_place`, on each bucket that `sort/local` of a shape left as it was.
    fn large(
        &self,
        job: &Job,
        sorted: Shape,
        end_place: u32,
        from: Place,
        to: Place,
        buckets: Buckets,
    ) -> Result<Launch> {
        let shape = Shape { keys: sorted.keys.min(LARGE_KEYS), resident: 1, ..sorted };
        let (n, workgroup) = (u64::from(job.n), u64::from(shape.workgroup));
        let subgroups = workgroup / u64::from(self.narrowest_subgroup());
        // Of a tile: its counts are cleared, added up and made places, each digit's by all subgroups, whose sums are scanned.
        let each = u64::from(DIGITS).div_ceil(workgroup);
        let of_tile = each * (5 + 3 * subgroups) + subgroups + 8;
        let turns = n.div_ceil(u64::from(shape.tile())) * of_tile + n.div_ceil(workgroup);
        self.check_turns("msd_first", u64::from(end_place) * turns, "one bucket may have all keys", "onesweep")?;
        let bytes = |narrowest| shape.workgroup / narrowest * DIGITS * 4;
        let values = if from.values.is_some() { "block/swap_values" } else { "block/swap_none" };
        let mut bindings = vec![("temp", from.keys), ("output", to.keys)];
        let mut params = vec![
            ("n", Param::Word(job.n)),
            ("end_place", Param::Word(end_place)),
            ("buckets_at", Param::Word(buckets.at)),
            ("sorted", Param::Word(sorted.tile())),
            ("output_offset", offset("output", to.keys, job.key_bytes)),
        ];
        if let (Some(from), Some(to)) = (from.values, to.values) {
            bindings.extend([("temp_values", from), ("output_values", to)]);
            params.push(("output_values_offset", offset("output_values", to, 4)));
        }
        bindings.push(("counts", buckets.counts));
        let kernel = self.local_key("sort/large", job, shape, bytes, "block/segment_bucket", values)?;
        Ok(Launch { kernel, groups: DIGITS, bindings, params, initial: None })
    }

    /// A kernel whose workgroups sort segments; `bytes` are those of its workgroup memory that CUDA is asked for.
    fn local_key(
        &self,
        name: &'static str,
        job: &Job,
        shape: Shape,
        bytes: impl Fn(u32) -> u32,
        segment: &'static str,
        values: &'static str,
    ) -> Result<KernelKey> {
        let mut constants = job.constants.clone();
        constants.extend([
            ("WORKGROUP", shape.workgroup),
            ("ITEMS", shape.keys),
            ("DIGITS_EACH", digits_each(shape.workgroup)),
        ]);
        constants.extend(self.registers_for(shape.workgroup, shape.resident));
        if self.caps.language == Language::CudaC {
            constants.push(("DYNAMIC_BYTES", bytes(32)));
        }
        constants.extend(self.subgroup_constants(shape.workgroup)?);
        let mut parts = vec![job.key_part, "block/digit_scan"];
        parts.extend(self.ranking_parts());
        parts.extend(["block/tile_ranks", segment, values]);
        Ok(KernelKey { name, parts, constants, element: None, op: None, selector: None })
    }
}

/// How a kernel that sorts segments moves their values.
fn place_part(job: &Job) -> &'static str {
    if job.value_bytes > 0 { "block/place_values" } else { "block/place_none" }
}

/// A kernel that sorts all keys by one workgroup, or each bucket by one.
fn segments(kernel: KernelKey, job: &Job, from: Place, to: Place, buckets: Option<Buckets>) -> Launch {
    let mut bindings = vec![("source", from.keys), ("target_keys", to.keys)];
    let mut params = vec![
        ("n", Param::Word(job.n)),
        ("source_offset", offset("source", from.keys, job.key_bytes)),
        ("target_offset", offset("target_keys", to.keys, job.key_bytes)),
    ];
    if let (Some(from), Some(to)) = (from.values, to.values) {
        bindings.extend([("source_values", from), ("target_values", to)]);
        params.extend([
            ("source_values_offset", offset("source_values", from, 4)),
            ("target_values_offset", offset("target_values", to, 4)),
        ]);
    }
    if let Some(Buckets { counts, at }) = buckets {
        bindings.push(("counts", counts));
        params.push(("buckets_at", Param::Word(at)));
    }
    let groups = if buckets.is_some() { DIGITS } else { 1 };
    Launch { kernel, groups, bindings, params, initial: None }
}

/// The most keys that a bucket of `n` uniform keys is likely to have: by chance they differ in size.
fn likely_bucket(n: u32) -> u32 {
    n / DIGITS + n / DIGITS / 4 + 64
}

/// The input, or the output: the first or the second of the keys' spans and of the values'.
fn place(spans: &[PlannedSpan], which: usize) -> Place {
    Place { keys: spans[which].whole(), values: spans.get(which + 2).map(PlannedSpan::whole) }
}

/// Workgroup memory for the subgroups' counts of each digit, and for the words of a tile that move.
fn local_shared_bytes(job: &Job, shape: Shape, narrowest: u32) -> u32 {
    (shape.workgroup / narrowest * DIGITS + moved_words(job) * shape.tile()) * 4
}

/// Workgroup memory for the words of a tile that move, and for a place behind it.
fn merge_shared_bytes(job: &Job, shape: Shape) -> u32 {
    moved_words(job) * (shape.tile() + 1) * 4
}

/// Words that move with a key: its own, and of a pair the index of its value.
pub(super) fn moved_words(job: &Job) -> u32 {
    job.key_bytes / 4 + u32::from(job.value_bytes > 0)
}

/// The largest odd number up to this one, which is at least 1.
fn odd(number: u32) -> u32 {
    number - u32::from(number.is_multiple_of(2))
}
