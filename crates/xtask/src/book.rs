//! The commands of README and book, as a reader runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{Output, run};
use crate::report::Outcome;
use crate::suite::Suite;

/// What stages of their own run.
const RUN_ELSEWHERE: [&str; 2] = ["cargo run --release -- compare", "cargo xtask test"];

/// A document's commands: the lines of its blocks of `sh`, without those that are run elsewhere.
fn commands(text: &str) -> Vec<&str> {
    let (mut commands, mut is_shell) = (vec![], false);
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => is_shell = language == "sh",
            None if is_shell && !line.trim().is_empty() => commands.push(line),
            None => {}
        }
    }
    commands.retain(|line| !RUN_ELSEWHERE.iter().any(|command| line.starts_with(command)));
    commands
}

/// README and the book's pages, in the order of their names.
fn documents(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut documents, mut folders) = (vec![root.join("README.md")], vec![root.join("docs")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    Ok(documents)
}

impl Suite {
    /// Runs each page's commands one after the other in a folder of their own, with the program that the tests were built with;
    /// cargo's in the workspace.
    pub fn book(&self, output: &Output) -> Result<Outcome> {
        if self.programs.is_none() {
            return Ok(Outcome::not_tested("the program did not build", None));
        }
        let program = PathBuf::from(self.trifold()?.get_program());
        let programs = program.parent().context("the program is in no folder")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
        let (mut ran, mut failed) = (0, vec![]);
        for document in documents(&self.workspace.root)? {
            let text = fs::read_to_string(&document)?;
            let commands = commands(&text);
            if commands.is_empty() {
                continue;
            }
            let (cargo, shell): (Vec<&str>, Vec<&str>) = commands.iter().partition(|line| line.starts_with("cargo "));
            let folder = self.workspace.target.join("book-commands");
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
            ran += commands.len();
            for (lines, place) in [(shell, &folder), (cargo, &self.workspace.root)] {
                let mut command = Command::new("bash");
                command.args(["-euo", "pipefail", "-xc"]).arg(lines.join("\n")).current_dir(place).env("PATH", &path);
                if !lines.is_empty() && !run(&mut command, output)? {
                    let name = document.strip_prefix(&self.workspace.root).unwrap_or(&document);
                    failed.push(name.display().to_string());
                }
            }
        }
        Ok(match (failed.is_empty(), ran) {
            (_, 0) => Outcome::Failed("the book has no commands; are its blocks marked `sh`?".into()),
            (true, _) => Outcome::Passed(format!("{ran} commands")),
            (false, _) => Outcome::Failed(failed.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lines_of_shell() {
        let text = "```sh\na b\n\ncargo xtask test  # all\n```\ntext\n```text\nc\n```\n```sh\ncargo xtask kernels diff x\n```\n";
        assert_eq!(commands(text), ["a b", "cargo xtask kernels diff x"]);
    }
}
