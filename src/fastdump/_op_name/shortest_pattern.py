"""The shortest readable pattern that names one operator among all: ``*layers.2*qk``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from fastdump import _core

# A word and the numbers that follow it: "layers.2", "experts.17", "MatMul_1".
_UNIT = re.compile(r"[^./\s\\_]+(?:[./\s\\_]+\d+(?![^./\s\\_]))*")
_MOST_UNITS = 12
"""Only so many of the last units of a name are tried, which bounds the number of patterns."""
_MOST_BEFORE = 2
"""So many units at most stand before the end of a name in its pattern."""
_COST_OF_A_GAP = 6
"""A name in fewer pieces is easier to read: each piece counts as so many characters more."""
_NEW_RIVALS = 64
_MOST_READINGS = 8
"""All names are read at most so often; then the whole name is returned."""


def shortest_pattern(op_name: str, op_names: Iterable[str]) -> str:
    r"""Return the shortest readable shell pattern that selects one name among several.

    Parameters
    ----------
    op_name
        The name that the pattern is for, as the model or as file names spell it.
    op_names
        All names among which it is to be found; whether `op_name` is one of them, and whether names
        repeat, makes no difference. A million of them take some seconds.

    Returns
    -------
    str
        A pattern for the condition `op_name`, the option ``--op-name`` and ``fastdump show``. It is
        a ``*`` and some of the words at the end of the name, if need be after some words before
        these, such as those with the number of the layer. If nothing shorter selects this name
        alone, it is the whole name, in which ``*``, ``?`` and ``[`` are quoted. All characters are
        printable; for a shell it has yet to be quoted.

    Examples
    --------
    >>> names = [f"model.layers.{i}.{op}" for i in range(3) for op in ("attn/MatMul_qk", "mlp/Add")]
    >>> shortest_pattern("model.layers.2.attn/MatMul_qk", names)
    '*layers.2*qk'
    """
    whole = re.sub("^-", "[-]", _quoted(op_name))  # a command would take it for an option
    names = list(dict.fromkeys(op_names))
    is_same = _core.match_op_names([whole], names)
    # Names that files cannot tell apart are one name here.
    others = [name for name, same in zip(names, is_same, strict=True) if not same]
    rivals: list[str] = []
    n_readings = 0
    shorter = {pattern for pattern in _patterns(op_name) if len(pattern) < len(whole)}
    for pattern in sorted(shorter, key=_cost):
        if n_readings == _MOST_READINGS:
            break
        # Nearly all patterns fail on a few names that are known to be near; the rest is read for
        # those that do not.
        if not _core.match_op_names([pattern], [op_name])[0] or _matched(pattern, rivals):
            continue
        found = _matched(pattern, others)
        if not found:
            return pattern
        n_readings += 1
        rivals += found[:: len(found) // _NEW_RIVALS + 1]
    return whole


def _cost(pattern: str) -> tuple[int, str]:
    return len(pattern) + _COST_OF_A_GAP * pattern.count("*"), pattern


def _matched(pattern: str, names: list[str]) -> list[str]:
    matches = _core.match_op_names([pattern], names)
    return [name for name, is_match in zip(names, matches, strict=True) if is_match]


def _patterns(op_name: str) -> Iterator[str]:
    """Yield patterns of a name: some units, then its end."""
    units = list(_UNIT.finditer(op_name))[-_MOST_UNITS:]
    for n_before, unit in enumerate(units):
        ends = [op_name[start:] for start in _starts(unit, op_name)]
        for n_chosen in range(_MOST_BEFORE + 1):
            for chosen in combinations(units[:n_before], n_chosen):
                for before in _joined(chosen, op_name):
                    yield from (f"{before}*{_quoted(end)}" for end in ends)


def _joined(chosen: tuple[re.Match[str], ...], op_name: str) -> Iterator[str]:
    """Yield ``*layers.2``, then with what follows or surrounds each unit: ``*layers.2.``."""
    yield "".join(f"*{_quoted(unit[0])}" for unit in chosen)
    if chosen:
        ends = [unit.end() + 1 for unit in chosen]
        yield "".join(
            f"*{_quoted(op_name[unit.start() : end])}"
            for unit, end in zip(chosen, ends, strict=True)
        )
        yield "".join(
            f"*{_quoted(op_name[max(unit.start() - 1, 0) : end])}"
            for unit, end in zip(chosen, ends, strict=True)
        )


def _starts(unit: re.Match[str], op_name: str) -> list[int]:
    """Return where an end of the name may begin: with a unit, or with what separates it."""
    return [unit.start()] if unit.start() == 0 else [unit.start(), unit.start() - 1]


def _quoted(text: str) -> str:
    """Return a pattern for a text; a character that cannot be shown is any text."""
    return "".join(map(_quoted_character, text))


def _quoted_character(character: str) -> str:
    if not character.isprintable():
        return "*"
    if character == "\\":
        return "_"
    return f"[{character}]" if character in "*?[" else character
