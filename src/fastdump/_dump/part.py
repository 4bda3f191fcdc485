"""Some files of a dump for a worker of an executor, who need not list them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastdump import _core
from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._selection import Selection
from fastdump._table.named_tensors import NamedTensors
from fastdump._workers import files_of_part


class DumpPart(NamedTuple):
    """What a worker gets, to be pickled.

    Attributes
    ----------
    roots
        Absolute paths of what was opened.
    names
        The names of the files, as `_core.Index.of_part` takes them.
    narrowing
        What selects tensors in them.
    """

    roots: list[str]
    names: Any
    narrowing: tuple[Selection | NamedTensors, ...]

    @classmethod
    def of(
        cls,
        files: IndexedFiles,
        positions: Positions,
        narrowing: Sequence[Selection | NamedTensors],
    ) -> DumpPart:
        """Return some of the files of a dump."""
        return cls(files.roots, files_of_part(files.index, positions), tuple(narrowing))

    def files(self) -> IndexedFiles:
        """Return the files, in the order in which `of` took them."""
        index = _core.Index.of_part(self.names)
        return IndexedFiles(self.roots, follow_links=False, index=index)
