"""Arrays that are on a device: the module's own, and those of torch, cupy and jax in CUDA's memory, without a copy, on their streams.
Where a library or a GPU is missing, its tests are skipped."""

import gc
import pathlib
import runpy

import numpy as np
import pytest

import trifold_gpu as gpu
from conftest import NAMES

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def torch_():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA device")
    return torch


def cupy_():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.zeros(1)
    except Exception as error:  # what it raises depends on what is missing
        pytest.skip(f"cupy has no device: {error}")
    return cupy


def jax_():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax has no GPU")
    return jax


class Torch:
    def __init__(self):
        self.torch = torch_()
        self.kind = self.torch.Tensor

    def of(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x)).cuda()

    def numpy(self, x):
        return x.cpu().numpy()


class Cupy:
    def __init__(self):
        self.cupy = cupy_()
        self.kind = self.cupy.ndarray

    def of(self, x):
        return self.cupy.asarray(x)

    def numpy(self, x):
        return self.cupy.asnumpy(x)


class Jax:
    def __init__(self):
        self.jax = jax_()
        self.kind = self.jax.Array

    def of(self, x):
        return self.jax.device_put(x)

    def numpy(self, x):
        return np.asarray(x)


class Numba:
    """Without DLPack. Results are the module's own."""

    kind = gpu.Array

    def __init__(self):
        self.cuda = pytest.importorskip("numba.cuda")
        if not self.cuda.is_available():
            pytest.skip("numba has no device")

    def of(self, x):
        return self.cuda.to_device(x)

    def numpy(self, x):
        return x.copy_to_host() if hasattr(x, "copy_to_host") else np.asarray(x)


class Own:
    """The module's own arrays, on any device."""

    kind = gpu.Array

    def __init__(self, name):
        self.device = gpu.Device(name)

    def of(self, x):
        return self.device.asarray(x)

    def numpy(self, x):
        return np.asarray(x)


KINDS = [Torch, Cupy, Jax, Numba, *(pytest.param(lambda name=name: Own(name), id=f"Own-{name}") for name in NAMES)]


@pytest.fixture(scope="module", params=KINDS)
def library(request):
    return request.param()


