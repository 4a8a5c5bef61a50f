//! The primitives as programs offer them, over slots: so that tests and benches have every row of Trifold's table.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trifold::plan::{Builtin, Form as PrimitiveForm, Request, Slot};

use crate::device::{Device, exception};
use crate::dtype;
use crate::run::{Caller, Form, is_input, scalar_of};

type Any<'py> = Bound<'py, PyAny>;

fn request(form: &str, dtype: &Any<'_>, n: u64) -> PyResult<Request> {
    let form =
        PrimitiveForm::named(form).ok_or_else(|| PyValueError::new_err(format!("no form is called `{form}`")))?;
    let numpy = dtype.py().import("numpy")?.call_method1("dtype", (dtype,))?;
    let scalar = dtype::of_typestr(&numpy.getattr("str")?.extract::<String>()?, "dtype")?;
    form.request(scalar, Builtin::Sum, n).map_err(exception)
}

/// A slot's name, the type of its elements, and how many there are.
type Input = (&'static str, &'static str, u64);

/// What each form reads of `n` elements of a type. Forms that are not for the type are left out.
#[pyfunction]
pub fn _forms(dtype: &Any<'_>, n: u64) -> PyResult<Vec<(&'static str, Vec<Input>)>> {
    let mut forms = vec![];
    for form in PrimitiveForm::all() {
        let Ok(request) = request(form.name, dtype, n) else { continue };
        let operands = request.operands();
        let inputs = operands.iter().filter(|operand| is_input(operand.slot));
        let inputs = inputs.map(|of| Ok((of.slot.noun(), dtype::typestr(scalar_of(of)?)?, of.len)));
        forms.push((form.name, inputs.collect::<PyResult<_>>()?));
    }
    Ok(forms)
}

/// Runs a form on what its slots' names say, and gives what it writes by slots' names.
#[pyfunction]
#[pyo3(signature = (form, dtype, n, arrays, *, device=None))]
pub fn _run<'py>(
    py: Python<'py>,
    form: &str,
    dtype: &Any<'py>,
    n: u64,
    arrays: &Bound<'py, PyDict>,
    device: Option<Device>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request(form, dtype, n)?;
    let caller = Caller::new(py, device, None, None)?;
    let mut given = vec![];
    let mut written: Vec<Slot> = vec![];
    for operand in request.operands() {
        let noun = operand.slot.noun();
        if !is_input(operand.slot) {
            written.push(operand.slot);
            continue;
        }
        let array = arrays.get_item(noun)?.ok_or_else(|| PyValueError::new_err(format!("{form}: no {noun}")))?;
        given.push((operand.slot, caller.array(&array, noun)?));
    }
    let given: Vec<_> = given.iter().map(|(slot, array)| (*slot, array)).collect();
    let results = caller.run(request, &given, Form::default())?;
    let all = PyDict::new(py);
    for slot in written.into_iter().filter(|slot| *slot != Slot::Count) {
        all.set_item(slot.noun(), results.take(slot)?)?;
    }
    Ok(all)
}
