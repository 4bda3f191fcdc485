"""`describe_dump` says what a dump is; `missing` says what its configuration promised in vain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fastdump._stats import What, headers_of
from fastdump._table.arrow_column import NULL_CODE, n_distinct, rows_of
from fastdump._table.path_column import PathColumn
from fastdump._table.stats_table import StatsTable
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, integers_text, merged_ranges
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell
from fastdump.config._dump_step import step_spans
from fastdump.config._model import DumpConfig
from fastdump.config._selection import ONE_BY_ONE, distinct, file_form, grouped, is_kernel
from fastdump.config._wording import listed, of_model, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

DumpKind: TypeAlias = Literal[
    "model",
    "single operator",
    "overflow",
    "watcher",
    "exception",
    "custom",
    "converted",
    "unknown",
]
_Part: TypeAlias = tuple[int | None, int | None]  # a rank and a step

_N_TIME_DIGITS = 17

# The kinds that a path can tell, in the order in which they are tried.
_PATH_KINDS: tuple[tuple[DumpKind, re.Pattern[str]], ...] = (
    ("overflow", re.compile(r"(^|/)op_?debug\.node_op_?debug\.[^/]*$", re.IGNORECASE)),
    ("exception", re.compile(r"(^|/)(exception_info\.[^/]*$|extra-info/data-dump/)")),
    ("custom", re.compile(rf"\.custom\.[0-9]{{{_N_TIME_DIGITS}}}$")),
    ("converted", re.compile(r"\.npy$")),
    ("single operator", ONE_BY_ONE),
)
_KINDS = tuple(kind for kind, _ in _PATH_KINDS)
_DATA = {"tensor": "tensors", "stats": "statistics"}
# The number of steps of a range that are looked for; a range may have more than fit into memory.
_MAX_STEPS = 10_000


@dataclass(frozen=True)
class DumpContents:
    """What a dump is, by the names and headers of its files.

    Attributes
    ----------
    kinds
        One or more of "model", "single operator" (run one by one), "overflow", "watcher",
        "exception", "custom" (saved by a program), "converted" (arrays made from a dump) and
        "unknown" (the paths do not tell). A dump of overflows, for example, also has the kind of
        its operators.
    data
        "tensor", "stats" or both.
    mode
        "input", "output" or "all" (both); None if no file has a tensor.
    ranks, devices, steps, models, times
        The values in the paths, sorted.
    n_files, n_operators
        Number of files, and of operators by type and name. Records of overflows count as files
        only.
    """

    kinds: tuple[DumpKind, ...]
    data: tuple[str, ...]
    mode: str | None
    ranks: tuple[int, ...]
    devices: tuple[int, ...]
    steps: tuple[int, ...]
    models: tuple[str, ...]
    times: tuple[str, ...]
    n_files: int
    n_operators: int

    def lines(self) -> Iterator[list[Cell]]:
        """Yield the contents as styled text, a fact a line."""
        files = f"{self.n_files:,}"
        if self.n_operators:
            files += f" of {counted(self.n_operators, 'operator')}"
        facts = {
            "kind": ", ".join(self.kinds),
            "data": ", ".join(self.data),
            "mode": self.mode or "",
            "models": ", ".join(self.models),
            "ranks": integers_text(self.ranks),
            "devices": integers_text(self.devices),
            "steps": integers_text(self.steps),
            "times": ", ".join(self.times),
            "files": files,
        }
        for name, fact in facts.items():
            if fact:
                yield [Cell(f"{name:<9}", SUBTLE), Cell(printable(fact))]


def describe_dump(what: What) -> DumpContents:
    """Return what a dump is.

    Parameters
    ----------
    what
        The dump, a `Dump`, or a table of it, at any level: only names and headers count.

    Returns
    -------
    DumpContents
        Its kinds, ranks, steps, models and numbers.
    """
    table = headers_of(what)
    path_kinds = _path_kinds(table)
    names = set(map(file_form, _texts(table, "op_name")))
    kinds: set[DumpKind] = {kind for kind in _KINDS if (path_kinds == _KINDS.index(kind)).any()}
    others = distinct(table, "op_type", "op_name", "model", rows=path_kinds == NULL_CODE)
    kinds |= {_kind_of_operator(*operator, names=names) for operator in others}
    operators = distinct(table, "op_type", "op_name", rows=_is_no_record(path_kinds))
    modes = sorted({"input", "output"} & _texts(table, "io"))
    return DumpContents(
        kinds=tuple(sorted(kinds)),
        data=_data(table),
        mode="all" if len(modes) == 2 else next(iter(modes), None),
        ranks=_numbers(table, "rank"),
        devices=_numbers(table, "device"),
        steps=_numbers(table, "step"),
        models=tuple(sorted(_texts(table, "model") - {None})),
        times=tuple(sorted(_texts(table, "time") - {None})),
        n_files=n_distinct(table.batch.column("path")),
        n_operators=len(operators.keys() - {(None, None)}),
    )


def _path_kinds(table: StatsTable) -> NDArray[np.int64]:
    """Return the kind of each row by its path, a position in `_KINDS`.

    It is `NULL_CODE` where the operator decides.
    """
    column = table.batch.column("path")
    paths = PathColumn(column)
    # What follows the directory decides in few rows, for whose paths it is looked at.
    is_special = paths.begin_with(b"oOe") | paths.have_at_end(b".npy")
    is_special |= paths.have_at_end(b".custom.", n_after=_N_TIME_DIGITS)
    is_special |= paths.have_at_end(b"\n")  # which $ allows
    of_directory = [_path_kind(f"{directory}_") for directory in paths.directories]
    kinds: NDArray[np.int64] = np.array(of_directory, np.int64)[paths.directory]
    rows = np.flatnonzero(is_special)
    if len(rows):
        kinds[rows] = [_path_kind(path) for path in rows_of(column, rows).to_pylist()]
    return kinds


def _path_kind(path: str) -> int:
    matches = (i for i, (_, pattern) in enumerate(_PATH_KINDS) if pattern.search(path))
    return next(matches, NULL_CODE)


def of_graphs(table: StatsTable) -> NDArray[np.bool_]:
    """Return which rows are about operators of graphs, which a configuration selects by name."""
    path_kinds = _path_kinds(table)
    names = set(map(file_form, _texts(table, "op_name")))
    rows, operators = grouped(table, "op_type", "op_name", "model")
    kinds = (_kind_of_operator(*operator, names=names) for operator in operators)
    is_of_graph = np.array([kind in ("model", "unknown") for kind in kinds], np.bool_)[rows]
    is_of_graph &= np.isin(path_kinds, (NULL_CODE, _KINDS.index("converted")))
    return is_of_graph


def _kind_of_operator(
    op_type: str | None, op_name: str | None, model: str | None, *, names: set[str]
) -> DumpKind:
    # An operator's own name may contain _To_; in a pair, another operator's name follows it.
    _, is_pair, watched = file_form(op_name).rpartition("_To_")
    if is_pair and watched in names:
        return "watcher"
    if is_kernel(op_type):
        return "single operator"
    return "unknown" if model is None else "model"


def _is_no_record(path_kinds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows are no overflow records, which look like files of operators."""
    is_other: NDArray[np.bool_] = path_kinds != _KINDS.index("overflow")
    return is_other


