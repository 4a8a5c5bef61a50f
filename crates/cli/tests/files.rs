//! `trifold scan` and `trifold sort` of files, on the CPU backend.

mod program;

use std::fs;
use std::path::Path;

use program::{Folder, f64s, fails, npy, on_cpu, succeeds, text, trifold, u32s};

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
fn sort_takes_numbers_of_8_and_16_bits() {
    let folder = Folder::new();
    // Lines of three, so that all but the first begin between words.
    let bytes = folder.write("bytes.npy", &npy("|i1", "(3, 3)", &[3, 0xff, 1, 0x80, 0x7f, 0, 9, 8, 7]));
    let sorted = folder.path("sorted.npy");
    succeeds(&on_cpu("sort", &[text(&bytes), "--axis", "1", "-o", text(&sorted)]));
    assert!(fs::read(&sorted).unwrap().ends_with(&[0xff, 1, 3, 0x80, 0, 0x7f, 7, 8, 9]));
    // 1, -2 and the greatest, their highest bytes first.
    let halves = folder.write("halves.npy", &npy(">f2", "(3,)", &[0x3c, 0x00, 0xc0, 0x00, 0x7b, 0xff]));
    let values = folder.write("values.bin", &[5, 6, 7]);
    let with = [text(&halves), "--values", text(&values), "--values-type", "u8"];
    assert_eq!(succeeds(&on_cpu("sort", &with)), "-2.0\t6\n1.0\t5\n65504.0\t7\n");
}

/// What NumPy has no type for is raw on both sides.
#[test]
fn types_without_npy_are_raw() {
    let folder = Folder::new();
    let wide = |numbers: &[u128]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let input = folder.write("in.bin", &wide(&[1 << 100, 7, u128::MAX, 1 << 64]));
    let typed = [text(&input), "--type", "u128"];
    let sorted = folder.path("sorted.bin");
    succeeds(&on_cpu("sort", &[&typed[..], &["-o", text(&sorted)]].concat()));
    assert_eq!(fs::read(&sorted).unwrap(), wide(&[7, 1 << 64, 1 << 100, u128::MAX]));
    assert!(succeeds(&on_cpu("sort", &[text(&input), "--type", "i128"])).starts_with("-1\n7\n"));
    fails(&on_cpu("scan", &typed), &["u128", "`trifold sort` takes them"]);
    let npy = folder.path("sorted.npy");
    fails(&on_cpu("sort", &[&typed[..], &["-o", text(&npy)]].concat()), &["NumPy has no u128", "does not end in .npy"]);

    // 1, -2 and 0.5.
    let halves = folder.write("halves.bin", &[0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3f]);
    let typed = [text(&halves), "--type", "bf16"];
    assert_eq!(succeeds(&on_cpu("sort", &typed)), "-2.0\n0.5\n1.0\n");
    assert_eq!(succeeds(&on_cpu("scan", &typed)), "1.0\n-1.0\n-0.5\n");
}

/// The device widens what the file has, of every type and from any byte on, to what the processor gives.
#[test]
fn every_device_widens_a_files_numbers() {
    let devices = succeeds(&trifold(&["devices"]));
    let folder = Folder::new();
    let lines: Vec<u8> = (0..36).map(|i| (i * 37) as u8 & 0xbf).collect();
    for device in ["Vulkan", "llvmpipe"].into_iter().filter(|name| devices.contains(name)) {
        for code in ["|u1", "|i1", "<u2", "<i2", "<f2", ">f2", ">u2", "<u4", "<i4"] {
            let size = usize::from(code.as_bytes()[2] - b'0');
            let shape = format!("({}, 3)", lines.len() / size / 3);
            let input = folder.write("in.npy", &npy(code, &shape, &lines[..lines.len() / size / 3 * 3 * size]));
            for command in [["scan", "--axis", "1"], ["reduce", "--axis", "1"], ["scan", "--axis", "0"]] {
                let named = trifold(&[&command[..], &[text(&input), "--device", device]].concat());
                let wanted = succeeds(&on_cpu(command[0], &[command[1], command[2], text(&input)]));
                assert_eq!(succeeds(&named), wanted, "{command:?} of {code} on {device}");
            }
        }
    }
}

