//! Runs of equal keys.

use pyo3::prelude::*;
use trifold::plan::{Op, ReduceByKeyRequest, Slot};

use super::{Any, same_length};
use crate::array::Array;
use crate::device::Device;
use crate::operators::Named;
use crate::run::{Caller, Form};

/// The keys of the runs of equal ones, and the total of each run's values.
///
/// ```pycon
/// >>> reduce_by_key(numpy.array([1, 1, 2], dtype="u4"), numpy.array([10, 20, 30], dtype="u4"))
/// (array([1, 2], dtype=uint32), array([30, 30], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values, op=Named::sum(), *, dtype=None, out=None, device=None, stream=None))]
#[pyo3(text_signature = "(keys, values, op='sum', *, dtype=None, out=None, device=None, stream=None)")]
pub fn reduce_by_key<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: &Any<'py>,
    op: Named<'py>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?.by(&op);
    let (keys, values) = (caller.array(keys, "keys")?, caller.array_as(values, "values", dtype)?);
    same_length(&keys, &values, "keys and values")?;
    let op = op.over(py, values.scalar)?;
    by_runs(py, &keys, Some((op, &values)), caller)
}

/// The elements of the runs of equal ones, and how long each run is.
///
/// ```pycon
/// >>> run_length_encode(numpy.array([7, 7, 5], dtype="u4"))
/// (array([7, 5], dtype=uint32), array([2, 1], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, *, out=None, device=None, stream=None))]
pub fn run_length_encode<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    by_runs(py, &caller.array(x, "x")?, None, caller)
}

fn by_runs<'py>(
    py: Python<'py>,
    keys: &Array<'py>,
    values: Option<(Op, &Array<'py>)>,
    caller: Caller<'py>,
) -> PyResult<Any<'py>> {
    keys.check_flat("keys")?;
    let (op, values) = values.unzip();
    let places: &[Slot] = if op.is_some() { &[] } else { &[Slot::OutputValues] };
    let mut given = vec![(Slot::Input, keys)];
    given.extend(values.map(|values| (Slot::InputValues, values)));
    let request = ReduceByKeyRequest { key: keys.scalar.into(), op, n: keys.len() as u64 };
    caller.run(request, &given, Form::default().with_places(places))?.with(py, Slot::OutputValues)
}
