//! A cache that survives what processes and disks do to it.

use std::path::{Path, PathBuf};

use trifold_cache::{Cache, Key};

fn key(text: &str) -> Key {
    Key::new("cuda", &[text, "sm_90"])
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
fn what_a_driver_does_not_take_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(folder.path());
    let load = |text| cache.load(&key(text), "kernel", String::from_utf8);
    assert_eq!(load("a"), None);
    cache.put(&key("a"), b"good");
    cache.put(&key("b"), &[0xff]);
    assert_eq!((load("a").as_deref(), load("b")), (Some("good"), None));
    assert_eq!((cache.get(&key("a")).is_some(), cache.get(&key("b"))), (true, None));
}

#[test]
fn keys_differ_where_parts_do() {
    let of = |parts: &[&str]| Key::new("cuda", parts);
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["ab", "c"]), of(&["ab", "c", ""]));
    assert_ne!(of(&["ab"]), Key::new("opencl", &["ab"]));
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

#[test]
fn the_entries_not_used_for_longest_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(folder.path()).with_limit(100_000);
    let others = ["notes.txt", "cubin-of-mine", ".trifold-unfinished"].map(|name| folder.path().join(name));
    for other in &others {
        std::fs::write(other, vec![0; 200_000]).unwrap();
    }
    let name = |i: usize| format!("kernel {i}");
    let age = |seconds: u64| {
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
        for file in files(folder.path()).iter().filter(|file| !others.contains(file)) {
            let file = std::fs::File::options().append(true).open(file).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            file.set_modified(modified.min(past)).unwrap();
        }
    };
    for i in 0..9 {
        cache.put(&key(&name(i)), &[i as u8; 10_000]);
        age(1000 - 10 * i as u64);
    }
    assert!((0..9).all(|i| cache.get(&key(&name(i))).is_some()), "below the limit all are there");
    // All but 3 were last used long ago; of those, 0 longest.
    for i in 0..9 {
        age(1000);
        if i == 3 {
            assert!(cache.get(&key(&name(i))).is_some());
        }
    }
    for i in 9..12 {
        cache.put(&key(&name(i)), &[i as u8; 10_000]);
    }
    let kept = |i: usize| cache.get(&key(&name(i))).is_some();
    let left = (0..12).filter(|i| kept(*i)).count();
    assert!((7..=9).contains(&left), "{left} entries of 12 in 100 kB");
    assert!(kept(3) && kept(10) && kept(11), "what was used last is kept");
    assert!(others.iter().all(|other| other.exists()), "nothing else is deleted");

    // What a process left unfinished a day ago goes too.
    let file = std::fs::File::options().append(true).open(&others[2]).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 60 * 60)).unwrap();
    Cache::in_folder(folder.path()).put(&key("another"), b"compiled");
    assert!(!others[2].exists() && others[0].exists());
}

#[test]
fn many_delete_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let folder = folder.path();
            scope.spawn(move || {
                let cache = Cache::in_folder(folder).with_limit(200_000);
                for i in 0..60 {
                    let own = key(&format!("{thread} {i}"));
                    cache.put(&own, &[thread; 10_000]);
                    assert!(cache.get(&own).is_none_or(|found| found == [thread; 10_000]), "whole or not at all");
                }
            });
        }
    });
    Cache::in_folder(folder.path()).with_limit(200_000).put(&key("last"), b"compiled");
    let bytes: u64 = files(folder.path()).iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!((50_000..=200_000).contains(&bytes), "{bytes}");
}
