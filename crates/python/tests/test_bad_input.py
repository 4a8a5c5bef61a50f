"""What cannot be done is an exception that says what to do."""

import multiprocessing
import os

import numpy as np
import pytest

import trifold_gpu as gpu


@pytest.mark.parametrize(
    ("call", "kind", "why"),
    [
        (lambda: gpu.sort(np.arange(10, dtype="u4")[::2]), ValueError, "ascontiguousarray"),
        (lambda: gpu.sort(np.arange(3, dtype=">u4")), TypeError, "astype"),
        (lambda: gpu.sort(np.array(["a"])), TypeError, "<u4"),
        (lambda: gpu.sort(np.zeros(3, dtype="c8")), TypeError, "<c8"),
        (lambda: gpu.sort(np.float32(3)), ValueError, "no dimensions"),
        (lambda: gpu.sort(np.zeros((2, 2, 2), dtype="u4")), ValueError, "3 dimensions"),
        (lambda: gpu.reduce(np.zeros(3, dtype="u4"), "mean"), ValueError, "sum, product"),
        (lambda: gpu.reduce(np.zeros(3, dtype="u1")), TypeError, "dtype="),
        (lambda: gpu.sort(np.zeros(3, dtype="u4"), stream=0), ValueError, "stream"),
        (lambda: gpu.sort(np.zeros(3, dtype="u4"), out=(np.zeros(3, dtype="u4"),) * 2), ValueError, "out"),
        (lambda: gpu.reduce(np.zeros(3, dtype="f4"), "xor"), TypeError, "xor"),
        (lambda: gpu.sort(np.zeros(3, dtype="u4"), np.zeros(2, dtype="u4")), ValueError, "as many of each"),
        (lambda: gpu.histogram(np.zeros(3, dtype="i8"), 4), TypeError, "astype"),
        (lambda: gpu.histogram(np.zeros(3, dtype="u4"), 0), ValueError, "bins"),
        (lambda: gpu.segmented_reduce(np.zeros(3, dtype="u4"), np.zeros(0, dtype="u4")), ValueError, "offsets"),
        (lambda: gpu.segmented_reduce(np.zeros(3, dtype="u4"), np.array([0.0, 3.0])), TypeError, "float64; pass uint32"),
        (lambda: gpu.segmented_scan(np.zeros(3, dtype="u4"), np.array([0, 3], dtype="u1")), TypeError, "uint8; pass"),
        (lambda: gpu.segmented_sort([3, 1, 2], np.array([0, -1, 3], dtype="i4")), ValueError, r"offsets\[1\] is -1"),
        (lambda: gpu.segmented_top_k([3, 1, 2], [0, 2, 1, 3], 1), ValueError, r"offsets\[2\] is 1, less than 2"),
        (lambda: gpu.sort([3, 1], [1, 2], out=np.zeros(2, dtype="i8")), ValueError, "1 arrays, and the call has 2"),
        (lambda: gpu.argsort([3, 1], with_keys=True, out=np.zeros(2, dtype="u4")), ValueError, "as a tuple"),
        (lambda: gpu.histogram(gpu.Device("cpu").asarray(np.zeros(3, dtype="u4")), 2**62), (ValueError, MemoryError), ""),
        (lambda: gpu.histogram([1, 2], 4), TypeError, "numpy.asarray"),
        (lambda: gpu.histogram(np.zeros(3, dtype="u4"), 4, weights=np.ones(3)), TypeError, "weights: float64"),
        (lambda: gpu.select(np.zeros(3, dtype="u4"), np.zeros(3, dtype="f4")), TypeError, "x > 0"),
        (lambda: gpu.sort(np.zeros(3, dtype="u1"), out=np.zeros(3, dtype=bool)), TypeError, "bool"),
        (lambda: gpu.sort(np.zeros(3, dtype="u4"), out=[0, 0, 0]), ValueError, "read-only"),
        (lambda: gpu.sort(np.arange(12, dtype="u4").reshape(3, 4)[:, :2]), ValueError, "ascontiguousarray"),
        (lambda: gpu.reduce(np.zeros(3, dtype="u4"), initial=[1, 2]), ValueError, "one number"),
        (lambda: gpu.Device("no such device"), NotImplementedError, "no such device"),
        (lambda: gpu.reduce([1, 2], 3), TypeError, "type int; pass sum, product"),
        (lambda: gpu.select([1, 2], "odd"), ValueError, "nonzero, upper_half or a Predicate"),
        (lambda: gpu.flatnonzero([1, 2], by=3), TypeError, "nonzero, upper_half or a Predicate"),
        (lambda: gpu.top_k([1, 2], -1), ValueError, "-1; pass a number"),
        (lambda: gpu.histogram(np.zeros(3, dtype="u4"), -1), ValueError, "-1; pass a number"),
        (lambda: gpu.nth_element([1, 2], -1), ValueError, "-1; pass a number"),
        (lambda: gpu.sort(np.ma.masked_array([3, 1, 2], mask=[0, 1, 0])), TypeError, "filled"),
        (lambda: gpu.sort([3, 1], np.arange(2, dtype=">u4")), TypeError, "astype"),
        (lambda: gpu.segmented_sort([3, 1], np.array([0, 0, 2], dtype="u4")[::2]), ValueError, "ascontiguousarray"),
    ],
)
def test_says_what_to_do(call, kind, why):
    with pytest.raises(kind, match=why):
        call()


