//! One launch, whose tiles tell each other how many elements they keep. Merrill and Garland 2016.

use super::{ROWS_RANKED, SelectTask};
use crate::algorithm::chain::{tile_prefix, tile_states};
use crate::algorithm::{Algorithm, Needs, Of, Row, SubgroupNeed, Work};
use crate::kernel::{atomic, kernel, read, write};
use crate::planner::{BESIDE, Planner, clean_once, reaches, words_of};
use crate::primitive::Primitive;
use crate::primitive::select::SELECT;
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Kernel, Param, Result, Scalar, SelectRequest, Slot};

pub(super) static KERNEL: Kernel = kernel!(
    "select/lookback",
    "select_lookback",
    &[
        read("input", "StoredItem"),
        write("output", "StoredKept"),
        atomic("states", "StateWord"),
        atomic("ticket", "u32"),
        write("output_rest", "StoredKept").optional(),
        write("output_count", "u32"),
        read("input_values", "StoredValue").optional(),
        write("output_values", "StoredValue").optional(),
    ],
    &[
        "n",
        "tiles",
        "slots",
        "input_offset",
        "output_offset",
        "output_rest_offset",
        "output_count_offset",
        "input_values_offset",
        "output_values_offset",
    ],
)
.with_initial();

/// The planner's choice: reads each element once.
pub static LOOKBACK: Algorithm = Algorithm {
    needs: Needs { subgroups: SubgroupNeed::RatherNative, ..Needs::WORKGROUPS },
    tiles_wait: true,
    views: &[Slot::Input, Slot::InputValues],
    follows_arrival: true,
    candidates: || CANDIDATES,
    ..Algorithm::new(
        "lookback",
        "select-lookback.md",
        Of::Select(Row { plan, traffic: Some(|r, kept| r.bytes_moved(1, kept)) }),
    )
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[tuned(
    &SELECT,
    Scalar::U32,
    &LOOKBACK,
    &[
        ("select_workgroup", &[128, 256, 512]),
        ("select_words", &[8, 16, 32]),
        ("select_staged_from", &[1 << 22, u32::MAX]),
        ("select_resident", &[0, 3, 4, 5, 6]),
    ],
)];

fn plan(planner: &Planner<'_>, request: &SelectRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job = SelectTask::new(planner, request, planner.tuning.select.words);
    let state = planner.state(&job.sum);
    let element = request.selector.element();
    // A subgroup may be as narrow as an invocation, and has a total.
    let tile_bytes = 4 * job.workgroup * (job.rows * SelectTask::held_words(request) + 1);
    let is_staged = reaches(words_of(request.n, element), planner.tuning.select.staged_from)
        && tile_bytes + BESIDE <= planner.caps.shared_bytes;
    let mut constants = planner.subgroup_constants(job.workgroup)?;
    constants.extend(planner.registers_for(job.workgroup, if is_staged { planner.tuning.select.resident } else { 0 }));
    constants.extend(planner.fault_constants());
    // In place a helper would read what is no longer there.
    let is_apart = !planner.layout.in_place || request.copies_in_place(&LOOKBACK, planner.caps);
    let is_bounded = planner.waits_bounded() && is_apart;
    constants.extend([
        ("FALLBACK", u32::from(is_bounded)),
        ("SPIN_LIMIT", planner.polls(1)),
        ("SELECT_ROWS", ROWS_RANKED),
        ("SELECT_ROUNDS", job.rows / ROWS_RANKED),
    ]);
    constants.extend(job.written());
    let held = if is_staged { "select/items_staged" } else { "select/items" };
    let parts = [
        &[planner.subgroup_scan_of(&job.sum)],
        &tile_prefix(state.part)[..],
        &[job.asks(), job.writes(), "select/item", held],
    ]
    .concat();
    let mut launch = job.launch(job.key(&KERNEL, parts, constants), job.tiles, &job.arguments());
    launch.params.push(("slots", Param::Word(job.tiles)));
    launch.bindings.extend(tile_states(job.n, job.tiles, job.tiles, state.bytes, &mut scratch)?);
    launch.initial = Some(job.sum.identity().to_vec());
    let steps = clean_once(&scratch, launch);
    Ok(Work::new(scratch, steps))
}