/// The device sorts what the file has, of every type, as the processor does.
#[test]
fn every_device_sorts_a_files_numbers() {
    let devices = succeeds(&trifold(&["devices"]));
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..960).map(|i: u32| (i * 37) as u8).collect();
    for device in ["Vulkan", "llvmpipe"].into_iter().filter(|name| devices.contains(name)) {
        for code in ["|u1", "|i1", "<u2", "<i2", "<f2", ">f2", "<u8", "<f8"] {
            let count = bytes.len() / usize::from(code.as_bytes()[2] - b'0');
            let input = folder.write("in.npy", &npy(code, &format!("({}, 3)", count / 3), &bytes));
            for axis in ["0", "1"] {
                let sorted = trifold(&["sort", "--axis", axis, text(&input), "--device", device]);
                let wanted = succeeds(&on_cpu("sort", &["--axis", axis, text(&input)]));
                assert_eq!(succeeds(&sorted), wanted, "{code} along {axis} on {device}");
            }
        }
        let input = folder.write("in.bin", &bytes);
        for name in ["u128", "i128", "bf16"] {
            let sorted = trifold(&["sort", text(&input), "--type", name, "--device", device]);
            assert_eq!(
                succeeds(&sorted),
                succeeds(&on_cpu("sort", &[text(&input), "--type", name])),
                "{name} on {device}"
            );
        }
    }
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
    let nested = format!("{{'descr': {}, 'shape': (5,), }}", "{".repeat(13));
    let nested = [b"\x93NUMPY\x01\0", &(nested.len() as u16).to_le_bytes()[..], nested.as_bytes()].concat();
    let cases: [(&str, &[u8], &[&str]); 9] = [
        ("nested.npy", &nested, &["opens 15 brackets"]),
        ("truncated.npy", &whole[..whole.len() - 6], &["truncated"]),
        ("header.npy", &whole[..40], &["truncated"]),
        ("longer.npy", &[&whole[..], b"xx"].concat(), &["more than its 5"]),
        ("dtype.npy", &npy("<c8", "(2,)", &[0; 16]), &["<c8", "astype"]),
        ("axis.npy", &npy("<u4", "(1, 2)", &[0; 8]), &["[1, 2]", "--axis 0", "reshape"]),
        ("shape.npy", &npy("<u4", "(1, 2, 1)", &[0; 8]), &["[1, 2, 1]", "reshape"]),
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
    fails(&on_cpu("scan", &[text(folder.0.path()), "--type", "u32"]), &["is a directory"]);
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
    // Before any work, in which the device and the input would have been found to be none; and by the name that was given.
    let no_input = folder.path("none.npy");
    for command in ["scan", "reduce", "sort"] {
        let output = trifold(&[command, text(&no_input), "--device", "abacus", "-o", text(&nowhere)]);
        fails(&output, &["cannot write", "folder/out.npy: there is no folder", "make it"]);
        assert!(!String::from_utf8_lossy(&output.stderr).contains(".trifold-"), "{output:?}");
    }
    let output = folder.path("out.npy");
    let to = ["-o", text(&output), "--values-output", text(&nowhere)];
    fails(
        &on_cpu("sort", &[&[text(&no_input), "--values", text(&no_input)][..], &to].concat()),
        &["there is no folder"],
    );
    let as_folder = format!("{}/", text(&folder.path("out")));
    fails(&on_cpu("scan", &[text(&input), "-o", &as_folder]), &["out/", "a file's name"]);
    fails(&on_cpu("scan", &[text(&input), "-o", text(&input.join("x"))]), &["cannot write", "in.npy/x"]);
    assert_eq!(folder.names(), ["in.npy"]);
}

