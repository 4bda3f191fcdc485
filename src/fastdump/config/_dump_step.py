"""``dump_step``: the steps that ``0|3-5|10`` selects, as the vendor's code reads them."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from fastdump._arguments import INT64_MAX
from fastdump._words import config_catalogue as say
from fastdump._words.quantities import merged_ranges, ranges_text
from fastdump._words.sentence import Sentence
from fastdump.config._wording import quoted

MAX_ITEMS = 100


def step_problems(text: str) -> Iterator[str]:
    """Yield what is wrong with a ``dump_step``; nothing if the vendor's code accepts it."""
    if not text:
        return
    items = text.split("|")
    if len(items) > MAX_ITEMS:
        yield say.TOO_MANY_ITEMS(n=len(items), most=MAX_ITEMS)
    for i, item in enumerate(items):
        problem = _problem(item)
        if problem is not None:
            yield problem(i=str(i), item=quoted(item))


def _problem(item: str) -> Sentence | None:
    """Return what is wrong with an item; None if nothing is."""
    if not item:
        return say.STEP_EMPTY
    numbers = item.split("-")
    if len(numbers) > 2:
        return say.STEP_DASHES
    if not all(map(_is_number, numbers)):
        return say.STEP_NOT_NUMBER
    first, last = _span(item)
    return say.STEP_BACKWARDS if first > last else None


def _is_number(text: str) -> bool:
    # str.isdigit accepts the digits of all scripts.
    return text.isascii() and text.isdigit()


def _span(item: str) -> tuple[int, int]:
    first, _, last = item.partition("-")
    return _saturated(first), _saturated(last or first)


def _saturated(digits: str) -> int:
    """Return a number as the vendor's code compares it: at most the largest int64."""
    digits = digits.lstrip("0") or "0"
    # int() refuses a number with too many digits.
    return min(int(digits), INT64_MAX) if len(digits) <= 19 else INT64_MAX


def step_spans(text: str | None) -> list[tuple[int, int]]:
    """Return first and last step of each valid item; without any, all steps are selected."""
    return [_span(item) for item in (text or "").split("|") if _problem(item) is None]


def without_steps(
    spans: Iterable[tuple[int, int]], steps: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Yield what is left of ranges without some steps, as ranges in rising order."""
    present = sorted(steps)
    for first, last in merged_ranges(spans):
        for step in present[bisect_left(present, first) : bisect_right(present, last)]:
            if first < step:
                yield first, step - 1
            first = step + 1
        if first <= last:
            yield first, last


def step_text(steps: str | Iterable[int] | None) -> str | None:
    """Return steps as a ``dump_step``, consecutive ones as a range; text is returned unchanged."""
    if steps is None or isinstance(steps, str):
        return steps
    return ranges_text(merged_ranges((step, step) for step in map(operator.index, steps)), "|")
