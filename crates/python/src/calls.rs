//! The functions: each is a request, and which argument and result is which slot.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trifold::builders::Order;
use trifold::operators::NonZero;
use trifold::plan::{
    Builtin, Gives, HistogramRequest, Keeps, Op, ReduceByKeyRequest, ReduceRequest, Request, Rest, ScanKind,
    ScanRequest, SegmentedRequest, Segments, SelectRequest, Selector, Slot, SortRequest, TopKRequest, Wanted,
};
use trifold::types::{ElementType, Scalar};

use crate::array::Array;
use crate::device::{Device, device_of};

type Any<'py> = Bound<'py, PyAny>;
type Named = Option<Device>;

/// The operator of this name, over elements of such an array.
fn operator(name: &str, of: &Array<'_>) -> PyResult<Op> {
    let which = Builtin::ALL.into_iter().find(|which| which.name() == name).ok_or_else(|| {
        let names: Vec<_> = Builtin::ALL.iter().map(|which| which.name()).collect();
        PyValueError::new_err(format!("op: `{name}`; there are {}", names.join(", ")))
    })?;
    Op::builtin(which, of.scalar).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "`{name}` of {}: integers of 32 and 64 bits have all operators, floats of as many have sum, product, min and max; pass x.astype(…)",
            of.scalar.name()
        ))
    })
}

/// What a scan or a reduction starts from, as bytes of an element.
fn initial(py: Python<'_>, value: Option<&Any<'_>>, scalar: Scalar) -> PyResult<Option<Vec<u8>>> {
    let Some(value) = value else { return Ok(None) };
    let options = PyDict::new(py);
    options.set_item("dtype", scalar.npy())?;
    let element = py.import("numpy")?.call_method("asarray", (value,), Some(&options))?;
    Ok(Some(element.call_method0("tobytes")?.extract()?))
}

/// The segments that offsets say.
fn offsets(offsets: &Array<'_>) -> PyResult<Segments> {
    offsets.check_flat("offsets")?;
    match offsets.len().checked_sub(1) {
        Some(count) => Ok(Segments::Offsets { of: offsets.scalar.into(), count: count as u64 }),
        None => Err(PyValueError::new_err("offsets: there are none; pass one more than there are segments")),
    }
}

fn same_length(a: &Array<'_>, b: &Array<'_>, what: &str) -> PyResult<()> {
    match a.shape == b.shape {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "{what} have the shapes {:?} and {:?}; bring as many of each",
            a.shape, b.shape
        ))),
    }
}

/// One element as NumPy's number.
fn number(array: Any<'_>) -> PyResult<Any<'_>> {
    array.get_item(0)
}

/// Running totals of the elements, or of each row of a matrix: `out[i] = initial + x[0] + … + x[i]`.
///
/// `op` is sum, product, min, max, and, or, xor. Of floats the last bits may differ from one device to another, as sums do of another
/// order.
///
/// ```pycon
/// >>> inclusive_scan(numpy.array([3, 1, 4, 1], dtype="u4"))
/// array([3, 4, 8, 9], dtype=uint32)
/// >>> inclusive_scan(numpy.array([[3, 1], [4, 1]], dtype="u4"), op="max")
/// array([[3, 3],
///        [4, 4]], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, op="sum", *, initial=None, out=None, device=None))]
pub fn inclusive_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: &str,
    initial: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    scan(py, x, op, ScanKind::Inclusive, initial, out, device)
}

/// Running totals before each element, or before each of a row: `out[i] = initial + x[0] + … + x[i - 1]`.
///
/// ```pycon
/// >>> exclusive_scan(numpy.array([3, 1, 4, 1], dtype="u4"))
/// array([0, 3, 4, 8], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, op="sum", *, initial=None, out=None, device=None))]
pub fn exclusive_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: &str,
    initial: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    scan(py, x, op, ScanKind::Exclusive, initial, out, device)
}