#[test]
fn outputs_replace_neither_other_inputs_nor_each_other() {
    let folder = Folder::new();
    let numbers = npy("<u4", "(3,)", &u32s(&[3, 1, 2]));
    let (keys, values) = (folder.write("keys.npy", &numbers), folder.write("values.npy", &numbers));
    let (new, also_new) = (folder.path("new.npy"), folder.path("./new.npy"));
    let sort = |output: &Path, values_output: &Path| {
        let to = ["-o", text(output), "--values-output", text(values_output)];
        on_cpu("sort", &[&[text(&keys), "--values", text(&values)][..], &to].concat())
    };
    fails(&sort(&new, &also_new), &["-o and --values-output are the same file", "give two"]);
    fails(&sort(&values, &new), &["-o ", "would replace", "values.npy", "another file"]);
    fails(&sort(&new, &keys), &["--values-output ", "would replace", "keys.npy"]);
    assert_eq!(folder.names(), ["keys.npy", "values.npy"]);
    assert!([&keys, &values].iter().all(|path| fs::read(path).unwrap() == numbers));
    succeeds(&sort(&new, &folder.path("moved.npy")));
    // What is sorted may take its own place.
    succeeds(&sort(&folder.path("./keys.npy"), &values));
    let sorted = fs::read(&new).unwrap();
    assert!(sorted != numbers && fs::read(&keys).unwrap() == sorted);
    // What is written to a device replaces nothing.
    #[cfg(unix)]
    succeeds(&sort(Path::new("/dev/null"), Path::new("/dev/null")));
}

#[cfg(unix)]
#[test]
fn an_output_that_replaces_a_file_keeps_its_mode_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    let input = folder.write("in.npy", &npy("<u4", "(1,)", &u32s(&[3])));
    let scan = |output: &Path| on_cpu("scan", &[text(&input), "--initial", "4", "-o", text(output)]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let with_mode = |name: &str, mode: u32| {
        let path = folder.write(name, b"old");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    for kept in [0o600, 0o664, 0o755] {
        let output = with_mode("out.bin", kept);
        succeeds(&scan(&output));
        assert_eq!((mode(&output), fs::read(&output).unwrap()), (kept, u32s(&[7])), "{kept:o}");
    }
    // A new one is as any file that is made.
    succeeds(&scan(&folder.path("new.bin")));
    assert_eq!(mode(&folder.path("new.bin")), mode(&input));

    let protected = with_mode("protected.bin", 0o444);
    fails(&scan(&protected), &["cannot write", "protected.bin", "write-protected", "another path"]);
    assert_eq!(fs::read(&protected).unwrap(), b"old");
    // Another hard link keeps what was there; a link that leads to no file yet leads to one then.
    fs::hard_link(folder.write("shared.bin", b"old"), folder.path("other.bin")).unwrap();
    succeeds(&scan(&folder.path("shared.bin")));
    assert_eq!(fs::read(folder.path("other.bin")).unwrap(), b"old");
    symlink("made.bin", folder.path("link.bin")).unwrap();
    succeeds(&scan(&folder.path("link.bin")));
    assert!(fs::symlink_metadata(folder.path("link.bin")).unwrap().is_symlink());
    assert_eq!(fs::read(folder.path("made.bin")).unwrap(), u32s(&[7]));
    symlink("no/file.bin", folder.path("astray.bin")).unwrap();
    fails(&scan(&folder.path("astray.bin")), &["astray.bin", "there is no folder", "/no;"]);
    assert!(folder.names().iter().all(|name| !name.starts_with(".trifold-")), "{:?}", folder.names());
}

/// The system does not know how long these are.
#[cfg(unix)]
#[test]
fn files_without_a_length_are_read_to_their_end() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
    program.args(["reduce", "--device", "cpu", "/dev/stdin", "--type", "u32"]).stdin(Stdio::piped());
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&u32s(&[3, 4, 5])).unwrap();
    assert_eq!(succeeds(&child.wait_with_output().unwrap()), "12\n");
    // It says that it is empty, and has six bytes.
    let os = Path::new("/proc/sys/kernel/ostype");
    if fs::read(os).is_ok_and(|name| name == b"Linux\n") {
        fails(&on_cpu("sort", &[text(os), "--type", "u32"]), &["6 bytes", "u32"]);
    }
}

