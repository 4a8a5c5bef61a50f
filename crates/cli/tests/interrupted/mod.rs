//! A program that is stopped in the middle.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The rows, or outcomes, that a program wrote.
pub fn rows(json: &Path) -> Option<Vec<Value>> {
    serde_json::from_slice(&fs::read(json).ok()?).ok()
}

/// Starts the program and waits until the file that it writes rows to has one.
fn started(args: &[&str], json: &Path) -> Child {
    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
    let program = program.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while rows(json).is_none_or(|rows| rows.is_empty()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    program
}

/// Kills the program after its first row, and reads what is there then.
pub fn rows_after_the_first(args: &[&str], json: &Path) -> Vec<Value> {
    let mut program = started(args, json);
    program.kill().unwrap();
    program.wait().unwrap();
    let rows = rows(json).expect("a whole array of rows");
    assert!(!rows.is_empty(), "no row after a minute");
    rows
}

/// Presses Ctrl-C after the program's first row of many: it shows those that it has written.
#[cfg(unix)]
#[track_caller]
pub fn shows_its_rows(command: &[&str], json: &Path) {
    let sizes: Vec<String> = (0..60).map(|more| ((1 << 20) + more).to_string()).collect();
    let sizes = sizes.join(",");
    let args = [command, &["--device", "cpu", "-n", &sizes, "--json", json.to_str().unwrap()]].concat();
    let program = started(&args, json);
    let id = program.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let (table, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let rows = rows(json).expect("a whole array of rows").len();
    let table = table.split("\nThe fastest").next().unwrap();
    assert_eq!(table.lines().filter(|line| line.contains("  1 cpu ")).count(), rows, "{table}");
    assert!((1..60).contains(&rows) && said.contains("interrupted"), "{rows} rows: {said}");
}