fn scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: &str,
    kind: ScanKind,
    from: Option<&Any<'py>>,
    out: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let x = Array::of(x, "x")?;
    let (op, n, initial) = (operator(op, &x)?, x.len() as u64, initial(py, from, x.scalar)?);
    let request: Request = match x.width("x")? {
        None => ScanRequest { op, n, kind, initial, total: false }.into(),
        Some(width) => {
            SegmentedRequest { op, n, by: Segments::Rows(width as u64), gives: Gives::Prefixes(kind), initial }.into()
        }
    };
    let out = out.map(|out| Array::of(out, "out")).transpose()?;
    device_of(py, device)?.run(py, request, &[(Slot::Input, &x)], &x.shape, out)?.take(Slot::Output)
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
#[pyo3(signature = (x, op="sum", *, initial=None, device=None))]
pub fn reduce<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    op: &str,
    initial: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let x = Array::of(x, "x")?;
    let (op, n, from) = (operator(op, &x)?, x.len() as u64, self::initial(py, initial, x.scalar)?);
    let device = device_of(py, device)?;
    match x.width("x")? {
        None => number(
            device
                .run(py, ReduceRequest { op, n, initial: from }.into(), &[(Slot::Input, &x)], &[], None)?
                .take(Slot::Output)?,
        ),
        Some(width) => {
            let request =
                SegmentedRequest { op, n, by: Segments::Rows(width as u64), gives: Gives::Total, initial: from };
            device.run(py, request.into(), &[(Slot::Input, &x)], &[], None)?.take(Slot::Output)
        }
    }
}

fn order(descending: bool) -> Order {
    if descending { Order::Descending } else { Order::Ascending }
}

/// A sort's request, of the rows of a matrix if it is one.
fn sorting(keys: &Array<'_>, descending: bool) -> PyResult<SortRequest> {
    let request = SortRequest::new(keys.scalar.into(), keys.len() as u64).in_order(order(descending));
    Ok(match keys.width("keys")? {
        Some(width) => request.of_segments(Segments::Rows(width as u64)),
        None => request,
    })
}

fn sorted<'py>(
    py: Python<'py>,
    request: SortRequest,
    (keys, values): (&Array<'py>, Option<&Any<'py>>),
    offsets: Option<&Array<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let values = values.map(|values| Array::of(values, "values")).transpose()?;
    if let Some(values) = &values {
        same_length(keys, values, "keys and values")?;
    }
    let request = request.with(values.as_ref().map(|values| ElementType::from(values.scalar)));
    let mut given = vec![(Slot::Input, keys)];
    given.extend(offsets.map(|offsets| (Slot::Offsets, offsets)));
    given.extend(values.iter().map(|values| (Slot::InputValues, values)));
    let mut results = device_of(py, device)?.run(py, request.into(), &given, &keys.shape, None)?;
    if values.is_some() { results.pair(py) } else { results.take(Slot::Output) }
}

/// The keys in order, stably, or those of each row of a matrix. With values it gives keys and values.
///
/// Floats are ordered by IEEE 754's total order: -0 before +0, and NaNs at the ends by their signs.
///
/// ```pycon
/// >>> sort(numpy.array([2.5, -1.0, 7.0], dtype="f4"))
/// array([-1. ,  2.5,  7. ], dtype=float32)
/// >>> sort(numpy.array([2, 1], dtype="u4"), numpy.array([0.5, 1.5]))
/// (array([1, 2], dtype=uint32), array([1.5, 0.5]))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values=None, *, descending=false, device=None))]
pub fn sort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: Option<&Any<'py>>,
    descending: bool,
    device: Named,
) -> PyResult<Any<'py>> {
    let keys = Array::of(keys, "keys")?;
    sorted(py, sorting(&keys, descending)?, (&keys, values), None, device)
}

/// The keys of each segment in order, stably. Segment `i` has the keys from `offsets[i]` to `offsets[i + 1]`.
///
/// ```pycon
/// >>> segmented_sort(numpy.array([3, 1, 5, 4], dtype="u4"), numpy.array([0, 2, 4], dtype="u4"))
/// array([1, 3, 4, 5], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, offsets, values=None, *, descending=false, device=None))]
pub fn segmented_sort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    offsets: &Any<'py>,
    values: Option<&Any<'py>>,
    descending: bool,
    device: Named,
) -> PyResult<Any<'py>> {
    let (keys, begins) = (Array::of(keys, "keys")?, Array::of(offsets, "offsets")?);
    keys.check_flat("keys")?;
    let request = sorting(&keys, descending)?.of_segments(self::offsets(&begins)?);
    sorted(py, request, (&keys, values), Some(&begins), device)
}

