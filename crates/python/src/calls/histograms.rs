//! Histograms.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use trifold::plan::{HistogramRequest, Slot};
use trifold::types::Scalar;

use super::{Any, same_length, whole};
use crate::device::Device;
use crate::dtype::long_name;
use crate::run::{Caller, Form};

/// How many elements each bin has, or the sum of their weights. The elements are the bins' numbers, as uint32 or int32; those past
/// the last bin count nowhere. Weights are uint32, int32 or float32.
///
/// ```pycon
/// >>> histogram(numpy.array([2, 0, 2], dtype="u4"), 3)
/// array([1, 0, 2], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, bins, *, weights=None, out=None, device=None, stream=None))]
pub fn histogram<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    #[pyo3(from_py_with = whole)] bins: u64,
    weights: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let x = caller.array(x, "x")?;
    if !matches!(x.scalar, Scalar::U32 | Scalar::I32) {
        return Err(PyTypeError::new_err(format!(
            "x: {}; a bin's number is uint32 or int32: convert it, as by numpy.asarray(x).astype('u4') or x.int() of torch's",
            long_name(x.scalar)
        )));
    }
    // A negative number is past the last bin.
    let x = x.taken_as(Scalar::U32);
    let weights = weights.map(|weights| caller.array(weights, "weights")).transpose()?;
    let mut given = vec![(Slot::Input, &x)];
    if let Some(weights) = &weights {
        same_length(&x, weights, "x and weights")?;
        if !matches!(weights.scalar, Scalar::U32 | Scalar::I32 | Scalar::F32) {
            return Err(PyTypeError::new_err(format!(
                "weights: {}; they are uint32, int32 or float32: convert them, as by numpy.asarray(weights).astype('f4')",
                long_name(weights.scalar)
            )));
        }
        given.push((Slot::InputValues, weights));
    }
    let request = HistogramRequest { bins, n: x.len() as u64, weight: weights.as_ref().map(|weights| weights.scalar) };
    let places: &[Slot] = if weights.is_some() { &[] } else { &[Slot::Output] };
    caller.run(request, &given, Form::default().with_places(places))?.take(Slot::Output)
}
