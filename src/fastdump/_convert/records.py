"""Records of a conversion: failures, notes and progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastdump._tensor.tensor import tensor_in
from fastdump.errors import NoTensorError

if TYPE_CHECKING:
    from fastdump._tensor.tensor import Tensor


@dataclass(frozen=True, slots=True)
class _OfFile:
    """A dump file, or one of its tensors."""

    path: str
    tensor: str | None
    _offset: int | None = field(default=None, kw_only=True, repr=False)

    def open(self) -> Tensor:
        """Return the tensor of the dump file.

        Raises
        ------
        NoTensorError
            If this is about the whole file.
        DumpFormatError
            If the file is not a dump, or no longer has the tensor.
        OSError
            If the file cannot be read.
        """
        io, _, index = (self.tensor or "").partition(".")
        if not index.isdigit():
            raise NoTensorError(f"{self.path!r}: this is about the file, not one of its tensors")
        return tensor_in(self.path, io, int(index), self._offset)

    @property
    def where(self) -> str:
        """File and tensor."""
        return f"{self.path}: {self.tensor}" if self.tensor else self.path


@dataclass(frozen=True, slots=True)
class ConvertFailure(_OfFile):
    """Something that was not converted.

    Attributes
    ----------
    path
        The dump file.
    tensor
        "output.0"; None if it is the whole file.
    reason
        Why it was not converted.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class ConvertNote(_OfFile):
    """Something that was converted, but differs from what the header says.

    Attributes
    ----------
    path
        The dump file.
    tensor
        "output.0"; None if the note is about the whole file.
    status
        "truncated", "size_mismatch", "unsupported", "absent", as in `StatsRow`; "noted" if the note
        is about the whole file.
    note
        What is odd, in words.
    """

    status: str
    note: str


@dataclass(frozen=True, slots=True)
class ConvertProgress:
    """How far a conversion has come.

    Attributes
    ----------
    files_found, files_done
        Dump files.
    bytes_done
        Number of bytes written.
    bad
        Number of things that were not converted.
    """

    files_found: int
    files_done: int
    bytes_done: int
    bad: int

    @property
    def walking(self) -> bool:
        """Whether dump files are still being searched; never while they are converted."""
        return False
