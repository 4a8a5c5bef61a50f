//! Tells the program which commit it is built from, where git knows.

use std::process::Command;

fn main() {
    // Whether sources differ from the commit is asked again when one changes.
    for path in ["../../crates", "../../kernels", "../../Cargo.lock", "../../Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
    if let Some(commit) = git(&["describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"]) {
        println!("cargo::rustc-env=TRIFOLD_COMMIT={commit}");
    }
}

/// A line of git's, if there is a git and this is a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}
