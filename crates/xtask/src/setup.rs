//! Installing what the tests need: software devices from the system's packages, NVRTC and cargo's helpers from wheels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::devices::{CHROMIUM, PACKAGES};
use crate::packages::asking;
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
        if let Some(outcome) = self.wheels(&["nvidia-cuda-nvrtc"], &target.join("nvrtc"))? {
            return Ok(outcome);
        }
        let library = nvrtc(target).context("the wheel has no libnvrtc")?;
        Ok(Outcome::Passed(library.display().to_string()))
    }

    /// A program from a wheel, which is put below `target`; or why it cannot be had.
    pub fn program(&self, name: &str, wheel: &str, target: &Path) -> Result<Result<PathBuf, Outcome>> {
        // pip replaces the programs of a folder.
        let folder = target.join("tools").join(name);
        let program = folder.join("bin").join(name);
        if !program.exists()
            && let Some(outcome) = self.wheels(&[wheel], &folder)?
        {
            return Ok(Err(outcome));
        }
        ensure!(program.exists(), "the wheel {wheel} has no {name}");
        Ok(Ok(program))
    }

    /// The stage that puts what the tests of the Python module need below `target`.
    pub fn python(&self, target: &Path) -> Result<Outcome> {
        if !has_python(target)
            && let Some(outcome) = self.wheels(&PYTHON, &target.join("python"))?
        {
            return Ok(outcome);
        }
        Ok(Outcome::Passed(PYTHON.join(", ")))
    }

    /// Puts wheels' files in a folder, and those of what they need. Gives why it cannot, if so.
    fn wheels(&self, names: &[&str], folder: &Path) -> Result<Option<Outcome>> {
        let not = |reason: String, remedy| Ok(Some(Outcome::not_tested(reason, remedy)));
        let name = names.join(", ");
        if !self.install {
            return not(format!("--no-install: no wheel of {name} below target/"), Some("cargo xtask test".into()));
        }
        if !cfg!(target_os = "linux") {
            return not(format!("the wheel of {name} is installed on Linux only"), None);
        }
        if pip().is_none() {
            let packages = ["python3", "python3-pip"];
            if !self.root || !self.apt {
                return not(format!("no pip, which installs the wheel of {name}"), Some(self.apt_command(&packages)));
            }
            self.install(&packages)?;
        }
        let pip = pip().context("python3-pip is installed, and there is no pip")?;
        let mut install = Command::new(pip[0]);
        install.args(&pip[1..]).args(["install", "--upgrade", "--only-binary", ":all:", "--disable-pip-version-check"]);
        install.args(names).arg("--target").arg(folder);
        let why = format!("pip could not fetch {name}: there is no network");
        match asking(&mut install, &OFFLINE, &why, &Output::Shown)? {
            Outcome::Passed(_) => Ok(None),
            Outcome::Failed(_) => bail!("pip could not install {name}"),
            outcome => Ok(Some(outcome)),
        }
    }
}

/// What pip says where it reaches no server.
const OFFLINE: [&str; 4] =
    ["NewConnectionError", "ConnectTimeoutError", "Temporary failure in name resolution", "Network is unreachable"];

/// What the tests of the Python module need.
pub const PYTHON: [&str; 4] = ["numpy", "pytest", "hypothesis", "mypy"];

/// Whether they are below `target`.
pub fn has_python(target: &Path) -> bool {
    PYTHON.iter().all(|package| target.join("python").join(package).is_dir())
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
pub fn pip() -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["python3", "-m", "pip"], &["pip3"]];
    ways.into_iter().find(|pip| succeeds(pip[0], &[&pip[1..], &["--version"]].concat()))
}

fn installed(package: &str) -> bool {
    output("dpkg-query", &["-W", "-f=${Status}", package]).is_some_and(|status| status.ends_with(" installed"))
}
