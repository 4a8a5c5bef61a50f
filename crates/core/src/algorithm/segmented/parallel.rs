//! The CPU backend's reductions and scans of segments: chunks on all threads.

use super::bounds;
use crate::algorithm::{Algorithm, Needs, Of, Row, Work};
use crate::planner::{Planner, arguments, tile_launch};
use crate::primitive::{Gives, Segments};
use crate::{Kernel, KernelKey, Result, ScanKind, SegmentedRequest, Slot, Step};

pub(super) static KERNEL: Kernel = Kernel::host("segmented/parallel");

/// On all of the processor's threads.
pub static PARALLEL: Algorithm = Algorithm {
    needs: Needs::THREADS,
    views: &[Slot::Input, Slot::InputValues],
    ..Algorithm::new("parallel", "", Of::Segmented(Row { plan, traffic: Some(|r, _| r.bytes_moved(1)) }))
};

fn plan(_: &Planner<'_>, request: &SegmentedRequest) -> Result<Work> {
    let bytes = match &request.by {
        Segments::Offsets { of, .. } => Some(("OFFSET_BYTES", of.bytes())),
        Segments::Keys(of) => Some(("KEY_BYTES", of.bytes())),
        Segments::Rows(_) => None,
    };
    let reduces = u32::from(request.gives == Gives::Total);
    let exclusive = u32::from(request.gives == Gives::Prefixes(ScanKind::Exclusive));
    let constants = [("REDUCES", reduces), ("EXCLUSIVE", exclusive)].into_iter().chain(bytes).collect();
    let kernel = KernelKey::new(&KERNEL, vec![], constants).by(&request.op);
    let mut launch = tile_launch(kernel, 1, 1, &arguments(request));
    launch.params.extend(bounds(request));
    launch.initial = Some(request.start().to_vec());
    // Each thread's chunks, and what goes on from one to the next.
    let depth = request.n + 1;
    Ok(Work::new(Default::default(), vec![Step::Launch(launch)]).depth(depth))
}
