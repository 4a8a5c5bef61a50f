//! `trifold experiment` as a user runs it, on the CPU backend.

mod interrupted;
mod program;

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use program::{fails, rows, succeeds, text, trifold};
use serde_json::Value;

fn experiment(args: &[&str]) -> Output {
    trifold(&[&["experiment", "--device", "cpu"], args].concat())
}

/// A folder, and a file in it for rows.
fn files() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.json");
    (folder, rows)
}

#[test]
fn all_experiments_have_rows_that_a_report_reads() {
    let (folder, json) = files();
    let table = succeeds(&experiment(&["-n", "4096", "--runs", "2", "--json", text(&json)]));
    for title in
        ["scan-ladder: scan of u32, sum\n", "traffic: sort_keys of u32\n", "reduce-ladder: reduce of u32, sum\n"]
    {
        assert!(table.contains(title), "{title} {table}");
    }
    let rows = rows(&json);
    let of = |name: &str| rows.iter().filter(|row| row["experiment"] == name).cloned().collect::<Vec<_>>();
    let scans = of("scan-ladder");
    assert_eq!(scans.iter().map(|row| &row["algorithm"]).collect::<Vec<_>>(), ["parallel", "sequential"]);
    for row in scans.iter().chain(&of("reduce-ladder")) {
        assert_eq!((&row["verified"], &row["n"]), (&Value::Bool(true), &Value::from(4096)), "{row}");
        let number = |key: &str| row[key].as_f64().filter(|x| *x > 0.0).unwrap_or_else(|| panic!("{key} of {row}"));
        // What is predicted is the traffic at the copy's speed.
        let copy_gb_s = number("gb_s") / number("copy_fraction");
        let predicted = number("traffic_bytes") / copy_gb_s * 1e-6;
        assert!((number("predicted_ms") / predicted - 1.0).abs() < 1e-6, "{row}");
    }
    assert_eq!(scans[1]["traffic_bytes"], 2 * 4 * 4096);
    assert_eq!(of("reduce-ladder")[0]["traffic_bytes"], 4 * 4096);
    let traffic: Vec<_> = of("traffic").iter().map(|row| row["primitive"].clone()).collect();
    assert_eq!(traffic, ["scan", "scan", "reduce", "sort_keys"]);
    // The CPU has no workgroups, and no scan that goes by them.
    let [sweep] = &of("workgroup-sweep")[..] else { panic!("{rows:?}") };
    assert!(sweep["error"].as_str().unwrap().contains("not workgroups") && sweep["verified"].is_null(), "{sweep}");
    assert!(of("workgroup-size").is_empty() && of("elements-per-thread").is_empty());

    let page = folder.path().join("page.html");
    succeeds(&trifold(&["report", text(&json), "-o", text(&page)]));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(">scan-ladder: Exclusive scan of u32, sum</h2>"), "a section an experiment");
    assert!(page.contains("Algorithms at 2¹² elements"), "the ladder as bars");
}

#[test]
fn a_ladder_sets_every_device_beside_the_sequential_scan() {
    let (_folder, json) = files();
    // Of the parallel ones, one that compiles quickly and one that few devices have.
    let algorithms = ["--algorithm", "sequential,hillis_steele,lookahead"];
    let args =
        [&["experiment", "scan-ladder", "-n", "1000", "--runs", "1", "--json", text(&json)][..], &algorithms].concat();
    succeeds(&trifold(&args));
    let rows = rows(&json);
    let is_baseline = |row: &&Value| row["backend"] == "cpu" && row["algorithm"] == "sequential";
    assert_eq!(rows.iter().filter(is_baseline).count(), 1, "{rows:?}");
    assert!(rows.iter().all(|row| row["experiment"] == "scan-ladder"));
    // Whatever could not run says why, and the others ran.
    assert!(rows.iter().all(|row| row["verified"] == true || row["error"].is_string()), "{rows:?}");
}

#[test]
fn a_sweep_of_workgroups_runs_wherever_there_are_any() {
    let (_folder, json) = files();
    succeeds(&trifold(&["experiment", "workgroup-sweep", "-n", "1000", "--runs", "1", "--json", text(&json)]));
    for row in rows(&json) {
        let refused = row["error"].as_str().is_some_and(|error| error.contains("not workgroups"));
        assert!(row["verified"] == true && row["error"].is_null() || refused && row["backend"] == "cpu", "{row}");
    }
}

#[test]
fn unknown_names_are_answered_by_the_known_ones() {
    let names = ["scan-ladder", "traffic", "reduce-ladder", "workgroup-sweep", "elements-per-thread", "workgroup-size"];
    fails(&experiment(&["scan-leader"]), &names);
    fails(&experiment(&["--algorithm", "lockback"]), &["lookback, "]);
}

#[test]
fn what_a_device_cannot_run_says_why_and_the_rest_goes_on() {
    let (_folder, json) = files();
    let args =
        ["scan-ladder", "-n", "1000,2000", "--runs", "1", "--algorithm", "lookback,sequential", "--json", text(&json)];
    let table = succeeds(&experiment(&args));
    assert!(table.contains("\nscan of 1000 u32 by lookback on 1 cpu: "), "{table}");
    let rows = rows(&json);
    let [lookback, _] =
        ["lookback", "sequential"].map(|name| rows.iter().filter(|row| row["algorithm"] == name).collect::<Vec<_>>());
    assert_eq!((lookback.len(), rows.len()), (1, 3), "{rows:?}");
    assert!(lookback[0]["error"].as_str().unwrap().contains("it runs parallel, sequential"), "{rows:?}");
    assert!(lookback[0]["verified"].is_null() && rows[2]["verified"] == true, "{rows:?}");

    let output = experiment(&["reduce-ladder", "--algorithm", "lookback"]);
    fails(&output, &["no experiment has these algorithms"]);
}

#[test]
fn what_does_not_fit_the_time_is_left_out_and_said() {
    let (_folder, json) = files();
    let args = ["scan-ladder", "-n", "1000,2000,3000", "--runs", "1", "--budget", "0", "--json", text(&json)];
    let output = experiment(&args);
    succeeds(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("5 of its rows are left out, --budget"), "{said}");
    assert_eq!(rows(&json).len(), 1);
}

#[test]
fn an_experiment_that_measures_nothing_fails() {
    let output = experiment(&["traffic", "--algorithm", "lookback"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("nothing was measured") || said.contains("nothing to measure"), "{said}");
}

#[test]
fn an_interrupted_experiment_leaves_its_rows() {
    let (_folder, json) = files();
    // Rows at once, and then one that takes too long to wait for.
    let args =
        ["experiment", "scan-ladder", "--device", "cpu", "-n", "2^10,2^27", "--type", "u64", "--json", text(&json)];
    let rows = interrupted::rows_after_the_first(&args, &json);
    assert!(rows.iter().all(|row| row["verified"] == true && row["experiment"] == "scan-ladder"), "{rows:?}");
}

/// Ctrl-C: what was measured is shown.
#[cfg(unix)]
#[test]
fn an_experiment_that_is_told_to_stop_shows_its_rows() {
    let (_folder, json) = files();
    interrupted::shows_its_rows(&["experiment", "scan-ladder"], &json);
}
