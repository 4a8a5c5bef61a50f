//! `trifold scan` and `trifold sort` of files, on the CPU backend.

mod program;

use std::fs;

use program::{Folder, f64s, fails, npy, on_cpu, succeeds, text, u32s};

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
