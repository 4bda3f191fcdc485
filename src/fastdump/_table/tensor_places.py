"""Where the tensors of a table's rows lie, as the core takes them to compare."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastdump import _core
from fastdump._table.arrow_column import buffer_bytes, exported, part_ends
from fastdump._tensor.shown_path import file_of

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray


def places(
    root: str,
    paths: Array,
    *,
    states: NDArray[np.int64],
    offsets: NDArray[np.int64],
    dtypes: NDArray[np.int64],
    dtype_names: Sequence[str],
    n_elements: NDArray[np.int64],
    layouts: Mapping[int, _core.HostLayout] | None = None,
) -> _core.TensorPlaces:
    """Return some tensors.

    Parameters
    ----------
    root
        The directory that `paths` are relative to; empty for the current one.
    paths
        As tables show them.
    states, offsets, n_elements
        The state of each file, where the elements begin in it, and how many there are.
    dtypes, dtype_names
        Position of each element type in a list of names.
    layouts
        How elements become a host array, by position; default: as they lie.
    """
    prefix, texts, ends = _encoded(root, paths)
    return _core.TensorPlaces(
        root=prefix,
        texts=texts,
        ends=ends.data,
        states=states.data,
        offsets=offsets.data,
        dtypes=dtypes.data,
        dtype_names=dtype_names,
        n_elements=n_elements.data,
        layouts=layouts or {},
    )


def _encoded(root: str, paths: Array) -> tuple[bytes, bytes, NDArray[np.int64]]:
    """Return what all paths begin with, the bytes of the rest, and where each of these ends."""
    if not len(paths):
        return b"", b"", np.empty(0, np.int64)
    array, _capsule = exported(paths)
    ends = part_ends(array, paths.type).astype(np.int64)
    texts = buffer_bytes(array.buffers[2], int(ends[0]), int(ends[-1] - ends[0])).tobytes()
    # Most have no backslash at all, which is found far faster.
    if b"\\" not in texts or b"\\x" not in texts:
        return os.fsencode(os.path.join(root, "")), texts, ends[1:] - ends[0]  # noqa: PTH118
    # What is shown may stand for other bytes.
    found = [os.fsencode(file_of(root, shown)) for shown in paths.to_pylist()]
    return b"", b"".join(found), np.cumsum([len(path) for path in found])
