//! Kernels kept on disk: found by a second process, and no harm whatever becomes of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use trifold_core::{Reduce, Result, Sort, Sum, Transfer};

use crate::case::{Failure, Outcome, guarded};

/// Opens a backend that keeps its kernels in `folder`, and uses it, four times.
///
/// The folder is empty at first. Then it has all entries. Then each entry is cut short. Then each has the bytes of
/// another.
pub fn kernels_are_cached<B: Reduce + Sort>(folder: &Path, open: impl Fn() -> Result<B>) -> Outcome {
    guarded(|| {
        use_once(&open()?)?;
        let kept = entries(folder)?;
        if kept.len() < 2 {
            return Err(Failure::Wrong(format!("{} kernels were kept", kept.len())));
        }
        use_once(&open()?)?;
        if !entries(folder)?.keys().eq(kept.keys()) {
            return Err(Failure::Wrong("kernels that were kept were not found".into()));
        }
        for (name, bytes) in &kept {
            write(folder, name, &bytes[..bytes.len() / 2])?;
        }
        use_once(&open()?)?;
        let mended = entries(folder)?;
        if let Some((name, _)) = kept.iter().find(|(name, bytes)| mended[*name].len() <= bytes.len() / 2) {
            return Err(Failure::Wrong(format!("{name} was cut short and not kept anew")));
        }
        for (name, bytes) in mended.keys().zip(mended.values().cycle().skip(1)) {
            write(folder, name, bytes)?;
        }
        use_once(&open()?)
    })
}

fn use_once<B: Reduce + Sort>(backend: &B) -> std::result::Result<(), Failure> {
    let input: Vec<u32> = (0..1000).map(|i| i * 7919 % 1000).collect();
    let input = backend.upload(&input)?;
    let sum = backend.reduce(&input, Sum).value()?;
    let sorted = backend.sort(&input).read()?;
    match sum == 499_500 && sorted.into_iter().eq(0..1000) {
        true => Ok(()),
        false => Err(Failure::Wrong(format!("the sum is {sum}, not 499500, or the keys are not sorted"))),
    }
}

fn entries(folder: &Path) -> std::result::Result<BTreeMap<String, Vec<u8>>, Failure> {
    let read = |folder| -> std::io::Result<_> {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            entries.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
        Ok(entries)
    };
    read(folder).map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::result::Result<(), Failure> {
    fs::write(folder.join(name), bytes).map_err(|error| Failure::Wrong(format!("{name}: {error}")))
}
