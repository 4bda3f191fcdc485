"""Comparison in memory of pairs that the core cannot stream.

Such pairs are Fortran-order arrays, FFTS+ slices that have to be joined, packed elements that a
layout takes apart, and attention masks of two types. Only here tensors are read through Python:
both tensors of one pair at a time are in memory.
"""

from __future__ import annotations

from typing import Any

from fastdump import _core
from fastdump._array.lost_memory import reading_memory
from fastdump._array.stats_of import element_bytes
from fastdump._compare.logical_order import Stored, check_shapes, in_one_order
from fastdump._compare.mask_constants import unmasked
from fastdump._compare.tolerances import Tolerance
from fastdump._tensor.tensor import Tensor
from fastdump._words.quantities import counted


def compare_materialised(
    a: Tensor,
    b: Tensor,
    *,
    tolerance: Tolerance,
    kl: bool,
    threads: int,
    without_masks: bool = False,
) -> tuple[dict[str, Any], str | None]:
    """Return the metrics of two logical arrays by name, and a note.

    Parameters
    ----------
    without_masks
        Whether elements that are mask constants on both sides are left out.

    Raises
    ------
    SizesDifferError
        If they have different numbers of elements.
    LayoutError, UnsupportedDTypeError, DumpFormatError, OSError
        As raised by `Tensor.logical`.
    """
    layouts = in_one_order(_stored(a), _stored(b))
    note = check_shapes(*layouts)
    array_a, array_b = (
        tensor.logical(layout.order, threads=threads)
        for tensor, layout in zip((a, b), layouts, strict=True)
    )
    positions = None
    if without_masks:
        array_a, array_b, positions, n_masked = unmasked(array_a, array_b)
        notes = [note, f"{counted(n_masked, 'element')} left out: the mask constant of both types"]
        note = "; ".join(filter(None, notes))
    metrics: dict[str, Any] = reading_memory(_core.compare_buffers)(
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
    if positions is not None:
        for name in ("max_abs_error_index", "first_mismatch"):
            if metrics[name] is not None:
                metrics[name] = int(positions[metrics[name]])
    for tensor in (a, b):
        tensor.file.require_unchanged()
    # Types that numpy lacks were converted, so their bits are not those of the dump.
    if a.dtype_name != b.dtype_name:
        metrics |= {"bit_equal": False, "ulp_max": None}
    elif array_a.dtype.name != a.dtype_name:
        metrics |= {"ulp_max": None}
    return metrics, note


def _stored(tensor: Tensor) -> Stored:
    return Stored(
        tensor.format or "ND",
        tensor.full_shape,
        tensor.origin_shape,
        tensor.sub_format,
        tensor.origin_format,
    )
