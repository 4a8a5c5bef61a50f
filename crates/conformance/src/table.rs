//! The table: which rows a device is given.
//!
//! Every distinct kernel costs a software device a compilation. So all types and operators are run at a few sizes only.
//! Sizes, distributions and placements vary over few types.

mod argsort;
mod copy;
mod histogram;
mod octet;
mod reduce;
mod reduce_by_key;
mod scan;
mod scatter;
mod segmented;
mod select;
mod sizes;
mod sort;
mod sort_segments;
mod top_k;
mod tuned;
pub(crate) mod views;

use std::collections::HashSet;

use trifold_core::{
    Algorithm, Builtin, Caps, CopyRequest, ElementType, Op, Order, Request, Scalar, ScanKind, Tuning, planner,
};

use crate::case::{Body, Case, Level};
use crate::inputs::{Distribution, Random};
use crate::operators;
use crate::refusal::Refusal;
use crate::row::{Edges, Row, Tiles};

/// The cases for a device with these capabilities, and which plans by these numbers.
pub fn cases(caps: &Caps, tuning: &Tuning, level: Level) -> Vec<Case> {
    let mut table = Table::new(caps, tuning, level);
    PRIMITIVES.iter().for_each(|primitive| (primitive.rows)(&mut table));
    table.octets();
    table.views();
    table.views_of_neighbours();
    table.views_of_fields();
    table.views_beside_places();
    table.views_by_name();
    table.candidates();
    table.sizes();
    table.queues();
    for refusal in Refusal::all(caps) {
        let name = format!("refusal/{}", refusal.name());
        table.push(name, Body::Refusal(refusal));
    }
    table.cases
}

pub(crate) fn builtin(which: Builtin, scalar: Scalar) -> Op {
    // The callers below never ask for a bitwise operator of floats.
    Op::builtin(which, scalar).unwrap_or_else(operators::compose)
}

pub(crate) use histogram::{histogram, weighted};
pub(crate) use octet::product;
pub(crate) use reduce::reduce;
pub(crate) use reduce_by_key::by_key;
pub(crate) use scan::scan;
pub(crate) use scatter::scatter;
pub(crate) use segmented::{offsets, offsets_of, segmented};
pub(crate) use select::{keeping, kept_otherwise, select};
pub(crate) use sizes::requests;
pub(crate) use sort::sort;
pub(crate) use sort_segments::sorts_of_segments;
pub(crate) use top_k::{segmented as top_k_of, top_k, top_k_of_segments, unsorted};
pub use tuned::tuned_cases;

/// Values of 4, 8 and 12 bytes.
pub(crate) fn value_types() -> [ElementType; 3] {
    [ElementType::Scalar(Scalar::U32), ElementType::Scalar(Scalar::U64), operators::tally().element().clone()]
}

/// Operators of scans and reductions that start from an element of the caller's.
fn started() -> [Op; 5] {
    let sum = |scalar| builtin(Builtin::Sum, scalar);
    [sum(Scalar::U32), sum(Scalar::F32), sum(Scalar::I64), operators::compose(), operators::tally()]
}

/// Operators of floats, for their special values.
fn of_floats() -> impl Iterator<Item = (Builtin, Op)> {
    let builtins = [Builtin::Sum, Builtin::Product, Builtin::Min, Builtin::Max];
    let both = [Scalar::F32, Scalar::F64].into_iter().flat_map(move |scalar| builtins.map(|which| (which, scalar)));
    both.map(|(which, scalar)| (which, builtin(which, scalar)))
}

/// Minima and maxima of floats, which must find the least and greatest of all.
fn of_order() -> impl Iterator<Item = Op> {
    of_floats().filter(|(which, _)| matches!(which, Builtin::Min | Builtin::Max)).map(|(_, op)| op)
}

/// A call's input, and its values where it may have some.
pub(crate) type Inputs = (Vec<u8>, Option<Vec<u8>>);

