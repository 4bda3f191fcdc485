"""Which outputs were written to which device memory, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(slots=True)
class DeviceWrites:
    """The outputs of one device in the order in which they were written."""

    _writes: list[Write] = field(default_factory=list)
    _exact: dict[tuple[int, int], list[Write]] = field(default_factory=dict)
    _bounds: NDArray[np.uint64] | None = None

    def add(self, execution: Execution, order: int) -> None:
        """Add the outputs of an operator."""
        for tensor in execution.of("output"):
            if tensor.address and tensor.nbytes:
                write = Write(execution, tensor, order)
                self._writes.append(write)
                self._exact.setdefault((tensor.address, tensor.nbytes), []).append(write)
        self._bounds = None

    def exactly_at(self, tensor: StoredTensor) -> list[Write]:
        """Return the writes to exactly the memory of a tensor, latest last."""
        return self._exact.get((tensor.address, tensor.nbytes), [])

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
        if self._bounds is None:
            starts = [write.tensor.address for write in self._writes]
            ends = [min(w.tensor.address + w.tensor.nbytes, _MAX_ADDRESS) for w in self._writes]
            self._bounds = np.array([starts, ends], np.uint64)
        low = min(seen.address + is_changed[0], _MAX_ADDRESS)
        high = min(seen.address + is_changed[1] + 1, _MAX_ADDRESS)
        starts, ends = self._bounds
        hits = np.flatnonzero((starts < np.uint64(high)) & (ends > np.uint64(low)))
        after, before = between
        others = [w for i in hits[::-1].tolist() if after < (w := self._writes[i]).order < before]
        return tuple(_suspect(write, seen, compared) for write in others[:_MAX_SUSPECTS])


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
