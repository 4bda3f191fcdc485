"""``dump_step``: the steps that ``0|3-5|10`` selects, as the vendor's code reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastdump.config._wording import quoted

MAX_ITEMS = 100
_INT64_MAX = 2**63 - 1


def step_problems(text: str) -> Iterator[str]:
    """Yield what is wrong with a ``dump_step``; nothing if the vendor's code accepts it."""
    if not text:
        return
    items = text.split("|")
    if len(items) > MAX_ITEMS:
        yield f"{len(items):,} items, at most {MAX_ITEMS} are allowed"
    for i, item in enumerate(items):
        problem = _problem(item)
        if problem is not None:
            yield f"item {i}{problem}"


def _problem(item: str) -> str | None:
    """Return what is wrong with an item, to be read after its number; None if nothing is."""
    if not item:
        return " is empty"
    numbers = item.split("-")
    if len(numbers) > 2:
        return f", {quoted(item)}, has more than one dash"
    if not all(map(_is_number, numbers)):
        return f", {quoted(item)}, is not a number or a range such as 5-10"
    return None if _span(item) else f", {quoted(item)}, is a range that ends before it begins"


def _is_number(text: str) -> bool:
    # str.isdigit accepts the digits of all scripts.
    return text.isascii() and text.isdigit()


def _span(item: str) -> range:
    first, _, last = item.partition("-")
    return range(_saturated(first), _saturated(last or first) + 1)


def _saturated(digits: str) -> int:
    """Return a number as the vendor's code compares it: at most the largest int64."""
    digits = digits.lstrip("0") or "0"
    # int() refuses a number with too many digits.
    return min(int(digits), _INT64_MAX) if len(digits) <= 19 else _INT64_MAX


def step_spans(text: str | None) -> list[range]:
    """Return the valid items of a ``dump_step``; without any, all steps are selected."""
    return [_span(item) for item in (text or "").split("|") if _problem(item) is None]


def merged(spans: Iterable[range]) -> list[range]:
    """Return the same steps as sorted spans that neither overlap nor touch."""
    joined: list[range] = []
    for span in sorted(spans, key=lambda span: span.start):
        if joined and span.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(joined[-1].stop, span.stop))
        else:
            joined.append(span)
    return joined


def span_text(span: range) -> str:
    """Return a span as an item of ``dump_step``: ``3`` or ``3-5``."""
    last = span.stop - 1
    return str(last) if span.start == last else f"{span.start}-{last}"


def step_text(steps: str | Iterable[int] | None) -> str | None:
    """Return steps as a ``dump_step``, with ranges where they are consecutive; text as it is."""
    if steps is None or isinstance(steps, str):
        return steps
    return "|".join(map(span_text, merged(range(step, step + 1) for step in steps)))
