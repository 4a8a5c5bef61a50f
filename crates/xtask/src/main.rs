//! The project's chores: `cargo xtask test` runs everything, `cargo xtask kernels` shows the texts.

mod book;
mod conformance;
mod devices;
mod fuzz;
mod kernels;
mod packages;
mod process;
mod programs;
mod report;
mod rows;
mod setup;
mod suite;
mod turn;
mod usage;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Trifold's chores", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run all checks and tests, on every driver that this machine has.
    ///
    /// Of the conformance suite it runs the part that the commit's turn chooses. At the end it lists what was left out,
    /// and what could not be tested and why.
    Test(suite::Args),
    /// Run each fuzz target for a while, and fail with the input that breaks one. It needs a C++ compiler.
    Fuzz(fuzz::Args),
    /// Look at the kernel texts.
    Kernels {
        #[command(subcommand)]
        chore: Kernels,
    },
}

#[derive(Subcommand)]
enum Kernels {
    /// Print the assembled texts that GPUs compile in columns, aligned at their sections and numbered steps, each block folded to a
    /// line. $COLUMNS is the width, or 200.
    Diff {
        /// A kernel (sort/onesweep), a block (chain/lookback), or an algorithm (sort_keys/hybrid) for its kernels.
        name: String,
        /// A section to show, as its folded line names it.
        #[arg(long, value_name = "SECTION")]
        unfold: Vec<String>,
    },
    /// List every text with the languages it is written in.
    List,
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Test(args) => suite::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Kernels { chore: Kernels::Diff { name, unfold } } => kernels::diff(&name, &unfold),
        Chore::Kernels { chore: Kernels::List } => kernels::list(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
