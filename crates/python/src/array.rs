//! Arrays of any library's, by what they say of their memory.

use dlpark::DlpackFlags;
use dlpark::ffi::{DLDataTypeCode, DLDevice, DLDeviceType};
use dlpark::python::consumer::exchange::ExchangeApi;
use dlpark::python::{ImportRequest, ImportedDlpack};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use trifold::Buffer;
use trifold::types::Scalar;

use crate::device::{self, Device, exception, ordinal_of};
use crate::dtype;
use crate::library::Library;
use crate::owned::Owned;
use crate::stream::{Handle, On, Stream};

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
    /// Whether its elements are flags, which count as `u8` here.
    pub is_bool: bool,
    /// What keeps the memory, if that is not the array.
    _keeper: Option<Bound<'py, PyAny>>,
}

/// Where an array's elements are.
#[derive(Clone)]
pub enum Place {
    /// In the program's memory.
    Host(Bytes),
    /// On a device.
    Device(Device, Buffer<u8>),
}

impl Place {
    /// The bytes, if they are in the program's memory.
    pub fn host(&self) -> Option<Bytes> {
        if let Place::Host(bytes) = self { Some(*bytes) } else { None }
    }
}

impl<'py> Array<'py> {
    /// An argument as an array. What is none yet is made one, as NumPy does of lists and numbers.
    ///
    /// Memory of CUDA's is ready on this stream, or on the one that its library works on.
    pub fn of(any: &Bound<'py, PyAny>, name: &str, stream: Option<&Stream<'py>>) -> PyResult<Array<'py>> {
        let py = any.py();
        if let Ok(own) = any.cast::<Owned>() {
            own.get().as_array(any)
        } else if let Some(interface) = any.getattr_opt(intern!(py, "__array_interface__"))? {
            check_masked(any, name)?;
            Array::of_host(any, Interface::of(&interface, name)?)
        } else if let Some(api) = ExchangeApi::from_object(any.as_borrowed())? {
            Array::of_exchange(any, name, &api, stream)
        } else if any.hasattr(intern!(py, "__dlpack_device__"))? {
            Array::of_dlpack(any, name, stream)
        } else if let Some(interface) = any.getattr_opt(intern!(py, "__cuda_array_interface__"))? {
            Array::of_cuda_interface(any, Interface::of(&interface, name)?, stream)
        } else {
            Array::of_numpy(any, name)
        }
    }

    /// Anything that NumPy makes an array of. What it has copied for that is not to be written: it would be lost.
    pub fn of_numpy(any: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py>> {
        let py = any.py();
        let made = py.import("numpy")?.call_method1("asarray", (any,))?;
        let is_copied = !made.is(any) && made.getattr("flags")?.getattr("owndata")?.is_truthy()?;
        let interface = Interface::of(&made.getattr(intern!(py, "__array_interface__"))?, name)?;
        let array = Array::of_host(any, interface)?;
        Ok(Array { is_read_only: array.is_read_only || is_copied, _keeper: Some(made), ..array })
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
        stream: Option<&Stream<'py>>,
    ) -> PyResult<Array<'py>> {
        let library = Library::of(any)?;
        library.check_gradient(any, name)?;
        let (tensor, producer) = api.import_managed_no_sync(any.as_borrowed())?.into_parts();
        let on = tensor.validate().map_err(|error| PyBufferError::new_err(format!("{name}: {error}")))?.device();
        if is_host(on, name)? {
            return Array::of_numpy(any, name);
        }
        let device = ready_on(any.py(), on.device_id as usize, stream, Handle(producer as usize))?;
        Array::of_tensor(any, name, library, device, ImportedDlpack::Versioned(tensor))
    }

    /// By DLPack: the arrays of cupy, jax and others.
    fn of_dlpack(any: &Bound<'py, PyAny>, name: &str, stream: Option<&Stream<'py>>) -> PyResult<Array<'py>> {
        let request = ImportRequest::new(any.as_borrowed())?;
        let on = request.device()?;
        if is_host(on, name)? {
            return Array::of_numpy(any, name);
        }
        let library = Library::of(any)?;
        let ordinal = on.device_id as usize;
        let stream = stream.cloned().map_or_else(|| library.current_stream(ordinal), |stream| Ok(Some(stream)))?;
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
        let scalar = dtype::of_dlpack(tensor.dtype(), name)?;
        let is_bool = tensor.dtype().code == DLDataTypeCode::BOOL;
        let shape: Vec<usize> = tensor.shape().iter().map(|n| *n as usize).collect();
        check_together(&shape, tensor.strides(), 1, name)?;
        let memory = (tensor.data_ptr() as u64 + tensor.byte_offset(), tensor.num_bytes());
        if memory.1 > 0 {
            device::ordinal_at(memory.0)?;
        }
        // What is written to a copy would be lost.
        let is_read_only = imported.flags().intersects(DlpackFlags::READ_ONLY | DlpackFlags::IS_COPIED);
        let place = imported_memory(device, memory, imported.into_deleter())?;
        Ok(Array { any: any.clone(), scalar, shape, place, library, is_read_only, is_bool, _keeper: None })
    }

    /// By CUDA's array interface, of libraries without DLPack. Calls go into the stream that the array is ready on.
    fn of_cuda_interface(
        any: &Bound<'py, PyAny>,
        said: Interface,
        stream: Option<&Stream<'py>>,
    ) -> PyResult<Array<'py>> {
        // One that says none is ready on the legacy default stream, if on any.
        let own = Handle::of_number(said.stream.unwrap_or(0));
        let ordinal = ordinal_of(any.py(), said.address as u64, said.bytes())?;
        let device = ready_on(any.py(), ordinal, stream, own)?;
        let place = imported_memory(device, (said.address as u64, said.bytes()), any.clone().unbind())?;
        Ok(said.array(any, Library::of(any)?, place))
    }

    /// An array that is new, on a device.
    pub fn new(any: Bound<'py, PyAny>, scalar: Scalar, shape: Vec<usize>, place: Place, library: Library<'py>) -> Self {
        Array { any, scalar, shape, place, library, is_read_only: false, is_bool: false, _keeper: None }
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

/// The device on the caller's stream, or else the producer's own, behind what is enqueued in the producer's.
fn ready_on(py: Python<'_>, ordinal: usize, stream: Option<&Stream<'_>>, producer: Handle) -> PyResult<Device> {
    let stream = stream.cloned().unwrap_or_else(|| Stream::lasting(producer));
    let device = Device::on_stream(py, ordinal, Some(stream))?;
    On(device.cuda()?).wait_for(producer)?;
    Ok(device)
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

/// Fails unless elements lie together, row by row. Strides are in units, of which an element has so many.
fn check_together(shape: &[usize], strides: Option<&[i64]>, element: usize, name: &str) -> PyResult<()> {
    let most = isize::MAX as usize / size_of::<u128>();
    if shape.iter().try_fold(1, |all: usize, &n| all.checked_mul(n)).is_none_or(|all| all > most) {
        return Err(PyValueError::new_err(format!("{name}: the shape {shape:?} is more than memory has room for")));
    }
    let mut next = element as i64;
    let is_together = strides.is_none_or(|strides| {
        shape.iter().zip(strides).rev().all(|(&n, &stride)| {
            let fits = n == 1 || stride == next;
            next *= n as i64;
            fits
        })
    });
    if is_together || shape.contains(&0) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name}: its elements do not lie together; pass a contiguous copy, as by numpy.ascontiguousarray or Tensor.contiguous"
    )))
}