def _without_records(table: StatsTable) -> StatsTable:
    """Return the table without overflow records."""
    keep = _is_no_record(_path_kinds(table))
    return table if keep.all() else table[keep]


def _numbers(table: StatsTable, name: str) -> tuple[int, ...]:
    return tuple(np.unique(np.ma.compressed(table[name])).tolist())


def _texts(table: StatsTable, name: str) -> set[Any]:
    """Return the distinct texts of a column, with None for null."""
    return {text for (text,) in distinct(table, name)}


def _data(table: StatsTable) -> tuple[str, ...]:
    sources = _texts(table, "source")
    return tuple(sorted({"stats" if source == "csv" else "tensor" for source in sources}))


def missing(config: DumpConfig, what: What) -> list[str]:
    """Return what a dump lacks although its configuration promised it.

    Parameters
    ----------
    config
        The configuration that made the dump.
    what
        The dump, a `Dump`, or a table of it, at any level.

    Returns
    -------
    list of str
        Sentences; none if nothing is missing. Dumps that depend on events, such as overflows and
        exceptions, are not promised.
    """
    if not config.is_on or config.is_exception or config.is_overflow:
        return []
    table = headers_of(what)
    tensors = _without_records(table)
    lines = list(_missing_steps(config, tensors))
    if config.is_watcher:
        return lines + list(_missing_watched(config, tensors))
    present = _texts(tensors, "io")
    for io in ("input", "output"):
        if config.takes(io) and io not in present:
            lines.append(f"There are no {io}s, although dump_mode is {config.mode}.")
    if len(tensors) and config.data not in _data(tensors):
        lines.append(f"There are no {_DATA[config.data]}, although dump_data is {config.data}.")
    return lines + list(_missing_names(config, tensors))


