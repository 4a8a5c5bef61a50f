//! The `trifold` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // SAFETY: the program has just begun, and started no thread.
    unsafe { trifold_cli::run(std::env::args_os()) }
}
