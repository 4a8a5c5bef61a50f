//! Binaries kept on disk, on whatever OpenCL devices there are.

use trifold_conformance::{Outcome, devices_or_skip, kernels_are_cached};
use trifold_opencl::{Cache, OpenCl};

#[test]
fn binaries_are_kept() {
    let devices = devices_or_skip("opencl", OpenCl::devices());
    for device in devices {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ok(OpenCl::open(&device)?.with_cache(Cache::in_folder(folder.path())));
        assert_eq!(kernels_are_cached(folder.path(), open), Outcome::Passed, "{}", device.name);
    }
}
