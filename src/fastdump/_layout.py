"""Tensors in formats of the device's own, brought into the order that the framework had."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._column import INT64_MAX
from fastdump._stats import n_threads
from fastdump.errors import LayoutError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def to_host(
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
    """Bring a stored tensor into the order of the host, without padding.

    Bytes are moved, whatever they mean: elements of any type come out bit for bit.

    Parameters
    ----------
    array
        The stored elements in storage order, of any shape, or all of them but padding at the end.
        Elements with fewer than eight bits are given unpacked, one a byte. An array that is not
        C-contiguous is copied first.
    format
        The format that it is stored in, as ``"NC1HWC0"`` or its number.
    shape
        The stored shape. Default: that of `array`.
    origin_shape
        The shape of the host array. Formats that have no padding need none.
    sub_format
        Of ``FRACTAL_Z`` and ``FRACTAL_Z_3D``, the number of groups of the convolution.
    order
        The wanted order of axes: ``"NCHW"``, ``"NHWC"``, ``"HWCN"``, ``"CHWN"``, ``"NCDHW"``,
        ``"NDHWC"``, ``"DHWCN"`` or ``"DHWNC"``; axes that the tensor lacks get length 1. Default:
        the order that `origin_shape` is in.
    origin_format
        The order that `origin_shape` is in, if that is known or likely. Only used where the stored
        shape leaves a choice; without it, that is NCHW or NCDHW if it may be.
    out
        C-contiguous array to write to, of the resulting shape and of elements of the same size.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.

    Returns
    -------
    ndarray
        Of the type of `array`. A view of `array` where its elements are in order already, unless
        there is `out`.

    Raises
    ------
    LayoutError
        If no source tells the inverse of the format, if the shapes do not fit each other or
        `array`, or if they leave open how the elements lie.
    ValueError
        If `out` does not fit, or another argument has a value that it cannot have.
    TypeError
        If `array` holds Python objects.

    See Also
    --------
    docs/layouts.md : the formats, and how the order of axes is found.

    Examples
    --------
    >>> stored = np.zeros((2, 2, 3, 5, 16), np.float16)
    >>> host = to_host(stored, format="NC1HWC0", origin_shape=(2, 19, 3, 5))  # doctest: +SKIP
    >>> host.shape  # doctest: +SKIP
    (2, 19, 3, 5)
    """
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array has no bytes for what is masked: use array.data")
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise TypeError(f"array has elements of {array.dtype}, which bytes do not hold")
    layout = host_layout(
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
            f"{format}: array has {stored.size} elements; the host array lies in the first "
            f"{layout.n_stored} of those stored"
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
    layout.gather(
        _bytes(stored),
        _bytes(out),
        stored.dtype.itemsize,
        0,
        layout.n_elements,
        n_threads(threads),
    )
    return out


def host_layout(
    *,
    format: str | int,
    shape: Sequence[int],
    origin_shape: Sequence[int] | None,
    sub_format: int = 0,
    order: str | None = None,
    origin_format: str | None = None,
) -> _core.HostLayout:
    """Return where the elements of the host array lie; arguments and errors as of `to_host`."""
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
