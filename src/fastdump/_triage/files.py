"""The files of a table's rows: elements, device addresses and hashes of a few tensors."""

from __future__ import annotations

import hashlib
import os

from fastdump._table.stats_table import StatsTable
from fastdump._tensor.tensor import Tensor, tensors_in
from fastdump.errors import FastdumpError

_MAX_HASHED_NBYTES = 2 << 30
_READ_NBYTES = 4 << 20


def _may_be_there(path: str) -> bool:
    # Where a disk fails, the files are looked for, and what cannot be read is told.
    try:
        os.stat(path)  # noqa: PTH116 (pathlib is slow to import)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


class DumpFiles:
    """Opens the files of a table's rows, as far as they are at hand.

    Headers are read once, and payloads only of tensors that are asked for. Hashes read at most
    `_MAX_HASHED_NBYTES` in all.

    Attributes
    ----------
    are_at_hand : bool
        Whether any path that was scanned is there, as far as that can be told.
    unread : set of str
        Files that were looked for and could not be read, or not any more as they were.
    """

    def __init__(self, table: StatsTable) -> None:
        self.are_at_hand = any(map(_may_be_there, table.roots))
        self.unread: set[str] = set()
        self._table = table
        self._tensors: dict[str, list[Tensor]] = {}
        self._digests: dict[int, bytes | None] = {}
        self._left_nbytes = _MAX_HASHED_NBYTES

    def tensor(self, row: int) -> Tensor | None:
        """Return the tensor of a row, or None if its file or its bytes are not there."""
        record = self._table[row]
        if not self.are_at_hand or record.source != "tensor" or record.io is None:
            return None
        path = record.file()
        if path not in self._tensors:
            try:
                # Of a file that changed since its statistics were computed nothing is followed.
                state = self._table.file_states.of(record.path)
                self._tensors[path] = tensors_in(path, state)
            except (OSError, FastdumpError, ValueError):
                self._tensors[path] = []
                self.unread.add(path)
        key = (record.io, record.index, record.offset)
        found = (t for t in self._tensors[path] if (t.io, t.index, t.offset) == key)
        return next(found, None)

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
        hashed = hashlib.blake2b()
        try:
            for first in range(0, tensor.stored_nbytes, _READ_NBYTES):
                hashed.update(tensor.read_raw(first, _READ_NBYTES).data)
            return hashed.digest()
        except (OSError, FastdumpError):
            self.unread.add(tensor.path)
            return None
