//! `trifold compare` as a user runs it, on the CPU backend.

mod interrupted;
mod program;

use std::fs;

use program::{Folder, fails, on_cpu, rows, succeeds, text, trifold};
use serde_json::Value;
use trifold::plan::Form;

/// On a Vulkan device, if there is one.
#[test]
fn rows_say_what_they_were_planned_with() {
    let unknown = trifold(&["compare", "--tuning", "scan_wrkgroup=64"]);
    fails(&unknown, &["no tuning `scan_wrkgroup`; there are scan_workgroup, "]);
    assert_eq!(trifold(&["compare", "--tuning", "scan_workgroup=100"]).status.code(), Some(2));
    if !succeeds(&trifold(&["devices"])).contains("Vulkan") {
        return trifold_conformance::skip("vulkan", "there is no Vulkan device");
    }
    let folder = Folder::new();
    let (json, page) = (folder.path("rows.json"), folder.path("page.html"));
    let args = ["compare", "-n", "1000,2000", "--device", "Vulkan", "--primitive", "reduce", "--runs", "1"];
    let numbers = ["--tuning", "reduce_words=8,reduce_workgroup=64", "--json", text(&json), "--html", text(&page)];
    succeeds(&trifold(&[&args[..], &numbers].concat()));
    let rows = rows(&json);
    assert_eq!(rows[0]["tuning"], "reduce_workgroup=64,reduce_words=8");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("single_pass · reduce_workgroup 64 · reduce_words 8</span>"), "{page:.3000}");
}

