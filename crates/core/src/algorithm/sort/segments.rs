//! What sorts segments within workgroups share: all keys, or the buckets of a partition, each brought in order by one workgroup.

use super::{DIGITS, Location, SortTask, digits_each};
use crate::algorithm::Algorithm;
use crate::kernel::{Argument, kernel, read, write};
use crate::planner::Planner;
use crate::{DeviceKind, Error, Kernel, KernelKey, Language, Launch, Param, Region, Result};

/// Of sorts whose workgroups take a segment each: all keys, or those buckets that `counts` tells.
pub(super) const SEGMENTS: &[Argument] = &[
    read("source", "StoredKey"),
    write("target_keys", "StoredKey"),
    read("source_values", "StoredValue").optional(),
    write("target_values", "StoredValue").optional(),
    read("counts", "u32").optional(),
];

pub(super) static ONE_WORKGROUP: Kernel = kernel!(
    "sort/one_workgroup",
    "sort_one_workgroup",
    SEGMENTS,
    &["n", "end_place", "buckets_at", "source_offset", "target_offset", "source_values_offset", "target_values_offset",],
);

/// What one workgroup sorts.
#[derive(Clone, Copy)]
pub(super) struct WorkgroupTile {
    pub(super) workgroup: u32,
    /// Of an invocation.
    pub(super) keys: u32,
    /// Workgroups that a compute unit should hold at once.
    pub(super) resident: u32,
}

impl WorkgroupTile {
    pub(super) fn tile(self) -> u32 {
        self.workgroup * self.keys
    }
}

/// The buckets of a partition.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    /// Where each begins, from `at` on.
    pub(super) counts: Region,
    pub(super) at: u32,
}

impl Buckets {
    /// By the last place.
    pub(super) fn of(job: &SortTask, counts: Region) -> Buckets {
        Buckets { counts, at: job.bucket_place() * DIGITS }
    }
}

