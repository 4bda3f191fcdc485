"""Operators that a name and conditions have found: listed, with the command that shows one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from fastdump._dump.dump import Dump, chosen
from fastdump._dump.named import matching
from fastdump._dump.operator import Operator
from fastdump._op_name.shortest_pattern import shortest_pattern
from fastdump._table.stats_table import StatsTable
from fastdump._words.places import bad_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.styles import BAD, SUBTLE
from fastdump._words.text_table import Cell, Column, TextTable
from fastdump.errors import DumpFormatError

_MAX_LISTED = 20
_PLACE = ("rank", "step", "device", "time", "model", "model_id")
_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", min_width=8),
    Column("op_name", min_width=20),
    Column("bad"),
    Column("path", min_width=24, drop_order=0),
)


@dataclass(frozen=True)
class Matches:
    """Several operators that were found, and how to show one of them.

    Attributes
    ----------
    operators
        The first of them, in the order of execution.
    n_found
        How many there are.
    bad
        Bad values of their tensors in words, by `Operator.relative`, as far as a table tells.
    names
        Types and names of the operators in files with statistics of many, by `Operator.relative`.
    command
        A command that shows the first of them alone, quoted for a shell.
    """

    operators: Sequence[Operator]
    n_found: int
    bad: Mapping[str, str]
    names: Mapping[str, Sequence[tuple[str | None, str | None]]]
    command: str

    @classmethod
    def of(
        cls,
        found: Dump,
        dump: Dump,
        given: Sequence[str],
        name: str | None,
        tensor: str | None,
        table: StatsTable | None,
    ) -> Matches:
        """Describe what was found.

        Parameters
        ----------
        found
            The operators.
        dump
            Where they were looked for.
        given
            The arguments that name the dump, and options for opening it.
        name, tensor
            What was asked for.
        table
            The table, if the dump was opened by one.
        """
        listed = list(islice(found, _MAX_LISTED))
        for operator in listed:
            # The header has the real name; without it, that of the file is shown.
            with suppress(OSError, DumpFormatError):
                operator.header  # noqa: B018
        bad = {} if table is None else _bad_values(table, dump.root, listed)
        names = chosen(found[: len(listed)]).names_in_statistics()
        command = _command(listed[0], dump, given, name, tensor)
        return cls(listed, len(found), bad, names, command)

    def lines(self, *, width: int | None, ellipsis: str) -> Iterator[list[Cell]]:
        """Yield a line for each operator, and the command; parameters as in `Report.lines`."""
        yield [
            Cell(f"{counted(self.n_found, 'operator file')} found; one is shown at a time", "bold")
        ]
        yield []
        yield from TextTable(_COLUMNS, map(self._cells, self.operators), width=width).lines(
            ellipsis=ellipsis
        )
        if n_more := self.n_found - len(self.operators):
            yield [Cell(f"... and {n_more:,} more", SUBTLE)]
        yield []
        yield [Cell("The first of them:")]
        yield [Cell(f"  {printable(self.command)}")]

    def _type_and_name(self, operator: Operator) -> tuple[str, str]:
        names = self.names.get(operator.relative, ())
        if len(names) > 1:
            return "", counted(len(names), "operator")
        op_type, op_name = names[0] if names else (operator.op_type, operator.op_name)
        return op_type or "", op_name or ""

    def _cells(self, operator: Operator) -> list[Cell]:
        op_type, op_name = self._type_and_name(operator)
        return [
            Cell("" if operator.rank is None else str(operator.rank)),
            Cell("" if operator.step is None else str(operator.step)),
            Cell(printable(op_type)),
            Cell(printable(op_name)),
            Cell(self.bad.get(operator.relative, ""), BAD),
            Cell(printable(operator.path), SUBTLE),
        ]

    def document(self) -> dict[str, Any]:
        """Return the matches for JSON."""
        names = (*_PLACE, "op_type", "op_name", "timestamp", "path")
        return {
            "matches": [
                {name: getattr(operator, name) for name in names} for operator in self.operators
            ],
            "left_out": self.n_found - len(self.operators),
            "command": self.command,
        }


def _bad_values(table: StatsTable, root: str, operators: Sequence[Operator]) -> dict[str, str]:
    """Return the bad values of operators in words, by their path; none if paths are others here."""
    if table.root is None or table.level == "header":
        return {}
    paths = {operator.relative for operator in operators}
    seen = table.seen_from(root) if len(table.roots) <= 1 else table
    rows = seen[np.array([path in paths for path in seen["path"]], np.bool_)]
    totals: dict[str, np.ndarray[Any, Any]] = {}
    for row in rows:
        counts = np.array([row.nan or 0, row.pos_inf or 0, row.neg_inf or 0])
        totals[row.path] = totals.get(row.path, 0) + counts
    return {path: bad_text(*map(int, counts)) for path, counts in totals.items()}


def _command(
    operator: Operator, dump: Dump, given: Sequence[str], name: str | None, tensor: str | None
) -> str:
    """Return the command that shows an operator: by name if that is possible, or by path."""
    suffix = f":{tensor}" if tensor else ""
    # A file with statistics of many operators has no name of its own.
    pattern, files = name, chosen(dump)
    if operator.op_name:
        pattern = shortest_pattern(operator.op_name, files.op_names())
    if pattern:
        found, options = Dump(matching(files, pattern)), list[str]()
        for place in _PLACE:
            value = getattr(operator, place)
            if len(found) > 1 and value is not None:
                found, before = found.select(**{place: value}), len(found)
                if len(found) < before:
                    options += [f"--{place.replace('_', '-')}", str(value)]
        if [one.path for one in found] == [operator.path]:
            return shlex.join(["fastdump", "show", *given, pattern + suffix, *options])
    return shlex.join(["fastdump", "show", operator.path + suffix])
