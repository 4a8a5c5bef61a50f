//! A cache that survives what processes and disks do to it.

use std::path::{Path, PathBuf};

use trifold_cache::{Cache, Key};

fn key(text: &str) -> Key {
    Key::new("cubin", &[text, "sm_90"])
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn keeps_and_forgets() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(folder.path().join("not there yet"));
    assert_eq!(cache.get(&key("a")), None);
    cache.put(&key("a"), b"compiled");
    assert_eq!(Cache::in_folder(cache.folder().unwrap()).get(&key("a")).as_deref(), Some(&b"compiled"[..]));
    assert_eq!(cache.get(&key("b")), None);
    cache.put(&key("a"), b"compiled again");
    assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"compiled again"[..]));
    cache.forget(&key("a"));
    assert_eq!(cache.get(&key("a")), None);
}

#[test]
fn keys_differ_where_parts_do() {
    let of = |parts: &[&str]| Key::new("cubin", parts);
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["ab", "c"]), of(&["ab", "c", ""]));
    assert_ne!(of(&["ab"]), Key::new("binary", &["ab"]));
    assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
}

/// Whatever is cut short or overwritten is not given out, and can be kept anew.
#[test]
fn damage_is_found() {
    let bytes: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
    for damage in [|_: &[u8]| vec![], |b: &[u8]| b[..b.len() / 2].to_vec(), |b: &[u8]| b.iter().map(|b| !b).collect()] {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        cache.put(&key("a"), &bytes);
        let all = files(folder.path());
        assert!(!all.is_empty());
        for file in all {
            let damaged: Vec<u8> = damage(&std::fs::read(&file).unwrap());
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, damaged).unwrap();
        }
        assert!(cache.get(&key("a")).is_none());
        cache.put(&key("a"), &bytes);
        assert!(cache.get(&key("a")).is_some_and(|kept| kept == bytes));
    }
}

#[test]
fn many_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |i: usize| vec![i as u8; 50_000];
    std::thread::scope(|scope| {
        for i in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                let cache = Cache::in_folder(folder);
                for _ in 0..10 {
                    cache.put(&key("shared"), &bytes(i));
                    let found = cache.get(&key("shared")).expect("some writer's");
                    assert!((0..8).any(|j| found == bytes(j)), "bytes of several writers");
                }
            });
        }
    });
}

#[test]
fn a_folder_that_cannot_be_is_no_cache() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let cache = Cache::in_folder(file.path());
    cache.put(&key("a"), b"compiled");
    assert_eq!(cache.get(&key("a")), None);
    cache.forget(&key("a"));
    Cache::off().put(&key("a"), b"compiled");
    assert_eq!(Cache::off().get(&key("a")), None);
}
