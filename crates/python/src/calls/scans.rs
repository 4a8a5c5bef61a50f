//! Scans and reductions: of all, of rows, of segments.

use pyo3::prelude::*;
use trifold::plan::{Gives, ReduceRequest, Request, ScanKind, ScanRequest, SegmentedRequest, Segments, Slot};

use super::{Any, initial, kind, same_length, segments};
use crate::device::Device;
use crate::operators::Named;
use crate::run::{Caller, Form};

/// Running totals of the elements, or of each row of a matrix: `out[i] = initial + x[0] + … + x[i]`.
///
/// `op` is sum, product, min, max, and, or, xor, or an `Operator`. Of floats the last bits may differ from one device to another,
/// as sums do of another order.
///
/// ```pycon
/// >>> inclusive_scan(numpy.array([3, 1, 4, 1], dtype="u4"))
/// array([3, 4, 8, 9], dtype=uint32)
/// >>> inclusive_scan(numpy.array([[3, 1], [4, 1]], dtype="u4"), op="max")
/// array([[3, 3],
///        [4, 4]], dtype=uint32)
/// >>> inclusive_scan(numpy.array([True, False, True]), dtype="i8")
/// array([1, 1, 2])
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, op=Named::sum(), *, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(text_signature = "(x, op='sum', *, initial=None, dtype=None, out=None, device=None, stream=None)")]
pub fn inclusive_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: Named<'py>,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    scan(py, (x, dtype), op, ScanKind::Inclusive, initial, Caller::new(py, device, stream, out)?)
}

/// Running totals before each element, or before each of a row: `out[i] = initial + x[0] + … + x[i - 1]`.
///
/// ```pycon
/// >>> exclusive_scan(numpy.array([3, 1, 4, 1], dtype="u4"))
/// array([0, 3, 4, 8], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, op=Named::sum(), *, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(text_signature = "(x, op='sum', *, initial=None, dtype=None, out=None, device=None, stream=None)")]
pub fn exclusive_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: Named<'py>,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    scan(py, (x, dtype), op, ScanKind::Exclusive, initial, Caller::new(py, device, stream, out)?)
}

fn scan<'py>(
    py: Python<'py>,
    (x, dtype): (&Any<'py>, Option<&Any<'py>>),
    op: Named<'py>,
    kind: ScanKind,
    from: Option<&Any<'py>>,
    caller: Caller<'py>,
) -> PyResult<Any<'py>> {
    let x = caller.array_as(x, "x", dtype)?;
    let caller = caller.by(&op);
    let (op, n, initial) = (op.over(py, x.scalar)?, x.len() as u64, initial(from, x.scalar)?);
    let request: Request = match x.width("x")? {
        None => ScanRequest { op, n, kind, initial, total: false }.into(),
        Some(width) => {
            SegmentedRequest { op, n, by: Segments::Rows(width as u64), gives: Gives::Prefixes(kind), initial }.into()
        }
    };
    caller.run(request, &[(Slot::Input, &x)], Form::of(&x.shape))?.take(Slot::Output)
}

/// The total of the elements, or of each row of a matrix.
///
/// ```pycon
/// >>> reduce(numpy.array([3, 1, 4, 1], dtype="u4"))
/// np.uint32(9)
/// >>> reduce(numpy.array([[3.0, 1.0], [4.0, 1.0]], dtype="f4"), op="max")
/// array([3., 4.], dtype=float32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, op=Named::sum(), *, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(text_signature = "(x, op='sum', *, initial=None, dtype=None, out=None, device=None, stream=None)")]
pub fn reduce<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: Named<'py>,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?.by(&op);
    let x = caller.array_as(x, "x", dtype)?;
    let (op, n, initial) = (op.over(py, x.scalar)?, x.len() as u64, self::initial(initial, x.scalar)?);
    let (request, form): (Request, _) = match x.width("x")? {
        None => (ReduceRequest { op, n, initial }.into(), Form::number()),
        Some(width) => {
            let by = Segments::Rows(width as u64);
            (SegmentedRequest { op, n, by, gives: Gives::Total, initial }.into(), Form::default())
        }
    };
    caller.run(request, &[(Slot::Input, &x)], form)?.take(Slot::Output)
}

