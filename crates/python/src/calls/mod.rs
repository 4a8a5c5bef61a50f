//! The functions: each is a request, and which argument and result is which slot.

#![allow(clippy::too_many_arguments, reason = "they are Python's, and passed by name")]

pub mod by_key;
pub mod histograms;
pub mod scans;
pub mod selections;
pub mod sorts;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use trifold::plan::{ScanKind, Segments};
use trifold::types::Scalar;

use crate::array::Array;
use crate::operators::element;
use crate::run::Caller;

type Any<'py> = Bound<'py, PyAny>;

/// What a scan or a reduction starts from, as bytes of an element.
fn initial(value: Option<&Any<'_>>, scalar: Scalar) -> PyResult<Option<Vec<u8>>> {
    value.map(|value| element(value, scalar)).transpose()
}

/// The segments of an array, which has one dimension, that offsets say. Signed ones are taken as unsigned, as none is negative.
fn segments<'py>(
    caller: &Caller<'py>,
    (of, name): (&Array<'py>, &str),
    offsets: &Any<'py>,
) -> PyResult<(Array<'py>, Segments)> {
    of.check_flat(name)?;
    let offsets = caller.array(offsets, "offsets")?;
    offsets.check_flat("offsets")?;
    let scalar = offsets.scalar.unsigned();
    match offsets.len().checked_sub(1) {
        Some(count) => Ok((offsets.taken_as(scalar), Segments::Offsets { of: scalar.into(), count: count as u64 })),
        None => Err(PyValueError::new_err("offsets: there are none; pass one more than there are segments")),
    }
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
