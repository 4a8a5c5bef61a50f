//! Devices: those that a program opens, and those on the streams of other libraries.

use std::collections::HashMap;
use std::process;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use trifold::cpu::Cpu;
use trifold::cuda::cudarc::driver::sys::CUpointer_attribute;
use trifold::cuda::cudarc::driver::{CudaContext, CudaEvent, DriverError, sys};
use trifold::cuda::{Cuda, CurrentContext};
use trifold::{Backend, Buffer, Error};

use crate::owned::Owned;
use crate::stream::{Handle, Stream};

/// A device, opened. Without a name it is the best one; a name is any part of its line in `devices()`.
///
/// ```pycon
/// >>> Device("cpu").backend
/// 'cpu'
///
/// ```
#[pyclass(frozen, from_py_object, module = "trifold_gpu")]
#[derive(Clone)]
pub struct Device {
    pub device: trifold::Device,
    opened: Arc<Opened>,
}

struct Opened {
    /// The process that opened it: drivers do not follow into one that is forked.
    process: u32,
    /// Arrays that work may still use, each with the end of that work.
    kept: Mutex<Vec<(CudaEvent, Vec<Kept>)>>,
}

/// An array of Python's, and its memory as it was imported.
pub type Kept = (Py<PyAny>, Buffer<u8>);

/// The process that first asked drivers for devices.
static FIRST: OnceLock<u32> = OnceLock::new();

/// The device of calls that name none.
static BEST: Mutex<Option<Device>> = Mutex::new(None);

/// Devices of CUDA's by their number and stream, each with the object that has the stream. Without a stream it is one of the device's own.
type Streams = HashMap<(usize, Option<Handle>), (Device, Option<Py<PyAny>>)>;
static STREAMS: LazyLock<Mutex<Streams>> = LazyLock::new(Mutex::default);

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name=None))]
    fn new(py: Python<'_>, name: Option<String>) -> PyResult<Device> {
        let opened = match name.as_deref() {
            // It has no driver.
            Some("cpu") => py.detach(Cpu::new).map(trifold::Device::of),
            name => {
                check_first()?;
                py.detach(|| opened(name))
            }
        };
        Ok(Device::of(opened.map_err(exception)?))
    }

    /// What the device is called.
    #[getter]
    fn name(&self) -> String {
        self.device.caps().device.clone()
    }

    /// Which of Trifold's backends it is: cpu, wgpu, opencl or cuda.
    #[getter]
    pub fn backend(&self) -> &'static str {
        self.device.caps().backend
    }

    /// A copy of an array in the device's memory. Calls on it copy nothing, and their results stay there too.
    ///
    /// ```pycon
    /// >>> keys = Device("cpu").asarray(numpy.array([3, 1, 2], dtype="u4"))
    /// >>> sort(keys)
    /// <trifold_gpu.Array of 3 uint32 on cpu>
    /// >>> numpy.asarray(sort(keys))
    /// array([1, 2, 3], dtype=uint32)
    ///
    /// ```
    fn asarray<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Owned>> {
        self.check_waits()?;
        Owned::copied(x, self)
    }

    /// Waits for all that was enqueued by calls on this device. Calls on torch's and cupy's arrays are on those libraries' streams.
    ///
    /// ```pycon
    /// >>> Device("cpu").synchronize()
    ///
    /// ```
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        self.check_waits()?;
        py.detach(|| self.device.synchronize()).map_err(exception)?;
        self.let_go();
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<trifold_gpu.Device {} on {}>", self.backend(), self.name())
    }
}

/// Every device of the machine, a line each.
///
/// ```pycon
/// >>> any(line.startswith("cpu on") for line in devices())
/// True
///
/// ```
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<String>> {
    check_first()?;
    Ok(py.detach(|| trifold::devices().iter().map(ToString::to_string).collect()))
}

/// Fails in a process that was forked from one that had asked drivers for devices: they do not follow, and may never answer.
fn check_first() -> PyResult<()> {
    if *FIRST.get_or_init(process::id) == process::id() {
        return Ok(());
    }
    Err(forked())
}

fn forked() -> PyErr {
    PyRuntimeError::new_err(
        "this process was forked from one that had opened devices, and drivers do not follow; start it by \
         multiprocessing.get_context(\"spawn\"), or call on device=trifold_gpu.Device(\"cpu\")",
    )
}

fn opened(name: Option<&str>) -> trifold::Result<trifold::Device> {
    let Some(name) = name else { return trifold::open() };
    let found = trifold::devices();
    match found.iter().find(|device| device.is_named(name)) {
        Some(device) => device.open(),
        None => {
            let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
            Err(Error::Unsupported(format!("no device has `{name}` in its line; there are {}", lines.join(", "))))
        }
    }
}

/// Trifold's error as Python's.
pub fn exception(error: Error) -> PyErr {
    let why = error.to_string();
    match error {
        Error::Invalid(_) | Error::Operator { .. } | Error::Compile { .. } => PyValueError::new_err(why),
        Error::Unsupported(_) => PyNotImplementedError::new_err(why),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(why),
        _ => PyRuntimeError::new_err(why),
    }
}

