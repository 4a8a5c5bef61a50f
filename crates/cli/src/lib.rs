//! The `trifold` program: what devices there are, how fast they scan, reduce and sort, whether they do it right, and
//! the same on a user's own files.

mod apply;
mod args;
mod choose;
mod compare;
mod convert;
mod devices;
mod elements;
mod experiment;
mod files;
mod interrupt;
mod lacking;
mod lines;
mod memory;
mod progress;
mod report;
mod stored;
mod sums;
mod tune;
mod verify;
mod widened;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{fmt, prelude::*};

use crate::args::{Cli, Command};

/// What the program says for itself without a command.
const SUMMARY: &str = "\
Scans, reduces and sorts on every GPU of a machine, and on its CPU.

  trifold devices                    the devices, and what to install for others
  trifold compare                    time and check everything on all of them
  trifold sort keys.npy -o out.npy   sort a file's numbers; or scan, reduce
  trifold verify                     run the conformance suite
  trifold tune, experiment, report   tile shapes, the literature's measurements,
                                     and charts of what was measured

`trifold COMMAND --help` has each command's options and an example.
";

/// Runs the program by these arguments, of which the first is its own name. Arguments that it does not know end the process.
///
/// # Safety
/// No other thread of the process runs: this changes the environment, which drivers read.
pub unsafe fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = Cli::parse_from(arguments);
    // SAFETY: as the caller says, and parsing arguments starts no thread.
    unsafe { prepare_environment(&cli) };
    log(cli.verbose);
    let done = match &cli.command {
        None => files::print(SUMMARY).map(|()| ExitCode::SUCCESS),
        Some(Command::Devices(args)) => devices::run(args),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Experiment(args)) => experiment::run(args),
        Some(Command::Report(args)) => report::run(args),
        Some(Command::Tune(args)) => tune::run(args),
        Some(Command::Verify(args)) => verify::run(args),
        Some(Command::Scan(args)) => apply::scan(args),
        Some(Command::Reduce(args)) => apply::reduce(args),
        Some(Command::Sort(args)) => apply::sort(args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Changes what drivers and backends read of the environment, before any thread is started.
///
/// # Safety
/// No other thread runs.
unsafe fn prepare_environment(cli: &Cli) {
    let mut changes = vec![];
    // Without this folder Mesa's EGL writes lines of its own to the error stream.
    let folder = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| std::path::Path::new(folder).is_dir());
    if cfg!(unix) && cli.verbose == 0 && folder.is_none() {
        changes.push(("XDG_RUNTIME_DIR", Some(std::env::temp_dir())));
    }
    // What there is and what is best do not depend on it, and it may be for other devices.
    if matches!(cli.command, Some(Command::Devices(_) | Command::Tune(_))) {
        changes.push(("TRIFOLD_TUNING", None));
    }
    for (name, value) in changes {
        // SAFETY: nothing else reads or changes the environment meanwhile, as no other thread runs.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
}

/// Drivers and wgpu are talkative, and what matters of it is in our own errors: without `-v` only those are shown.
fn log(verbose: u8) {
    let (own, others) = match verbose {
        0 => (LevelFilter::WARN, LevelFilter::OFF),
        1 => (LevelFilter::INFO, LevelFilter::INFO),
        2 => (LevelFilter::DEBUG, LevelFilter::DEBUG),
        _ => (LevelFilter::TRACE, LevelFilter::TRACE),
    };
    let levels = Targets::new().with_default(others).with_target("trifold", own);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    tracing_subscriber::registry().with(lines).with(levels).init();
}
