//! A program that is stopped in the middle.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Runs the program until the file that it writes rows to has one, kills it, and reads what is there then.
pub fn rows_after_the_first(args: &[&str], json: &Path) -> Vec<Value> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold")).args(args).spawn().unwrap();
    let rows = || fs::read(json).ok().and_then(|bytes| serde_json::from_slice::<Vec<Value>>(&bytes).ok());
    let deadline = Instant::now() + Duration::from_secs(60);
    while rows().is_none_or(|rows| rows.is_empty()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    program.kill().unwrap();
    program.wait().unwrap();
    let rows = rows().expect("a whole array of rows");
    assert!(!rows.is_empty(), "no row after a minute");
    rows
}
