//! Scatters.

use super::{Algorithm, Needs, Of, Place, Row, Work};
use crate::kernel::{kernel, read, write};
use crate::planner::{Planner, whole};
use crate::primitive::scatter::ScatterRequest;
use crate::scratch::Scratch;
use crate::{Kernel, KernelKey, Language, Launch, Param, Result, Slot, Step};

pub(super) static KERNEL: Kernel = kernel!(
    "scatter/scatter",
    "scatter",
    &[read("input", "StoredValue"), read("input_values", "u32"), write("output", "StoredValue")],
    &["n", "room", "input_offset", "input_values_offset", "output_offset"],
);

/// The CPU backend's.
pub(super) static PARALLEL: Kernel = Kernel::host("scatter/parallel");

/// Each value goes to its place, whatever the others do.
pub static SCATTER: Algorithm = Algorithm {
    needs: Needs { place: Place::Anything, ..Needs::WORKGROUPS },
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("scatter", "", Of::Scatter(Row { plan, traffic: Some(|r, _| r.bytes()) }))
};

/// Those of the primitive.
pub(crate) static ALL: &[&Algorithm] = &[&SCATTER];

/// What it launches.
pub(crate) static KERNELS: &[&Kernel] = &[&KERNEL, &PARALLEL];

/// Values that an invocation takes.
const ROWS: u32 = 4;

fn plan(planner: &Planner<'_>, request: &ScatterRequest) -> Result<Work> {
    let (bytes, unit) = (request.element.bytes(), request.element.unit());
    let workgroup = 256.min(planner.caps.max_workgroup);
    let constants = vec![("WORKGROUP", workgroup), ("ROWS", ROWS), ("VALUE_UNIT", unit), ("VALUE_WORDS", bytes / unit)];
    let kernel = match planner.caps.language {
        Language::Host => KernelKey::new(&PARALLEL, vec![], vec![("VALUE_BYTES", bytes)]),
        _ => KernelKey::new(&KERNEL, vec![], constants),
    };
    let of = |slot, n: u64, each: u32| whole(slot, n.saturating_mul(each.into()));
    let launch = Launch {
        kernel,
        groups: (request.n as u32).div_ceil(workgroup * ROWS),
        bindings: vec![
            ("input", of(Slot::Input, request.n, bytes)),
            ("input_values", of(Slot::InputValues, request.n, 4)),
            ("output", of(Slot::Output, request.room, bytes)),
        ],
        params: vec![
            ("n", Param::ELEMENTS),
            ("room", Param::Word(request.room as u32)),
            ("input_offset", Param::Offset { binding: "input", unit }),
            ("input_values_offset", Param::Offset { binding: "input_values", unit: 4 }),
            ("output_offset", Param::Offset { binding: "output", unit }),
        ],
        initial: None,
    };
    Ok(Work::new(Scratch::default(), vec![Step::Launch(launch)]))
}
