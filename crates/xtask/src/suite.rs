//! `cargo xtask test`: the stages, cheap ones first.
//!
//! The tests are built once, by one cargo call for the whole workspace, and their programs run from here. Otherwise
//! cargo would build dependencies anew for each selection of packages, since that selects their features too.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use anyhow::{Context, Result, bail};

use crate::fuzz;
use crate::process::{Output, run as run_program, run_lines, succeeds};
use crate::programs::{Counts, Program};
use crate::report::{Outcome, Report, Stage};
use crate::setup::{self, Machine, nvrtc};
use crate::turn::{self, turn};
use crate::workspace::Workspace;

/// The facade's features, each of which builds alone.
const FEATURES: [&str; 4] = ["cpu", "wgpu", "opencl", "cuda"];

/// How many stages run side by side, where there are as many processors. Software devices have threads of their own.
const LANES: usize = 2;

/// What `cargo xtask test` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Run everything: each row of the conformance suite on each device, not those alone that come up at this commit's turn.
    #[arg(long)]
    full: bool,
    /// Install nothing, neither packages nor NVRTC's wheel.
    #[arg(long)]
    no_install: bool,
    /// At the end run `cargo run --release -- compare`, which builds everything once more.
    #[arg(long)]
    release_compare: bool,
}

/// Runs the stages; fails if one does.
pub fn run(args: &Args) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let turn = if args.full { None } else { Some(turn(&workspace.root)?) };
    let mut suite = Suite {
        workspace,
        machine: Machine::here(!args.no_install),
        turn,
        programs: None,
        left_out: AtomicUsize::new(0),
    };
    if let Some(turn) = turn {
        println!("turn {turn} of the conformance suite: repeat with {}={turn} cargo xtask test", turn::VARIABLE);
    }
    let mut report = Report::default();
    suite.sources(&mut report);
    let mut programs = None;
    report.stage("building the tests", |output| suite.build(output, &mut programs));
    suite.programs = programs;
    let mut stages = suite.tests();
    stages.extend(suite.packages());
    stages.extend(suite.conformance());
    stages.extend(suite.usage());
    let lanes = available_parallelism().map_or(1, |processors| processors.get().min(LANES));
    report.side_by_side(lanes, stages);
    report.stage("report of the comparison's rows", |output| suite.report(output));
    // What takes long and finds little from one commit to the next.
    if args.full {
        report.stage("cargo publish --dry-run", |output| suite.published(&[], output));
        report.stage("cargo install, and the program", |output| suite.installed(output));
        report.stage("Python's wheel, installed", |output| suite.wheel(output));
        report.stage("cargo semver-checks against the last release", |output| suite.compatibility(output));
        report.stage("fuzzing, a minute a target", |_| {
            fuzz::run(&fuzz::Args::default()).map(|_| Outcome::Passed(fuzz::TARGETS.join(", ")))
        });
    }
    if args.release_compare {
        report.stage("cargo run --release -- compare", |output| suite.release_compare(output));
    }
    print!("{}{}", report.summary(), suite.left_out());
    Ok(if report.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub struct Suite {
    pub workspace: Workspace,
    pub machine: Machine,
    /// Whose rows of the conformance suite run; all, if none.
    turn: Option<u64>,
    /// Those that cargo built, if it built all.
    pub programs: Option<Vec<Program>>,
    /// Rows of the conformance suite that did not come up.
    left_out: AtomicUsize,
}

impl Suite {
    /// Set-up, and what looks at the sources alone.
    fn sources(&self, report: &mut Report) {
        let ws = &self.workspace;
        // A component, by its name and as cargo's subcommand.
        let component = |name: &str, subcommand: &str, arguments: &[&str], output: &Output| {
            let cargo = ws.cargo(&[]).get_program().to_string_lossy().into_owned();
            if !succeeds(&cargo, &[subcommand, "--version"]) {
                let remedy = format!("rustup component add {name}");
                return Ok(Outcome::not_tested(format!("no {name}"), Some(remedy)));
            }
            Ok(Outcome::of(run_program(&mut ws.cargo(&[&[subcommand], arguments].concat()), output)?))
        };
        report.stage("set-up: drivers", |_| self.machine.packages());
        report.stage("set-up: NVRTC", |_| self.machine.nvrtc(&ws.target));
        report.stage("set-up: Python's packages", |_| self.machine.python(&ws.target));
        report.stage("formatting", |output| component("rustfmt", "fmt", &["--all", "--check"], output));
        let clippy = ["--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
        report.stage("clippy", |output| component("clippy", "clippy", &clippy, output));
        report.stage("documentation", |output| {
            let documents =
                |arguments: &[&str]| run_program(ws.cargo(arguments).env("RUSTDOCFLAGS", "-D warnings"), output);
            // The program's pages have the library's place: at the same time, each would remove what the other has written. The
            // library's stay.
            let program =
                documents(&["rustdoc", "-p", "trifold-cli", "--bin", "trifold", "--", "--document-private-items"])?;
            let libraries = documents(&["doc", "--workspace", "--no-deps", "--keep-going"])?;
            Ok(Outcome::of(libraries && program))
        });
        report.stage("the facade with each backend alone", |output| {
            let mut failed = vec![];
            for feature in FEATURES {
                let check = ["check", "-p", "trifold", "--no-default-features", "--features", feature];
                if !run_program(&mut ws.cargo(&check), output)? {
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
    fn tests(&self) -> Vec<Stage<'_>> {
        let elsewhere = |p: &Program| p.is_on_devices() || p.is_on_cpu() || p.is_for_nvrtc();
        vec![
            Stage::new("unit tests", |output| self.run_all(|p| p.kind != "test" && p.kind != "bench", &[], output)),
            Stage::new("property, snapshot and text tests", move |output| {
                self.run_all(|p| p.kind == "test" && !elsewhere(p), &[], output)
            }),
            Stage::new("documentation's tests", |output| {
                let mut counts = Counts::default();
                let mut doc = self.workspace.cargo(&["test", "--workspace", "--doc"]);
                let success = run_lines(&mut doc, output, |line| {
                    output.line(line);
                    counts.add(line);
                })?;
                Ok(if success { Outcome::Passed(counts.text()) } else { Outcome::Failed("see above".into()) })
            }),
            Stage::new("CUDA texts through NVRTC", |output| {
                let outcome = self.run_all(Program::is_for_nvrtc, &[], output)?;
                Ok(match (nvrtc(&self.workspace.target), &outcome) {
                    (None, Outcome::Passed(_)) => Outcome::not_tested("no NVRTC", Some("cargo xtask test".into())),
                    _ => outcome,
                })
            }),
        ]
    }

    /// Builds every test and program of the workspace.
    fn build(&self, output: &Output, built: &mut Option<Vec<Program>>) -> Result<Outcome> {
        // Without a choice of targets cargo builds the examples as the programs that they are, and no bench.
        let mut programs = vec![];
        let mut success = true;
        for targets in [&[][..], &["--bench", "*"]] {
            let mut build = self.workspace.cargo(&["test", "--workspace", "--no-run"]);
            build.args(targets).args(["--message-format", "json-render-diagnostics"]);
            success &= run_lines(&mut build, output, |line| programs.extend(Program::parse(line)))?;
        }
        programs.sort_by(|a, b| (&a.package, &a.kind, &a.name, a.tests).cmp(&(&b.package, &b.kind, &b.name, b.tests)));
        // Benches want the programs of their packages too.
        programs.dedup();
        if !success {
            return Ok(Outcome::Failed("see above".into()));
        }
        let outcome = Outcome::Passed(format!("{} programs", programs.len()));
        *built = Some(programs);
        Ok(outcome)
    }

    /// Runs the test programs that are wanted, by the names that have the filter in them.
    pub fn run_all(&self, wanted: impl Fn(&Program) -> bool, filter: &[&str], output: &Output) -> Result<Outcome> {
        self.run_with(wanted, filter, &[], output)
    }

    /// Runs test programs, one after the other, each where cargo would.
    pub fn run_with(
        &self,
        wanted: impl Fn(&Program) -> bool,
        filter: &[&str],
        environment: &[(&str, OsString)],
        output: &Output,
    ) -> Result<Outcome> {
        let Some(programs) = &self.programs else {
            return Ok(Outcome::not_tested("the tests did not build", None));
        };
        let (mut counts, mut failed, mut ran) = (Counts::default(), vec![], 0);
        for program in programs.iter().filter(|program| program.tests && wanted(program)) {
            let mut command = self.program(program)?;
            command.args(filter).envs(environment.iter().map(|(name, value)| (*name, value)));
            ran += 1;
            let before = counts;
            let mut each = |line: &str| {
                output.line(line);
                counts.add(line);
            };
            match run_lines(&mut command, output, &mut each) {
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
        self.left_out.fetch_add(counts.left_out, Ordering::Relaxed);
        let which = failed.join("; ");
        Ok(match (failed.is_empty(), counts.failed) {
            (true, _) => Outcome::Passed(counts.text()),
            (false, 0) => Outcome::Failed(format!("ended before its tests did; {which}")),
            (false, n) => Outcome::Failed(format!("{n} of {} tests; {which}", n + counts.passed)),
        })
    }

    /// What did not run for want of time, and how to run it.
    fn left_out(&self) -> String {
        let (left_out, variable) = (self.left_out.load(Ordering::Relaxed), turn::VARIABLE);
        match self.turn {
            None => "nothing was left out\n".into(),
            Some(turn) => format!(
                "left out: {left_out} rows of the conformance suite, which come up at other turns than {turn}\n\
                 this draw again: {variable}={turn} cargo xtask test; everything: cargo xtask test --full\n"
            ),
        }
    }

    /// A program of ours, with the environment that it would have from cargo and that its drivers want.
    pub fn program(&self, program: &Program) -> Result<Command> {
        let mut command = Command::new(&program.file);
        command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        command.env("INSTA_UPDATE", "no").env("INSTA_WORKSPACE_ROOT", &self.workspace.root);
        if let Some(library) = nvrtc(&self.workspace.target) {
            command.env("TRIFOLD_NVRTC", library);
        }
        // The draws of this turn, or everything: rows of the conformance suite, WGSL texts for Tint.
        match self.turn {
            Some(turn) => command.env(turn::VARIABLE, turn.to_string()).env("TRIFOLD_TINT", turn.to_string()),
            None => command.env_remove(turn::VARIABLE).env("TRIFOLD_TINT", "all"),
        };
        // What users run is optimised.
        if program.tests || program.kind != "bin" {
            command.env(POCL_FLAGS, pocl_flags());
        }
        // What is tested is compiled; tests of the cache bring folders of their own.
        command.env("TRIFOLD_CACHE", "off");
        // What has been installed must be there. PoCL's packages bring clang.
        let mut required = if self.machine.installs() { vec!["vulkan", "opencl", "clang"] } else { vec![] };
        let target = &self.workspace.target;
        required.extend(setup::nvrtc(target).map(|_| "nvrtc"));
        required.extend(setup::has_python(target).then_some("python"));
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
}

/// What PoCL is told for each compilation. The environment's own choice comes first.
pub const POCL_FLAGS: &str = "POCL_EXTRA_BUILD_FLAGS";

/// PoCL compiles a kernel anew for each workgroup size, and takes twelve times as long over optimised ones: an hour for the
/// suite's many small cases. Some of the suite, and the comparison, run them optimised.
fn pocl_flags() -> OsString {
    env::var_os(POCL_FLAGS).unwrap_or_else(|| "-cl-opt-disable".into())
}
