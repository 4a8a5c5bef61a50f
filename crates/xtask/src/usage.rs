//! What users run: examples, benches, and the program's comparison and report.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::devices::{self, Presence};
use crate::process::{Output, run, run_lines};
use crate::report::{Outcome, Stage};
use crate::rows;
use crate::suite::Suite;

impl Suite {
    /// The stages that may run beside others.
    pub fn usage(&self) -> Vec<Stage<'_>> {
        vec![
            Stage::new("examples", |output| self.examples(output)),
            Stage::new("benches, each once", |output| self.benches(output)),
            Stage::new("compare, as built for the tests", |output| self.compare(output)),
            Stage::new("the book's commands", |output| self.book(output)),
        ]
    }

    /// Every example whose devices are here.
    fn examples(&self, output: &Output) -> Result<Outcome> {
        let Some(programs) = &self.programs else {
            return Ok(Outcome::not_tested("the examples did not build", None));
        };
        let (mut ran, mut without, mut failed) = (0, vec![], vec![]);
        for program in programs.iter().filter(|program| program.kind == "example" && !program.tests) {
            if program.device_of_example() != Presence::Here {
                without.push(program.name.as_str());
                continue;
            }
            let mut command = self.program(program)?;
            if ["speed", "beside_loops"].contains(&program.name.as_str()) {
                // Of so many elements, as a power of two.
                command.arg("16");
            }
            ran += 1;
            if !run(&mut command, output)? {
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
    fn benches(&self, output: &Output) -> Result<Outcome> {
        let Some(programs) = &self.programs else {
            return Ok(Outcome::not_tested("the benches did not build", None));
        };
        let bench = programs.iter().find(|p| p.kind == "bench").context("cargo built no bench")?;
        let mut command = self.program(bench)?;
        command.arg(r"/2\^16/");
        let mut ran = 0;
        let success = run_lines(&mut command, output, |line| {
            output.line(line);
            ran += u32::from(line.trim() == "Success");
        })?;
        Ok(match (success, ran) {
            (true, 0) => Outcome::Failed("none was run; were the ids renamed?".into()),
            (true, _) => Outcome::Passed(format!("{ran} benches")),
            (false, _) => Outcome::Failed("see above".into()),
        })
    }

    /// The program that the tests were built with.
    pub fn trifold(&self) -> Result<Command> {
        let mut programs = self.programs.iter().flatten();
        let trifold = programs.find(|p| !p.tests && p.kind == "bin" && p.name == "trifold");
        self.program(trifold.context("cargo did not build the program `trifold`")?)
    }

    /// The comparison by the program that the tests were built with, at two sizes.
    fn compare(&self, output: &Output) -> Result<Outcome> {
        if self.programs.is_none() {
            return Ok(Outcome::not_tested("the program did not build", None));
        }
        let mut command = self.trifold()?;
        let file = self.workspace.target.join("compare.json");
        command.arg("compare").arg("--json").arg(&file).args(["-n", "2^12,2^16"]);
        self.compared(&mut command, &file, output)
    }

    /// The page of the comparison's rows.
    pub fn report(&self, output: &Output) -> Result<Outcome> {
        let rows = self.workspace.target.join("compare.json");
        if self.programs.is_none() || !rows.exists() {
            return Ok(Outcome::not_tested("there are no rows", None));
        }
        let mut command = self.trifold()?;
        let page = self.workspace.target.join("report.html");
        command.arg("report").arg(&rows).arg("-o").arg(&page);
        Ok(match run(&mut command, output)? {
            true => Outcome::Passed(page.display().to_string()),
            false => Outcome::Failed("see above".into()),
        })
    }

    /// The comparison as the README has it.
    pub fn release_compare(&self, output: &Output) -> Result<Outcome> {
        let file = self.workspace.target.join("compare-release.json");
        let mut command = self.workspace.cargo(&["run", "--release", "--", "compare", "--json"]);
        self.compared(command.arg(&file), &file, output)
    }

    fn compared(&self, command: &mut Command, file: &Path, output: &Output) -> Result<Outcome> {
        // An older run's rows are not this one's.
        if file.exists() {
            fs::remove_file(file)?;
        }
        if !run(command, output)? {
            return Ok(Outcome::Failed("see above".into()));
        }
        let here = |presence| presence == Presence::Here;
        let wgpu = here(devices::lavapipe()) || here(devices::llvmpipe());
        let expected = [("cpu", true), ("wgpu", wgpu), ("opencl", here(devices::opencl()))];
        let expected: Vec<_> = expected.into_iter().filter(|(_, here)| *here).map(|(backend, _)| backend).collect();
        Ok(Outcome::Passed(rows::check(file, &expected)?))
    }
}
