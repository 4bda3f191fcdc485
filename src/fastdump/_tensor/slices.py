"""Joins tensors that the threads of an FFTS+ operator dumped in slices, one file a thread."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

# {op_type}.{op_name}.{task}[.{stream}].{timestamp}.{task_type}.{context}.{thread}.{device}
_TIMESTAMP, _THREAD = -5, -2
_MIN_PARTS = 8


Slice: TypeAlias = "tuple[Sequence[tuple[int, int]], NDArray[Any]]"
"""The first index and the end along each axis of the whole tensor, and the elements."""


def join(slices: Iterable[Slice], whole: NDArray[Any]) -> int:
    """Copy slices into the whole tensor, and return how many elements were copied."""
    n_joined = 0
    for ranges, elements in slices:
        whole[tuple(slice(lower, higher) for lower, higher in ranges)] = elements
        n_joined += elements.size
    return n_joined


def paths_of_threads(path: str) -> dict[str | None, str]:
    """Return the file of each thread of one execution, by the number of the thread.

    Parameters
    ----------
    path
        The file of one of the threads. If its name is not that of a slice, only this file is
        returned.
    """
    directory, own_name = os.path.split(path)
    own = own_name.split(".")
    if len(own) < _MIN_PARTS:
        return {None: path}
    found: dict[str | None, tuple[int, str]] = {}
    for name in os.listdir(directory or "."):  # noqa: PTH208 (a million names, one str each)
        parts = name.split(".")
        if len(parts) != len(own) or not parts[_TIMESTAMP].isdecimal():
            continue
        differing = {i - len(own) for i, part in enumerate(parts) if part != own[i]}
        if differing <= {_TIMESTAMP, _THREAD}:
            # If an operator was executed more than once, the slice nearest in time counts.
            distance = abs(int(parts[_TIMESTAMP]) - int(own[_TIMESTAMP]))
            thread = parts[_THREAD]
            candidate = (distance, os.path.join(directory, name))  # noqa: PTH118
            found[thread] = min(found.get(thread, candidate), candidate)
    nearest = {thread: other for thread, (_, other) in sorted(found.items(), key=str)}
    return nearest or {None: path}


def missing_text(paths: Mapping[str | None, str], attrs: Iterable[tuple[str, str]]) -> str:
    """Return which threads have no file, if the header's `attrs` tell the number of threads."""
    for _, value in attrs:
        try:
            n_threads = json.loads(value)["slice_instance_num"]
            missing = [str(i) for i in range(min(n_threads, 4096)) if str(i) not in paths]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if missing:
            return f": nothing of thread {', '.join(missing[:16])}"
    return ""
