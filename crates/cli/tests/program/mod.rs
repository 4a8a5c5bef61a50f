//! The program as a user runs it, and what it leaves.
#![allow(dead_code, reason = "each file of tests uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub struct Folder(pub tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// What is in the folder, temporary files too.
    pub fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub fn trifold(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trifold")).args(args).output().unwrap()
}

pub fn on_cpu(command: &str, args: &[&str]) -> Output {
    trifold(&[&[command, "--device", "cpu"], args].concat())
}

#[track_caller]
pub fn succeeds(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Fails as a user's mistake does: with words, without a panic.
#[track_caller]
pub fn fails(output: &Output, words: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?} {stderr}", output.status);
    assert!(stderr.starts_with("error:"), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("backtrace"), "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{stderr:?} does not mention {word:?}");
    }
}

/// The rows, or outcomes, that a file has.
pub fn rows(json: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(json).unwrap()).unwrap()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A `.npy` of version 1, as NumPy writes it.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (10 + dict.len() + 1).div_ceil(64) * 64 - 10;
    let dict = format!("{dict:<width$}\n", width = padded - 1);
    [b"\x93NUMPY\x01\x00", &(padded as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
}

fn bytes<const N: usize, T>(values: &[T], to: fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(to).collect()
}

pub fn u32s(values: &[u32]) -> Vec<u8> {
    bytes(values, |x| x.to_le_bytes())
}

pub fn f64s(values: &[f64]) -> Vec<u8> {
    bytes(values, |x| x.to_le_bytes())
}
