"""What kinds of operators do with values, told by their types."""

from __future__ import annotations

import functools
import re
from typing import Final

_PASSES_ON: Final = re.compile(
    r"^(?:aclnn)?(?:cast|tocopy|_?to|contiguous|clone|copy|identity|tensormove|inplacecopy"
    r"|viewcopy|view|reshape|squeeze|unsqueeze|flatten|transdata|transpose|transposed|permute"
    r"|expand|asstrided|liftfresh|detach|alias)(?:v?\d+|d)?$",
    re.I,
)


_ADDS_UP: Final = re.compile(
    r"^(?:aclnn)?(?:inplace)?(?:add|adds|addn|axpy|accumulate|accumulaten|sub|rsub)(?:v?\d+|d)?$",
    re.I,
)


@functools.lru_cache(maxsize=1 << 12)
def passes_values_on(op_type: str | None) -> bool:
    """Tell whether an operator of a type computes nothing: a cast, a copy, another view."""
    return op_type is not None and _PASSES_ON.match(op_type.replace("_", "")) is not None


@functools.lru_cache(maxsize=1 << 12)
def adds_up(op_type: str | None) -> bool:
    """Tell whether an operator of a type adds or subtracts its inputs, element by element."""
    return op_type is not None and _ADDS_UP.match(op_type.replace("_", "")) is not None
