"""Which outputs were written to which device memory, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.headers import Execution
from fastdump._watcher.records import Suspect

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_ADDRESS: Final = 2**64 - 1
_MAX_SUSPECTS: Final = 8


@dataclass(frozen=True, slots=True)
class Write:
    """One output, the execution that wrote it, and the number of that execution."""

    execution: Execution
    tensor: StoredTensor
    order: int


class DeviceWrites:
    """The outputs of one device in the order in which they were written.

    Parameters
    ----------
    bounds
        Where each begins and ends on the device, shape (2, outputs).
    orders
        The number of the execution that wrote each, shape (outputs,).
    write_at
        Returns one of them by its position.
    """

    def __init__(
        self,
        bounds: NDArray[np.uint64],
        orders: NDArray[np.int64],
        write_at: Callable[[int], Write],
    ) -> None:
        self._bounds = bounds
        self._orders = orders
        self._write_at = write_at

    @classmethod
    def of(cls, executions: Sequence[Execution]) -> DeviceWrites:
        """Return the outputs of executions, whose numbers are their positions."""
        writes = [
            Write(execution, tensor, order)
            for order, execution in enumerate(executions)
            for tensor in execution.of("output")
            if tensor.address and tensor.nbytes
        ]
        starts = [write.tensor.address for write in writes]
        ends = [min(w.tensor.address + w.tensor.nbytes, _MAX_ADDRESS) for w in writes]
        orders = np.array([write.order for write in writes], np.int64)
        return cls(np.array([starts, ends], np.uint64), orders, writes.__getitem__)

    def suspects(
        self,
        seen: StoredTensor,
        between: tuple[int, int],
        is_changed: tuple[int, int],
        compared: ByteComparison,
    ) -> tuple[Suspect, ...]:
        """Return the last writes that overlap a tensor in memory, latest first.

        Parameters
        ----------
        seen
            The tensor as it was seen later.
        between
            Orders of the write of the tensor itself and of the operator that saw it; only writes
            in between count.
        is_changed
            First and last byte that changed; writes elsewhere in the tensor do not count.
        compared
            Tells whether the bytes are those of the write.
        """
        if not seen.address:
            return ()
        low = min(seen.address + is_changed[0], _MAX_ADDRESS)
        high = min(seen.address + is_changed[1] + 1, _MAX_ADDRESS)
        starts, ends = self._bounds
        after, before = between
        overlap = (starts < np.uint64(high)) & (ends > np.uint64(low))
        hits = np.flatnonzero(overlap & (after < self._orders) & (self._orders < before))
        latest = map(self._write_at, hits[::-1][:_MAX_SUSPECTS].tolist())
        return tuple(_suspect(write, seen, compared) for write in latest)


def _suspect(write: Write, seen: StoredTensor, compared: ByteComparison) -> Suspect:
    tensor, record = write.tensor, write.execution.record
    first = max(0, tensor.address - seen.address)
    last = min(seen.nbytes, tensor.address + tensor.nbytes - seen.address) - 1
    return Suspect(
        op_type=record.op_type,
        op_name=write.execution.op_name,
        path=record.relative,
        timestamp=record.timestamp,
        output=tensor.index,
        address=tensor.address,
        nbytes=tensor.nbytes,
        overlap=(first, last),
        wrote_it=_wrote_it(tensor, seen, first, last + 1 - first, compared),
    )


def _wrote_it(
    tensor: StoredTensor,
    seen: StoredTensor,
    first: int,
    nbytes: int,
    compared: ByteComparison,
) -> bool | None:
    """Tell whether both have the same bytes where they overlap, None if that cannot be told."""
    of_write = tensor.part(seen.address + first - tensor.address, nbytes)
    of_seen = seen.part(first, nbytes)
    if min(of_write.stored_nbytes, of_seen.stored_nbytes) < nbytes:
        return None
    try:
        change, done = compared.compare(of_write, of_seen)
    except OSError:
        return None
    return change is None if done == nbytes else None
