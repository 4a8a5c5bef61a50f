//! Selections: by flags, by predicates, and of runs of equal elements.

use pyo3::prelude::*;
use pyo3::types::PyString;
use trifold::plan::{Keeps, Rest, SelectRequest, Selector, Slot};

use super::{Any, same_length};
use crate::array::Array;
use crate::device::Device;
use crate::operators::{Chosen, Predicate, of_flags};
use crate::run::{Caller, Form, Results};

/// What says which elements are kept.
pub enum By<'py> {
    /// A name, or text.
    Predicate(Chosen<'py>),
    /// An array of as many elements.
    Flags(Any<'py>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for By<'py> {
    type Error = PyErr;

    fn extract(by: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match by.is_instance_of::<PyString>() || by.is_instance_of::<Predicate>() {
            true => Ok(By::Predicate(by.extract()?)),
            false => Ok(By::Flags(by.to_owned())),
        }
    }
}

/// The elements whose flags are not 0 or False, or for which a predicate holds, in their order. Predicates with names are
/// `nonzero` and `upper_half`, which keeps floats from 0.5 on.
///
/// ```pycon
/// >>> x = numpy.array([5, 6, 7], dtype="u4")
/// >>> select(x, x != 6)
/// array([5, 7], dtype=uint32)
/// >>> select(numpy.array([0.0, 2.5], dtype="f4"), "nonzero")
/// array([2.5], dtype=float32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, by, *, out=None, device=None, stream=None))]
pub fn select<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    by: By<'py>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    selected(x, &by, Rest::Dropped, Caller::new(py, device, stream, out)?)?.take(Slot::Output)
}

/// The elements whose flags are not 0 or False, or for which a predicate holds, and the others, both in their order.
///
/// ```pycon
/// >>> x = numpy.array([5, 6, 7], dtype="u4")
/// >>> partition(x, x != 6)
/// (array([5, 7], dtype=uint32), array([6], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, by, *, out=None, device=None, stream=None))]
pub fn partition<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    by: By<'py>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    selected(x, &by, Rest::Apart, Caller::new(py, device, stream, out)?)?.with(py, Slot::Rest)
}

fn selected<'py>(x: &Any<'py>, by: &By<'py>, rest: Rest, caller: Caller<'py>) -> PyResult<Results<'py>> {
    let x = caller.array(x, "x")?;
    x.check_flat("x")?;
    let n = x.len() as u64;
    match by {
        By::Predicate(predicate) => {
            let request = SelectRequest { selector: predicate.of(x.scalar)?, n, rest, keeps: Keeps::Items };
            caller.by_text(predicate.is_text()).run(request, &[(Slot::Input, &x)], Form::default())
        }
        By::Flags(flags) => {
            let flags = caller.array(flags, "flags")?;
            same_length(&x, &flags, "x and flags")?;
            let keeps = Keeps::Values(x.scalar.into());
            let request = SelectRequest { selector: of_flags(flags.scalar)?, n, rest, keeps };
            caller.run(request, &[(Slot::Input, &flags), (Slot::InputValues, &x)], Form::default())
        }
    }
}

/// Where the numbers are that are not 0, the flags that are not False, or the elements for which a predicate holds.
///
/// ```pycon
/// >>> flatnonzero(numpy.array([True, False, True]))
/// array([0, 2], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, by=None, *, out=None, device=None, stream=None))]
pub fn flatnonzero<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    by: Option<Chosen<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?.by_text(by.as_ref().is_some_and(Chosen::is_text));
    let x = caller.array(x, "x")?;
    x.check_flat("x")?;
    let selector = by.unwrap_or_else(Chosen::nonzero).of(x.scalar)?;
    let request = SelectRequest { selector, n: x.len() as u64, rest: Rest::Dropped, keeps: Keeps::Indices };
    let form = Form::default().with_places(&[Slot::Output]);
    caller.run(request, &[(Slot::Input, &x)], form)?.take(Slot::Output)
}

/// The first of each run of equal elements: of sorted ones each element once.
///
/// ```pycon
/// >>> unique(numpy.array([1, 1, 2, 1], dtype="u4"))
/// array([1, 2, 1], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, *, out=None, device=None, stream=None))]
pub fn unique<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let x = caller.array(x, "x")?;
    caller.run(first_of_runs(&x, Keeps::Items)?, &[(Slot::Input, &x)], Form::default())?.take(Slot::Output)
}

/// The first key of each run of equal ones, and the value beside it.
///
/// ```pycon
/// >>> unique_by_key(numpy.array([1, 1, 2], dtype="u4"), numpy.array([10, 20, 30], dtype="u4"))
/// (array([1, 2], dtype=uint32), array([10, 30], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values, *, out=None, device=None, stream=None))]
pub fn unique_by_key<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: &Any<'py>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let (keys, values) = (caller.array(keys, "keys")?, caller.array(values, "values")?);
    same_length(&keys, &values, "keys and values")?;
    let request = first_of_runs(&keys, Keeps::Pairs(values.scalar.into()))?;
    let given = [(Slot::Input, &keys), (Slot::InputValues, &values)];
    caller.run(request, &given, Form::default())?.with(py, Slot::OutputValues)
}

fn first_of_runs(keys: &Array<'_>, keeps: Keeps) -> PyResult<SelectRequest> {
    keys.check_flat("keys")?;
    let selector = Selector::first_of_run_of(keys.scalar);
    Ok(SelectRequest { selector, n: keys.len() as u64, rest: Rest::Dropped, keeps })
}
