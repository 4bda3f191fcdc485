"""Conditions that select tensors: the keyword arguments of every function, with a rule for each.

The core applies a selection to files, the table room applies it to rows; `Selection` states the
rules that both follow.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeAlias, TypedDict, TypeVar

from fastdump import _core
from fastdump._arguments import INT64_MAX, INT64_MIN
from fastdump._words.quantities import merged_ranges, ranges_text

IO = ("input", "output", "buffer", "space")
STATUSES = (
    *("ok", "truncated", "absent", "size_mismatch", "unsupported"),
    *("malformed", "unreadable", "changed"),
)

NumberRange: TypeAlias = tuple[int, int]
"""The first and the last number of a range, both included."""

NUMBER_CONDITIONS = ("rank", "device", "model_id", "step", "index")
_WORDS = {"io": IO, "status": STATUSES}

# An integer, or a range of them, as a command line has it.
_RANGE = re.compile(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?", re.ASCII)
_MAX_INTEGERS = 1_000_000
"""A ``range`` with a step is expanded if it has at most this many integers."""


class Conditions(TypedDict, total=False):
    """The keyword arguments that select tensors; `Selection` says what each means."""

    rank: int | str | Iterable[int | str] | None
    time: str | Iterable[str] | None
    device: int | str | Iterable[int | str] | None
    model: str | Iterable[str] | None
    model_id: int | str | Iterable[int | str] | None
    step: int | str | Iterable[int | str] | None
    op_type: str | Iterable[str] | None
    op_name: str | Iterable[str] | None
    io: str | Iterable[str] | None
    index: int | str | Iterable[int | str] | None
    dtype: str | Iterable[str] | None
    status: str | Iterable[str] | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Checked conditions on tensors. A tensor is selected if it meets all of them.

    Every function that looks at tensors takes these conditions as keyword arguments. Each condition
    accepts one value, or several of which any may match. None, the default, selects everything; an
    empty list is an error. A property that neither the path nor the header of a tensor tells meets
    no condition.

    Attributes
    ----------
    rank, device, model_id, step, index
        Numbers: an int, a ``range``, or text such as ``"3"``, ``"3-5"``, ``"1,4"`` and the vendor's
        ``"0|3-5|10"``. `index` is the position among the inputs, or outputs, of an operator.
    time, model, op_type, dtype
        Shell patterns (``*``, ``?``, ``[abc]``) for the whole text, case-sensitive.
    op_name
        Shell patterns for the operator's whole name. Blanks, dots, slashes and backslashes count as
        ``_``, because file names have ``_`` in their place: ``"model.layers.2*"`` selects the same
        tensors as ``"model_layers_2*"``.
    io
        Some of "input", "output", "buffer" and "space".
    status
        Some of "ok", "truncated", "absent", "size_mismatch", "unsupported", "malformed",
        "unreadable" and "changed".

    Notes
    -----
    A file that cannot be read has no tensor, so it meets no condition on `io`, `index` or `dtype`;
    the table's ``skipped`` counts it then.
    """

    rank: tuple[NumberRange, ...] = ()
    time: tuple[str, ...] = ()
    device: tuple[NumberRange, ...] = ()
    model: tuple[str, ...] = ()
    model_id: tuple[NumberRange, ...] = ()
    step: tuple[NumberRange, ...] = ()
    op_type: tuple[str, ...] = ()
    op_name: tuple[str, ...] = ()
    io: tuple[str, ...] = ()
    index: tuple[NumberRange, ...] = ()
    dtype: tuple[str, ...] = ()
    status: tuple[str, ...] = ()

    @classmethod
    def of(cls, conditions: Mapping[str, Any]) -> Selection:
        """Return the selection that keyword arguments describe.

        Raises
        ------
        TypeError
            If there is no such condition, or a value has the wrong type.
        ValueError
            If a value is empty, or one that the condition cannot have.
        """
        names = [field.name for field in fields(cls)]
        for name in conditions:
            if name not in names:
                raise TypeError(f"{name!r} is not an argument; conditions are {', '.join(names)}")
        return cls(
            **{
                name: _checked(name, value)
                for name, value in conditions.items()
                if value is not None
            }
        )

    def __bool__(self) -> bool:
        """Whether there is any condition."""
        return self != Selection()

    def native(self) -> _core.Selection:
        """Return the selection for the core."""
        conditions = asdict(self)
        for name in conditions.keys() - set(NUMBER_CONDITIONS):
            conditions[name] = _utf8(conditions[name])
        return _core.Selection(**conditions)

    def conditions(self) -> dict[str, Selection]:
        """Return each condition by its name, as a selection by that condition alone."""
        return {name: Selection(**{name: value}) for name, value in asdict(self).items() if value}

    def only(self, names: Iterable[str]) -> Selection:
        """Return a selection by these conditions alone."""
        return Selection(**{name: getattr(self, name) for name in names})

    def without(self, names: Iterable[str]) -> Selection:
        """Return the selection without these conditions."""
        return self.narrowed(**dict.fromkeys(names, ()))

    def narrowed(self, **changes: Any) -> Selection:
        """Return this selection with some conditions replaced; () removes one."""
        return replace(self, **changes)

    def has_number(self, name: str, number: int | None) -> bool:
        """Tell whether a number meets the condition `name`."""
        ranges: tuple[NumberRange, ...] = getattr(self, name)
        if not ranges:
            return True
        return number is not None and any(first <= number <= last for first, last in ranges)

    def has_text(self, name: str, text: str | None) -> bool:
        """Tell whether a text meets the condition `name`."""
        return not getattr(self, name) or (bool(text) and self.matching(name, [text or ""])[0])

    def matching(self, name: str, texts: list[str]) -> list[bool]:
        """Tell which texts meet the condition `name`, which must be set."""
        wanted: tuple[str, ...] = getattr(self, name)
        if name in _WORDS:
            return [text in wanted for text in texts]
        match = _core.match_op_names if name == "op_name" else _core.match_texts
        return match(_utf8(wanted), texts)

    def has_tensor(self, io: str, index: int, dtype: str | None, status: str) -> bool:
        """Tell whether a tensor meets the conditions on tensors."""
        return (
            self.has_text("io", io)
            and self.has_number("index", index)
            and self.has_text("dtype", dtype)
            and self.has_text("status", status)
        )

    def text_of(self, name: str) -> str:
        """Return a condition as messages show it: ``step 3-5``, ``op_name 'MatMul*'``."""
        value = getattr(self, name)
        if name in NUMBER_CONDITIONS:
            return f"{name} {ranges_text(value)}"
        return f"{name} {', '.join(map(repr, value))}"


