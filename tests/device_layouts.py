"""What the device makes of a host array: formats written from their descriptions, with numpy.

Slow and plain on purpose: an independent truth for what brings them back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Transform = Callable[..., Array]


def padded(array: Array, shape: tuple[int, ...], filler: int) -> Array:
    """Return `array` grown to `shape`; every byte of what is added is `filler`."""
    grown = np.frombuffer(
        bytes([filler]) * (math.prod(shape) * array.itemsize), array.dtype
    ).reshape(shape)
    grown = grown.copy()
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown


def up(n: int, block: int) -> int:
    return -(-n // block)


def nc1hwc0(nchw: Array, c0: int, filler: int) -> Array:
    n, c, h, w = nchw.shape
    c1 = up(c, c0)
    blocks = padded(nchw, (n, c1 * c0, h, w), filler).reshape(n, c1, c0, h, w)
    return blocks.transpose(0, 1, 3, 4, 2)


def ndc1hwc0(ncdhw: Array, c0: int, filler: int) -> Array:
    n, c, d, h, w = ncdhw.shape
    c1 = up(c, c0)
    blocks = padded(ncdhw, (n, c1 * c0, d, h, w), filler).reshape(n, c1, c0, d, h, w)
    return blocks.transpose(0, 3, 1, 4, 5, 2)


def fractal_z(nchw: Array, c0: int, n0: int, filler: int) -> Array:
    n, c, h, w = nchw.shape
    c1, n1 = up(c, c0), up(n, n0)
    blocks = padded(nchw, (n1 * n0, c1 * c0, h, w), filler).reshape(n1, n0, c1, c0, h, w)
    return blocks.transpose(2, 4, 5, 0, 1, 3).reshape(c1 * h * w, n1, n0, c0)


def fractal_z_3d(ncdhw: Array, c0: int, n0: int, filler: int) -> Array:
    n, c, d, h, w = ncdhw.shape
    c1, n1 = up(c, c0), up(n, n0)
    blocks = padded(ncdhw, (n1 * n0, c1 * c0, d, h, w), filler).reshape(n1, n0, c1, c0, d, h, w)
    return blocks.transpose(4, 2, 5, 6, 0, 1, 3).reshape(d * c1 * h * w, n1, n0, c0)


def fractal_z_c04(nchw: Array, c0: int, n0: int, filler: int) -> Array:
    n, c, h, w = nchw.shape
    assert c <= 4
    x, n1 = up(4 * h * w, c0), up(n, n0)
    nhwc = padded(nchw.transpose(0, 2, 3, 1), (n, h, w, 4), filler).reshape(n, h * w * 4)
    matrix = padded(nhwc, (n1 * n0, x * c0), filler).reshape(n1, n0, x, c0)
    return matrix.transpose(2, 0, 1, 3)


def c1hwncoc0(nchw: Array, c0: int, filler: int) -> Array:
    n, c, h, w = nchw.shape
    c1 = up(c, c0)
    channels = padded(nchw, (n, c1 * c0, h, w), filler).reshape(n, c1, c0, h, w)
    stored = padded(np.empty((0, 0, 0, 0, 0, 0), nchw.dtype), (c1, h, w, n, c0, c0), filler)
    for i in range(c0):
        stored[..., i, i] = channels[:, :, i].transpose(1, 2, 3, 0)
    return stored


def fractal_nz(matrices: Array, h0: int, w0: int, filler: int) -> Array:
    if matrices.ndim == 1:
        matrices = matrices[np.newaxis]
    *batch, h, w = matrices.shape
    h1, w1 = up(h, h0), up(w, w0)
    blocks = padded(matrices, (*batch, h1 * h0, w1 * w0), filler).reshape(*batch, h1, h0, w1, w0)
    return np.moveaxis(blocks, -2, -4)


def fractal_zz(matrices: Array, h0: int, w0: int, filler: int) -> Array:
    if matrices.ndim == 1:
        matrices = matrices[np.newaxis]
    *batch, h, w = matrices.shape
    h1, w1 = up(h, h0), up(w, w0)
    blocks = padded(matrices, (*batch, h1 * h0, w1 * w0), filler).reshape(*batch, h1, h0, w1, w0)
    return np.swapaxes(blocks, -2, -3)


def groups_in_a_block(c: int, c_out: int, groups: int, c0: int, n0: int) -> int:
    return min(math.lcm(math.lcm(c, c0) // c, math.lcm(c_out, n0) // c_out), groups)


def grouped_fractal_z_3d(ncdhw: Array, groups: int, c0: int, n0: int, filler: int) -> Array:
    """Element by element; ncdhw.shape[1] is the number of channels of one group."""
    n, c, d, h, w = ncdhw.shape
    c_out = n // groups
    shared = groups_in_a_block(c, c_out, groups, c0, n0)
    c1, n1, n_blocks = up(shared * c, c0), up(shared * c_out, n0), up(groups, shared)
    shape = (n_blocks, d, c1, h, w, n1 * n0, c0)
    stored = padded(np.empty((0,) * 7, ncdhw.dtype), shape, filler)
    for group in range(groups):
        block, place = divmod(group, shared)
        for j in range(c_out):
            for i in range(c):
                column = place * c + i
                stored[block, :, column // c0, :, :, place * c_out + j, column % c0] = ncdhw[
                    group * c_out + j, i
                ]
    return stored.reshape(n_blocks * d * c1 * h * w, n1, n0, c0)


def grouped_fractal_z(nchw: Array, groups: int, c0: int, n0: int, filler: int) -> Array:
    return grouped_fractal_z_3d(nchw[:, :, np.newaxis], groups, c0, n0, filler)
