"""``dump_step``: the steps that ``0|3-5|10`` stands for, as the vendor's code reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastdump.config._findings import shown

MAX_ITEMS = 100
_INT64_MAX = 2**63 - 1


def step_problems(text: str) -> Iterator[str]:
    """Yield what is wrong with a ``dump_step``; nothing if the vendor's code takes it."""
    if not text:
        return
    items = text.split("|")
    if len(items) > MAX_ITEMS:
        yield f"{len(items):,} items, at most {MAX_ITEMS} are allowed"
    for i, item in enumerate(items):
        numbers = item.split("-")
        if not item:
            yield f"item {i} is empty"
        elif len(numbers) > 2:
            yield f"item {i}, {shown(item)}, has more than one dash"
        elif not all(map(_is_number, numbers)):
            yield f"item {i}, {shown(item)}, is not a number or a range such as 5-10"
        elif saturated(numbers[0]) > saturated(numbers[-1]):
            yield f"item {i}, {shown(item)}, is a range that ends before it begins"


def _is_number(text: str) -> bool:
    # str.isdigit alone accepts digits of all scripts.
    return text.isascii() and text.isdigit()


def saturated(digits: str) -> int:
    """Return a number as the vendor's code compares it: one too large is the largest int64."""
    digits = digits.lstrip("0") or "0"
    # int() refuses digits without end.
    return min(int(digits), _INT64_MAX) if len(digits) <= 19 else _INT64_MAX


def step_ranges(text: str | None) -> list[range] | None:
    """Return the steps of a valid ``dump_step``, in its order; None if it means all."""
    if not text:
        return None
    bounds = [item.split("-") for item in text.split("|")]
    return [range(saturated(item[0]), saturated(item[-1]) + 1) for item in bounds]


def step_text(steps: str | Iterable[int] | None) -> str | None:
    """Return steps as ``dump_step`` has them, ranges where there are some; text as it is."""
    if steps is None or isinstance(steps, str):
        return steps
    ranges: list[list[int]] = []
    for step in sorted(set(steps)):
        if ranges and step == ranges[-1][1] + 1:
            ranges[-1][1] = step
        else:
            ranges.append([step, step])
    return "|".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
