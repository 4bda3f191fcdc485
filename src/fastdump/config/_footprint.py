"""The size that a dump may have, estimated from a table of a dump of the same model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._stats import What, headers_of
from fastdump._table.arrow_column import NULL_CODE, is_null, text_codes
from fastdump._table.stats_table import StatsTable
from fastdump._words.quantities import counted, merged_ranges, size_text
from fastdump.config._dump_step import step_spans
from fastdump.config._model import DumpConfig
from fastdump.config._selection import distinct, file_form, selected
from fastdump.config._wording import listed, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The usual sizes of a row and of the line of titles in a CSV file of the vendor's.
_CSV_ROW_NBYTES = 100
_CSV_TITLES_NBYTES = 130


@dataclass(frozen=True)
class Footprint:
    """The size of the dump that a configuration would make of a known model.

    Attributes
    ----------
    n_tensors, nbytes
        Tensors and bytes in one step of one rank, as an average over the steps and ranks of the
        table. `nbytes` is None if the size depends on what happens.
    n_ranks
        Ranks in the table, at least 1.
    n_steps
        Steps that dump_step selects; None if it selects all.
    largest
        Bytes of the inputs and outputs of the largest operator.
    unknown
        Operators and models of the configuration that the table does not have.
    has_inputs, has_outputs
        Whether the table has inputs, and outputs. If not, they are not counted.
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
        """Return sentences that tell the size of the dump of `config`."""
        if self.nbytes is None:
            cause = "fail" if config.is_exception else "overflow"
            largest = f"the largest operator of the example has {size_text(self.largest)}"
            return [f"The size depends on which operators {cause}; {largest}."]
        each = f"{counted(self.n_tensors, 'tensor')}, about {size_text(self.nbytes)}"
        lines = [f"Each step of each rank: {each}."]
        ranks = counted(self.n_ranks, "rank")
        if self.n_steps is not None:
            total = size_text(self.nbytes * self.n_steps * self.n_ranks)
            lines.append(f"{counted(self.n_steps, 'step')} on {ranks}: about {total}.")
        elif self.n_ranks > 1:
            total = size_text(self.nbytes * self.n_ranks)
            lines.append(f"Each step on {ranks}: about {total}.")
        for io, has in (("input", self.has_inputs), ("output", self.has_outputs)):
            if not has and config.takes(io):
                lines.append(f"Not counted: {io}s, because the example has none.")
        if self.unknown:
            lines.append(f"Not in the example: {listed(map(quoted, self.unknown))}.")
        return lines


def footprint(config: DumpConfig, what: What) -> Footprint:
    """Return how large the dump of a configuration may become.

    Parameters
    ----------
    config
        A configuration that dumps something.
    what
        Any dump of the same model, a `Dump`, or a table of it, at any level.

    Returns
    -------
    Footprint
        The size, and what is not counted in it.
    """
    table = headers_of(what)
    tensors = table[~is_null(table.batch.column("io"))]
    depends = config.is_exception or config.is_overflow
    # The number of times that each row is dumped.
    if depends:
        times = np.zeros(len(tensors), np.int64)
    elif config.is_watcher:
        times = _times_watched(config, tensors)
    else:
        times = selected(config, tensors).astype(np.int64)
    n_parts = len(distinct(tensors, "rank", "step")) or 1
    sizes = np.ma.filled(tensors["nbytes"], 0)
    nbytes = int((sizes * times).sum())
    if config.data == "stats":
        n_files = len(set(tensors["path"][times > 0].tolist()))
        nbytes = int(times.sum()) * _CSV_ROW_NBYTES + n_files * _CSV_TITLES_NBYTES
    spans = merged_ranges(step_spans(config.dump_step))
    io = set(tensors["io"].tolist())
    return Footprint(
        n_tensors=-(-int(times.sum()) // n_parts),
        nbytes=None if depends else -(-nbytes // n_parts),
        n_ranks=len(distinct(tensors, "rank")) or 1,
        n_steps=sum(last - first + 1 for first, last in spans) or None,
        largest=_largest(tensors, sizes),
        unknown=() if depends else _unknown(config, tensors),
        has_inputs="input" in io,
        has_outputs="output" in io,
    )


def _largest(table: StatsTable, sizes: NDArray[np.int64]) -> int:
    files = text_codes(table.batch.column("path"))
    totals = np.zeros(files.max(initial=NULL_CODE) + 1, np.int64)
    np.add.at(totals, files, sizes)
    return int(totals.max(initial=0))


def _times_watched(config: DumpConfig, table: StatsTable) -> NDArray[np.int64]:
    """Return how often each row is dumped: a watched output once, and once after each operator."""
    times = np.zeros(len(table), np.int64)
    entry = config.entries_in_force.get(None)
    if entry is None:
        return times
    watched = set(map(file_form, entry.watcher_nodes or ()))
    layer = None if entry.layer is None else set(map(file_form, entry.layer))
    names = {name: file_form(name) for name in set(table["op_name"].tolist())}
    runs = {
        (*part, names[op_name]) for *part, op_name in distinct(table, "rank", "step", "op_name")
    }
    executed = Counter(
        (rank, step)
        for rank, step, name in runs
        if name not in watched and (layer is None or name in layer)
    )
    rows = zip(*(table[name].tolist() for name in ("op_name", "io", "rank", "step")), strict=True)
    for i, (op_name, io, rank, step) in enumerate(rows):
        if io == "output" and names[op_name] in watched:
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
