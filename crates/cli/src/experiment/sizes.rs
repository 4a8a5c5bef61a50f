//! How many elements an experiment has on a device.

use trifold::backend::Caps;
use trifold::plan::forms;

use crate::args::ExperimentArgs;
use crate::compare::{Bench, Job, Outcome, is_software};

/// What the reduce article reduces.
const REDUCED: u64 = 1024 * 1024 * 10;
/// The smallest of a ladder.
const LEAST: u32 = 10;
/// How far a device's sizes go.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// A copy of the most elements takes about so long.
    copy_ms: f64,
    /// The exponent of the most, however fast it is.
    most: u32,
}

impl Reach {
    /// A software device's kernels are much slower than its copies.
    fn of(caps: &Caps) -> Reach {
        match is_software(caps.kind) {
            true => Reach { copy_ms: 3.0, most: 22 },
            false => Reach { copy_ms: 5.0, most: 28 },
        }
    }

    /// Of a ladder: on a GPU, and on a processor beside one, to the last power of four that 32 bits count. The host has to have room
    /// for it too: input, output, what is expected, and as much again for the system.
    fn of_a_ladder(caps: &Caps, beside_a_gpu: bool, bytes: u64, host_memory: u64) -> Reach {
        let most = if 4 * (bytes << 30) <= host_memory { 30 } else { 28 };
        match is_software(caps.kind) {
            true if caps.backend == "cpu" && beside_a_gpu => Reach { copy_ms: 1200.0, most },
            true => Reach::of(caps),
            false => Reach { copy_ms: 10.0, most },
        }
    }
}

/// The size at which the copy's speed is taken.
const PROBE: u64 = 1 << 20;

pub struct Sizes {
    asked: Vec<u64>,
    /// The exponent of the most elements.
    most: u32,
    /// That of a ladder's last.
    top: u32,
    is_software: bool,
}

impl Sizes {
    /// Sizes that suit the device's memory, and the copy speed that `bench` finds. Beside a GPU the processor's ladder goes as far as its.
    pub fn of(args: &ExperimentArgs, caps: &Caps, beside_a_gpu: bool, bench: &mut Bench<'_>) -> Sizes {
        let scalar = args.scalar;
        let is_software = is_software(caps.kind);
        let least = PROBE.ilog2() - 4;
        let mut sizes = Sizes { asked: args.n.clone(), most: least, top: least, is_software };
        if !sizes.asked.is_empty() {
            return sizes;
        }
        if let Outcome::Row(row) = bench.row(&Job::usual(&forms::COPY, scalar, PROBE))
            && let Some(ms) = row.median_ms
        {
            let bytes = u64::from(scalar.bytes());
            sizes.most = most(ms, bytes, caps, Reach::of(caps));
            sizes.top = most(ms, bytes, caps, Reach::of_a_ladder(caps, beside_a_gpu, bytes, host_memory()));
        }
        sizes
    }

    /// From 2^10 to the most, by factors of four.
    pub fn ladder(&self) -> Vec<u64> {
        let first = LEAST + (self.top - LEAST) % 2;
        let least = (first > LEAST).then_some(1 << LEAST);
        let powers = (first..=self.top).step_by(2).map(|power| 1 << power);
        self.or(least.into_iter().chain(powers).collect())
    }

    pub fn most(&self) -> Vec<u64> {
        self.or(vec![1 << self.most])
    }

    /// For sorts, whose passes take a software device long.
    pub fn sorted(&self) -> Vec<u64> {
        self.or(vec![1 << if self.is_software { self.most - 3 } else { self.most }])
    }

    /// The reduce article's.
    pub fn reduced(&self) -> Vec<u64> {
        self.or(vec![REDUCED])
    }

    fn or(&self, usual: Vec<u64>) -> Vec<u64> {
        if self.asked.is_empty() { usual } else { self.asked.clone() }
    }
}

/// Bytes of the host's memory, 0 where nobody says.
fn host_memory() -> u64 {
    #[cfg(feature = "cpu")]
    // One thread is enough to ask.
    if let Ok(cpu) = trifold::cpu::Cpu::with_threads(1) {
        return trifold::Backend::caps(&cpu).memory;
    }
    0
}

/// The exponent of the most elements that a device copies in good time, and has room for.
fn most(probe_ms: f64, bytes: u64, caps: &Caps, reach: Reach) -> u32 {
    let suits = (PROBE as f64 * reach.copy_ms / probe_ms).max(1.0).log2() as u32;
    let fits = |power: &u32| {
        let span = bytes << power;
        // A sort of pairs has keys and values, each in, out and in scratch.
        (caps.memory == 0 || 7 * span < caps.memory) && span <= caps.max_binding.min(caps.max_buffer)
    };
    (LEAST..=suits.clamp(16, reach.most)).rev().find(fits).unwrap_or(LEAST)
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use trifold::Backend;
    use trifold::backend::DeviceKind;

    use super::*;

    #[test]
    fn a_ladder_goes_from_2_10_to_the_most() {
        let sizes = |most, is_software| Sizes { asked: vec![], most, top: most, is_software };
        let ladder = |most| sizes(most, true).ladder();
        assert_eq!(ladder(10), [1 << 10]);
        assert_eq!(ladder(14), [1 << 10, 1 << 12, 1 << 14]);
        assert_eq!(ladder(13), [1 << 10, 1 << 11, 1 << 13]);
        let asked = Sizes { asked: vec![7, 9], ..sizes(20, true) };
        assert_eq!([asked.ladder(), asked.most(), asked.sorted(), asked.reduced()], [[7, 9]; 4]);
        let [software, gpu] = [true, false].map(|is_software| sizes(20, is_software));
        assert_eq!([&software, &gpu].map(|sizes| sizes.reduced()), [[10_485_760]; 2]);
        assert_eq!([&software, &gpu].map(|sizes| sizes.sorted()), [[1 << 17], [1 << 20]]);
    }

    #[test]
    fn sizes_scale_to_the_copy_and_to_the_limits() {
        let cpu = trifold::cpu::Cpu::new().unwrap();
        let gpu = cpu.caps().clone().with(|caps| {
            caps.kind = DeviceKind::DiscreteGpu;
            caps.memory = 0;
            caps.max_binding = 1 << 40;
            caps.max_buffer = 1 << 40;
        });
        let ladder = |ms, caps: &Caps, host| most(ms, 4, caps, Reach::of_a_ladder(caps, true, 4, host));
        let most = |ms, bytes, caps: &Caps| most(ms, bytes, caps, Reach::of(caps));
        // 2 GB/s, and 4 TB/s.
        assert_eq!([4.0, 0.002].map(|ms| most(ms, 4, &gpu)), [20, 28]);
        let software = gpu.clone().with(|caps| caps.kind = DeviceKind::Cpu);
        assert_eq!([4.0, 0.002, 1e3].map(|ms| most(ms, 4, &software)), [19, 22, 16]);
        // 20 GB/s.
        let processor = software.clone().with(|caps| caps.backend = "cpu");
        assert_eq!([4.0, 0.4].map(|ms| ladder(ms, &processor, 32 << 30)), [28, 30]);
        assert_eq!([8 << 30, 32 << 30].map(|host| ladder(0.002, &gpu, host)), [28, 30]);
        assert_eq!(ladder(4.0, &software.clone().with(|caps| caps.backend = "wgpu"), 32 << 30), 19);
        assert_eq!(most(0.002, 8, &gpu.clone().with(|caps| caps.max_binding = 128 << 20)), 24);
        assert_eq!(most(0.002, 4, &gpu.with(|caps| caps.memory = 1 << 30)), 25);
    }
}
