//! Installing what the tests need: software devices from the system's packages, NVRTC from its wheel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::devices::{CHROMIUM, PACKAGES};
use crate::process::{Output, output, run, succeeds};
use crate::report::Outcome;

/// What may be installed here, and how.
pub struct Machine {
    install: bool,
    root: bool,
    /// Whether it has Debian's package tools.
    apt: bool,
    /// `debian`, `ubuntu` or another; empty if it does not say.
    distribution: String,
}

impl Machine {
    pub fn here(install: bool) -> Machine {
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let id = release.lines().find_map(|line| line.strip_prefix("ID=")).unwrap_or_default();
        Machine {
            install,
            root: output("id", &["-u"]).as_deref() == Some("0"),
            apt: succeeds("apt-get", &["--version"]) && succeeds("dpkg-query", &["--version"]),
            distribution: id.trim_matches('"').to_owned(),
        }
    }

    /// Whether a package with SwiftShader can be had.
    pub fn has_chromium(&self) -> bool {
        self.apt && self.distribution == "debian"
    }

    /// Whether what the tests need has been installed from packages, unless the set-up failed.
    pub fn installs(&self) -> bool {
        self.install && self.root && self.apt
    }

    /// Whether SwiftShader's is among them.
    pub fn installs_chromium(&self) -> bool {
        self.installs() && self.has_chromium()
    }

    /// The command that installs packages, as one would type it.
    pub fn apt_command(&self, packages: &[&str]) -> String {
        let sudo = if self.root { "" } else { "sudo " };
        let names = packages.join(" ");
        match self.apt {
            true => format!("{sudo}apt-get install -y --no-install-recommends {names}"),
            false => format!("your system's package manager, for what Debian names {names}"),
        }
    }

    /// The stage that installs packages.
    pub fn packages(&self) -> Result<Outcome> {
        let chromium = self.has_chromium().then_some(CHROMIUM);
        let packages: Vec<&str> = PACKAGES.into_iter().chain(chromium).collect();
        if !self.apt {
            let reason = "no apt-get here; the stages below say what is missing";
            return Ok(Outcome::not_tested(reason, None));
        }
        let missing: Vec<&str> = packages.iter().copied().filter(|name| !installed(name)).collect();
        if missing.is_empty() {
            return Ok(Outcome::Passed("all packages are there".into()));
        }
        if !self.install || !self.root {
            let why = if self.install { "not root" } else { "--no-install" };
            return Ok(Outcome::not_tested(
                format!("{why}: {} not installed", missing.join(", ")),
                Some(self.apt_command(&missing)),
            ));
        }
        self.install(&missing)?;
        Ok(Outcome::Passed(format!("installed {}", missing.join(", "))))
    }

    fn install(&self, packages: &[&str]) -> Result<()> {
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            apt.args(["-q", "-o", "DPkg::Lock::Timeout=300"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
            run(&mut apt, &Output::Shown)
        };
        // Package lists may be stale or absent. Where updating fails, installing may still work.
        apt(&["update"])?;
        let arguments: Vec<&str> =
            ["install", "-y", "--no-install-recommends"].iter().chain(packages).copied().collect();
        if !apt(&arguments)? {
            bail!("apt-get could not install {}", packages.join(", "));
        }
        Ok(())
    }

    /// The stage that puts NVRTC below `target`: see [`nvrtc`].
    pub fn nvrtc(&self, target: &Path) -> Result<Outcome> {
        if let Some(library) = nvrtc(target) {
            return Ok(Outcome::Passed(library.display().to_string()));
        }
        let remedy = Some("cargo xtask test".into());
        if !self.install {
            return Ok(Outcome::not_tested("--no-install: no NVRTC wheel below target/", remedy));
        }
        if !cfg!(target_os = "linux") {
            let reason = "the wheel is installed on Linux only; set TRIFOLD_NVRTC to NVRTC's library";
            return Ok(Outcome::not_tested(reason, None));
        }
        if pip().is_none() {
            let packages = ["python3", "python3-pip"];
            if !self.root || !self.apt {
                let remedy = Some(self.apt_command(&packages));
                return Ok(Outcome::not_tested("no pip, which installs NVRTC's wheel", remedy));
            }
            self.install(&packages)?;
        }
        let pip = pip().context("python3-pip is installed, and there is no pip")?;
        let mut install = Command::new(pip[0]);
        install.args(&pip[1..]).args(["install", "--upgrade", "--no-deps", "--only-binary", ":all:"]);
        install.args(["--disable-pip-version-check", "nvidia-cuda-nvrtc", "--target"]).arg(target.join("nvrtc"));
        if !run(&mut install, &Output::Shown)? {
            bail!("pip could not install nvidia-cuda-nvrtc");
        }
        let library = nvrtc(target).context("the wheel has no libnvrtc")?;
        Ok(Outcome::Passed(library.display().to_string()))
    }
}

/// NVRTC's library: the one that `TRIFOLD_NVRTC` names, or the wheel's below `target`.
pub fn nvrtc(target: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TRIFOLD_NVRTC").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let packages = fs::read_dir(target.join("nvrtc/nvidia")).ok()?;
    let library = |name: &str| name.starts_with("libnvrtc.so");
    let files = packages.flatten().filter_map(|package| fs::read_dir(package.path().join("lib")).ok()).flatten();
    files.flatten().find(|file| library(&file.file_name().to_string_lossy())).map(|file| file.path())
}

/// How to run pip, if one can.
fn pip() -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["python3", "-m", "pip"], &["pip3"]];
    ways.into_iter().find(|pip| succeeds(pip[0], &[&pip[1..], &["--version"]].concat()))
}

fn installed(package: &str) -> bool {
    output("dpkg-query", &["-W", "-f=${Status}", package]).is_some_and(|status| status.ends_with(" installed"))
}
