"""The size that a dump may have, estimated from a table of a dump of the same model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastdump._stats import What, headers_of
from fastdump._table.arrow_column import NULL_CODE, is_null, text_codes
from fastdump._table.stats_table import StatsTable
from fastdump._words.quantities import counted, merged_ranges, size_text
from fastdump.config._catches import Catch, Catches, PartCatch
from fastdump.config._dump_step import step_spans
from fastdump.config._model import DumpConfig
from fastdump.config._selection import distinct
from fastdump.config._wording import listed


@dataclass(frozen=True)
class Footprint:
    """The size of the dump that a configuration would make of a known model.

    Attributes
    ----------
    n_operators
        Operators by model and name.
    n_tensors, nbytes
        Tensors and bytes in one step of one rank, as an average over the steps and ranks of the
        table. `nbytes` is None if the size depends on what happens.
    n_ranks
        Ranks in the table, at least 1.
    n_steps
        Steps that dump_step selects; None if it selects all.
    largest
        Bytes of the inputs and outputs of the largest operator.
    rules
        What each rule of the configuration catches; none if that depends on what happens.
    parts
        What is caught in each step of each rank of the table that ``dump_step`` selects.
    has_inputs, has_outputs
        Whether the table has inputs, and outputs. If not, they are not counted.
    """

    n_operators: int
    n_tensors: int
    nbytes: int | None
    n_ranks: int
    n_steps: int | None
    largest: int
    rules: tuple[Catch, ...]
    parts: tuple[PartCatch, ...]
    has_inputs: bool
    has_outputs: bool

    @property
    def catches_nothing(self) -> bool:
        """Whether no operator of the example is dumped."""
        return self.nbytes is not None and self.n_operators == 0

    def sentences(self, config: DumpConfig) -> list[str]:
        """Return sentences that tell the size of the dump of `config`."""
        if self.nbytes is None:
            cause = "fail" if config.is_exception else "overflow"
            largest = f"the largest operator of the example has {size_text(self.largest)}"
            return [f"The size depends on which operators {cause}; {largest}."]
        each = f"{counted(self.n_tensors, 'tensor')}, about {size_text(self.nbytes)}"
        lines = [f"Each step of each rank: {each}."]
        if self.catches_nothing:
            lines.insert(0, "Nothing of the example is dumped.")
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
        if empty := [rule.rule for rule in self.rules if rule.is_empty]:
            lines.append(f"Nothing is caught by {listed(empty)}.")
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
    catches = None if depends else Catches(config, tensors)
    total = PartCatch(None, None, 0, 0, 0) if catches is None else catches.total()
    spans = merged_ranges(step_spans(config.dump_step))
    io = set(tensors["io"].tolist())
    return Footprint(
        n_operators=total.n_operators,
        n_tensors=total.n_tensors,
        nbytes=None if depends else total.nbytes,
        n_ranks=len(distinct(tensors, "rank")) or 1,
        n_steps=sum(last - first + 1 for first, last in spans) or None,
        largest=_largest(tensors),
        rules=() if catches is None else tuple(catches.rules()),
        parts=() if catches is None else tuple(catches.parts()),
        has_inputs="input" in io,
        has_outputs="output" in io,
    )


def _largest(table: StatsTable) -> int:
    files = text_codes(table.batch.column("path"))
    totals = np.zeros(files.max(initial=NULL_CODE) + 1, np.int64)
    np.add.at(totals, files, np.ma.filled(table["nbytes"], 0))
    return int(totals.max(initial=0))
