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
        return eprintln!("skipped: no Vulkan device");
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
    let none = "no numbers for the device";
    assert!(!String::from_utf8_lossy(&output.stderr).contains(none) || !written.contains("[[device]]"), "{output:?}");
    let other = "trifold_tuning = 1\n[[device]]\nname = \"Abacus\"\n[device.numbers]\nreduce_words = 16\n";
    fails(&compared(&folder.write("other.toml", other.as_bytes())), &["other.toml", "no numbers", "llvmpipe"]);
    fails(&compared(&folder.write("broken.toml", b"trifold_tuning = ")), &["broken.toml", "trifold tune"]);
    // Anew: all numbers, also those that nothing was better than.
    succeeds(&trifold(&[&["tune", "--from-limits", "-n", "4096", "-o", text(&table)], &reduce[..]].concat()));
    let written = std::fs::read_to_string(&table).unwrap();
    for number in ["reduce_workgroup = ", "reduce_words = ", "groups_per_unit = ", "reduce_alone_words = "] {
        assert!(written.contains(number), "{written}");
    }
    succeeds(&compared(&table));
}
