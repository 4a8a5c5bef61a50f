//! One launch: the last workgroup to arrive combines the partials in a fixed order.

use crate::algorithm::{Algorithm, Of, Row, Work, has_native_subgroups};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{Planner, clean_once, whole, words_of};
use crate::primitive::reduce::REDUCE;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::tuning::{Candidates, tuned};
use crate::{DeviceKind, Kernel, KernelKey, Launch, Op, Param, ReduceRequest, Result, Scalar, Slot};

numbers! {
    /// Numbers of reductions.
    pub struct Reductions by l {
        /// Invocations of a reduce's workgroup.
        workgroup "reduce_workgroup": Halved up to 1024 => 256.min(l.workgroup),
        /// Invocations of it where elements are few: a large workgroup would take more than its share.
        workgroup_few "reduce_workgroup_few": Halved up to 1024 => 256.min(l.workgroup),
        /// Up to how many 32-bit words for each invocation of a workgroup on each compute unit they are.
        few_each "reduce_few_each": Count up to 1 << 16 => 32,
        /// 32-bit words an invocation of a reduce loads at a time.
        words "reduce_words": Count up to 64 => 32,
        /// 32-bit words, in at most 32 packs, that an invocation of a workgroup that reduces all elements alone loads at most: of more there
        /// are several workgroups.
        alone_words "reduce_alone_words": Count up to 128 => 64,
        /// Whether a reduce of an operator that commutes loads a workgroup's next tile as it combines this one, where each has two: 0 or 1.
        ahead "reduce_ahead": Optional up to 1 => 0,
        /// Workgroups of a reduce for each compute unit.
        groups_per_unit "groups_per_unit": Count up to 64 => l.groups_per_unit,
    }
}

pub(super) static KERNEL: Kernel = kernel!(
    "reduce/single_pass",
    "reduce_single_pass",
    &[read("input", "Pack"), write("output", "T"), atomic("partials", "PartialWord"), atomic("counter", "u32")],
    &["n", "tiles", "groups", "input_offset", "output_offset"],
)
.with_initial();

/// The planner's choice. Reads each element once.
pub static SINGLE_PASS: Algorithm = Algorithm {
    maps_output: true,
    candidates: || CANDIDATES,
    ..Algorithm::new("single_pass", "reduce-single-pass.md", Of::Reduce(Row { plan, traffic: Some(|r, _| r.bytes()) }))
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(
        &REDUCE,
        Scalar::U32,
        &SINGLE_PASS,
        &[
            ("reduce_workgroup", &[128, 256, 512, 1024]),
            ("reduce_words", &[8, 16, 32]),
            ("groups_per_unit", &[2, 4, 8, 16]),
        ],
    ),
    tuned(
        &REDUCE,
        Scalar::U32,
        &SINGLE_PASS,
        &[("reduce_workgroup_few", &[256, 512]), ("reduce_few_each", &[16, 32, 64])],
    )
    .of(1 << 21),
    tuned(&REDUCE, Scalar::U32, &SINGLE_PASS, &[("reduce_alone_words", &[16, 32, 64])]).of(1 << 14),
    tuned(&REDUCE, Scalar::U64, &SINGLE_PASS, &[("reduce_alone_words", &[64, 128])]).of(1 << 14),
    tuned(&REDUCE, Scalar::U64, &SINGLE_PASS, &[("reduce_ahead", &[0, 1])]).of(1 << 24),
];