#[test]
fn files_of_text_and_tables_are_refused_with_how_to_convert_them() {
    let folder = Folder::new();
    let cases: [(&str, &[&str]); 7] = [
        ("x.csv", &["np.loadtxt(", "delimiter=','", "x.npy", "<f8"]),
        ("x.TSV", &["delimiter='\\t'"]),
        ("x.txt", &["np.loadtxt("]),
        ("x.json", &["json.load(", "import numpy as np, json"]),
        ("x.npz", &["np.load(", "arr_0"]),
        ("x.parquet", &["pd.read_parquet(", "COLUMN"]),
        ("x.arrow", &["pd.read_feather("]),
    ];
    let numbers = f64s(&[2.5, -1.0]);
    for (name, words) in cases {
        let input = folder.write(name, &numbers);
        for command in ["scan", "reduce", "sort"] {
            let output = on_cpu(command, &[text(&input), "--type", "f64"]);
            fails(&output, &[&[name, "--raw", "python3 -c"], words].concat());
        }
        assert_eq!(succeeds(&on_cpu("sort", &[text(&input), "--type", "f64", "--raw"])), "-1.0\n2.5\n");
    }
    let table = folder.write("ids.csv", b"16777217");
    fails(&on_cpu("sort", &[text(&table)]), &["np.loadtxt(", "'<f8'", "--type"]);
    // As values too; and a .npy by any name is one, unless it is to be raw.
    let keys = folder.write("keys.bin", &numbers);
    let values = folder.write("values.csv", &u32s(&[1, 2]));
    let with = ["--values", text(&values), "--values-type", "u32"];
    fails(&on_cpu("sort", &[&[text(&keys), "--type", "f64"][..], &with].concat()), &["values.csv", "<u4"]);
    let named = folder.write("named.txt", &npy("<u4", "(1,)", &u32s(&[7])));
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&named)])), "7\n");
    fails(&on_cpu("reduce", &[text(&named), "--raw"]), &["--type"]);
}