/// What the suite has of a primitive.
struct Primitive {
    /// Its rows.
    rows: fn(&mut Table<'_>),
    /// What a request of its is given.
    input: fn(&Request, Distribution, &mut Random) -> Option<Inputs>,
    /// Rows of so many elements whose results two devices are compared in.
    shared: fn(u64) -> Vec<Row>,
}

static PRIMITIVES: [Primitive; 10] = [
    Primitive { rows: |table| table.copies(), input: copy::input, shared: |_| vec![] },
    Primitive { rows: |table| table.scatters(), input: scatter::input, shared: |_| vec![] },
    Primitive { rows: |table| table.scans(), input: scan::input, shared: scan::shared_rows },
    Primitive { rows: |table| table.reduces(), input: reduce::input, shared: reduce::shared_rows },
    Primitive { rows: |table| table.segments(), input: segmented::input, shared: |_| vec![] },
    Primitive { rows: |table| table.sorts(), input: sort::input, shared: sort::shared_rows },
    Primitive { rows: |table| table.top_ks(), input: top_k::input, shared: |_| vec![] },
    Primitive { rows: |table| table.selections(), input: select::input, shared: select::shared_rows },
    Primitive { rows: |table| table.histograms(), input: histogram::input, shared: |_| vec![] },
    Primitive { rows: |table| table.by_keys(), input: reduce_by_key::input, shared: reduce_by_key::shared_rows },
];

/// What a request is given.
pub(crate) fn input(request: &Request, distribution: Distribution, random: &mut Random) -> Inputs {
    let given = PRIMITIVES.iter().find_map(|primitive| (primitive.input)(request, distribution, random));
    given.unwrap_or_default()
}

struct Table<'a> {
    caps: &'a Caps,
    tuning: &'a Tuning,
    level: Level,
    names: HashSet<String>,
    cases: Vec<Case>,
}

impl<'a> Table<'a> {
    fn new(caps: &'a Caps, tuning: &'a Tuning, level: Level) -> Table<'a> {
        Table { caps, tuning, level, names: HashSet::new(), cases: vec![] }
    }
}

