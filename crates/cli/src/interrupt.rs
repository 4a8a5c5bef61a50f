//! Ctrl-C, or a polite kill, while rows are measured or cases run: what is in hand is the last, and what was done by then is shown and
//! written. A second one ends at once.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::files;

/// What shells take for a program that Ctrl-C ended.
const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is a wish that [`asked`] tells of.
pub fn listen() -> Result<()> {
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            files::abandon(CODE.into());
        }
        eprintln!("note: what is in hand is the last; Ctrl-C again ends at once");
    };
    ctrlc::set_handler(handler).context("cannot listen to Ctrl-C")
}

/// From now on Ctrl-C ends the program at once: there is nothing to show of what was done. Output files are there whole or not at all.
pub fn end_at_once() -> Result<()> {
    ctrlc::set_handler(|| files::abandon(CODE.into())).context("cannot listen to Ctrl-C")
}

pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// What the program ends with, if it was asked to.
pub fn code() -> Option<ExitCode> {
    asked().then(|| {
        eprintln!("error: interrupted; what is shown is what was done by then");
        ExitCode::from(CODE)
    })
}
