"""Pairs that the core cannot stream in the order of the host: both are brought there in memory.

Those are Fortran-order arrays, FFTS+ slices that have to be joined, and packed elements that a
layout takes apart. The only place that reads tensors through Python: both tensors of a pair are in
memory at once, one pair at a time.
"""

from __future__ import annotations

from typing import Any

from fastdump import _core
from fastdump._compare.host_order import Stored, check_shapes, in_one_order
from fastdump._compare.tolerances import Tolerance
from fastdump._stats_of import element_bytes
from fastdump._tensor import Tensor


def compare_materialised(
    a: Tensor, b: Tensor, *, tolerance: Tolerance, kl: bool, threads: int
) -> tuple[dict[str, Any], str | None]:
    """Return the metrics of two host arrays by name, and a note.

    Raises
    ------
    SizesDifferError
        If they have different numbers of elements.
    LayoutError, UnsupportedDTypeError, DumpFormatError, OSError
        As `Tensor.logical` does.
    """
    layouts = in_one_order(_stored(a), _stored(b))
    note = check_shapes(*layouts)
    array_a, array_b = (
        tensor.logical(layout.order, threads=threads)
        for tensor, layout in zip((a, b), layouts, strict=True)
    )
    metrics: dict[str, Any] = _core.compare_buffers(
        element_bytes(array_a).data,
        array_a.dtype.name,
        element_bytes(array_b).data,
        array_b.dtype.name,
        array_a.size,
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        kl=kl,
        threads=threads,
    )
    # Types that numpy lacks were converted, so that they look like others.
    if a.dtype_name != b.dtype_name:
        metrics |= {"bit_equal": False, "ulp_max": None}
    elif array_a.dtype.name != a.dtype_name:
        metrics |= {"ulp_max": None}
    return metrics, note


def _stored(tensor: Tensor) -> Stored:
    original_op = tensor.description.get("original_op")
    return Stored(
        tensor.format or "ND",
        tensor.description["full_shape"] or tensor.declared_shape,
        tensor.origin_shape,
        tensor.sub_format,
        original_op["format"] if original_op else None,
    )