def test_out(device):
    x = np.arange(4, dtype="u4")
    total = np.zeros((), dtype="u4")
    assert gpu.reduce(x, out=total, device=device) == 6 and total == 6
    both = x.copy()
    gpu.inclusive_scan(both, out=both, device=device)
    assert both.tolist() == [0, 1, 3, 6]
    with pytest.raises(ValueError, match="share memory"):
        gpu.sort(x, x, out=(both, both), device=device)
    assert gpu.sort(np.arange(12, dtype="u4").reshape(3, 4)[:1, :2], device=device).tolist() == [[0, 1]]
    overlapping = np.arange(6, dtype="u4")
    gpu.inclusive_scan(overlapping[:4], out=overlapping[2:], device=device)
    assert overlapping.tolist() == [0, 1, 0, 1, 3, 6]
    read_only = np.zeros(4, dtype="u4")
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gpu.inclusive_scan(x, out=read_only, device=device)
    for other in [np.zeros(3, dtype="u4"), np.zeros(4, dtype="i4"), np.zeros((2, 2), dtype="u4")]:
        with pytest.raises(ValueError, match="out"):
            gpu.inclusive_scan(x, out=other, device=device)


class OfInterface:
    """Says that it is in CUDA's memory, and is not."""

    __cuda_array_interface__ = {"version": 3, "shape": (4,), "typestr": "<u4", "data": (4096, False), "strides": None}


class Freed:
    __cuda_array_interface__ = {"version": 3, "shape": (4,), "typestr": "<u4", "data": (0, False), "strides": None}


class OfDlpack:
    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise BufferError("it is freed")


