"""Comparisons of bytes: what was written, what was seen later, and who may have changed it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastdump._arguments import PathLike
from fastdump._table.row import file_of_row
from fastdump._tensor.tensor import Tensor, tensor_in
from fastdump._words.shown import Shown
from fastdump.errors import NoTensorError


@dataclass(frozen=True, slots=True)
class Suspect:
    """An operator that wrote to the memory of a tensor before the change was seen.

    Attributes
    ----------
    op_type, op_name, path, timestamp
        The operator, and its file relative to the dump.
    output
        Which of its outputs lies there.
    address, nbytes
        Where on the device.
    overlap
        First and last byte of the tensor, inclusive, that this output overlaps.
    wrote_it
        Whether the bytes found there are those of this output; None if that could not be told.
    """

    op_type: str | None
    op_name: str | None
    path: str
    timestamp: int | None
    output: int
    address: int
    nbytes: int
    overlap: tuple[int, int]
    wrote_it: bool | None


@dataclass(frozen=True, slots=True)
class Change:
    """Where two recordings of a tensor differ.

    Attributes
    ----------
    n_bytes
        How many bytes differ.
    first_byte, last_byte
        The first and the last of them, counted from the beginning of the tensor.
    n_elements
        How many elements differ; None if elements are not of whole bytes, and if this is not the
        first change of the tensor.
    first_element, last_element
        The first and the last of them as flat indices; None as above.
    words
        Which they are, in words: rows, columns, a run, ...; "" as above.
    place
        The same as an index, "[0, 4:7, :]", where they make a rectangle.
    """

    n_bytes: int
    first_byte: int
    last_byte: int
    n_elements: int | None = None
    first_element: int | None = None
    last_element: int | None = None
    words: str = ""
    place: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class WatcherComparison(Shown):
    """One tensor as its operator wrote it, and as it was seen later.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where it was seen later.
    op_type, op_name
        The operator whose output it is.
    output
        Which of its outputs.
    dtype, shape, nbytes, address
        What the later recording says of the tensor.
    path
        The operator's own file, relative to the dump; None if there is none.
    seen_by
        Name of the operator after which it was recorded again; in a check by addresses the
        operator that read it.
    seen_as
        "output.0" of the later file, or "input.2".
    seen_path, seen_timestamp, seen_task_id, seen_stream_id
        The later file.
    status
        "same"; "changed"; "before" (recorded before its operator ran in this place: not compared);
        "no_own_file"; "missing" (one of the files lacks this output); "size_mismatch" (they
        declare different sizes); "truncated", "absent" (bytes are missing, and the others do not
        differ); "malformed", "unreadable".
    note
        Why it is not "same", where that needs words; what is odd.
    is_first
        Whether this is the first recording in which the tensor has changed: a finding.
    same_until
        Name of the last operator after which the tensor still was the same, or None.
    change
        Where they differ, if they do.
    suspects
        For a first change, the operators in between whose outputs overlap the tensor's memory.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    output: int
    dtype: str | None
    shape: tuple[int, ...] | None
    nbytes: int | None
    address: int | None
    path: str | None
    seen_by: str
    seen_as: str
    seen_path: str
    seen_timestamp: int | None
    seen_task_id: int | None
    seen_stream_id: int | None
    status: str
    note: str = ""
    is_first: bool = False
    same_until: str | None = None
    change: Change | None = None
    suspects: tuple[Suspect, ...] = ()
    _root: str | None = field(default=None, repr=False, compare=False)

    def tensor(self, root: PathLike | None = None) -> Tensor:
        """Return the tensor as its operator wrote it.

        Parameters
        ----------
        root
            The directory that paths are relative to, if the dump was moved.

        Raises
        ------
        NoTensorError
            If there is no file of the operator's own.
        DumpFormatError
            If the file no longer has the tensor.
        OSError
            If the file cannot be read.
        """
        if self.path is None:
            raise NoTensorError(f"{self.op_name!r} has no file of its own in this place")
        return tensor_in(file_of_row(self._root, self.path, root), "output", self.output, None)

    def seen_tensor(self, root: PathLike | None = None) -> Tensor:
        """Return the tensor as it was seen later; arguments and errors are those of `tensor`."""
        io, _, index = self.seen_as.partition(".")
        if not index:
            raise NoTensorError(f"{self.seen_path!r} gave no tensor: {self.note or self.status}")
        return tensor_in(file_of_row(self._root, self.seen_path, root), io, int(index), None)
