//! One look-back pass a digit, from the least significant on. Adinets and Merrill, "Onesweep", 2022.

use super::{DIGIT_BITS, SortTask, sort};
use crate::algorithm::{Algorithm, Needs, Work};
use crate::planner::Planner;
use crate::primitive::sort::{SORT, SORT_WITH_VALUES};
use crate::scratch::Scratch;
use crate::tuning::{Candidates, tuned};
use crate::{Language, Result, Scalar, Slot, SortRequest};

/// The planner's choice for many keys: reads the keys once to count all digits, and in a pass keys and values once in and once out.
pub static ONESWEEP: Algorithm = Algorithm {
    views: &[Slot::Input, Slot::InputValues],
    needs: Needs::SUBGROUPS,
    tiles_wait: true,
    candidates: || CANDIDATES,
    ..sort("onesweep", "sort-onesweep.md", plan, |r, _| r.moved(1, r.places(8)))
};

/// What tuning tries, each subject behind those whose numbers it depends on.
const CANDIDATES: &[Candidates] = &[
    tuned(
        &SORT,
        Scalar::U32,
        &ONESWEEP,
        &[
            ("sort_workgroup", &[128, 256, 384, 512]),
            ("sort_keys", &[8, 12, 16, 20, 24, 28, 32, 36]),
            ("sort_resident", &[0, 2, 3, 4]),
            ("sort_window", &[1, 2, 4, 8]),
        ],
    ),
    tuned(&SORT, Scalar::U32, &ONESWEEP, &[("sort_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
    tuned(
        &SORT,
        Scalar::U32,
        &ONESWEEP,
        &[("count_workgroup", &[256, 512]), ("count_keys", &[8, 16]), ("count_groups", &[2, 4, 8])],
    )
    .of(1 << 21),
    tuned(
        &SORT,
        Scalar::U32,
        &ONESWEEP,
        &[("count_copies_workgroup", &[512, 1024]), ("count_copies_keys", &[4, 8, 16])],
    )
    .only(Language::CudaC),
    // The same kernel where its tiles are not many, where they are few, and where they are fewer than units.
    tuned(&SORT, Scalar::U32, &ONESWEEP, &[("sort_keys_middling", &[20, 22, 24, 26, 28, 32])]).of(1 << 24),
    tuned(&SORT, Scalar::U32, &ONESWEEP, &[("sort_keys_few", &[12, 16, 20, 24, 32])]).of(1 << 22),
    tuned(&SORT, Scalar::F32, &ONESWEEP, &[("sort_tiles_few", &[32, 48, 64, 96])]).of(1 << 18),
    tuned(
        &SORT,
        Scalar::U64,
        &ONESWEEP,
        &[
            ("sort64_workgroup", &[128, 256, 384, 512]),
            ("sort_keys64", &[6, 8, 10, 12, 14, 16, 18, 20, 24, 28]),
            ("sort64_resident", &[0, 2, 3, 4]),
        ],
    ),
    tuned(
        &SORT_WITH_VALUES,
        Scalar::U32,
        &ONESWEEP,
        &[
            ("pairs_workgroup", &[128, 256, 384, 512]),
            ("sort_pairs", &[8, 12, 16, 20, 24, 28, 32]),
            ("pairs_resident", &[0, 2, 3, 4]),
        ],
    ),
    // Of pairs of three words.
    tuned(&SORT_WITH_VALUES, Scalar::U64, &ONESWEEP, &[("pairs_words", &[45, 60, 75, 90])]),
    tuned(&SORT, Scalar::U64, &ONESWEEP, &[("sort64_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
    tuned(&SORT_WITH_VALUES, Scalar::U32, &ONESWEEP, &[("pairs_parts", &[1, 2, 4, 8])]).only(Language::Wgsl),
];

fn plan(planner: &Planner<'_>, request: &SortRequest) -> Result<Work> {
    let mut scratch = Scratch::default();
    let job =
        SortTask::of(planner, request, DIGIT_BITS)?.evened(planner.layout.in_place).with_output(request, &mut scratch);
    let passes = planner.partition(&job, 0, 0, &mut scratch)?;
    Ok(Work::new(scratch, passes.steps))
}