/// Where the keys stand that come first, second and so on, as uint32; of a matrix within each row. Equal keys keep their order.
///
/// ```pycon
/// >>> argsort(numpy.array([30, 10, 20], dtype="u2"))
/// array([1, 2, 0], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, *, descending=false, device=None))]
pub fn argsort<'py>(py: Python<'py>, keys: &Any<'py>, descending: bool, device: Named) -> PyResult<Any<'py>> {
    let keys = Array::of(keys, "keys")?;
    let plain = sorting(&keys, descending)?;
    let mut request = SortRequest::argsort(keys.scalar.into(), plain.n).in_order(plain.order);
    request.segments = plain.segments;
    device_of(py, device)?.run(py, request.into(), &[(Slot::Input, &keys)], &keys.shape, None)?.take(Slot::Output)
}

/// The `k` largest keys in order, or the smallest, and where they stand; of a matrix those of each row.
///
/// Of equal keys the one that stands first comes first, on every device.
///
/// ```pycon
/// >>> top_k(numpy.array([3.0, 9.0, 4.0], dtype="f4"), 2)
/// (array([9., 4.], dtype=float32), array([1, 2], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, k, *, largest=true, device=None))]
pub fn top_k<'py>(py: Python<'py>, keys: &Any<'py>, k: u64, largest: bool, device: Named) -> PyResult<Any<'py>> {
    let keys = Array::of(keys, "keys")?;
    let width = keys.width("keys")?;
    let most = width.unwrap_or(keys.len());
    if k > most as u64 {
        return Err(PyValueError::new_err(format!(
            "k: {k} keys of {most} are wanted; ask for as many as there are, or fewer"
        )));
    }
    let mut request = TopKRequest::new(keys.scalar.into(), keys.len() as u64, k);
    request.order = order(largest);
    request.wanted = Wanted::KeysAndIndices;
    request.segments = width.map(|width| Segments::Rows(width as u64));
    let shape = [keys.shape[0], k as usize];
    let shape = if width.is_some() { &shape[..] } else { &shape[1..] };
    device_of(py, device)?.run(py, request.into(), &[(Slot::Input, &keys)], shape, None)?.pair(py)
}

/// The key that stands at a place of all keys in order, from 0 on.
///
/// ```pycon
/// >>> nth_element(numpy.array([20, 10, 30], dtype="u4"), 1)
/// np.uint32(20)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, nth, *, descending=false, device=None))]
pub fn nth_element<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    nth: u64,
    descending: bool,
    device: Named,
) -> PyResult<Any<'py>> {
    let keys = Array::of(keys, "keys")?;
    keys.check_flat("keys")?;
    if nth >= keys.len() as u64 {
        return Err(PyValueError::new_err(format!("nth: place {nth} of {} keys; the first is 0", keys.len())));
    }
    let mut request = TopKRequest::new(keys.scalar.into(), keys.len() as u64, nth + 1);
    (request.order, request.wanted) = (order(descending), Wanted::Last);
    number(device_of(py, device)?.run(py, request.into(), &[(Slot::Input, &keys)], &[], None)?.take(Slot::Output)?)
}

