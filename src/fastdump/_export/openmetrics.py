"""OpenMetrics text: a gauge for each statistic, of the last step of each rank.

A label for the step would make new time series of each step, for which Prometheus is not made.
https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from fastdump._core import __version__
from fastdump._export.aggregates import STATISTICS, Aggregates, groups_of
from fastdump._table.arrow_column import integer_array, is_null
from fastdump._table.stats_table import StatsTable
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def exposition(table: StatsTable) -> str:
    """Return the text of a table with statistics; `openmetrics_text` says what is in it."""
    return "".join(f"{line}\n" for line in _lines(table))


def _lines(table: StatsTable) -> Iterator[str]:
    dump = {"dump": ", ".join(table.roots), "level": table.level, "version": __version__}
    yield from _family("fastdump_dump", "info", "What was read, and by which version.")
    yield f"fastdump_dump_info{_labels(dump)} 1"
    last = _of_last_steps(table)
    steps = Aggregates.of(last, ("rank", "step")).keys
    yield from _family("fastdump_step", "gauge", "The last step of a rank.")
    for rank, step in zip(steps["rank"], steps["step"], strict=True):
        if step is not None:
            yield f"fastdump_step{_labels({'rank': rank})} {step}"
    groups = Aggregates.of(last, ("rank", "layer"))
    places = list(zip(groups.keys["rank"], groups.keys["layer"], strict=True))
    labels = [_labels({"rank": rank, "layer": layer}) for rank, layer in places]
    for statistic in STATISTICS:
        if statistic.name not in groups.values:
            continue
        name = f"fastdump_{statistic.name}"
        yield from _family(name, "gauge", statistic.meaning, statistic.unit)
        values = groups.values[statistic.name]
        for group in np.flatnonzero(np.isfinite(values)).tolist():
            yield f"{name}{labels[group]} {float(values[group])!r}"
    yield "# EOF"


def _of_last_steps(table: StatsTable) -> StatsTable:
    """Return the rows of the last step of each rank, and those that tell no step."""
    batch = table.batch
    rank, first = groups_of(batch, ("rank",))
    step, known = integer_array(batch.column("step")), ~is_null(batch.column("step"))
    last = np.full(len(first), np.iinfo(np.int64).min)
    np.maximum.at(last, rank[known], step[known])
    rows: NDArray[np.bool_] = ~known | (step == last[rank])
    return table[rows]


def _family(name: str, type: str, meaning: str, unit: str = "") -> Iterator[str]:
    yield f"# TYPE {name} {type}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {meaning}"


def _labels(labels: Mapping[str, int | str | None]) -> str:
    """Return labels in braces; without those that are None or empty, which would mean the same."""
    known = (
        f'{name}="{_escaped(str(value))}"'
        for name, value in labels.items()
        if value is not None and value != ""
    )
    text = ",".join(known)
    return f"{{{text}}}" if text else ""


def _escaped(text: str) -> str:
    # Line ends are control characters, which `printable` has made visible.
    return printable(text).replace("\\", r"\\").replace('"', r"\"")
