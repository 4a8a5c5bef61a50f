//! Which library an array is of: results are of the same.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyString, PyTuple};
use trifold::Transfer;
use trifold::plan::Slot;
use trifold::types::Scalar;

use crate::array::{Array, imported_memory};
use crate::device::{Device, exception};
use crate::dtype;
use crate::owned::Owned;
use crate::stream::Stream;

/// A library of arrays, and what it takes to make one like the array that this is of.
#[derive(Clone)]
pub enum Library<'py> {
    NumPy(Python<'py>),
    /// The module's own arrays.
    Own(Python<'py>),
    /// Torch, and the tensor.
    Torch(Bound<'py, PyModule>, Bound<'py, PyAny>),
    CuPy(Bound<'py, PyModule>),
    /// One that takes arrays by DLPack. Its `from_dlpack` is in this namespace.
    Other(Bound<'py, PyAny>),
}

impl<'py> Library<'py> {
    /// The library of an array that is on a device.
    pub fn of(array: &Bound<'py, PyAny>) -> PyResult<Library<'py>> {
        static TORCH: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        static CUPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let py = array.py();
        let import = |module: &PyOnceLock<Py<PyModule>>, name| -> PyResult<_> {
            Ok(module.get_or_try_init(py, || Ok::<_, PyErr>(py.import(name)?.unbind()))?.bind(py).clone())
        };
        // A class of a program's own may follow from one of a library's.
        for class in array.get_type().mro() {
            let module = class.getattr(intern!(py, "__module__"))?;
            let module = module.cast::<PyString>()?.to_cow()?;
            match module.split('.').next() {
                Some("torch") => return Ok(Library::Torch(import(&TORCH, "torch")?, array.clone())),
                Some("cupy") => return Ok(Library::CuPy(import(&CUPY, "cupy")?)),
                _ => {}
            }
        }
        Ok(match array.getattr_opt(intern!(py, "__array_namespace__"))? {
            Some(namespace) => Library::Other(namespace.call0()?),
            None => Library::Own(py),
        })
    }

    /// The stream that the library works on, if it has one that is current.
    pub fn current_stream(&self, ordinal: usize) -> PyResult<Option<Stream<'py>>> {
        let current = match self {
            Library::Torch(torch, _) => torch.getattr("cuda")?.call_method1("current_stream", (ordinal,))?,
            Library::CuPy(cupy) => cupy.getattr("cuda")?.call_method1("get_current_stream", (ordinal,))?,
            _ => return Ok(None),
        };
        Ok(Some(Stream::of(&current)?))
    }

    /// Fails for a tensor whose gradient is wanted: calls give none.
    pub fn check_gradient(&self, array: &Bound<'py, PyAny>, name: &str) -> PyResult<()> {
        let Library::Torch(torch, _) = self else { return Ok(()) };
        if array.getattr(intern!(torch.py(), "requires_grad"))?.is_truthy()? {
            return Err(PyValueError::new_err(format!(
                "{name}: it requires a gradient, and calls give none; pass {name}.detach()"
            )));
        }
        Ok(())
    }

    /// What places and counts are: torch indexes by no unsigned numbers.
    pub fn places(&self) -> Scalar {
        if matches!(self, Library::Torch(..)) { Scalar::I32 } else { Scalar::U32 }
    }

    /// Fails where a call of so many elements may give places or counts that are past what the library has them as.
    pub fn check_places(&self, places: &[Slot], n: u64) -> PyResult<()> {
        if places.is_empty() || self.places() == Scalar::U32 || n <= i32::MAX as u64 {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{n} elements, and torch has places and counts as int32; pass at most {} at once",
            i32::MAX
        )))
    }

    /// A new array, whose elements are anything.
    pub fn empty(&self, device: &Device, scalar: Scalar, shape: Vec<usize>) -> PyResult<Array<'py>> {
        let any = match self {
            Library::NumPy(py) => {
                let dimensions = PyTuple::new(*py, &shape)?;
                let any = py.import("numpy")?.call_method1("empty", (dimensions, dtype::typestr(scalar)?))?;
                return Array::of_numpy(&any, "a new array");
            }
            Library::Own(py) => return Owned::empty(*py, device, scalar, shape),
            Library::Other(namespace) => return Owned::empty(namespace.py(), device, scalar, shape),
            Library::Torch(torch, like) => {
                let py = torch.py();
                let (new_empty, shape) = (intern!(py, "new_empty"), (PyTuple::new(py, &shape)?,));
                let own = torch.getattr(dtype::long_name(scalar))?;
                // By name it takes longer.
                match like.getattr(intern!(py, "dtype"))?.is(&own) {
                    true => like.call_method1(new_empty, shape)?,
                    false => {
                        let options = PyDict::new(py);
                        options.set_item(intern!(py, "dtype"), own)?;
                        like.call_method(new_empty, shape, Some(&options))?
                    }
                }
            }
            Library::CuPy(cupy) => {
                let py = cupy.py();
                let wanted = (PyTuple::new(py, &shape)?, dtype::typestr(scalar)?);
                let on =
                    cupy.getattr("cuda")?.call_method1("Device", (device.cuda()?.stream().context().ordinal(),))?;
                on.call_method0("__enter__")?;
                let made = cupy.call_method1("empty", wanted);
                on.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
                made?
            }
        };
        let address: u64 = match self {
            Library::Torch(torch, _) => any.call_method0(intern!(torch.py(), "data_ptr"))?.extract()?,
            _ => any.getattr("data")?.getattr("ptr")?.extract()?,
        };
        let memory = (address, dtype::bytes_of(scalar, &shape));
        let place = imported_memory(device.clone(), memory, any.clone().unbind())?;
        Ok(Array::new(any, scalar, shape, place, self.clone()))
    }

    /// A result as a caller gets it, of its first `count` elements where they were counted.
    pub fn finished(&self, array: &Array<'py>, count: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        let any = match (count, array.any.cast::<Owned>()) {
            (None, _) => array.any.clone(),
            (Some(count), Ok(own)) => own.get().cut(own.py(), count)?.into_any(),
            (Some(count), Err(_)) => array.any.get_item(PySlice::new(array.any.py(), 0, count as isize, 1))?,
        };
        match self {
            Library::NumPy(py) if array.shape.is_empty() => any.get_item(PyTuple::empty(*py)),
            Library::Other(namespace) if any.is_instance_of::<Owned>() => namespace.call_method1("from_dlpack", (any,)),
            _ => Ok(any),
        }
    }

    /// An array's elements as another type, by the library itself.
    pub fn converted(&self, array: &Bound<'py, PyAny>, to: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let Library::Torch(torch, _) = self else { return array.call_method1("astype", (to,)) };
        if to.is_instance(&torch.getattr("dtype")?)? {
            return array.call_method1("to", (to,));
        }
        let name: String = py.import("numpy")?.call_method1("dtype", (to,))?.getattr("name")?.extract()?;
        array.call_method1("to", (torch.getattr(name)?,))
    }
}

/// Device memory for a new array.
pub fn room(device: &Device, scalar: Scalar, shape: &[usize]) -> PyResult<trifold::Buffer<u8>> {
    device.device.alloc(dtype::bytes_of(scalar, shape)).map_err(exception)
}