/// As NumPy would, but that sums stay as narrow as they fit.
#[test]
fn every_type_is_read_and_written_back_as_it_came() {
    let folder = Folder::new();
    let output = folder.path("out.npy");
    let run = |command: &str, args: &[&str], descr: &str, data: &[u8]| {
        let input = folder.write("in.npy", &npy(descr, "(3,)", data));
        let out = on_cpu(command, &[&[text(&input), "-o", text(&output)], args].concat());
        succeeds(&out);
        let written = fs::read(&output).unwrap();
        let (header, data) = written.split_at(10 + usize::from(u16::from_le_bytes([written[8], written[9]])));
        let header = String::from_utf8_lossy(header);
        let (_, descr) = header.split_once("'descr': '").unwrap();
        (descr.split_once('\'').unwrap().0.to_string(), data.to_vec(), String::from_utf8(out.stderr).unwrap())
    };
    let sorted = |descr, data: &[u8]| {
        let (written, data, said) = run("sort", &[], descr, data);
        assert_eq!(written, descr);
        assert!(said.starts_with("device: cpu on "), "{said}");
        data
    };
    assert_eq!(sorted("|i1", &[1, 0xff, 0]), [0xff, 0, 1]);
    assert_eq!(sorted(">u2", &[1, 0, 0, 9, 0, 1]), [0, 1, 0, 9, 1, 0]);
    assert_eq!(sorted("<f2", &[0, 0x3c, 0, 0xbc, 1, 0x7e]), [0, 0xbc, 0, 0x3c, 1, 0x7e]);
    assert_eq!(sorted("|b1", &[1, 0, 1]), [0, 1, 1]);
    assert_eq!(
        sorted(">f8", &[2.0f64, -1.0, 0.5].map(f64::to_be_bytes).concat()),
        [-1.0f64, 0.5, 2.0].map(f64::to_be_bytes).concat()
    );

    let (written, data, said) = run("scan", &[], ">u4", &[u32::MAX, 1, 1].map(u32::to_be_bytes).concat());
    assert_eq!(
        (written.as_str(), data),
        (">u8", [u32::MAX as u64, 1 << 32, (1 << 32) + 1].map(u64::to_be_bytes).concat())
    );
    assert!(said.contains("does not fit u32, and is u64; --wrapping"), "{said}");
    let (written, data, _) = run("scan", &["--wrapping"], ">u4", &[u32::MAX, 1, 1].map(u32::to_be_bytes).concat());
    assert_eq!((written.as_str(), data), (">u4", [u32::MAX, 0, 1].map(u32::to_be_bytes).concat()));
    let (written, data, _) = run("scan", &["--wrapping"], "|u1", &[200, 100, 1]);
    assert_eq!((written.as_str(), data), ("|u1", vec![200, 44, 45]));
    let (written, data, said) = run("reduce", &[], "|b1", &[1, 0, 1]);
    assert_eq!((written.as_str(), data, said.contains("note")), ("<u4", u32s(&[2]), false));
    // Identities are the type's own.
    for (operator, identity) in [("min", 127), ("max", 0x80), ("and", 0xff), ("or", 0)] {
        let input = folder.write("none.npy", &npy("|i1", "(0,)", b""));
        succeeds(&on_cpu("reduce", &[text(&input), "--operator", operator, "-o", text(&output)]));
        assert_eq!(fs::read(&output).unwrap().last(), Some(&identity), "{operator}");
    }
    let input = folder.write("in.npy", &npy("|u1", "(1,)", &[3]));
    fails(&on_cpu("reduce", &[text(&input), "--operator", "max", "--initial", "300"]), &["300", "u8"]);
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&input), "--initial", "300"])), "303\n");
    let raw = folder.write("in.bin", &[0, 0x3c, 0, 0x40]);
    assert_eq!(succeeds(&on_cpu("scan", &[text(&raw), "--type", "f16"])), "1.0\n3.0\n");
}

/// Raw numbers say nothing of their order and width: they are little-endian, row by row, and of the input's type.
#[test]
fn raw_output_is_what_a_reader_takes_it_for() {
    let folder = Folder::new();
    let raw = folder.path("out.bin");
    let big = folder.write("big.npy", &npy(">u4", "(3,)", &[3, 1, 2].map(u32::to_be_bytes).concat()));
    succeeds(&on_cpu("sort", &[text(&big), "-o", text(&raw)]));
    assert_eq!(fs::read(&raw).unwrap(), u32s(&[1, 2, 3]));
    let mut fortran = npy("<u4", "(2, 3)", &u32s(&[1, 4, 2, 5, 3, 6]));
    let at = fortran.windows(5).position(|word| word == b"False").unwrap();
    fortran.splice(at..at + 5, *b"True ");
    let fortran = folder.write("fortran.npy", &fortran);
    succeeds(&on_cpu("scan", &[text(&fortran), "--axis", "1", "-o", text(&raw)]));
    assert_eq!(fs::read(&raw).unwrap(), u32s(&[1, 3, 6, 4, 9, 15]));
    let bytes = folder.write("bytes.bin", &[128, 128]);
    let wide = ["--type", "u8", "-o", text(&raw)];
    fails(&on_cpu("scan", &[&[text(&bytes)], &wide[..]].concat()), &["does not fit u8", "u32", ".npy", "--wrapping"]);
    succeeds(&on_cpu("scan", &[&[text(&bytes), "--wrapping"], &wide[..]].concat()));
    assert_eq!(fs::read(&raw).unwrap(), [128, 0]);
    // Not even where 64 bits are too few.
    let many = folder.write("many.bin", &[255; 20]);
    let product = [&[text(&many), "--operator", "product"], &wide[..]].concat();
    fails(&on_cpu("scan", &product), &["does not fit u8", "u64", "--wrapping"]);
    let flags = folder.write("flags.bin", &[1, 1]);
    let of_flags = [text(&flags), "--type", "bool", "-o", text(&raw)];
    succeeds(&on_cpu("scan", &[&of_flags[..], &["--operator", "product"]].concat()));
    assert_eq!(fs::read(&raw).unwrap(), [1, 1]);
    fails(&on_cpu("reduce", &[&of_flags[..], &["--initial", "4294967295"]].concat()), &["does not fit bool", "u64"]);
    // Bytes that are no truth values stay as they are.
    let odd = folder.write("odd.npy", &npy("|b1", "(4,)", &[255, 1, 0, 2]));
    succeeds(&on_cpu("sort", &[text(&odd), "-o", text(&raw)]));
    assert_eq!(fs::read(&raw).unwrap(), [0, 1, 2, 255]);
    let halves = folder.write("halves.npy", &npy("<f2", "(2,)", &[0xff, 0x7b, 0xff, 0x7b]));
    let output = on_cpu("reduce", &[text(&halves)]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("do not fit f16"), "{output:?}");
    fails(&on_cpu("reduce", &[text(&odd), "--initial", "x"]), &["`x` is no bool"]);
}

