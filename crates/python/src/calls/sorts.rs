//! Sorts, and what picks keys by their order.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trifold::builders::Order;
use trifold::plan::{MAX_ELEMENTS, Segments, Slot, SortRequest, TopKRequest, Wanted};
use trifold::types::ElementType;

use super::{Any, same_length, segments, whole};
use crate::array::Array;
use crate::device::Device;
use crate::run::{Caller, Form};

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

/// Sorts keys, and values if there are some.
fn sorted<'py>(
    py: Python<'py>,
    request: SortRequest,
    (keys, values): (&Array<'py>, Option<&Any<'py>>),
    offsets: Option<&Array<'py>>,
    caller: Caller<'py>,
) -> PyResult<Any<'py>> {
    let values = values.map(|values| caller.array(values, "values")).transpose()?;
    if let Some(values) = &values {
        same_length(keys, values, "keys and values")?;
    }
    let request = request.with(values.as_ref().map(|values| ElementType::from(values.scalar)));
    let mut given = vec![(Slot::Input, keys)];
    given.extend(offsets.map(|offsets| (Slot::Offsets, offsets)));
    given.extend(values.iter().map(|values| (Slot::InputValues, values)));
    let results = caller.run(request, &given, Form::of(&keys.shape))?;
    if values.is_some() { results.with(py, Slot::OutputValues) } else { results.take(Slot::Output) }
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
#[pyo3(signature = (keys, values=None, *, descending=false, out=None, device=None, stream=None))]
pub fn sort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    values: Option<&Any<'py>>,
    descending: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    sorted(py, sorting(&keys, descending)?, (&keys, values), None, caller)
}

/// The keys of each segment in order, stably. Segment `i` has the keys from `offsets[i]` to `offsets[i + 1]`.
///
/// ```pycon
/// >>> segmented_sort(numpy.array([3, 1, 5, 4], dtype="u4"), numpy.array([0, 2, 4], dtype="u4"))
/// array([1, 3, 4, 5], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, offsets, values=None, *, descending=false, out=None, device=None, stream=None))]
pub fn segmented_sort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    offsets: &Any<'py>,
    values: Option<&Any<'py>>,
    descending: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let (begins, by) = segments(&caller, (&keys, "keys"), offsets)?;
    sorted(py, sorting(&keys, descending)?.of_segments(by), (&keys, values), Some(&begins), caller)
}

/// Gives places, and the sorted keys before them if they are asked for.
fn places<'py>(
    py: Python<'py>,
    plain: SortRequest,
    (keys, offsets): (&Array<'py>, Option<&Array<'py>>),
    with_keys: bool,
    caller: Caller<'py>,
) -> PyResult<Any<'py>> {
    let mut request = SortRequest::argsort(plain.key, plain.n).in_order(plain.order);
    (request.segments, request.writes_keys) = (plain.segments, with_keys);
    // The places are the output, and the keys beside them its values.
    let form = Form::of(&keys.shape).with_places(&[Slot::Output]);
    let caller = if with_keys { caller.out_reversed() } else { caller };
    let given = [Some((Slot::Input, keys)), offsets.map(|offsets| (Slot::Offsets, offsets))];
    let results = caller.run(request, &given.into_iter().flatten().collect::<Vec<_>>(), form)?;
    let places = results.take(Slot::Output)?;
    if !with_keys {
        return Ok(places);
    }
    Ok((results.take(Slot::OutputValues)?, places).into_pyobject(py)?.into_any())
}

/// Where the keys stand that come first, second and so on; of a matrix within each row. Equal keys keep their order. With
/// `with_keys=True` it gives the sorted keys too, first.
///
/// Places are uint32, and int32 in torch, which indexes by no unsigned numbers.
///
/// ```pycon
/// >>> argsort(numpy.array([30, 10, 20], dtype="u2"))
/// array([1, 2, 0], dtype=uint32)
/// >>> argsort(numpy.array([30, 10, 20], dtype="u2"), with_keys=True)
/// (array([10, 20, 30], dtype=uint16), array([1, 2, 0], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, *, descending=false, with_keys=false, out=None, device=None, stream=None))]
pub fn argsort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    descending: bool,
    with_keys: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    places(py, sorting(&keys, descending)?, (&keys, None), with_keys, caller)
}

/// Where the keys of each segment stand within it, in their order. Segment `i` has the keys from `offsets[i]` to `offsets[i + 1]`.
///
/// ```pycon
/// >>> segmented_argsort(numpy.array([3, 1, 5, 4], dtype="u4"), numpy.array([0, 2, 4], dtype="u4"))
/// array([1, 0, 1, 0], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, offsets, *, descending=false, with_keys=false, out=None, device=None, stream=None))]
pub fn segmented_argsort<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    offsets: &Any<'py>,
    descending: bool,
    with_keys: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let (begins, by) = segments(&caller, (&keys, "keys"), offsets)?;
    places(py, sorting(&keys, descending)?.of_segments(by), (&keys, Some(&begins)), with_keys, caller)
}

