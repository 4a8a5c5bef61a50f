//! Where things are, and cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
}

impl Workspace {
    pub fn find() -> Result<Workspace> {
        let mut metadata = cargo_at(Path::new(env!("CARGO_MANIFEST_DIR")));
        metadata.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).stderr(Stdio::inherit());
        let output = metadata.output().context("cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata failed");
        let metadata: Value = serde_json::from_slice(&output.stdout).context("what cargo metadata prints")?;
        let path = |name: &str| metadata[name].as_str().map(PathBuf::from).with_context(|| format!("no {name}"));
        Ok(Workspace { root: path("workspace_root")?, target: path("target_directory")? })
    }

    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = cargo_at(&self.root);
        cargo.args(arguments);
        cargo
    }
}

/// The root of the workspace that this program was built in.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // crates/xtask
    here.ancestors().nth(2).unwrap_or(here)
}

fn cargo_at(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    cargo
}
