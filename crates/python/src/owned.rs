//! Arrays of the module's own, in the memory of any device.

use std::sync::Arc;

use dlpark::ffi::{DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::python::{CudaStreamRequest, DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trifold::types::Scalar;
use trifold::{Buffer, Transfer};

use crate::array::{Array, Place};
use crate::device::{Device, exception};
use crate::dtype;
use crate::library::{Library, room};
use crate::stream::{self, Handle};

/// An array in a device's memory: what `Device.asarray` gives, and calls on such arrays.
///
/// `numpy.asarray` reads it. If it is in CUDA's memory, torch, cupy, jax and numba take it without a copy, by DLPack or
/// `__cuda_array_interface__`.
///
/// ```pycon
/// >>> on_device = Device("cpu").asarray(numpy.array([3, 1, 2], dtype="u4"))
/// >>> on_device.shape, on_device.dtype
/// ((3,), dtype('uint32'))
///
/// ```
#[pyclass(frozen, name = "Array", module = "trifold_gpu")]
pub struct Owned {
    device: Device,
    /// Counted, so that other libraries can keep it too.
    memory: Arc<Buffer<u8>>,
    scalar: Scalar,
    shape: Vec<usize>,
}

#[pymethods]
impl Owned {
    /// How many elements it has along each of its dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The type of its elements, as NumPy's.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("dtype", (dtype::typestr(self.scalar)?,))
    }

    /// The device whose memory it is in.
    #[getter]
    fn device(&self) -> Device {
        self.device.clone()
    }

    fn __len__(&self) -> PyResult<usize> {
        self.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array without dimensions has no length"))
    }

    fn __repr__(&self) -> String {
        let shape: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        let of = if shape.is_empty() { "one".into() } else { shape.join("x") };
        format!("<trifold_gpu.Array of {of} {} on {}>", dtype::long_name(self.scalar), self.device.backend())
    }

    /// Waits for it, and copies it into an array of NumPy's.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("it is in a device's memory, which NumPy has only as a copy"));
        }
        self.device.check_waits()?;
        let array = Library::NumPy(py).empty(&self.device, self.scalar, self.shape.clone())?;
        let Place::Host(bytes) = array.place else {
            return Err(PyBufferError::new_err("NumPy's arrays have no memory"));
        };
        let read = py.detach(|| -> trifold::Result<()> {
            // SAFETY: the array is new, and kept here.
            unsafe { bytes.get_mut() }.copy_from_slice(&self.memory.read()?);
            Ok(())
        });
        read.map_err(exception)?;
        match dtype {
            Some(dtype) => array.any.call_method1("astype", (dtype,)),
            None => Ok(array.any),
        }
    }

    fn __dlpack_device__(&self) -> PyResult<(u32, i32)> {
        Ok(self.cuda_device()?.into())
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        self.device.check_process()?;
        self.cuda_device()?;
        export_dlpack(self, py, ExportRequest::parse(stream, max_version, dl_device, copy)?)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.cuda_device().map_err(|error| PyAttributeError::new_err(error.to_string()))?;
        self.device.check_process()?;
        let said = PyDict::new(py);
        said.set_item("version", 3)?;
        said.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        said.set_item("typestr", dtype::typestr(self.scalar)?)?;
        said.set_item("data", (self.address(), false))?;
        said.set_item("strides", py.None())?;
        // There 0 says nothing, and 1 is the legacy default stream.
        said.set_item("stream", (self.device.cuda()?.stream().cu_stream() as usize).max(1))?;
        Ok(said)
    }
}

impl Owned {
    /// A new array, whose elements are anything.
    pub fn empty<'py>(py: Python<'py>, device: &Device, scalar: Scalar, shape: Vec<usize>) -> PyResult<Array<'py>> {
        let memory = Arc::new(room(device, scalar, &shape)?);
        let own = Bound::new(py, Owned { device: device.clone(), memory, scalar, shape })?;
        own.get().as_array(own.as_any())
    }

    /// A copy of an array that is in the program's memory.
    pub fn copied<'py>(of: &Bound<'py, PyAny>, device: &Device) -> PyResult<Bound<'py, Owned>> {
        let array = Array::of(of, "x", None)?;
        let Some(bytes) = array.place.host() else {
            return Err(PyTypeError::new_err("x: it is in a device's memory; pass it to the functions as it is"));
        };
        // SAFETY: `array` keeps the memory, also what NumPy made of a list. The method's documentation is that of a call: nobody writes to it
        // meanwhile.
        let uploaded = of.py().detach(|| device.device.upload(unsafe { bytes.get() }));
        let memory = Arc::new(uploaded.map_err(exception)?);
        Bound::new(of.py(), Owned { device: device.clone(), memory, scalar: array.scalar, shape: array.shape })
    }

    /// What the array that Python has as `any` is to a call.
    pub fn as_array<'py>(&self, any: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let place = Place::Device(self.device.clone(), (*self.memory).clone());
        Ok(Array::new(any.clone(), self.scalar, self.shape.clone(), place, Library::Own(any.py())))
    }

    /// Its first elements, in the same memory.
    pub fn cut<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, Owned>> {
        let memory = self.memory.slice(..count * self.scalar.bytes() as usize).map_err(exception)?;
        let (device, scalar) = (self.device.clone(), self.scalar);
        Bound::new(py, Owned { device, memory: Arc::new(memory), scalar, shape: vec![count] })
    }

    /// CUDA's addresses are a span's offsets.
    fn address(&self) -> u64 {
        self.memory.span().offset()
    }

    fn cuda_device(&self) -> PyResult<DLDevice> {
        let cuda = self.device.cuda().map_err(|_| {
            PyBufferError::new_err(format!(
                "it is in the memory of {}, which other libraries cannot read; numpy.asarray copies it",
                self.device.backend()
            ))
        })?;
        Ok(DLDevice::cuda(cuda.stream().context().ordinal() as i32))
    }

    fn tensor<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let device = self.cuda_device()?;
        let prepared = Dynamic::compact(self.shape.as_slice()).prepare_as::<M>();
        let prepared = prepared.map_err(|error| PyBufferError::new_err(error.to_string()))?;
        let mut tensor = prepared.initialize(self.memory.clone());
        tensor.set_device(device).set_dtype(dtype::dlpack(self.scalar)).set_data(self.address() as *mut _);
        // SAFETY: the buffer, which the tensor keeps, has as many bytes at that address as shape and type say.
        Ok(unsafe { tensor.finish() })
    }
}

impl DlpackExporter for Owned {
    fn device(&self) -> DLDevice {
        self.cuda_device().unwrap_or_default()
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    /// The consumer's stream waits for this one.
    fn prepare_export(&self, _: Python<'_>, request: &ExportRequest<'_>) -> PyResult<()> {
        let waiting = match request.cuda_stream()? {
            CudaStreamRequest::NoSync => return Ok(()),
            CudaStreamRequest::Omitted | CudaStreamRequest::LegacyDefault => Handle(0),
            CudaStreamRequest::PerThreadDefault => Handle(2),
            CudaStreamRequest::Pointer(pointer) => Handle(pointer),
        };
        let own = self.device.cuda()?.stream();
        stream::join(&stream::wrapped(own, waiting), own)
    }

    fn export_legacy(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.tensor()
    }

    fn export_versioned(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.tensor()
    }
}