def made(n, dtype="u4", seed=3):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(n).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("n", [1, 1000, 1 << 20])
def test_functions(library, n):
    x, y = made(n), made(n, "f4")
    dx, dy = library.of(x), library.of(y)

    def check(result, wanted):
        assert isinstance(result, library.kind), type(result)
        np.testing.assert_array_equal(library.numpy(result), wanted)

    sums = np.cumsum(x, dtype="u4")
    check(gpu.inclusive_scan(dx), sums)
    check(gpu.exclusive_scan(dx), sums - x)
    check(gpu.reduce(dx), x.sum(dtype="u4"))
    check(gpu.reduce(dy, "max"), y.max())
    check(gpu.sort(dy), np.sort(y))
    keys, values = gpu.sort(dy, dx, descending=True)
    order = np.argsort(-y, kind="stable")
    check(keys, y[order])
    check(values, x[order])
    check(gpu.argsort(dy), np.argsort(y, kind="stable"))
    best, places = gpu.top_k(dy, min(n, 32))
    check(best, y[order][:32])
    check(places, order[:32])
    check(gpu.nth_element(dy, n // 2), np.sort(y)[n // 2])
    flags = library.of((y > 0).astype("u1"))
    check(gpu.select(dy, flags), y[y > 0])
    kept, rest = gpu.partition(dy, flags)
    check(kept, y[y > 0])
    check(rest, y[y <= 0])
    check(gpu.flatnonzero(flags), np.flatnonzero(y > 0))
    runs = np.sort(x % 50).astype("u4")
    elements, starts, lengths = np.unique(runs, return_index=True, return_counts=True)
    druns = library.of(runs)
    check(gpu.unique(druns), elements)
    for result, wanted in zip(gpu.run_length_encode(druns), [elements, lengths]):
        check(result, wanted)
    for result, wanted in zip(gpu.unique_by_key(druns, dx), [elements, x[starts]]):
        check(result, wanted)
    totals = np.add.reduceat(x, starts, dtype="u4")
    for result, wanted in zip(gpu.reduce_by_key(druns, dx), [elements, totals]):
        check(result, wanted)
    check(gpu.histogram(druns, 50), np.bincount(runs, minlength=50))
    offsets = np.append(starts, n).astype("u4")
    check(gpu.segmented_reduce(dx, library.of(offsets)), totals)
    parts = [np.cumsum(part, dtype="u4") for part in np.split(x, starts[1:])]
    check(gpu.segmented_scan(dx, library.of(offsets)), np.concatenate(parts))
    check(gpu.scan_by_key(druns, dx), np.concatenate(parts))
    ordered = [np.sort(part) for part in np.split(x, starts[1:])]
    check(gpu.segmented_sort(dx, library.of(offsets)), np.concatenate(ordered))
    orders = [np.argsort(part, kind="stable") for part in np.split(x, starts[1:])]
    check(gpu.segmented_argsort(dx, library.of(offsets)), np.concatenate(orders))
    best, places = gpu.segmented_top_k(dx, library.of(offsets), 1)
    check(best, [[part.max()] for part in np.split(x, starts[1:])])
    check(places, [[part.argmax()] for part in np.split(x, starts[1:])])
    check(gpu.inclusive_scan(dx, initial=7), sums + np.uint32(7))
    check(gpu.reduce(dx, "max", initial=2**32 - 1), 2**32 - 1)
    check(gpu.histogram(druns, 50, weights=dx), np.bincount(runs, x, minlength=50).astype("u8").astype("u4"))


def test_rows(library):
    x = made(64 * 256, "f4").reshape(64, 256)
    dx = library.of(x)
    np.testing.assert_array_equal(library.numpy(gpu.sort(dx)), np.sort(x))
    best, _ = gpu.top_k(dx, 8)
    np.testing.assert_array_equal(library.numpy(best), np.sort(x)[:, ::-1][:, :8])
    np.testing.assert_array_equal(library.numpy(gpu.reduce(dx, "min")), x.min(axis=1))
    np.testing.assert_array_equal(library.numpy(gpu.inclusive_scan(dx, "max")), np.maximum.accumulate(x, axis=1))


def test_empty(library):
    x = library.of(np.zeros(0, dtype="u4"))
    assert gpu.sort(x).shape == (0,)
    assert gpu.unique(x).shape == (0,)
    assert int(library.numpy(gpu.reduce(x))) == 0


def test_numpys_arrays_beside(library):
    x, offsets = made(100), np.array([0, 30, 100], dtype="u4")
    wanted = [x[:30].sum(dtype="u4"), x[30:].sum(dtype="u4")]
    np.testing.assert_array_equal(library.numpy(gpu.segmented_reduce(library.of(x), offsets)), wanted)


GCD = "fn combine(a: T, b: T) -> T { var x = a; var y = b; while (y != 0u) { let r = x % y; x = y; y = r; } return x; }"


def test_text(library):
    x = made(10_000) // 1000 * 6
    gcd = gpu.Operator(GCD, identity=0, commutes=True)
    odd = gpu.Predicate("fn keep(v: T) -> bool { return (v / 6u) % 2u == 1u; }")
    if isinstance(library, Own) and library.device.backend == "cpu":
        for call in [lambda: gpu.reduce(library.of(x), gcd), lambda: gpu.select(library.of(x), odd)]:
            with pytest.raises(NotImplementedError, match="GPUs"):
                call()
        return
    assert int(library.numpy(gpu.reduce(library.of(x), gcd))) == np.gcd.reduce(x)
    np.testing.assert_array_equal(library.numpy(gpu.select(library.of(x), odd)), x[x // 6 % 2 == 1])
    with pytest.raises(ValueError, match="combine"):
        gpu.reduce(library.of(x), gpu.Operator("fn combine(a: T, b: T) -> T { return nothing; }", identity=0))


def test_out(library):
    x = made(1000)
    if isinstance(library, Jax):
        with pytest.raises(ValueError, match="read-only"):
            gpu.inclusive_scan(library.of(x), out=library.of(x))
        return
    out, other = library.of(np.zeros_like(x)), library.of(np.zeros(1000, dtype="i4"))
    assert gpu.inclusive_scan(library.of(x), out=out) is out
    np.testing.assert_array_equal(library.numpy(out), np.cumsum(x, dtype="u4"))
    with pytest.raises(ValueError, match="out"):
        gpu.inclusive_scan(library.of(x), out=other)
    copied = library.of(x)
    gpu.inclusive_scan(copied, out=copied)
    np.testing.assert_array_equal(library.numpy(copied), np.cumsum(x, dtype="u4"))
    keys, places = library.of(np.zeros_like(x)), gpu.argsort(library.of(x))
    gpu.argsort(library.of(x), with_keys=True, out=(keys, places))
    np.testing.assert_array_equal(library.numpy(keys), np.sort(x))
    np.testing.assert_array_equal(library.numpy(places), np.argsort(x, kind="stable"))
    keys, values = library.of(np.zeros_like(x)), library.of(np.zeros_like(x))
    gpu.sort(library.of(x), library.of(x), out=(keys, values))
    np.testing.assert_array_equal(library.numpy(values), np.sort(x))


def test_dtype():
    torch = torch_()
    x = torch.tensor([200, 100], dtype=torch.uint8, device="cuda")
    for dtype in [torch.int64, "i8", np.int64]:
        total = gpu.reduce(x, dtype=dtype)
        assert total.dtype == torch.int64 and total.item() == 300


def test_torchs_types():
    torch = torch_()
    for dtype in [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int64, torch.uint8]:
        x = torch.randn(5000, device="cuda").mul(50).to(dtype)
        wanted, order = torch.sort(x, stable=True)
        assert torch.equal(gpu.sort(x), wanted), dtype
        assert gpu.argsort(x).dtype == torch.int32
    x = torch.tensor([3, 1, 2], dtype=torch.int32, device="cuda")
    assert torch.equal(x[gpu.argsort(x)], torch.sort(x).values)


def test_one_row():
    torch = torch_()
    x = torch.randn(8, 200, device="cuda")
    for row in [x[:1], x[:1, :100], x[0][None], x[0, :100].reshape(1, 100)]:
        assert torch.equal(gpu.sort(row), torch.sort(row).values)
    with pytest.raises(ValueError, match="contiguous"):
        gpu.sort(x[:2, :100])


def test_a_class_of_ones_own():
    torch = torch_()

    class Own(torch.Tensor):
        pass

    x = torch.tensor([3.0, 1.0], device="cuda").as_subclass(Own)
    assert isinstance(gpu.sort(x), torch.Tensor) and gpu.argsort(x).dtype == torch.int32


def test_a_stream_of_torchs():
    """Kernels of torch before and after, on a stream that is far behind."""
    torch = torch_()
    stream = torch.cuda.Stream()
    x = torch.arange(1 << 22, device="cuda", dtype=torch.int32)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        y = x * 3
        sums = gpu.inclusive_scan(y)
        after = sums + 1
    inside = gpu.reduce(x, stream=stream)
    stream.synchronize()
    wanted = torch.cumsum(x * 3, 0).to(torch.int32) + 1
    assert torch.equal(after, wanted)
    assert inside.item() == x.sum().to(torch.int32).item()


def test_one_call_in_a_graph_on_a_stream_that_is_new():
    torch = torch_()
    x = torch.arange(1000, device="cuda", dtype=torch.int32)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sums = gpu.exclusive_scan(x, "max")
    x.add_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert sums[1:].tolist() == x[:-1].tolist()


def test_a_graph_of_torchs():
    torch = torch_()
    x = torch.arange(1 << 16, device="cuda", dtype=torch.int32)
    gpu.inclusive_scan(x), gpu.sort(x, descending=True), gpu.top_k(x, 8)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        sums = gpu.inclusive_scan(y)
        ordered = gpu.sort(sums, descending=True)
        best, places = gpu.top_k(y, 8)
        doubled = ordered * 2
    for seed in range(3):
        x.copy_(torch.randint(0, 9, x.shape, device="cuda", dtype=torch.int32) + seed)
        graph.replay()
        torch.cuda.synchronize()
        wanted = torch.cumsum(x + 1, 0).to(torch.int32)
        assert torch.equal(sums, wanted)
        assert torch.equal(doubled, torch.sort(wanted, descending=True).values * 2)
        assert torch.equal(best, torch.topk(x + 1, 8).values)
        assert torch.equal((x + 1)[places], best)


def test_graphs_give_their_memory_back():
    torch = torch_()
    x = torch.arange(1 << 20, device="cuda", dtype=torch.int32)
    gpu.sort(x)

    def graphs(number):
        for _ in range(number):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                gpu.sort(x)
            graph.replay()
            torch.cuda.synchronize()
            del graph
        gc.collect()
        torch.cuda.empty_cache()
        gpu.sort(x)
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    before = graphs(3)
    assert abs(graphs(20) - before) < 8 << 20


def test_examples_with_torch():
    torch = torch_()
    sampling = runpy.run_path(str(EXAMPLES / "sampling.py"))
    logits = torch.randn(16, 5000, device="cuda")
    uniform = torch.rand(16, device="cuda")
    tokens = sampling["top_k"](logits, 8, uniform, torch)
    assert (torch.topk(logits, 8).indices == tokens[:, None]).any(1).all()
    assert torch.equal(sampling["top_p"](logits, 1e-6, uniform, torch), logits.argmax(1).int())
    experts = runpy.run_path(str(EXAMPLES / "experts.py"))["through_experts"]
    tokens = torch.randn(1000, 16, device="cuda")
    chosen = torch.randint(0, 4, (1000,), device="cuda", dtype=torch.int32)
    out = experts(tokens, chosen, [lambda x, by=by: x * by for by in range(4)])
    assert torch.equal(out, tokens * chosen[:, None])


def test_what_waits_is_refused_in_a_graph():
    torch = torch_()
    x = torch.arange(1 << 10, device="cuda", dtype=torch.int32)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in [
            lambda: gpu.unique(x),
            lambda: gpu.segmented_reduce(x, np.array([0, 4], dtype="u4")),
            lambda: gpu.select(x, "nonzero"),
            lambda: gpu.reduce_by_key(x, x),
        ]:
            with pytest.raises(RuntimeError, match="captured"):
                call()
        on_torchs = gpu.sort(x)
        y = x + 1
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(on_torchs, x)
    assert torch.equal(gpu.unique(y), x + 1)


def test_tensors_that_have_lost_their_memory():
    torch = torch_()
    x = torch.arange(1 << 20, device="cuda", dtype=torch.int32)
    parts = [x[4:], x[1 << 19 :]]
    x.untyped_storage().resize_(0)
    for freed in [x, *parts]:
        with pytest.raises((ValueError, BufferError, RuntimeError)):
            gpu.sort(freed)


def test_two_devices():
    torch = torch_()
    if torch.cuda.device_count() < 2:
        pytest.skip("one device")
    x = [torch.arange(1 << 20, dtype=torch.int32, device=f"cuda:{i}") for i in range(2)]
    y = [gpu.inclusive_scan(x) for x in x]
    assert [y.device.index for y in y] == [0, 1]
    assert torch.equal(y[0].cpu(), y[1].cpu()) and torch.equal(y[1], torch.cumsum(x[1], 0, dtype=torch.int32))
    with torch.cuda.device(1):
        assert gpu.sort(x[0], descending=True).device.index == 0
    for call in [
        lambda: gpu.sort(x[0], x[1]),
        lambda: gpu.inclusive_scan(x[0], out=x[1]),
        lambda: gpu.sort(x[0], stream=torch.cuda.Stream(device=1)),
    ]:
        with pytest.raises(ValueError, match="device|stream|another"):
            call()
    assert int(gpu.reduce(x[1], "max")) == (1 << 20) - 1


def test_nobody_waits():
    torch = torch_()
    x = torch.arange(1 << 16, device="cuda", dtype=torch.int32)
    offsets = torch.tensor([0, 100, 1 << 16], device="cuda", dtype=torch.int32)

    def calls():
        gpu.inclusive_scan(x), gpu.exclusive_scan(x), gpu.reduce(x), gpu.scan_by_key(x, x)
        gpu.sort(x), gpu.sort(x, x), gpu.argsort(x), gpu.top_k(x, 4), gpu.nth_element(x, 4), gpu.histogram(x, 9)
        gpu.segmented_reduce(x, offsets), gpu.segmented_scan(x, offsets), gpu.segmented_sort(x, offsets)
        gpu.segmented_argsort(x, offsets), gpu.segmented_top_k(x, offsets, 4)

    calls()
    torch.cuda.synchronize()
    torch.cuda._sleep(1_000_000_000)
    calls()
    assert not torch.cuda.current_stream().query()
    torch.cuda.synchronize()


def test_streams_of_cupy_and_numbers():
    cupy = cupy_()
    x = cupy.arange(1 << 12, dtype="i4")[::-1].copy()
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    for named in [stream, stream.ptr]:
        ordered = gpu.sort(x, stream=named)
        stream.synchronize()
        assert bool((ordered == cupy.arange(1 << 12, dtype="i4")).all())
    with stream:
        ordered = gpu.sort(x)
    stream.synchronize()
    assert bool((ordered == cupy.arange(1 << 12, dtype="i4")).all())


def test_tensors_that_are_freed_early():
    torch = torch_()
    for seed in range(50):
        x = torch.randint(0, 1 << 30, (1 << 20,), device="cuda", dtype=torch.int32)
        wanted = torch.sort(x).values
        ordered = gpu.sort(x)
        del x
        torch.zeros(1 << 20, device="cuda", dtype=torch.int32)
        assert torch.equal(ordered, wanted), seed


def test_tensors_that_are_freed_early_on_another_stream():
    """The tensor is of torch's current stream, and the call of another: its memory stays until the call has ended."""
    torch = torch_()
    other = torch.cuda.Stream()
    for seed in range(20):
        x = torch.randint(0, 1 << 30, (1 << 20,), device="cuda", dtype=torch.int32)
        out = torch.empty_like(x)
        wanted = torch.sort(x).values
        torch.cuda.synchronize()
        with torch.cuda.stream(other):
            torch.cuda._sleep(20_000_000)
        gpu.sort(x, out=out, stream=other)
        del x
        torch.zeros(1 << 20, device="cuda", dtype=torch.int32)
        other.synchronize()
        assert torch.equal(out, wanted), seed


def test_ten_thousand_calls():
    torch = torch_()
    x = torch.randn(1000, device="cuda")

    def calls(number):
        for _ in range(number):
            gpu.inclusive_scan(x)
            gpu.top_k(x, 4)
        torch.cuda.synchronize()
        gc.collect()
        return torch.cuda.mem_get_info()[0], torch.cuda.memory_allocated()

    before = calls(100)
    assert calls(5000) == before


def test_own_arrays_go_everywhere():
    torch, cupy = torch_(), cupy_()
    x = made(1000)
    own = gpu.Device("cuda").asarray(x)
    ordered = gpu.sort(own)
    wanted = np.sort(x)
    np.testing.assert_array_equal(torch.from_dlpack(ordered).cpu().numpy(), wanted)
    np.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(ordered)), wanted)
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(ordered)), wanted)
    np.testing.assert_array_equal(torch.as_tensor(ordered, device="cuda").cpu().numpy(), wanted)
    tensor = torch.from_dlpack(gpu.sort(own))
    del own
    gc.collect()
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)