impl Planner<'_> {
    pub(super) fn is_more_than_a_tile(&self, algorithm: &Algorithm, job: &SortTask, most: WorkgroupTile) -> Error {
        let (tile, n, device, backend) = (most.tile(), job.n, &self.caps.device, self.caps.backend);
        let other = if self.caps.subgroups.is_some() { "onesweep" } else { "upsweep_downsweep" };
        Error::Unsupported(format!(
            "{algorithm} sorts at most {tile} such keys on {device} ({backend}), as many as its workgroup holds, and there are {n}; use {other}"
        ))
    }

    /// Software devices have no wave to fill, and ranks need subgroups.
    pub(super) fn sorts_within_workgroups(&self) -> bool {
        self.caps.language != Language::Host && self.caps.kind != DeviceKind::Cpu && self.caps.subgroups.is_some()
    }

    /// A shape that does little work for keys that are not there, rounded so that few kernels are compiled.
    pub(super) fn shape_for(&self, n: u32, most: WorkgroupTile) -> WorkgroupTile {
        let WorkgroupTile { mut workgroup, keys: most, resident } = most;
        let least = self.tuning.one_tile.least.min(most);
        let each = n.div_ceil(workgroup);
        let rounded = if each > 8 { each.next_multiple_of(4) } else { each.next_power_of_two() };
        let keys = rounded.clamp(least, most);
        let subgroup = self.caps.subgroups.map_or(32, |s| s.max);
        while workgroup / 2 * keys >= n && workgroup >= 128 && (workgroup / 2).is_multiple_of(subgroup.max(32)) {
            workgroup /= 2;
        }
        WorkgroupTile { workgroup, keys, resident }
    }

    /// Whether workgroup memory holds a shape's counts and keys, and so many more words for each digit.
    pub(super) fn fits(&self, job: &SortTask, shape: WorkgroupTile, each_digit: u32) -> bool {
        // The subgroups' sums, a few words, and an emulated subgroup's word an invocation.
        let more = each_digit * DIGITS * 4 + 1024 + shape.workgroup * 4;
        local_shared_bytes(job, shape, self.narrowest_subgroup()) + more <= self.ranking_room()
    }

    /// The same or a smaller shape, which fits if any does.
    pub(super) fn fitting(&self, job: &SortTask, mut shape: WorkgroupTile, each_digit: u32) -> WorkgroupTile {
        let least = self.narrowest_ranking();
        while !self.fits(job, shape, each_digit) && (shape.keys > 2 || shape.workgroup > least) {
            if shape.keys > 2 {
                shape.keys -= 1;
            } else {
                shape.workgroup = self.halved(shape.workgroup);
            }
        }
        shape
    }

    /// `sort/one_workgroup` by the places before `end_place`, on all keys or on each bucket.
    pub(super) fn local(
        &self,
        job: &SortTask,
        shape: WorkgroupTile,
        end_place: u32,
        from: Location,
        to: Location,
        buckets: Option<Buckets>,
    ) -> Result<Launch> {
        if !self.fits(job, shape, 1) {
            return Err(self.lacks_room());
        }
        let bytes = |narrowest| local_shared_bytes(job, shape, narrowest);
        let segment = if buckets.is_some() { "sort/segment_bucket" } else { "sort/segment_whole" };
        let mut kernel = self.local_key(&ONE_WORKGROUP, job, shape, bytes, &[segment], "sort/place_values")?;
        kernel.constants.push(job.source_values(from));
        kernel.constants.extend(self.aliasing(buckets.is_none()));
        let mut launch = segments(kernel, job, from, to, buckets);
        launch.params.push(("end_place", Param::Word(end_place)));
        Ok(launch)
    }

    /// Whether a kernel reads and stores the same memory, which WGSL's has to know: its two bindings may be taken for memory apart.
    pub(super) fn aliasing(&self, is_whole: bool) -> Option<(&'static str, u32)> {
        (self.caps.language == Language::Wgsl).then_some(("IN_PLACE", u32::from(is_whole && self.layout.in_place)))
    }

    /// A kernel whose workgroups sort segments; `bytes` are those of its workgroup memory that CUDA is asked for.
    pub(super) fn local_key(
        &self,
        kernel: &'static Kernel,
        job: &SortTask,
        shape: WorkgroupTile,
        bytes: impl Fn(u32) -> u32,
        segment: &[&'static str],
        values: &'static str,
    ) -> Result<KernelKey> {
        let mut constants =
            vec![("WORKGROUP", shape.workgroup), ("ITEMS", shape.keys), ("DIGITS_EACH", digits_each(shape.workgroup))];
        constants.extend(self.registers_for(shape.workgroup, shape.resident));
        if self.caps.language == Language::CudaC {
            constants.push(("DYNAMIC_BYTES", bytes(32)));
        }
        constants.extend(self.subgroup_constants(shape.workgroup)?);
        let mut parts = vec!["workgroup/digit_scan"];
        parts.extend(self.ranking_parts());
        parts.push("workgroup/tile_ranks");
        parts.extend(segment);
        parts.extend(job.with_values(values));
        Ok(job.kernel(kernel, parts, &constants))
    }
}

/// A kernel that sorts all keys by one workgroup, or each bucket by one.
pub(super) fn segments(
    kernel: KernelKey,
    job: &SortTask,
    from: Location,
    to: Location,
    buckets: Option<Buckets>,
) -> Launch {
    let (mut bindings, moved) = job.moving(from, to);
    let mut params = [vec![("n", Param::ELEMENTS)], moved].concat();
    if let Some(Buckets { counts, at }) = buckets {
        bindings.push(("counts", counts));
        params.push(("buckets_at", Param::Word(at)));
    }
    let groups = if buckets.is_some() { DIGITS } else { 1 };
    Launch { kernel, groups, bindings, params, initial: None }
}

/// Workgroup memory for the subgroups' counts of each digit, and for the words of a tile that move.
pub(super) fn local_shared_bytes(job: &SortTask, shape: WorkgroupTile, narrowest: u32) -> u32 {
    (shape.workgroup / narrowest * DIGITS + job.moved_words() * shape.tile()) * 4
}
