//! The program as a user runs it, on the CPU backend.

mod interrupted;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// What is in the folder, temporary files too.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn trifold(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trifold")).args(args).output().unwrap()
}

fn on_cpu(command: &str, args: &[&str]) -> Output {
    trifold(&[&[command, "--device", "cpu"], args].concat())
}

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

/// On a Vulkan device, if there is one.
#[test]
fn rows_say_what_they_were_planned_with() {
    let unknown = trifold(&["compare", "--tuning", "scan_wrkgroup=64"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(said.contains("no tuning `scan_wrkgroup`; there are scan_workgroup, "), "{said}");
    assert_eq!(trifold(&["compare", "--tuning", "scan_workgroup=100"]).status.code(), Some(2));
    if !succeeds(&trifold(&["devices"])).contains("Vulkan") {
        return eprintln!("skipped: no Vulkan device");
    }
    let folder = Folder::new();
    let (json, page) = (folder.path("rows.json"), folder.path("page.html"));
    let args = ["compare", "-n", "1000,2000", "--device", "Vulkan", "--primitive", "reduce", "--runs", "1"];
    let numbers = ["--tuning", "reduce_words=8,reduce_workgroup=64", "--json", text(&json), "--html", text(&page)];
    succeeds(&trifold(&[&args[..], &numbers].concat()));
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(rows[0]["tuning"], "reduce_workgroup=64,reduce_words=8");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("single_pass · reduce_workgroup 64 · reduce_words 8</span>"), "{page:.3000}");
}

/// On a Vulkan device, if there is one.
#[test]
fn processes_share_a_folder_of_kernels() {
    if !succeeds(&trifold(&["devices"])).contains("Vulkan") {
        return eprintln!("skipped: no Vulkan device");
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

#[track_caller]
fn succeeds(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Fails as a user's mistake does: with words, without a panic.
#[track_caller]
fn fails(output: &Output, words: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?} {stderr}", output.status);
    assert!(stderr.starts_with("error:"), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("backtrace"), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{stderr:?} does not mention {word:?}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A `.npy` of version 1, as NumPy writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (10 + dict.len() + 1).div_ceil(64) * 64 - 10;
    let dict = format!("{dict:<width$}\n", width = padded - 1);
    [b"\x93NUMPY\x01\x00", &(padded as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
}

fn bytes<const N: usize, T>(values: &[T], to: fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(to).collect()
}

fn u32s(values: &[u32]) -> Vec<u8> {
    bytes(values, |x| x.to_le_bytes())
}

fn f64s(values: &[f64]) -> Vec<u8> {
    bytes(values, |x| x.to_le_bytes())
}

const PRIMITIVES: [&str; 9] = [
    "copy",
    "scan",
    "reduce",
    "sort_keys",
    "sort_pairs",
    "select_if",
    "partition_if",
    "reduce_by_key",
    "run_length_encode",
];

#[test]
fn compare_verifies_every_primitive() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let out = on_cpu("compare", &["-n", "1000,2^12,1,0", "--runs", "2", "--json", text(&json)]);
    let table = succeeds(&out);
    assert!(table.contains("scan of u32, sum") && table.contains("2^12"), "{table}");
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 4 * PRIMITIVES.len());
    for primitive in PRIMITIVES {
        for n in [0, 1, 1000, 4096] {
            let row = rows.iter().find(|r| r["primitive"] == primitive && r["n"] == n).unwrap();
            assert_eq!(row["verified"], true, "{row}");
            assert_eq!((&row["backend"], &row["type"]), (&Value::from("cpu"), &Value::from("u32")));
            assert_eq!(row["error"], Value::Null);
            if n > 0 {
                for key in ["median_ms", "min_ms", "batched_ms", "host_us", "gelem_s", "gb_s", "copy_fraction"] {
                    assert!(row[key].as_f64().is_some_and(|x| x > 0.0), "{key} of {row}");
                }
            }
            for key in ["device", "driver", "api", "algorithm", "date", "version"] {
                assert!(row[key].as_str().is_some_and(|x| !x.is_empty()), "{key} of {row}");
            }
            assert!(row["scratch_bytes"].is_u64());
        }
    }
    assert_eq!(folder.names(), ["rows.json"]);
}

#[test]
fn compare_checks_every_type_and_operator() {
    let args = ["-n", "70000", "--runs", "1", "--type", "u32,i32,f32,u64,i64,f64", "--operator", "sum,product,min,max"];
    succeeds(&on_cpu("compare", &args));
    let args =
        ["-n", "70000", "--runs", "1", "--type", "u32,i64", "--operator", "and,or,xor", "--algorithm", "parallel"];
    succeeds(&on_cpu("compare", &args));
}

#[test]
fn compare_counts_the_bytes_of_what_is_written() {
    let folder = Folder::new();
    let (json, page, csv) = (folder.path("rows.json"), folder.path("page.html"), folder.path("rows.csv"));
    let args = ["-n", "40000", "--runs", "1", "--kept", "0,0.5,1", "--run-length", "1,8", "--json", text(&json)];
    let primitives = ["--primitive", "select_if,partition_if,reduce_by_key,run_length_encode", "--type", "u64"];
    let table = succeeds(&on_cpu("compare", &[&args[..], &primitives].concat()));
    for title in ["select_if of u64\n", "select_if of u64, 0 kept\n", "reduce_by_key of u64, sum, runs of 1\n"] {
        assert!(table.contains(title), "{table}");
    }
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.len() == 3 + 3 + 2 + 2 && rows.iter().all(|row| row["verified"] == true));
    for row in rows {
        let outputs = row["outputs"].as_f64().unwrap();
        let about = |want: f64| assert!((outputs - want).abs() < 0.03 * 40_000.0, "{row}");
        // Elements and keys of 8 bytes, values too, and lengths of 4.
        let bytes = match row["primitive"].as_str().unwrap() {
            "select_if" => 8.0 * (40_000.0 + outputs),
            "partition_if" => 16.0 * 40_000.0,
            "reduce_by_key" => 16.0 * (40_000.0 + outputs),
            _ => 8.0 * 40_000.0 + 12.0 * outputs,
        };
        match row["kept"].as_f64() {
            Some(kept) => about(40_000.0 * kept),
            None => about(40_000.0 / row["run_length"].as_f64().unwrap()),
        }
        let moved = row["gb_s"].as_f64().unwrap() * row["median_ms"].as_f64().unwrap() * 1e6;
        assert!((moved / bytes - 1.0).abs() < 1e-6, "{row}");
    }
    succeeds(&trifold(&["report", text(&json), "-o", text(&page), "--csv", text(&csv)]));
    let page = fs::read_to_string(page).unwrap();
    for title in [">Select of u64</h2>", ">Partition of u64, 1 kept</h2>", ">Run lengths of u64, runs of 1</h2>"] {
        assert!(page.contains(title), "{title}");
    }
    let csv = fs::read_to_string(csv).unwrap();
    assert!(["kept", "run_length", "outputs"].iter().all(|name| csv.lines().next().unwrap().contains(name)));
    fails(&on_cpu("compare", &["--kept", "1.5"]), &["1.5", "from 0 to 1"]);
    fails(&on_cpu("compare", &["--run-length", "0"]), &["0 is not in"]);
}

#[test]
fn compare_measures_other_inputs_each_by_its_own_copy() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let inputs = ["uniform", "constant", "sorted", "reversed", "few-distinct", "hot-digit"];
    let cub = |input: &str| format!(r#"{{"lib":"cub","primitive":"sort_keys","type":"f32","n":5000,"ms":0.1{input}}}"#);
    let lines = [cub(""), cub(r#","input":"constant""#), cub(r#","input":"gaussian""#)].join("\n");
    let with = folder.write("cub.jsonl", lines.as_bytes());
    let args = ["-n", "5000", "--runs", "1", "--type", "f32,i64", "--json", text(&json), "--with", text(&with)];
    let asked = inputs.join(",");
    let output = on_cpu("compare", &[&args[..], &["--input", &asked, "--input", "sorted"]].concat());
    let table = succeeds(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 rows of --with measure nothing"), "{output:?}");
    assert!(table.contains("sort_keys of f32, hot-digit input\n") && table.contains("\nsort_keys of f32\n"), "{table}");
    assert!(!table.contains("uniform") && !table.contains("fault") && !table.contains("waiting"), "{table}");
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    let own: Vec<&Value> = rows.iter().filter(|row| row["backend"] == "cpu").collect();
    for input in inputs {
        let of: Vec<_> = own.iter().filter(|row| row["input"] == input).collect();
        assert!(
            of.len() == PRIMITIVES.len() * if input == "sorted" { 4 } else { 2 }
                && of.iter().all(|row| row["verified"] == true)
        );
        assert!(of.iter().all(|row| row["fault"] == "none" && row["waiting"] == "bounded"));
        // The copies that rows are a fraction of are of one input.
        let sort = of.iter().find(|row| row["primitive"] == "sort_keys" && row["type"] == "f32").unwrap();
        let copy = of.iter().find(|row| row["primitive"] == "copy" && row["type"] == "f32").unwrap();
        let fraction = sort["gb_s"].as_f64().unwrap() / copy["gb_s"].as_f64().unwrap();
        assert!((sort["copy_fraction"].as_f64().unwrap() / fraction - 1.0).abs() < 1e-6, "{input}");
    }
    let others: Vec<&Value> = rows.iter().filter(|row| row["backend"] == "cub").map(|row| &row["input"]).collect();
    assert_eq!(others, ["uniform", "constant"]);

    // The rows read back, and are a page with a section an input.
    let page = folder.path("page.html");
    succeeds(&trifold(&["report", text(&json), "-o", text(&page)]));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(">Sort of f32 keys, constant input</h2>") && page.contains(">Sort of f32 keys</h2>"));
}

#[test]
fn faults_and_waits_are_of_tiles_that_wait() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let args = ["-n", "5000", "--runs", "1", "--fault", "none,silent:100", "--waiting", "bounded,unbounded"];
    let output = on_cpu("compare", &[&args[..], &["--json", text(&json)]].concat());
    succeeds(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no tile of what is measured waits"), "{output:?}");
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(
        rows.len() == PRIMITIVES.len() && rows.iter().all(|row| row["fault"] == "none" && row["waiting"] == "bounded")
    );

    fails(&on_cpu("compare", &["--fault", "silent:0"]), &["silent:0", "1 or more"]);
    fails(&on_cpu("compare", &["--fault", "loud"]), &["loud", "none, silent:N, late:N"]);
    fails(&on_cpu("compare", &["--waiting", "never"]), &["never", "bounded, unbounded"]);
    fails(&on_cpu("compare", &["--input", "gaussian"]), &["gaussian", "reversed, few-distinct, hot-digit"]);
}

#[test]
fn a_row_that_cannot_be_measured_says_why_and_others_go_on() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let args = ["-n", "1000", "--type", "f32", "--operator", "xor,sum", "--primitive", "scan", "--json", text(&json)];
    // It did not run, so it is neither right nor wrong.
    assert!(succeeds(&on_cpu("compare", &args)).contains("xor"));
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert!(rows[0]["verified"].is_null());
    assert!(rows[0]["error"].as_str().unwrap().contains("xor"));
    assert_eq!(rows[1]["verified"], true);

    // So with an algorithm that the device lacks, once for all sizes.
    let args = ["-n", "10,1000", "--primitive", "scan", "--algorithm", "sequential,lookback", "--json", text(&json)];
    assert!(succeeds(&on_cpu("compare", &args)).contains("it runs parallel, sequential"));
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let algorithms: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["algorithm"].clone()).collect();
    assert_eq!(algorithms, ["sequential", "lookback", "sequential"]);
    assert!(rows[1]["verified"].is_null());
    let verified = succeeds(&on_cpu("verify", &["--algorithm", "lookback"]));
    assert!(verified.contains("0 passed, 0 failed, 5 ignored") && verified.contains("it runs parallel"), "{verified}");
}

#[test]
fn an_interrupted_comparison_leaves_its_rows() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    // Rows at once, and then one that takes too long to wait for.
    let args = ["compare", "--device", "cpu", "-n", "2^10,2^27", "--type", "u64", "--json", json.to_str().unwrap()];
    let rows = interrupted::rows_after_the_first(&args, &json);
    assert!(rows.iter().all(|row| row["verified"] == true), "{rows:?}");
}

/// Ctrl-C: what was measured is shown.
#[cfg(unix)]
#[test]
fn a_comparison_that_is_told_to_stop_shows_its_rows() {
    let folder = Folder::new();
    interrupted::shows_its_rows(&["compare", "--primitive", "scan"], &folder.path("rows.json"));
}

/// A polite kill: the outcomes so far are shown and written.
#[cfg(unix)]
#[test]
fn a_verification_that_is_told_to_stop_writes_its_outcomes() {
    use std::process::Stdio;

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
    let outcomes = interrupted::rows(&json).expect("a whole array of outcomes");
    let of = |what: &str| outcomes.iter().filter(|row| row["outcome"] == what).count();
    let last = outcomes.last().unwrap();
    assert!(of("passed") > 0 && of("failed") == 0, "{outcomes:?}");
    assert!(last["reason"].as_str().unwrap().ends_with("more cases were not run: interrupted"), "{last}");
}

#[test]
fn compare_joins_other_programs_rows() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let lines = concat!(
        r#"{"lib":"cub","primitive":"copy","type":"u32","n":1000,"ms":0.002,"min_ms":0.001,"batched_ms":0.0,"gelem_s":0.5,"gb_s":4.0,"temp_bytes":1}"#,
        "\n",
        r#"{"lib":"cub","primitive":"sort_pairs_u32","type":"u32","n":1000,"ms":0.01,"min_ms":0.01,"batched_ms":0.009,"gelem_s":0.1,"gb_s":2.0,"temp_bytes":9}"#,
        "\n",
        r#"{"lib":"cub","primitive":"histogram","type":"u32","n":1000,"ms":0.01}"#,
        "\n"
    );
    let with = folder.write("cub.jsonl", lines.as_bytes());
    let args = ["-n", "1000", "--runs", "1", "--json", text(&json), "--with", text(&with)];
    let table = succeeds(&on_cpu("compare", &args));
    assert!(table.contains("cub"), "{table}");
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let cub: Vec<&Value> = rows.as_array().unwrap().iter().filter(|r| r["backend"] == "cub").collect();
    assert_eq!(cub.len(), 2);
    assert_eq!(cub[1]["primitive"], "sort_pairs");
    assert_eq!(cub[1]["copy_fraction"], 0.5);
    assert_eq!(cub[0]["batched_ms"], Value::Null);
    assert_eq!(cub[0]["driver"], "cub");
    // Our own array reads back too; and is nothing that was measured now.
    succeeds(&on_cpu("compare", &["-n", "1000", "--runs", "1", "--with", text(&json)]));
    let none = ["-n", "1000", "--primitive", "scan", "--algorithm", "lookback", "--with", text(&json)];
    let output = on_cpu("compare", &none);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: nothing was measured"), "{output:?}");
    let broken = folder.write("broken.jsonl", b"{\"lib\":\n");
    fails(&on_cpu("compare", &["-n", "1000", "--with", text(&broken)]), &["broken.jsonl", "line 1"]);
}

#[test]
fn scan_of_npy_and_raw() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &npy("<u4", "(5,)", &u32s(&[3, 1, 4, 1, 5])));
    let output = folder.path("out.npy");
    assert_eq!(succeeds(&on_cpu("scan", &[text(&input), "-o", text(&output)])), "");
    let written = fs::read(&output).unwrap();
    assert!(written.starts_with(b"\x93NUMPY"));
    assert!(written.ends_with(&u32s(&[3, 4, 8, 9, 14])));
    // What was written reads as what it is, and works as an input.
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&output), "--operator", "max"])), "14\n");
    let out = on_cpu("scan", &[text(&input), "--exclusive", "--initial", "10", "--operator", "sum"]);
    assert_eq!(succeeds(&out), "10\n13\n14\n18\n19\n");

    let raw = folder.write("in.bin", &f64s(&[0.5, -2.0, 4.0]));
    let output = folder.path("out.bin");
    let args = [text(&raw), "--type", "f64", "--operator", "product", "--initial", "-1", "-o", text(&output)];
    succeeds(&on_cpu("scan", &args));
    assert_eq!(fs::read(&output).unwrap(), f64s(&[-0.5, 1.0, 4.0]));
    assert_eq!(folder.names(), ["in.bin", "in.npy", "out.bin", "out.npy"]);
}

