"""Pairs that do not lie alike: both brought into the host's order, one pair at a time.

The only place that reads tensors through Python. Both tensors of a pair are in memory at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump import _core
from fastdump._dump_file import DumpFile
from fastdump._stats_of import element_bytes
from fastdump._tensor import Tensor
from fastdump.errors import DumpFormatError, LayoutError, UnsupportedDTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ORDERS = ("NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC")


class Place(NamedTuple):
    """A tensor: its file, and its `io`, index and offset in that."""

    path: str
    io: str
    position: int
    offset: int


class HostComparison(NamedTuple):
    """The metrics by name, empty if nothing was compared."""

    metrics: dict[str, Any]
    status: str
    note: str | None


def compare_in_host_order(
    a: Place, b: Place, *, rtol: float, atol: float, kl: bool, threads: int
) -> HostComparison:
    """Compare two tensors by value in the order of the host, without padding."""
    try:
        tensor_a, tensor_b = _tensor(a), _tensor(b)
        array_a = tensor_a.logical(threads=threads)
        array_b = _like(array_a, tensor_a, tensor_b, threads)
        if array_b.size != array_a.size:
            shapes = f"{array_a.shape} in a and {array_b.shape} in b, in the order of the host"
            return HostComparison({}, "size_mismatch", shapes)
        metrics = _core.compare_buffers(
            element_bytes(array_a).data,
            array_a.dtype.name,
            element_bytes(array_b).data,
            array_b.dtype.name,
            array_a.size,
            rtol=rtol,
            atol=atol,
            kl=kl,
            threads=threads,
        )
    except (LayoutError, UnsupportedDTypeError) as error:
        return HostComparison({}, "unsupported", str(error))
    except DumpFormatError as error:
        return HostComparison({}, "truncated", str(error))
    except OSError as error:
        return HostComparison({}, "unreadable", f"{error.filename}: {error.strerror}")
    if tensor_a.dtype_name != tensor_b.dtype_name:
        # Types that numpy lacks were converted, so that they look alike.
        metrics |= {"bit_equal": False, "ulp_max": None}
    note = None
    if array_a.shape != array_b.shape:
        note = f"shapes {array_a.shape} and {array_b.shape}: compared in order of elements"
    return HostComparison(metrics, "ok", note)


def _tensor(place: Place) -> Tensor:
    file = DumpFile(place.path)
    for description in file.header()["tensors"]:
        tensor = Tensor(file, description)
        if (tensor.io, tensor.index, tensor.offset) == place[1:]:
            return tensor
    raise DumpFormatError(f"{place.path!r}: {place.io}.{place.position} is no longer there")


def _like(array: NDArray[Any], of: Tensor, tensor: Tensor, threads: int) -> NDArray[Any]:
    """Return `tensor` in the order of axes that `array`, which is `of`, is in."""
    found = tensor.logical(threads=threads)
    if found.shape == array.shape and of.format == tensor.format:
        return found
    if tensor.format in _ORDERS and of.format in _ORDERS and tensor.format != of.format:
        return tensor.logical(of.format, threads=threads)
    if found.shape != array.shape and np.array_equal(sorted(found.shape), sorted(array.shape)):
        # One of the two is in a private format, whose header does not say which order was meant.
        for order in (of.format, *_ORDERS):
            if order not in _ORDERS:
                continue
            try:
                ordered = tensor.logical(order, threads=threads)
            except LayoutError:
                continue
            if ordered.shape == array.shape:
                return ordered
    return found
