//! The suite on the emulated CUDA device.

use trifold_core::AnyBackend;
use trifold_cuda_emulation::Emulation;

fn main() {
    trifold_conformance::main_with(|| {
        let device = Emulation::new().map(|device| Box::new(device) as Box<dyn AnyBackend>);
        vec![("emulation".into(), device)]
    });
}
