"""The order of axes in which two tensors that do not lie alike are compared."""

from __future__ import annotations

import functools
from typing import NamedTuple

from fastdump._array.layout import logical_layout
from fastdump._core import HostLayout
from fastdump.errors import LayoutError

ORDERS = ("NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC")
"""Formats that name the axes of the logical array in order."""

_NO_ORDER = "ND"


class SizesDifferError(Exception):
    """Two logical arrays have different numbers of elements."""


class Stored(NamedTuple):
    """How a tensor is stored; arguments of `fastdump.to_logical`."""

    format: str
    shape: tuple[int, ...]
    origin_shape: tuple[int, ...] = ()
    sub_format: int = 0
    origin_format: str | None = None

    def layout(self, order: str | None = None) -> HostLayout:
        return logical_layout(**self._asdict(), order=order)


# A dump has few different tensors, and has each of them at many steps and layers.
@functools.lru_cache(maxsize=1024)
def in_one_order(a: Stored, b: Stored) -> tuple[HostLayout, HostLayout]:
    """Return the layouts of both logical arrays, in the order of `a` if both name their axes.

    Raises
    ------
    LayoutError
        If the logical array of one of them is not known.
    """
    layout_a, layout_b = a.layout(), b.layout()
    if layout_a.order == layout_b.order:
        return layout_a, layout_b
    if layout_b.order == _NO_ORDER:
        return _with_shape(a, layout_a, layout_b.shape), layout_b
    if layout_a.order == _NO_ORDER:
        return layout_a, _with_shape(b, layout_b, layout_a.shape)
    for order in (layout_a.order, layout_b.order, "NCHW", "NCDHW"):
        try:
            return a.layout(order), b.layout(order)
        except LayoutError:  # not an order of all axes, or one with axes that a tensor lacks
            continue
    return layout_a, layout_b


def _with_shape(stored: Stored, layout: HostLayout, shape: tuple[int, ...]) -> HostLayout:
    """Return `layout` with its axes in the first order that gives `shape`, if there is one."""
    if layout.shape == shape:
        return layout
    for order in ORDERS:
        try:
            ordered = stored.layout(order)
        except LayoutError:
            continue
        if ordered.shape == shape:
            return ordered
    return layout


def check_shapes(a: HostLayout, b: HostLayout) -> str | None:
    """Return a note if the shapes of two logical arrays differ.

    Raises
    ------
    SizesDifferError
        If their numbers of elements differ.
    """
    if a.n_elements != b.n_elements:
        raise SizesDifferError(f"{a.shape} in a and {b.shape} in b, in their logical order")
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}: compared in order of elements"
    return None
