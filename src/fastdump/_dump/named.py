"""Finds operators by name; errors say why there is none, or more than one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastdump._dump.chosen import Chosen
from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._dump.operator import Operator
from fastdump._op_name import in_file_name
from fastdump._op_name.near_names import near_names
from fastdump._selection import Selection
from fastdump._tensor.shown_path import unescaped
from fastdump._words.quantities import counted, listed
from fastdump.errors import DumpFormatError, OperatorNotFoundError

_PLACE = ("rank", "time", "device", "model", "model_id", "step")
_EXECUTION = ("task_id", "stream_id", "context_id", "thread_id")

_N_SHOWN = 3
_TENSOR = re.compile(r"(?P<name>.+):(?P<tensor>(?:input|output|buffer|space)\.\d+)", re.S)


def name_and_tensor(text: str) -> tuple[str, str | None]:
    """Split ``NAME:output.0`` into what is before and the tensor's name, None if there is none."""
    match = _TENSOR.fullmatch(text)
    return (match["name"], match["tensor"]) if match else (text, None)


def positions_of(
    name: str, files: IndexedFiles, positions: Positions, *, read: bool = True
) -> Positions:
    """Return the files whose operator has this name, as the model or as file names spell it.

    If no file name has it, and `read` is true, the headers of files without a name are read.
    """
    index = files.index
    if not name:
        return positions[:0]
    encoded = name.encode("utf-8", "surrogatepass")
    for spelling in (encoded, unescaped(encoded)):
        found = np.frombuffer(index.find(positions.data, spelling), np.uint32)
        if len(found):
            return found
    if not read:
        return positions[:0]
    nameless = np.frombuffer(index.nameless(positions.data), np.uint32)
    names = [_real_name(files.operator(position)) for position in nameless.tolist()]
    is_it = [name in (real, in_file_name(real)) for real in names]
    return nameless[np.array(is_it, np.bool_)]


def _readings(text: str) -> Iterator[Selection]:
    """Yield what a text may mean that is no whole name, the likeliest first.

    It is read as a pattern of whole names; of types; of both, as in ``"Add layers.2*"``; and then
    as a pattern of the ends of names.
    """
    op_type, blank, op_name = text.partition(" ")
    for start in ("", "*"):
        yield Selection(op_name=(start + text,))
        if not start:
            yield Selection(op_type=(text,))
        if blank:
            yield Selection(op_type=(op_type,), op_name=(start + op_name,))


def operator_among(name: str, files: IndexedFiles, found: Positions) -> Operator:
    """Return the operator of some files that a name has found; parts of one execution are joined.

    Parameters
    ----------
    name
        What was looked for.
    files, found
        The files that were found, at least one.

    Raises
    ------
    OperatorNotFoundError
        If they are of several operators or executions.
    """
    names = files.index.op_names(found.data)
    if len(names) > 1:
        shown = listed(map(repr, sorted(names)), _N_SHOWN)
        raise OperatorNotFoundError(
            f"{name!r} matches {len(names):,} operators: {shown}; give more of the name, or use "
            f"dump.select(op_name=...)"
        )
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


def matching(chosen: Chosen, text: str) -> Chosen:
    """Return the files whose operators a text names, as ``dump[text]`` reads it, several or none.

    The first reading that finds some counts. Of a file with statistics of many operators, only the
    rows of these are in `Dump.stats` then.
    """
    positions = chosen.positions()
    if text:
        found = positions_of(text, chosen.files, positions, read=False)
        if len(found):
            return chosen.numbered(np.flatnonzero(np.isin(positions, found)))
        for selection in _readings(text):
            smaller = chosen.after(selection)
            if len(smaller.positions()):
                return smaller
    return chosen.after((None, 0, None))


def no_match_text(chosen: Chosen, text: str, within: object) -> str:
    """Return that a text names no operator, and which names and types are near it.

    Parameters
    ----------
    chosen
        Where it was looked for.
    text
        What was looked for.
    within
        The dump that has these files; the message shows its repr.
    """
    also = {name for names in chosen.names_in_statistics().values() for name in names}
    in_statistics = sorted({told for type_and_name in also for told in type_and_name if told})
    summary: dict[str, Any] = chosen.files.index.summary(chosen.positions().data)
    near = near_names(text, [*chosen.op_names(), *summary["op_types"], *in_statistics])
    hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
    return f"no operator is called {text!r} in {within!r}{hint}"


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


def _several(name: str, operators: Sequence[Operator]) -> str:
    """Return the message for a name that several executions in one place have."""
    times = ", ".join(str(operator.timestamp) for operator in operators[:_N_SHOWN])
    more = ", ..." if len(operators) > _N_SHOWN else ""
    return (
        f"{name!r} has {counted(len(operators), 'file')} of several executions or threads in one "
        f"place (timestamps {times}{more}): choose one by number, as in "
        f"dump.select(op_name={name!r})[0]"
    )