def _utf8(texts: Iterable[str]) -> list[bytes]:
    """Return texts as the core takes them, also those of bytes that are no UTF-8."""
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _checked(name: str, value: Any) -> tuple[Any, ...]:
    if name in NUMBER_CONDITIONS:
        return _ranges(name, value)
    texts = _texts(name, value)
    words = _WORDS.get(name)
    if words is not None and not set(texts).issubset(words):
        raise ValueError(f"{name} is {value!r}, expected some of {', '.join(words)}")
    return texts


def _texts(name: str, value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name} is {value!r}, expected a str or several")
    if not texts:
        raise ValueError(f"{name} is empty, expected at least one; None selects all")
    return texts


def _ranges(name: str, value: Any) -> tuple[NumberRange, ...]:
    """Return numbers as sorted ranges that do not touch."""
    if isinstance(value, range) and len(value) and value.step == 1:
        found = [(value.start, value.stop - 1)]
    elif isinstance(value, range) and len(value) > _MAX_INTEGERS:
        raise ValueError(f"{name} is {value!r}, of more than {_MAX_INTEGERS:,} integers")
    else:
        is_one = isinstance(value, str) or not isinstance(value, Iterable)
        found = [pair for item in ([value] if is_one else value) for pair in _pairs(name, item)]
    if not found:
        raise ValueError(f"{name} is empty, expected at least one; None selects all")
    if min(first for first, _ in found) < INT64_MIN or max(last for _, last in found) > INT64_MAX:
        raise ValueError(f"{name} is {value!r}, expected 64-bit integers")
    return tuple(merged_ranges(found))


def _pairs(name: str, item: Any) -> list[NumberRange]:
    if not isinstance(item, str):
        try:
            number = operator.index(item)
        except TypeError as error:
            expected = "an integer, a range such as '3-5', or several"
            raise TypeError(f"{name} is {item!r}, expected {expected}") from error
        return [(number, number)]
    pairs = []
    for part in item.replace("|", ",").split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"{name} is {item!r}, expected 3, a range (3-5) or a list (1,4)")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            raise ValueError(f"{name} is {item!r}, in which {part.strip()!r} is an empty range")
        pairs.append((first, last))
    return pairs


Function = TypeVar("Function", bound=Callable[..., Any])


def takes_conditions(function: Function) -> Function:
    """Show each condition in the signature of a function that takes ``**conditions``.

    The signature is for ``help()`` and for completion; `Selection.of` checks the values.
    """
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    conditions = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in Conditions.__annotations__.items()
    ]
    shown = signature.replace(parameters=[*named, *conditions])
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function
