"""Operators that pass values from rank to rank."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._triage.executions import Executions
from fastdump._triage.order import positions
from fastdump._triage.rows import Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLLECTIVES: Final = re.compile(
    r"hcom|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|moedistribute", re.I
)
_RECEIVES: Final = re.compile(r"receive|recv", re.I)
_SENDS: Final = re.compile(r"send", re.I)
_SAME_ON_ALL: Final = re.compile(r"all_?reduce|all_?gather|hcombroadcast", re.I)


class Collectives:
    """Which executions on several lanes are one operation.

    They have the same type, name and step, and the same position among such executions.

    Attributes
    ----------
    is_collective, is_same_on_all : ndarray of bool, shape (operators,)
        Which of `Rows.ops` are collective, and which give the same to all ranks of a group.
    is_send, is_receive : ndarray of bool, shape (executions,)
        Whether an execution passes something on to another lane, or gets it from there.
    """

    def __init__(self, rows: Rows, executions: Executions) -> None:
        self._executions = executions
        self.is_collective = rows.typed(_COLLECTIVES)
        self.is_same_on_all = rows.typed(_SAME_ON_ALL)
        self.is_receive = rows.typed(_RECEIVES)[executions.op]
        self.is_send = rows.typed(_SENDS)[executions.op]
        members = np.flatnonzero(self.is_collective[executions.op])
        operation = operations(executions, members).tolist()
        self._operation_of = dict(zip(members.tolist(), operation, strict=True))
        self._members: dict[int, list[int]] = defaultdict(list)
        for execution, number in self._operation_of.items():
            self._members[number].append(execution)

    def peers(self, execution: int) -> list[int]:
        """Return the executions of the same operation on other lanes."""
        operation = self._operation_of.get(execution)
        if operation is None:
            return []
        lane = self._executions.lane
        return [other for other in self._members[operation] if lane[other] != lane[execution]]

    def all_members(self) -> Iterable[list[int]]:
        """Return the executions of each operation."""
        return self._members.values()


def operations(executions: Executions, members: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each of some executions, equal on all lanes for the same operation."""
    lane, step, op = executions.lane[members], executions.step[members], executions.op[members]
    order = np.lexsort((members, op, step, lane))
    return mixed(step, op, positions(order, lane, step, op))
