//! The `trifold` program: what devices there are, how fast they scan, reduce and sort, whether they do it right, and
//! the same on a user's own files.

mod apply;
mod args;
mod choose;
mod compare;
mod devices;
mod elements;
mod experiment;
mod files;
mod lacking;
mod memory;
mod progress;
mod report;
mod tune;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    log(cli.verbose);
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
    let level = match verbose {
        0 => tracing::Level::ERROR,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).init();
}
