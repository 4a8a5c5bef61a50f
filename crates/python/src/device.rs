//! Devices, and calls on them.

use std::process;
use std::sync::Mutex;

use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use trifold::backend::Spans;
use trifold::plan::{Operand, Request, Slot};
use trifold::types::{ElementType, Scalar};
use trifold::{Backend, Buffer, Error, Placed, Transfer};

use crate::array::Array;

/// A device, opened. Without a name it is the best one; a name is any part of its line in `devices()`.
#[pyclass(frozen, from_py_object, module = "trifold_gpu")]
#[derive(Clone)]
pub struct Device {
    device: trifold::Device,
    /// The process that opened it: drivers do not follow into one that is forked.
    process: u32,
}

/// The device of calls that name none.
static BEST: Mutex<Option<Device>> = Mutex::new(None);

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name=None))]
    fn new(py: Python<'_>, name: Option<String>) -> PyResult<Device> {
        let device = py.detach(|| opened(name.as_deref())).map_err(exception)?;
        Ok(Device { device, process: process::id() })
    }

    /// What the device is called.
    #[getter]
    fn name(&self) -> String {
        self.device.caps().device.clone()
    }

    /// Which of Trifold's backends it is: cpu, wgpu, opencl or cuda.
    #[getter]
    fn backend(&self) -> &'static str {
        self.device.caps().backend
    }

    fn __repr__(&self) -> String {
        format!("<trifold_gpu.Device {} on {}>", self.backend(), self.name())
    }
}

/// Every device of the machine, a line each.
#[pyfunction]
pub fn devices(py: Python<'_>) -> Vec<String> {
    py.detach(|| trifold::devices().iter().map(ToString::to_string).collect())
}

fn opened(name: Option<&str>) -> trifold::Result<trifold::Device> {
    let Some(name) = name else { return trifold::open() };
    let found = trifold::devices();
    let is_named = |line: &str| line.to_lowercase().contains(&name.to_lowercase());
    match found.iter().find(|device| is_named(&device.to_string())) {
        Some(device) => device.open(),
        None => {
            let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
            Err(Error::Unsupported(format!("no device has `{name}` in its line; there are {}", lines.join(", "))))
        }
    }
}

/// Trifold's error as Python's.
fn exception(error: Error) -> PyErr {
    let why = error.to_string();
    match error {
        Error::Invalid(_) | Error::Operator { .. } | Error::Compile { .. } => PyValueError::new_err(why),
        Error::Unsupported(_) => PyNotImplementedError::new_err(why),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(why),
        _ => PyRuntimeError::new_err(why),
    }
}

/// The device of a call: the one that it names, or the best.
pub fn device_of(py: Python<'_>, named: Option<Device>) -> PyResult<Device> {
    let device = match named {
        Some(device) => device,
        None => {
            let mut best = BEST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match &*best {
                Some(device) => device.clone(),
                None => best.insert(Device::new(py, None)?).clone(),
            }
        }
    };
    if device.process != process::id() {
        return Err(PyRuntimeError::new_err(
            "the device was opened before this process was forked; open another one here: device=trifold_gpu.Device()",
        ));
    }
    Ok(device)
}

/// What a call gives: arrays by their slots.
pub struct Results<'py>(Vec<(Slot, Array<'py>)>);

impl<'py> Results<'py> {
    pub fn take(&mut self, slot: Slot) -> PyResult<Bound<'py, PyAny>> {
        let at = self.0.iter().position(|(own, _)| *own == slot);
        let at = at.ok_or_else(|| PyRuntimeError::new_err(format!("the call gives no {slot:?}")))?;
        Ok(self.0.swap_remove(at).1.any)
    }

    /// The output and its values.
    pub fn pair(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok((self.take(Slot::Output)?, self.take(Slot::OutputValues)?).into_pyobject(py)?.into_any())
    }
}

impl Device {
    /// Runs a request on these arrays, and gives what it writes. `shape` is that of outputs of as many elements; others have one dimension.
    /// Outputs whose number is counted are cut to it.
    pub fn run<'py>(
        &self,
        py: Python<'py>,
        request: Request,
        given: &[(Slot, &Array<'py>)],
        shape: &[usize],
        out: Option<Array<'py>>,
    ) -> PyResult<Results<'py>> {
        let mut out = out;
        let mut results = vec![];
        for operand in request.operands().iter().filter(|operand| !is_input(operand.slot)) {
            let n = operand.len as usize;
            let is_its = !shape.is_empty() && shape.iter().product::<usize>() == n;
            let shape = if is_its { shape.to_vec() } else { vec![n] };
            let scalar = scalar_of(operand)?;
            let array = match out.take_if(|_| operand.slot == Slot::Output) {
                Some(array) if array.scalar == scalar && array.shape == shape => array,
                Some(array) => {
                    return Err(PyValueError::new_err(format!(
                        "out: {} elements of {} are wanted in the shape {shape:?}, and it has {} in the shape {:?}",
                        n,
                        scalar.name(),
                        array.scalar.name(),
                        array.shape
                    )));
                }
                None => Array::empty(py, scalar, shape)?,
            };
            results.push((operand.slot, array));
        }
        let inputs: Vec<_> = given.iter().map(|(slot, array)| (*slot, array.bytes())).collect();
        let outputs = results.iter().map(|(slot, array)| Ok((*slot, array.bytes_mut("out")?)));
        let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
        let device = &self.device;
        let ran = py.detach(|| -> trifold::Result<Option<usize>> {
            let mut memory: Vec<(Slot, Buffer<u8>)> = vec![];
            for (slot, bytes) in inputs {
                // SAFETY: `given` keeps the array. The call's documentation forbids writes meanwhile.
                memory.push((slot, device.upload(unsafe { bytes.get() })?));
            }
            for (slot, bytes) in &outputs {
                memory.push((*slot, device.alloc(bytes.len)?));
            }
            let spans = Spans::of(&request, |operand| match memory.iter().find(|(slot, _)| *slot == operand.slot) {
                Some((_, buffer)) => Ok(buffer.span().clone()),
                None => Err(Error::Invalid(format!("{:?} is missing", operand.slot))),
            })?;
            Placed::of_request(device.clone(), request, spans).run()?;
            let of = |wanted: Slot| memory.iter().find(|(slot, _)| *slot == wanted).map(|(_, buffer)| buffer);
            let count = match of(Slot::Count) {
                Some(count) => Some(count.cast::<u32>()?.read()?[0] as usize),
                None => None,
            };
            for (slot, bytes) in &outputs {
                let Some(buffer) = of(*slot) else { continue };
                // SAFETY: `results` keeps the array, which is new or the caller's to be written.
                let to = unsafe { bytes.get_mut() };
                to.copy_from_slice(&buffer.read()?);
            }
            Ok(count)
        });
        let count = ran.map_err(exception)?;
        if let Some(count) = count {
            for (slot, array) in &mut results {
                if matches!(slot, Slot::Output | Slot::OutputValues) {
                    let slice = pyo3::types::PySlice::new(py, 0, count as isize, 1);
                    array.any = array.any.get_item(slice)?;
                }
            }
        }
        Ok(Results(results))
    }
}

fn is_input(slot: Slot) -> bool {
    matches!(slot, Slot::Input | Slot::InputValues | Slot::Offsets | Slot::Length | Slot::Leaf(_))
}

fn scalar_of(operand: &Operand) -> PyResult<Scalar> {
    match &operand.element {
        ElementType::Scalar(scalar) => Ok(*scalar),
        other => Err(PyValueError::new_err(format!("NumPy has no {}", other.name()))),
    }
}
