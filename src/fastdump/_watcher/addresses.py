"""The check without a watcher dump: what operators read, against what was last written there.

The input of an operator lies at a device address. If an output was dumped that lay at exactly this
address and had this size, its bytes should be those that are read; if they are not, something that
was not dumped wrote there, or something overwrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fastdump._operator import Record
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.comparing import compare_tensors
from fastdump._watcher.header_walk import Execution, read_headers
from fastdump._watcher.memory import DeviceWrites, Write
from fastdump._watcher.report import WatcherComparison


def compare_addresses(
    records: Sequence[Record], counts: Counter[str], on_read: Callable[[], object]
) -> Iterator[WatcherComparison]:
    """Yield each input of one device's operators that is not what was written where it lies.

    Parameters
    ----------
    records
        Files in the order of execution.
    counts
        Is told of each input by the status of the comparison.
    on_read
        Is called after each file.
    """
    executions = list(read_headers(list(records), on_read))
    writes = DeviceWrites()
    compared = ByteComparison()
    changed: list[tuple[WatcherComparison, Write, StoredTensor, int]] = []
    for order, execution in enumerate(executions):
        if execution.status != "ok":
            counts[execution.status] += 1
            yield _unread(execution)
        own = execution.of("output")
        for seen in execution.of("input"):
            if not seen.address or not seen.nbytes:
                continue
            earlier = writes.exactly_at(seen)
            if any(_overlaps(seen, output) for output in own):
                counts["in_place"] += 1
            elif not earlier:
                counts["no_writer"] += 1
            else:
                last = earlier[-1]
                comparison = compare_tensors(
                    compared, last.tensor, seen, _base(last, execution, seen)
                )
                if comparison.status == "changed":
                    changed.append((comparison, last, seen, order))
                    continue
                counts[comparison.status] += 1
                if comparison.status != "same":
                    yield comparison
        writes.add(execution, order)
    # Whoever else wrote there is asked of all writes, which only now are known.
    reported: set[int] = set()
    for comparison, write, seen, order in changed:
        if _is_of_same_time(compared, writes, write, seen, executions[order]):
            counts["same"] += 1
            continue
        counts["changed"] += 1
        if write.order in reported:
            # Reported of the first operator that finds it so, not of all that read it.
            yield comparison
        else:
            reported.add(write.order)
            yield _candidate(comparison, compared, writes, write, seen, order)


def _is_of_same_time(
    compared: ByteComparison,
    writes: DeviceWrites,
    last: Write,
    seen: StoredTensor,
    reader: Execution,
) -> bool:
    """Tell whether the bytes are those of a write that may as well have been the last one.

    Of operators with the same timestamp it is not known which came first.
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


def _candidate(
    comparison: WatcherComparison,
    compared: ByteComparison,
    writes: DeviceWrites,
    write: Write,
    seen: StoredTensor,
    order: int,
) -> WatcherComparison:
    change = comparison.change
    assert change is not None
    try:
        described = compared.describe(write.tensor, seen, change)
    except OSError:
        # It could be read a moment ago; that it changed is known all the same.
        described = change
    where = (change.first_byte, change.last_byte)
    suspects = writes.suspects(seen, write.order, order, where, compared)
    return replace(comparison, is_first=True, change=described, suspects=suspects)


def _unread(execution: Execution) -> WatcherComparison:
    record = execution.record
    return WatcherComparison(
        rank=record.rank,
        time=record.time,
        device=record.device,
        model=record.model,
        model_id=record.model_id,
        step=record.step,
        op_type=record.op_type,
        op_name=record.op_name,
        output=0,
        dtype=None,
        shape=None,
        nbytes=None,
        address=None,
        path=None,
        seen_by=record.op_name or "",
        seen_as="",
        seen_path=record.relative,
        seen_timestamp=record.timestamp,
        seen_task_id=record.task_id,
        seen_stream_id=record.stream_id,
        status=execution.status,
        note=execution.note,
    )


def _base(write: Write, execution: Execution, seen: StoredTensor) -> WatcherComparison:
    writer = write.execution
    return replace(
        _unread(execution),
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
