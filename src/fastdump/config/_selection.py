"""The rows of a table of the same model that a configuration would have dumped."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from arro3.core import DataType

from fastdump._op_name import in_file_name
from fastdump._table.arrow_column import NULL_CODE, codes_of, integer_array, is_null
from fastdump._table.stats_table import StatsTable
from fastdump.config._model import BlacklistItem, DumpConfig, ListEntry

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_KERNEL_PREFIX = "aclnn"
# {time}/{device}/{file}: an operator that was run one by one has no model in its path.
ONE_BY_ONE = re.compile(r"(^|/)[0-9]{13,14}/[0-9]+/[^/]+$")


def file_form(name: str | None) -> str:
    """Return a name as file names have it: in this form, names from headers and files compare."""
    return in_file_name(name or "")


def is_kernel(op_type: str | None) -> bool:
    """Tell whether a type is a kernel of the single-operator API, not an operator of a graph."""
    return (op_type or "").startswith(_KERNEL_PREFIX)


def spellings(name: str) -> frozenset[str]:
    """Return what a table may call an operator that the vendor's code finds by this name.

    That is the name itself, or as file names have it if the table knows no better.
    """
    return frozenset((name, file_form(name)))


def grouped(
    table: StatsTable, *names: str, rows: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Return rows as indices into the distinct values of some columns, and these.

    Parameters
    ----------
    table
        The table.
    *names
        Columns of texts or integers.
    rows
        Which rows count; default all.

    Returns
    -------
    indices : numpy.ndarray of int64, shape (rows that count,)
        The position of the values of each row.
    values : list of tuple
        The distinct values in the order of the table, with None for null.
    """
    chosen = np.arange(len(table)) if rows is None else np.flatnonzero(rows)
    columns = [_coded(table.batch.column(name), chosen) for name in names]
    number = np.zeros(len(chosen), np.int64)
    for codes, values in columns:
        if len(values) > 1:
            _, number = np.unique(number * len(values) + codes, return_inverse=True)
    _, first, group = np.unique(number, return_index=True, return_inverse=True)
    order = np.argsort(first)
    index = np.empty_like(order)
    index[order] = np.arange(len(order))
    first = first[order]
    found = [[values[code] for code in codes[first].tolist()] for codes, values in columns]
    return index[group], list(zip(*found, strict=True))


def distinct(
    table: StatsTable, *names: str, rows: NDArray[np.bool_] | None = None
) -> dict[tuple[Any, ...], None]:
    """Return the distinct values of some columns, as `grouped` does."""
    return dict.fromkeys(grouped(table, *names, rows=rows)[1])


def _coded(column: Array, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return some rows of a column as indices into its distinct values, of which None is last."""
    if DataType.is_integer(column.type):
        numbers, codes = np.unique(integer_array(column)[rows], return_inverse=True)
        values: list[Any] = numbers.tolist()
        codes[is_null(column)[rows]] = len(values)
    else:
        codes, values = codes_of(column)
        codes = np.where(codes[rows] == NULL_CODE, len(values), codes[rows])
    return codes, [*values, None]


class _Filter(NamedTuple):
    """One entry of ``dump_list``, with the names that a table may have for its operators."""

    layer: frozenset[str]
    excluded_types: frozenset[tuple[str, str]]
    excluded_names: frozenset[tuple[str, str]]
    ranges: tuple[tuple[frozenset[str], frozenset[str]], ...]


def _filter_of(entry: ListEntry) -> _Filter:
    return _Filter(
        frozenset(spelling for name in entry.layer or () for spelling in spellings(name)),
        _excluded(entry.optype_blacklist or ()),
        _excluded(entry.opname_blacklist or ()),
        tuple(
            (spellings(span.begin or ""), spellings(span.end or ""))
            for span in entry.opname_range or ()
        ),
    )


def _excluded(items: Iterable[BlacklistItem]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (spelling, position)
        for item in items
        for spelling in spellings(item.name or "")
        for position in item.pos or ()
    )


def selected(config: DumpConfig, table: StatsTable) -> NDArray[np.bool_]:
    """Return which rows a dump of models and operators would have, as if it had all steps.

    Parameters
    ----------
    config
        A configuration with ``dump_list`` or ``dump_op_switch``. Dumps of scenes and overflows
        depend on events.
    table
        A table in the order of execution.

    Returns
    -------
    numpy.ndarray of bool, shape (rows,)
        True for the rows that would be dumped.
    """
    filters = {
        None if name is None else file_form(name): _filter_of(entry)
        for name, entry in config.entries_in_force.items()
    }
    in_range = _in_range(filters, table)
    columns = [table[name].tolist() for name in ("op_type", "op_name", "model", "io", "index")]
    # Most rows are like others, for which it was decided already.
    is_selected = functools.cache(functools.partial(_is_selected, config, filters))
    rows = zip(*columns, in_range.tolist(), strict=True)
    return np.array([is_selected(*row) for row in rows], np.bool_)


def _is_selected(
    config: DumpConfig,
    filters: dict[str | None, _Filter],
    op_type: str | None,
    op_name: str | None,
    model: str | None,
    io: str | None,
    index: int | None,
    in_range: bool,
) -> bool:
    # With dump_mode "all", workspaces and buffers are dumped too.
    if io is None or not config.takes(io):
        return False
    if is_kernel(op_type):
        return config.level != "op"
    if config.level == "kernel":
        return False
    chosen = filters.get(None) or filters.get(file_form(model))
    if chosen is None:
        return not filters
    name, position = op_name or "", f"{io}{index}"
    if not in_range and name not in chosen.layer and (chosen.layer or chosen.ranges):
        return False
    by_type = (op_type or "", position) in chosen.excluded_types
    return not by_type and (name, position) not in chosen.excluded_names


def _in_range(filters: dict[str | None, _Filter], table: StatsTable) -> NDArray[np.bool_]:
    """Return which rows lie in a range of operators of their graph, both ends included."""
    inside = np.zeros(len(table), np.bool_)
    if not any(chosen.ranges for chosen in filters.values()):
        return inside
    # By graph and step: for each range that has begun, whether its last operator was reached.
    begun: dict[tuple[Any, ...], dict[int, bool]] = {}
    names = ("rank", "device", "model", "model_id", "step", "op_type", "op_name", "io")
    columns = [table[name].tolist() for name in names]
    for row, (*graph, op_type, op_name, io) in enumerate(zip(*columns, strict=True)):
        chosen = filters.get(None) or filters.get(file_form(graph[2]))
        if chosen is None or io is None or is_kernel(op_type):
            continue
        name = op_name or ""
        ends = begun.setdefault(tuple(graph), {})
        for i, (begin, end) in enumerate(chosen.ranges):
            if i not in ends and name in begin:
                ends[i] = False
            # The last operator has one row for each of its tensors.
            if i in ends and (not ends[i] or name in end):
                ends[i] |= name in end
                inside[row] = True
    return inside
