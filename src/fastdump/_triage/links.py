"""How an output is known to be what an operator reads later.

| known by | certainty | what is compared |
|---|---|---|
| content | exact | the bytes of both tensors, by a BLAKE2b hash |
| address | probable | device address and size |
| statistics | probable | size, type and all statistics |
| collective | probable | name and number of a collective operator on two ranks |
| name | likely | that both operators are linked by content in another step or on another rank |
| order | guess | time |
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._triage.operators import Executions
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._triage.dump_files import DumpFiles

CONTENT: Final = "content"
ADDRESS: Final = "address"
STATISTICS: Final = "statistics"
COLLECTIVE: Final = "collective"
NAME: Final = "name"
ORDER: Final = "order"

CERTAINTY: Final = {
    CONTENT: "exact",
    ADDRESS: "probable",
    STATISTICS: "probable",
    COLLECTIVE: "probable",
    NAME: "likely",
    ORDER: "guess",
}
"""From best to worst."""

_MAX_REFERENCES = 16
_MAX_HEADERS = 2000


class Links:
    """Finds the outputs that inputs stem from.

    Parameters
    ----------
    rows, executions
        Of the whole table.
    files
        Where the tensors are, if they are at hand.
    """

    def __init__(self, rows: Rows, executions: Executions, files: DumpFiles) -> None:
        self._rows = rows
        self._executions = executions
        self.files = files
        self.contents = mixed(rows.lane, rows.content)
        """Equal for rows of one lane that may hold the same bytes."""
        self._outputs: tuple[NDArray[np.int64], NDArray[np.uint64]] | None = None
        self._makers: dict[int, set[int]] = {}
        self._without_reference: set[int] = set()
        self._inputs: tuple[NDArray[np.int64], NDArray[np.uint64]] | None = None

    def explained(self, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the inputs in `bad` may be an output in `bad` of an earlier operator."""
        rows, of_row = self._rows, self._executions.of_row
        explained = np.zeros(rows.n, np.bool_)
        members = np.flatnonzero(bad & ((rows.io == INPUT) | (rows.io == OUTPUT)))
        if len(members) == 0:
            return explained
        # At equal times outputs come first: what was read then may have been written before.
        order = members[
            np.lexsort((rows.io[members] == INPUT, rows.when[members], self.contents[members]))
        ]
        place = np.arange(len(order))
        is_output = rows.io[order] == OUTPUT
        content = self.contents[order]
        # For each place the last output at or before it, and for each output the one before that.
        last = np.maximum.accumulate(np.where(is_output, place, NONE))
        before = np.concatenate(([NONE], last[:-1]))
        producer = last
        while True:
            found = producer >= 0
            found &= content[np.maximum(producer, 0)] == content
            own = found & (of_row[order[np.maximum(producer, 0)]] == of_row[order])
            own &= ~is_output
            if not own.any():
                break
            producer = np.where(own, before[np.maximum(producer, 0)], producer)
        explained[order[found & ~is_output]] = True
        return explained

    def producer_elsewhere(self, row: int) -> tuple[int, int] | None:
        """Return operator and index of the output that an input stems from in other runs of it.

        Other steps, and other ranks. None if there is none, or if they disagree.
        """
        slot = int(mixed(self._rows.op[row : row + 1], self._rows.index[row : row + 1])[0])
        if slot in self._without_reference:
            return None
        found = self._referenced(row, slot)
        if found is None:
            self._without_reference.add(slot)
        return found

    def _referenced(self, row: int, slot: int) -> tuple[int, int] | None:
        rows, of_row = self._rows, self._executions.of_row
        order, slots = self._sorted_inputs()
        start, end = (
            np.searchsorted(slots, np.uint64(slot), "left"),
            np.searchsorted(slots, np.uint64(slot), "right"),
        )
        others = order[start:end]
        # A constant says nothing: there are many of the same content.
        others = others[(of_row[others] != of_row[row]) & ~(rows.max[others] == rows.min[others])]
        others = others[rows.known[others] & ~rows.nan_or_pos_inf[others]]
        if len(others) > _MAX_REFERENCES:
            nearest = np.argsort(np.abs(others - row), kind="stable")
            others = others[nearest[:_MAX_REFERENCES]]
        votes = Counter(
            (int(rows.op[output]), int(rows.index[output]))
            for other in others.tolist()
            if (output := self.producer(other)) is not None
        )
        if not votes:
            return None
        (found, n_votes), *rest = votes.most_common(2)
        return None if rest and rest[0][1] == n_votes else found

    def makers_elsewhere(self, op: int) -> set[int]:
        """Return the operators that made what an operator reads, in some executions of it."""
        if op not in self._makers:
            rows = self._rows
            executions = np.flatnonzero(self._executions.op == op)[:_MAX_REFERENCES]
            outputs = [
                self.producer(row)
                for execution in executions.tolist()
                for row in self._executions.inputs_of(execution).tolist()
                if rows.max[row] != rows.min[row]
            ]
            self._makers[op] = {int(rows.op[row]) for row in outputs if row is not None}
        return self._makers[op]

    def producer(self, row: int) -> int | None:
        """Return the last output before an input that has all its statistics, if there is one."""
        rows, of_row = self._rows, self._executions.of_row
        order, contents = self._sorted_outputs()
        content = self.contents[row]
        start = np.searchsorted(contents, content, "left")
        end = np.searchsorted(contents, content, "right")
        outputs = order[start:end]
        outputs = outputs[rows.when[outputs] <= rows.when[row]]
        outputs = outputs[of_row[outputs] != of_row[row]]
        return int(outputs[-1]) if len(outputs) else None

    def producer_at_address(self, row: int) -> int | None:
        """Return the output that was last written to the memory of an input, by device address.

        Only outputs of the same size are looked at, the latest `_MAX_HEADERS` before the input.
        """
        address = self.files.address(row)
        if address is None:
            return None
        rows, of_row = self._rows, self._executions.of_row
        outputs = (rows.io == OUTPUT) & (rows.lane == rows.lane[row]) & (of_row != of_row[row])
        outputs &= (rows.nbytes == rows.nbytes[row]) & (rows.when <= rows.when[row])
        candidates = np.flatnonzero(outputs)
        candidates = candidates[np.argsort(rows.when[candidates], kind="stable")][::-1]
        for candidate in candidates[:_MAX_HEADERS].tolist():
            if self.files.address(candidate) == address:
                return int(candidate)
        return None

    def unknown_producer(self, row: int) -> int | None:
        """Return the last output of the size and type of an input of which not all is known."""
        rows, of_row = self._rows, self._executions.of_row
        outputs = (rows.io == OUTPUT) & ~rows.known & (rows.lane == rows.lane[row])
        outputs &= (rows.nbytes == rows.nbytes[row]) & (rows.dtype == rows.dtype[row])
        outputs &= (rows.when <= rows.when[row]) & (of_row != of_row[row]) & (of_row != NONE)
        candidates = np.flatnonzero(outputs)
        return int(candidates[np.argmax(rows.when[candidates])]) if len(candidates) else None

    def known_by(self, output: int, read: int) -> tuple[str, ...]:
        """Return how it is known that an output becomes an input, best first; () if it does not."""
        rows = self._rows
        found = []
        alike = rows.content[output] == rows.content[read]
        if alike:
            hashes = self.files.digest(output), self.files.digest(read)
            if None in hashes:
                found.append(STATISTICS)
            elif hashes[0] == hashes[1]:
                found.append(CONTENT)
            else:
                return ()  # a transposed tensor has the same statistics
        addresses = self.files.address(output), self.files.address(read)
        same_size = rows.nbytes[output] == rows.nbytes[read]
        if same_size and None not in addresses and addresses[0] == addresses[1]:
            found.insert(0 if found == [STATISTICS] else len(found), ADDRESS)
        return tuple(found)

    def _sorted_outputs(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        if self._outputs is None:
            is_output = (self._rows.io == OUTPUT) & (self._executions.of_row != NONE)
            outputs = np.flatnonzero(is_output)
            keys = self.contents[outputs]
            order = np.lexsort((self._rows.when[outputs], keys))
            self._outputs = outputs[order], keys[order]
        return self._outputs

    def _sorted_inputs(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        if self._inputs is None:
            inputs = np.flatnonzero(self._rows.io == INPUT)
            keys = mixed(self._rows.op[inputs], self._rows.index[inputs])
            order = np.argsort(keys, kind="stable")
            self._inputs = inputs[order], keys[order]
        return self._inputs