#[test]
fn empty_files_are_arrays_of_no_numbers() {
    let folder = Folder::new();
    let raw = folder.write("in.bin", b"");
    assert_eq!(succeeds(&on_cpu("scan", &[text(&raw), "--type", "u32"])), "");
    assert_eq!(succeeds(&on_cpu("sort", &[text(&raw), "--type", "f32"])), "");
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&raw), "--type", "i32", "--operator", "min"])), "2147483647\n");
    let input = folder.write("in.npy", &npy("<i8", "(0,)", b""));
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&input), "--initial", "-7"])), "-7\n");
}

#[test]
fn sort_moves_values_with_their_keys() {
    let folder = Folder::new();
    let keys = folder.write("keys.npy", &npy("<f8", "(4,)", &f64s(&[2.0, -1.0, 2.0, 0.5])));
    let values = folder.write("values.bin", &u32s(&[10, 11, 12, 13]));
    let (sorted, moved) = (folder.path("sorted.npy"), folder.path("moved.npy"));
    let with = ["--values", text(&values), "--values-type", "u32"];
    let to = ["-o", text(&sorted), "--values-output", text(&moved)];
    succeeds(&on_cpu("sort", &[&[text(&keys), "--descending"][..], &with, &to].concat()));
    assert!(fs::read(&sorted).unwrap().ends_with(&f64s(&[2.0, 2.0, 0.5, -1.0])));
    assert!(fs::read(&moved).unwrap().ends_with(&u32s(&[10, 12, 13, 11])));
    let printed = succeeds(&on_cpu("sort", &[&[text(&keys)][..], &with].concat()));
    assert_eq!(printed, "-1.0\t11\n0.5\t13\n2.0\t10\n2.0\t12\n");
    assert_eq!(succeeds(&on_cpu("sort", &[text(&keys)])), "-1.0\n0.5\n2.0\n2.0\n");

    let short = folder.write("short.bin", &u32s(&[1, 2, 3]));
    let args = [text(&keys), "--values", text(&short), "--values-type", "u32"];
    fails(&on_cpu("sort", &args), &["3 values", "4 numbers"]);
    fails(&on_cpu("sort", &[&[text(&keys), "-o", "x.npy"][..], &with].concat()), &["--values-output"]);
    fails(&on_cpu("sort", &[text(&keys), "--values-output", "x"]), &["--values"]);
}

