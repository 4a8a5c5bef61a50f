"""Scan, reduce, sort and what is built from them, on any GPU."""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

class Device:
    """A device, opened. Without a name it is the best one; a name is any part of its line in `devices()`."""

    def __init__(self, name: str | None = None) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...

def devices() -> list[str]: ...
def inclusive_scan(
    x: ArrayLike,
    op: str = "sum",
    *,
    initial: Any = None,
    out: NDArray[Any] | None = None,
    device: Device | None = None,
) -> NDArray[Any]: ...
def exclusive_scan(
    x: ArrayLike,
    op: str = "sum",
    *,
    initial: Any = None,
    out: NDArray[Any] | None = None,
    device: Device | None = None,
) -> NDArray[Any]: ...
def reduce(x: ArrayLike, op: str = "sum", *, initial: Any = None, device: Device | None = None) -> Any: ...
@overload
def sort(
    keys: ArrayLike, values: None = None, *, descending: bool = False, device: Device | None = None
) -> NDArray[Any]: ...
@overload
def sort(
    keys: ArrayLike, values: ArrayLike, *, descending: bool = False, device: Device | None = None
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def argsort(keys: ArrayLike, *, descending: bool = False, device: Device | None = None) -> NDArray[np.uint32]: ...
def top_k(
    keys: ArrayLike, k: int, *, largest: bool = True, device: Device | None = None
) -> tuple[NDArray[Any], NDArray[np.uint32]]: ...
def nth_element(keys: ArrayLike, nth: int, *, descending: bool = False, device: Device | None = None) -> Any: ...
def select(x: ArrayLike, flags: ArrayLike, *, device: Device | None = None) -> NDArray[Any]: ...
def unique(x: ArrayLike, *, device: Device | None = None) -> NDArray[Any]: ...
def unique_by_key(
    keys: ArrayLike, values: ArrayLike, *, device: Device | None = None
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def reduce_by_key(
    keys: ArrayLike, values: ArrayLike, op: str = "sum", *, device: Device | None = None
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def run_length_encode(
    x: ArrayLike, *, device: Device | None = None
) -> tuple[NDArray[Any], NDArray[np.uint32]]: ...
def histogram(
    x: ArrayLike, bins: int, *, weights: ArrayLike | None = None, device: Device | None = None
) -> NDArray[Any]: ...
def segmented_reduce(
    x: ArrayLike, offsets: ArrayLike, op: str = "sum", *, initial: Any = None, device: Device | None = None
) -> NDArray[Any]: ...
def segmented_scan(
    x: ArrayLike,
    offsets: ArrayLike,
    op: str = "sum",
    *,
    exclusive: bool = False,
    initial: Any = None,
    device: Device | None = None,
) -> NDArray[Any]: ...
@overload
def segmented_sort(
    keys: ArrayLike,
    offsets: ArrayLike,
    values: None = None,
    *,
    descending: bool = False,
    device: Device | None = None,
) -> NDArray[Any]: ...
@overload
def segmented_sort(
    keys: ArrayLike,
    offsets: ArrayLike,
    values: ArrayLike,
    *,
    descending: bool = False,
    device: Device | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
