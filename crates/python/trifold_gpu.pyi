"""Scan, reduce, sort and what is built from them, on any GPU."""

from typing import Any, Literal, final, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from typing_extensions import Self

# An array of NumPy's, or one on a device: torch's, cupy's, jax's, any that knows DLPack or `__cuda_array_interface__`, or an Array.
# Results are of the same kind.
_Array = Any
# What NumPy makes an array of, or one on a device.
_Like = ArrayLike | Any
# A stream of torch's or cupy's, an object with `__cuda_stream__`, or a handle.
_Stream = Any
# Which elements are kept: flags of 0 and others, a name, or text.
_By = _Like | Literal["nonzero", "upper_half"] | Predicate
_Op = Literal["sum", "product", "min", "max", "and", "or", "xor"] | Operator

@final
class Device:
    """A device, opened. Without a name it is the best one; a name is any part of its line in `devices()`."""

    def __new__(cls, name: str | None = None) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    def asarray(self, x: ArrayLike) -> Array: ...
    def synchronize(self) -> None: ...

@final
class Array:
    """An array in a device's memory: what `Device.asarray` gives, and calls on such arrays."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> Device: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Operator:
    """An associative operator, as WGSL text that defines `fn combine(a: T, b: T) -> T`."""

    def __new__(cls, wgsl: str, identity: Any, *, commutes: bool = False) -> Self: ...

@final
class Predicate:
    """A predicate, as WGSL text that defines `fn keep(v: T) -> bool`."""

    def __new__(cls, wgsl: str) -> Self: ...

def devices() -> list[str]: ...
def inclusive_scan(
    x: _Like,
    op: _Op = "sum",
    *,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def exclusive_scan(
    x: _Like,
    op: _Op = "sum",
    *,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def reduce(
    x: _Like,
    op: _Op = "sum",
    *,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def segmented_reduce(
    x: _Like,
    offsets: _Like,
    op: _Op = "sum",
    *,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def segmented_scan(
    x: _Like,
    offsets: _Like,
    op: _Op = "sum",
    *,
    exclusive: bool = False,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def scan_by_key(
    keys: _Like,
    values: _Like,
    op: _Op = "sum",
    *,
    exclusive: bool = False,
    initial: Any = None,
    dtype: Any = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
@overload
def sort(
    keys: _Like,
    values: None = None,
    *,
    descending: bool = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
@overload
def sort(
    keys: _Like,
    values: _Like,
    *,
    descending: bool = False,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
@overload
def segmented_sort(
    keys: _Like,
    offsets: _Like,
    values: None = None,
    *,
    descending: bool = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
@overload
def segmented_sort(
    keys: _Like,
    offsets: _Like,
    values: _Like,
    *,
    descending: bool = False,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
@overload
def argsort(
    keys: _Like,
    *,
    descending: bool = False,
    with_keys: Literal[False] = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
@overload
def argsort(
    keys: _Like,
    *,
    descending: bool = False,
    with_keys: Literal[True],
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
@overload
def segmented_argsort(
    keys: _Like,
    offsets: _Like,
    *,
    descending: bool = False,
    with_keys: Literal[False] = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
@overload
def segmented_argsort(
    keys: _Like,
    offsets: _Like,
    *,
    descending: bool = False,
    with_keys: Literal[True],
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def top_k(
    keys: _Like,
    k: int,
    *,
    largest: bool = True,
    sorted: bool = True,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def segmented_top_k(
    keys: _Like,
    offsets: _Like,
    k: int,
    *,
    largest: bool = True,
    sorted: bool = True,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def nth_element(
    keys: _Like,
    nth: int,
    *,
    descending: bool = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> Any: ...
def segmented_nth_element(
    keys: _Like,
    offsets: _Like,
    nth: int,
    *,
    descending: bool = False,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def select(
    x: _Like,
    by: _By,
    *,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def partition(
    x: _Like,
    by: _By,
    *,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def flatnonzero(
    x: _Like,
    by: Literal["nonzero", "upper_half"] | Predicate | None = None,
    *,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def unique(
    x: _Like,
    *,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
def unique_by_key(
    keys: _Like,
    values: _Like,
    *,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def reduce_by_key(
    keys: _Like,
    values: _Like,
    op: _Op = "sum",
    *,
    dtype: Any = None,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def run_length_encode(
    x: _Like,
    *,
    out: tuple[_Array, _Array] | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> tuple[_Array, _Array]: ...
def histogram(
    x: _Like,
    bins: int,
    *,
    weights: _Like | None = None,
    out: _Array | None = None,
    device: Device | None = None,
    stream: _Stream | None = None,
) -> _Array: ...