#[test]
fn two_dimensions_go_along_an_axis() {
    let folder = Folder::new();
    let numbers = u32s(&[3, 1, 2, 6, 5, 4]);
    let c = folder.write("c.npy", &npy("<u4", "(2, 3)", &numbers));
    // The same rows, column by column.
    let mut fortran = npy("<u4", "(2, 3)", &u32s(&[3, 6, 1, 5, 2, 4]));
    let at = fortran.windows(5).position(|word| word == b"False").unwrap();
    fortran.splice(at..at + 5, *b"True ");
    let fortran = folder.write("fortran.npy", &fortran);
    for input in [&c, &fortran] {
        let on = |command: &str, axis: &str, more: &[&str]| {
            succeeds(&on_cpu(command, &[&[text(input), "--axis", axis], more].concat()))
        };
        assert_eq!(on("scan", "1", &[]), "3\t4\t6\n6\t11\t15\n");
        assert_eq!(on("scan", "0", &["--exclusive"]), "0\t0\t0\n3\t1\t2\n");
        assert_eq!(on("reduce", "-1", &["--operator", "max"]), "3\n6\n");
        assert_eq!(on("reduce", "0", &[]), "9\n6\n6\n");
        assert_eq!(on("sort", "1", &["--descending"]), "3\t2\t1\n6\t5\t4\n");
        assert_eq!(on("sort", "0", &[]), "3\t1\t2\n6\t5\t4\n");
        // What is written is in the input's order.
        let output = folder.path("out.npy");
        on("sort", "1", &["-o", text(&output)]);
        assert_eq!(succeeds(&on_cpu("sort", &[text(&output), "--axis", "0", "--descending"])), "4\t5\t6\n1\t2\t3\n");
    }
    // Values of the other order move with their keys.
    let (sorted, moved) = (folder.path("sorted.npy"), folder.path("moved.npy"));
    let to = ["-o", text(&sorted), "--values-output", text(&moved)];
    succeeds(&on_cpu("sort", &[&[text(&c), "--axis", "1", "--values", text(&fortran)][..], &to].concat()));
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&moved), "--axis", "0", "--operator", "min"])), "1\n2\n3\n");
    fails(&on_cpu("sort", &[text(&c), "--axis", "1", "--values", text(&fortran)]), &["--values-output"]);
    fails(&on_cpu("scan", &[text(&c), "--axis", "2"]), &["2 is not in"]);
    let line = folder.write("line.npy", &npy("<u4", "(6,)", &numbers));
    fails(&on_cpu("scan", &[text(&line), "--axis", "1"]), &["[6]", "no axis 1"]);
    let none = folder.write("none.npy", &npy("<u4", "(2, 0)", b""));
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&none), "--axis", "1"])), "0\n0\n");
    assert_eq!(succeeds(&on_cpu("reduce", &[text(&none), "--axis", "0"])), "");
}

