//! Trifold for Python, the module `trifold_gpu`: scan, reduce, sort and what is built from them, of NumPy's arrays on any device.
//!
//! Each function makes a request as data and runs it on its arguments' memory. Names and defaults are NumPy's where it has such a function.

mod array;
mod calls;
mod device;

use pyo3::prelude::*;

/// Scan, reduce, sort and what is built from them, on any GPU.
///
/// Arrays are NumPy's: they are copied to the device and back. A call that names no device runs on the best one, which is opened with the
/// first. While a call runs, other threads must not write to its arrays.
///
/// ```pycon
/// >>> import numpy, trifold_gpu
/// >>> trifold_gpu.inclusive_scan(numpy.array([3, 1, 4], dtype="u4"))
/// array([3, 4, 8], dtype=uint32)
///
/// ```
#[pymodule]
mod trifold_gpu {
    #[pymodule_export]
    use super::calls::{
        argsort, exclusive_scan, histogram, inclusive_scan, nth_element, reduce, reduce_by_key, run_length_encode,
        segmented_reduce, segmented_scan, segmented_sort, select, sort, top_k, unique, unique_by_key,
    };
    #[pymodule_export]
    use super::device::{Device, devices};
}