impl Device {
    fn of(device: trifold::Device) -> Device {
        Device { device, opened: Arc::new(Opened { process: process::id(), kept: Mutex::default() }) }
    }

    /// The best one, which is opened the first time.
    pub fn best(py: Python<'_>) -> PyResult<Device> {
        let mut best = BEST.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        match &*best {
            Some(device) => Ok(device.clone()),
            None => Ok(best.insert(Device::new(py, None)?).clone()),
        }
    }

    /// One of CUDA's on a library's stream, or on one of its own.
    pub fn on_stream(py: Python<'_>, ordinal: usize, stream: Option<Stream<'_>>) -> PyResult<Device> {
        let (handle, object) = stream.map(|stream| (stream.handle, stream.object)).unzip();
        let mut streams = STREAMS.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if let Some((device, _)) = streams.get(&(ordinal, handle)) {
            device.check_process()?;
            return Ok(device.clone());
        }
        started(py)?;
        let _context = CurrentContext::kept();
        let opened = py.detach(|| match handle {
            None => Cuda::open(ordinal),
            Some(stream) => opened_on(ordinal, stream),
        });
        let device = Device::of(trifold::Device::of(opened.map_err(exception)?));
        streams.insert((ordinal, handle), (device.clone(), object.flatten().map(Bound::unbind)));
        Ok(device)
    }

    /// Whether both are one that was opened once.
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }

    /// Fails in a process that was forked after it was opened.
    pub fn check_process(&self) -> PyResult<()> {
        if self.opened.process == process::id() {
            return Ok(());
        }
        Err(forked())
    }

    /// Fails also where what waits cannot run: on a stream that is being captured.
    pub fn check_waits(&self) -> PyResult<()> {
        self.check_process()?;
        match self.device.is_captured() {
            false => Ok(()),
            true => Err(PyRuntimeError::new_err(
                "the stream is being captured, and the call would wait for it: for a count, or to copy to or from the host's memory; make it \
                 before or behind the capture",
            )),
        }
    }

    /// The backend, if it is CUDA's.
    pub fn cuda(&self) -> PyResult<&Cuda> {
        let none = || PyValueError::new_err(format!("{} is no device of CUDA's", self.device.caps().device));
        self.device.downcast_ref::<Cuda>().ok_or_else(none)
    }

    /// Keeps arrays until all that was enqueued has ended: those whose library frees in the order of another stream.
    pub fn keep(&self, arrays: Vec<Kept>) -> PyResult<()> {
        let stream = self.cuda()?.stream();
        let event = stream.record_event(None).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        self.kept().push((event, arrays));
        Ok(())
    }

    /// Lets go of arrays whose work has ended.
    pub fn let_go(&self) {
        let mut ended = vec![];
        let mut kept = self.kept();
        if kept.is_empty() || self.device.is_captured() {
            return;
        }
        kept.retain_mut(|(event, arrays)| {
            let is_over = event.is_complete();
            if is_over {
                ended.append(arrays);
            }
            !is_over
        });
        // Not under the lock: what they free may call back.
        drop(kept);
        drop(ended);
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<(CudaEvent, Vec<Kept>)>> {
        self.opened.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device of CUDA's on a library's stream.
fn opened_on(ordinal: usize, stream: Handle) -> trifold::Result<Cuda> {
    let invalid = |error: DriverError| Error::Invalid(format!("stream {:#x}: {error}", stream.0));
    let context = CudaContext::new(ordinal).map_err(invalid)?;
    let mut owner = std::ptr::null_mut();
    // SAFETY: the library has the stream. The pointer is to a context that lives through the call.
    unsafe { sys::cuStreamGetCtx(stream.0 as _, &raw mut owner) }.result().map_err(invalid)?;
    if owner != context.cu_ctx() {
        let why = format!(
            "stream {:#x} is of another device or context than the array, which is on cuda:{ordinal}; pass one of that",
            stream.0
        );
        return Err(Error::Invalid(why));
    }
    // SAFETY: the library has the stream, and keeps it while it is used, as the book asks of callers.
    Cuda::new(unsafe { context.wrap_borrowed_stream(stream.0 as _) })
}

/// Fails where there is no driver of CUDA's, or an old one: an array may say that it is in its memory all the same.
fn started(py: Python<'_>) -> PyResult<()> {
    check_first()?;
    py.detach(Cuda::devices).map(drop).map_err(exception)
}

/// The number of the device that an array of CUDA's is on. One without elements is on the first.
pub fn ordinal_of(py: Python<'_>, address: u64, bytes: usize) -> PyResult<usize> {
    if bytes == 0 {
        return Ok(0);
    }
    started(py)?;
    ordinal_at(address)
}

/// The number of the device whose memory is at an address of CUDA's. The driver says so, which has been started.
pub fn ordinal_at(address: u64) -> PyResult<usize> {
    let mut ordinal = 0i32;
    let which = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the pointer is to an integer that lives through the call, and the attribute is one.
    let asked = unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), which, address) }.result();
    match (asked, usize::try_from(ordinal)) {
        (Ok(()), Ok(ordinal)) => Ok(ordinal),
        _ => Err(PyValueError::new_err(format!("address {address:#x} is no device's memory; the array may be freed"))),
    }
}
