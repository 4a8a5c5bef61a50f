//! Trifold for Python, the module `trifold_gpu`: scan, reduce, sort and what is built from them, of arrays of NumPy's, torch's and others'
//! on any device.
//!
//! Each function makes a request as data and runs it on its arguments' memory. Names and defaults are NumPy's where it has such a function.

mod array;
mod calls;
mod device;
mod dtype;
mod forms;
mod library;
mod operators;
mod owned;
mod program;
mod run;
mod stream;

use pyo3::prelude::*;

/// Scan, reduce, sort and what is built from them, on any GPU.
///
/// Arrays of NumPy's are copied to the device and back. A call that names no device runs on the best one, which is opened with the
/// first. Arrays in CUDA's memory stay where they are: torch's, cupy's, jax's, and all that know DLPack. Calls on them are enqueued on
/// their library's current stream. Results are arrays of the same library. While a call runs, other threads must not write to its arrays.
///
/// ```pycon
/// >>> import numpy, trifold_gpu
/// >>> trifold_gpu.inclusive_scan(numpy.array([3, 1, 4], dtype="u4"))
/// array([3, 4, 8], dtype=uint32)
///
/// ```
#[pymodule]
mod trifold_gpu {
    use pyo3::prelude::*;

    /// NVRTC's wheel may be beside this one, in an environment that is not activated.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let path: Vec<String> = module
            .py()
            .import("sys")?
            .getattr("path")?
            .try_iter()?
            .filter_map(|entry| entry.ok()?.extract().ok())
            .collect();
        trifold::cuda::add_package_folders(path.into_iter().filter(|folder| !folder.is_empty()).map(Into::into));
        Ok(())
    }

    #[pymodule_export]
    use super::calls::by_key::{reduce_by_key, run_length_encode};
    #[pymodule_export]
    use super::calls::histograms::histogram;
    #[pymodule_export]
    use super::calls::scans::{exclusive_scan, inclusive_scan, reduce, scan_by_key, segmented_reduce, segmented_scan};
    #[pymodule_export]
    use super::calls::selections::{flatnonzero, partition, select, unique, unique_by_key};
    #[pymodule_export]
    use super::calls::sorts::{
        argsort, nth_element, segmented_argsort, segmented_nth_element, segmented_sort, segmented_top_k, sort, top_k,
    };
    #[pymodule_export]
    use super::device::{Device, devices};
    #[pymodule_export]
    use super::forms::{_forms, _run};
    #[pymodule_export]
    use super::operators::{Operator, Predicate};
    #[pymodule_export]
    use super::owned::Owned;
    #[pymodule_export]
    use super::program::_program;
}