/// The elements whose flags are not 0 or False, in their order.
///
/// ```pycon
/// >>> x = numpy.array([5, 6, 7], dtype="u4")
/// >>> select(x, x != 6)
/// array([5, 7], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, flags, *, device=None))]
pub fn select<'py>(py: Python<'py>, x: &Any<'py>, flags: &Any<'py>, device: Named) -> PyResult<Any<'py>> {
    let (x, flags) = (Array::of(x, "x")?, Array::of(flags, "flags")?);
    x.check_flat("x")?;
    same_length(&x, &flags, "x and flags")?;
    let selector = match flags.scalar {
        Scalar::U8 => Selector::of::<u8, _>(NonZero),
        Scalar::I8 => Selector::of::<i8, _>(NonZero),
        Scalar::U16 => Selector::of::<u16, _>(NonZero),
        Scalar::I16 => Selector::of::<i16, _>(NonZero),
        Scalar::U32 => Selector::of::<u32, _>(NonZero),
        Scalar::I32 => Selector::of::<i32, _>(NonZero),
        Scalar::U64 => Selector::of::<u64, _>(NonZero),
        Scalar::I64 => Selector::of::<i64, _>(NonZero),
        other => {
            return Err(PyTypeError::new_err(format!("flags: {}; pass bool or integers, such as x > 0", other.name())));
        }
    };
    let request =
        SelectRequest { selector, n: x.len() as u64, rest: Rest::Dropped, keeps: Keeps::Values(x.scalar.into()) };
    let given = [(Slot::Input, &flags), (Slot::InputValues, &x)];
    device_of(py, device)?.run(py, request.into(), &given, &x.shape, None)?.take(Slot::Output)
}

/// The first of each run of equal elements: of sorted ones each element once.
///
/// ```pycon
/// >>> unique(numpy.array([1, 1, 2, 1], dtype="u4"))
/// array([1, 2, 1], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, *, device=None))]
pub fn unique<'py>(py: Python<'py>, x: &Any<'py>, device: Named) -> PyResult<Any<'py>> {
    let x = Array::of(x, "x")?;
    x.check_flat("x")?;
    let request = SelectRequest { selector: runs_of(&x)?, n: x.len() as u64, rest: Rest::Dropped, keeps: Keeps::Items };
    device_of(py, device)?.run(py, request.into(), &[(Slot::Input, &x)], &x.shape, None)?.take(Slot::Output)
}

/// The first key of each run of equal ones, and the value beside it.
///
/// ```pycon
/// >>> unique_by_key(numpy.array([1, 1, 2], dtype="u4"), numpy.array([10, 20, 30], dtype="u4"))
/// (array([1, 2], dtype=uint32), array([10, 30], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values, *, device=None))]
pub fn unique_by_key<'py>(py: Python<'py>, keys: &Any<'py>, values: &Any<'py>, device: Named) -> PyResult<Any<'py>> {
    let (keys, values) = (Array::of(keys, "keys")?, Array::of(values, "values")?);
    keys.check_flat("keys")?;
    same_length(&keys, &values, "keys and values")?;
    let keeps = Keeps::Pairs(values.scalar.into());
    let request = SelectRequest { selector: runs_of(&keys)?, n: keys.len() as u64, rest: Rest::Dropped, keeps };
    let given = [(Slot::Input, &keys), (Slot::InputValues, &values)];
    device_of(py, device)?.run(py, request.into(), &given, &keys.shape, None)?.pair(py)
}

fn runs_of(keys: &Array<'_>) -> PyResult<Selector> {
    let none = || PyTypeError::new_err(format!("keys of {} have no runs here", keys.scalar.name()));
    Selector::first_of_run_of(keys.scalar).ok_or_else(none)
}

/// The keys of the runs of equal ones, and the total of each run's values.
///
/// ```pycon
/// >>> reduce_by_key(numpy.array([1, 1, 2], dtype="u4"), numpy.array([10, 20, 30], dtype="u4"))
/// (array([1, 2], dtype=uint32), array([30, 30], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, values, op="sum", *, device=None))]
pub fn reduce_by_key<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: &Any<'py>,
    op: &str,
    device: Named,
) -> PyResult<Any<'py>> {
    let (keys, values) = (Array::of(keys, "keys")?, Array::of(values, "values")?);
    same_length(&keys, &values, "keys and values")?;
    let op = operator(op, &values)?;
    by_runs(py, &keys, Some((op, &values)), device)
}

