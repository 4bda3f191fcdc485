"""What each rule of a configuration catches of a dump of the same model."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fastdump._table.arrow_column import text_codes
from fastdump._table.stats_table import StatsTable
from fastdump._words.quantities import integers_text
from fastdump.config._dump_step import step_spans, without_steps
from fastdump.config._json_places import JsonPath
from fastdump.config._keys import BLACKLISTS, ROOT
from fastdump.config._model import BlacklistItem, DumpConfig, ListEntry
from fastdump.config._patterns import wildcard_in
from fastdump.config._selection import (
    distinct,
    file_form,
    grouped,
    is_kernel,
    selected,
    spellings,
)
from fastdump.config._wording import listed, of_model, path_text, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The usual sizes of a row and of the line of titles in a CSV file of the vendor's.
_CSV_ROW_NBYTES = 100
_CSV_TITLES_NBYTES = 130

Rows: TypeAlias = "NDArray[np.int64]"
_NO_ROWS: Rows = np.empty(0, np.int64)


@dataclass(frozen=True)
class Catch:
    """What one rule of a configuration catches of an example.

    Attributes
    ----------
    place
        Path of the rule in the file: ``dump.dump_list[0].layer[3]``.
    rule
        The rule in words: ``layer "conv1"``.
    n_operators
        Operators by model and name.
    n_tensors, nbytes
        Tensors and bytes in one step of one rank, as an average. An item of a blacklist has those
        that it leaves out. None if the example has no tensor of the kinds that are dumped.
    note
        Why it is nothing, or not all; empty if there is nothing to say.
    """

    place: str
    rule: str
    n_operators: int
    n_tensors: int | None
    nbytes: int | None
    note: str

    also_in_json = ("is_empty",)

    @property
    def is_empty(self) -> bool:
        """Whether the rule catches nothing."""
        return self.n_operators == 0 or self.n_tensors == 0


@dataclass(frozen=True)
class PartCatch:
    """What a configuration catches in one step of one rank of an example.

    Attributes
    ----------
    rank, step
        None if the paths tell none.
    n_operators, n_tensors, nbytes
        Operators, tensors and bytes.
    """

    rank: int | None
    step: int | None
    n_operators: int
    n_tensors: int
    nbytes: int


class Catches:
    """Counts what a configuration, and each of its rules, catches of the tensors of an example."""

    def __init__(self, config: DumpConfig, tensors: StatsTable) -> None:
        self._config = config
        self._part, self._parts = grouped(tensors, "rank", "step")
        self._operator, self._operators = grouped(tensors, "model", "op_type", "op_name")
        self._position, self._positions = grouped(tensors, "io", "index")
        self._file = text_codes(tensors.batch.column("path"))
        self._nbytes: NDArray[np.int64] = np.ma.filled(tensors["nbytes"], 0)
        self._rows_by_operator = np.argsort(self._operator, kind="stable")
        self._ends = np.cumsum(np.bincount(self._operator, minlength=len(self._operators)))
        self._by_name: defaultdict[str, list[int]] = defaultdict(list)
        for i, (_, _, op_name) in enumerate(self._operators):
            self._by_name[op_name or ""].append(i)
        self._spelled = {file_form(name): name for name in self._by_name}
        # Which rows are of operators that are dumped, whichever of their tensors are.
        if config.is_watcher:
            self._times = _times_watched(config, tensors)
            self._is_reached = self._times > 0
        else:
            self._times = selected(config, tensors).astype(np.int64)
            self._is_reached = selected(_all_tensors(config), tensors)
        self._tensors = tensors

    def total(self) -> PartCatch:
        """Return what is caught in one step of one rank, as an average."""
        rows = np.flatnonzero(self._is_reached)
        return PartCatch(None, None, *self._counts(rows, len(self._parts)))

    def parts(self) -> Iterator[PartCatch]:
        """Yield what is caught in each step of each rank of the example that is dumped."""
        spans = step_spans(self._config.dump_step)
        rows = np.flatnonzero(self._is_reached)
        rows = rows[np.argsort(self._part[rows], kind="stable")]
        ends = np.cumsum(np.bincount(self._part[rows], minlength=len(self._parts)))
        of_parts = np.split(rows, ends[:-1])
        for (rank, step), of_part in zip(self._parts, of_parts, strict=False):
            if step is None or not spans or any(first <= step <= last for first, last in spans):
                yield PartCatch(rank, step, *self._counts(of_part))

    def rules(self) -> Iterator[Catch]:
        """Yield what each rule catches."""
        config = self._config
        yield from self._of_modes()
        yield from self._of_levels()
        yield from self._of_steps()
        in_force = set(map(id, config.entries_in_force.values()))
        for i, entry in enumerate(config.dump_list or ()):
            path = ("dump_list", i)
            if id(entry) in in_force:
                yield from self._of_entry(entry, path)
            else:
                yield self._catch(path, f"entry {i}", _NO_ROWS, "it does not count")

    def _of_modes(self) -> Iterator[Catch]:
        for io in ("input", "output"):
            if self._config.takes(io):
                is_of_kind = np.array([kind == io for kind, _ in self._positions], np.bool_)
                rows = np.flatnonzero(self._is_reached & is_of_kind[self._position])
                yield self._catch(("dump_mode",), f"dump_mode {self._config.mode}: {io}s", rows)

    def _of_levels(self) -> Iterator[Catch]:
        level = self._config.dump_level
        for without, what, is_meant in (
            ("kernel", "operators of graphs", ~self._is_of_kernel()),
            ("op", "kernels", self._is_of_kernel()),
        ):
            if level not in (None, without) and not self._config.is_watcher:
                rows = np.flatnonzero(self._is_reached & is_meant)
                yield self._catch(("dump_level",), f"dump_level {level}: {what}", rows)

    def _of_steps(self) -> Iterator[Catch]:
        steps = [step for _, step in self._parts if step is not None]
        for first, last in step_spans(self._config.dump_step) if steps else ():
            is_in = [step is not None and first <= step <= last for _, step in self._parts]
            rows = np.flatnonzero(self._is_reached & np.array(is_in, np.bool_)[self._part])
            is_absent = any(without_steps([(first, last)], steps))
            note = f"the example has steps {integers_text(steps)}" if is_absent else ""
            rule = f"dump_step {first}" if first == last else f"dump_step {first}-{last}"
            yield self._catch(("dump_step",), rule, rows, note, n_parts=sum(is_in))

    def _of_entry(self, entry: ListEntry, path: JsonPath) -> Iterator[Catch]:
        """Yield what an entry that counts catches, then each name in it."""
        model = entry.model_name
        is_of_entry = self._is_reached & ~self._is_of_kernel()
        if model is not None:
            is_of_model = [found == file_form(model) for found, _, _ in self._operators]
            is_of_entry &= np.array(is_of_model, np.bool_)[self._operator]
        rows = np.flatnonzero(is_of_entry)
        yield self._catch(path, f"entry {path[-1]}{of_model(model) or ' of all models'}", rows)
        for j, name in enumerate(entry.watcher_nodes or ()):
            named = self._called(name, is_of_entry)
            rule = f"watcher_nodes {_whole(name)}"
            yield self._catch((*path, "watcher_nodes", j), rule, named, self._why_not(name))
        for j, name in enumerate(entry.layer or ()):
            rule = f"layer {_whole(name)}"
            if self._config.is_watcher:
                yield self._after(name, entry, (*path, "layer", j), rows)
            else:
                named = self._called(name, is_of_entry)
                yield self._catch((*path, "layer", j), rule, named, self._why_not(name))
        for j, span in enumerate(entry.opname_range or ()):
            alone = dataclasses.replace(entry, layer=None, opname_range=(span,))
            one = dataclasses.replace(self._config, dump_list=(alone,))
            is_inside = is_of_entry & selected(_all_tensors(one), self._tensors)
            rule = f"opname_range {_whole(span.begin or '')} to {_whole(span.end or '')}"
            yield self._catch((*path, "opname_range", j), rule, np.flatnonzero(is_inside))
        for key in BLACKLISTS:
            for j, item in enumerate(getattr(entry, key) or ()):
                yield self._left_out(item, key, (*path, key, j), is_of_entry)

    def _after(self, name: str, entry: ListEntry, path: JsonPath, watched: Rows) -> Catch:
        """Return what is dumped again after an operator has run."""
        executed = self._called(name)
        if name in (entry.watcher_nodes or ()):
            watched = _NO_ROWS
        again = watched[np.isin(self._part[watched], self._part[executed])]
        amount = self._amount(again, np.ones(len(again), np.int64), len(self._parts))
        counts = (self._n_operators(executed), *amount)
        return _catch(path, f"layer {_whole(name)}", counts, self._why_not(name))

    def _left_out(
        self, item: BlacklistItem, key: str, path: JsonPath, is_of_entry: NDArray[np.bool_]
    ) -> Catch:
        """Return what an item of a blacklist leaves out."""
        i = 1 if key == "optype_blacklist" else 2
        is_meant = [operator[i] in spellings(item.name or "") for operator in self._operators]
        is_out = [
            self._config.takes(io) and f"{io}{index}" in (item.pos or ())
            for io, index in self._positions
        ]
        rows = np.flatnonzero(
            is_of_entry
            & np.array(is_meant, np.bool_)[self._operator]
            & np.array(is_out, np.bool_)[self._position]
        )
        amount = self._amount(rows, np.ones(len(rows), np.int64), len(self._parts))
        rule = f"{key} {_whole(item.name or '')} {listed(item.pos or ())}"
        return _catch(path, rule, (self._n_operators(rows), *amount), "left out")

    def _is_of_kernel(self) -> NDArray[np.bool_]:
        found = [is_kernel(op_type) for _, op_type, _ in self._operators]
        return np.array(found, np.bool_)[self._operator]

    def _called(self, name: str, among: NDArray[np.bool_] | None = None) -> Rows:
        """Return the rows of the operators of a name, those among others if these are given."""
        operators = [i for spelling in spellings(name) for i in self._by_name.get(spelling, ())]
        begins = [self._ends[i - 1] if i else 0 for i in operators]
        parts = [
            self._rows_by_operator[begin : self._ends[i]]
            for i, begin in zip(operators, begins, strict=True)
        ]
        rows = np.concatenate([_NO_ROWS, *parts])
        return rows if among is None else rows[among[rows]]

    def _why_not(self, name: str) -> str:
        """Return what is wrong with a name that no operator has; empty if that is not known."""
        if any(spelling in self._by_name for spelling in spellings(name)):
            return ""
        if character := wildcard_in(name):
            return f"{character} is taken literally"
        real = self._spelled.get(file_form(name))
        return "" if real is None else f"the operator is called {_whole(real)}"

    def _catch(
        self, path: JsonPath, rule: str, rows: Rows, note: str = "", *, n_parts: int | None = None
    ) -> Catch:
        """Return what a rule catches that is about some rows of operators that are dumped."""
        n_parts = len(self._parts) if n_parts is None else n_parts
        counts = self._counts(rows, n_parts)
        takes_any = any(self._config.takes(io) for io, _ in self._positions)
        return _catch(path, rule, counts if takes_any else (counts[0], None, None), note)

    def _counts(self, rows: Rows, n_parts: int = 1) -> tuple[int, int, int]:
        """Return operators, and tensors and bytes of one of so many parts, of some rows."""
        return (self._n_operators(rows), *self._amount(rows, self._times[rows], n_parts))

    def _n_operators(self, rows: Rows) -> int:
        return len({self._operators[i][::2] for i in np.unique(self._operator[rows]).tolist()})

    def _amount(self, rows: Rows, times: Rows, n_parts: int = 1) -> tuple[int, int]:
        """Return the tensors and bytes of one of so many parts of rows that are dumped n times."""
        n_tensors, nbytes = int(times.sum()), int((self._nbytes[rows] * times).sum())
        if self._config.data == "stats":
            n_files = len(np.unique(self._file[rows[times > 0]]))
            nbytes = n_tensors * _CSV_ROW_NBYTES + n_files * _CSV_TITLES_NBYTES
        return -(-n_tensors // (n_parts or 1)), -(-nbytes // (n_parts or 1))


def _catch(
    path: JsonPath, rule: str, counts: tuple[int, int | None, int | None], note: str
) -> Catch:
    return Catch(path_text((*ROOT, *path)), rule, *counts, note)


def _whole(name: str) -> str:
    """Return a name in quotation marks, cut only if no model has one of its length."""
    return quoted(name, 500)


def _all_tensors(config: DumpConfig) -> DumpConfig:
    """Return the configuration with all tensors of the operators that it dumps."""
    entries = config.dump_list and tuple(
        dataclasses.replace(entry, **dict.fromkeys(BLACKLISTS)) for entry in config.dump_list
    )
    return dataclasses.replace(config, dump_mode="all", dump_list=entries)


def _times_watched(config: DumpConfig, table: StatsTable) -> NDArray[np.int64]:
    """Return how often each row is dumped: a watched output once, and once after each operator."""
    times = np.zeros(len(table), np.int64)
    entry = config.entries_in_force.get(None)
    if entry is None:
        return times
    watched = _spelled(entry.watcher_nodes or ())
    layer = None if entry.layer is None else _spelled(entry.layer)
    executed = Counter(
        (rank, step)
        for rank, step, name in distinct(table, "rank", "step", "op_name")
        if name not in watched and (layer is None or name in layer)
    )
    rows = zip(*(table[name].tolist() for name in ("op_name", "io", "rank", "step")), strict=True)
    for i, (op_name, io, rank, step) in enumerate(rows):
        if io == "output" and op_name in watched:
            times[i] = 1 + executed[rank, step]
    return times


def _spelled(names: Iterable[str]) -> frozenset[str]:
    return frozenset(spelling for name in names for spelling in spellings(name))
