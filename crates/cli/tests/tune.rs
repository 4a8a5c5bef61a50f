//! `trifold tune` as a user runs it.

mod program;

use std::path::Path;
use std::process::Command;

use program::{Folder, fails, on_cpu, succeeds, text, trifold};

#[test]
fn tuning_is_for_devices_with_kernels() {
    let folder = Folder::new();
    let output = folder.path("tuning.toml");
    fails(&on_cpu("tune", &["-o", output.to_str().unwrap()]), &["nothing to tune"]);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    fails(&on_cpu("tune", &["-o", "/nowhere/tuning.toml"]), &["/nowhere/tuning.toml"]);
}

/// On a Vulkan device, if there is one.
#[test]
fn tuning_writes_a_table_that_programs_read() {
    if !succeeds(&trifold(&["devices"])).contains("Vulkan") {
        return trifold_conformance::skip("vulkan", "there is no Vulkan device");
    }
    let folder = Folder::new();
    let (table, reduce) = (folder.path("tuning.toml"), ["--device", "Vulkan", "--primitive", "reduce", "--runs", "1"]);
    let said = succeeds(&trifold(&[&["tune", "-n", "4096", "-o", text(&table)], &reduce[..]].concat()));
    assert!(said.contains("reduce of 4096 u32 by single_pass") && said.contains("faster by"), "{said}");
    let written = std::fs::read_to_string(&table).unwrap();
    assert!(written.starts_with("trifold_tuning = 1"), "{written}");
    let compared = |table: &Path| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
        program.args(["compare", "-n", "1000"]).args(reduce).env("TRIFOLD_TUNING", table).output().unwrap()
    };
    let output = compared(&table);
    succeeds(&output);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("no numbers"), "{output:?}");
    let other = "trifold_tuning = 1\n[[device]]\nname = \"Abacus\"\n[device.numbers]\nreduce_words = 16\n";
    let other = folder.write("other.toml", other.as_bytes());
    fails(&compared(&other), &["other.toml", "no numbers", "llvmpipe"]);
    // One device is opened whatever the table is for, and the library refuses it; what needs no table ignores it.
    let numbers = folder.write("numbers.u32", &[1, 0, 0, 0, 2, 0, 0, 0]);
    let elsewhere = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
        program.args(words).env("TRIFOLD_TUNING", &other).output().unwrap()
    };
    let sum = ["reduce", text(&numbers), "--type", "u32", "--device", "Vulkan"];
    fails(&elsewhere(&sum), &["other.toml", "no numbers for wgpu on llvmpipe", "trifold tune", "unset TRIFOLD_TUNING"]);
    succeeds(&elsewhere(&["devices"]));
    succeeds(&elsewhere(&[&["tune", "-n", "4096", "-o", text(&table)], &reduce[..]].concat()));
    fails(&compared(&folder.write("broken.toml", b"trifold_tuning = ")), &["broken.toml", "trifold tune"]);
    // Anew: all numbers, also those that nothing was better than.
    succeeds(&trifold(&[&["tune", "--from-limits", "-n", "4096", "-o", text(&table)], &reduce[..]].concat()));
    let written = std::fs::read_to_string(&table).unwrap();
    for number in ["reduce_workgroup = ", "reduce_words = ", "groups_per_unit = ", "reduce_alone_words = "] {
        assert!(written.contains(number), "{written}");
    }
    succeeds(&compared(&table));
}