def test_what_is_refused_of_every_library(library):
    if isinstance(library, (Own, Jax)):
        pytest.skip("its arrays always lie together")
    x = library.of(made(12))
    for call, kind, why in [
        (lambda: gpu.sort(x[::2]), ValueError, "contiguous"),
        (lambda: gpu.sort(x.reshape(3, 4)[:, :2]), ValueError, "contiguous"),
        (lambda: gpu.sort(x.reshape(1, 3, 4)), ValueError, "3 dimensions"),
        (lambda: gpu.sort(library.of(np.zeros(3, dtype="c8"))), TypeError, "elements of type"),
        (lambda: gpu.top_k(x, 13), ValueError, "13 keys of 12"),
        (lambda: gpu.sort(x, x[:5]), ValueError, "as many of each"),
        (lambda: gpu.sort(x, device=gpu.Device("cpu")), ValueError, "one device and stream"),
    ]:
        with pytest.raises(kind, match=why):
            call()


def test_bad_input():
    torch = torch_()
    x = torch.arange(10, device="cuda", dtype=torch.int32)
    for call, kind, why in [
        (lambda: gpu.sort(x[::2]), ValueError, "contiguous"),
        (lambda: gpu.sort(x.to(torch.complex64)), TypeError, "elements of type"),
        (lambda: gpu.sort(x, device=gpu.Device("cpu")), ValueError, "one device and stream"),
        (lambda: gpu.sort(x.cpu(), stream=torch.cuda.current_stream()), ValueError, "stream"),
        (lambda: gpu.sort(x, stream="0"), TypeError, "stream"),
        (lambda: gpu.sort(x.float().requires_grad_()), ValueError, "detach"),
        (lambda: gpu.inclusive_scan(x, out=x.cpu()[1:]), ValueError, "out"),
        (lambda: gpu.select(x, x.float()), TypeError, "x > 0"),
        (lambda: gpu.top_k(x, 11), ValueError, "11 keys of 10"),
    ]:
        with pytest.raises(kind, match=why):
            call()
