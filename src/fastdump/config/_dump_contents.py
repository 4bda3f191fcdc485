"""What a dump is, and what of it is missing that its configuration promised."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fastdump.config._dump_step import step_ranges
from fastdump.config._findings import shown
from fastdump.config._model import DumpConfig
from fastdump.config._selection import distinct, file_form, is_kernel

if TYPE_CHECKING:
    from fastdump import StatsTable

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

_RECORD = re.compile(r"op_?debug\.node_op_?debug\.", re.IGNORECASE)
_EXCEPTIONS = re.compile(r"(^|/)extra-info/data-dump(/|$)")
_CUSTOM = re.compile(r"\.custom\.[0-9]{17}$")
_CONVERTED = re.compile(r"\.npy$")
# {time}/{device}: no model, which operators that are run one by one do not have.
_ONE_BY_ONE = re.compile(r"(^|/)[0-9]{13,14}/[0-9]+$")
_DATA = {"tensor": "tensors", "stats": "statistics"}
_MAX_STEPS = 10_000
_MAX_NAMES = 10


@dataclass(frozen=True)
class DumpContents:
    """What a dump is, by the names and headers of its files.

    Attributes
    ----------
    kinds
        Some of "model", "single operator" (run one by one), "overflow", "watcher", "exception",
        "custom" (saved by a program), "converted" (arrays made from a dump) and "unknown" (paths do
        not tell). Several if the dump has several, as one of overflows has the operators' own.
    data
        Some of "tensor", "stats".
    mode
        "input", "output" or "all" (both); None if no file has a tensor.
    ranks, devices, steps, models, times
        Those that paths tell, sorted.
    n_files, n_operators
        Files, and operators by type and name; records of overflows are files only.
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


def describe_dump(table: StatsTable) -> DumpContents:
    """Return what a dump is.

    Parameters
    ----------
    table
        Of the dump, at any level: only names and headers count.

    Returns
    -------
    DumpContents
    """
    path_kinds = _path_kinds(table)
    names = {file_form(op_name) for op_name in set(table["op_name"].tolist())}
    columns = (table[name].tolist() for name in ("op_type", "op_name", "model"))
    kinds = {
        kind or _kind_of_operator(op_type, op_name, model, names)
        for kind, op_type, op_name, model in set(zip(path_kinds, *columns, strict=True))
    }
    operators = _without_records(table, path_kinds)
    io = set(table["io"].tolist())
    mode = "all" if {"input", "output"} <= io else "input" if "input" in io else None
    return DumpContents(
        kinds=tuple(sorted(kinds)),
        data=_data(table),
        mode="output" if mode is None and "output" in io else mode,
        ranks=_numbers(table, "rank"),
        devices=_numbers(table, "device"),
        steps=_numbers(table, "step"),
        models=_texts(table, "model"),
        times=_texts(table, "time"),
        n_files=len(set(table["path"].tolist())),
        n_operators=len(distinct(operators, "op_type", "op_name").keys() - {(None, None)}),
    )


def _path_kinds(table: StatsTable) -> list[DumpKind | None]:
    """Return of each row the kind that its path tells, None if that depends on its operator."""
    paths = table["path"].tolist()
    kinds = {path: _path_kind(path) for path in set(paths)}
    return [kinds[path] for path in paths]


def _path_kind(path: str) -> DumpKind | None:
    directory, _, name = path.rpartition("/")
    if _RECORD.match(name):
        return "overflow"
    if name.startswith("exception_info.") or _EXCEPTIONS.search(directory):
        return "exception"
    if _CUSTOM.search(name):
        return "custom"
    if _CONVERTED.search(name):
        return "converted"
    return "single operator" if _ONE_BY_ONE.search(directory) else None


def _kind_of_operator(
    op_type: str | None, op_name: str | None, model: str | None, names: set[str]
) -> DumpKind:
    # A name that merely has _To_ in it does not end in that of another operator.
    _, is_pair, watched = file_form(op_name).rpartition("_To_")
    if is_pair and watched in names:
        return "watcher"
    if is_kernel(op_type):
        return "single operator"
    return "unknown" if model is None else "model"


def _without_records(table: StatsTable, path_kinds: list[DumpKind | None]) -> StatsTable:
    """Return the table without records of overflows, whose files look like those of operators."""
    return table[np.array([kind != "overflow" for kind in path_kinds], np.bool_)]