/// CUDA's memory of another library's, which the keeper keeps.
pub fn imported_memory(
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

/// Fails for one of NumPy's masked arrays, whose interface does not say so.
fn check_masked(array: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let of_numpy = array.py().import(intern!(array.py(), "numpy"))?;
    if array.get_type().is(&of_numpy.getattr(intern!(array.py(), "ndarray"))?) {
        return Ok(());
    }
    match array.is_instance(&of_numpy.getattr("ma")?.getattr("MaskedArray")?)? {
        true => Err(masked(name)),
        false => Ok(()),
    }
}

fn masked(name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name}: some of its elements may be masked; pass {name}.filled() or another array"))
}

/// What NumPy's interface says, and CUDA's of the same form.
struct Interface {
    scalar: Scalar,
    shape: Vec<usize>,
    address: usize,
    is_read_only: bool,
    is_bool: bool,
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
        let some = |key: &str| Ok::<_, PyErr>(interface.get_item(key)?.filter(|value| !value.is_none()));
        if some("mask")?.is_some() {
            return Err(masked(name));
        }
        let typestr = get("typestr")?;
        let typestr = typestr.cast::<PyString>()?.to_cow()?;
        let (scalar, is_bool) = (dtype::of_typestr(&typestr, name)?, typestr == "|b1");
        let strides: Option<Vec<i64>> = some("strides")?.map(|strides| strides.extract()).transpose()?;
        check_together(&shape, strides.as_deref(), scalar.bytes() as usize, name)?;
        let stream = some("stream")?.map(|stream| stream.extract()).transpose()?;
        Ok(Interface { scalar, shape, address, is_read_only, is_bool, stream })
    }

    fn bytes(&self) -> usize {
        dtype::bytes_of(self.scalar, &self.shape)
    }

    fn array<'py>(self, any: &Bound<'py, PyAny>, library: Library<'py>, place: Place) -> Array<'py> {
        let Interface { scalar, shape, is_read_only, is_bool, .. } = self;
        Array { any: any.clone(), scalar, shape, place, library, is_read_only, is_bool, _keeper: None }
    }
}

/// The program's memory, of an array that is kept meanwhile.
#[derive(Clone, Copy)]
pub struct Bytes {
    address: usize,
    pub len: usize,
}

impl Bytes {
    /// Whether no two have bytes in common.
    pub fn are_apart(all: &[Bytes]) -> bool {
        all.iter().enumerate().all(|(i, bytes)| all[..i].iter().all(|other| !bytes.overlap(*other)))
    }

    fn overlap(self, other: Bytes) -> bool {
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
