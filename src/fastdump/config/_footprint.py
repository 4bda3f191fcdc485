"""How large a dump may become, given a dump or a table of statistics of the same model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._quantities import counted, size_text
from fastdump.config._dump_step import step_ranges
from fastdump.config._findings import shown
from fastdump.config._model import DumpConfig
from fastdump.config._selection import distinct, file_form, selected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump import StatsTable

# What a row of the vendor's CSV takes, and the line of titles of each file, about.
_CSV_ROW_NBYTES = 100
_CSV_TITLES_NBYTES = 130
_MAX_NAMES = 10


@dataclass(frozen=True)
class Footprint:
    """The size of the dump that a configuration would make of a known model.

    Attributes
    ----------
    n_tensors, nbytes
        In one step of one rank, on average over those that the table has; `nbytes` is None if
        what is dumped depends on what happens.
    n_ranks
        Ranks in the table, at least 1.
    n_steps
        Steps that dump_step selects; None if it selects all.
    largest
        Size in bytes of the inputs and outputs of the largest operator.
    unknown
        Operators and models of the configuration that the table does not have.
    has_inputs, has_outputs
        Whether the table has any: what it lacks cannot be counted.
    """

    n_tensors: int
    nbytes: int | None
    n_ranks: int
    n_steps: int | None
    largest: int
    unknown: tuple[str, ...]
    has_inputs: bool
    has_outputs: bool

    def sentences(self, config: DumpConfig) -> list[str]:
        """Return this in words."""
        if self.nbytes is None:
            cause = "fail" if config.is_exception else "overflow"
            size = size_text(self.largest)
            return [f"It depends on which operators {cause}: the largest here has {size}."]
        each = f"{counted(self.n_tensors, 'tensor')}, about {size_text(self.nbytes)}"
        lines = [f"Each step of each rank: {each}."]
        if self.n_steps is not None:
            total = size_text(self.nbytes * self.n_steps * self.n_ranks)
            times = f"{counted(self.n_steps, 'step')} on {counted(self.n_ranks, 'rank')}"
            lines.append(f"{times}: about {total}.")
        elif self.n_ranks > 1:
            total = size_text(self.nbytes * self.n_ranks)
            lines.append(f"Each step on {counted(self.n_ranks, 'rank')}: about {total}.")
        for name, has in (("input", self.has_inputs), ("output", self.has_outputs)):
            if not has and config.mode in (name, "all"):
                lines.append(f"Not counted: {name}s, of which the example has none.")
        if self.unknown:
            names = ", ".join(map(shown, self.unknown[:_MAX_NAMES]))
            more = len(self.unknown) - _MAX_NAMES
            lines.append(f"Not in the example: {names}{f' and {more} more' if more > 0 else ''}.")
        return lines


def footprint(config: DumpConfig, table: StatsTable) -> Footprint:
    """Return how large the dump of a configuration may become.

    Parameters
    ----------
    config
        Must switch something on.
    table
        Of a dump of the same model, whatever was dumped of it; no statistic is needed.

    Returns
    -------
    Footprint
    """
    tensors = table[np.array([io is not None for io in table["io"]], np.bool_)]
    depends = config.is_exception or config.is_overflow
    # How often each row is dumped.
    if depends:
        times = np.zeros(len(tensors), np.int64)
    elif config.is_watcher:
        times = _times_watched(config, tensors)
    else:
        times = selected(config, tensors).astype(np.int64)
    n_parts = len(distinct(tensors, "rank", "step")) or 1
    sizes = np.ma.filled(tensors["nbytes"], 0)
    nbytes: int | None = int((sizes * times).sum())
    if depends:
        nbytes = None
    elif config.data == "stats":
        n_files = len(set(tensors["path"][times > 0].tolist()))
        nbytes = int(times.sum()) * _CSV_ROW_NBYTES + n_files * _CSV_TITLES_NBYTES
    ranges = step_ranges(config.dump_step)
    io = set(tensors["io"].tolist())
    return Footprint(
        n_tensors=-(-int(times.sum()) // n_parts),
        nbytes=None if nbytes is None else -(-nbytes // n_parts),
        n_ranks=len(distinct(tensors, "rank")) or 1,
        n_steps=None if ranges is None else _n_distinct(ranges),
        largest=_largest(tensors["path"].tolist(), sizes),
        unknown=() if depends else _unknown(config, tensors),
        has_inputs="input" in io,
        has_outputs="output" in io,
    )


def _n_distinct(ranges: Iterable[range]) -> int:
    """Return how many numbers the ranges have together, without listing them."""
    n, end = 0, 0
    for span in sorted(ranges, key=lambda span: (span.start, span.stop)):
        n += max(0, span.stop - max(span.start, end))
        end = max(end, span.stop)
    return n


def _largest(paths: list[str], sizes: NDArray[np.int64]) -> int:
    numbers: dict[str, int] = {}
    file_of = [numbers.setdefault(path, len(numbers)) for path in paths]
    totals = np.zeros(len(numbers), np.int64)
    np.add.at(totals, file_of, sizes)
    return int(totals.max(initial=0))


def _times_watched(config: DumpConfig, table: StatsTable) -> NDArray[np.int64]:
    """Return how often each row is dumped: outputs of watched operators, after each operator."""
    times = np.zeros(len(table), np.int64)
    entry = config.entries_in_force.get(None)
    if entry is None:
        return times
    watched = set(map(file_form, entry.watcher_nodes or ()))
    layer = None if entry.layer is None else set(map(file_form, entry.layer))
    executed = Counter(
        (rank, step)
        for rank, step, name in {
            (rank, step, file_form(op_name))
            for rank, step, op_name in distinct(table, "rank", "step", "op_name")
        }
        if name not in watched and (layer is None or name in layer)
    )
    names = {name for name in set(table["op_name"].tolist()) if file_form(name) in watched}
    rows = zip(*(table[name].tolist() for name in ("op_name", "io", "rank", "step")), strict=True)
    for i, (op_name, io, rank, step) in enumerate(rows):
        if io == "output" and op_name in names:
            times[i] = 1 + executed[rank, step]
    return times


def _unknown(config: DumpConfig, table: StatsTable) -> tuple[str, ...]:
    known = {file_form(name) for name in {*table["op_name"].tolist(), *table["model"].tolist()}}
    wanted: list[str] = []
    for model, entry in config.entries_in_force.items():
        wanted += [] if model is None else [model]
        wanted += [*(entry.layer or ()), *(entry.watcher_nodes or ())]
        for span in entry.opname_range or ():
            wanted += [name for name in (span.begin, span.end) if name]
    return tuple(dict.fromkeys(name for name in wanted if file_form(name) not in known))