def _missing_steps(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    spans = merged_ranges(step_spans(config.dump_step))
    expected = [step for first, last in spans for step in range(first, last + 1)[:_MAX_STEPS]]
    found = distinct(table, "rank", "step").keys()
    for rank in sorted({rank for rank, _ in found}, key=_null_first):
        if all(step is None for other, step in found if other == rank):
            continue
        absent = [step for step in expected if (rank, step) not in found]
        if absent:
            of_rank = "" if rank is None else f" of rank {rank}"
            yield f"Steps{of_rank} are missing: {listed(map(str, absent))}."


def _null_first(number: int | None) -> int:
    return -1 if number is None else number


def _missing_names(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    if config.level == "kernel":
        return
    entries = config.entries_in_force
    # The ranks and steps that have an operator, by its name; also by its model, if entries are for
    # models.
    present: defaultdict[tuple[str | None, str], set[_Part]] = defaultdict(set)
    parts: defaultdict[str | None, set[_Part]] = defaultdict(set)
    for model, op_name, rank, step in distinct(table, "model", "op_name", "rank", "step"):
        key = None if None in entries else file_form(model)
        present[key, file_form(op_name)].add((rank, step))
        parts[key].add((rank, step))
    for model, entry in entries.items():
        key = None if model is None else file_form(model)
        if model is not None and key not in parts:
            yield f"Model {quoted(model)} is missing."
            continue
        layer = entry.layer or ()
        absent = [name for name in layer if (key, file_form(name)) not in present]
        if absent:
            yield f"Operators{of_model(model)} are missing: {listed(map(quoted, absent))}."
        for name in layer:
            found = present.get((key, file_form(name)))
            if found and (lost := parts[key] - found):
                operator = f"Operator {quoted(name)}{of_model(model)}"
                yield f"{operator} is missing in {listed(_parts_texts(lost))}."


def _parts_texts(parts: Iterable[_Part]) -> Iterator[str]:
    for rank, step in sorted(parts, key=lambda part: tuple(map(_null_first, part))):
        of_rank = "" if rank is None else f" of rank {rank}"
        yield f"step {'unknown' if step is None else step}{of_rank}"


def _missing_watched(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    entry = config.entries_in_force.get(None)
    if entry is None:
        return
    present = set(map(file_form, _texts(table, "op_name")))
    for watched in entry.watcher_nodes or ():
        name = file_form(watched)
        if name not in present:
            yield f"The watched operator {quoted(watched)} itself is missing."
        absent = [
            executed
            for executed in entry.layer or ()
            # No output is dumped again after an operator that is watched itself.
            if executed not in (entry.watcher_nodes or ())
            and f"{file_form(executed)}_To_{name}" not in present
        ]
        if absent:
            yield f"{quoted(watched)} was not dumped again after {listed(map(quoted, absent))}."
