"""Numbers, sizes and times as people read them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

from fastdump._words.printable import printable


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``1,312 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_text(nbytes: float) -> str:
    """Return bytes in decimal units: ``812 B``, ``18.2 MB``."""
    if nbytes < 1000:
        return f"{nbytes:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        nbytes /= 1000
        # 999.95 and more would be printed as 1000.0.
        if nbytes < 999.95:
            return f"{nbytes:.1f} {unit}"
    return f"{nbytes / 1000:,.1f} PB"


def duration_text(seconds: float) -> str:
    """Return ``0.042 s``, ``3.1 s``, ``2 min 05 s``, ``3 h 07 min``."""
    if seconds < 0.9995:
        return f"{seconds:.3f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    if minutes < 60:
        return f"{minutes} min {round(seconds) % 60:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def is_integer(dtype: str | None) -> bool:
    """Tell whether the values of a dtype are integers."""
    return dtype is not None and dtype.startswith(("int", "uint", "bool"))


def value_text(value: float | None, *, integer: bool, digits: int = 5) -> str:
    """Return a statistic with `digits` digits, a short integer in full, null as ''."""
    if value is None:
        return ""
    if integer and abs(value) < 1e9 and value == int(value):
        return str(int(value))
    return f"{value:.{digits}g}"


def number_text(value: float) -> str:
    """Return a number in a sentence: ``65,504``, ``133.1``, ``3.403e+38``."""
    is_short = abs(value) < 1e9 and value == int(value)
    return f"{value:,.0f}" if is_short else f"{value:.4g}"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """Return ``2x8``, ``()`` for a scalar, '' for null."""
    if shape is None:
        return ""
    return "x".join(map(str, shape)) if shape else "()"


def time_text(microseconds: int) -> str:
    """Return microseconds since 1970 as a time in UTC, or the number itself if it is no time."""
    try:
        time = datetime.datetime.fromtimestamp(microseconds // 1_000_000, tz=datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        return str(microseconds)
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def merged_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges, both ends included, as sorted ranges that neither overlap nor touch."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def ranges_text(ranges: Iterable[tuple[int, int]], separator: str = ", ") -> str:
    """Return ranges as ``0-3, 5, 9-10``."""
    return separator.join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def integers_text(integers: Iterable[int]) -> str:
    """Return integers as ``0-3, 5, 9-10``."""
    return ranges_text(merged_ranges((integer, integer) for integer in integers))


def numbered(noun: str, integers: Iterable[int]) -> str:
    """Return ``step 3``, ``steps 0-1``."""
    listed = list(integers)
    return f"{noun}{'' if len(listed) == 1 else 's'} {integers_text(listed)}"


def listed(texts: Iterable[str], most: int) -> str:
    """Return ``a, b, c and 4 more``."""
    texts = list(texts)
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def skipped_text(skipped: Mapping[str, int]) -> str:
    """Return the number of skipped files and why: ``4 (not a dump file: 3, text file: 1)``."""
    falling = sorted(skipped.items(), key=lambda item: -item[1])
    reasons = ", ".join(f"{printable(reason)}: {number:,}" for reason, number in falling)
    return f"{sum(skipped.values()):,} ({reasons})"
