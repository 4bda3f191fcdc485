"""Finds an operator by its name; the error says why there is none, or more than one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._dump.operator import Operator
from fastdump._op_name import in_file_name
from fastdump._tensor.shown_path import unescaped
from fastdump._words.quantities import counted
from fastdump.errors import DumpFormatError, OperatorNotFoundError

_PLACE = ("rank", "time", "device", "model", "model_id", "step")
_EXECUTION = ("task_id", "stream_id", "context_id", "thread_id")

_N_NEAR = 3
_MAX_NAMES_COMPARED = 5_000
"""Comparing two names takes about ten microseconds."""


def positions_of(name: str, files: IndexedFiles, positions: Positions) -> Positions:
    """Return the files whose operator has this name, as the model or as file names spell it."""
    index = files.index
    if not name:
        return positions[:0]
    encoded = name.encode("utf-8", "surrogatepass")
    for spelling in (encoded, unescaped(encoded)):
        found = np.frombuffer(index.find(positions.data, spelling), np.uint32)
        if len(found):
            return found
    nameless = np.frombuffer(index.nameless(positions.data), np.uint32)
    names = [_real_name(files.operator(position)) for position in nameless.tolist()]
    is_it = [name in (real, in_file_name(real)) for real in names]
    return nameless[np.array(is_it, np.bool_)]


def operator_called(
    name: str, files: IndexedFiles, positions: Positions, within: object
) -> Operator:
    """Return the operator of this name; files that are parts of one execution are joined.

    Parameters
    ----------
    name
        The name, as the model or as file names spell it.
    files, positions
        Where to look.
    within
        The dump that has these files; messages show its repr.

    Raises
    ------
    OperatorNotFoundError
        If there is no such operator, or if several have the name.
    """
    found = positions_of(name, files, positions)
    if len(found) == 0:
        near = _near(name, files.index.op_names(positions.data))
        hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
        raise OperatorNotFoundError(f"no operator is called {name!r} in {within!r}{hint}")
    operators = [files.operator(position) for position in found.tolist()]
    places = _differing(operators, _PLACE)
    if places:
        raise OperatorNotFoundError(
            f"{name!r} was dumped {len(operators):,} times, in different places: select one first, "
            f"as in dump.select({', '.join(places)})[{name!r}]"
        )
    if len(operators) > 1:
        # Different names may have the same spelling in file names.
        operators = [op for op in operators if _real_name(op) == name] or operators
    if len(operators) == 1:
        return operators[0]
    if _differing(operators, _EXECUTION) or not _are_parts(operators):
        raise OperatorNotFoundError(_several(name, operators))
    return operators[0].joined(operators[1:])


def _differing(operators: Sequence[Operator], attributes: Sequence[str]) -> list[str]:
    """Return the attributes of the first operator in which some other operator differs."""
    return [
        f"{name}={getattr(operators[0], name)!r}"
        for name in attributes
        if len({getattr(operator, name) for operator in operators}) > 1
    ]


def _are_parts(operators: Sequence[Operator]) -> bool:
    """Tell whether no two files have a tensor of one name, as several executions would have."""
    try:
        names = [tensor.name for operator in operators for tensor in operator.tensors]
    except (OSError, DumpFormatError):
        return False
    return len(set(names)) == len(names)


def _real_name(found: Operator) -> str:
    """Return the name in the header, '' if it cannot be read."""
    try:
        return str(found.header["op_name"])
    except (OSError, DumpFormatError):
        return ""


def _near(name: str, names: list[str]) -> list[str]:
    """Return a few of `names` that may have been meant."""
    as_file = in_file_name(name)
    import difflib

    # A misspelt name has about the length of the right one.
    names.sort(key=lambda other: abs(len(other) - len(name)))
    near = [other for other in names if as_file.lower() in other.lower()][:_N_NEAR]
    return near or difflib.get_close_matches(as_file, names[:_MAX_NAMES_COMPARED], _N_NEAR)


def _several(name: str, operators: Sequence[Operator]) -> str:
    """Return the message for a name that several executions in one place have."""
    times = ", ".join(str(operator.timestamp) for operator in operators[:_N_NEAR])
    more = ", ..." if len(operators) > _N_NEAR else ""
    return (
        f"{name!r} has {counted(len(operators), 'file')} of several executions or threads in one "
        f"place (timestamps {times}{more}): choose one by number, as in "
        f"dump.select(op_name={name!r})[0]"
    )
