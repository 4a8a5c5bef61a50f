//! Which turn of the conformance suite's draws a commit has.

use std::path::Path;

use anyhow::{Context, Result};

use crate::process::output;

/// Set to a number, it chooses the turn. The suite's programs read it too.
pub const VARIABLE: &str = "TRIFOLD_TURN";

/// The turn that the environment names; else the commit's place in its branch, so that commits in a row are turns in a row.
///
/// # Errors
/// If the environment names none that is a number.
pub fn turn(root: &Path) -> Result<u64> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = named.to_string_lossy().into_owned();
        return named.parse().with_context(|| format!("{VARIABLE} is `{named}`; it may be a number from 0"));
    }
    let root = root.to_string_lossy();
    let git = |arguments: &[&str]| output("git", &[&["-C", &root], arguments].concat());
    let is_whole = git(&["rev-parse", "--is-shallow-repository"]).as_deref() == Some("false");
    let number = match is_whole {
        true => git(&["rev-list", "--count", "--first-parent", "HEAD"]).and_then(|count| count.parse().ok()),
        // Its history is not here: its name is as good as any number.
        false => git(&["rev-parse", "--short=7", "HEAD"]).and_then(|name| u64::from_str_radix(&name[..7], 16).ok()),
    };
    // Sources without their history, from an archive.
    Ok(number.unwrap_or(0))
}
