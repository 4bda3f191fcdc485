"""Brings host arrays into a device's formats: blocks of channels or of a matrix, with padding.

Each function follows the definition of its format, slowly and plainly, so that it can be checked by
eye. Notation: ``C0`` channels or columns and ``N0`` rows make a block; ``C1`` is the number of
blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fastdump.testing._tensor import TensorSpec, element_bits

_Array: TypeAlias = npt.NDArray[Any]

_PLAIN = ("NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC")
_FRACTAL_NZ = {"FRACTAL_NZ": None, **{f"FRACTAL_NZ_C0_{c0}": c0 for c0 in (2, 4, 8, 16, 32)}}
_C04 = 4  # channels of the formats of this name
_C0_BY_BITS = {8: 32, 4: 64, 2: 128, 1: 256}  # 16 for wider types


def device_tensor(
    array: _Array,
    format: str,
    *,
    origin_format: str | None = None,
    c0: int | None = None,
    n0: int = 16,
    groups: int = 1,
    padding: float = 0,
) -> TensorSpec:
    """Return a tensor as a device stores it, described as a dump describes it.

    Parameters
    ----------
    array, format, origin_format, c0, n0, groups, padding
        As for `to_device`.

    Returns
    -------
    TensorSpec
        The stored array, its format, the shape of `array` as origin shape, and the number of groups
        as sub-format if there is more than one.

    Examples
    --------
    >>> spec = device_tensor(np.zeros((2, 19, 3, 5), np.float16), "NC1HWC0")
    >>> spec.format, spec.data.shape, spec.origin_shape
    ('NC1HWC0', (2, 2, 3, 5, 16), (2, 19, 3, 5))
    """
    stored = to_device(
        array,
        format,
        origin_format=origin_format,
        c0=c0,
        n0=n0,
        groups=groups,
        padding=padding,
    )
    return TensorSpec(
        stored,
        format=format,
        origin_shape=array.shape,
        sub_format=groups if groups > 1 else 0,
    )


def to_device(
    array: _Array,
    format: str,
    *,
    origin_format: str | None = None,
    c0: int | None = None,
    n0: int = 16,
    groups: int = 1,
    padding: float = 0,
) -> _Array:
    """Return a tensor as a device stores it.

    Parameters
    ----------
    array : numpy.ndarray
        The tensor in host layout. For FRACTAL_Z with groups its channels are those of one group,
        as the weights of a grouped convolution are shaped.
    format : str
        NC1HWC0, NC1HWC0_C04, C1HWNCoC0, FRACTAL_Z, FRACTAL_Z_C04, NDC1HWC0, FRACTAL_Z_3D; of
        tensors of any number of dimensions FRACTAL_NZ, its variants FRACTAL_NZ_C0_2, _4, _8, _16
        and _32, and FRACTAL_ZZ; and the plain formats NCHW, NHWC, HWCN, CHWN, NCDHW, NDHWC, DHWCN,
        DHWNC and ND.
    origin_format : str, optional
        The axes of `array`. Default: NCHW, or NCDHW for a format that has a depth. FRACTAL_NZ and
        FRACTAL_ZZ do not take it; they block the last two axes, whatever these are.
    c0 : int, optional
        Channels (columns) of a block. Default: 16, or 32, 64, 128, 256 for elements of 8, 4, 2 and
        1 bit.
    n0 : int
        Rows of a block.
    groups : int
        Groups of a grouped convolution, for FRACTAL_Z only.
    padding : number
        The value of the padding.

    Returns
    -------
    numpy.ndarray
        A new array in C order whose shape is the storage shape.

    Raises
    ------
    ValueError
        If the layout of the format is not documented, or `array` lacks axes that it needs.

    Examples
    --------
    >>> x = np.arange(6, dtype=np.int32).reshape(2, 3)
    >>> to_device(x, "FRACTAL_NZ", c0=2, n0=2, padding=-1).tolist()
    [[[[0, 1], [3, 4]]], [[[2, -1], [5, -1]]]]
    """
    array = np.asarray(array)
    if groups < 1 or (groups > 1 and format != "FRACTAL_Z"):
        raise ValueError(f"{format} of {groups} groups is not documented")
    if format in _FRACTAL_NZ or format == "FRACTAL_ZZ":
        if origin_format not in (None, "ND"):
            raise ValueError(f"{format} takes no origin_format; it blocks the last two axes")
        fixed = _FRACTAL_NZ.get(format)
        columns = fixed or c0 or _default_c0(array)
        if c0 not in (None, columns):
            raise ValueError(f"a block of {format} has {columns} columns, not {c0}")
        stored = _matrix_blocks(array, n0, columns, padding, columns_first=format != "FRACTAL_ZZ")
    elif format == "ND" and origin_format in (None, "ND"):
        stored = array
    elif format in _PLAIN:
        stored = _permuted(array, origin_format or ("NCHW", "NCDHW")[len(format) - 4], format)
    elif format in _FORMATS:
        axes, stored_as = _FORMATS[format]
        host = _permuted(array, origin_format or axes, axes)
        stored = stored_as(host, c0 or _default_c0(array), n0, groups, padding)
    else:
        raise ValueError(f"the layout of {format} is not documented")
    return np.array(stored, order="C")


def _default_c0(array: _Array) -> int:
    bits = element_bits(array.dtype)
    if bits >= 16:
        return 16
    if bits not in _C0_BY_BITS:
        raise ValueError(f"how {array.dtype} is blocked is not documented; give c0")
    return _C0_BY_BITS[bits]


def _permuted(array: _Array, axes: str, wanted: str) -> _Array:
    if array.ndim != len(axes):
        raise ValueError(f"an array of shape {array.shape} does not have the axes {axes}")
    if sorted(axes) != sorted(wanted):
        raise ValueError(f"the axes {axes} cannot become {wanted}")
    return array.transpose([axes.index(axis) for axis in wanted])


def _padded(array: _Array, shape: tuple[int, ...], padding: float) -> _Array:
    filled = np.full(shape, padding, array.dtype)
    filled[tuple(map(slice, array.shape))] = array
    return filled


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _matrix_blocks(
    array: _Array, n0: int, c0: int, padding: float, *, columns_first: bool
) -> _Array:
    """FRACTAL_NZ: (..., W1, H1, H0, W0). FRACTAL_ZZ: (..., H1, W1, H0, W0)."""
    if array.ndim == 0:
        raise ValueError("a scalar has no rows and columns")
    if array.ndim == 1:
        array = array[np.newaxis]
    *outer, h, w = array.shape
    h1, w1 = _ceil_div(h, n0), _ceil_div(w, c0)
    blocks = _padded(array, (*outer, h1 * n0, w1 * c0), padding).reshape(*outer, h1, n0, w1, c0)
    # The axes are now H1, H0, W1, W0, from the fourth last on.
    if columns_first:
        return np.moveaxis(blocks, -2, -4)
    return np.swapaxes(blocks, -2, -3)


def _channel_blocks(x: _Array, c0: int, padding: float) -> _Array:
    """Split the channels: (N, C, ...) becomes (N, C1, C0, ...)."""
    n, c, *space = x.shape
    c1 = _ceil_div(c, c0)
    return _padded(x, (n, c1 * c0, *space), padding).reshape(n, c1, c0, *space)


def _nc1hwc0(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    return _channel_blocks(x, c0, padding).transpose(0, 1, 3, 4, 2)


def _nc1hwc0_c04(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    return _nc1hwc0(x, _C04, n0, groups, padding)


def _ndc1hwc0(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    return _channel_blocks(x, c0, padding).transpose(0, 3, 1, 4, 5, 2)


def _c1hwncoc0(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    n, c, h, w = x.shape
    c1 = _ceil_div(c, c0)
    stored = np.full((c1, h, w, n, c0, c0), padding, x.dtype)
    for channel in range(c):
        block, inner = divmod(channel, c0)
        # Co and C0 are the same channel; elements off this diagonal are padding.
        stored[block, :, :, :, inner, inner] = x[:, channel].transpose(1, 2, 0)
    return stored


def _fractal_z(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    """Store (C1 H W, N1, N0, C0), or one such stack for each bundle of groups.

    A bundle holds as many groups as are needed to fill blocks of channels and of outputs, with the
    input channels of each group beside those of the group before it.
    """
    n, c, h, w = x.shape
    if n % groups:
        raise ValueError(f"{n} outputs cannot be shared among {groups} groups")
    outputs = n // groups
    bundled = 1
    if groups > 1:
        if not x.size:
            raise ValueError(f"how groups are bundled is not documented for the shape {x.shape}")
        to_fill = math.lcm(math.lcm(c, c0) // c, math.lcm(outputs, n0) // outputs)
        bundled = min(to_fill, groups)
    bundles = _ceil_div(groups, bundled)
    c1, n1 = _ceil_div(bundled * c, c0), _ceil_div(bundled * outputs, n0)
    matrices = np.full((bundles, n1 * n0, c1 * c0, h, w), padding, x.dtype)
    for group in range(groups):
        bundle, member = divmod(group, bundled)
        rows = slice(member * outputs, (member + 1) * outputs)
        columns = slice(member * c, (member + 1) * c)
        matrices[bundle, rows, columns] = x[group * outputs : (group + 1) * outputs]
    blocks = matrices.reshape(bundles, n1, n0, c1, c0, h, w).transpose(0, 3, 5, 6, 1, 2, 4)
    return blocks.reshape(bundles * c1 * h * w, n1, n0, c0)


def _fractal_z_3d(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    n, c, d, h, w = x.shape
    n1, c1 = _ceil_div(n, n0), _ceil_div(c, c0)
    blocks = _padded(x, (n1 * n0, c1 * c0, d, h, w), padding).reshape(n1, n0, c1, c0, d, h, w)
    return blocks.transpose(4, 2, 5, 6, 0, 1, 3).reshape(d * c1 * h * w, n1, n0, c0)


def _fractal_z_c04(x: _Array, c0: int, n0: int, groups: int, padding: float) -> _Array:
    n, c, h, w = x.shape
    if c > _C04:
        raise ValueError(f"FRACTAL_Z_C04 has {_C04} channels at most, not {c}")
    n1, depth = _ceil_div(n, n0), _ceil_div(_C04 * h * w, c0)
    rows = _padded(x, (n, _C04, h, w), padding).transpose(0, 2, 3, 1).reshape(n, h * w * _C04)
    blocks = _padded(rows, (n1 * n0, depth * c0), padding).reshape(n1, n0, depth, c0)
    return blocks.transpose(2, 0, 1, 3)


# The host axes that each format needs, and a function (array, c0, n0, groups, padding) -> stored.
_FORMATS: dict[str, tuple[str, Callable[[_Array, int, int, int, float], _Array]]] = {
    "NC1HWC0": ("NCHW", _nc1hwc0),
    "NC1HWC0_C04": ("NCHW", _nc1hwc0_c04),
    "C1HWNCoC0": ("NCHW", _c1hwncoc0),
    "FRACTAL_Z": ("NCHW", _fractal_z),
    "FRACTAL_Z_C04": ("NCHW", _fractal_z_c04),
    "NDC1HWC0": ("NCDHW", _ndc1hwc0),
    "FRACTAL_Z_3D": ("NCDHW", _fractal_z_3d),
}
