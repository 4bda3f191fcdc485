"""The tensors that the rows of a table are about, used to find them in files or other tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

_KEY = ("path", "io", "index", "offset")


@dataclass(frozen=True, slots=True)
class NamedTensors:
    """Tensors by path, io, index and offset; the last three are None for a file without tensors."""

    keys: frozenset[tuple[Any, ...]]

    @classmethod
    def of(cls, batch: RecordBatch, root: str = "") -> NamedTensors:
        """Return the tensors that some rows are about, with paths below `root` if that is given."""
        keys = _keys(batch)
        if root:
            keys = [(os.path.normpath(os.path.join(root, path)), *key) for path, *key in keys]  # noqa: PTH118
        return cls(frozenset(keys))

    @property
    def paths(self) -> set[str]:
        """The files, as tables show them."""
        return {path for path, *_ in self.keys}

    def rows(self, batch: RecordBatch) -> NDArray[np.bool_]:
        """Return which rows are about these tensors, shape (rows,)."""
        return np.array([key in self.keys for key in _keys(batch)], np.bool_)

    def has(self, path: str, io: str, index: int, offset: int) -> bool:
        """Tell whether a tensor is among these."""
        return (path, io, index, offset) in self.keys


def _keys(batch: RecordBatch) -> list[tuple[Any, ...]]:
    return list(zip(*(batch.column(name).to_pylist() for name in _KEY), strict=True))
