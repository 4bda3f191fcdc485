"""The check without a watcher dump: what operators read, against what was last written there.

The input of an operator lies at a device address. If an output was dumped that lay at exactly this
address and had this size, its bytes should be those that are read; if they are not, something that
was not dumped wrote there, or something overwrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from fastdump._dump.operator import Record
from fastdump._selection import Selection
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.comparing import compare_tensors, first_change, is_selected, uncompared
from fastdump._watcher.headers import Execution, read_header
from fastdump._watcher.memory import DeviceWrites, Write
from fastdump._watcher.records import WatcherComparison


def compare_addresses(
    records: Sequence[Record],
    selection: Selection,
    counts: Counter[str],
    on_read: Callable[[], object],
) -> list[WatcherComparison]:
    """Return each input of one device's operators that is not what was written where it lies.

    Parameters
    ----------
    records
        Files in the order of execution.
    selection
        Which of the written outputs the returned comparisons are about.
    counts
        Counts each input by the status of its comparison; also those that have none, unless the
        selection leaves out some outputs.
    on_read
        Called after each header.
    """
    executions = []
    for record in records:
        executions.append(read_header(record))
        on_read()
    found: list[WatcherComparison] = []
    writes = DeviceWrites()
    compared = ByteComparison()
    changed: list[tuple[WatcherComparison, Write, StoredTensor, int]] = []
    for order, execution in enumerate(executions):
        if execution.status != "ok":
            unread = uncompared(execution)
            if is_selected(unread, selection):
                counts[execution.status] += 1
                found.append(unread)
        own = execution.of("output")
        for seen in execution.of("input"):
            if not seen.address or not seen.nbytes:
                continue
            earlier = writes.exactly_at(seen)
            is_in_place = any(_overlaps(seen, output) for output in own)
            if is_in_place or not earlier:
                if not selection:
                    counts["in_place" if is_in_place else "no_writer"] += 1
            else:
                last = earlier[-1]
                comparison = compare_tensors(
                    compared, last.tensor, seen, _base(last, execution, seen)
                )
                if not is_selected(comparison, selection):
                    continue
                if comparison.status == "changed":
                    changed.append((comparison, last, seen, order))
                    continue
                counts[comparison.status] += 1
                if comparison.status != "same":
                    found.append(comparison)
        writes.add(execution, order)
    # Only now all writes are known, among which suspects are searched.
    reported: set[int] = set()
    for comparison, write, seen, order in changed:
        if _is_of_same_time(compared, writes, write, seen, executions[order]):
            counts["same"] += 1
            continue
        counts["changed"] += 1
        # A finding names the first operator that reads the changed tensor, not all that do.
        if write.order not in reported:
            reported.add(write.order)
            between = (write.order, order)
            comparison = first_change(comparison, compared, write.tensor, seen, writes, between)
        found.append(comparison)
    return sorted(found, key=lambda comparison: comparison.seen_timestamp or 0)


def _is_of_same_time(
    compared: ByteComparison,
    writes: DeviceWrites,
    last: Write,
    seen: StoredTensor,
    reader: Execution,
) -> bool:
    """Tell whether the bytes are those of a write that may as well have been the last one.

    The order of operators with the same timestamp is not known.
    """
    now = reader.record.timestamp
    if now is None:
        return False
    there = writes.exactly_at(seen)
    at = there.index(last)
    others = [write for write in there if write.execution.record.timestamp == now]
    if last.execution.record.timestamp == now:
        others += there[max(0, at - 1) : at]
    return any(
        compare_tensors(compared, write.tensor, seen, _base(write, reader, seen)).status == "same"
        for write in others
        if write is not last and write.execution is not reader
    )


def _overlaps(one: StoredTensor, other: StoredTensor) -> bool:
    if not other.address:
        return False
    return one.address < other.address + other.nbytes and other.address < one.address + one.nbytes


def _base(write: Write, execution: Execution, seen: StoredTensor) -> WatcherComparison:
    writer = write.execution
    return replace(
        uncompared(execution),
        op_type=writer.record.op_type,
        op_name=writer.op_name,
        output=write.tensor.index,
        dtype=seen.dtype,
        shape=seen.shape,
        nbytes=seen.nbytes,
        address=seen.address,
        path=writer.record.relative,
        seen_by=execution.op_name or "",
        seen_as=seen.name,
        status="same",
        note="",
    )
