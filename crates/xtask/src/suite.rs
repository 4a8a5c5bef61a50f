//! `cargo xtask test`: the stages, cheap ones first.
//!
//! The tests are built once, by one cargo call for the whole workspace, and their programs run from here: cargo would
//! build dependencies anew for each selection of packages, since that selects their features too.

use std::cell::{Cell, RefCell};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::devices::{self, CHROMIUM, Presence};
use crate::process::{run as run_program, run_lines};
use crate::report::{Outcome, Report};
use crate::rows;
use crate::setup::{Machine, nvrtc};
use crate::workspace::Workspace;

/// The facade's features, each of which builds alone.
const FEATURES: [&str; 4] = ["cpu", "wgpu", "opencl", "cuda"];

/// What `cargo xtask test` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Install nothing, neither packages nor NVRTC's wheel.
    #[arg(long)]
    no_install: bool,
    /// At the end run `cargo run --release -- compare`, which builds everything once more.
    #[arg(long)]
    release_compare: bool,
}

/// A program that cargo built.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    package: String,
    /// The package's folder, where cargo would run it.
    folder: PathBuf,
    /// The target's kind: lib, bin, test and so on.
    kind: String,
    name: String,
    /// Whether it is a program of tests.
    tests: bool,
    file: PathBuf,
}

impl Program {
    /// What cargo says of an artifact, if that is a program.
    fn parse(line: &str) -> Option<Program> {
        let message: Value = serde_json::from_str(line).ok()?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        Some(Program {
            package: package_name(message["package_id"].as_str()?),
            folder,
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            tests: message["profile"]["test"].as_bool()?,
            file: message["executable"].as_str()?.into(),
        })
    }

    fn is(&self, package: &str, name: &str) -> bool {
        self.kind == "test" && self.package == package && self.name == name
    }

    /// A backend's conformance suite, which needs its drivers.
    fn is_on_devices(&self) -> bool {
        self.kind == "test" && self.name == "conformance"
    }

    /// What runs without a driver, on processors alone.
    fn is_on_cpu(&self) -> bool {
        self.kind == "test" && ["trifold-cpu", "trifold-conformance"].contains(&&*self.package)
    }

    fn is_for_nvrtc(&self) -> bool {
        self.is("trifold-cuda", "kernels") || self.is("trifold-cuda", "nvrtc")
    }

    /// What an example needs that this machine may lack.
    fn device_of_example(&self) -> Presence {
        let needs = |api: &str| self.package == format!("trifold-{api}") || self.name.ends_with(api);
        match () {
            () if needs("cuda") => devices::cuda(),
            () if needs("opencl") || self.package == "trifold-opencl-icd" => devices::opencl(),
            () if needs("wgpu") => devices::lavapipe(),
            () => Presence::Here,
        }
    }

    /// How to run it through cargo.
    fn command(&self) -> String {
        let which = match &*self.kind {
            "test" => format!("--test {}", self.name),
            "bin" => format!("--bin {}", self.name),
            _ => "--lib".into(),
        };
        format!("cargo test -p {} {which}", self.package)
    }
}

/// `path+file:///…/kernels#trifold-kernels@0.1.0`, or `…/crates/xtask#0.1.0` where the folder has the name.
fn package_name(id: &str) -> String {
    let (path, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name.into(),
        None => path.rsplit('/').next().unwrap_or_default().into(),
    }
}

/// Tests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Counts {
    /// Adds what a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …` says.
    fn add(&mut self, line: &str) {
        let Some(result) = line.trim().strip_prefix("test result: ") else { return };
        for part in result.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(Ok(number)), Some(word)) = (words.next().map(str::parse::<usize>), words.next()) else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    fn text(self) -> String {
        let ignored = if self.ignored > 0 { format!(", {} ignored", self.ignored) } else { String::new() };
        format!("{} tests{ignored}", self.passed)
    }
}

