"""Every form of Trifold's table: on each device, of arrays of NumPy's and of its own, it gives what the processor gives of NumPy's, and
a function offers it. The other files compare the functions with NumPy."""

import numpy as np
import pytest

import trifold_gpu as gpu

CPU = gpu.Device("cpu")

# The function that offers a form. A new primitive's forms need a row each.
OFFERED = {
    "scan": "inclusive_scan",
    "reduce": "reduce",
    "reduce_by_key": "reduce_by_key",
    "run_length_encode": "run_length_encode",
    "scan_by_key": "scan_by_key",
    "segmented_reduce": "segmented_reduce",
    "segmented_scan": "segmented_scan",
    "segmented_sort": "segmented_sort",
    "segmented_sort_pairs": "segmented_sort",
    "segmented_top_k": "segmented_top_k",
    "sort_keys": "sort",
    "sort_pairs": "sort",
    "argsort": "argsort",
    "top_k": "top_k",
    "nth_element": "nth_element",
    "select_if": "select",
    "select_flagged": "select",
    "partition_if": "partition",
    "find_all": "flatnonzero",
    "unique": "unique",
    "unique_by_key": "unique_by_key",
    "histogram": "histogram",
    "weighted_histogram": "histogram",
}
# Forms that no function offers: the libraries have them as `copy`, `x + 1`, `diff`, `x[i] = y`, `dot` and `argmin`, of any type.
LEFT_OUT = {"copy", "transform", "adjacent_difference", "scatter", "sum_of_squares", "dot", "arg_min", "histogram_by_edges"}


def made(form, slot, dtype, n, of):
    random = np.random.default_rng(n)
    if slot == "offsets":
        return np.linspace(0, of, n).astype(dtype)
    if (form, slot) == ("scatter", "input values"):
        return random.permutation(n).astype(dtype)
    # Few values: there are runs of equal ones, and places that are in reach.
    return random.integers(0, 200, n).astype(dtype)


def forms(dtype, n):
    return {name: [(slot, of, length) for slot, of, length in slots] for name, slots in gpu._forms(dtype, n)}


@pytest.mark.parametrize("dtype", ["u4", "i4", "u1", "f4"])
@pytest.mark.parametrize("n", [1, 3000])
def test_every_form_on_every_device(device, dtype, n):
    if device.backend not in ("cpu", "cuda") and (dtype, n) != ("u4", 3000):
        pytest.skip("a case of others: this device compiles for long")
    for form, slots in forms(dtype, n).items():
        arrays = {slot: made(form, slot, of, length, n) for slot, of, length in slots}
        wanted = gpu._run(form, dtype, n, arrays, device=CPU)
        assert wanted, form
        on_device = {slot: device.asarray(array) for slot, array in arrays.items()}
        for given in [arrays, on_device]:
            results = gpu._run(form, dtype, n, given, device=device)
            assert results.keys() == wanted.keys()
            for slot, result in results.items():
                np.testing.assert_allclose(np.asarray(result), wanted[slot], rtol=1e-5, err_msg=f"{form}, {slot}")


def test_every_form_is_offered():
    named = set(forms("u4", 100)) | set(forms("f4", 100))
    assert named == set(OFFERED) | LEFT_OUT
    assert all(hasattr(gpu, function) for function in OFFERED.values())
