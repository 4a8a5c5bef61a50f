//! What is published, and what it depends on.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::process::{Output, output as text_of, run, run_lines, succeeds};
use crate::report::{Outcome, Stage};
use crate::setup::{PYTHON, pip};
use crate::suite::Suite;

impl Suite {
    /// Stages that look at packages. They take no device.
    pub fn packages(&self) -> Vec<Stage<'_>> {
        // Building every package again takes as long as all tests: `--full` does it.
        vec![
            Stage::new("dependencies: licences and sources", |output| self.licences(output)),
            Stage::new("dependencies: advisories", |output| self.advisories(output)),
            Stage::new("cargo publish --dry-run, without building", |output| self.published(&["--no-verify"], output)),
        ]
    }

    /// Publishes all packages, but for the upload. Unless told otherwise it builds each one from its package.
    pub fn published(&self, more: &[&str], output: &Output) -> Result<Outcome> {
        // What lies in the work tree is tested, as all else.
        let publish = [&["publish", "--workspace", "--dry-run", "--locked", "--allow-dirty"], more].concat();
        let offline = ["failed to query replaced source", "download of config.json failed"];
        asking(&mut self.workspace.cargo(&publish), &offline, "the registry cannot be asked", output)
    }

    /// `.cargo/deny.toml` says what is allowed.
    fn licences(&self, output: &Output) -> Result<Outcome> {
        let deny = match self.helper("deny")? {
            Ok(program) => program,
            Err(outcome) => return Ok(outcome),
        };
        let mut deny = self.command(deny);
        deny.args(["--all-features", "--config", ".cargo/deny.toml", "check", "licenses", "bans", "sources"]);
        Ok(Outcome::of(run(&mut deny, output)?))
    }

    fn advisories(&self, output: &Output) -> Result<Outcome> {
        let audit = match self.helper("audit")? {
            Ok(program) => program,
            Err(outcome) => return Ok(outcome),
        };
        let offline = ["couldn't fetch advisory database"];
        let why = "the advisories cannot be fetched from github.com";
        asking(self.command(audit).arg("audit"), &offline, why, output)
    }

    /// Whether the public items keep what the last tag's promise.
    pub fn compatibility(&self, output: &Output) -> Result<Outcome> {
        let root = self.workspace.root.to_string_lossy();
        let Some(tag) = text_of("git", &["-C", &root, "describe", "--tags", "--abbrev=0", "--match", "v*"]) else {
            return Ok(Outcome::not_tested("no version has been released yet", None));
        };
        if !succeeds("cargo", &["semver-checks", "--version"]) {
            let remedy = Some("cargo install --locked cargo-semver-checks".into());
            return Ok(Outcome::not_tested("no cargo-semver-checks", remedy));
        }
        let mut checks = self.workspace.cargo(&["semver-checks", "--workspace", "--baseline-rev", &tag]);
        Ok(Outcome::of(run(&mut checks, output)?))
    }

    /// Installs the program as a user does, and asks it for devices.
    pub fn installed(&self, output: &Output) -> Result<Outcome> {
        let root = self.workspace.target.join("installed");
        let mut install = self.workspace.cargo(&["install", "--locked", "--force", "--path", "crates/cli", "--root"]);
        let mut program = self.command(root.join("bin/trifold"));
        Ok(Outcome::of(run(install.arg(&root), output)? && run(program.arg("devices"), output)?))
    }

    /// Builds Python's wheel as a user does, installs it in an environment of its own, and runs all tests and `trifold` there.
    pub fn wheel(&self, output: &Output) -> Result<Outcome> {
        let Some(pip) = pip().filter(|_| self.machine.installs()) else {
            return Ok(Outcome::not_tested("no pip, which builds the wheel", None));
        };
        let folder = self.workspace.target.join("wheel");
        let python = folder.join("bin/python");
        let mut environment = self.command("python3".into());
        environment.args(["-m", "venv", "--clear", "--without-pip"]).arg(&folder);
        let mut install = self.command(pip[0].into());
        install.args(&pip[1..]).arg("--python").arg(&python);
        install.args(["install", "--disable-pip-version-check", "./crates/python"]).args(PYTHON);
        let mut tests = self.command(python);
        tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/python/tests"]);
        let mut program = self.command(folder.join("bin/trifold"));
        program.arg("devices");
        for command in [&mut environment, &mut install, &mut tests, &mut program] {
            if !run(command.env_remove("PYTHONPATH"), output)? {
                return Ok(Outcome::of(false));
            }
        }
        Ok(Outcome::of(true))
    }

    /// One of cargo's subcommands that come as wheels.
    fn helper(&self, name: &str) -> Result<Result<PathBuf, Outcome>> {
        let wheel = format!("astral-dev-toolchain-cargo-{name}");
        self.machine.program(&format!("cargo-{name}"), &wheel, &self.workspace.target)
    }

    fn command(&self, program: PathBuf) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.workspace.root);
        command
    }
}

/// Runs a program that asks a server. If it fails and prints one of these, the server cannot be reached, and nothing is tested.
pub fn asking(program: &mut Command, offline: &[&str], why: &str, output: &Output) -> Result<Outcome> {
    let mut is_offline = false;
    let success = run_lines(program, output, |line| {
        output.line(line);
        is_offline |= offline.iter().any(|words| line.contains(words));
    })?;
    Ok(if is_offline && !success { Outcome::not_tested(why, None) } else { Outcome::of(success) })
}
