//! Lists the kernel texts, so that a new one needs no list but its folder.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The languages' files.
const EXTENSIONS: [&str; 3] = ["wgsl", "cl", "cu"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = vec![];
    for folder in folders(&root)? {
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut files)?;
    }
    files.sort();
    let rows = files.iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(file).with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        format!("    ({name:?}, {extension:?}, include_str!({:?})),\n", file.display().to_string())
    });
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("texts.rs");
    fs::write(out, format!("&[\n{}]\n", rows.collect::<String>()))
}

/// Those of the texts.
fn folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let is_of_texts = |path: &PathBuf| path.is_dir() && !["src", "tests"].iter().any(|other| path.ends_with(other));
    Ok(entries.into_iter().filter(is_of_texts).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|own| EXTENSIONS.iter().any(|extension| own == *extension)) {
            files.push(path);
        }
    }
    Ok(())
}
