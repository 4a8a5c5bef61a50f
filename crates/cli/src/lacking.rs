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
    caps.clone().with(|caps| {
        caps.language = Language::CudaC;
        caps.subgroups = Some(Subgroups { min: 32, max: 32, source: SubgroupSource::Native });
        caps.int64 = true;
        caps.float64 = true;
        caps.atomics64 = true;
        caps.atomics128 = true;
        caps.forward_progress = true;
        caps.coherent = true;
        caps.subgroup_barrier = true;
        caps.bulk_shared_bytes = 1 << 20;
    })
}
