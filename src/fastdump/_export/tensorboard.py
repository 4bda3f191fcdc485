"""Event files of TensorBoard: a run for each rank, a point for each step.

TensorBoard's own package frames and encodes the events. Its `EventFileWriter` is not used, because
it writes into the file that TensorBoard sees: here a file gets its name when it is complete.
"""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastdump._atomic import replacing
from fastdump._export.aggregates import Aggregates
from fastdump._table.stats_table import StatsTable
from fastdump.errors import MissingDependencyError

_IN_NAME = "tfevents"
"""What TensorBoard takes a file for an event file by."""

_LARGEST = float(np.finfo(np.float32).max)


class _Point(NamedTuple):
    """The scalars of a step: tag, and value."""

    run: Path
    step: int
    began_s: float
    scalars: list[tuple[str, float]]


def check_installed() -> None:
    """Raise MissingDependencyError if TensorBoard is not installed."""
    try:
        import tensorboard.compat.proto.event_pb2
        import tensorboard.summary.writer.record_writer  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "an export for TensorBoard needs it: pip install 'fastdump[tensorboard]'"
        ) from None


def write_runs(table: StatsTable, logdir: Path, *, append: bool) -> list[Path]:
    """Write the event files of a table and return them; errors are those of `export_tensorboard`.

    Parameters
    ----------
    table
        The table, with statistics.
    logdir
        The directory that has the runs.
    append
        Whether a run may have event files already.
    """
    check_installed()
    by_step = Aggregates.of(table, ("rank", "step"))
    runs = [
        logdir / _run(rank, step)
        for rank, step in zip(by_step.keys["rank"], by_step.keys["step"], strict=True)
    ]
    if not append:
        _check_new(set(runs))
    written: list[Path] = []
    try:
        points = _points(table, by_step, runs)
        for run, of_run in itertools.groupby(points, key=lambda point: point.run):
            run.mkdir(parents=True, exist_ok=True)
            now = time.time()
            path = run / f"events.out.{_IN_NAME}.{now:010.0f}.fastdump.{secrets.token_hex(4)}"
            with replacing(path) as file:
                _write(file, now, of_run)
            written.append(path)
    except BaseException:
        # A part of the runs would look like all of them.
        for path in written:
            with suppress(OSError):
                path.unlink()
        raise
    return written


def _run(rank: int | None, step: int | None) -> str:
    """Return the directory of a run below the one that TensorBoard is given."""
    parts = [] if rank is None else [f"rank{rank}"]
    # On the axis of steps there is no place for what tells none.
    return "/".join([*parts, "no_step"] if step is None else parts)


def _check_new(runs: Iterable[Path]) -> None:
    """Raise FileExistsError if one of some directories has an event file."""
    for run in sorted(runs):
        with suppress(FileNotFoundError), os.scandir(run) as entries:
            if any(_IN_NAME in entry.name for entry in entries):
                what = "it has event files already: append to them, or take another directory"
                raise FileExistsError(errno.EEXIST, what, str(run))


def _points(table: StatsTable, by_step: Aggregates, runs: list[Path]) -> Iterator[_Point]:
    """Yield the points of all runs, run by run in the order of steps."""
    by_layer = Aggregates.of(table, ("rank", "step", "layer"))
    places = zip(by_layer.keys["rank"], by_layer.keys["step"], strict=True)
    groups = itertools.groupby(enumerate(places), key=lambda numbered: numbered[1])
    # Both are in the order of ranks and steps, and have the same ones.
    for i, ((_, step), of_step) in enumerate(groups):
        scalars = list(_scalars(by_step, i, "all"))
        for number, _ in of_step:
            layer = by_layer.keys["layer"][number]
            name = "no_layer" if layer is None else f"layer_{layer}"
            scalars += _scalars(by_layer, number, name)
        yield _Point(runs[i], step or 0, float(by_step.began_s[i]), scalars)


def _scalars(aggregates: Aggregates, group: int, name: str) -> Iterator[tuple[str, float]]:
    for statistic, values in aggregates.values.items():
        # NaN, which stands for what is not known, is not less than anything.
        if abs(value := float(values[group])) <= _LARGEST:
            yield f"{statistic}/{name}", value


def _write(file: Any, now: float, points: Iterable[_Point]) -> None:
    """Write the events of one run."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    records = RecordWriter(file)
    records.write(Event(wall_time=now, file_version="brain.Event:2").SerializeToString())
    for point in points:
        at = now if np.isnan(point.began_s) else point.began_s
        event = Event(wall_time=at, step=point.step)
        for tag, value in point.scalars:
            event.summary.value.add(tag=tag, simple_value=value)
        records.write(event.SerializeToString())
