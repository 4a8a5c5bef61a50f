//! stub
use anyhow::Result;
pub fn run(_: &crate::args::VerifyArgs) -> Result<std::process::ExitCode> { anyhow::bail!("not yet") }
