"""Places in words: ranks and steps, operators, tensors, elements; and the bad values there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from fastdump._words.catalogue import (
    COUNT_OF_BAD,
    IN_RANK,
    IN_RANKS,
    IN_STEP,
    IN_STEPS,
    OF_LAYER,
    ON_DEVICE,
)
from fastdump._words.enumeration import enumerated
from fastdump._words.printable import printable
from fastdump._words.quantities import integers_text


def where_text(
    *,
    rank: int | None = None,
    device: int | None = None,
    step: int | None = None,
    layer: int | None = None,
) -> str:
    """Return ``rank 1, step 3``; numbers that are None are left out."""
    numbers = ((IN_RANK, rank), (ON_DEVICE, device), (IN_STEP, step), (OF_LAYER, layer))
    return enumerated(
        sentence(numbers=str(number)) for sentence, number in numbers if number is not None
    )


class Placed(Protocol):
    """Something of one rank and step, as far as they are known."""

    @property
    def rank(self) -> int | None: ...
    @property
    def step(self) -> int | None: ...


def ranks_and_steps_text(placed: Sequence[Placed]) -> str:
    """Return ``ranks 2-3, step 4``; "" if none of either is known."""
    parts = [
        ([one.rank for one in placed], IN_RANK, IN_RANKS),
        ([one.step for one in placed], IN_STEP, IN_STEPS),
    ]
    texts = []
    for numbers, one, several in parts:
        found = sorted({number for number in numbers if number is not None})
        if found:
            texts.append((one if len(found) == 1 else several)(numbers=integers_text(found)))
    return enumerated(texts)


def operator_text(op_type: str | None, op_name: str | None) -> str:
    """Return the type and the name of an operator, as far as they are known."""
    return " ".join(printable(text) for text in (op_type, op_name) if text)


def tensor_name(io: str | None, index: int | None) -> str:
    """Return ``output.0``, '' for null."""
    return "" if io is None else f"{io}.{index}"


def index_text(flat: int | None, shape: Iterable[int] | None) -> str:
    """Return the index of an element as ``[2, 1]``, '' if no element of the shape has it."""
    dims = tuple(shape or ())
    # An unknown dimension is -1.
    if flat is None or min(dims, default=0) < 1 or flat >= math.prod(dims):
        return ""
    index: list[str] = []
    for dim in reversed(dims):
        flat, along = divmod(flat, dim)
        index.append(str(along))
    return f"[{', '.join(reversed(index))}]"


def bad_text(nan: int | None, pos_inf: int | None, neg_inf: int | None) -> str:
    """Return ``3 NaN, 1 +Inf``, '' if there is none or nothing is known."""
    counts = (("NaN", nan), ("+Inf", pos_inf), ("-Inf", neg_inf))
    return enumerated(COUNT_OF_BAD(n=number, bad=name) for name, number in counts if number)
