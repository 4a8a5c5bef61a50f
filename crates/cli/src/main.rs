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
mod memory;
mod progress;
mod report;
mod tune;
mod verify;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{fmt, prelude::*};

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    log(cli.verbose);
    if matches!(cli.command, Command::Devices(_) | Command::Tune(_)) {
        // What there is and what is best do not depend on it, and it may be for other devices.
        // SAFETY: nothing else reads or changes the environment meanwhile, since no thread but this one has been started: parsing
        // arguments and setting up the log start none.
        unsafe { std::env::remove_var("TRIFOLD_TUNING") };
    }
    let done = match &cli.command {
        Command::Devices(args) => devices::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::Report(args) => report::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Scan(args) => apply::scan(args),
        Command::Reduce(args) => apply::reduce(args),
        Command::Sort(args) => apply::sort(args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Drivers and wgpu are talkative; without `-v` only their errors are shown.
fn log(verbose: u8) {
    // Others' warnings are of what their authors should know.
    let (own, others) = match verbose {
        0 => (LevelFilter::WARN, LevelFilter::ERROR),
        1 => (LevelFilter::INFO, LevelFilter::INFO),
        2 => (LevelFilter::DEBUG, LevelFilter::DEBUG),
        _ => (LevelFilter::TRACE, LevelFilter::TRACE),
    };
    // What naga says of a text that is refused, the refusal says too.
    let texts = if verbose == 0 { LevelFilter::OFF } else { others };
    let levels = Targets::new().with_default(others).with_target("naga", texts).with_target("trifold", own);
    tracing_subscriber::registry().with(fmt::layer().with_writer(std::io::stderr)).with(levels).init();
}
