//! CUDA's streams, by what other libraries say of them.

use dlpark::ffi::DLDevice;
use dlpark::python::{DlpackStream, StreamArg, consumer};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use trifold::cuda::cudarc::driver::CudaStream;
use trifold::cuda::{Cuda, CurrentContext};

/// A stream's handle, as a number. The legacy default stream is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub usize);

impl Handle {
    /// What a caller passed as `stream`: a number, or an object of CUDA's stream protocol, torch's or cupy's.
    pub fn of(any: &Bound<'_, PyAny>) -> PyResult<Handle> {
        let py = any.py();
        if let Ok(number) = any.extract::<usize>() {
            return Ok(Handle::of_number(number));
        }
        if let Some(said) = any.getattr_opt(intern!(py, "__cuda_stream__"))? {
            let said = if said.is_callable() { said.call0()? } else { said };
            let (_version, number): (i32, usize) = said.extract()?;
            return Ok(Handle::of_number(number));
        }
        for name in [intern!(py, "cuda_stream"), intern!(py, "ptr")] {
            if let Some(number) = any.getattr_opt(name)? {
                return Ok(Handle::of_number(number.extract()?));
            }
        }
        Err(PyTypeError::new_err(format!(
            "stream: {}; pass a stream of torch or cupy, or its handle as a number",
            any.get_type().name()?
        )))
    }

    /// The arrays' protocols call the legacy default stream 1, as 0 says nothing there.
    pub fn of_number(number: usize) -> Handle {
        Handle(if number == 1 { 0 } else { number })
    }
}

/// A stream, and the object that has it: some libraries end a stream with its last object.
#[derive(Clone)]
pub struct Stream<'py> {
    pub handle: Handle,
    pub object: Option<Bound<'py, PyAny>>,
}

impl<'py> Stream<'py> {
    /// As of [`Handle::of`].
    pub fn of(any: &Bound<'py, PyAny>) -> PyResult<Stream<'py>> {
        Ok(Stream { handle: Handle::of(any)?, object: Some(any.clone()) })
    }

    /// One that stays as long as its library.
    pub fn lasting(handle: Handle) -> Stream<'py> {
        Stream { handle, object: None }
    }
}

/// A device's stream, on which another library is to have its array ready.
pub struct On<'a>(pub &'a Cuda);

impl On<'_> {
    /// Has this stream wait for what is enqueued in another.
    pub fn wait_for(&self, other: Handle) -> PyResult<()> {
        let stream = self.0.stream();
        if other.0 == stream.cu_stream() as usize {
            return Ok(());
        }
        join(stream, &wrapped(stream, other))
    }
}

// SAFETY: the backend keeps the stream, which is of the device that the array is on: `Device::on_stream` opened it there.
unsafe impl DlpackStream for On<'_> {
    fn as_python_arg(&self, _: Python<'_>, _: DLDevice) -> PyResult<StreamArg> {
        Ok(consumer::stream::cuda(self.0.stream().cu_stream().cast()))
    }

    unsafe fn wait_for_producer(&self, _: DLDevice, producer: *mut std::ffi::c_void) -> PyResult<bool> {
        self.wait_for(Handle(producer as usize)).map(|()| true)
    }
}

/// Another library's stream of the same device.
pub fn wrapped(own: &CudaStream, other: Handle) -> std::sync::Arc<CudaStream> {
    // SAFETY: whoever says that the stream is there keeps it during the call, as the protocols ask.
    unsafe { own.context().wrap_borrowed_stream(other.0 as _) }
}

/// Has a stream wait for what is enqueued in another.
pub fn join(waiting: &CudaStream, other: &CudaStream) -> PyResult<()> {
    let _context = CurrentContext::kept();
    waiting.join(other).map_err(|error| PyRuntimeError::new_err(format!("ordering two streams: {error}")))
}
