"""Which outputs an input may be: those of its lane, size, type and statistics, written before it.

| known by | certainty | what is compared |
|---|---|---|
| content | exact | the bytes of both tensors, by a BLAKE2b hash |
| address | probable | device address and size |
| statistics | probable | size, type and all statistics |
| collective | probable | name and number of a collective operator on two ranks |
| name | likely | that both operators are linked by statistics in another step or on another rank |
| order | guess | times |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._triage.executions import Executions
from fastdump._triage.order import is_among
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows, index_type, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def certainty_of(known_by: Iterable[str]) -> str:
    """Return how sure the best of several is: "exact", "probable", "likely" or "guess"."""
    ranks = list(CERTAINTY)
    return CERTAINTY[min(known_by, key=ranks.index)]


class Links:
    """Inputs and outputs by content, made once for the whole table.

    Attributes
    ----------
    content : ndarray of uint64, shape (rows,)
        Equal for rows of one lane that may hold the same bytes.
    reads : ndarray of int32 or int64
        The inputs of all executions, sorted by content and then by time.
    """

    def __init__(self, rows: Rows, executions: Executions) -> None:
        self.content = mixed(rows.lane, rows.content)
        self._when = rows.when
        self._of_row = executions.of_row
        self.reads = self._sorted(rows.io == INPUT)
        self._writes = self._sorted(rows.io == OUTPUT)
        self._content_of_reads = self.content[self.reads]
        self._content_of_writes = self.content[self._writes]
        self._is_input = rows.io == INPUT

    def _sorted(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        found = np.flatnonzero(mask & (self._of_row != NONE))
        found = found.astype(index_type(len(mask)))
        return found[np.lexsort((self._when[found], self.content[found]))]

    def read_from(self, outputs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which inputs have the content of one of these outputs and of no later one.

        `outputs`, and what is returned, have shape (rows,). Outputs after an input do not count.
        """
        found = np.zeros(len(outputs), np.bool_)
        if not outputs.any():
            return found
        members = np.concatenate((self.reads, self._writes))
        members = members[is_among(self.content[members], self.content[outputs])]
        # At equal times inputs come first: an operator may write to what it reads.
        is_output = ~self._is_input[members]
        members = members[np.lexsort((is_output, self._when[members], self.content[members]))]
        place = np.arange(len(members))
        last = np.maximum.accumulate(np.where(self._is_input[members], NONE, place))
        maker = members[np.maximum(last, 0)]
        is_read = self._is_input[members] & (last >= 0)
        is_read &= self.content[maker] == self.content[members]
        found[members] = is_read & outputs[maker]
        return found

    def reads_after(self, output: int) -> tuple[int, int]:
        """Return the range of `reads` that may be an output: of its content, from its time on."""
        begin, end = _places(self._content_of_reads, self.content[output])
        times = self._when[self.reads[begin:end]]
        return begin + int(np.searchsorted(times, self._when[output], "left")), end

    def maker(self, read: int) -> int | None:
        """Return the last output before an input that has its content, None if there is none."""
        begin, end = _places(self._content_of_writes, self.content[read])
        outputs = self._writes[begin:end]
        outputs = outputs[self._when[outputs] <= self._when[read]]
        outputs = outputs[self._of_row[outputs] != self._of_row[read]]
        return int(outputs[-1]) if len(outputs) else None

    def explained(self, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the inputs in `bad` may be an output in `bad` of an earlier operator.

        `bad` has shape (rows,), and all its rows are inputs or outputs of an execution.
        """
        explained = np.zeros(len(bad), np.bool_)
        members = np.flatnonzero(bad)
        if len(members) == 0:
            return explained
        # At equal times outputs come first: they may have been written before the inputs were read.
        keys = (self._is_input[members], self._when[members], self.content[members])
        order = members[np.lexsort(keys)]
        place = np.arange(len(order))
        is_output = ~self._is_input[order]
        content = self.content[order]
        # For each place, the last output at or before it, and the one before that.
        last = np.maximum.accumulate(np.where(is_output, place, NONE))
        before = np.concatenate(([NONE], last[:-1]))
        maker = last
        while True:
            found = maker >= 0
            found &= content[np.maximum(maker, 0)] == content
            own = found & (self._of_row[order[np.maximum(maker, 0)]] == self._of_row[order])
            own &= ~is_output
            if not own.any():
                break
            maker = np.where(own, before[np.maximum(maker, 0)], maker)
        explained[order[found & ~is_output]] = True
        return explained


def _places(contents: NDArray[np.uint64], content: np.uint64) -> tuple[int, int]:
    """Return where one content begins and ends among sorted ones."""
    begin = np.searchsorted(contents, content, "left")
    return int(begin), int(np.searchsorted(contents, content, "right"))
