//! NumPy's arrays, by what they say of their memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use trifold::types::Scalar;

/// An array of NumPy's, whose elements lie together.
pub struct Array<'py> {
    pub any: Bound<'py, PyAny>,
    pub scalar: Scalar,
    pub shape: Vec<usize>,
    address: usize,
    is_read_only: bool,
}

impl<'py> Array<'py> {
    /// An argument as an array. What is none yet is made one, as NumPy does of lists and numbers.
    pub fn of(any: &Bound<'py, PyAny>, name: &str) -> PyResult<Array<'py>> {
        let any = match any.hasattr("__array_interface__")? {
            true => any.clone(),
            false => any.py().import("numpy")?.call_method1("asarray", (any,))?,
        };
        let interface = any.getattr("__array_interface__")?;
        let interface = interface.cast::<PyDict>()?;
        let get = |key: &str| {
            interface.get_item(key)?.ok_or_else(|| PyTypeError::new_err(format!("{name}: its interface has no {key}")))
        };
        let typestr: String = get("typestr")?.extract()?;
        let shape: Vec<usize> = get("shape")?.extract()?;
        let (address, is_read_only): (usize, bool) = get("data")?.extract()?;
        let is_apart = matches!(interface.get_item("strides")?, Some(strides) if !strides.is_none());
        if is_apart && shape.iter().all(|n| *n > 0) {
            return Err(PyValueError::new_err(format!(
                "{name}: its elements do not lie together; pass numpy.ascontiguousarray of it"
            )));
        }
        if shape.is_empty() {
            return Err(PyValueError::new_err(format!("{name}: it has no dimensions; pass an array of one element")));
        }
        Ok(Array { scalar: scalar(&typestr, name)?, any, shape, address, is_read_only })
    }

    /// A new array, whose elements are anything.
    pub fn empty(py: Python<'py>, scalar: Scalar, shape: Vec<usize>) -> PyResult<Array<'py>> {
        let typestr = scalar.npy().ok_or_else(|| PyTypeError::new_err(format!("NumPy has no {}", scalar.name())))?;
        let any = py.import("numpy")?.call_method1("empty", (PyTuple::new(py, &shape)?, typestr))?;
        Array::of(&any, "a new array")
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

    /// Where its bytes are, to be read without the interpreter's lock.
    pub fn bytes(&self) -> Bytes {
        Bytes { address: self.address, len: self.len() * self.scalar.bytes() as usize }
    }

    /// As [`Array::bytes`], to be written.
    pub fn bytes_mut(&self, name: &str) -> PyResult<Bytes> {
        if self.is_read_only {
            return Err(PyValueError::new_err(format!("{name}: it is read-only; pass one that may be written")));
        }
        Ok(self.bytes())
    }
}

/// Memory of an array that is kept meanwhile.
#[derive(Clone, Copy)]
pub struct Bytes {
    address: usize,
    pub len: usize,
}

impl Bytes {
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

/// The scalar that NumPy calls so.
fn scalar(typestr: &str, name: &str) -> PyResult<Scalar> {
    if let Some(rest) = typestr.strip_prefix('>') {
        return Err(PyTypeError::new_err(format!(
            "{name}: its numbers are big-endian (>{rest}); pass {name}.astype('<{rest}')"
        )));
    }
    // Flags are bytes.
    let typestr = if typestr == "|b1" { "|u1" } else { typestr };
    Scalar::ALL.into_iter().find(|scalar| scalar.npy() == Some(typestr)).ok_or_else(|| {
        let all: Vec<_> = Scalar::ALL.into_iter().filter_map(Scalar::npy).collect();
        PyTypeError::new_err(format!("{name}: elements of type {typestr}; there are {}", all.join(", ")))
    })
}
