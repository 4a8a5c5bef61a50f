//! Sorts whose keys are brought in order within workgroups: of one tile.

use super::sort::{DIGITS, Job};
use super::{Planner, Scratch, whole};
use crate::{DeviceKind, Error, KernelKey, Language, Launch, Param, Plan, Region, Result, Slot, SortRequest, Step};

/// No tuning has a larger tile.
pub(super) const LARGEST_TILE: u64 = 16 << 10;

/// What one workgroup sorts.
#[derive(Clone, Copy)]
struct Shape {
    workgroup: u32,
    /// Of an invocation.
    keys: u32,
}

impl Shape {
    fn tile(self) -> u32 {
        self.workgroup * self.keys
    }
}

/// Where keys and values lie.
struct Place {
    keys: Region,
    values: Option<Region>,
}

impl Planner<'_> {
    /// Whether one workgroup should sort as many keys.
    pub(super) fn prefers_one_tile(&self, request: &SortRequest, job: &Job) -> bool {
        let gpu = self.caps.language != Language::Host && self.caps.kind != DeviceKind::Cpu;
        gpu && self.caps.subgroups.is_some() && request.n <= u64::from(self.one_tile_shape(job).tile())
    }

    /// One workgroup sorts all keys, if they are no more than its tile.
    pub(super) fn one_tile(&self, job: &Job, spans: Vec<(Slot, u64, u32)>) -> Result<Plan> {
        let most = self.one_tile_shape(job);
        if job.n > most.tile() {
            return Err(Error::Unsupported(format!(
                "one_tile sorts at most {} such keys on {} ({}), as many as its workgroup holds, and there are {}; use onesweep",
                most.tile(),
                self.caps.device,
                self.caps.backend,
                job.n
            )));
        }
        let place = |keys: usize, values: usize| Place {
            keys: whole(spans[keys].0, spans[keys].1),
            values: spans.get(values).map(|&(slot, bytes, _)| whole(slot, bytes)),
        };
        let (from, to) = (place(0, 2), place(1, 3));
        let launch = self.local(job, self.one_tile_shape_for(job, most), job.places, &from, &to)?;
        self.finish("one_tile", Scratch::default(), vec![Step::Launch(launch)], spans, false, 0)
    }

    /// The largest tile of `one_tile`.
    fn one_tile_shape(&self, job: &Job) -> Shape {
        let t = self.tuning;
        let keys = match (job.key_bytes, job.value_bytes) {
            (4, 0) => t.tile_keys,
            (4, _) => t.tile_pairs,
            _ => t.tile_keys64,
        };
        self.fitting(job, Shape { workgroup: t.tile_workgroup.min(self.caps.max_workgroup), keys })
    }

    /// A shape that does no work for keys that are not there: of powers of two, so that few kernels are compiled.
    fn one_tile_shape_for(&self, job: &Job, most: Shape) -> Shape {
        let Shape { mut workgroup, keys: most } = most;
        let least = self.tuning.tile_least.min(most);
        let keys = job.n.div_ceil(workgroup).next_power_of_two().clamp(least, most);
        let subgroup = self.caps.subgroups.map_or(32, |s| s.max);
        while workgroup / 2 * keys >= job.n && workgroup >= 128 && (workgroup / 2).is_multiple_of(subgroup.max(32)) {
            workgroup /= 2;
        }
        Shape { workgroup, keys }
    }

    /// The same or a smaller shape, whose counts and keys workgroup memory holds.
    fn fitting(&self, job: &Job, mut shape: Shape) -> Shape {
        let narrowest = self.caps.subgroups.map_or(32, |s| s.min).max(1);
        // What a workgroup may have in CUDA if it asks for it.
        let room = self.caps.shared_bytes.max(self.caps.bulk_shared_bytes);
        // The digits' counts, the subgroups' sums, a few words, and an emulated subgroup's word an invocation.
        let fits = |shape: Shape| {
            let more = DIGITS * 4 + 1024 + shape.workgroup * 4;
            local_shared_bytes(job, shape, narrowest) + more <= room
        };
        while !fits(shape) && (shape.keys > 2 || shape.workgroup > 4 * narrowest) {
            if shape.keys > 2 {
                shape.keys -= 1;
            } else {
                shape.workgroup /= 2;
            }
        }
        shape
    }

    /// `sort/local` on the places below `end_place`.
    fn local(&self, job: &Job, shape: Shape, end_place: u32, from: &Place, to: &Place) -> Result<Launch> {
        let mut constants = job.constants.clone();
        constants.extend([
            ("WORKGROUP", shape.workgroup),
            ("ITEMS", shape.keys),
            ("DIGITS_EACH", DIGITS.div_ceil(shape.workgroup).next_power_of_two()),
            ("RESIDENT", 1),
        ]);
        if self.caps.language == Language::CudaC {
            constants.push(("DYNAMIC_BYTES", local_shared_bytes(job, shape, 32)));
        }
        constants.extend(self.subgroup_constants(shape.workgroup)?);
        let mut parts = vec![job.key_part, "block/digit_scan"];
        parts.extend(self.peers_part());
        let values = if from.values.is_some() { "block/place_values" } else { "block/place_none" };
        parts.extend(["block/tile_ranks", "block/segment_whole", values]);
        let offset = |name, binding, unit| (name, Param::Offset { binding, unit });
        let mut bindings = vec![("source", from.keys), ("target_keys", to.keys)];
        let mut params = vec![
            ("n", Param::Word(job.n)),
            ("first_place", Param::Word(0)),
            ("end_place", Param::Word(end_place)),
            offset("source_offset", "source", job.key_bytes),
            offset("target_offset", "target_keys", job.key_bytes),
        ];
        if let (Some(from), Some(to)) = (from.values, to.values) {
            bindings.extend([("source_values", from), ("target_values", to)]);
            params.extend([
                offset("source_values_offset", "source_values", 4),
                offset("target_values_offset", "target_values", 4),
            ]);
        }
        let kernel = KernelKey { name: "sort/local", parts, constants, element: None, op: None, selector: None };
        Ok(Launch { kernel, groups: 1, bindings, params, initial: None })
    }
}

/// Workgroup memory for the subgroups' counts of each digit, and for the words of a tile that move.
fn local_shared_bytes(job: &Job, shape: Shape, narrowest: u32) -> u32 {
    let moved = job.key_bytes / 4 + u32::from(job.value_bytes > 0);
    (shape.workgroup / narrowest * DIGITS + moved * shape.tile()) * 4
}