#[test]
fn compare_verifies_every_primitive() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let out = on_cpu("compare", &["-n", "1000,2^12,1,0", "--runs", "2", "--json", text(&json)]);
    let table = succeeds(&out);
    assert!(table.contains("scan of u32, sum") && table.contains("2^12"), "{table}");
    let rows = rows(&json);
    assert_eq!(rows.len(), 4 * Form::all().count());
    for primitive in Form::all().map(|form| form.name) {
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
fn compare_sorts_by_bits_and_carries_other_values() {
    let folder = Folder::new();
    let json = folder.path("rows.json");
    let args = ["-n", "1000", "--runs", "1", "--type", "u8,f16,bf16,u128", "--bits", "0..8,0..16", "--value", "u64"];
    let sorts = ["--primitive", "sort_keys,sort_pairs,argsort", "--json", text(&json)];
    // A byte has not as many bits.
    let output = on_cpu("compare", &[&args[..], &sorts].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 of 24 rows are not verified"), "{output:?}");
    let rows = rows(&json);
    assert_eq!(rows.len(), 3 * 4 * 2);
    for row in &rows {
        match row["type"] == "u8" && row["bits"] == "0..16" {
            true => assert!(row["error"].as_str().unwrap().contains("0..16 of keys that have 8"), "{row}"),
            false => assert!(row["verified"] == true && row["error"].is_null(), "{row}"),
        }
        let is_of_pairs = row["primitive"] == "sort_pairs";
        assert_eq!(row["value"], if is_of_pairs { Value::from("u64") } else { Value::Null }, "{row}");
    }

    // Rows have no offsets, and histograms edges of their own. Floats of every magnitude are sorted.
    let of_rows =
        ["-n", "1024", "--runs", "1", "--segments", "rows", "--segment-length", "16", "--k", "2", "--primitive"];
    let forms =
        "segmented_reduce,segmented_scan,segmented_sort,segmented_sort_pairs,segmented_top_k,histogram_by_edges";
    succeeds(&on_cpu("compare", &[&of_rows[..], &[forms]].concat()));
    let floats = ["-n", "1000", "--runs", "1", "--type", "f16,f32,f64", "--input", "all-values", "--primitive"];
    succeeds(&on_cpu("compare", &[&floats[..], &["sort_keys,top_k,histogram_by_edges,arg_min"]].concat()));

    // And computes with what has fewer than 32 bits.
    let types = ["-n", "1000", "--runs", "1", "--type", "u8,i16,f16,bf16", "--primitive"];
    succeeds(&on_cpu("compare", &[&types[..], &["copy,transform,sum_of_squares,arg_min,select_if"]].concat()));
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
    let rows = rows(&json);
    assert!(rows.len() == 3 + 3 + 2 + 2 && rows.iter().all(|row| row["verified"] == true));
    for row in &rows {
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
    let rows = rows(&json);
    let own: Vec<&Value> = rows.iter().filter(|row| row["backend"] == "cpu").collect();
    // Every call is right, but one that is not measured of one type, and says so.
    let is_as_it_should = |row: &Value| match row["primitive"] == "weighted_histogram" && row["type"] == "i64" {
        true => row["error"].as_str().is_some_and(|why| why.contains("measure of other types only")),
        false => row["verified"] == true,
    };
    for input in inputs {
        let of: Vec<_> = own.iter().filter(|row| row["input"] == input).collect();
        assert_eq!(of.len(), Form::all().count() * if input == "sorted" { 4 } else { 2 }, "{input}");
        assert!(of.iter().all(|row| is_as_it_should(row)));
        assert!(of.iter().all(|row| row["fault"] == "none" && row["waiting"] == "bounded"));
        // The copies that rows are a fraction of are of one input.
        let sort = of.iter().find(|row| row["primitive"] == "sort_keys" && row["type"] == "f32").unwrap();
        let copy = of.iter().find(|row| row["primitive"] == "copy" && row["type"] == "f32").unwrap();
        let fraction = sort["gb_s"].as_f64().unwrap() / copy["gb_s"].as_f64().unwrap();
        // The copy is timed again, and the faster one counts.
        let said = sort["copy_fraction"].as_f64().unwrap();
        assert!(said > 0.0 && said <= fraction * (1.0 + 1e-6), "{input}: {said} {fraction}");
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
    let rows = rows(&json);
    assert!(
        rows.len() == Form::all().count()
            && rows.iter().all(|row| row["fault"] == "none" && row["waiting"] == "bounded")
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
    let rows = rows(&json);
    assert!(rows[0]["verified"].is_null());
    assert!(rows[0]["error"].as_str().unwrap().contains("xor"));
    assert_eq!(rows[1]["verified"], true);

    // So with an algorithm that the device lacks, once for all sizes.
    let args = ["-n", "10,1000", "--primitive", "scan", "--algorithm", "sequential,lookback", "--json", text(&json)];
    assert!(succeeds(&on_cpu("compare", &args)).contains("it runs parallel, sequential"));
    let rows = program::rows(&json);
    let algorithms: Vec<_> = rows.iter().map(|row| row["algorithm"].clone()).collect();
    assert_eq!(algorithms, ["sequential", "lookback", "sequential"]);
    assert!(rows[1]["verified"].is_null());
    let verified = succeeds(&on_cpu("verify", &["--algorithm", "lookback"]));
    assert!(verified.contains("0 passed, 0 failed, 12 ignored") && verified.contains("it runs parallel"), "{verified}");
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

#[test]
fn outputs_replace_neither_inputs_nor_each_other() {
    let folder = Folder::new();
    let (new, line) = (folder.path("new"), r#"{"lib":"cub","primitive":"copy","type":"u32","n":1000,"ms":0.002}"#);
    let with = folder.write("cub.jsonl", line.as_bytes());
    let both = ["-n", "1000", "--json", text(&new), "--html", text(&new)];
    for command in ["compare", "experiment"] {
        fails(&on_cpu(command, &both), &["--json and --html are the same file", "new; give two"]);
    }
    for option in ["--json", "--html"] {
        let output = on_cpu("compare", &["-n", "1000", "--with", text(&with), option, text(&with)]);
        fails(&output, &[option, "would replace", "cub.jsonl", "another file"]);
    }
    assert_eq!(folder.names(), ["cub.jsonl"]);
    assert_eq!(fs::read_to_string(&with).unwrap(), line);
    // Before any work, in which the device would have been found to be none.
    let nowhere = folder.path("no/rows");
    for words in [["compare", "--json"], ["experiment", "--html"], ["verify", "--json"], ["tune", "-o"]] {
        let output = trifold(&[&words[..], &[text(&nowhere), "--device", "abacus"]].concat());
        fails(&output, &["cannot write", "no/rows: there is no folder"]);
    }
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
    let rows = rows(&json);
    let cub: Vec<&Value> = rows.iter().filter(|r| r["backend"] == "cub").collect();
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
