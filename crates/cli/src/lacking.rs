//! Algorithms that a device lacks, so that its rows and cases can say why.

use trifold::backend::{Caps, Language, SubgroupSource, Subgroups};
use trifold::plan::Request;
use trifold::{Algorithm, plan};

/// Those that a device with kernels may have for a request, and this one has not.
pub fn algorithms(request: &Request, caps: &Caps) -> Vec<&'static Algorithm> {
    let has = plan::algorithms(request, caps);
    let mut elsewhere = plan::algorithms(request, &ablest(caps));
    elsewhere.retain(|name| !has.contains(name));
    elsewhere
}

/// A device that can run whatever any device with kernels can.
fn ablest(caps: &Caps) -> Caps {
    Caps {
        language: Language::CudaC,
        subgroups: Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native }),
        int64: true,
        float64: true,
        atomics64: true,
        atomics128: true,
        forward_progress: true,
        coherent: true,
        subgroup_barrier: true,
        bulk_shared_bytes: 1 << 20,
        ..caps.clone()
    }
}