impl Table<'_> {
    fn push(&mut self, name: String, body: Body) {
        if self.names.insert(name.clone()) {
            self.cases.push(Case { name, body });
        }
    }

    fn row(&mut self, row: Row) {
        self.push(row.name(), Body::Call(row.into()));
    }

    /// A row by each algorithm that the device has for it; in place by the planner's choice, which knows what can, and by those
    /// that it never chooses.
    fn by_algorithm(&mut self, row: Row) {
        let in_place = row.placement.in_place();
        if in_place {
            self.row(row.clone());
        }
        for algorithm in planner::algorithms(&row.request, self.caps) {
            // What is more than a tile is a refusal's to check.
            let one_tile = algorithm.is_of_one_tile();
            if one_tile && row.clone().algorithm(algorithm).plan(self.caps, self.tuning).is_err() {
                continue;
            }
            // Software devices are not given a sort of one tile by choice.
            let is_selection = matches!(row.request, Request::Select(_));
            if !in_place || algorithm.is_reference || one_tile || is_selection {
                self.row_of_rung(row.clone(), algorithm);
            }
        }
    }

    /// A row by an algorithm. The literature's have many siblings: of the quick level's rows they are given the plainest. So is a sort by
    /// merging, whose rows are of segments.
    fn row_of_rung(&mut self, row: Row, algorithm: &'static Algorithm) {
        let typical = scan::is_typical(&row.request, self.caps) && sort::is_typical(&row.request);
        let plain = typical && row.distribution == Distribution::Uniform && row.runs == 2;
        let merges_all = *algorithm == trifold_core::algorithm::sort::MERGE_SORT && row.request.segments().is_none();
        let sibling = algorithm.is_reference || algorithm.variant_of.is_some() || merges_all;
        if self.level == Level::Full || plain || !sibling {
            self.row(row.algorithm(algorithm));
        }
    }

    fn rungs(&self, request: &Request) -> Vec<&'static Algorithm> {
        let algorithms = planner::algorithms(request, self.caps);
        algorithms.into_iter().filter(|algorithm| algorithm.is_reference).collect()
    }

    /// Whether the device runs an algorithm for a row.
    fn runs(&self, row: &Row, algorithm: &'static Algorithm) -> bool {
        planner::algorithms(&row.request, self.caps).contains(&algorithm)
    }

    /// A row by the device's first algorithm.
    fn by_first(&mut self, row: Row) {
        let algorithm = planner::algorithms(&row.request, self.caps)[0];
        self.row(row.algorithm(algorithm));
    }

    /// 0, 1, and around each subgroup, workgroup and tile edge.
    fn edges(&self, row: &Row) -> Vec<u64> {
        let mut edges = vec![4, 32];
        edges.extend(self.caps.subgroups.iter().flat_map(|s| [u64::from(s.min), u64::from(s.max)]));
        // Blocks of the CPU backend have 128 KiB.
        let block = (128 << 10) / u64::from(row.element().bytes());
        let Edges { workgroup, round, tile } =
            row.shape(self.caps, self.tuning).unwrap_or(Edges { workgroup: 256, round: block, tile: block });
        edges.extend([workgroup, round, tile, 2 * tile]);
        let mut sizes = vec![0, 1];
        sizes.extend(edges.iter().flat_map(|e| [e - 1, *e, e + 1]));
        // A look-back longer than a subgroup, if tiles are small.
        sizes.push((tile * 70 + 7).min(20_011));
        if self.level == Level::Full {
            sizes.extend([tile * 70 + 7, 100_003, (1 << 20) + 1]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A row of more than 65535 workgroups, the most that WebGPU takes in one dimension: small tiles make them few elements. By
    /// each algorithm, at the quick level by the device's first.
    fn past_the_fold(&mut self, row: impl Fn(u64) -> Row) {
        let all = if self.level == Level::Full { usize::MAX } else { 1 };
        for algorithm in planner::algorithms(&row(1).request, self.caps).into_iter().take(all) {
            let row = |n| row(n).tiles(Tiles::Small).algorithm(algorithm);
            let Some(Edges { tile, .. }) = row(1 << 20).shape(self.caps, self.tuning) else { continue };
            let n = 65_535 * tile + tile + 1;
            if self.fits(u64::from(row(n).element().bytes()) * n) {
                self.row(row(n));
            }
        }
    }

    /// Sizes that take a while, of elements of up to eight bytes.
    fn large_sizes(&self) -> Vec<u64> {
        let sizes: &[u64] = if self.level == Level::Quick { &[200_003] } else { &[200_003, (1 << 24) + 3] };
        sizes.iter().copied().filter(|n| self.fits(8 * n)).collect()
    }

    fn fits(&self, bytes: u64) -> bool {
        let memory = if self.caps.memory == 0 { u64::MAX } else { self.caps.memory };
        bytes <= self.caps.max_binding.min(self.caps.max_buffer).min(memory / 16)
    }

    /// 64 calls on one queue, of primitives by turns.
    fn queues(&mut self) {
        let [v4, ..] = value_types();
        let sum = builtin(Builtin::Sum, Scalar::U32);
        let sizes = (0..64).map(|i| 1 + (i * 613) % 9001);
        let turns = sizes
            .enumerate()
            .map(|(i, n)| match i % 5 {
                0 => Row::new(scan(&sum, ScanKind::Exclusive, n)),
                1 => Row::new(sort(Scalar::U32, Some(v4.clone()), Order::Ascending, n)),
                2 => Row::new(reduce(&sum, n)),
                3 => Row::new(Request::Copy(CopyRequest { element: v4.clone(), n })),
                _ => Row::new(scan(&operators::compose(), ScanKind::Inclusive, n)),
            })
            .collect();
        self.push("queue/by_turns/64".into(), Body::Queue(turns));
        self.push("queue/timed".into(), Body::Timing);
        self.push("builders".into(), Body::Builders);
    }
}

/// Rows whose results two devices are compared in.
pub(crate) fn shared_rows() -> Vec<Row> {
    let sizes = [1, 1000, 20_011];
    PRIMITIVES.iter().flat_map(|primitive| sizes.into_iter().flat_map(primitive.shared)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use trifold_core::{DeviceKind, Form, Language, SubgroupSource, Subgroups, forms};

    use super::*;

    /// Lavapipe, near enough.
    pub(crate) fn software_gpu() -> Caps {
        let mut caps = Caps::new("wgpu", "a software device".into(), Language::Wgsl);
        caps.api = "Vulkan".into();
        caps.kind = DeviceKind::Cpu;
        caps.compute_units = 2;
        caps.subgroups = Some(Subgroups { min: 8, max: 8, source: SubgroupSource::Native });
        caps.int64 = true;
        caps.float64 = true;
        caps.atomics64 = true;
        caps.max_workgroup = 1024;
        caps.shared_bytes = 32 << 10;
        caps.max_binding = 1 << 30;
        caps.max_buffer = 1 << 30;
        caps.binding_alignment = 64;
        caps
    }

    /// What a device is not asked for, and why: a planner that began to refuse more would pass the suite by it.
    #[test]
    fn devices_refuse_these_rows_alone() {
        let without = software_gpu().with(|caps| {
            caps.subgroups = None;
            caps.atomics64 = false;
            caps.int64 = false;
            caps.float64 = false;
        });
        let gpu = software_gpu().with(|caps| {
            caps.kind = DeviceKind::DiscreteGpu;
            caps.language = Language::CudaC;
            caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
            caps.atomics128 = true;
            caps.forward_progress = true;
            caps.shared_bytes = 48 << 10;
            caps.bulk_shared_bytes = 227 << 10;
        });
        let mut text = String::new();
        for (name, caps) in [("with subgroups", software_gpu()), ("without", without), ("CUDA", gpu)] {
            let mut refused = std::collections::BTreeMap::<String, usize>::new();
            for case in cases(&caps, &Tuning::of(&caps), Level::Quick) {
                let Body::Call(row) = &case.body else { continue };
                let Err(error) = row.plan(&caps, &Tuning::of(&caps)) else { continue };
                // What lacks a type lacks it by every algorithm.
                if row.request.operands().iter().any(|operand| caps.check_element(&operand.element).is_err()) {
                    continue;
                }
                // Sizes apart.
                let why: String = error.to_string().chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
                let algorithm = row.options.algorithm.map_or("auto", |algorithm| algorithm.name);
                *refused.entry(format!("{} by {algorithm}: {why}", row.request.primitive())).or_default() += 1;
            }
            text += &format!("{name}\n");
            refused.iter().for_each(|(what, rows)| text += &format!("  {rows} x {what}\n"));
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_full_table_passes_the_fold() {
        let caps = software_gpu().with(|caps| {
            caps.max_binding = 1 << 40;
            caps.max_buffer = 1 << 40;
        });
        let cases = cases(&caps, &Tuning::of(&caps), Level::Full);
        // What carries values takes the same kernels, and what views read a primitive's own.
        let of_views =
            [&forms::TRANSFORM, &forms::ADJACENT_DIFFERENCE, &forms::SUM_OF_SQUARES, &forms::DOT, &forms::ARG_MIN];
        // The workgroups of these stay, and are not so many.
        let histograms = [&forms::HISTOGRAM, &forms::WEIGHTED_HISTOGRAM, &forms::HISTOGRAM_BY_EDGES];
        let of_values = [&forms::SORT_WITH_VALUES, &forms::ARGSORT, &forms::SEGMENTED_SORT_WITH_VALUES];
        let same = [&of_values[..], &histograms, &[&forms::NTH_ELEMENT], &of_views].concat();
        for form in Form::all().filter(|form| !same.contains(form)) {
            let folded = cases.iter().any(|case| match &case.body {
                Body::Call(row) => {
                    row.request.form() == form
                        && row
                            .plan(&caps, &Tuning::of(&caps))
                            .is_ok_and(|plan| plan.launched().any(|launch| launch.groups > 65_535))
                }
                _ => false,
            });
            assert!(folded, "{form:?}");
        }
    }
}
