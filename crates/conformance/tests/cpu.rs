//! The suite on the CPU backend: with the machine's own threads, and with five.

use trifold_core::Device;
use trifold_cpu::Cpu;

fn main() {
    trifold_conformance::main_with(|| {
        let open = |threads| Cpu::with_threads(threads).map(Device::of);
        vec![("cpu".into(), open(0)), ("cpu-5-threads".into(), open(5))]
    });
}
