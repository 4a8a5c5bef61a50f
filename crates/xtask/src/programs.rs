//! The programs that cargo built, and how their tests ended.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::devices::{self, Presence};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub package: String,
    /// The package's folder, where cargo would run it.
    pub folder: PathBuf,
    /// The target's kind: lib, bin, test and so on.
    pub kind: String,
    pub name: String,
    /// Whether it is a program of tests.
    pub tests: bool,
    pub file: PathBuf,
}

impl Program {
    /// What cargo says of an artifact, if that is a program.
    pub fn parse(line: &str) -> Option<Program> {
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

    /// Whether it is this test program of a package.
    pub fn is(&self, package: &str, name: &str) -> bool {
        self.kind == "test" && self.package == package && self.name == name
    }

    /// A backend's conformance suite, which needs its drivers.
    pub fn is_on_devices(&self) -> bool {
        self.kind == "test" && self.name == "conformance"
    }

    /// What runs without a driver, on processors alone.
    pub fn is_on_cpu(&self) -> bool {
        self.kind == "test" && ["trifold-cpu", "trifold-conformance"].contains(&&*self.package)
    }

    /// What NVRTC compiles for.
    pub fn is_for_nvrtc(&self) -> bool {
        self.is("trifold-cuda", "kernels")
    }

    /// What an example needs that this machine may lack.
    pub fn device_of_example(&self) -> Presence {
        let needs = |api: &str| self.package == format!("trifold-{api}") || self.name.ends_with(api);
        match () {
            () if needs("cuda") => devices::cuda(),
            () if needs("opencl") || self.package == "trifold-opencl-icd" => devices::opencl(),
            () if needs("wgpu") => devices::lavapipe(),
            () => Presence::Here,
        }
    }

    /// How to run it through cargo.
    pub fn command(&self) -> String {
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
    /// Cases of the conformance suite that did not come up.
    pub left_out: usize,
}

impl Counts {
    /// Adds what a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …` says, or `left out: 5 cases …`.
    pub fn add(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("left out: ") {
            self.left_out += rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        }
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

    /// In words, but for those that failed.
    pub fn text(self) -> String {
        let others = [(self.ignored, "ignored"), (self.left_out, "left out")];
        let others = others.into_iter().filter(|(number, _)| *number > 0);
        let others: String = others.map(|(number, what)| format!(", {number} {what}")).collect();
        format!("{} tests{others}", self.passed)
    }
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
        assert_eq!(counts, Counts { passed: 13, failed: 2, ignored: 3, left_out: 0 });
        assert_eq!(counts.text(), "13 tests, 3 ignored");
        counts.add("left out: 5120 cases at turn 7; each comes up within 30 turns");
        assert_eq!(counts.text(), "13 tests, 3 ignored, 5120 left out");
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