fn plan(planner: &Planner<'_>, request: &ReduceRequest) -> Result<Work> {
    let (op, n) = (&request.op, request.n as u32);
    let (input, output) = (whole(Slot::Input, request.bytes()), whole(Slot::Output, op.element().bytes().into()));
    let pack = planner.pack(op.element());
    let words = words_of(n, op.element());
    let mut workgroup = planner.tuning.reduce.workgroup;
    let few = |workgroup| {
        u64::from(planner.tuning.reduce.few_each) * u64::from(workgroup) * u64::from(planner.caps.compute_units)
    };
    while workgroup > planner.tuning.reduce.workgroup_few && words < few(workgroup) {
        workgroup /= 2;
    }
    let workgroup = planner.workgroup_within_half(workgroup, op.element());
    // One workgroup is done before several have met.
    let alone = n.div_ceil(workgroup * pack.elements).next_power_of_two();
    let most = |words: u32, packs: u32| (words / (pack.bytes / 4)).clamp(1, packs);
    let rows = match alone <= most(planner.tuning.reduce.alone_words, 32) && planner.caps.kind != DeviceKind::Cpu {
        true => alone,
        false => {
            let rows = most(planner.words(planner.tuning.reduce.words, words, workgroup), 16);
            if planner.loads_little(&pack) { (2 * rows).min(16) } else { rows }
        }
    };
    let tile = workgroup * rows * pack.elements;
    let tiles = n.div_ceil(tile);
    // In order a workgroup goes over its subgroups' totals after each tile.
    let narrowest = planner.caps.subgroups.map_or(workgroup, |subgroups| subgroups.min.max(1));
    let turns = 4 + if op.commutative { 0 } else { workgroup.div_ceil(narrowest) };
    let resident = planner.resident(planner.tuning.reduce.groups_per_unit).max(planner.least_groups(tiles, turns));
    let groups = tiles.min(resident).min(4096);
    // The kernel loads a workgroup's first tile unchecked: of two the first is whole.
    let ahead = planner.tuning.reduce.ahead == 1 && op.commutative && tiles >= 2 * groups;
    let combine = combining(planner, op, workgroup)?;
    // How a workgroup's partial is held.
    let partials_part = if planner.caps.atomics64 { "reduce/partials64" } else { "reduce/partials" };
    let mut scratch = Scratch::default();
    let counter = scratch.keep(4);
    let partials = scratch.keep(u64::from(groups) * 2 * 4 * u64::from(op.element().words()));
    let parts = [&["element/load", "element/fold"], &combine.parts[..], &[partials_part]].concat();
    let constants = [
        ("WORKGROUP", workgroup),
        ("ROWS", rows),
        pack.constant(),
        ("EXCLUSIVE", 0),
        ("COMMUTATIVE", u32::from(op.commutative)),
        ("AHEAD", u32::from(ahead)),
    ];
    let launch = Launch {
        kernel: KernelKey::new(&KERNEL, parts, [&constants, &combine.constants[..]].concat()).by(op),
        groups,
        bindings: vec![("input", input), ("output", output), ("partials", partials), ("counter", counter)],
        params: vec![
            ("n", Param::ELEMENTS),
            ("tiles", Param::ELEMENTS.in_parts(tile)),
            ("groups", Param::Word(groups)),
            ("input_offset", Param::Offset { binding: "input", unit: pack.bytes }),
            ("output_offset", Param::Offset { binding: "output", unit: op.element().bytes() }),
        ],
        initial: Some(request.start()),
    };
    let steps = clean_once(&scratch, launch);
    let per_invocation = u64::from(tiles.div_ceil(groups)) * u64::from(rows) * u64::from(pack.elements);
    let depth = per_invocation + 2 * 16 + u64::from(groups.div_ceil(workgroup)) + 4;
    Ok(Work::new(scratch, steps).depth(depth))
}

/// By shuffles where they are cheaper than barriers.
fn combining(planner: &Planner<'_>, op: &Op, workgroup: u32) -> Result<Combining> {
    if !has_native_subgroups(planner.caps) {
        return Ok(Combining { parts: vec!["workgroup/reduce"], constants: vec![] });
    }
    let parts = vec![
        planner.subgroup_scan_of(op),
        "workgroup/subgroup_fold",
        "workgroup/tile_totals",
        "workgroup/reduce_subgroup",
    ];
    Ok(Combining { parts, constants: planner.subgroup_constants(workgroup)? })
}

/// The blocks that combine a workgroup's elements, and their constants.
struct Combining {
    parts: Vec<&'static str>,
    constants: Vec<(&'static str, u32)>,
}
