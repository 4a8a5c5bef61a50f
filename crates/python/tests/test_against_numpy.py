"""Every function against NumPy, on arrays of many types and lengths."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trifold_gpu as gpu

KEYS = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"]
NUMBERS = ["u4", "i4", "u8", "i8"]
LENGTHS = [0, 1, 2, 255, 5003]

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def made(dtype, shape, seed=1):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def can(device, dtype, n):
    """Some devices have no 64-bit numbers. Others than the processor compile for seconds, so that they get fewer cases."""
    if device.backend != "cpu" and (dtype not in ["u4", "f4", "i8"] or n not in [0, 5003]):
        pytest.skip("a case of the processor's")
    try:
        gpu.sort(made(dtype, 3), device=device)
    except NotImplementedError:
        pytest.skip(f"{device} has no {dtype}")


@pytest.mark.parametrize("dtype", KEYS)
@pytest.mark.parametrize("n", LENGTHS)
def test_sort(device, dtype, n):
    can(device, dtype, n)
    x = made(dtype, n)
    np.testing.assert_array_equal(gpu.sort(x, device=device), np.sort(x))
    np.testing.assert_array_equal(gpu.sort(x, descending=True, device=device), np.sort(x)[::-1])
    order = gpu.argsort(x, device=device)
    assert order.dtype == np.uint32
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
    keys, values = gpu.sort(x, np.arange(n, dtype="u4"), device=device)
    np.testing.assert_array_equal(keys, np.sort(x))
    np.testing.assert_array_equal(values, order)


@pytest.mark.parametrize("dtype", ["u4", "f4"])
def test_rows(device, dtype):
    x = made(dtype, (37, 129))
    np.testing.assert_array_equal(gpu.sort(x, device=device), np.sort(x))
    np.testing.assert_array_equal(gpu.argsort(x, device=device), np.argsort(x, kind="stable"))
    keys, indices = gpu.top_k(x, 5, device=device)
    np.testing.assert_array_equal(keys, np.sort(x)[:, ::-1][:, :5])
    np.testing.assert_array_equal(np.take_along_axis(x, indices.astype(int), 1), keys)
    np.testing.assert_array_equal(gpu.reduce(x, "max", device=device), x.max(axis=1))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("n", LENGTHS)
def test_scan_and_reduce(device, dtype, n):
    can(device, dtype, n)
    x = made(dtype, n)
    sums = np.cumsum(x, dtype=dtype)
    np.testing.assert_array_equal(gpu.inclusive_scan(x, device=device), sums)
    np.testing.assert_array_equal(gpu.exclusive_scan(x, device=device), sums - x)
    out = np.empty_like(x)
    assert gpu.inclusive_scan(x, "max", out=out, device=device) is out
    np.testing.assert_array_equal(out, np.maximum.accumulate(x))
    np.testing.assert_array_equal(gpu.inclusive_scan(x, initial=3, device=device), sums + np.array(3, dtype=dtype))
    assert gpu.reduce(x, device=device) == x.sum(dtype=dtype)
    assert gpu.reduce(x, "xor", device=device) == np.bitwise_xor.reduce(x)


@pytest.mark.parametrize("n", LENGTHS)
def test_selections(device, n):
    can(device, "f4", n)
    x = made("f4", n)
    np.testing.assert_array_equal(gpu.select(x, x > 0, device=device), x[x > 0])
    few = made("u1", n) % 3
    ends = np.flatnonzero(np.append(few[1:] != few[:-1], True)) if n else np.array([], int)
    starts = np.append(0, ends[:-1] + 1) if n else ends
    np.testing.assert_array_equal(gpu.unique(few, device=device), few[starts])
    keys, values = gpu.unique_by_key(few, x, device=device)
    np.testing.assert_array_equal(keys, few[starts])
    np.testing.assert_array_equal(values, x[starts])
    keys, lengths = gpu.run_length_encode(few, device=device)
    np.testing.assert_array_equal(keys, few[starts])
    np.testing.assert_array_equal(lengths, ends - starts + 1)
    numbers = made("u4", n)
    _, totals = gpu.reduce_by_key(few, numbers, device=device)
    np.testing.assert_array_equal(totals, np.add.reduceat(numbers, starts, dtype="u4") if n else numbers)


OPERATORS = {
    "sum": np.add,
    "product": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

numbers = st.sampled_from(NUMBERS).flatmap(
    lambda dtype: st.lists(st.integers(0, 100), max_size=300).map(lambda list: np.array(list, dtype=dtype))
)


@few
@given(numbers, st.sampled_from(sorted(OPERATORS)), st.none() | st.integers(0, 9))
def test_operators(device, x, op, initial):
    if device.backend != "cpu":
        x, op = x.astype("u4"), "sum" if op in ("product", "and", "xor") else op
    of = OPERATORS[op]
    begin = np.array([] if initial is None else [initial], dtype=x.dtype)
    all_of = of.accumulate(np.append(begin, x), dtype=x.dtype) if len(begin) + len(x) else x
    inclusive = gpu.inclusive_scan(x, op, initial=initial, device=device)
    np.testing.assert_array_equal(inclusive, all_of[len(begin) :])
    if initial is not None:
        np.testing.assert_array_equal(gpu.exclusive_scan(x, op, initial=initial, device=device), all_of[:-1])
        assert gpu.reduce(x, op, initial=initial, device=device) == all_of[-1]
    elif len(x):
        assert gpu.reduce(x, op, device=device) == all_of[-1]
    keys = np.sort(x % 7)
    values = np.arange(len(x), dtype=x.dtype)
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(x) else []
    parts = np.split(values, starts[1:]) if len(x) else []
    prefixes = [of.accumulate(part, dtype=x.dtype) for part in parts]
    got = gpu.scan_by_key(keys, values, op, device=device)
    np.testing.assert_array_equal(got, np.concatenate(prefixes) if parts else values)
    elements, totals = gpu.reduce_by_key(keys, values, op, device=device)
    np.testing.assert_array_equal(elements, np.unique(keys))
    np.testing.assert_array_equal(totals, np.array([part[-1] for part in prefixes], dtype=x.dtype))
    if op == "sum":
        exclusive = gpu.scan_by_key(keys, values, exclusive=True, device=device)
        np.testing.assert_array_equal(exclusive, np.concatenate([np.cumsum(part) - part for part in parts] or [values]))


@few
@given(numbers, st.sampled_from(["f4", "f8", "u8", "i4"]))
def test_dtype(device, x, dtype):
    if device.backend != "cpu":
        x, dtype = x.astype("u4"), "f4"
    # All sums are whole, and small enough for a float.
    np.testing.assert_array_equal(gpu.inclusive_scan(x, dtype=dtype, device=device), np.cumsum(x, dtype=dtype))
    total = gpu.reduce(x, dtype=dtype, device=device)
    assert total == x.sum(dtype=dtype) and total.dtype == dtype


@few
@given(st.lists(st.integers(-3, 3), max_size=300), st.sampled_from(["i4", "f4", "i2", "f8"]))
def test_selected(device, list, dtype):
    if device.backend != "cpu":
        dtype = "f4"
    x = np.array(list, dtype=dtype)
    np.testing.assert_array_equal(gpu.select(x, x > 0, device=device), x[x > 0])
    for kept, wanted in zip(gpu.partition(x, x > 0, device=device), [x[x > 0], x[x <= 0]]):
        np.testing.assert_array_equal(kept, wanted)
    np.testing.assert_array_equal(gpu.flatnonzero(x != 0, device=device), np.flatnonzero(x))
    np.testing.assert_array_equal(gpu.flatnonzero(x, device=device), np.flatnonzero(x))
    np.testing.assert_array_equal(gpu.select(x, "nonzero", device=device), x[x != 0])
    upper = x >= (0.5 if x.dtype.kind == "f" else 0)
    np.testing.assert_array_equal(gpu.flatnonzero(x, "upper_half", device=device), np.flatnonzero(upper))
    for kept, wanted in zip(gpu.partition(x, "upper_half", device=device), [x[upper], x[~upper]]):
        np.testing.assert_array_equal(kept, wanted)


def test_floats_that_are_nonzero(device):
    x = np.array([0.0, -0.0, 1e-45, -1e-40, np.nan, np.inf, 1.0], dtype="f4")
    np.testing.assert_array_equal(gpu.flatnonzero(x, device=device), np.flatnonzero(x))


@few
@given(st.lists(st.integers(0, 2**32 - 1), max_size=300), st.integers(1, 40))
def test_top_k(device, keys, k):
    x = np.array(keys, dtype="u4")
    if k > len(keys):
        with pytest.raises(ValueError, match=str(k)):
            gpu.top_k(x, k, device=device)
        return
    best, indices = gpu.top_k(x, k, device=device)
    order = np.argsort(~x, kind="stable")[:k]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(best, x[order])
    least, _ = gpu.top_k(x, k, largest=False, device=device)
    np.testing.assert_array_equal(least, np.sort(x)[:k])
    assert gpu.nth_element(x, k - 1, device=device) == np.sort(x)[k - 1]
    same, standing = gpu.top_k(x, k, sorted=False, device=device)
    np.testing.assert_array_equal(standing, np.sort(order))
    np.testing.assert_array_equal(same, x[np.sort(order)])


@pytest.mark.parametrize("width,k", [(40, 7), (40, 40), (3000, 1000)])
def test_top_k_of_rows(device, width, k):
    x = made("f4", 12 * width).reshape(12, width)
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    best, places = gpu.top_k(x, k, sorted=False, device=device)
    np.testing.assert_array_equal(places, np.sort(order, axis=1))
    np.testing.assert_array_equal(best, np.take_along_axis(x, np.sort(order, axis=1), axis=1))
    np.testing.assert_array_equal(gpu.nth_element(x, k - 1, device=device), np.sort(x, axis=1)[:, k - 1])


@few
@given(st.lists(st.integers(0, 12), max_size=400), st.integers(1, 10))
def test_histogram(device, bins, n):
    x = np.array(bins, dtype="u4")
    wanted = np.bincount(x, minlength=13)[:n]
    np.testing.assert_array_equal(gpu.histogram(x, n, device=device), wanted)
    weights = np.arange(len(bins), dtype="u4")
    sums = np.bincount(x, weights, minlength=13)[:n]
    np.testing.assert_array_equal(gpu.histogram(x, n, weights=weights, device=device), sums)


@few
@given(st.lists(st.integers(0, 30), min_size=1, max_size=20))
def test_segments(device, lengths):
    offsets = np.append(0, np.cumsum(lengths)).astype("u4")
    x = made("u4", offsets[-1])
    parts = [x[a:b] for a, b in zip(offsets, offsets[1:])]
    totals = [part.sum(dtype="u4") for part in parts]
    np.testing.assert_array_equal(gpu.segmented_reduce(x, offsets, device=device), totals)
    prefixes = [np.cumsum(part, dtype="u4") for part in parts]
    np.testing.assert_array_equal(gpu.segmented_scan(x, offsets, device=device), np.concatenate(prefixes))
    ordered = np.concatenate([np.sort(part) for part in parts])
    np.testing.assert_array_equal(gpu.segmented_sort(x, offsets, device=device), ordered)


@few
@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(1, 12))
def test_order_of_segments(device, lengths, k):
    offsets = np.append(0, np.cumsum(lengths)).astype("u4")
    x = made("u4", offsets[-1]) % 50
    parts = [x[a:b] for a, b in zip(offsets, offsets[1:])]
    orders = [np.argsort(part, kind="stable") for part in parts]
    np.testing.assert_array_equal(gpu.segmented_argsort(x, offsets, device=device), np.concatenate(orders))
    keys, places = gpu.segmented_argsort(x, offsets, with_keys=True, device=device)
    np.testing.assert_array_equal(places, np.concatenate(orders))
    np.testing.assert_array_equal(keys, np.concatenate([np.sort(part) for part in parts]))
    values = np.arange(len(x), dtype="u4")
    keys, moved = gpu.segmented_sort(x, offsets, values, descending=True, device=device)
    falling = [a + np.argsort(-part.astype(int), kind="stable") for a, part in zip(offsets, parts)]
    np.testing.assert_array_equal(moved, np.concatenate(falling))
    np.testing.assert_array_equal(keys, x[moved])
    best, places = gpu.segmented_top_k(x, offsets, k, device=device)
    for i, part in enumerate(parts):
        wanted = np.argsort(-part.astype(int), kind="stable")[:k]
        np.testing.assert_array_equal(places[i, : len(wanted)], wanted)
        np.testing.assert_array_equal(best[i, : len(wanted)], part[wanted])
        assert not best[i, len(wanted) :].any() and (places[i, len(wanted) :] == 2**32 - 1).all()
    last = [np.sort(part)[: k][-1] if len(part) else 0 for part in parts]
    np.testing.assert_array_equal(gpu.segmented_nth_element(x, offsets, k - 1, device=device), last)
    _, standing = gpu.segmented_top_k(x, offsets, k, sorted=False, device=device)
    for of_one, part in zip(standing, parts):
        wanted = np.sort(np.argsort(-part.astype(int), kind="stable")[:k])
        np.testing.assert_array_equal(of_one[: len(wanted)], wanted)
    prefixes = gpu.segmented_scan(x, offsets, exclusive=True, device=device)
    np.testing.assert_array_equal(prefixes, np.concatenate([np.cumsum(part) - part for part in parts]))


def test_out_of_every_function(device):
    """Results in arrays that a caller brings, of which what is counted has the first part."""
    x, offsets = made("u4", 100) % 5, np.array([0, 40, 100], dtype="u4")
    ones = np.ones(100, dtype="u4")
    calls = {
        "inclusive_scan": (x,),
        "exclusive_scan": (x,),
        "reduce": (x,),
        "segmented_reduce": (x, offsets),
        "segmented_scan": (x, offsets),
        "scan_by_key": (x, ones),
        "sort": (x, ones),
        "segmented_sort": (x, offsets, ones),
        "argsort": (x,),
        "segmented_argsort": (x, offsets),
        "top_k": (x, 7),
        "segmented_top_k": (x, offsets, 7),
        "nth_element": (x, 50),
        "segmented_nth_element": (x, offsets, 7),
        "select": (x, x > 2),
        "partition": (x, x > 2),
        "flatnonzero": (x > 2,),
        "unique": (x,),
        "unique_by_key": (x, ones),
        "reduce_by_key": (x, ones),
        "run_length_encode": (x,),
        "histogram": (x, 5),
    }
    assert set(calls) == {name for name in dir(gpu) if not name.startswith("_") and name[0].islower()} - {"devices", "trifold_gpu"}
    for name, arguments in calls.items():
        wanted = getattr(gpu, name)(*arguments, device=device)
        several = wanted if isinstance(wanted, tuple) else (wanted,)
        # What is counted has room for all.
        is_counted = name in ("select", "partition", "flatnonzero", "unique", "unique_by_key", "reduce_by_key", "run_length_encode")
        room = tuple(np.full((100,) if is_counted else np.shape(part), 7, dtype=part.dtype) for part in several)
        results = getattr(gpu, name)(*arguments, out=room if len(room) > 1 else room[0], device=device)
        results = results if isinstance(results, tuple) else (results,)
        for part, result, out in zip(several, results, room):
            np.testing.assert_array_equal(result, part, err_msg=name)
            np.testing.assert_array_equal(out.ravel()[: np.size(part)], np.ravel(part), err_msg=name)


def test_lists_are_arrays(device):
    np.testing.assert_array_equal(gpu.sort([3, 1, 2], device=device), [1, 2, 3])
