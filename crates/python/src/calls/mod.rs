//! The functions: each is a request, and which argument and result is which slot.

#![allow(clippy::too_many_arguments, reason = "they are Python's, and passed by name")]

pub mod by_key;
pub mod histograms;
pub mod scans;
pub mod selections;
pub mod sorts;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use trifold::plan::{ScanKind, Segments};
use trifold::types::{Scalar, ScalarKind};

use crate::array::Array;
use crate::dtype::long_name;
use crate::operators::element;
use crate::run::Caller;

type Any<'py> = Bound<'py, PyAny>;

/// What a scan or a reduction starts from, as bytes of an element.
fn initial(value: Option<&Any<'_>>, scalar: Scalar) -> PyResult<Option<Vec<u8>>> {
    value.map(|value| element(value, scalar)).transpose()
}

/// The segments of an array, which has one dimension, that offsets say. Those in the program's memory must not fall. Those on a device
/// nobody reads here: signed ones are taken as unsigned, and so a negative one is past the end.
fn segments<'py>(
    caller: &Caller<'py>,
    (of, name): (&Array<'py>, &str),
    offsets: &Any<'py>,
) -> PyResult<(Array<'py>, Segments)> {
    of.check_flat(name)?;
    let offsets = caller.array(offsets, "offsets")?;
    offsets.check_flat("offsets")?;
    if !matches!(offsets.scalar, Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64) {
        return Err(PyTypeError::new_err(format!(
            "offsets: {}; pass uint32, int32, uint64 or int64, as by offsets.astype('u4')",
            long_name(offsets.scalar)
        )));
    }
    check_rise(&offsets)?;
    let scalar = offsets.scalar.unsigned();
    match offsets.len().checked_sub(1) {
        Some(count) => Ok((offsets.taken_as(scalar), Segments::Offsets { of: scalar.into(), count: count as u64 })),
        None => Err(PyValueError::new_err("offsets: there are none; pass one more than there are segments")),
    }
}

/// Fails for offsets in the program's memory that fall, of which the first may be negative.
fn check_rise(offsets: &Array<'_>) -> PyResult<()> {
    let Some(bytes) = offsets.place.host() else { return Ok(()) };
    // SAFETY: the array is kept, and the module's documentation forbids writes meanwhile.
    let words = unsafe { bytes.get() }.chunks_exact(offsets.scalar.bytes() as usize);
    let is_signed = offsets.scalar.kind() == ScalarKind::Signed;
    let numbers = words.map(|word| {
        let mut wide = [if is_signed && word[word.len() - 1] > 127 { 255 } else { 0 }; 16];
        wide[..word.len()].copy_from_slice(word);
        i128::from_le_bytes(wide)
    });
    let mut before = 0;
    for (i, offset) in numbers.enumerate() {
        if offset < before {
            return Err(PyValueError::new_err(format!(
                "offsets: offsets[{i}] is {offset}, less than {before} before it; pass offsets from 0 on that do not fall"
            )));
        }
        before = offset;
    }
    Ok(())
}

/// A number of elements. One that is negative would be an OverflowError of Python's.
fn whole(value: &Any<'_>) -> PyResult<u64> {
    value.extract::<u64>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err(format!("k, bins or nth: {value}; pass a number from 0 to 2^64 - 1")),
        false => error,
    })
}

fn same_length(a: &Array<'_>, b: &Array<'_>, what: &str) -> PyResult<()> {
    match a.shape == b.shape {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "{what} have the shapes {:?} and {:?}; bring as many of each",
            a.shape, b.shape
        ))),
    }
}

fn kind(exclusive: bool) -> ScanKind {
    if exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive }
}
