"""One comparison of bytes with what can go wrong about it."""

from __future__ import annotations

from dataclasses import replace

from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.report import WatcherComparison


def compare_tensors(
    compared: ByteComparison,
    mine: StoredTensor,
    seen: StoredTensor,
    base: WatcherComparison,
) -> WatcherComparison:
    """Return `base` with what came of comparing a tensor with what was seen of it later."""
    if mine.nbytes != seen.nbytes:
        note = f"{mine.nbytes:,} bytes were written, {seen.nbytes:,} were recorded later"
        return replace(base, status="size_mismatch", note=note)
    try:
        change, done = compared.compare(mine, seen)
    except OSError as error:
        return replace(base, status="unreadable", note=error.strerror or str(error))
    broken = next((t for t in (mine, seen) if t.status in ("truncated", "absent")), None)
    note = base.note
    if broken is not None:
        note = f"{'what was written' if broken is mine else 'what was seen'}: {broken.note}"
    elif done < mine.nbytes:
        note = f"a file ends after {done:,} of {mine.nbytes:,} bytes"
    if change is not None:
        return replace(base, status="changed", note=note, change=change)
    if broken is not None or done < mine.nbytes:
        return replace(base, status=broken.status if broken else "truncated", note=note)
    return base