/// Runs everything; fails if a stage does.
pub fn run(args: &Args) -> Result<ExitCode> {
    let suite = Suite {
        workspace: Workspace::find()?,
        machine: Machine::here(!args.no_install),
        programs: RefCell::default(),
        built: Cell::new(false),
    };
    let mut report = Report::default();
    suite.sources(&mut report);
    suite.tests(&mut report);
    suite.devices(&mut report);
    report.stage("examples", || suite.examples());
    report.stage("benches, each once", || suite.benches());
    report.stage("compare, as built for the tests", || suite.compare());
    report.stage("report of its rows", || suite.report());
    if args.release_compare {
        report.stage("cargo run --release -- compare", || suite.release_compare());
    }
    print!("{}", report.summary());
    Ok(if report.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Suite {
    workspace: Workspace,
    machine: Machine,
    programs: RefCell<Vec<Program>>,
    built: Cell<bool>,
}

impl Suite {
    /// Set-up, and what looks at the sources alone.
    fn sources(&self, report: &mut Report) {
        let ws = &self.workspace;
        let component = |name: &str| {
            let outcome = Outcome::not_tested(format!("no {name}"), Some(format!("rustup component add {name}")));
            (!crate::process::succeeds(&ws.cargo(&[]).get_program().to_string_lossy(), &[short(name), "--version"]))
                .then_some(outcome)
        };
        report.stage("set-up: drivers", || self.machine.packages());
        report.stage("set-up: NVRTC", || self.machine.nvrtc(&ws.target));
        report.stage("formatting", || match component("rustfmt") {
            Some(missing) => Ok(missing),
            None => Ok(Outcome::of(run_program(&mut ws.cargo(&["fmt", "--all", "--check"]))?)),
        });
        report.stage("clippy", || match component("clippy") {
            Some(missing) => Ok(missing),
            None => {
                let clippy = ["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
                Ok(Outcome::of(run_program(&mut ws.cargo(&clippy))?))
            }
        });
        report.stage("documentation", || {
            let documents = |arguments: &[&str]| run_program(ws.cargo(arguments).env("RUSTDOCFLAGS", "-D warnings"));
            // The program's pages have the library's place: at the same time, each would remove what the other has written. The
            // library's stay.
            let program =
                documents(&["rustdoc", "-p", "trifold-cli", "--bin", "trifold", "--", "--document-private-items"])?;
            let libraries = documents(&["doc", "--workspace", "--no-deps", "--keep-going"])?;
            Ok(Outcome::of(libraries && program))
        });
        report.stage("the facade with each backend alone", || {
            let mut failed = vec![];
            for feature in FEATURES {
                let check = ["check", "-p", "trifold", "--no-default-features", "--features", feature];
                if !run_program(&mut ws.cargo(&check))? {
                    failed.push(feature);
                }
            }
            Ok(match failed.is_empty() {
                true => Outcome::Passed(FEATURES.join(", ")),
                false => Outcome::Failed(format!("not with {} alone", failed.join(", "))),
            })
        });
    }

    /// Tests that need no device.
    fn tests(&self, report: &mut Report) {
        report.stage("building the tests", || self.build());
        report.stage("unit tests", || self.run_all(|p| p.kind != "test" && p.kind != "bench", &[]));
        report.stage("documentation's tests", || {
            let mut counts = Counts::default();
            let mut doc = self.workspace.cargo(&["test", "--workspace", "--doc"]);
            let success = run_lines(&mut doc, |line| {
                println!("{line}");
                counts.add(line);
            })?;
            Ok(if success { Outcome::Passed(counts.text()) } else { Outcome::Failed("see above".into()) })
        });
        let elsewhere = |p: &Program| p.is_on_devices() || p.is_on_cpu() || p.is_for_nvrtc();
        report.stage("property, snapshot and text tests", || self.run_all(|p| p.kind == "test" && !elsewhere(p), &[]));
        report.stage("CUDA texts through NVRTC", || {
            let outcome = self.run_all(Program::is_for_nvrtc, &[])?;
            Ok(match (nvrtc(&self.workspace.target), &outcome) {
                (None, Outcome::Passed(_)) => Outcome::not_tested("no NVRTC", Some("cargo xtask test".into())),
                _ => outcome,
            })
        });
    }

    /// The conformance suite on all devices.
    fn devices(&self, report: &mut Report) {
        report.stage("conformance: CPU", || self.run_all(Program::is_on_cpu, &[]));
        let on = |package: &'static str| move |p: &Program| p.is(package, "conformance");
        report.stage("conformance: OpenCL (PoCL)", || {
            self.on_device(devices::opencl(), || self.run_with(on("trifold-opencl"), &[], &pocl_flags()))
        });
        report.stage("conformance: OpenCL (PoCL), optimised", || {
            self.on_device(devices::opencl(), || self.run_all(on("trifold-opencl"), &["reduce_then_scan/n=6007"]))
        });
        report.stage("conformance: WGSL on Vulkan (lavapipe)", || {
            self.on_device(devices::lavapipe(), || self.run_all(on("trifold-wgpu"), &["(Vulkan)/"]))
        });
        report.stage("conformance: WGSL on Vulkan (SwiftShader)", || {
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
            let driver = driver.into_os_string();
            let driver = [("VK_DRIVER_FILES", driver.clone()), ("VK_ICD_FILENAMES", driver)];
            self.must_run(self.run_with(on("trifold-wgpu"), &["SwiftShader"], &driver)?)
        });
        report.stage("conformance: WGSL on GL (llvmpipe)", || {
            self.on_device(devices::llvmpipe(), || self.run_all(on("trifold-wgpu"), &["(Gl)/"]))
        });
        report.stage("conformance: CUDA C on the host", || {
            self.on_device(devices::clang(), || self.run_all(on("trifold-cuda-emulation"), &[]))
        });
        report.stage("conformance: CUDA", || self.on_device(devices::cuda(), || self.run_all(on("trifold-cuda"), &[])));
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

    /// A suite that found no device has tested nothing.
    fn must_run(&self, outcome: Outcome) -> Result<Outcome> {
        match outcome {
            Outcome::Passed(tests) if tests.starts_with("0 ") => bail!("the driver is installed, and gave no device"),
            outcome => Ok(outcome),
        }
    }

    /// Builds every test and program of the workspace, and remembers them.
    fn build(&self) -> Result<Outcome> {
        // Without a choice of targets cargo builds the examples as the programs that they are, and no bench.
        let mut programs = self.programs.borrow_mut();
        let mut success = true;
        for targets in [&[][..], &["--bench", "*"]] {
            let mut build = self.workspace.cargo(&["test", "--workspace", "--no-run"]);
            build.args(targets).args(["--message-format", "json-render-diagnostics"]);
            success &= run_lines(&mut build, |line| programs.extend(Program::parse(line)))?;
        }
        programs.sort_by(|a, b| (&a.package, &a.kind, &a.name, a.tests).cmp(&(&b.package, &b.kind, &b.name, b.tests)));
        // Benches want the programs of their packages too.
        programs.dedup();
        self.built.set(success);
        Ok(match success {
            true => Outcome::Passed(format!("{} programs", programs.len())),
            false => Outcome::Failed("see above".into()),
        })
    }

    fn run_all(&self, wanted: impl Fn(&Program) -> bool, filter: &[&str]) -> Result<Outcome> {
        self.run_with(wanted, filter, &[])
    }

    /// Runs test programs, one after the other, each where cargo would.
    fn run_with(
        &self,
        wanted: impl Fn(&Program) -> bool,
        filter: &[&str],
        environment: &[(&str, OsString)],
    ) -> Result<Outcome> {
        if !self.built.get() {
            return Ok(Outcome::not_tested("the tests did not build", None));
        }
        let programs = self.programs.borrow();
        let (mut counts, mut failed, mut ran) = (Counts::default(), vec![], 0);
        for program in programs.iter().filter(|program| program.tests && wanted(program)) {
            let mut command = self.program(program)?;
            command.args(filter).envs(environment.iter().map(|(name, value)| (*name, value)));
            ran += 1;
            let before = counts;
            let mut each = |line: &str| {
                println!("{line}");
                counts.add(line);
            };
            match run_lines(&mut command, &mut each) {
                Ok(true) if program.kind == "test" && counts == before => {
                    failed.push(format!("no test ran: {}", program.command()));
                }
                Ok(true) => {}
                Ok(false) => failed.push(program.command()),
                Err(error) => failed.push(format!("{error:#}; {}", program.command())),
            }
        }
        if ran == 0 {
            bail!("there is no such test program; was it renamed?");
        }
        let which = failed.join("; ");
        Ok(match (failed.is_empty(), counts.failed) {
            (true, _) => Outcome::Passed(counts.text()),
            (false, 0) => Outcome::Failed(format!("ended before its tests did; {which}")),
            (false, n) => Outcome::Failed(format!("{n} of {} tests; {which}", n + counts.passed)),
        })
    }

    /// A program of ours, with the environment that it would have from cargo and that its drivers want.
    fn program(&self, program: &Program) -> Result<Command> {
        let mut command = Command::new(&program.file);
        command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        command.env("INSTA_UPDATE", "no").env("INSTA_WORKSPACE_ROOT", &self.workspace.root);
        if let Some(library) = nvrtc(&self.workspace.target) {
            command.env("TRIFOLD_NVRTC", library);
        }
        // What is tested is compiled; tests of the cache bring folders of their own.
        command.env("TRIFOLD_CACHE", "off");
        // What has been installed must be there. PoCL's packages bring clang.
        let mut required = if self.machine.installs() { vec!["vulkan", "opencl", "clang", "nvrtc"] } else { vec![] };
        if self.machine.installs_chromium() {
            required.push("chromium");
        }
        let own = env::var("TRIFOLD_REQUIRE").unwrap_or_default();
        required.extend((!own.is_empty()).then_some(&*own));
        command.env("TRIFOLD_REQUIRE", required.join(","));
        // EGL and Wayland complain without one.
        if env::var_os("XDG_RUNTIME_DIR").is_none() {
            let folder = self.workspace.target.join("runtime");
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            command.env("XDG_RUNTIME_DIR", folder);
        }
        Ok(command)
    }

    /// Every example whose devices are here.
    fn examples(&self) -> Result<Outcome> {
        if !self.built.get() {
            return Ok(Outcome::not_tested("the examples did not build", None));
        }
        let programs = self.programs.borrow();
        let (mut ran, mut without, mut failed) = (0, vec![], vec![]);
        for program in programs.iter().filter(|program| program.kind == "example" && !program.tests) {
            if program.device_of_example() != Presence::Here {
                without.push(program.name.as_str());
                continue;
            }
            let mut command = self.program(program)?;
            command.envs(pocl_flags());
            if program.name == "speed" {
                // Of so many elements, as a power of two.
                command.arg("16");
            }
            ran += 1;
            if !run_program(&mut command)? {
                failed.push(program.name.as_str());
            }
        }
        Ok(match (failed.is_empty(), ran) {
            (_, 0) => bail!("cargo built no example"),
            (false, _) => Outcome::Failed(failed.join(", ")),
            (true, _) if without.is_empty() => Outcome::Passed(format!("{ran} examples")),
            (true, _) => Outcome::Passed(format!("{ran} examples, without a device for {}", without.join(", "))),
        })
    }

    /// Every bench of the smallest size, once: what criterion does with a bench that is run as a test.
    fn benches(&self) -> Result<Outcome> {
        if !self.built.get() {
            return Ok(Outcome::not_tested("the benches did not build", None));
        }
        let programs = self.programs.borrow();
        let bench = programs.iter().find(|p| p.kind == "bench").context("cargo built no bench")?;
        let mut command = self.program(bench)?;
        command.arg(r"/2\^16/").envs(pocl_flags());
        let mut ran = 0;
        let success = run_lines(&mut command, |line| {
            println!("{line}");
            ran += u32::from(line.trim() == "Success");
        })?;
        Ok(match (success, ran) {
            (true, 0) => Outcome::Failed("none was run; were the ids renamed?".into()),
            (true, _) => Outcome::Passed(format!("{ran} benches")),
            (false, _) => Outcome::Failed("see above".into()),
        })
    }

    /// The program that the tests were built with.
    fn trifold(&self) -> Result<Command> {
        let programs = self.programs.borrow();
        let trifold = programs.iter().find(|p| !p.tests && p.kind == "bin" && p.name == "trifold");
        self.program(trifold.context("cargo did not build the program `trifold`")?)
    }

    /// The comparison by the program that the tests were built with, at two sizes.
    fn compare(&self) -> Result<Outcome> {
        if !self.built.get() {
            return Ok(Outcome::not_tested("the program did not build", None));
        }
        let mut command = self.trifold()?;
        let file = self.workspace.target.join("compare.json");
        command.arg("compare").arg("--json").arg(&file).args(["-n", "2^12,2^16"]);
        self.compared(&mut command, &file)
    }

    /// The page of the comparison's rows.
    fn report(&self) -> Result<Outcome> {
        let rows = self.workspace.target.join("compare.json");
        if !self.built.get() || !rows.exists() {
            return Ok(Outcome::not_tested("there are no rows", None));
        }
        let mut command = self.trifold()?;
        let page = self.workspace.target.join("report.html");
        command.arg("report").arg(&rows).arg("-o").arg(&page);
        Ok(match run_program(&mut command)? {
            true => Outcome::Passed(page.display().to_string()),
            false => Outcome::Failed("see above".into()),
        })
    }

    /// The comparison as the README has it.
    fn release_compare(&self) -> Result<Outcome> {
        let file = self.workspace.target.join("compare-release.json");
        let mut command = self.workspace.cargo(&["run", "--release", "--", "compare", "--json"]);
        self.compared(command.arg(&file), &file)
    }

    fn compared(&self, command: &mut Command, file: &Path) -> Result<Outcome> {
        // An older run's rows are not this one's.
        if file.exists() {
            fs::remove_file(file)?;
        }
        if !run_program(command)? {
            return Ok(Outcome::Failed("see above".into()));
        }
        let here = |presence| presence == Presence::Here;
        let wgpu = here(devices::lavapipe()) || here(devices::llvmpipe());
        let expected = [("cpu", true), ("wgpu", wgpu), ("opencl", here(devices::opencl()))];
        let expected: Vec<_> = expected.into_iter().filter(|(_, here)| *here).map(|(backend, _)| backend).collect();
        Ok(Outcome::Passed(rows::check(file, &expected)?))
    }
}

/// PoCL compiles a kernel anew for each workgroup size, and takes twelve times as long over optimised ones: an hour for
/// the suite's many small cases, where two minutes do. Some of the suite, and the comparison, run them optimised.
fn pocl_flags() -> [(&'static str, OsString); 1] {
    let name = "POCL_EXTRA_BUILD_FLAGS";
    let flags = env::var_os(name).unwrap_or_else(|| "-cl-opt-disable".into());
    [(name, flags)]
}

/// A component's name as cargo's subcommand.
fn short(component: &str) -> &str {
    component.strip_prefix("rust").unwrap_or(component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted() {
        let mut counts = Counts::default();
        counts.add("test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 4 filtered out; finished in 0.01s");
        counts.add("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s");
        counts.add("test passed ... ok");
        assert_eq!(counts, Counts { passed: 13, failed: 2, ignored: 3 });
        assert_eq!(counts.text(), "13 tests, 3 ignored");
    }

    #[test]
    fn cargos_messages_are_read() {
        let line = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/crates/wgpu#trifold-wgpu@0.1.0",
            "manifest_path":"/w/crates/wgpu/Cargo.toml","target":{"kind":["test"],"name":"conformance"},
            "profile":{"test":true},"executable":"/w/target/debug/deps/conformance-1"}"#;
        let program = Program::parse(line).unwrap();
        assert!(program.is("trifold-wgpu", "conformance") && program.tests && program.is_on_devices());
        assert_eq!(program.folder, Path::new("/w/crates/wgpu"));
        assert_eq!(program.command(), "cargo test -p trifold-wgpu --test conformance");
        assert_eq!(Program::parse(&line.replace("\"/w/target/debug/deps/conformance-1\"", "null")), None);
        assert_eq!(Program::parse("{\"reason\":\"build-finished\",\"success\":true}"), None);
        assert_eq!(package_name("path+file:///w/crates/xtask#0.1.0"), "xtask");
    }
}