@pytest.mark.parametrize("stream", [None, 7])
@pytest.mark.parametrize("array", [OfInterface(), Freed(), OfDlpack()])
def test_what_is_not_where_it_says(array, stream):
    if stream is not None and any("cuda" in line for line in gpu.devices()):
        pytest.skip("a driver takes the number for a stream")
    with pytest.raises((ValueError, RuntimeError, NotImplementedError, BufferError)) as error:
        gpu.sort(array, stream=stream)
    assert str(error.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("what", ["call", "array", "asarray", "synchronize", "read"])
def test_fork(device, what):
    own = device.asarray(np.array([2, 1], dtype="u4"))
    uses = {
        "call": lambda: gpu.sort([2, 1], device=device),
        "array": lambda: gpu.sort(own),
        "asarray": lambda: device.asarray(np.array([2, 1], dtype="u4")),
        "synchronize": device.synchronize,
        "read": lambda: np.asarray(own),
    }
    use = uses[what]
    use()
    assert in_a_fork(lambda: refused(use))


def in_a_fork(does):
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if does() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def refused(use):
    try:
        use()
    except RuntimeError as error:
        return "forked" in str(error)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_devices_in_a_fork(device):
    """Drivers are not asked there. The processor may be, as the exception says."""
    gpu.devices()
    assert in_a_fork(lambda: refused(gpu.devices))
    assert in_a_fork(lambda: refused(gpu.Device))
    assert in_a_fork(lambda: refused(lambda: gpu.Device("Vulkan")))
    assert in_a_fork(lambda: gpu.sort([3, 1, 2], device=gpu.Device("cpu")).tolist() == [1, 2, 3])


def test_devices_in_a_process_that_is_spawned(device):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(gpu.sort, ([3, 1, 2],)).tolist() == [1, 2, 3]


def test_nothing(device):
    """Arrays without elements, and rows of none."""
    none = np.array([], dtype="u4")
    assert gpu.flatnonzero(none, device=device).shape == (0,)
    assert [part.shape for part in gpu.partition(none, none, device=device)] == [(0,), (0,)]
    assert gpu.scan_by_key(none, none, device=device).shape == (0,)
    assert gpu.reduce(np.empty((0, 3), dtype="u4"), device=device).shape == (0,)
    with pytest.raises(ValueError, match="rows of 0 elements"):
        gpu.reduce(np.empty((3, 0), dtype="u4"), device=device)
    with pytest.raises(ValueError, match="k"):
        gpu.top_k([3, 1], 0, device=device)
    with pytest.raises(ValueError, match="place 3 of 3 keys"):
        gpu.nth_element(np.zeros((2, 3), dtype="u4"), 3, device=device)
    with pytest.raises(ValueError, match="of each of 2 segments"):
        gpu.segmented_top_k([3, 1], [0, 1, 2], 1 << 62, device=device)


def test_what_has_no_dimensions(device):
    for call in [
        lambda: gpu.sort(np.float32(1), device=device),
        lambda: gpu.segmented_sort([3, 1], np.uint32(2), device=device),
        lambda: gpu.sort([3, 1], np.uint32(2), device=device),
        lambda: gpu.select([3, 1], np.True_, device=device),
    ]:
        with pytest.raises(ValueError, match="no dimensions"):
            call()


def test_predicates_that_do_not_compile(device):
    if device.backend == "cpu":
        pytest.skip("the processor takes no text")
    with pytest.raises(ValueError):
        gpu.select(np.array([1], dtype="u4"), gpu.Predicate("fn keep(v: T) -> bool { return v; }"), device=device)


class Silent(np.ndarray):
    """Flags whose words nobody may ask for: a tensor's are read from its device."""

    def __repr__(self):
        raise AssertionError("its words were asked for")

    __str__ = __repr__


def test_flags_are_not_put_in_words(device):
    flags = np.array([1, 0, 1], dtype="u1").view(Silent)
    assert gpu.select([5, 6, 7], flags, device=device).tolist() == [5, 7]
    assert [part.tolist() for part in gpu.partition([5, 6, 7], flags, device=device)] == [[5, 7], [6]]
    assert gpu.flatnonzero(flags, device=device).tolist() == [0, 2]
    for call in [lambda: gpu.reduce([1, 2], flags), lambda: gpu.flatnonzero([1, 2], flags)]:
        with pytest.raises(TypeError, match="type Silent"):
            call()


def test_a_list_is_copied_to_a_device(device):
    for n in [3, 1000, 300_000]:
        assert np.array_equal(np.asarray(device.asarray(list(range(n)))), np.arange(n))
    assert np.array_equal(np.asarray(device.asarray(range(1000))), np.arange(1000))


def test_devices_of_two_arrays():
    a, b = (gpu.Device("cpu").asarray(np.array([2, 1], dtype="u4")) for _ in range(2))
    with pytest.raises(ValueError, match="one device and stream.* opened anew"):
        gpu.sort(a, b)


class Wrapped:
    """One that has an array, and says of it what NumPy's interface does."""

    def __init__(self, **changed):
        self.own = np.arange(4, dtype="u4")
        self.__array_interface__ = {**self.own.__array_interface__, **changed}


def test_interfaces():
    assert gpu.reduce(Wrapped(), device=gpu.Device("cpu")) == 6
    for changed, kind, why in [
        ({"shape": (1 << 40, 1 << 40)}, ValueError, "more than memory"),
        ({"strides": (8,)}, ValueError, "ascontiguousarray"),
        ({"typestr": ">u4"}, TypeError, "big-endian"),
        ({"typestr": "<c8"}, TypeError, "there are"),
        ({"mask": np.zeros(4, dtype=bool)}, TypeError, "masked"),
    ]:
        with pytest.raises(kind, match=why):
            gpu.sort(Wrapped(**changed))
    with pytest.raises(ValueError, match="read-only"):
        out = Wrapped()
        gpu.sort([4, 3, 2, 1], out=Wrapped(data=(out.own.ctypes.data, True)))
