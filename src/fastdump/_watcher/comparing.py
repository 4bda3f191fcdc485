"""One tensor against what was seen of it later: a comparison from beginning to end."""

from __future__ import annotations

from dataclasses import replace

from fastdump._selection import Selection
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.headers import Execution
from fastdump._watcher.memory import DeviceWrites
from fastdump._watcher.records import WatcherComparison
from fastdump.errors import FileChangedError


def uncompared(seen_in: Execution) -> WatcherComparison:
    """Return the comparison with a file of which only the name and the status are known."""
    record = seen_in.record
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
        status=seen_in.status,
        note=seen_in.note,
    )


def is_selected(comparison: WatcherComparison, selection: Selection) -> bool:
    """Tell whether the output that a comparison is about meets all conditions."""
    status = "ok" if comparison.status in ("same", "changed") else comparison.status
    return is_output_selected(
        selection,
        comparison.op_type,
        comparison.op_name,
        comparison.output,
        comparison.dtype,
        status,
    )


def is_output_selected(
    selection: Selection,
    op_type: str | None,
    op_name: str | None,
    output: int,
    dtype: str | None,
    status: str = "ok",
) -> bool:
    """Tell whether an output of an operator meets all conditions."""
    return not selection or (
        selection.has_text("op_type", op_type)
        and selection.has_text("op_name", op_name)
        and selection.has_tensor("output", output, dtype, status)
    )


def compare_tensors(
    compared: ByteComparison,
    mine: StoredTensor,
    seen: StoredTensor,
    base: WatcherComparison,
) -> WatcherComparison:
    """Return `base` with the outcome of comparing a tensor with what was seen of it later."""
    if mine.nbytes != seen.nbytes:
        note = f"{mine.nbytes:,} bytes were written, {seen.nbytes:,} were recorded later"
        return replace(base, status="size_mismatch", note=note)
    try:
        change, done = compared.compare(mine, seen)
    except FileChangedError as error:
        return replace(base, status="unreadable", note=str(error))
    except OSError as error:
        return replace(base, status="unreadable", note=error.strerror or str(error))
    broken = next((t for t in (mine, seen) if t.status in ("truncated", "absent")), None)
    status, note = "same", base.note
    if broken is not None:
        status = broken.status
        note = f"{'what was written' if broken is mine else 'what was seen'}: {broken.note}"
    elif done < mine.nbytes:
        status = "truncated"
        note = f"a file ends after {done:,} of {mine.nbytes:,} bytes"
    if change is None and status == base.status:  # most are: making records is what costs here
        return base
    return replace(base, status="changed" if change else status, note=note, change=change)


def first_change(
    comparison: WatcherComparison,
    compared: ByteComparison,
    mine: StoredTensor,
    seen: StoredTensor,
    writes: DeviceWrites,
    between: tuple[int, int],
) -> WatcherComparison:
    """Return the first comparison that found a change, with its elements and suspects.

    Parameters
    ----------
    comparison
        Of `mine` and `seen`.
    compared
        What compared them.
    mine, seen
        The tensor as its operator wrote it, and as it was seen later.
    writes
        All writes to the memory of the device.
    between
        As of `DeviceWrites.suspects`.
    """
    change = comparison.change
    assert change is not None
    suspects = writes.suspects(seen, between, (change.first_byte, change.last_byte), compared)
    note = comparison.note
    # A file that could be read a moment ago may be gone: that the tensor changed is known anyway.
    try:
        change = compared.describe(mine, seen, change)
    except (OSError, FileChangedError) as error:
        lost = f"its elements could not be read again: {error}"
        note = f"{note}; {lost}" if note else lost
    return replace(comparison, is_first=True, change=change, suspects=suspects, note=note)