/// The `k` largest keys in order, or the smallest, and where they stand; of a matrix those of each row.
///
/// Of equal keys the one that stands first comes first, on every device. With `sorted=False` the keys stay in the order in which they
/// stand.
///
/// ```pycon
/// >>> top_k(numpy.array([3.0, 4.0, 9.0], dtype="f4"), 2)
/// (array([9., 4.], dtype=float32), array([2, 1], dtype=uint32))
/// >>> top_k(numpy.array([3.0, 4.0, 9.0], dtype="f4"), 2, sorted=False)
/// (array([4., 9.], dtype=float32), array([1, 2], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, k, *, largest=true, sorted=true, out=None, device=None, stream=None))]
pub fn top_k<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    #[pyo3(from_py_with = whole)] k: u64,
    largest: bool,
    sorted: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let width = keys.width("keys")?;
    let most = width.unwrap_or(keys.len());
    if k > most as u64 {
        return Err(PyValueError::new_err(match most {
            0 => format!("k: {k} keys of none are wanted; pass as many keys at least"),
            _ => format!("k: {k} keys of {most} are wanted; ask for as many as there are, or fewer"),
        }));
    }
    let request = largest_of(&keys, k, (largest, sorted), width.map(|width| Segments::Rows(width as u64)));
    let shape = [keys.shape[0], k as usize];
    let form = Form::of(if width.is_some() { &shape } else { &shape[1..] }).with_places(&[Slot::OutputValues]);
    caller.run(request, &[(Slot::Input, &keys)], form)?.with(py, Slot::OutputValues)
}

fn largest_of(keys: &Array<'_>, k: u64, (largest, sorted): (bool, bool), segments: Option<Segments>) -> TopKRequest {
    let mut request = TopKRequest::new(keys.scalar.into(), keys.len() as u64, k);
    (request.order, request.wanted, request.segments) = (order(largest), Wanted::KeysAndIndices, segments);
    request.sorted = sorted;
    request
}

/// The last of so many keys alone, or of each segment.
fn nth_of(keys: &Array<'_>, nth: u64, descending: bool, segments: Option<Segments>) -> TopKRequest {
    let mut request = TopKRequest::new(keys.scalar.into(), keys.len() as u64, nth.saturating_add(1));
    (request.order, request.wanted, request.segments) = (order(descending), Wanted::Last, segments);
    request
}

/// The `k` largest keys of each segment in order, or the smallest, and where they stand in it: a row for each segment. Segment `i` has
/// the keys from `offsets[i]` to `offsets[i + 1]`. Behind the keys of one that has fewer there are zeros, and
/// 2**32 - 1 behind their places, which in torch is -1.
///
/// ```pycon
/// >>> segmented_top_k(numpy.array([3, 9, 4, 7], dtype="u4"), numpy.array([0, 3, 4], dtype="u4"), 2)
/// (array([[9, 4],
///        [7, 0]], dtype=uint32), array([[         1,          2],
///        [         0, 4294967295]], dtype=uint32))
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, offsets, k, *, largest=true, sorted=true, out=None, device=None, stream=None))]
pub fn segmented_top_k<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    offsets: &Any<'py>,
    #[pyo3(from_py_with = whole)] k: u64,
    largest: bool,
    sorted: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let (begins, by) = segments(&caller, (&keys, "keys"), offsets)?;
    let count = begins.len() - 1;
    if k.checked_mul(count as u64).is_none_or(|all| all > MAX_ELEMENTS) {
        return Err(PyValueError::new_err(format!(
            "k: {k} keys of each of {count} segments; a call gives {MAX_ELEMENTS} at most"
        )));
    }
    let shape = [count, k as usize];
    let form = Form::of(&shape).with_places(&[Slot::OutputValues]);
    let given = [(Slot::Input, &keys), (Slot::Offsets, &begins)];
    caller.run(largest_of(&keys, k, (largest, sorted), Some(by)), &given, form)?.with(py, Slot::OutputValues)
}

/// The key that stands at a place of all keys in order, from 0 on; of a matrix that of each row.
///
/// ```pycon
/// >>> nth_element(numpy.array([20, 10, 30], dtype="u4"), 1)
/// np.uint32(20)
/// >>> nth_element(numpy.array([[20, 10, 30], [3, 1, 2]], dtype="u4"), 1)
/// array([20,  2], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, nth, *, descending=false, out=None, device=None, stream=None))]
pub fn nth_element<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    #[pyo3(from_py_with = whole)] nth: u64,
    descending: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let width = keys.width("keys")?;
    let most = width.unwrap_or(keys.len());
    if nth >= most as u64 {
        return Err(PyValueError::new_err(match most {
            0 => format!("nth: place {nth} of no keys; pass one key at least"),
            _ => format!("nth: place {nth} of {most} keys; the first is 0, so ask for {} at most", most - 1),
        }));
    }
    let request = nth_of(&keys, nth, descending, width.map(|width| Segments::Rows(width as u64)));
    let form = if width.is_some() { Form::of(&keys.shape[..1]) } else { Form::number() };
    caller.run(request, &[(Slot::Input, &keys)], form)?.take(Slot::Output)
}

/// The key that stands at a place of each segment in order, from 0 on. Segment `i` has the keys from `offsets[i]` to `offsets[i + 1]`.
/// Of one that has fewer keys it is the last, and 0 if it has none.
///
/// ```pycon
/// >>> segmented_nth_element(numpy.array([3, 9, 4, 7], dtype="u4"), numpy.array([0, 3, 4], dtype="u4"), 1)
/// array([4, 7], dtype=uint32)
///
/// ```
#[pyfunction]
#[pyo3(signature = (keys, offsets, nth, *, descending=false, out=None, device=None, stream=None))]
pub fn segmented_nth_element<'py>(
    py: Python<'py>,
    keys: &Any<'py>,
    offsets: &Any<'py>,
    #[pyo3(from_py_with = whole)] nth: u64,
    descending: bool,
    out: Option<&Any<'py>>,
    device: Option<Device>,
    stream: Option<&Any<'py>>,
) -> PyResult<Any<'py>> {
    let caller = Caller::new(py, device, stream, out)?;
    let keys = caller.array(keys, "keys")?;
    let (begins, by) = segments(&caller, (&keys, "keys"), offsets)?;
    let shape = [begins.len() - 1];
    let given = [(Slot::Input, &keys), (Slot::Offsets, &begins)];
    caller.run(nth_of(&keys, nth, descending, Some(by)), &given, Form::of(&shape))?.take(Slot::Output)
}
