//! Arrays of any library's, by what they say of their memory.

use dlpark::DlpackFlags;
use dlpark::ffi::{DLDevice, DLDeviceType};
use dlpark::python::consumer::exchange::ExchangeApi;
use dlpark::python::{ImportRequest, ImportedDlpack};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use trifold::Buffer;
use trifold::types::Scalar;

use crate::device::{Device, exception, ordinal_of};
use crate::dtype;
use crate::library::Library;
use crate::owned::Owned;
use crate::stream::{Handle, On};

/// An argument or a result: an array whose elements lie together.
pub struct Array<'py> {
    /// What Python has.
    pub any: Bound<'py, PyAny>,
    pub scalar: Scalar,
    pub shape: Vec<usize>,
    pub place: Place,
    /// Which results are of, where it is on a device.
    pub library: Library<'py>,
    pub is_read_only: bool,
}

/// Where an array's elements are.
pub enum Place {
    /// In the program's memory.
    Host(Bytes),
    /// On a device.
    Device(Device, Buffer<u8>),
}

impl<'py> Array<'py> {
    /// An argument as an array. What is none yet is made one, as NumPy does of lists and numbers.
    ///
    /// Memory of CUDA's is ready on this stream, or on the one that its library works on.
    pub fn of(any: &Bound<'py, PyAny>, name: &str, stream: Option<Handle>) -> PyResult<Array<'py>> {
        let py = any.py();
        let array = if let Ok(own) = any.cast::<Owned>() {
            own.get().as_array(any)
        } else if let Some(interface) = any.getattr_opt(intern!(py, "__array_interface__"))? {
            Array::of_host(any, Interface::of(&interface, name)?)
        } else if let Some(api) = ExchangeApi::from_object(any.as_borrowed())? {
            Array::of_exchange(any, name, &api, stream)
        } else if any.hasattr(intern!(py, "__dlpack_device__"))? {
            Array::of_dlpack(any, name, stream)
        } else if let Some(interface) = any.getattr_opt(intern!(py, "__cuda_array_interface__"))? {
            Array::of_cuda_interface(any, Interface::of(&interface, name)?, stream)
        } else {
            Array::of_numpy(any, name)
        }?;
        if array.shape.is_empty() {
            return Err(PyValueError::new_err(format!("{name}: it has no dimensions; pass an array of one element")));
        }
        Ok(array)
    }

    /// Anything that NumPy makes an array of.
    pub fn of_numpy(any: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py>> {
        let py = any.py();
        let made = py.import("numpy")?.call_method1("asarray", (any,))?;
        let interface = Interface::of(&made.getattr(intern!(py, "__array_interface__"))?, name)?;
        Array::of_host(&made, interface)
    }

    fn of_host(any: &Bound<'py, PyAny>, said: Interface) -> PyResult<Array<'py>> {
        let place = Place::Host(Bytes { address: said.address, len: said.bytes() });
        Ok(said.array(any, Library::NumPy(any.py()), place))
    }

    /// By DLPack's functions in C, as of torch: they say the stream too.
    fn of_exchange(
        any: &Bound<'py, PyAny>,
        name: &str,
        api: &ExchangeApi,
        stream: Option<Handle>,
    ) -> PyResult<Array<'py>> {
        let library = Library::of(any)?;
        library.check_gradient(any, name)?;
        let (tensor, producer) = api.import_managed_no_sync(any.as_borrowed())?.into_parts();
        let on = tensor.validate().map_err(|error| PyBufferError::new_err(format!("{name}: {error}")))?.device();
        if is_host(on, name)? {
            return Ok(Array { any: any.clone(), ..Array::of_numpy(any, name)? });
        }
        let producer = Handle(producer as usize);
        let device = Device::on_stream(any.py(), on.device_id as usize, Some(stream.unwrap_or(producer)))?;
        On(device.cuda()?).wait_for(producer)?;
        Array::of_tensor(any, name, library, device, ImportedDlpack::Versioned(tensor))
    }

    /// By DLPack: the arrays of cupy, jax and others.
    fn of_dlpack(any: &Bound<'py, PyAny>, name: &str, stream: Option<Handle>) -> PyResult<Array<'py>> {
        let request = ImportRequest::new(any.as_borrowed())?;
        let on = request.device()?;
        if is_host(on, name)? {
            return Ok(Array { any: any.clone(), ..Array::of_numpy(any, name)? });
        }
        let library = Library::of(any)?;
        let ordinal = on.device_id as usize;
        let stream = stream.map_or_else(|| library.current_stream(ordinal), |stream| Ok(Some(stream)))?;
        let device = Device::on_stream(any.py(), ordinal, stream)?;
        let imported = request.import(Some(&On(device.cuda()?)), None)?;
        Array::of_tensor(any, name, library, device, imported)
    }

    /// What DLPack says of memory that is ready on the device's stream.
    fn of_tensor(
        any: &Bound<'py, PyAny>,
        name: &str,
        library: Library<'py>,
        device: Device,
        imported: ImportedDlpack,
    ) -> PyResult<Array<'py>> {
        let tensor = imported.validate().map_err(|error| PyBufferError::new_err(format!("{name}: {error}")))?;
        if !tensor.is_compact().is_ok_and(|is| is) && tensor.num_elements() > 0 {
            return Err(apart(name));
        }
        let scalar = dtype::of_dlpack(tensor.dtype(), name)?;
        let shape: Vec<usize> = tensor.shape().iter().map(|n| *n as usize).collect();
        let memory = (tensor.data_ptr() as u64 + tensor.byte_offset(), tensor.num_bytes());
        // What is written to a copy would be lost.
        let is_read_only = imported.flags().intersects(DlpackFlags::READ_ONLY | DlpackFlags::IS_COPIED);
        let place = imported_memory(device, memory, imported.into_deleter())?;
        Ok(Array { any: any.clone(), scalar, shape, place, library, is_read_only })
    }

    /// By CUDA's array interface, of libraries without DLPack.
    fn of_cuda_interface(any: &Bound<'py, PyAny>, said: Interface, stream: Option<Handle>) -> PyResult<Array<'py>> {
        let device = Device::on_stream(any.py(), ordinal_of(said.address as u64)?, stream)?;
        if let Some(producer) = said.stream {
            On(device.cuda()?).wait_for(Handle::of_number(producer))?;
        }
        let place = imported_memory(device, (said.address as u64, said.bytes()), any.clone().unbind())?;
        Ok(said.array(any, Library::of(any)?, place))
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Of one or two dimensions: how many elements are in a row, if it has rows.
    pub fn width(&self, name: &str) -> PyResult<Option<usize>> {
        match self.shape[..] {
            [_] => Ok(None),
            [_, width] => Ok(Some(width)),
            _ => Err(PyValueError::new_err(format!(
                "{name}: it has {} dimensions; pass one of one or two",
                self.shape.len()
            ))),
        }
    }

    /// Fails unless it has one dimension.
    pub fn check_flat(&self, name: &str) -> PyResult<()> {
        match self.shape[..] {
            [_] => Ok(()),
            _ => Err(PyValueError::new_err(format!(
                "{name}: it has {} dimensions; pass one of one dimension",
                self.shape.len()
            ))),
        }
    }

    /// Its elements taken as another type of as many bytes.
    pub fn taken_as(self, scalar: Scalar) -> Array<'py> {
        Array { scalar, ..self }
    }
}

/// Whether it is in the program's memory, and not CUDA's.
fn is_host(on: DLDevice, name: &str) -> PyResult<bool> {
    match on.device_type {
        DLDeviceType::CUDA | DLDeviceType::CUDAMANAGED if on.device_id >= 0 => Ok(false),
        DLDeviceType::CPU | DLDeviceType::CUDAHOST => Ok(true),
        other => Err(PyTypeError::new_err(format!(
            "{name}: it is on a device of DLPack's type {}; pass one that is in CUDA's memory or in the host's",
            other.0
        ))),
    }
}

fn apart(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{name}: its elements do not lie together; pass a contiguous copy, as by numpy.ascontiguousarray or Tensor.contiguous"
    ))
}

/// CUDA's memory of another library's, which the keeper keeps.
fn imported_memory(
    device: Device,
    (address, bytes): (u64, usize),
    keeper: impl std::any::Any + Send + Sync,
) -> PyResult<Place> {
    // SAFETY: the library says that so many bytes are there. They stay while the keeper is there, and behind that while the stream's work
    // may use them: libraries free in the order of the stream that they work on, and for other streams `Device::keep` keeps the array.
    let buffer = unsafe { device.cuda()?.import_raw::<u8>(address, bytes, keeper) }.map_err(exception)?;
    let buffer = device.device.import(&buffer).map_err(exception)?;
    Ok(Place::Device(device, buffer))
}

/// What NumPy's interface says, and CUDA's of the same form.
struct Interface {
    scalar: Scalar,
    shape: Vec<usize>,
    address: usize,
    is_read_only: bool,
    /// In CUDA's: that the memory is ready on.
    stream: Option<usize>,
}

impl Interface {
    fn of(interface: &Bound<'_, PyAny>, name: &str) -> PyResult<Interface> {
        let interface = interface.cast::<PyDict>()?;
        let get = |key: &str| {
            interface.get_item(key)?.ok_or_else(|| PyTypeError::new_err(format!("{name}: its interface has no {key}")))
        };
        let shape: Vec<usize> = get("shape")?.extract()?;
        let (address, is_read_only) = get("data")?.extract()?;
        let is_apart = matches!(interface.get_item("strides")?, Some(strides) if !strides.is_none());
        if is_apart && !shape.is_empty() && shape.iter().all(|n| *n > 0) {
            return Err(apart(name));
        }
        let typestr = get("typestr")?;
        let scalar = dtype::of_typestr(&typestr.cast::<PyString>()?.to_cow()?, name)?;
        let stream = interface.get_item("stream")?.filter(|stream| !stream.is_none());
        let stream = stream.map(|stream| stream.extract()).transpose()?;
        Ok(Interface { scalar, shape, address, is_read_only, stream })
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.scalar.bytes() as usize
    }

    fn array<'py>(self, any: &Bound<'py, PyAny>, library: Library<'py>, place: Place) -> Array<'py> {
        let Interface { scalar, shape, is_read_only, .. } = self;
        Array { any: any.clone(), scalar, shape, place, library, is_read_only }
    }
}

/// The program's memory, of an array that is kept meanwhile.
#[derive(Clone, Copy)]
pub struct Bytes {
    address: usize,
    pub len: usize,
}

impl Bytes {
    /// Whether both have bytes in common.
    pub fn overlap(self, other: Bytes) -> bool {
        self.address < other.address + other.len && other.address < self.address + self.len
    }

    /// Where they begin.
    pub fn start(self) -> *mut u8 {
        self.address as *mut u8
    }

    /// # Safety
    /// The array is kept, and nobody writes to it meanwhile.
    pub unsafe fn get<'a>(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: NumPy has as many bytes there; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.len) }
    }

    /// # Safety
    /// The array is kept, may be written, and nobody else reads or writes it meanwhile.
    pub unsafe fn get_mut<'a>(self) -> &'a mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, self.len) }
    }
}