#[test]
fn a_hyphen_is_standard_input_and_output() {
    use std::io::Write;
    use std::process::{Command, Output, Stdio};

    let piped = |args: &[&str], bytes: &[u8]| -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
        program.args([args, &["--device", "cpu"]].concat()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.stderr(Stdio::piped()).spawn().unwrap();
        // What refuses its arguments reads nothing.
        _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    };
    let input = npy(">u2", "(2, 2)", &[0, 3, 0, 1, 0, 2, 0, 9]);
    let output = piped(&["sort", "-", "--axis", "1", "-o", "-"], &input);
    assert!(output.status.success() && output.stderr.starts_with(b"device: cpu on "), "{output:?}");
    // What came as a .npy goes as one.
    assert_eq!(output.stdout, npy(">u2", "(2, 2, )", &[0, 1, 0, 3, 0, 2, 0, 9]));
    let output = piped(&["scan", "-", "--type", "u32", "-o", "-"], &u32s(&[3, 4]));
    assert_eq!(output.stdout, u32s(&[3, 7]));
    assert_eq!(succeeds(&piped(&["reduce", "-", "--type", "u8"], &[3, 4])), "7\n");
    fails(&piped(&["sort", "-", "--values", "-", "--type", "u8"], &[]), &["standard input"]);
    fails(&piped(&["sort", "x", "--values", "y", "-o", "-", "--values-output", "-"], &[]), &["same file"]);
}

/// The output is written beside its place, which takes a while where it is large.
#[cfg(unix)]
#[test]
fn an_interrupted_call_leaves_no_file() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = Folder::new();
    let input = folder.path("in.bin");
    fs::File::create(&input).unwrap().set_len(256 << 20).unwrap();
    let output = folder.path("out.bin");
    let mut ended_early = 0;
    for signal in ["INT", "TERM"].into_iter().cycle().take(20) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_trifold"));
        program.args(["scan", "--device", "cpu", text(&input), "--type", "u32", "-o", text(&output)]);
        let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A shell that waits for a word: to start one takes longer than the program may.
        let kill = format!("read word; kill -s {signal} {}", child.id());
        let mut killer = Command::new("sh").args(["-c", &kill]).stdin(Stdio::piped()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // The file with which the program asks whether it may write there is gone by the second look.
        let being_written = || {
            let entries = fs::read_dir(folder.0.path()).unwrap().flatten();
            entries.map(|entry| entry.file_name()).find(|name| name.to_string_lossy().starts_with(".trifold-"))
        };
        let is_being_written = || {
            let name = being_written();
            std::thread::sleep(Duration::from_micros(300));
            name.is_some() && name == being_written()
        };
        while !is_being_written() {
            if output.exists() {
                break;
            }
            assert!(Instant::now() < deadline, "it was never seen to be written");
        }
        killer.stdin.take().unwrap().write_all(b"now\n").unwrap();
        assert!(killer.wait().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        // It may have been done by then: the file is there whole, and has to go for another try.
        if output.exists() {
            assert_eq!(fs::metadata(&output).unwrap().len(), 256 << 20);
            fs::remove_file(&output).unwrap();
        } else {
            assert_eq!(ended.status.code(), Some(130), "{ended:?}");
            ended_early += 1;
        }
        assert_eq!(folder.names(), ["in.bin"]);
        if ended_early == 2 {
            break;
        }
    }
    assert!(ended_early > 0, "the program was always done before it was stopped");
}
