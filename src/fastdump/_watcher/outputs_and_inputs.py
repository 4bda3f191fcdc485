"""Outputs that lay on the device, and the inputs that lay exactly where one was written before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._scan import Headers
from fastdump._table.arrow_column import codes_of, integer_array, is_in, is_null, short_text_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

NONE = -1


@dataclass(frozen=True)
class HeaderRows:
    """The rows of headers as numbers. All arrays have the shape (rows,) or (files,).

    Attributes
    ----------
    headers
        The rows.
    file
        Of each row, the number of its file; rows of a file follow each other.
    first_row
        Of each file.
    memory
        Of each file, a number for the device memory it is of, in the order of appearance.
    when
        Of each file: its timestamp, or the largest number.
    order
        Of each file: its position in the order of execution on all devices.
    nbytes
        Of each row, 0 for null.
    is_input, is_output, is_whole
        Whether a row is a tensor of this kind, and whether all its bytes are in the file.
    """

    headers: Headers
    file: Rows
    first_row: Rows
    memory: Rows
    when: Rows
    order: Rows
    nbytes: Rows
    is_input: NDArray[np.bool_]
    is_output: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]

    @classmethod
    def of(cls, headers: Headers) -> HeaderRows:
        """Return the rows of headers."""
        column = headers.table.batch.column
        path = short_text_codes(column("path"))
        is_first = np.append(True, path[1:] != path[:-1])[: len(path)]
        first_row = np.flatnonzero(is_first)
        memory = np.zeros(len(first_row), np.int64)
        time, _ = codes_of(column("time"))
        numbers = (integer_array(column(name), null=NONE) for name in ("rank", "device"))
        for part in (time, *numbers):
            _, codes = np.unique(part[first_row], return_inverse=True)
            _, memory = np.unique(memory * (codes.max(initial=0) + 1) + codes, return_inverse=True)
        _, first, memory = np.unique(memory, return_index=True, return_inverse=True)
        memory = np.argsort(np.argsort(first))[memory]
        when = integer_array(column("timestamp"), null=INT64_MAX)[first_row]
        order = np.empty(len(first_row), np.int64)
        # The table has steps one after another; models may have run in turn.
        order[np.lexsort((when, memory))] = np.arange(len(first_row))
        return cls(
            headers=headers,
            file=np.cumsum(is_first) - 1,
            first_row=first_row,
            memory=memory,
            when=when,
            order=order,
            nbytes=integer_array(column("nbytes")),
            is_input=is_in(column("io"), ("input",)),
            is_output=is_in(column("io"), ("output",)),
            is_whole=is_in(column("status"), ("ok",)),
        )

    def without_tensor(self) -> Rows:
        """Return the files of which not even the header could be read, or without a tensor."""
        return self.file[np.flatnonzero(is_null(self.headers.table.batch.column("io")))]

    def ends(self) -> NDArray[np.uint64]:
        """Return where each tensor ends on the device, at most at the last address."""
        room = np.uint64(2**64 - 1) - self.headers.address
        ends: NDArray[np.uint64] = self.headers.address + np.minimum(
            self.nbytes.astype(np.uint64), room
        )
        return ends


class Writes:
    """Which output was written last where an input lies.

    Attributes
    ----------
    outputs
        Rows of outputs that have an address and bytes, by memory, place, and then in order.
    place
        Of each of `outputs`: a number that is the same for the same address, size and memory.
    """

    def __init__(self, rows: HeaderRows) -> None:
        self._rows = rows
        address = rows.headers.address
        is_placed = (rows.is_input | rows.is_output) & (address != 0) & (rows.nbytes != 0)
        members = np.flatnonzero(is_placed)
        file = rows.file[members]
        # Of one file inputs come first: what it writes is there after it was read.
        keys = (rows.is_output[members], rows.order[file], rows.nbytes[members], address[members])
        members = members[np.lexsort((members, *keys, rows.memory[file]))]
        file = rows.file[members]
        is_new = np.ones(len(members), np.bool_)
        parts = (rows.memory[file], address[members], rows.nbytes[members])
        is_new[1:] = np.any([part[1:] != part[:-1] for part in parts], axis=0)
        place = np.cumsum(is_new)
        is_output = rows.is_output[members]
        last = np.maximum.accumulate(np.where(is_output, np.arange(len(members)), NONE))
        inputs = np.flatnonzero(~is_output)
        found = last[inputs]
        found[(found >= 0) & (place[np.maximum(found, 0)] != place[inputs])] = NONE
        in_order = np.lexsort((members[inputs], rows.order[file[inputs]]))
        self.inputs: Rows = members[inputs][in_order]
        """Rows of inputs that have an address and bytes, in the order of execution."""
        self.last: Rows = np.where(found >= 0, members[np.maximum(found, 0)], NONE)[in_order]
        """Of each of `inputs`: the row of the output that was there last, or `NONE`."""
        self.outputs = members[is_output]
        self.place = place[is_output]

    def is_in_place(self) -> NDArray[np.bool_]:
        """Return which of `inputs` overlap an output of the same file."""
        rows = self._rows
        address, ends = rows.headers.address, rows.ends()
        outputs = np.flatnonzero(rows.is_output & (address != 0))
        n_files = len(rows.first_row)
        n = np.bincount(rows.file[outputs], minlength=n_files)
        first = np.cumsum(n) - n
        found = np.zeros(len(self.inputs), np.bool_)
        left = np.arange(len(self.inputs))
        for i in range(int(n.max(initial=0))):
            left = left[n[rows.file[self.inputs[left]]] > i]
            inputs = self.inputs[left]
            other = outputs[first[rows.file[inputs]] + i]
            found[left] |= (address[inputs] < ends[other]) & (address[other] < ends[inputs])
        return found

    def at_place_of(self, output: int) -> Rows:
        """Return the outputs at exactly the place of one, in order."""
        (at,) = np.flatnonzero(self.outputs == output)
        there: Rows = self.outputs[self.place == self.place[at]]
        return there

    def of_memory(self, memory: int) -> Rows:
        """Return the outputs of one device in the order in which they were written."""
        rows = self._rows
        outputs = self.outputs[rows.memory[rows.file[self.outputs]] == memory]
        in_order: Rows = outputs[np.lexsort((outputs, rows.order[rows.file[outputs]]))]
        return in_order