/// The total of each segment. Segment `i` has the elements from `offsets[i]` to `offsets[i + 1]`, and may have none.
///
/// ```pycon
/// >>> segmented_reduce(numpy.array([3, 1, 4], dtype="u4"), numpy.array([0, 2, 2, 3], dtype="u4"))
/// array([4, 0, 4], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, offsets, op=Named::sum(), *, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(text_signature = "(x, offsets, op='sum', *, initial=None, dtype=None, out=None, device=None, stream=None)")]
pub fn segmented_reduce<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    offsets: &Any<'py>,
    op: Named<'py>,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    segmented(py, (x, dtype), offsets, op, Gives::Total, initial, caller)
}

/// Running totals within each segment, with each element or before it.
///
/// ```pycon
/// >>> segmented_scan(numpy.array([3, 1, 4], dtype="u4"), numpy.array([0, 2, 3], dtype="u4"))
/// array([3, 4, 4], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, offsets, op=Named::sum(), *, exclusive=false, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(
    text_signature = "(x, offsets, op='sum', *, exclusive=False, initial=None, dtype=None, out=None, device=None, stream=None)"
)]
pub fn segmented_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    offsets: &Any<'py>,
    op: Named<'py>,
    exclusive: bool,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    segmented(py, (x, dtype), offsets, op, Gives::Prefixes(kind(exclusive)), initial, caller)
}

fn segmented<'py>(
    py: Python<'py>,
    (x, dtype): (&Any<'py>, Option<&Any<'py>>),
    begins: &Any<'py>,
    op: Named<'py>,
    gives: Gives,
    from: Option<&Any<'py>>,
    caller: Caller<'py>,
) -> PyResult<Any<'py>> {
    let caller = caller.by(&op);
    let x = caller.array_as(x, "x", dtype)?;
    let (begins, by) = segments(&caller, (&x, "x"), begins)?;
    let (op, initial) = (op.over(py, x.scalar)?, initial(from, x.scalar)?);
    let request = SegmentedRequest { op, n: x.len() as u64, by, gives, initial };
    caller.run(request, &[(Slot::Input, &x), (Slot::Offsets, &begins)], Form::default())?.take(Slot::Output)
}

/// Running totals within each run of equal keys, with each element or before it.
///
/// ```pycon
/// >>> scan_by_key(numpy.array([1, 1, 2], dtype="u4"), numpy.array([10, 20, 30], dtype="u4"))
/// array([10, 30, 30], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values, op=Named::sum(), *, exclusive=false, initial=None, dtype=None, out=None, device=None, stream=None))]
#[pyo3(
    text_signature = "(keys, values, op='sum', *, exclusive=False, initial=None, dtype=None, out=None, device=None, stream=None)"
)]
pub fn scan_by_key<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: &Any<'py>,
    op: Named<'py>,
    exclusive: bool,
    initial: Option<&Any<'py>>,
    dtype: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?.by(&op);
    let (keys, values) = (caller.array(keys, "keys")?, caller.array_as(values, "values", dtype)?);
    keys.check_flat("keys")?;
    same_length(&keys, &values, "keys and values")?;
    let (op, initial) = (op.over(py, values.scalar)?, self::initial(initial, values.scalar)?);
    let (by, gives) = (Segments::Keys(keys.scalar.into()), Gives::Prefixes(kind(exclusive)));
    let request = SegmentedRequest { op, n: values.len() as u64, by, gives, initial };
    caller.run(request, &[(Slot::Input, &values), (Slot::InputValues, &keys)], Form::default())?.take(Slot::Output)
}
