"""Times of calls from Python beside torch, cupy and NumPy, as a table in Markdown.

    python against.py [log2 of the most elements]

A call's time is the host's and the device's: calls in a row, and a wait behind the last. Numbers are medians of seven.
"""

import statistics
import sys
import time

import numpy as np

import trifold_gpu as gpu


def seconds(call, wait, repeat):
    for _ in range(3):
        call()
    wait()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        wait()
        times.append((time.perf_counter() - start) / repeat)
    return statistics.median(times)


def rows_of_torch(most):
    import torch

    wait = torch.cuda.synchronize
    small = torch.rand(1 << 16, device="cuda")
    keys = torch.randint(-(2**31), 2**31 - 1, (1 << 16,), device="cuda", dtype=torch.int32)
    half = gpu.Predicate("fn keep(v: T) -> bool { return v > 0.5; }")
    calls = {
        "scan": (lambda x, k: torch.cumsum(x, 0), lambda x, k: gpu.inclusive_scan(x)),
        "reduce": (lambda x, k: torch.sum(x), lambda x, k: gpu.reduce(x)),
        "sort": (lambda x, k: torch.sort(k, stable=True), lambda x, k: gpu.argsort(k, with_keys=True)),
        "top_k, k = 32": (lambda x, k: torch.topk(x, 32), lambda x, k: gpu.top_k(x, 32)),
        "mask": (lambda x, k: x[x > 0.5], lambda x, k: gpu.select(x, half)),
        "mask by flags": (lambda x, k: x[x > 0.5], lambda x, k: gpu.select(x, x > 0.5)),
        "rows of 4096: top_k, k = 32": (
            lambda x, k: torch.topk(x.view(-1, 4096), 32),
            lambda x, k: gpu.top_k(x.view(-1, 4096), 32),
        ),
    }
    print("| 2^16, microseconds a call | torch | trifold_gpu | times |")
    print("|---|---|---|---|")
    for name, (theirs, own) in calls.items():
        a = seconds(lambda: theirs(small, keys), wait, 300) * 1e6
        b = seconds(lambda: own(small, keys), wait, 300) * 1e6
        print(f"| {name} | {a:.1f} | {b:.1f} | {a / b:.2f} |", flush=True)
    for log in [20, 24, most]:
        n = 1 << log
        x = torch.rand(n, device="cuda")
        k = torch.randint(-(2**31), 2**31 - 1, (n,), device="cuda", dtype=torch.int32)
        print(f"\n| 2^{log}, G elements/s | torch | trifold_gpu | times |")
        print("|---|---|---|---|")
        for name, (theirs, own) in calls.items():
            a = n / seconds(lambda: theirs(x, k), wait, 10) / 1e9
            b = n / seconds(lambda: own(x, k), wait, 10) / 1e9
            print(f"| {name} | {a:.1f} | {b:.1f} | {b / a:.2f} |", flush=True)


def rows_of_the_host():
    """What the host spends on a call that the device ends sooner: many in a row, without a wait."""
    import torch

    x = torch.rand(1 << 10, device="cuda")
    keys = torch.randint(0, 9, (1 << 10,), device="cuda", dtype=torch.int32)
    own = gpu.Device("cuda").asarray(np.zeros(1 << 10, dtype="f4"))
    out = torch.empty_like(x)
    print("\n| The host's microseconds a call, 2^10 | |")
    print("|---|---|")
    for name, call in [
        ("torch.cumsum", lambda: torch.cumsum(x, 0)),
        ("torch.sum", lambda: torch.sum(x)),
        ("torch.empty", lambda: torch.empty((1024,), dtype=torch.float32, device=x.device)),
        ("inclusive_scan of a tensor", lambda: gpu.inclusive_scan(x)),
        ("the same, to out=", lambda: gpu.inclusive_scan(x, out=out)),
        ("inclusive_scan of an Array", lambda: gpu.inclusive_scan(own)),
        ("reduce of a tensor", lambda: gpu.reduce(x)),
        ("sort of a tensor", lambda: gpu.sort(keys)),
        ("top_k of a tensor, k = 8", lambda: gpu.top_k(x, 8)),
    ]:
        print(f"| {name} | {seconds(call, lambda: None, 200) * 1e6:.1f} |", flush=True)
        torch.cuda.synchronize()


def rows_of_cupy(most):
    import cupy

    wait = cupy.cuda.runtime.deviceSynchronize
    print("\n| G elements/s | cupy | trifold_gpu | times |")
    print("|---|---|---|---|")
    for log in [16, most]:
        n = 1 << log
        k = cupy.random.randint(0, 2**31 - 1, n, dtype=cupy.int32)
        for name, theirs, own in [
            ("cumsum", lambda: cupy.cumsum(k, dtype=cupy.int32), lambda: gpu.inclusive_scan(k)),
            ("sort", lambda: cupy.sort(k), lambda: gpu.sort(k)),
            ("argsort", lambda: cupy.argsort(k), lambda: gpu.argsort(k)),
        ]:
            a = n / seconds(theirs, wait, 10) / 1e9
            b = n / seconds(own, wait, 10) / 1e9
            print(f"| {name}, 2^{log} | {a:.2f} | {b:.2f} | {b / a:.2f} |", flush=True)


def rows_of_numpy():
    cpu = gpu.Device("cpu")
    x = np.random.default_rng(1).integers(0, 2**32, 1 << 22, dtype="u4")
    print("\n| 2^22 u32 on the processor, ms | NumPy | trifold_gpu | times |")
    print("|---|---|---|---|")
    out = np.empty_like(x)
    for name, theirs, own in [
        ("sort", lambda: np.sort(x), lambda: gpu.sort(x, device=cpu)),
        ("cumsum", lambda: np.cumsum(x, dtype="u4"), lambda: gpu.inclusive_scan(x, device=cpu)),
        ("cumsum, out", lambda: np.cumsum(x, dtype="u4", out=out), lambda: gpu.inclusive_scan(x, out=out, device=cpu)),
        ("sum", lambda: np.sum(x, dtype="u4"), lambda: gpu.reduce(x, device=cpu)),
    ]:
        a = seconds(theirs, lambda: None, 3) * 1e3
        b = seconds(own, lambda: None, 3) * 1e3
        print(f"| {name} | {a:.2f} | {b:.2f} | {a / b:.2f} |", flush=True)


def rows_of_every_form(most):
    """Trifold's whole table, over slots: a new primitive has rows here by its own row there."""
    has_cuda = any(line.startswith("cuda") for line in gpu.devices())
    device, n = gpu.Device("cuda" if has_cuda else "cpu"), 1 << most
    random = np.random.default_rng(1)
    print(f"\n| 2^{most} u32 on {device.name}, G elements/s | trifold_gpu |")
    print("|---|---|")
    for form, slots in gpu._forms("u4", n):
        arrays = {}
        for slot, dtype, length in slots:
            values = np.linspace(0, n, length) if slot == "offsets" else random.integers(0, n, length)
            arrays[slot] = device.asarray(values.astype(dtype))
        call = lambda form=form, arrays=arrays: gpu._run(form, "u4", n, arrays, device=device)
        print(f"| {form} | {n / seconds(call, device.synchronize, 10) / 1e9:.2f} |", flush=True)


if __name__ == "__main__":
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 28
    every = lambda: rows_of_every_form(min(most, 24))
    for rows in [lambda: rows_of_torch(most), rows_of_the_host, lambda: rows_of_cupy(most), every, rows_of_numpy]:
        try:
            rows()
        except ImportError as error:
            print(f"\nnot timed: {error}")
