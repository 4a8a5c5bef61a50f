//! The program as a user runs it, on the CPU backend: what devices there are, the suite, its cache, and wrong names.

mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{Folder, fails, npy, on_cpu, rows, succeeds, text, trifold, u32s};
use serde_json::Value;

/// On a Vulkan device, if there is one.
#[test]
fn processes_share_a_folder_of_kernels() {
    if !succeeds(&trifold(&["devices"])).contains("Vulkan") {
        return trifold_conformance::skip("vulkan", "there is no Vulkan device");
    }
    let folder = Folder::new();
    let program = |cache: Option<&str>, home: &Path| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
        program.args(["compare", "-n", "1000", "--device", "Vulkan", "--primitive", "reduce,sort_keys", "--runs", "1"]);
        program.env("XDG_CACHE_HOME", home).env_remove("TRIFOLD_CACHE").stdout(Stdio::null());
        if let Some(cache) = cache {
            program.env("TRIFOLD_CACHE", cache);
        }
        program
    };
    let entries = |folder: &Path| -> BTreeMap<String, Vec<u8>> {
        let Ok(files) = fs::read_dir(folder) else { return BTreeMap::new() };
        let files = files.map(Result::unwrap);
        files.map(|f| (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())).collect()
    };
    // Three at the same time, and then one that finds what they kept.
    let (cache, home) = (folder.path("kernels"), folder.path("home"));
    let started = [(); 3].map(|()| program(Some(text(&cache)), &home).spawn().unwrap());
    started.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    let kept = entries(&cache);
    assert!(kept.len() >= 2, "{:?}", kept.keys());
    assert!(program(Some(text(&cache)), &home).status().unwrap().success());
    assert!(entries(&cache) == kept, "{:?} are no longer {:?}", entries(&cache).keys(), kept.keys());
    // Off, by name or by nothing, there is none; unset it is the user's own.
    for off in ["off", ""] {
        assert!(program(Some(off), &home).status().unwrap().success());
    }
    // (Mesa has a folder of its own there.)
    assert!(!home.join("trifold").exists());
    assert!(program(None, &home).status().unwrap().success());
    assert_eq!(entries(&home.join("trifold")).keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>());
}

/// A polite kill: the outcomes so far are shown and written.
#[cfg(unix)]
#[test]
fn a_verification_that_is_told_to_stop_writes_its_outcomes() {
    let folder = Folder::new();
    let json = folder.path("outcomes.json");
    let args = ["verify", "--device", "cpu", "--full", "--json", json.to_str().unwrap()];
    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
    let program = program.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It listens from its first case on, and has thousands.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(Command::new("kill").args(["-s", "TERM", &program.id().to_string()]).status().unwrap().success());
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let outcomes = rows(&json);
    let of = |what: &str| outcomes.iter().filter(|row| row["outcome"] == what).count();
    let last = outcomes.last().unwrap();
    assert!(of("passed") > 0 && of("failed") == 0, "{outcomes:?}");
    assert!(last["reason"].as_str().unwrap().ends_with("more cases were not run: interrupted"), "{last}");
}

#[test]
fn unknown_names_are_errors_that_list_the_known() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &npy("<u4", "(1,)", &u32s(&[3])));
    let input = text(&input);
    for args in [&["scan", input, "--device", "abacus"][..], &["compare", "--device", "abacus"]] {
        fails(&trifold(args), &["abacus", "cpu on "]);
    }
    fails(&on_cpu("scan", &[input, "--type", "u33"]), &["u33", "u32, i32, f32"]);
    fails(&on_cpu("scan", &[input, "--operator", "plus"]), &["plus", "sum, product"]);
    fails(&on_cpu("scan", &[input, "--algorithm", "magic"]), &["magic", "lookback"]);
    fails(&on_cpu("scan", &[input, "--algorithm", "lookback"]), &["unsupported", "parallel"]);
    fails(&on_cpu("compare", &["--algorithm", "onesweep"]), &["nothing was measured"]);
    fails(&on_cpu("compare", &["-n", "2^40"]), &["the most elements"]);
    fails(&on_cpu("compare", &["--primitive", "shuffle"]), &["shuffle", "sort_keys"]);
}

#[test]
fn without_a_command_it_says_what_it_is_for() {
    let said = succeeds(&trifold(&[]));
    assert!(said.lines().count() <= 10 && said.lines().all(|line| line.len() <= 80), "{said}");
    for command in ["devices", "compare", "sort", "verify", "report", "--help"] {
        assert!(said.contains(command), "{command}: {said}");
    }
}

