//! Types of elements, by the names that other libraries have for them.

use dlpark::ffi::{DLDataType, DLDataTypeCode};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use trifold::types::{Scalar, ScalarKind};

/// The scalar that NumPy calls so.
pub fn of_typestr(typestr: &str, name: &str) -> PyResult<Scalar> {
    if let Some(rest) = typestr.strip_prefix('>') {
        return Err(PyTypeError::new_err(format!(
            "{name}: its numbers are big-endian (>{rest}); pass {name}.astype('<{rest}')"
        )));
    }
    // Flags are bytes.
    let typestr = if typestr == "|b1" { "|u1" } else { typestr };
    Scalar::ALL.into_iter().find(|scalar| scalar.npy() == Some(typestr)).ok_or_else(|| unknown(typestr, name))
}

fn unknown(what: &str, name: &str) -> PyErr {
    let all: Vec<_> = Scalar::ALL.into_iter().filter_map(Scalar::npy).collect();
    PyTypeError::new_err(format!("{name}: elements of type {what}; there are {}", all.join(", ")))
}

/// What NumPy calls the scalar.
pub fn typestr(scalar: Scalar) -> PyResult<&'static str> {
    scalar.npy().ok_or_else(|| PyTypeError::new_err(format!("NumPy has no {}", long_name(scalar))))
}

/// The bytes of an array of this shape: of one that no memory has room for, as many as a number goes.
pub fn bytes_of(scalar: Scalar, shape: &[usize]) -> usize {
    shape.iter().fold(scalar.bytes() as usize, |bytes, &n| bytes.saturating_mul(n))
}

/// The scalar of a type of DLPack's.
pub fn of_dlpack(dtype: DLDataType, name: &str) -> PyResult<Scalar> {
    let kind = match dtype.code {
        DLDataTypeCode::UINT | DLDataTypeCode::BOOL => Some(ScalarKind::Unsigned),
        DLDataTypeCode::INT => Some(ScalarKind::Signed),
        DLDataTypeCode::FLOAT => Some(ScalarKind::Float),
        _ => None,
    };
    let scalar = match (dtype.code, dtype.bits) {
        (DLDataTypeCode::BFLOAT, 16) => Some(Scalar::BF16),
        (_, bits) => kind.and_then(|kind| Scalar::of(kind, u32::from(bits) / 8)),
    };
    let scalar = scalar.filter(|scalar| dtype.lanes == 1 && u32::from(dtype.bits) == 8 * scalar.bytes());
    scalar.ok_or_else(|| unknown(&format!("{dtype:?}"), name))
}

/// What DLPack calls the scalar.
pub fn dlpack(scalar: Scalar) -> DLDataType {
    let code = match scalar.kind() {
        _ if scalar == Scalar::BF16 => DLDataTypeCode::BFLOAT,
        ScalarKind::Unsigned => DLDataTypeCode::UINT,
        ScalarKind::Signed => DLDataTypeCode::INT,
        ScalarKind::Float => DLDataTypeCode::FLOAT,
    };
    DLDataType::scalar(code, (8 * scalar.bytes()) as u8)
}

/// What torch calls the scalar, and jax.
pub fn long_name(scalar: Scalar) -> String {
    let kind = match scalar.kind() {
        _ if scalar == Scalar::BF16 => "bfloat",
        ScalarKind::Unsigned => "uint",
        ScalarKind::Signed => "int",
        ScalarKind::Float => "float",
    };
    format!("{kind}{}", 8 * scalar.bytes())
}
