//! The kernel texts: which there are, and those that are compiled side by side.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::root;

const EXTENSIONS: [&str; 3] = ["wgsl", "cl", "cu"];

pub fn list() -> Result<ExitCode> {
    let texts = texts(&root().join("kernels"))?;
    let width = texts.keys().map(String::len).max().unwrap_or(0);
    for (name, languages) in texts {
        let row = EXTENSIONS.map(|extension| if languages.contains(&extension) { extension } else { "" });
        println!("{}", format!("{name:width$}  {:4}  {:2}  {}", row[0], row[1], row[2]).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask kernels diff`: an example of the kernels' crate, so that no chore waits for the kernels to be built.
pub fn diff(name: &str, unfold: &[String]) -> Result<ExitCode> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["run", "--quiet", "--package", "trifold-kernels", "--example", "diff", "--", name]);
    let status = cargo.args(unfold).status().context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every text below kernels/ by its name, with its languages.
fn texts(folder: &Path) -> Result<BTreeMap<String, Vec<&'static str>>> {
    let mut texts: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for group in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let group = group?;
        if !group.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(group.path())? {
            let file = file?.path();
            let extension = EXTENSIONS.into_iter().find(|extension| file.extension().is_some_and(|e| e == *extension));
            if let (Some(extension), Some(stem)) = (extension, file.file_stem()) {
                let name = format!("{}/{}", group.file_name().to_string_lossy(), stem.to_string_lossy());
                texts.entry(name).or_default().push(extension);
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_are_found() {
        let texts = texts(&root().join("kernels")).unwrap();
        assert_eq!(texts.get("scan/lookback").map(Vec::len), Some(3));
    }
}
