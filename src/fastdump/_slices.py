"""The whole of a tensor that the threads of an FFTS+ operator dumped in slices, a file each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump.errors import DumpFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._tensor import Tensor

# {op_type}.{op_name}.{task}[.{stream}].{timestamp}.{task_type}.{context}.{thread}.{device}
_TIMESTAMP, _THREAD = -5, -2
_MIN_PARTS = 8


def join(
    tensor: Tensor, attrs: Sequence[tuple[str, str]], open_file: Callable[[str], list[Tensor]]
) -> NDArray[Any]:
    """Return the whole tensor that `tensor` is a slice of.

    Parameters
    ----------
    tensor
        A slice.
    attrs
        Of the header of its file.
    open_file
        Returns the tensors of another file.

    Returns
    -------
    numpy.ndarray
        Of the shape that the header tells of the whole.

    Raises
    ------
    DumpFormatError
        If the slices that are there do not make up the whole.
    """
    paths = _paths_of_threads(tensor.path)
    # Whoever gave the file another name has only this slice.
    paths = paths or {None: tensor.path}
    whole = np.empty(tensor.description["full_shape"], tensor.dtype)
    n_joined = 0
    for path in paths.values():
        slices = [tensor] if path == tensor.path else open_file(path)
        for other in slices:
            ranges = other.description["slice"]
            if (other.name, other.dtype) != (tensor.name, tensor.dtype) or ranges is None:
                continue
            part = tuple(slice(lower, higher) for lower, higher in ranges)
            whole[part] = np.asarray(other)
            n_joined += other.size
    if n_joined != whole.size:
        raise DumpFormatError(
            f"{tensor.path!r}: {tensor.name}: the slices beside it have {n_joined:,} of the "
            f"{whole.size:,} elements of the whole{_missing_text(paths, attrs)}"
        )
    return whole


def _paths_of_threads(path: str) -> dict[str | None, str]:
    """Return the file of each thread of the execution that `path` is of, by the thread's number."""
    directory, own_name = os.path.split(path)
    own = own_name.split(".")
    if len(own) < _MIN_PARTS:
        return {}
    found: dict[str | None, tuple[int, str]] = {}
    for name in os.listdir(directory or "."):  # noqa: PTH208 (a million names, one str each)
        parts = name.split(".")
        if len(parts) != len(own) or not parts[_TIMESTAMP].isdecimal():
            continue
        differing = {i - len(own) for i, part in enumerate(parts) if part != own[i]}
        if differing <= {_TIMESTAMP, _THREAD}:
            # An operator may have been executed more than once: take the slice nearest in time.
            distance = abs(int(parts[_TIMESTAMP]) - int(own[_TIMESTAMP]))
            thread = parts[_THREAD]
            candidate = (distance, os.path.join(directory, name))  # noqa: PTH118
            found[thread] = min(found.get(thread, candidate), candidate)
    return {thread: nearest for thread, (_, nearest) in sorted(found.items(), key=str)}


def _missing_text(paths: Mapping[str | None, str], attrs: Sequence[tuple[str, str]]) -> str:
    """Return which threads have no file, if the header tells how many there are."""
    for _, value in attrs:
        try:
            n_threads = json.loads(value)["slice_instance_num"]
            missing = [str(i) for i in range(min(n_threads, 4096)) if str(i) not in paths]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if missing:
            return f": nothing of thread {', '.join(missing[:16])}"
    return ""
