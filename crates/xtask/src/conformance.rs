//! The conformance suite's stages: one for each software device, and CUDA's.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::devices::{self, CHROMIUM, Presence};
use crate::process::Output;
use crate::programs::Program;
use crate::report::{Outcome, Stage};
use crate::suite::{POCL_FLAGS, Suite};
use crate::turn;

/// A backend's own suite.
fn of(package: &'static str) -> impl Fn(&Program) -> bool {
    move |program| program.is(package, "conformance")
}

impl Suite {
    /// The suite on all devices, those that take longest first.
    pub fn conformance(&self) -> Vec<Stage<'_>> {
        let on = |presence: fn() -> Presence, package: &'static str, filter: &'static [&'static str]| {
            move |output: &Output| self.on_device(presence(), || self.run_all(of(package), filter, output))
        };
        // Those of the suite's variables have no value.
        let optimised = |filter: &'static str, without: &'static [&'static str]| {
            move |output: &Output| {
                let without: Vec<_> = without.iter().map(|name| (*name, OsString::new())).collect();
                self.on_device(devices::opencl(), || self.run_with(of("trifold-opencl"), &[filter], &without, output))
            }
        };
        vec![
            Stage::new("conformance: CUDA C on the host", on(devices::clang, "trifold-cuda-emulation", &[])),
            Stage::new("conformance: OpenCL (PoCL)", on(devices::opencl, "trifold-opencl", &[])),
            Stage::new("conformance: WGSL on GL (llvmpipe)", on(devices::llvmpipe, "trifold-wgpu", &["(Gl)/"])),
            Stage::new("conformance: WGSL on Vulkan (lavapipe)", on(devices::lavapipe, "trifold-wgpu", &["(Vulkan)/"])),
            Stage::new("conformance: WGSL on Vulkan (SwiftShader)", |output| self.on_swiftshader(output)),
            Stage::new("conformance: OpenCL (PoCL), optimised", optimised("reduce_then_scan/n=6007", &[POCL_FLAGS])),
            // Its optimiser once made other keys of these. They are few: all run at each turn.
            Stage::new(
                "conformance: OpenCL (PoCL), optimised, top-k",
                optimised("top_k/u32/largest/sample_select/n=20011/sampled", &[POCL_FLAGS, turn::VARIABLE]),
            ),
            // And lost stores of these.
            Stage::new(
                "conformance: OpenCL (PoCL), optimised, runs",
                optimised("run_length_encode/u32/-/lookback/n=20011/uniform/runs=20", &[POCL_FLAGS, turn::VARIABLE]),
            ),
            Stage::new("conformance: CPU", |output| self.run_all(Program::is_on_cpu, &[], output)),
            Stage::new("conformance: CUDA", on(devices::cuda, "trifold-cuda", &[])),
        ]
    }

    fn on_swiftshader(&self, output: &Output) -> Result<Outcome> {
        let Some(driver) = devices::swiftshader() else {
            return Ok(match self.machine.has_chromium() {
                true => Outcome::not_tested("no SwiftShader", Some(self.machine.apt_command(&[CHROMIUM]))),
                false => Outcome::not_tested(
                    "no SwiftShader: on Debian chromium has it (Ubuntu's is a snap, without); set \
                     TRIFOLD_SWIFTSHADER to a vk_swiftshader_icd.json",
                    None,
                ),
            });
        };
        // The older name is for loaders before 1.3.207.
        let driver: OsString = driver.into();
        let driver = [("VK_DRIVER_FILES", driver.clone()), ("VK_ICD_FILENAMES", driver)];
        self.must_run(self.run_with(of("trifold-wgpu"), &["SwiftShader"], &driver, output)?)
    }

    /// Runs the stage if the device's driver is there, and then it must test something.
    fn on_device(&self, presence: Presence, stage: impl FnOnce() -> Result<Outcome>) -> Result<Outcome> {
        match presence {
            Presence::Missing { reason, packages } if packages.is_empty() => Ok(Outcome::not_tested(reason, None)),
            Presence::Missing { reason, packages } if self.machine.installs() => {
                bail!("{reason}, where the set-up installs {}", packages.join(", "))
            }
            Presence::Missing { reason, packages } => {
                Ok(Outcome::not_tested(reason, Some(self.machine.apt_command(&packages))))
            }
            Presence::Here => self.must_run(stage()?),
            Presence::Unknown => Ok(match stage()? {
                Outcome::Passed(tests) if tests.starts_with("0 ") => Outcome::not_tested("no such device", None),
                outcome => outcome,
            }),
        }
    }

    /// A suite that found no device has tested nothing. One whose rows were all left out has a device.
    fn must_run(&self, outcome: Outcome) -> Result<Outcome> {
        match outcome {
            Outcome::Passed(tests) if tests.starts_with("0 ") && !tests.contains("left out") => {
                bail!("the driver is installed, and gave no device")
            }
            outcome => Ok(outcome),
        }
    }
}