/// Nothing of other libraries, no colours, and lines that a terminal shows.
#[test]
fn a_comparison_is_quiet_and_narrow() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
    program.env_remove("XDG_RUNTIME_DIR").args([
        "compare",
        "-n",
        "2^10",
        "--runs",
        "1",
        "--primitive",
        "copy,sort_pairs",
    ]);
    let output = program.output().unwrap();
    let (table, said) = (succeeds(&output), String::from_utf8(output.stderr).unwrap());
    assert!(said.lines().all(|line| line.starts_with("note: ")), "{said}");
    assert!(!table.contains('\x1b') && !said.contains('\x1b'), "{table}{said}");
    let lines = table.lines().filter(|line| !line.contains(" on "));
    assert!(lines.clone().count() > 10 && lines.clone().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("\nThe fastest of each") && table.contains(" results are right.\n"), "{table}");
}

#[test]
fn devices_lists_the_cpu() {
    assert!(succeeds(&trifold(&["devices"])).contains("cpu on "));
    let json: Value = serde_json::from_str(&succeeds(&trifold(&["devices", "--json"]))).unwrap();
    let cpu = json["devices"].as_array().unwrap().iter().find(|d| d["backend"] == "cpu").unwrap();
    assert_eq!((&cpu["api"], &cpu["int64"]), (&Value::from("Rust"), &Value::from(true)));
    for missing in json["missing"].as_array().unwrap() {
        assert!(!missing["reason"].as_str().unwrap().contains('\n'));
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new();
    let input = folder.write("in.bin", &u32s(&vec![1; 200_000]));
    let mut child = Command::new(env!("CARGO_BIN_EXE_trifold"))
        .args(["scan", text(&input), "--type", "u32", "--device", "cpu"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.lines().all(|line| line.starts_with("device: ")), "{said}");
}

#[test]
fn verify_runs_the_suite() {
    let folder = Folder::new();
    let json = folder.path("verify.json");
    let summary = succeeds(&on_cpu("verify", &["--quick", "--filter", "reduce/", "--json", text(&json)]));
    assert!(summary.contains("passed, 0 failed"), "{summary}");
    let passed = |summary: &str| summary.lines().find_map(|line| Some(line.split_once(" passed")?.0.to_string()));
    let all = succeeds(&on_cpu("verify", &["--quick", "--filter", "reduce/", "--algorithm", "all"]));
    assert_eq!(passed(&all), passed(&summary));
    fails(&on_cpu("verify", &["--algorithm", "everything"]), &["hillis_steele", "grid_stride", "split"]);
    assert!(rows(&json).iter().any(|r| r["outcome"] == "passed"));
    let both = on_cpu("verify", &["--quick", "--filter", "copy/u32", "--filter", "reduce/u32", "--json", text(&json)]);
    succeeds(&both);
    let rows = rows(&json);
    let names = rows.iter().map(|row| row["case"].as_str().unwrap());
    let (copies, others): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("copy/u32"));
    assert!(!copies.is_empty() && !others.is_empty() && others.iter().all(|n| n.contains("reduce/u32")), "{others:?}");
    let resumed = ["--quick", "--filter", "copy/u32", "--filter", "scatter/u32", "--resume", text(&json)];
    let summary = succeeds(&on_cpu("verify", &resumed));
    let ours =
        rows.iter().filter(|row| row["outcome"] == "passed" && row["case"].as_str().unwrap().starts_with("copy/"));
    assert!(summary.contains(&format!("{} cases passed in a run before", ours.count())), "{summary}");
    let summary = succeeds(&on_cpu("verify", &["--quick", "--filter", "reduce/u32", "--resume", text(&json)]));
    assert!(summary.contains(": 0 passed, 0 failed"), "{summary}");
    fails(&on_cpu("verify", &["--resume", "no such file"]), &["--resume no such file cannot be read"]);
    // A part may have nothing to do, where another has.
    for part in ["1/2", "2/2"] {
        succeeds(&on_cpu("verify", &["--quick", "--filter", "copy/u32", "--shard", part]));
    }
    fails(&on_cpu("verify", &["--quick", "--filter", "no such case", "--shard", "2/2"]), &["no case"]);
    fails(&on_cpu("verify", &["--shard", "3/2"]), &["1/4"]);
    fails(&on_cpu("verify", &["--quick", "--filter", "no such case"]), &["no case"]);
}
