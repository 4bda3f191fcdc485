"""The files behind a table's rows: device addresses, hashes and elements of a few tensors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from fastdump._dump_file import DumpFile
from fastdump._row_path import row_path
from fastdump._stats import PathLike
from fastdump._table import StatsTable
from fastdump._tensor import Tensor
from fastdump.errors import FastdumpError

_MAX_HASHED_NBYTES = 2 << 30
_HASHED_AT_ONCE = 8 << 20


class DumpFiles:
    """Opens the files that rows came from, as far as they are at hand.

    Reads headers, and payloads only of tensors that are asked for: at most `_MAX_HASHED_NBYTES` in
    all for hashes.

    Parameters
    ----------
    table
        Its rows are asked for by index.
    roots
        What the rows' paths are relative to; none if there are no files.
    """

    def __init__(self, table: StatsTable, roots: Sequence[PathLike]) -> None:
        self._table = table
        self._roots = [Path(os.fsdecode(root)) for root in roots]
        self._tensors: dict[str, list[Tensor]] = {}
        self._of_row: dict[int, Tensor | None] = {}
        self._digests: dict[int, bytes | None] = {}
        self._left_nbytes = _MAX_HASHED_NBYTES

    @property
    def are_at_hand(self) -> bool:
        """Whether there may be files at all."""
        return bool(self._roots)

    def path(self, shown: str) -> Path | None:
        """Return the file of a row that shows this path."""
        if not self._roots:
            return None
        if len(self._roots) > 1:
            return Path(row_path("", shown))  # that of several roots begins with one of them
        (root,) = self._roots
        return Path(row_path(str(root), shown)) if root.is_dir() else root

    def tensor(self, row: int) -> Tensor | None:
        """Return the tensor of a row, or None if its file or its bytes are not there."""
        if row not in self._of_row:
            self._of_row[row] = self._found(row)
        return self._of_row[row]

    def _found(self, row: int) -> Tensor | None:
        record = self._table[row]
        if record.source != "tensor" or record.io is None:
            return None
        for tensor in self._tensors_in(record.path):
            key = (tensor.io, tensor.index, tensor.offset)
            if key == (record.io, record.index, record.offset):
                return tensor
        return None

    def address(self, row: int) -> int | None:
        """Return the device address of a row's tensor, None if it is not known."""
        tensor = self.tensor(row)
        return (tensor.address or None) if tensor is not None else None

    def digest(self, row: int) -> bytes | None:
        """Return a hash of a row's bytes; None if they are not at hand, or too much was hashed."""
        if row not in self._digests:
            self._digests[row] = self._hashed(row)
        return self._digests[row]

    def _hashed(self, row: int) -> bytes | None:
        tensor = self.tensor(row)
        if tensor is None or tensor.status not in ("ok", "unsupported"):
            return None
        if tensor.stored_nbytes > self._left_nbytes:
            return None
        self._left_nbytes -= tensor.stored_nbytes
        digest = hashlib.blake2b()
        try:
            data = tensor.raw()
            for start in range(0, data.size, _HASHED_AT_ONCE):
                digest.update(data[start : start + _HASHED_AT_ONCE].data)
        except (OSError, FastdumpError):
            return None
        return digest.digest()

    def _tensors_in(self, shown: str) -> list[Tensor]:
        if shown not in self._tensors:
            self._tensors[shown] = self._opened(shown)
        return self._tensors[shown]

    def _opened(self, shown: str) -> list[Tensor]:
        path = self.path(shown)
        if path is None:
            return []
        try:
            file = DumpFile(path)
            return [Tensor(file, description) for description in file.header()["tensors"]]
        except (OSError, FastdumpError, ValueError):
            return []
