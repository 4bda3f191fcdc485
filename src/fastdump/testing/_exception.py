"""Arguments of a failed kernel, as an exception dump describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from fastdump.testing._tensor import TensorSpec

# The kinds of arguments of a kernel, with their numbers in the header (field input_type).
_KINDS = {
    "invalid": 0,
    "general": 1,
    "input": 2,
    "output": 3,
    "workspace": 4,
    "ascendc_log": 5,
    "mc2_context": 6,
    "tiling_data": 7,
    "l1": 8,
    "l2": 9,
    "overflow_address": 10,
    "ffts_address": 11,
    "shape_tensor": 12,
    "args": 101,
    "stack": 102,
    "device_kernel_object": 103,
    "simt_stack": 104,
}


def kernel_argument(
    data: npt.NDArray[Any] | bytes,
    arg_index: int,
    *,
    kind: str | int = "general",
    shape: Sequence[int] = (),
    address: int = 0,
) -> TensorSpec:
    """Return an input of an exception dump: bytes of unknown type, with the argument's position.

    Parameters
    ----------
    data : numpy.ndarray or bytes
        The memory that the argument pointed to; the dump does not tell its element type.
    arg_index : int
        Position among the kernel's arguments.
    kind : str or int
        The kind of the argument, or any number. ``"general"`` in a brief dump without more
        information; else ``"input"``, ``"workspace"``, ``"tiling_data"`` and so on. The tensors
        that a dump lists as outputs have no kind: give them as a `TensorSpec` with `arg_index`.
    shape : sequence of int
        The shape, if the dump tells it.
    address : int
        Device address.

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> argument = kernel_argument(b"tiling", 3, kind="tiling_data")
    >>> argument.dtype, argument.arg_index, argument.input_type
    ('UNDEFINED', 3, 7)
    """
    if isinstance(kind, str) and kind not in _KINDS:
        raise ValueError(f"no argument of a kernel is of the kind {kind!r}")
    return TensorSpec(
        data,
        dtype="UNDEFINED",
        shape=shape,
        address=address,
        arg_index=arg_index,
        input_type=_KINDS[kind] if isinstance(kind, str) else kind,
    )