def _numbers(table: StatsTable, name: str) -> tuple[int, ...]:
    return tuple(np.unique(np.ma.compressed(table[name])).tolist())


def _texts(table: StatsTable, name: str) -> tuple[str, ...]:
    return tuple(sorted(set(table[name].tolist()) - {None}))


def _data(table: StatsTable) -> tuple[str, ...]:
    return tuple(sorted({"stats" if source == "csv" else "tensor" for source in table["source"]}))


def missing(config: DumpConfig, table: StatsTable) -> list[str]:
    """Return what a configuration promised and a dump does not have.

    Parameters
    ----------
    config
        With which the dump was made.
    table
        Of the dump, at any level.

    Returns
    -------
    list of str
        Sentences; none if nothing is missing. What depends on events, such as overflows and
        exceptions, was not promised.
    """
    if not config.is_on or config.is_exception:
        return []
    tensors = _without_records(table, _path_kinds(table))
    lines = list(_missing_steps(config, tensors))
    if config.is_overflow:
        return []
    if config.is_watcher:
        return lines + list(_missing_watched(config, tensors))
    io = set(tensors["io"].tolist())
    for name in ("input", "output"):
        if config.mode in (name, "all") and name not in io:
            lines.append(f"There are no {name}s, dump_mode is {config.mode}.")
    if len(tensors) and config.data not in _data(tensors):
        lines.append(f"There are no {_DATA[config.data]}, dump_data is {config.data}.")
    return lines + list(_missing_names(config, tensors))


def _missing_steps(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    ranges = step_ranges(config.dump_step)
    if ranges is None:
        return
    expected = sorted({step for span in ranges for step in span[:_MAX_STEPS]})
    found = distinct(table, "rank", "step").keys()
    for rank in sorted({rank for rank, _ in found}, key=_null_first):
        if all(step is None for other, step in found if other == rank):
            continue
        absent = [step for step in expected if (rank, step) not in found]
        if absent:
            where = "" if rank is None else f" of rank {rank}"
            yield f"Steps{where} are missing: {_listed(map(str, absent))}."


def _null_first(number: int | None) -> int:
    return -1 if number is None else number


def _missing_names(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    if config.level == "kernel":
        return
    entries = config.entries_in_force
    # By model, where an entry is for one, and operator: the ranks and steps that have it.
    present: defaultdict[tuple[str | None, str], set[_Part]] = defaultdict(set)
    parts: defaultdict[str | None, set[_Part]] = defaultdict(set)
    for model, op_name, rank, step in distinct(table, "model", "op_name", "rank", "step"):
        key = None if None in entries else file_form(model)
        present[key, file_form(op_name)].add((rank, step))
        parts[key].add((rank, step))
    for model, entry in entries.items():
        key = None if model is None else file_form(model)
        if model is not None and key not in parts:
            yield f"Nothing is there of model {shown(model)}."
            continue
        of_model = "" if model is None else f" of model {shown(model)}"
        layer = entry.layer or ()
        absent = [name for name in layer if (key, file_form(name)) not in present]
        if absent:
            yield f"Operators{of_model} are missing: {_listed(map(shown, absent))}."
        for name in layer:
            found = present.get((key, file_form(name)))
            if found and (lost := parts[key] - found):
                yield f"Operator {shown(name)}{of_model} is missing in {_parts_text(lost)}."


def _parts_text(parts: Iterable[_Part]) -> str:
    ordered = sorted(parts, key=lambda part: (_null_first(part[0]), _null_first(part[1])))
    return _listed(
        f"step {'unknown' if step is None else step}{'' if rank is None else f' of rank {rank}'}"
        for rank, step in ordered
    )


def _missing_watched(config: DumpConfig, table: StatsTable) -> Iterator[str]:
    entry = config.entries_in_force.get(None)
    if entry is None:
        return
    present = {file_form(op_name) for op_name in set(table["op_name"].tolist())}
    for watched in entry.watcher_nodes or ():
        name = file_form(watched)
        if name not in present:
            yield f"The watched operator {shown(watched)} itself is missing."
        absent = [
            executed
            for executed in entry.layer or ()
            # An operator that is watched itself gives no second dump.
            if executed not in (entry.watcher_nodes or ())
            and f"{file_form(executed)}_To_{name}" not in present
        ]
        if absent:
            yield f"{shown(watched)} is missing as it was after {_listed(map(shown, absent))}."


def _listed(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = len(listed) - _MAX_NAMES
    return ", ".join(listed[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")