#[test]
fn bad_files_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let output = folder.path("out.npy");
    let whole = npy("<u4", "(5,)", &u32s(&[3, 1, 4, 1, 5]));
    let cases: [(&str, &[u8], &[&str]); 8] = [
        ("truncated.npy", &whole[..whole.len() - 6], &["truncated"]),
        ("header.npy", &whole[..40], &["truncated"]),
        ("longer.npy", &[&whole[..], b"xx"].concat(), &["more than its 5"]),
        ("dtype.npy", &npy("<f2", "(2,)", &[0; 4]), &["<f2", "astype"]),
        ("big.npy", &npy(">u4", "(1,)", &[0; 4]), &[">u4", "astype"]),
        ("shape.npy", &npy("<u4", "(1, 2)", &[0; 8]), &["[1, 2]", "reshape"]),
        ("foreign.npy", b"PK\x03\x04 not npy", &["\\x93NUMPY"]),
        ("empty.npy", b"", &["\\x93NUMPY"]),
    ];
    for (name, content, words) in cases {
        let input = folder.write(name, content);
        for command in ["scan", "reduce", "sort"] {
            fails(&on_cpu(command, &[text(&input), "-o", text(&output)]), &[&[name], words].concat());
        }
        fs::remove_file(input).unwrap();
    }
    let odd = folder.write("odd.bin", &[0; 10]);
    fails(&on_cpu("scan", &[text(&odd), "--type", "u32", "-o", text(&output)]), &["10 bytes", "u32"]);
    fails(&on_cpu("scan", &[text(&odd), "-o", text(&output)]), &["--type"]);
    let good = folder.write("good.npy", &whole);
    fails(&on_cpu("scan", &[text(&good), "--type", "f32", "-o", text(&output)]), &["holds u32"]);
    fails(&on_cpu("scan", &[text(&good), "--initial", "-1", "-o", text(&output)]), &["--initial", "-1", "u32"]);
    fails(&on_cpu("scan", &[text(&folder.path("none.npy"))]), &["none.npy", "No such file"]);
    fails(&on_cpu("scan", &[text(folder.0.path()), "--type", "u32"]), &["no regular file"]);
    let floats = folder.write("floats.bin", &f64s(&[1.0]));
    fails(&on_cpu("reduce", &[text(&floats), "--type", "f64", "--operator", "xor"]), &["xor", "integers"]);
    assert_eq!(folder.names(), ["floats.bin", "good.npy", "odd.bin"]);
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &npy("<u4", "(1,)", &u32s(&[3])));
    let nowhere = folder.path("no/such/folder/out.npy");
    fails(&on_cpu("scan", &[text(&input), "-o", text(&nowhere)]), &["cannot write", "out.npy"]);
    fails(&on_cpu("scan", &[text(&input), "-o", text(folder.0.path())]), &["directory"]);
    fails(&on_cpu("compare", &["-n", "10", "--json", text(&nowhere)]), &["cannot write"]);
    assert_eq!(folder.names(), ["in.npy"]);
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
        // Without it Mesa's EGL writes a line of its own to the error stream.
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
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
    let results: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert!(results.as_array().unwrap().iter().any(|r| r["outcome"] == "passed"));
    let both = on_cpu("verify", &["--quick", "--filter", "copy/u32", "--filter", "reduce/u32", "--json", text(&json)]);
    succeeds(&both);
    let rows: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let names = rows.as_array().unwrap().iter().map(|row| row["case"].as_str().unwrap());
    let (copies, others): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("copy/u32"));
    assert!(
        !copies.is_empty() && !others.is_empty() && others.iter().all(|n| n.starts_with("reduce/u32")),
        "{others:?}"
    );
    // A part may have nothing to do, where another has.
    for part in ["1/2", "2/2"] {
        succeeds(&on_cpu("verify", &["--quick", "--filter", "copy/u32", "--shard", part]));
    }
    fails(&on_cpu("verify", &["--quick", "--filter", "no such case", "--shard", "2/2"]), &["no case"]);
    fails(&on_cpu("verify", &["--shard", "3/2"]), &["1/4"]);
    fails(&on_cpu("verify", &["--quick", "--filter", "no such case"]), &["no case"]);
}