/// The elements of the runs of equal ones, and how long each run is.
///
/// ```pycon
/// >>> run_length_encode(numpy.array([7, 7, 5], dtype="u4"))
/// (array([7, 5], dtype=uint32), array([2, 1], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, *, device=None))]
pub fn run_length_encode<'py>(py: Python<'py>, x: &Any<'py>, device: Named) -> PyResult<Any<'py>> {
    by_runs(py, &Array::of(x, "x")?, None, device)
}

fn by_runs<'py>(
    py: Python<'py>,
    keys: &Array<'py>,
    values: Option<(Op, &Array<'py>)>,
    device: Named,
) -> PyResult<Any<'py>> {
    keys.check_flat("keys")?;
    let (op, values) = values.unzip();
    let mut given = vec![(Slot::Input, keys)];
    given.extend(values.map(|values| (Slot::InputValues, values)));
    let request = ReduceByKeyRequest { key: keys.scalar.into(), op, n: keys.len() as u64 };
    device_of(py, device)?.run(py, request.into(), &given, &keys.shape, None)?.pair(py)
}

/// How many elements each bin has, or the sum of their weights. The elements are the bins' numbers, as uint32; those past the last bin
/// count nowhere. Weights are uint32, int32 or float32.
///
/// ```pycon
/// >>> histogram(numpy.array([2, 0, 2], dtype="u4"), 3)
/// array([1, 0, 2], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, bins, *, weights=None, device=None))]
pub fn histogram<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    bins: u64,
    weights: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let x = Array::of(x, "x")?;
    if x.scalar != Scalar::U32 {
        return Err(PyTypeError::new_err(format!(
            "x: {}; a bin's number is uint32: pass x.astype('u4')",
            x.scalar.name()
        )));
    }
    let weights = weights.map(|weights| Array::of(weights, "weights")).transpose()?;
    let mut given = vec![(Slot::Input, &x)];
    if let Some(weights) = &weights {
        same_length(&x, weights, "x and weights")?;
        given.push((Slot::InputValues, weights));
    }
    let request = HistogramRequest { bins, n: x.len() as u64, weight: weights.as_ref().map(|weights| weights.scalar) };
    device_of(py, device)?.run(py, request.into(), &given, &[], None)?.take(Slot::Output)
}

/// The total of each segment. Segment `i` has the elements from `offsets[i]` to `offsets[i + 1]`, and may have none.
///
/// ```pycon
/// >>> segmented_reduce(numpy.array([3, 1, 4], dtype="u4"), numpy.array([0, 2, 2, 3], dtype="u4"))
/// array([4, 0, 4], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, offsets, op="sum", *, initial=None, device=None))]
pub fn segmented_reduce<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    offsets: &Any<'py>,
    op: &str,
    initial: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    segmented(py, x, offsets, op, Gives::Total, initial, device)
}

/// Running totals within each segment, with each element or before it.
///
/// ```pycon
/// >>> segmented_scan(numpy.array([3, 1, 4], dtype="u4"), numpy.array([0, 2, 3], dtype="u4"))
/// array([3, 4, 4], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (x, offsets, op="sum", *, exclusive=false, initial=None, device=None))]
pub fn segmented_scan<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    offsets: &Any<'py>,
    op: &str,
    exclusive: bool,
    initial: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let kind = if exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
    segmented(py, x, offsets, op, Gives::Prefixes(kind), initial, device)
}

fn segmented<'py>(
    py: Python<'py>,
    x: &Any<'py>,
    begins: &Any<'py>,
    op: &str,
    gives: Gives,
    from: Option<&Any<'py>>,
    device: Named,
) -> PyResult<Any<'py>> {
    let (x, begins) = (Array::of(x, "x")?, Array::of(begins, "offsets")?);
    x.check_flat("x")?;
    let request = SegmentedRequest {
        op: operator(op, &x)?,
        n: x.len() as u64,
        by: offsets(&begins)?,
        gives,
        initial: initial(py, from, x.scalar)?,
    };
    let given = [(Slot::Input, &x), (Slot::Offsets, &begins)];
    device_of(py, device)?.run(py, request.into(), &given, &[], None)?.take(Slot::Output)
}
