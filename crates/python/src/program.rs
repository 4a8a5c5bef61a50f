//! The `trifold` program, which comes with the module.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program by Python's arguments, and gives what it exits with.
#[pyfunction]
pub fn _program(py: Python<'_>) -> PyResult<u8> {
    let arguments: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    // Python takes Ctrl-C for itself until it gets to run again, which it does not here.
    let signal = py.import("signal")?;
    signal.call_method1("signal", (signal.getattr("SIGINT")?, signal.getattr("SIG_DFL")?))?;
    // SAFETY: the script of the wheel calls this first, in a process of its own, before it has started a thread.
    let code = py.detach(|| unsafe { trifold_cli::run(arguments) });
    Ok((0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1))
}
