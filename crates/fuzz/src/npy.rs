//! `.npy` files: what is read has the size that it says, is what npyz reads, and is read again from what is written of it.

use crate::files::{Asked, Numbers, Pending};
use crate::folder;

/// Reads the bytes as a `.npy` file.
pub fn npy(bytes: &[u8]) {
    let (given, written) = (folder().join("given.npy"), folder().join("written.npy"));
    std::fs::write(&given, bytes).expect("a file to read");
    let open = |path| Numbers::open(path, Asked { stored: None, option: "--type", raw: false });
    let Ok(numbers) = open(&given) else { return };
    assert_eq!(numbers.bytes().len() as u64, numbers.shape.n() * numbers.stored.bytes() as u64);
    let other = npyz::NpyFile::new(bytes).expect("npyz reads it too");
    assert_eq!(other.shape(), numbers.shape.sizes);
    Pending::numbers(&written, true, numbers.stored, &numbers.shape, numbers.bytes())
        .and_then(Pending::finish)
        .expect("it can be written");
    let again = open(&written).expect("what was written can be read");
    assert_eq!((again.stored, &again.shape), (numbers.stored, &numbers.shape));
    assert!(again.bytes() == numbers.bytes(), "other bytes are read than were written");
}
