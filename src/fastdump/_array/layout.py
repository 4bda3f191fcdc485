"""Tensors in private formats of the device, brought into their logical order."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._arguments import INT64_MAX, n_threads
from fastdump._array.lost_memory import reading_memory
from fastdump.errors import LayoutError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def to_logical(
    array: NDArray[Any],
    *,
    format: str | int,
    shape: Sequence[int] | None = None,
    origin_shape: Sequence[int] | None = None,
    sub_format: int = 0,
    order: str | None = None,
    origin_format: str | None = None,
    out: NDArray[Any] | None = None,
    threads: int | None = None,
) -> NDArray[Any]:
    """Bring a stored tensor into its logical order, without the padding of private formats.

    Elements are moved as bytes, so those of any type are preserved bit for bit.

    Parameters
    ----------
    array
        The stored elements in the order of storage, in any shape; padding at the end may be
        missing. Elements of fewer than eight bits must be unpacked, one in each byte. An array that
        is not C-contiguous is copied first.
    format
        The format of storage, by its name, such as ``"NC1HWC0"``, or by its number.
    shape
        The stored shape. Default: that of `array`.
    origin_shape
        The logical shape. Formats without padding do not need it.
    sub_format
        For ``FRACTAL_Z`` and ``FRACTAL_Z_3D``, the number of groups of the convolution.
    order
        The order of axes to return: ``"NCHW"``, ``"NHWC"``, ``"HWCN"``, ``"CHWN"``, ``"NCDHW"``,
        ``"NDHWC"``, ``"DHWCN"`` or ``"DHWNC"``. Axes that the tensor lacks get length 1. Default:
        the order of `origin_shape`.
    origin_format
        The order of axes in `origin_shape`, if it is known or likely. It matters only if the stored
        shape leaves a choice; the default is then NCHW or NCDHW.
    out
        A C-contiguous array to write to, with the resulting shape and elements of the same size.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.

    Returns
    -------
    ndarray
        An array of the type of `array`: `out` if that is given, or a view of `array` if its
        elements are in order already.

    Raises
    ------
    LayoutError
        If the layout of the format is not documented, if the shapes do not fit each other or
        `array`, or if they do not determine where the elements lie.
    ValueError
        If `out` does not fit, or another argument has a value that it cannot have.
    TypeError
        If `array` holds Python objects.

    See Also
    --------
    docs/layouts.md : The formats, and how the order of axes is found.

    Examples
    --------
    >>> stored = np.zeros((2, 2, 3, 5, 16), np.float16)
    >>> logical = to_logical(stored, format="NC1HWC0", origin_shape=(2, 19, 3, 5))  # doctest: +SKIP
    >>> logical.shape  # doctest: +SKIP
    (2, 19, 3, 5)
    """
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array has no bytes for what is masked: use array.data")
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise TypeError(f"array has elements of {array.dtype}, which bytes do not hold")
    layout = logical_layout(
        format=format,
        shape=array.shape if shape is None else shape,
        origin_shape=origin_shape,
        sub_format=sub_format,
        order=order,
        origin_format=origin_format,
    )
    stored = np.ascontiguousarray(array).reshape(-1)
    if stored.size < layout.n_stored:
        raise LayoutError(
            f"{format}: array has {stored.size} elements; the logical array lies in the "
            f"first {layout.n_stored} of those stored"
        )
    if out is None:
        if layout.is_identity:
            return stored[: layout.n_elements].reshape(layout.shape)
        out = np.empty(layout.shape, stored.dtype)
    elif out.shape != layout.shape or out.dtype.itemsize != stored.dtype.itemsize:
        raise ValueError(
            f"out is {out.dtype} of shape {out.shape}, expected elements of "
            f"{stored.dtype.itemsize} bytes and shape {layout.shape}"
        )
    elif not (out.flags.c_contiguous and out.flags.writeable) or out.dtype.hasobject:
        raise ValueError("out must be a C-contiguous writeable array of plain elements")
    elif np.may_share_memory(out, stored):
        raise ValueError("out shares memory with array")
    reading_memory(layout.gather)(
        _bytes(stored),
        _bytes(out),
        stored.dtype.itemsize,
        0,
        layout.n_elements,
        n_threads(threads),
    )
    return out


def logical_layout(
    *,
    format: str | int,
    shape: Sequence[int],
    origin_shape: Sequence[int] | None,
    sub_format: int = 0,
    order: str | None = None,
    origin_format: str | None = None,
) -> _core.HostLayout:
    """Return where the logical elements lie; arguments and errors are those of `to_logical`."""
    try:
        return _core.HostLayout(
            format=_format_number(format),
            shape=_dimensions("shape", shape),
            origin_shape=_dimensions("origin_shape", () if origin_shape is None else origin_shape),
            sub_format=sub_format,
            order=order or "",
            origin_format=origin_format or "",
        )
    except _core.LayoutError as error:
        raise LayoutError(str(error)) from None


def _dimensions(name: str, shape: Sequence[int]) -> list[int]:
    dimensions = [operator.index(dimension) for dimension in shape]
    if any(abs(dimension) > INT64_MAX for dimension in dimensions):
        raise LayoutError(f"{name} is {tuple(dimensions)}, which is larger than any file")
    return dimensions


def _bytes(array: NDArray[Any]) -> memoryview:
    # Arrays of ml_dtypes do not export their memory; those of bytes do.
    return array.reshape(-1).view(np.uint8).data


def _format_number(format: str | int) -> int:
    if not isinstance(format, str):
        return format
    # A description has the number of a format that has no name.
    number = int(format) if format.isdecimal() else _format_numbers().get(format)
    if number is None:
        raise LayoutError(f"no tensor format is called {format!r}")
    return number


@functools.cache
def _format_numbers() -> dict[str, int]:
    return {name: number for number, name in enumerate(_core.tensor_formats())}
